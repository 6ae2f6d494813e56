// holdfast queues: how much waits where, and the brakes.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/connect.hpp"
#include "cli/task_output.hpp"
#include "cli/text_columns.hpp"
#include "cli/verbs.hpp"
#include "wire/task_json.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kQueuesExamples = R"(Examples:
  holdfast queues ls                     how many tasks wait, run, failed, died
  holdfast queues pause mails            claim no more of it; what runs ends
  holdfast queues resume mails
  holdfast queues limit mails 3          at most 3 of it run at once, everywhere
  holdfast queues limit mails 0          no limit
  holdfast queues ls --json | jq -r 'select(.tasks.dead > 0).name'

A pause and a limit outlive the server; a server whose configuration names a
limit for the queue sets that one again when it starts.

Exit codes: 0 done; 1 it could not be done; 2 the command line is wrong.)";

struct QueuesOptions {
  Target target;
  std::string queue;
  int limit = 0;
  bool json = false;
};

std::string queues_for_people(const std::vector<QueueInfo>& queues, WallTime now, bool colour) {
  Table table({"QUEUE", "WAITING", "RUNNING", "FAILED", "DEAD", "OLDEST DUE", "SETTING"});
  for (const QueueInfo& queue : queues) {
    const auto waiting = queue.count(TaskState::pending) + queue.count(TaskState::retrying);
    std::string setting = queue.paused ? "paused" : "";
    if (queue.concurrency > 0) {
      setting += fmt::format("{}at most {}", setting.empty() ? "" : ", ", queue.concurrency);
    }
    const auto bad = [&](TaskState state) {
      return Table::Cell{grouped(queue.count(state)),
                         queue.count(state) > 0 ? Tone::bad : Tone::plain};
    };
    table.add({{cut(queue.name, 20)},
               {grouped(waiting)},
               {grouped(queue.count(TaskState::running))},
               bad(TaskState::failed),
               bad(TaskState::dead),
               {queue.oldest_due ? relative_time(*queue.oldest_due, now) : ""},
               {setting, queue.paused ? Tone::waiting : Tone::plain}});
  }
  return table.text(colour);
}

int list(const QueuesOptions& options, Io& io) {
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, "queues ls", connected.error());
  const auto queues = connected->client.counts();
  if (!queues) return complain(io, "queues ls", queues.error());
  if (options.json) {
    for (const QueueInfo& queue : *queues)
      io.out << json_line([&](wire::JsonWriter& writer) { write(writer, queue); });
  } else if (queues->empty()) {
    io.out << "No queue has a task.\n";
  } else {
    io.out << queues_for_people(*queues, system_clock().wall_now(), io.colour);
  }
  return kDone;
}

// `change` does it; `said` tells so.
template <class Change>
int set(const QueuesOptions& options, Io& io, const std::string& verb, Change change,
        const std::string& said) {
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, verb, connected.error());
  if (const Result<void> done = change(connected->client); !done) {
    return complain(io, verb, done.error());
  }
  if (options.json) {
    io.out << json_line([&](wire::JsonWriter& writer) {
      writer.begin_object().key("queue").text(options.queue).key("done").boolean(true).end_object();
    });
  } else {
    io.out << said << '\n';
  }
  return kDone;
}

CLI::App* add_queues_verb(CLI::App& queues, const char* name, const char* what,
                          const std::shared_ptr<QueuesOptions>& options) {
  CLI::App* verb = queues.add_subcommand(name, what);
  verb->add_flag("--json", options->json, "JSON, one object a line");
  add_target(*verb, options->target);
  verb->footer(kQueuesExamples);
  return verb;
}

}  // namespace

void add_queues(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* queues = program.add_subcommand("queues", "See queues; pause, resume and limit them");
  queues->require_subcommand(1);
  queues->footer(kQueuesExamples);
  const auto options = std::make_shared<QueuesOptions>();
  add_queues_verb(*queues, "ls", "How many tasks are in each state", options)
      ->callback([options, &io, &exit_code] { exit_code = list(*options, io); });
  CLI::App* pause =
      add_queues_verb(*queues, "pause", "Claim nothing of a queue until it is resumed", options);
  pause->add_option("QUEUE", options->queue, "Its name")->type_name("")->required();
  pause->callback([options, &io, &exit_code] {
    exit_code = set(
        *options, io, "queues pause", [&](Client& client) { return client.pause(options->queue); },
        "Paused " + options->queue + ": nothing more of it is claimed.");
  });
  CLI::App* resume = add_queues_verb(*queues, "resume", "Claim tasks of a queue again", options);
  resume->add_option("QUEUE", options->queue, "Its name")->type_name("")->required();
  resume->callback([options, &io, &exit_code] {
    exit_code = set(
        *options, io, "queues resume",
        [&](Client& client) { return client.resume(options->queue); },
        "Resumed " + options->queue + ".");
  });
  CLI::App* limit =
      add_queues_verb(*queues, "limit", "How many tasks of a queue may run at once", options);
  limit->add_option("QUEUE", options->queue, "Its name")->type_name("")->required();
  limit->add_option("COUNT", options->limit, "At most so many; 0: no limit")
      ->type_name("")
      ->required()
      ->check(CLI::NonNegativeNumber);
  limit->callback([options, &io, &exit_code] {
    exit_code = set(
        *options, io, "queues limit",
        [&](Client& client) { return client.limit(options->queue, options->limit); },
        options->limit == 0
            ? fmt::format("No limit for {} any more.", options->queue)
            : fmt::format("At most {} of {} run at once.", options->limit, options->queue));
  });
}

}  // namespace holdfast::cli
