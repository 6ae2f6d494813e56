#include "triage/operations.hpp"

#include <utility>

#include <fmt/format.h>

#include "wire/json_writer.hpp"

namespace holdfast::triage {
namespace {

constexpr std::size_t kPage = 100;
// Of a shared store: what its runner has not touched for so long is left, and so often it is
// looked for.
constexpr Duration kLeftAfter = std::chrono::seconds(30);
constexpr Duration kLookForLeftEvery = std::chrono::seconds(10);

std::string text_of(const wire::OperationNote& note) {
  std::string text;
  wire::JsonWriter writer(text);
  write(writer, note);
  return text;
}

std::string what_of(const Operation& operation) {
  if (operation.ids.empty()) return operation.query;
  if (operation.ids.size() == 1) return "task " + operation.ids.front().text();
  return fmt::format("{} tasks by id", operation.ids.size());
}

AuditEntry entry_of(const Operation& operation, std::string who, std::string action) {
  return {.who = std::move(who),
          .action = std::move(action),
          .what = what_of(operation),
          .count = operation.progress.done,
          .refused = operation.progress.refused,
          .reason = operation.reason,
          .operation = operation.id};
}

std::unexpected<Error> no_such(const std::string& id) {
  return fail(ErrorCode::not_found, "operation", "there is no operation " + id);
}

}  // namespace

Operations::Operations(Parts parts, AuditLog& audit)
    : parts_(std::move(parts)), audit_(audit), ids_(parts_.random) {}

Operations::~Operations() = default;

void Operations::start() {
  look_for_left_ones("");
}

void Operations::begin(OperationRequest request, std::string who, Then then) {
  const WallTime now = parts_.clock.wall_now();
  if (request.ids.empty()) {
    if (auto query = Query::parse(request.query, now); !query) {
      return then(std::unexpected(std::move(query).error()));
    }
  }
  wire::OperationNote note{.operation = {.id = ids_.next(now).text(),
                                         .action = request.action,
                                         .query = std::move(request.query),
                                         .ids = std::move(request.ids),
                                         .options = request.options,
                                         .by = who,
                                         .reason = std::move(request.reason),
                                         .created = now,
                                         .as_of = now,
                                         .changed = now},
                           .runner = parts_.runner,
                           .start = request.start};
  ports::Jot jot{.shelf = std::string(kOperations),
                 .key = note.operation.id,
                 .text = text_of(note),
                 .version = 0};
  ports::lane_ask(
      parts_.writer, std::move(jot),
      [this, alive = std::weak_ptr(alive_), note = std::move(note), who = std::move(who),
       then = std::move(then)](Result<ports::Jot::Answer> version) mutable {
        if (alive.expired()) return;
        if (!version) return then(std::unexpected(std::move(version).error()));
        const bool started = note.start;
        const Run run = adopt(std::move(note), version->value_or(1));
        if (started) audit_.note(entry_of(run->operation(), who, "operation.start"));
        if (on_change_) on_change_(run->operation());
        then(run->operation());
        run->go_on();
      });
}

Operations::Run Operations::adopt(wire::OperationNote note, std::uint64_t version) {
  OperationRun::Hooks hooks{.on_change =
                                [this](const Operation& operation) {
                                  if (on_change_) on_change_(operation);
                                },
                            .on_rest = [this](OperationRun& run) { rested(run); },
                            .on_lost = [this](OperationRun& run) { lost(run); }};
  const std::string id = note.operation.id;
  auto run = std::make_shared<OperationRun>(parts_, std::move(note), version, std::move(hooks));
  runs_.insert_or_assign(id, run);
  return run;
}

// What has ended, or stopped by itself, is for the audit. What stands still is in its note alone,
// so that it can be steered from anywhere.
void Operations::rested(OperationRun& run) {
  const Operation& operation = run.operation();
  if (operation.state == OperationState::stopped) {
    audit_.note(entry_of(operation, operation.by, "operation.stopped"));
  } else if (operation.state == OperationState::done || operation.state == OperationState::failed) {
    audit_.note(entry_of(operation, operation.by, std::string(to_string(operation.action))));
  }
  // Not from within the run itself.
  parts_.loop.post([this, alive = std::weak_ptr(alive_), id = operation.id] {
    if (alive.expired()) return;
    const auto found = runs_.find(id);
    if (found != runs_.end() && found->second->is_idle()) runs_.erase(found);
  });
}

// Somebody else has changed it, or our own last word was taken for lost: whose it is now, its note
// says.
void Operations::lost(OperationRun& run) {
  parts_.loop.post([this, alive = std::weak_ptr(alive_), id = run.operation().id] {
    if (alive.expired()) return;
    runs_.erase(id);
    load(id, [this](auto loaded) {
      if (!loaded || has_ended(loaded->first.operation.state)) return;
      if (loaded->first.runner != parts_.runner) return;
      const std::string own = loaded->first.operation.id;
      if (!runs_.contains(own)) adopt(std::move(loaded->first), loaded->second)->go_on();
    });
  });
}

void Operations::load(
    std::string id,
    std::move_only_function<void(Result<std::pair<wire::OperationNote, std::uint64_t>>)> then) {
  ports::Notes notes{.shelf = std::string(kOperations), .only = id};
  ports::lane_ask(parts_.reader, std::move(notes),
                  [alive = std::weak_ptr(alive_), id = std::move(id),
                   then = std::move(then)](Result<ports::Notes::Answer> found) mutable {
                    if (alive.expired()) return;
                    if (!found) return then(std::unexpected(std::move(found).error()));
                    if (found->empty()) return then(no_such(id));
                    auto note = wire::read_operation_note(found->front().text);
                    if (!note) return then(std::unexpected(std::move(note).error()));
                    then(std::pair(*std::move(note), found->front().version));
                  });
}

bool Operations::is_left(const wire::OperationNote& note) const {
  const Operation& operation = note.operation;
  if (!is_moving(operation.state) || runs_.contains(operation.id)) return false;
  return !parts_.is_shared || parts_.clock.wall_now() - operation.changed > kLeftAfter;
}

void Operations::look_for_left_ones(std::string beyond) {
  ports::Notes notes{
      .shelf = std::string(kOperations), .beyond = std::move(beyond), .limit = kPage};
  ports::lane_ask(parts_.reader, std::move(notes),
                  [this, alive = std::weak_ptr(alive_)](const Result<ports::Notes::Answer>& found) {
                    if (alive.expired()) return;
                    if (!found) {
                      parts_.log.log(
                          Level::warning, "operation.waits",
                          "the store does not say which operations there are: asked again",
                          {{"error", found.error().text()}});
                      return look_again_later();
                    }
                    for (const ports::Note& one : *found) {
                      auto note = wire::read_operation_note(one.text);
                      if (!note) {
                        parts_.log.log(Level::error, "operation.unreadable",
                                       "the note of an operation cannot be read: it is left alone",
                                       {{"operation", one.key}, {"error", note.error().text()}});
                        continue;
                      }
                      if (!is_left(*note)) continue;
                      const Run run = adopt(*std::move(note), one.version);
                      parts_.log.log(Level::info, "operation.resumed", "an operation goes on",
                                     {{"operation", one.key},
                                      {"state", to_string(run->operation().state)},
                                      {"done", run->operation().progress.done},
                                      {"total", run->operation().progress.total}});
                      run->go_on();
                    }
                    if (found->size() == kPage) return look_for_left_ones(found->back().key);
                    if (parts_.is_shared) look_again_later();
                  });
}

void Operations::look_again_later() {
  timer_ = parts_.loop.after(kLookForLeftEvery, [this] { look_for_left_ones(""); });
}

void Operations::step(std::string id, OperationStep step, std::string start, std::string who,
                      Then then) {
  if (const auto found = runs_.find(id); found != runs_.end()) {
    return steer(found->second, step, std::move(start), std::move(who), std::move(then));
  }
  load(std::move(id), [this, step, start = std::move(start), who = std::move(who),
                       then = std::move(then)](auto loaded) mutable {
    if (!loaded) return then(std::unexpected(std::move(loaded).error()));
    const std::string its_id = loaded->first.operation.id;
    const auto known = runs_.find(its_id);
    const Run run =
        known != runs_.end() ? known->second : adopt(std::move(loaded->first), loaded->second);
    steer(run, step, std::move(start), std::move(who), std::move(then));
  });
}

void Operations::steer(const Run& run, OperationStep step, std::string start, std::string who,
                       Then then) {
  auto change = [this, step, start = std::move(start)](wire::OperationNote& note) -> Result<void> {
    Operation& operation = note.operation;
    if (step == OperationStep::start && !start.empty()) {
      auto said = wire::read_operation_start(start, {.action = operation.action,
                                                     .query = operation.query,
                                                     .ids = operation.ids,
                                                     .options = operation.options,
                                                     .reason = operation.reason});
      if (!said) return std::unexpected(std::move(said).error());
      operation.options = said->options;
      operation.reason = std::move(said->reason);
    }
    return take_step(operation, step, parts_.clock.wall_now());
  };
  run->steer(std::move(change), [this, alive = std::weak_ptr(alive_), step, who = std::move(who),
                                 then = std::move(then)](Result<Operation> operation) mutable {
    // A plan that nobody wanted was nothing that anybody did.
    if (!alive.expired() && operation && operation->started) {
      audit_.note(
          entry_of(*operation, std::move(who), "operation." + std::string(to_string(step))));
    }
    then(std::move(operation));
  });
}

void Operations::find(std::string id, Then then) {
  if (const auto found = runs_.find(id); found != runs_.end()) {
    return then(found->second->operation());
  }
  load(std::move(id), [then = std::move(then)](auto loaded) mutable {
    if (!loaded) return then(std::unexpected(std::move(loaded).error()));
    then(std::move(loaded->first.operation));
  });
}

void Operations::page(std::size_t limit, std::string cursor,
                      std::move_only_function<void(Result<OperationPage>)> then) {
  ports::Notes notes{
      .shelf = std::string(kOperations), .beyond = std::move(cursor), .limit = limit};
  ports::lane_ask(parts_.reader, std::move(notes),
                  [this, alive = std::weak_ptr(alive_), limit,
                   then = std::move(then)](Result<ports::Notes::Answer> found) mutable {
                    if (alive.expired()) return;
                    if (!found) return then(std::unexpected(std::move(found).error()));
                    OperationPage page;
                    for (const ports::Note& one : *found) {
                      const auto run = runs_.find(one.key);
                      if (run != runs_.end()) {
                        page.operations.push_back(run->second->operation());
                        continue;
                      }
                      auto note = wire::read_operation_note(one.text);
                      if (!note) return then(std::unexpected(std::move(note).error()));
                      page.operations.push_back(std::move(note->operation));
                    }
                    if (found->size() == limit) page.next = found->back().key;
                    then(std::move(page));
                  });
}

}  // namespace holdfast::triage
