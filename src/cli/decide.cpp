#include "cli/decide.hpp"

#include <ostream>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/task_output.hpp"
#include "cli/text_columns.hpp"
#include "core/json_text.hpp"
#include "wire/task_json.hpp"

namespace holdfast::cli {
namespace {

constexpr std::size_t kListed = 50;
constexpr std::size_t kTasksPerPage = 1000;
constexpr std::size_t kMostKeptListed = 1000;
constexpr std::size_t kExamplesPerReason = 3;

std::string_view done_word(Fate fate) {
  switch (fate) {
    case Fate::cancel: return "Canceled";
    case Fate::replay: return "Brought back";
    case Fate::discard: return "Discarded";
  }
  return "Done";
}

}  // namespace

void add_filter(CLI::App& verb, ListOptions& options, const std::string& states) {
  verb.add_option("--where", options.where, "A query: 'since:1h payload.user.id:42'")
      ->option_text("QUERY");
  verb.add_option("--state", options.state, states)->option_text("STATE");
  verb.add_option("--queue", options.queue, "Only of this queue")->option_text("NAME");
  verb.add_option("--type", options.type, "Only of this type")->option_text("TYPE");
  verb.add_option("--group", options.group, "Only of this group: see holdfast dead groups")
      ->option_text("ID");
  verb.add_option("--limit", options.limit, "At most so many")
      ->option_text("COUNT")
      ->check(CLI::PositiveNumber);
}

Result<std::vector<TaskFilter>> filters_of(const ListOptions& options,
                                           std::vector<TaskState> unless_given) {
  TaskFilter filter{
      .query = options.where, .queue = options.queue, .type = options.type, .group = options.group};
  filter.limit = kTasksPerPage;
  if (!options.state.empty()) {
    const auto state = state_named(options.state);
    if (!state) {
      return fail(ErrorCode::invalid_argument, "--state",
                  fmt::format("{} is none of pending, running, retrying, succeeded, failed, dead, "
                              "canceled",
                              holdfast::quoted(options.state)));
    }
    unless_given = {*state};
  }
  std::vector<TaskFilter> filters;
  for (const TaskState state : unless_given) {
    filters.push_back(filter);
    filters.back().state = state;
  }
  if (filters.empty()) filters.push_back(filter);
  return filters;
}

int list_tasks(Io& io, const std::string& verb, const Target& target, const ListOptions& options,
               bool json, const std::vector<TaskState>& unless_given) {
  auto filters = filters_of(options, unless_given);
  if (!filters) {
    complain(io, verb, filters.error());
    return kUsage;
  }
  auto connected = connect(target, Missing::is_an_error);
  if (!connected) return complain(io, verb, connected.error());
  const std::size_t limit = options.limit > 0 ? options.limit : kListed;
  for (TaskFilter& filter : *filters)
    filter.limit = std::min(kTasksPerPage, limit + 1);
  std::vector<TaskInfo> found;
  bool more = false;
  const auto looked = for_each_task(connected->client, *filters, [&](const TaskInfo& task) {
    more = found.size() == limit;
    if (!more) found.push_back(task);
    return !more;
  });
  if (!looked) return complain(io, verb, looked.error());
  if (json) {
    for (const TaskInfo& task : found)
      io.out << json_line(
          [&](wire::JsonWriter& writer) { write(writer, task, wire::Detail::list); });
    return kDone;
  }
  if (found.empty()) {
    io.out << "No task matches.\n";
    return kDone;
  }
  io.out << tasks_for_people(found, system_clock().wall_now(), io.colour);
  if (more) io.out << fmt::format("There are more than these {}: --limit shows them.\n", limit);
  return kDone;
}

Result<TaskId> parse_id(const std::string& text) {
  auto id = TaskId::parse(text);
  if (id) return id;
  return fail(ErrorCode::invalid_argument, "read id",
              fmt::format("{} is no id of a task", holdfast::quoted(text)));
}

Result<std::vector<TaskId>> parse_ids(std::span<const std::string> texts) {
  std::vector<TaskId> ids;
  for (const std::string& text : texts) {
    const auto id = parse_id(text);
    if (!id) return std::unexpected(id.error());
    ids.push_back(*id);
  }
  return ids;
}

void Tally::keep(TaskId id, const Error& error) {
  ++kept;
  Kept& reason = reasons[error.message];
  ++reason.count;
  if (reason.examples.size() < kExamplesPerReason) reason.examples.push_back(id);
  if (each.size() < kMostKeptListed) each.emplace_back(id, error.message);
}

Result<void> carry_out(Client& client, std::span<const TaskId> ids, Fate fate,
                       const Decision& decision, Tally& tally) {
  Client::Answers answers;
  if (fate == Fate::cancel) {
    for (const TaskId& id : ids)
      answers.push_back(client.cancel(id));
  } else {
    auto decided = fate == Fate::replay
                       ? client.replay(ids, Client::Replay{.insist = decision.insist})
                       : client.discard(ids, decision.reason);
    if (!decided) return std::unexpected(std::move(decided).error());
    answers = *std::move(decided);
  }
  for (std::size_t at = 0; at < ids.size(); ++at) {
    if (answers[at]) {
      ++tally.done;
    } else {
      tally.keep(ids[at], answers[at].error());
    }
  }
  return {};
}

int report(Io& io, const Tally& tally, Fate fate, bool json) {
  if (json) {
    io.out << json_line([&](wire::JsonWriter& writer) {
      writer.begin_object().key("done").number(tally.done).key("kept").number(tally.kept);
      writer.key("reasons").begin_array();
      for (const auto& [id, why] : tally.each) {
        writer.begin_object().key("id").plain(id.text()).key("error").text(why).end_object();
      }
      writer.end_array().end_object();
    });
    return tally.kept > 0 ? kKept : kDone;
  }
  io.out << toned(fmt::format("{} {}.", done_word(fate), grouped(tally.done)),
                  tally.done > 0 ? Tone::good : Tone::plain, io.colour);
  if (tally.kept > 0) {
    io.out << toned(fmt::format(" Kept as they are: {}.", grouped(tally.kept)), Tone::bad,
                    io.colour);
  }
  io.out << '\n';
  for (const auto& [why, kept] : tally.reasons) {
    std::string text;
    std::string shown;
    append_visible(shown, why);
    append_wrapped(text, fmt::format("{} × {}", grouped(kept.count), shown), 2);
    for (const TaskId& id : kept.examples)
      text += "      " + id.text() + '\n';
    if (kept.count > kept.examples.size()) text += "      …\n";
    io.out << text;
  }
  return tally.kept > 0 ? kKept : kDone;
}

}  // namespace holdfast::cli
