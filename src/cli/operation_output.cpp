#include "cli/operation_output.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "cli/task_output.hpp"
#include "cli/text_columns.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLookEvery = 200ms;
constexpr std::size_t kMostParts = 10;

const char* verb_of(const Operation& operation) {
  return operation.action == OperationAction::replay ? "bring back" : "discard";
}

const char* participle_of(const Operation& operation) {
  return operation.action == OperationAction::replay ? "Brought back" : "Discarded";
}

void append_parts(std::string& out, const char* heading,
                  const std::vector<OperationPlan::Part>& parts, bool colour) {
  if (parts.empty()) return;
  Table table({heading, "TASKS", ""});
  for (std::size_t at = 0; at < std::min(parts.size(), kMostParts); ++at) {
    const auto& part = parts[at];
    table.add({{part.name},
               {grouped(part.count)},
               {part.paused ? "paused: they wait there until it is resumed" : "", Tone::waiting}});
  }
  out += table.text(colour);
  if (parts.size() > kMostParts) out += fmt::format("… and {} more\n", parts.size() - kMostParts);
}

std::string options_text(const Operation& operation) {
  const OperationOptions& options = operation.options;
  std::string text = options.canary ? fmt::format(
                                          "as a canary (1, 10, the rest; stops above {:.0f} "
                                          "% failures)",
                                          options.stop_at * 100)
                                    : std::string("all at once");
  if (options.rate) text += fmt::format(", {:g} a second at most", *options.rate);
  if (options.cap) text += fmt::format(", {} in all at most", grouped(*options.cap));
  if (operation.action == OperationAction::replay && !options.reset) {
    text += ", with the attempts they have spent";
  }
  return text;
}

Tone tone_of_operation(OperationState state) {
  switch (state) {
    case OperationState::done: return Tone::good;
    case OperationState::stopped:
    case OperationState::failed: return Tone::bad;
    case OperationState::canceled: return Tone::faint;
    case OperationState::running:
    case OperationState::planning: return Tone::plain;
    default: return Tone::waiting;
  }
}

void show_progress(Progress& progress, const Operation& operation) {
  if (operation.state == OperationState::planning) {
    return progress.show("Planning: looked at", operation.plan.looked, 0);
  }
  std::string what = operation.action == OperationAction::replay ? "Replaying" : "Discarding";
  if (operation.stage) {
    what = fmt::format("Canary {} of 3", operation.stage->number);
    if (operation.state == OperationState::waiting) {
      what += fmt::format(", {} out", operation.stage->waiting);
    }
  }
  progress.show(what, operation.progress.done, operation.progress.total);
}

}  // namespace

std::string plan_for_people(const Operation& operation, bool colour) {
  const OperationPlan& plan = operation.plan;
  std::string out = fmt::format("Would {} {} of {} tasks that match.\n", verb_of(operation),
                                grouped(plan.possible), grouped(plan.matching));
  append_parts(out, "QUEUE", plan.queues, colour);
  append_parts(out, "TYPE", plan.types, colour);
  for (const OperationPlan::Refused& refused : plan.refused) {
    std::string text;
    append_wrapped(text,
                   fmt::format("{} refused: {}", grouped(refused.count), visible(refused.why)), 2);
    out += toned(text, Tone::bad, colour);
    out += "      such as " + refused.example.text() + '\n';
  }
  return out;
}

std::string end_for_people(const Operation& operation, bool colour) {
  const OperationProgress& progress = operation.progress;
  std::string out = toned(fmt::format("{} {}", participle_of(operation), grouped(progress.done)),
                          progress.done > 0 ? Tone::good : Tone::plain, colour);
  if (progress.total > progress.done) out += fmt::format(" of {}", grouped(progress.total));
  out += '.';
  if (progress.refused > 0) {
    out +=
        toned(fmt::format(" Kept as they are: {}.", grouped(progress.refused)), Tone::bad, colour);
  }
  if (progress.succeeded + progress.failed > 0) {
    out += fmt::format(" Of these {} succeeded, {} failed again.", grouped(progress.succeeded),
                       grouped(progress.failed));
  }
  std::string wrapped;
  append_wrapped(wrapped, out, 0);
  if (operation.state == OperationState::done) return colour ? out + '\n' : wrapped;
  wrapped += toned(fmt::format("The operation is {}", to_string(operation.state)),
                   tone_of_operation(operation.state), colour);
  wrapped += operation.why.empty() ? ".\n" : ":\n";
  if (!operation.why.empty()) append_wrapped(wrapped, visible(operation.why), 2);
  if (operation.state == OperationState::stopped || operation.state == OperationState::paused) {
    wrapped += fmt::format("To go on: holdfast operations resume {}\n", operation.id);
  }
  return wrapped;
}

std::string operation_for_people(const Operation& operation, WallTime now, bool colour) {
  const auto field = [](std::string_view name, std::string_view value) {
    std::string wrapped;
    append_wrapped(wrapped, visible(value), 12);
    return wrapped.replace(0, std::min<std::size_t>(name.size(), 12), name);
  };
  std::string out = field("operation", operation.id);
  out += field("action", to_string(operation.action));
  out += "state       " +
         toned(to_string(operation.state), tone_of_operation(operation.state), colour) + '\n';
  if (!operation.why.empty()) out += field("why", operation.why);
  out += field("which", operation.ids.empty() ? operation.query
                                              : fmt::format("{} by id", operation.ids.size()));
  out += field("how", options_text(operation));
  out += field("by", operation.by);
  if (!operation.reason.empty()) out += field("reason", operation.reason);
  out += field("created", full_time(operation.created, now));
  if (operation.started) out += field("started", full_time(*operation.started, now));
  if (operation.ended) out += field("ended", full_time(*operation.ended, now));
  out += '\n' + plan_for_people(operation, colour);
  if (operation.started) out += '\n' + end_for_people(operation, colour);
  return out;
}

Result<Operation> follow(Client& client, Operation seen, Io& io) {
  Progress progress(io);
  while (is_moving(seen.state)) {
    show_progress(progress, seen);
    system_clock().sleep_for(kLookEvery);
    auto next = client.operation(seen.id);
    if (!next) return next;
    seen = *std::move(next);
  }
  return seen;
}

}  // namespace holdfast::cli
