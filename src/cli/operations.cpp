// holdfast operations and holdfast audit: what is being done with dead letters, and who did what.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/connect.hpp"
#include "cli/operation_output.hpp"
#include "cli/task_output.hpp"
#include "cli/text_columns.hpp"
#include "cli/verbs.hpp"
#include "wire/audit_json.hpp"
#include "wire/operation_json.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kOperationsExamples =
    R"(An operation is one replay or discard of many dead letters:
  holdfast dead replay --group 92ab5f0c11d3e844 --canary
It is kept in the store, and goes on after a crash of the server.

  holdfast operations ls                 running and past, latest first
  holdfast operations show ID            its plan, and how far it has come
  holdfast operations pause ID           stands still until it is resumed
  holdfast operations resume ID          also one that has stopped by itself:
                                         it begins anew with one task
  holdfast operations cancel ID          what was done stays done
  holdfast operations watch ID           a bar, until it stands still

Exit codes: 0 done; 1 it could not be done; 2 the command line is wrong; 3 it
stands still and is not done (watch).)";

constexpr const char* kAuditExamples = R"(Examples:
  holdfast audit                         the latest 50
  holdfast audit --limit 1000 --json > audit.jsonl

Every replay, discard, edit, cancel, pause, resume and limit is in it, with who
did it (the name of their token), how many it was about, and why.)";

struct OperationsVerbOptions {
  Target target;
  std::string id;
  std::size_t limit = 50;
  bool json = false;
};

std::string line_of(const Operation& operation) {
  return json_line([&](wire::JsonWriter& writer) { write(writer, operation); });
}

int ls(const OperationsVerbOptions& options, Io& io) {
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, "operations ls", connected.error());
  const auto page = connected->client.operations(options.limit);
  if (!page) return complain(io, "operations ls", page.error());
  if (options.json) {
    for (const Operation& operation : page->operations)
      io.out << line_of(operation);
    return kDone;
  }
  if (page->operations.empty()) {
    io.out << "No operations yet: holdfast dead replay or discard begins one.\n";
    return kDone;
  }
  const WallTime now = system_clock().wall_now();
  Table table({"OPERATION", "ACTION", "STATE", "DONE", "OF", "BEGAN"});
  for (const Operation& operation : page->operations) {
    table.add({{operation.id},
               {std::string(to_string(operation.action))},
               {std::string(to_string(operation.state))},
               {grouped(operation.progress.done)},
               {grouped(operation.progress.total)},
               {relative_time(operation.created, now)}});
  }
  io.out << table.text(io.colour);
  return kDone;
}

int show_operation(const OperationsVerbOptions& options, Io& io) {
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, "operations show", connected.error());
  const auto found = connected->client.operation(options.id);
  if (!found) return complain(io, "operations show", found.error());
  io.out << (options.json ? line_of(*found)
                          : operation_for_people(*found, system_clock().wall_now(), io.colour));
  return kDone;
}

int watch(const OperationsVerbOptions& options, Io& io) {
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, "operations watch", connected.error());
  auto found = connected->client.operation(options.id);
  if (found) found = follow(connected->client, *std::move(found), io);
  if (!found) return complain(io, "operations watch", found.error());
  io.out << (options.json ? line_of(*found) : end_for_people(*found, io.colour));
  return found->state == OperationState::done ? kDone : kKept;
}

int steer(const OperationsVerbOptions& options, Io& io, OperationStep step) {
  const std::string verb = "operations " + std::string(to_string(step));
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, verb, connected.error());
  if (connected->is_embedded && step == OperationStep::resume) {
    return complain(io, verb,
                    {ErrorCode::conflict, "resume",
                     "nobody runs tasks now: start the server (holdfast serve), then resume it"});
  }
  const auto steered = connected->client.steer(options.id, step);
  if (!steered) return complain(io, verb, steered.error());
  io.out << (options.json
                 ? line_of(*steered)
                 : fmt::format("Operation {} is {}.\n", steered->id, to_string(steered->state)));
  return kDone;
}

int audit(const OperationsVerbOptions& options, Io& io) {
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, "audit", connected.error());
  const WallTime now = system_clock().wall_now();
  Table table({"WHEN", "WHO", "ACTION", "TASKS", "WHAT"});
  std::string cursor;
  std::size_t left = options.limit;
  do {
    const auto page = connected->client.audit(std::min<std::size_t>(left, 1000), cursor);
    if (!page) return complain(io, "audit", page.error());
    for (const AuditEntry& entry : page->entries) {
      if (options.json) {
        io.out << json_line([&](wire::JsonWriter& writer) { write(writer, entry); });
        continue;
      }
      const std::string why = entry.reason.empty() ? "" : " (" + entry.reason + ")";
      table.add({{relative_time(entry.time, now)},
                 {entry.who},
                 {entry.action},
                 {grouped(entry.count)},
                 {entry.what + why}});
    }
    left -= std::min(left, page->entries.size());
    cursor = page->next;
  } while (!cursor.empty() && left > 0);
  if (options.json) return kDone;
  io.out << (table.empty() ? std::string("Nobody has done anything yet.\n")
                           : table.text(io.colour));
  return kDone;
}

CLI::App* add_operations_verb(CLI::App& operations, const char* name, const char* what,
                              const std::shared_ptr<OperationsVerbOptions>& options,
                              bool takes_id) {
  CLI::App* verb = operations.add_subcommand(name, what);
  if (takes_id) verb->add_option("ID", options->id, "Of the operation")->type_name("")->required();
  verb->add_flag("--json", options->json, "JSON, one object a line");
  add_target(*verb, options->target);
  verb->footer(kOperationsExamples);
  return verb;
}

}  // namespace

void add_operations(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* operations =
      program.add_subcommand("operations", "Replays and discards of many: see and steer them");
  operations->require_subcommand(1);
  operations->footer(kOperationsExamples);
  const auto options = std::make_shared<OperationsVerbOptions>();
  CLI::App* list =
      add_operations_verb(*operations, "ls", "List them, latest first", options, false);
  list->add_option("--limit", options->limit, "At most so many")
      ->option_text("COUNT")
      ->check(CLI::PositiveNumber);
  list->callback([options, &io, &exit_code] { exit_code = ls(*options, io); });
  add_operations_verb(*operations, "show", "One with its plan and progress", options, true)
      ->callback([options, &io, &exit_code] { exit_code = show_operation(*options, io); });
  add_operations_verb(*operations, "watch", "Follow one until it stands still", options, true)
      ->callback([options, &io, &exit_code] { exit_code = watch(*options, io); });
  const auto add_step = [&](const char* name, const char* what, OperationStep step) {
    add_operations_verb(*operations, name, what, options, true)
        ->callback([options, step, &io, &exit_code] { exit_code = steer(*options, io, step); });
  };
  add_step("pause", "Have one stand still", OperationStep::pause);
  add_step("resume", "Go on with one", OperationStep::resume);
  add_step("cancel", "End one; what was done stays done", OperationStep::cancel);
}

void add_audit(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* verb = program.add_subcommand("audit", "Who did what, latest first");
  verb->footer(kAuditExamples);
  const auto options = std::make_shared<OperationsVerbOptions>();
  verb->add_option("--limit", options->limit, "At most so many")
      ->option_text("COUNT")
      ->check(CLI::PositiveNumber);
  verb->add_flag("--json", options->json, "JSON, one object a line");
  add_target(*verb, options->target);
  verb->callback([options, &io, &exit_code] { exit_code = audit(*options, io); });
}

}  // namespace holdfast::cli
