// holdfast dead replay and discard.
#include <algorithm>
#include <charconv>
#include <istream>
#include <ostream>

#include <fmt/format.h>

#include "cli/dead.hpp"
#include "cli/operation_output.hpp"
#include "cli/option_checks.hpp"
#include "cli/task_output.hpp"
#include "cli/text_columns.hpp"
#include "core/json_text.hpp"
#include "wire/operation_json.hpp"

namespace holdfast::cli {
namespace {

const char* verb_of(Fate fate) {
  return fate == Fate::replay ? "dead replay" : "dead discard";
}

int usage(Io& io, Fate fate, std::string_view why) {
  io.err << "holdfast " << verb_of(fate) << ": " << why << '\n';
  return kUsage;
}

// Only an explicit yes is one.
bool says_yes(Io& io, Fate fate, std::size_t count) {
  io.err << fmt::format("{} {} tasks? [y/N] ", fate == Fate::replay ? "Bring back" : "Discard",
                        grouped(count))
         << std::flush;
  std::string answer;
  std::getline(io.in, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

// All that is said on the command line, as one query.
std::string query_of(const DeadOptions& options) {
  const ListOptions& list = options.list;
  std::string query = list.where;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    const bool plain = value.find_first_of(" ,\"\\") == std::string::npos;
    query += fmt::format(" {}:{}", name, plain ? value : holdfast::quoted(value, value.size()));
  };
  add("state", list.state);
  add("queue", list.queue);
  add("type", list.type);
  add("group", list.group);
  const bool any_state = !list.state.empty() || !list.where.empty();
  if (!any_state) query += list.group.empty() ? " state:dead" : " state:dead,failed";
  return query.substr(query.find_first_not_of(' '));
}

int tell(Io& io, const Operation& operation, bool json) {
  if (json) {
    io.out << json_line([&](wire::JsonWriter& writer) { write(writer, operation); });
  } else {
    io.out << end_for_people(operation, io.colour);
  }
  if (operation.state != OperationState::done) return kKept;
  return operation.progress.refused > 0 ? kKept : kDone;
}

// Of what is refused nobody is asked.
bool may_begin(const DeadOptions& options, Io& io, Fate fate, const Operation& planned) {
  if (planned.plan.possible == 0 || options.yes) return true;
  if (!options.json) io.err << plan_for_people(planned, false);
  const std::uint64_t most = planned.options.cap.value_or(planned.plan.possible);
  return says_yes(io, fate, std::min(most, planned.plan.possible));
}

// Those that match a query: planned first, then carried out by whoever has the store, with a bar.
int operate(const DeadOptions& options, Io& io, Fate fate, const OperationOptions& how) {
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, verb_of(fate), connected.error());
  Client& client = connected->client;
  if (how.canary && connected->is_embedded) {
    return usage(io, fate,
                 "--canary needs somebody who runs tasks: start the server (holdfast serve), then "
                 "ask again");
  }
  auto operation = client.begin(
      {.action = fate == Fate::replay ? OperationAction::replay : OperationAction::discard,
       .query = query_of(options),
       .options = how,
       .reason = options.reason});
  if (!operation && operation.error().code == ErrorCode::invalid_argument) {
    return usage(io, fate, operation.error().text());
  }
  if (operation) operation = follow(client, *std::move(operation), io);
  if (!operation) return complain(io, verb_of(fate), operation.error());
  if (options.dry_run || !may_begin(options, io, fate, *operation)) {
    // A plan that nobody wants is not left behind.
    const auto canceled = client.steer(operation->id, OperationStep::cancel);
    if (!canceled) return complain(io, verb_of(fate), canceled.error());
    if (!options.dry_run) {
      io.err << "Nothing was changed.\n";
      return kFailed;
    }
    if (options.json) {
      io.out << json_line([&](wire::JsonWriter& writer) { write(writer, *operation); });
    } else {
      io.out << plan_for_people(*operation, io.colour) << "Nothing was changed.\n";
    }
    return kDone;
  }
  operation = client.steer(operation->id, OperationStep::start);
  if (!operation) return complain(io, verb_of(fate), operation.error());
  if (!options.json) {
    io.err << fmt::format("Operation {}: it goes on if this is ended.\n", operation->id);
  }
  if (options.detach) {
    if (options.json) tell(io, *operation, true);
    return kDone;
  }
  const std::string id = operation->id;
  operation = follow(client, *std::move(operation), io);
  if (operation) return tell(io, *operation, options.json);
  complain(io, verb_of(fate), operation.error());
  io.err << "It may go on: holdfast operations show " << id << '\n';
  return kFailed;
}

// Those that are named, at once.
int decide_named(const DeadOptions& options, Io& io, Fate fate) {
  const auto ids = parse_ids(options.ids);
  if (!ids) return usage(io, fate, ids.error().text());
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, verb_of(fate), connected.error());
  if (options.dry_run) {
    std::vector<TaskInfo> found;
    for (const TaskId& id : *ids) {
      auto task = connected->client.find(id);
      if (!task) return complain(io, verb_of(fate), task.error());
      found.push_back(*std::move(task));
    }
    io.out << tasks_for_people(found, system_clock().wall_now(), io.colour)
           << "Nothing was changed.\n";
    return kDone;
  }
  Tally tally;
  Progress progress(io);
  for (std::size_t at = 0; at < ids->size(); at += kDecisionsAtOnce) {
    const auto some = std::span(*ids).subspan(at, std::min(kDecisionsAtOnce, ids->size() - at));
    const auto done = carry_out(connected->client, some, fate,
                                {.insist = options.insist, .reason = options.reason}, tally);
    if (!done) {
      complain(io, verb_of(fate), done.error());
      io.err << fmt::format("{} of {} were not decided about: run it again.\n",
                            grouped(ids->size() - tally.done - tally.kept), grouped(ids->size()));
      return kFailed;
    }
    progress.show(fate == Fate::replay ? "Replaying" : "Discarding", at + some.size(), ids->size());
  }
  progress.wipe();
  return report(io, tally, fate, options.json);
}

}  // namespace

