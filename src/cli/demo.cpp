// holdfast demo: a bad day of 200 tasks, in about 20 seconds.
#include "cli/demo.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <stop_token>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "cli/demo_output.hpp"
#include "cli/demo_story.hpp"
#include "cli/folder.hpp"
#include "cli/verbs.hpp"
#include "node/verify.hpp"
#include "server/service.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* kDemoExamples = R"(Examples:
  holdfast demo
  holdfast demo --fast --json | jq .verify

A server in this process runs 200 tasks, as commands, from a file in a
temporary folder, which is removed at the end. Every number comes from that
file. Ctrl-C ends it early, and still proves what there is.

Exit codes: 0 all tasks are accounted for; 3 it was ended early, and nothing
was lost; 1 it could not be run, or something was lost; 2 the command line is
wrong.)";

constexpr Duration kTick = 100ms;
constexpr Duration kPlainLineEvery = 2s;
constexpr Duration kLongest = 2min;  // until all tasks of a part have ended, on any machine

class Demo {
 public:
  Demo(Io& io, const DemoOptions& options, Clock& clock, const std::string& folder)
      : io_(io),
        options_(options),
        pace_(options.fast ? fast_pace() : DemoPace()),
        clock_(clock),
        folder_(folder),
        began_(clock.now()) {}

  // Tells the story. A stop by a signal is an end like any other.
  Result<DemoSummary> run() {
    auto config = demo_config(folder_, pace_);
    if (!config) return std::unexpected(std::move(config).error());
    auto service = server::Service::start(
        *config, {.on_broken = [this](const Error&) { stop_.request_stop(); },
                  .on_signal = [this](int) { stop_.request_stop(); }});
    if (!service) return std::unexpected(std::move(service).error());
    {
      Client client(std::string(config->store.url.text.reveal()),
                    {.log = Logger()});  // shares the file with the service
      if (auto told = tell(client); !told) return std::unexpected(std::move(told).error());
    }
    static_cast<void>((*service)->stop());
    return prove();
  }

  [[nodiscard]] bool ended_early() const { return stop_.stop_requested(); }

 private:
  Result<void> tell(Client& client) {
    say(
        fmt::format("Holdfast on a bad day: {} tasks, and much of what they need is broken.\n"
                    "A server runs them as commands, from a file in {}.\n",
                    demo_tasks().size(), folder_));
    act("The tasks come in");
    say(kinds_table());
    if (auto fed = feed(client); !fed) return fed;
    if (auto seen = look(client); !seen) return seen;
    if (ended_early()) return {};
    return repair(client);
  }

  // Hands in all tasks, a few at each tick, and watches until they have ended.
  Result<void> feed(Client& client) {
    const std::vector<Submission> tasks = demo_tasks();
    const auto ticks = static_cast<std::size_t>(std::max<Duration::rep>(1, pace_.feeding / kTick));
    std::size_t given = 0;
    return watch(client, tasks.size(), [&](std::size_t tick) -> Result<void> {
      const std::size_t until = std::min(tasks.size(), tasks.size() * (tick + 1) / ticks);
      if (until == given) return {};
      const auto answers = client.submit(std::span(tasks).subspan(given, until - given));
      if (!answers) return std::unexpected(answers.error());
      given = until;
      for (const Result<TaskId>& answer : *answers) {
        if (!answer) return std::unexpected(answer.error());
        ++summary_.answered;
      }
      return {};
    });
  }

  // Shows where all tasks stand, until they have ended. `each` is called before each look.
  template <class Each>
  Result<void> watch(Client& client, std::uint64_t planned, Each each) {
    const SteadyTime latest = clock_.now() + kLongest;
    SteadyTime next_line = clock_.now() + kPlainLineEvery;
    bool first = true;
    for (std::size_t tick = 0;; ++tick) {
      if (Result<void> done = each(tick); !done) return done;
      auto moment = moment_of(client, planned);
      if (!moment) return std::unexpected(std::move(moment).error());
      const bool last = moment->all_ended() || ended_early();
      if (io_.colour && !options_.json) {
        io_.out << (first ? "\n" : "\x1b[2A\x1b[J") << live_lines(*moment) << std::flush;
      } else if (last || clock_.now() >= next_line) {
        say(plain_line(*moment));
        next_line += kPlainLineEvery;
      }
      first = false;
      if (last) return {};
      if (clock_.now() > latest) {
        return fail(ErrorCode::timeout, "demo", "the tasks have not come to an end");
      }
      clock_.sleep_for(kTick, stop_.get_token());
    }
  }

  Result<DemoMoment> moment_of(Client& client, std::uint64_t planned) {
    const auto queues = client.counts();
    if (!queues) return std::unexpected(queues.error());
    DemoMoment moment{.seconds = seconds(), .planned = planned};
    for (const QueueInfo& queue : *queues) {
      for (std::size_t at = 0; at < queue.by_state.size(); ++at)
        moment.by_state[at] += queue.by_state[at];
    }
    return moment;
  }

  Result<void> look(Client& client) {
    auto rows = rows_of(client);
    if (!rows) return std::unexpected(std::move(rows).error());
    summary_.before = *std::move(rows);
    auto groups = client.groups();
    if (!groups) return std::unexpected(std::move(groups).error());
    summary_.groups = *std::move(groups);
    act("What became of them");
    say(rows_table(summary_.before, io_.colour));
    say("\n   Parked where people can see it, by what went wrong:\n");
    say(groups_table(summary_.groups, io_.colour));
    pause();
    return {};
  }

