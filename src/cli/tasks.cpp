// holdfast tasks: look at tasks, take them back, bring them back.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/connect.hpp"
#include "cli/decide.hpp"
#include "cli/task_output.hpp"
#include "cli/verbs.hpp"
#include "wire/task_json.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kTasksExamples = R"(Examples:
  holdfast tasks ls --state retrying --queue mails
  holdfast tasks ls --where 'state:running,retrying attempts>=3 since:1h'
  holdfast tasks ls --type mail.send --limit 500 --json | jq -r .id
  holdfast tasks show 0193a7c4-1b5e-7c3a-9d2f-0123456789ab
  holdfast tasks cancel ID ID …          take back what has not ended
  holdfast tasks retry ID                bring back a failed or dead one
  holdfast tasks retry ID --insist       also one that is quarantined, or was
                                         brought back too often already

show prints what was handed in, the result, and every attempt with its error.

Exit codes: 0 done; 3 some were left as they are; 1 it could not be done; 2 the
command line is wrong.)";

struct TasksOptions {
  Target target;
  ListOptions list;
  std::vector<std::string> ids;
  bool insist = false;
  bool json = false;
};

int show_tasks(const TasksOptions& options, Io& io) {
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, "tasks show", connected.error());
  for (const std::string& text : options.ids) {
    const auto id = parse_id(text);
    if (!id) return complain(io, "tasks show", id.error());
    const auto task = connected->client.find(*id);
    if (!task) return complain(io, "tasks show", task.error());
    io.out << (options.json ? json_line([&](wire::JsonWriter& writer) {
      write(writer, *task, wire::Detail::full);
    })
                            : task_for_people(*task, system_clock().wall_now(), io.colour));
  }
  return kDone;
}

int decide(const TasksOptions& options, Io& io, Fate fate) {
  const std::string verb = fate == Fate::cancel ? "tasks cancel" : "tasks retry";
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, verb, connected.error());
  auto ids = parse_ids(options.ids);
  if (!ids) return complain(io, verb, ids.error());
  Tally tally;
  if (auto done = carry_out(connected->client, *ids, fate, {.insist = options.insist}, tally);
      !done) {
    return complain(io, verb, done.error());
  }
  return report(io, tally, fate, options.json);
}

CLI::App* add_tasks_verb(CLI::App& tasks, const char* name, const char* what,
                         const std::shared_ptr<TasksOptions>& options, bool takes_ids) {
  CLI::App* verb = tasks.add_subcommand(name, what);
  if (takes_ids) {
    verb->add_option("ID", options->ids, "Of the task; several, if you like")
        ->type_name("")
        ->required();
  }
  verb->add_flag("--json", options->json, "JSON, one object a line");
  add_target(*verb, options->target);
  verb->footer(kTasksExamples);
  return verb;
}

}  // namespace

void add_tasks(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* tasks = program.add_subcommand("tasks", "See tasks; cancel and retry them");
  tasks->require_subcommand(1);
  tasks->footer(kTasksExamples);
  const auto options = std::make_shared<TasksOptions>();
  CLI::App* ls = add_tasks_verb(*tasks, "ls", "List tasks, latest first", options, false);
  add_filter(*ls, options->list, "pending, running, retrying, succeeded, failed …");
  ls->callback([options, &io, &exit_code] {
    exit_code = list_tasks(io, "tasks ls", options->target, options->list, options->json);
  });
  add_tasks_verb(*tasks, "show", "A task with its payload, result and attempts", options, true)
      ->callback([options, &io, &exit_code] { exit_code = show_tasks(*options, io); });
  add_tasks_verb(*tasks, "cancel", "Take back tasks that have not ended", options, true)
      ->callback([options, &io, &exit_code] { exit_code = decide(*options, io, Fate::cancel); });
  CLI::App* retry =
      add_tasks_verb(*tasks, "retry", "Bring back failed and dead tasks", options, true);
  retry->add_flag("--insist", options->insist, "Also what needs a person: you have looked at it");
  retry->callback([options, &io, &exit_code] { exit_code = decide(*options, io, Fate::replay); });
}

}  // namespace holdfast::cli