bool says_which(const DeadOptions& options) {
  const bool by_filter = !options.list.group.empty() || !options.list.queue.empty() ||
                         !options.list.type.empty() || !options.list.state.empty() ||
                         !options.list.where.empty();
  return !options.ids.empty() || by_filter || options.all;
}

Result<std::vector<TaskId>> find_dead(Client& client, const DeadOptions& options, Io& io) {
  if (!options.ids.empty()) return parse_ids(options.ids);
  std::vector<TaskState> states{TaskState::dead};
  if (!options.list.group.empty() || !options.list.where.empty())
    states.push_back(TaskState::failed);
  auto filters = filters_of(options.list, states);
  if (!filters) return std::unexpected(std::move(filters).error());
  for (const TaskFilter& filter : *filters) {
    if (filter.state != TaskState::dead && filter.state != TaskState::failed) {
      return fail(ErrorCode::invalid_argument, "--state",
                  "only dead and failed tasks can be brought back or discarded");
    }
  }
  Progress progress(io);
  std::vector<TaskId> ids;
  const auto looked = for_each_task(client, *filters, [&](const TaskInfo& task) {
    ids.push_back(task.id);
    if (ids.size() % 1000 == 0) progress.show("Found", ids.size(), 0);
    return options.list.limit == 0 || ids.size() < options.list.limit;
  });
  if (!looked) return std::unexpected(looked.error());
  return ids;
}

Result<std::optional<double>> parse_share(const std::string& text) {
  if (text.empty()) return std::nullopt;
  double share = 0;
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, share);
  const std::string_view unit(read_to, static_cast<std::size_t>(end - read_to));
  if (error == std::errc() && unit == "%") share /= 100;
  if (error == std::errc() && (unit.empty() || unit == "%") && share >= 0 && share <= 1) {
    return share;
  }
  return fail(ErrorCode::invalid_argument, "--stop-at",
              fmt::format("{} is no share: write 10% or 0.1", holdfast::quoted(text)));
}

Result<OperationOptions> how_of(const DeadOptions& options) {
  const auto rate = parse_rate(options.rate);
  if (!rate) return std::unexpected(rate.error());
  const auto stop_at = parse_share(options.stop_at);
  if (!stop_at) return std::unexpected(stop_at.error());
  OperationOptions how{.canary = options.canary,
                       .stop_at = stop_at->value_or(OperationOptions().stop_at),
                       .rate = *rate,
                       .reset = !options.keep_attempts};
  if (options.list.limit > 0) how.cap = options.list.limit;
  return how;
}

int decide_dead(const DeadOptions& options, Io& io, Fate fate) {
  if (!says_which(options)) {
    return usage(io, fate, "say which: ids, --where, --group, --queue, --type, --state, or --all");
  }
  if (options.insist && options.ids.empty()) {
    return usage(io, fate, "--insist goes with ids: it is for what somebody has looked at");
  }
  const auto how = how_of(options);
  if (!how) return usage(io, fate, how.error().text());
  if (!options.ids.empty()) {
    if (options.canary || how->rate) {
      return usage(io, fate, "--canary and --rate are for many: --where, --group …");
    }
    return decide_named(options, io, fate);
  }
  if (!options.yes && !options.dry_run && !io.in_is_terminal) {
    return usage(io, fate, "there is nobody to ask: say --yes, or look first with --dry-run");
  }
  return operate(options, io, fate, *how);
}

}  // namespace holdfast::cli