  Result<std::vector<DemoRow>> rows_of(Client& client) {
    std::vector<DemoRow> rows;
    for (const DemoKind& kind : demo_kinds()) {
      DemoRow row{.type = std::string(kind.type)};
      TaskFilter filter{.type = row.type};
      do {
        auto page = client.list(filter);
        if (!page) return std::unexpected(std::move(page).error());
        for (const TaskInfo& task : page->tasks)
          row.add(task);
        if (row.path.empty() && !page->tasks.empty()) {
          const auto one = client.find(page->tasks.front().id);
          if (one) row.path = path_of(*one);
        }
        filter.cursor = page->next;
      } while (!filter.cursor.empty());
      rows.push_back(std::move(row));
    }
    return rows;
  }

  // Somebody repairs what made one group fail, and brings its tasks back.
  Result<void> repair(Client& client) {
    const std::string type(kRepairedType);
    const auto one = client.list({.state = TaskState::dead, .type = type, .limit = 1});
    if (!one) return std::unexpected(one.error());
    if (one->tasks.empty()) return fail(ErrorCode::internal, "demo", "no " + type + " has died");
    summary_.replayed_group = one->tasks.front().group;
    std::ofstream(fs::path(folder_) / kRepairFile).flush();
    act("The cause is found, and its group is brought back");
    say(fmt::format("   What {} waited for works again. Group {}:\n", type,
                    summary_.replayed_group));
    const auto dead =
        client.list({.state = TaskState::dead, .group = summary_.replayed_group, .limit = 1000});
    if (!dead) return std::unexpected(dead.error());
    for (const TaskInfo& task : dead->tasks) {
      if (auto back = client.replay(task.id); !back) return back;
      ++summary_.replayed;
    }
    const auto nothing = [](std::size_t) { return Result<void>(); };
    if (auto seen = watch(client, summary_.answered, nothing); !seen) return seen;
    auto rows = rows_of(client);
    if (!rows) return std::unexpected(std::move(rows).error());
    summary_.after = *std::move(rows);
    const auto row = std::ranges::find(summary_.after, type, &DemoRow::type);
    const DemoRow all = sum_of(summary_.after);
    say(
        fmt::format("   {} dead letters brought back: {} succeeded, {} are dead again.\n"
                    "   The rest stays parked: {} given up at once, {} in quarantine.\n",
                    summary_.replayed, row->at_once + row->recovered, row->dead, all.given_up,
                    all.quarantined));
    pause();
    return {};
  }

  // The file as it is when nobody has it open any more.
  Result<DemoSummary> prove() {
    act("The proof");
    auto report = node::verify(folder_ + "/tasks.db", {});
    if (!report) return std::unexpected(std::move(report).error());
    summary_.audit = std::move(report->audit);
    summary_.seconds = seconds();
    say("   holdfast verify has looked at every task in the file:\n");
    say(proof(summary_, io_.colour));
    say(fmt::format("\nTook {:.0f}s. A server to play with: make run. Your own: docs/api.md\n",
                    summary_.seconds));
    return summary_;
  }

  void act(std::string_view title) {
    const auto [on, off] = io_.colour ? std::pair("\x1b[1m", "\x1b[0m") : std::pair("", "");
    say(fmt::format("\n{}{}. {}{}\n", on, ++act_, title, off));
  }

  void say(std::string_view text) {
    if (!options_.json) io_.out << text << std::flush;
  }

  void pause() {
    if (!options_.json) clock_.sleep_for(pace_.reading, stop_.get_token());
  }

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(clock_.now() - began_).count();
  }

  Io& io_;
  const DemoOptions options_;
  const DemoPace pace_;
  Clock& clock_;
  const std::string folder_;
  const SteadyTime began_;
  std::stop_source stop_;  // a signal, or a store that broke
  DemoSummary summary_;
  int act_ = 0;
};

}  // namespace

int run_demo(Io& io, const DemoOptions& options, Clock& clock) {
  std::error_code none;
  const Folder folder(fs::temp_directory_path(none), "demo");
  if (!folder.made()) {
    io.err << "holdfast demo: cannot make a temporary folder; set TMPDIR to where one can be\n";
    return kFailed;
  }
  Demo demo(io, options, clock, folder.path());
  const auto summary = demo.run();
  if (!summary) {
    io.err << "holdfast demo: " << summary.error().text() << '\n';
    return kFailed;
  }
  if (options.json) io.out << demo_json(*summary);
  if (!io.out.flush()) {
    io.err << "holdfast demo: cannot write to standard output\n";
    return kFailed;
  }
  if (!summary->nothing_lost()) return kFailed;
  return demo.ended_early() ? kKept : kDone;
}

void add_demo(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* verb = program.add_subcommand("demo", "See tasks fail, recover and come back, in 20 s");
  verb->footer(kDemoExamples);
  const auto options = std::make_shared<DemoOptions>();
  verb->add_flag("--fast", options->fast, "Wait for nothing that need not be waited for");
  verb->add_flag("--json", options->json, "Only the summary, as one JSON object");
  verb->callback(
      [&io, &exit_code, options] { exit_code = run_demo(io, *options, system_clock()); });
}

}  // namespace holdfast::cli
