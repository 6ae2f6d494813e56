// holdfast dead: what was given up, why, and what to do with it.
#include "cli/dead.hpp"

#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/task_output.hpp"
#include "cli/text_columns.hpp"
#include "cli/verbs.hpp"
#include "wire/group_json.hpp"
#include "wire/task_json.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kDeadExamples = R"(At 3 a.m.:
  holdfast dead groups                     what went wrong, and how often
  holdfast dead ls --group 92ab5f0c11d3e844
  holdfast dead show ID                    payload, error, every attempt
  (mend the cause)
  holdfast dead replay --group 92ab5f0c11d3e844 --dry-run
  holdfast dead replay --group 92ab5f0c11d3e844 --canary
  holdfast dead replay --where 'error:timeout since:2h' --rate 50/s

--canary brings back one, waits for it to succeed, then ten, then the rest; it
stops by itself when more than --stop-at of them fail again. What is begun goes
on in the server, also after a crash: holdfast operations shows and steers it.

A payload that is wrong itself:
  holdfast dead edit ID                    mends a copy in $EDITOR, hands it in,
                                           and then discards the original
  holdfast dead edit ID --payload @mended.json --queue slow

What nobody wants, or wants elsewhere:
  holdfast dead discard --type spam --reason 'from the test list' --yes
  holdfast dead export dead.jsonl --all --discard
  holdfast dead import dead.jsonl          twice is once: nothing is doubled

replay, discard and export take ids, or --where (a query: docs/queries.md),
--group, --queue, --type and --state, or --all. Without --state they look
through dead letters, and with --group or --where through failed tasks, too.
What is not named by its id is planned, shown and asked about before anything
happens; where there is nobody to ask, --yes must say so.

Exit codes: 0 done; 3 some were kept as they are, and why is said; 1 it could
not be done; 2 the command line is wrong.)";

int groups(const DeadOptions& options, Io& io) {
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, "dead groups", connected.error());
  const std::size_t limit = options.list.limit > 0 ? options.list.limit : 100;
  const auto groups = connected->client.groups(limit);
  if (!groups) return complain(io, "dead groups", groups.error());
  if (options.json) {
    for (const FailureGroup& group : *groups)
      io.out << json_line([&](wire::JsonWriter& writer) { write(writer, group); });
    return kDone;
  }
  if (groups->empty()) {
    io.out << "No dead letters, and no failed tasks.\n";
    return kDone;
  }
  const WallTime now = system_clock().wall_now();
  Table table({"GROUP", "STATE", "TASKS", "1H", "LATEST", "ERROR"});
  for (const FailureGroup& group : *groups) {
    table.add({{group.id},
               {std::string(to_string(group.state)), tone_of(group.state)},
               {grouped(group.count)},
               {grouped(group.last_hour)},
               {relative_time(group.last_seen, now)},
               {group.example}});
  }
  io.out << table.text(io.colour);
  return kDone;
}

int show_dead(const DeadOptions& options, Io& io) {
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, "dead show", connected.error());
  for (const std::string& text : options.ids) {
    const auto id = parse_id(text);
    const auto task = id ? connected->client.find(*id) : std::unexpected(id.error());
    if (!task) return complain(io, "dead show", task.error());
    io.out << (options.json ? json_line([&](wire::JsonWriter& writer) {
      write(writer, *task, wire::Detail::full);
    })
                            : task_for_people(*task, system_clock().wall_now(), io.colour));
  }
  return kDone;
}

using Shared = std::shared_ptr<DeadOptions>;

CLI::App* add_dead_verb(CLI::App& dead, const char* name, const char* what, const Shared& options) {
  CLI::App* verb = dead.add_subcommand(name, what);
  verb->add_flag("--json", options->json, "JSON, one object a line");
  add_target(*verb, options->target);
  verb->footer(kDeadExamples);
  return verb;
}

void add_ids(CLI::App& verb, DeadOptions& options, bool required) {
  verb.add_option("ID", options.ids, "Of the task; several, if you like")
      ->type_name("")
      ->required(required);
}

void add_which(CLI::App& verb, DeadOptions& options) {
  add_filter(verb, options.list, "dead or failed");
  verb.add_flag("--all", options.all, "Every one");
}

