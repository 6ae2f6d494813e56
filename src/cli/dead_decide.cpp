// holdfast dead replay and discard.
#include <algorithm>
#include <charconv>
#include <istream>
#include <ostream>

#include <fmt/format.h>

#include "cli/dead.hpp"
#include "cli/task_output.hpp"
#include "cli/text_columns.hpp"
#include "core/json_text.hpp"
#include "wire/task_json.hpp"

namespace holdfast::cli {
namespace {

constexpr std::size_t kAtOnce = 500;
constexpr std::size_t kShown = 10;

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

int tell_what_would_be(const DeadOptions& options, Io& io, Client& client, Fate fate,
                       const std::vector<TaskId>& ids) {
  if (options.json) {
    for (const TaskId& id : ids)
      io.out << json_line([&](wire::JsonWriter& writer) {
        writer.begin_object().key("id").plain(id.text()).end_object();
      });
    return kDone;
  }
  io.out << fmt::format("Would {} {} tasks; nothing was changed.\n",
                        fate == Fate::replay ? "bring back" : "discard", grouped(ids.size()));
  std::vector<TaskInfo> first;
  for (std::size_t at = 0; at < std::min(ids.size(), kShown); ++at) {
    if (auto task = client.find(ids[at])) first.push_back(*std::move(task));
  }
  if (!first.empty()) io.out << tasks_for_people(first, system_clock().wall_now(), io.colour);
  if (ids.size() > kShown) io.out << "…\n";
  return kDone;
}

// At most `rate` a second, a few at a time.
Result<void> carry_out_all(Client& client, const std::vector<TaskId>& ids, Fate fate,
                           const DeadOptions& options, std::optional<double> rate, Io& io,
                           Tally& tally) {
  Progress progress(io);
  Clock& clock = system_clock();
  const SteadyTime began = clock.now();
  std::size_t at_once = kAtOnce;
  if (rate) at_once = std::clamp<std::size_t>(static_cast<std::size_t>(*rate / 5), 1, kAtOnce);
  for (std::size_t at = 0; at < ids.size(); at += at_once) {
    if (rate) {
      const std::chrono::duration<double> since(static_cast<double>(at) / *rate);
      const SteadyTime due = saturating_add(began, std::chrono::duration_cast<Duration>(since));
      if (due > clock.now()) clock.sleep_for(due - clock.now());
    }
    const auto some = std::span(ids).subspan(at, std::min(at_once, ids.size() - at));
    if (auto done = carry_out(client, some, fate, options.insist, tally); !done) return done;
    progress.show(fate == Fate::replay ? "Replaying" : "Discarding", at + some.size(), ids.size());
  }
  return {};
}

}  // namespace

bool says_which(const DeadOptions& options) {
  const bool by_filter = !options.list.group.empty() || !options.list.queue.empty() ||
                         !options.list.type.empty() || !options.list.state.empty();
  return !options.ids.empty() || by_filter || options.all;
}

Result<std::vector<TaskId>> find_dead(Client& client, const DeadOptions& options, Io& io) {
  if (!options.ids.empty()) return parse_ids(options.ids);
  std::vector<TaskState> states{TaskState::dead};
  if (!options.list.group.empty()) states.push_back(TaskState::failed);
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

Result<std::optional<double>> parse_rate(const std::string& text) {
  if (text.empty()) return std::nullopt;
  double count = 0;
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, count);
  const std::string_view unit(read_to, static_cast<std::size_t>(end - read_to));
  if (error == std::errc() && count > 0 && count < 1e9) {
    if (unit.empty() || unit == "/s") return count;
    if (unit == "/m") return count / 60;
    if (unit == "/h") return count / 3600;
  }
  return fail(ErrorCode::invalid_argument, "--rate",
              fmt::format("{} is no rate: write 50/s, 600/m or 100/h", holdfast::quoted(text)));
}

int decide_dead(const DeadOptions& options, Io& io, Fate fate) {
  if (!says_which(options)) {
    return usage(io, fate, "say which: ids, --group, --queue, --type, --state, or --all");
  }
  if (options.insist && options.ids.empty()) {
    return usage(io, fate, "--insist goes with ids: it is for what somebody has looked at");
  }
  const auto rate = parse_rate(options.rate);
  if (!rate) return usage(io, fate, rate.error().text());
  const bool must_ask = options.ids.empty() && !options.yes && !options.dry_run;
  if (must_ask && !io.in_is_terminal) {
    return usage(io, fate, "there is nobody to ask: say --yes, or look first with --dry-run");
  }
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, verb_of(fate), connected.error());
  const auto ids = find_dead(connected->client, options, io);
  if (!ids && ids.error().code == ErrorCode::invalid_argument) {
    return usage(io, fate, ids.error().text());
  }
  if (!ids) return complain(io, verb_of(fate), ids.error());
  if (options.dry_run) return tell_what_would_be(options, io, connected->client, fate, *ids);
  if (must_ask && !ids->empty() && !says_yes(io, fate, ids->size())) {
    io.err << "Nothing was changed.\n";
    return kFailed;
  }
  Tally tally;
  const auto done = carry_out_all(connected->client, *ids, fate, options, *rate, io, tally);
  const int code = report(io, tally, fate, options.json);
  if (done) return code;
  complain(io, verb_of(fate), done.error());
  io.err << fmt::format("{} of {} were not decided about: run it again.\n",
                        grouped(ids->size() - tally.done - tally.kept), grouped(ids->size()));
  return kFailed;
}

}  // namespace holdfast::cli