void add_decision(CLI::App& verb, DeadOptions& options) {
  add_ids(verb, options, false);
  add_which(verb, options);
  verb.add_flag("--dry-run", options.dry_run, "Say what would be done, and do nothing");
  verb.add_option("--rate", options.rate, "At most so many: 50/s, 600/m")->option_text("COUNT/s");
  verb.add_option("--reason", options.reason, "Why, for the audit")->option_text("TEXT");
  verb.add_flag("--detach", options.detach, "Begin it, and do not wait for its end");
  verb.add_flag("--yes", options.yes, "Do not ask");
}

}  // namespace

void add_dead(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* dead = program.add_subcommand("dead", "Dead letters: see them, bring them back");
  dead->require_subcommand(1);
  dead->footer(kDeadExamples);
  const auto options = std::make_shared<DeadOptions>();

  CLI::App* ls = add_dead_verb(*dead, "ls", "List dead letters, latest first", options);
  add_filter(*ls, options->list, "dead or failed (default: dead; with --group both)");
  ls->callback([options, &io, &exit_code] {
    std::vector<TaskState> states{TaskState::dead};
    if (!options->list.group.empty() || !options->list.where.empty()) {
      states.push_back(TaskState::failed);
    }
    exit_code = list_tasks(io, "dead ls", options->target, options->list, options->json, states);
  });
  CLI::App* in_groups = add_dead_verb(*dead, "groups", "What went wrong, and how often", options);
  in_groups->add_option("--limit", options->list.limit, "At most so many")->option_text("COUNT");
  in_groups->callback([options, &io, &exit_code] { exit_code = groups(*options, io); });
  CLI::App* shown =
      add_dead_verb(*dead, "show", "One with its payload, error and attempts", options);
  add_ids(*shown, *options, true);
  shown->callback([options, &io, &exit_code] { exit_code = show_dead(*options, io); });

  CLI::App* replay =
      add_dead_verb(*dead, "replay", "Bring dead letters back, to be run again", options);
  add_decision(*replay, *options);
  replay->add_flag("--insist", options->insist, "With ids: also what needs a person");
  replay->add_flag("--canary", options->canary, "One, then ten, then the rest");
  replay->add_option("--stop-at", options->stop_at, "Share of failures that stops it (10%)")
      ->option_text("SHARE");
  replay->add_flag("--keep-attempts", options->keep_attempts,
                   "Do not begin anew: one more attempt each");
  replay->callback(
      [options, &io, &exit_code] { exit_code = decide_dead(*options, io, Fate::replay); });
  CLI::App* discard = add_dead_verb(*dead, "discard", "Say that nobody wants them back", options);
  add_decision(*discard, *options);
  discard->callback(
      [options, &io, &exit_code] { exit_code = decide_dead(*options, io, Fate::discard); });

  CLI::App* edit = add_dead_verb(*dead, "edit", "Mend the payload, and hand it in anew", options);
  add_ids(*edit, *options, true);
  edit->add_option("--payload", options->payload, "The mended one, in place of an editor")
      ->option_text("TEXT|@FILE|-");
  edit->add_option("--queue", options->to_queue, "Where the copy goes")->option_text("NAME");
  edit->add_option("--type", options->to_type, "What the copy is")->option_text("TYPE");
  edit->add_flag("--raw", options->raw, "It need not be JSON, though it was");
  edit->callback([options, &io, &exit_code] { exit_code = edit_dead(*options, io); });

  CLI::App* exported =
      add_dead_verb(*dead, "export", "Write them to a file, one JSON a line", options);
  exported->add_option("FILE", options->file, "Where to; - is standard output")
      ->type_name("")
      ->required();
  exported->add_option("--id", options->ids, "Of one; several times, if you like")
      ->option_text("ID");
  add_which(*exported, *options);
  exported->add_flag("--force", options->force, "Replace the file, if there is one");
  exported->add_flag("--discard", options->discard, "Discard them, once the file is on disk");
  exported->callback([options, &io, &exit_code] { exit_code = export_dead(*options, io); });
  CLI::App* imported = add_dead_verb(*dead, "import", "Hand in anew what was exported", options);
  imported->add_option("FILE", options->file, "Of an export; - is standard input")
      ->type_name("")
      ->required();
  imported->callback([options, &io, &exit_code] { exit_code = import_dead(*options, io); });
}

}  // namespace holdfast::cli
