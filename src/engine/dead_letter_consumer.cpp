#include "engine/dead_letter_consumer.hpp"

#include <algorithm>
#include <utility>

#include "core/fingerprint.hpp"
#include "engine/carried_message.hpp"
#include "engine/carrier.hpp"
#include "engine/task_log.hpp"

namespace holdfast::engine {
namespace {

DeadLetters sound(DeadLetters rule) {
  rule.poll = std::max<Duration>(rule.poll, std::chrono::milliseconds(1));
  rule.batch = std::max<std::size_t>(rule.batch, 1);
  return rule;
}

std::string_view name_of(DeadLetters::Rule rule) {
  return rule == DeadLetters::Rule::fail ? "fail" : "redrive";
}

std::int64_t milliseconds_of(Duration span) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
}

}  // namespace

DeadLetterConsumer::DeadLetterConsumer(Floor& floor, DeadLetters rule, Hooks hooks)
    : floor_(floor), rule_(sound(std::move(rule))), hooks_(std::move(hooks)) {}

DeadLetterConsumer::~DeadLetterConsumer() {
  if (consumer_ && !closing_) broker_->close(*consumer_, [] {});
}

void DeadLetterConsumer::start() {
  if (stopping_ || std::exchange(started_, true)) return;
  const Carrier* const carrier = floor_.carrier_of(rule_.queue);
  const std::string from = carrier ? carrier->carriage().dead_letter : floor_.options.store;
  floor_.parts.log.log(Level::info, "dead_letters.started", "DLQ Consumer started",
                       {{"queue", rule_.queue},
                        {"on_dead", name_of(rule_.rule)},
                        {"poll_interval_ms", milliseconds_of(rule_.poll)},
                        {"wait_ms", milliseconds_of(rule_.wait)},
                        {"batch", rule_.batch},
                        {"from", from}});
  if (carrier) {
    broker_ = carrier->carriage().broker;
    consumer_ = broker_->consume(
        {.queue = carrier->carriage().dead_letter, .prefetch = rule_.batch, .wait = rule_.wait},
        *this);
  }
  poll();
}

void DeadLetterConsumer::stop() {
  if (std::exchange(stopping_, true)) return;
  poll_timer_.reset();
  later_.clear();  // the broker has them
  if (consumer_) broker_->pause(*consumer_);
  close_timer_ = floor_.parts.loop.after(kCloseWait, [this] {
    gave_up_ = true;  // what was not heard of is looked at in the next life
    close_if_idle();
  });
  close_if_idle();
}

void DeadLetterConsumer::close_if_idle() {
  if (!stopping_ || closing_ || (under_way_ > 0 && !gave_up_)) return;
  closing_ = true;
  if (!consumer_) return closed();
  close_timer_ = floor_.parts.loop.after(kCloseWait, [this] { closed(); });
  ++under_way_;
  broker_->close(*consumer_, floor_.guarded([this] {
    --under_way_;
    closed();
  }));
}

void DeadLetterConsumer::closed() {
  if (std::exchange(stopped_, true)) return;
  close_timer_.reset();
  if (started_) {
    floor_.parts.log.log(Level::info, "dead_letters.stopped", "DLQ Consumer stopped",
                         {{"queue", rule_.queue}});
  }
  floor_.parts.loop.post(floor_.guarded([&floor = floor_] { floor.on_progress(); }));
}

// The next one is due whatever becomes of this: what it asks the store may not be answered soon.
void DeadLetterConsumer::poll() {
  poll_timer_ = floor_.parts.loop.after(rule_.poll, [this] { poll(); });
  if (floor_.broken()) return;
  for (const Letter& letter : std::exchange(later_, {}))
    take(letter);
  survey();
}

// From a counter first: a queue without dead letters costs next to nothing, however many dead
// letters of others are there.
void DeadLetterConsumer::survey() {
  if (std::exchange(surveying_, true)) return;
  ++under_way_;
  floor_.ask(floor_.parts.reader, ports::Count{}, [this](const ports::Asked<ports::Count>& asked) {
    --under_way_;
    if (!asked.answer) {
      floor_.parts.log.log(
          Level::error, "dead_letters.store", "DLQ poll failed: tried again at the next poll",
          {{"queue", rule_.queue}, {"operation", "count"}, {"error", asked.answer.error().text()}});
      return survey_ended();
    }
    const auto own = std::ranges::find(*asked.answer, rule_.queue, &ports::QueueCounts::queue);
    if (own == asked.answer->end() || own->count(core::State::dead) == 0) return survey_ended();
    look_at_page("");
  });
}

void DeadLetterConsumer::survey_ended() {
  surveying_ = false;
  close_if_idle();
}

void DeadLetterConsumer::look_at_page(const std::string& cursor) {
  if (stopping_) return survey_ended();
  ++under_way_;
  ports::List list{.filter = {.state = core::State::dead, .queue = rule_.queue},
                   .cursor = cursor,
                   .limit = rule_.batch};
  floor_.ask(floor_.parts.reader, std::move(list), [this](const ports::Asked<ports::List>& asked) {
    --under_way_;
    if (asked.answer) return page_found(*asked.answer);
    floor_.parts.log.log(
        Level::error, "dead_letters.store", "DLQ poll failed: tried again at the next poll",
        {{"queue", rule_.queue}, {"operation", "list"}, {"error", asked.answer.error().text()}});
    survey_ended();
  });
}

// Of a queue that a broker carries, a dead letter has a message that is on its way at first.
void DeadLetterConsumer::page_found(const ports::List::Answer& page) {
  if (stopping_) return survey_ended();
  const WallTime dead_before = saturating_add(floor_.wall_now(), -rule_.poll);
  std::vector<TaskId> due;
  for (const ports::TaskRecord& record : page.tasks) {
    if (!consumer_ || record.changed <= dead_before) due.push_back(record.id);
  }
  next_page_ = page.next;
  if (due.empty()) return next_page_.empty() ? survey_ended() : look_at_page(next_page_);
  log_received(due.size());
  of_page_ = due.size();
  for (const TaskId& id : due)
    take({.id = id});
}

void DeadLetterConsumer::log_received(std::size_t count) const {
  floor_.parts.log.log(Level::info, "dead_letters.received",
                       "Received " + std::to_string(count) + " DLQ messages",
                       {{"queue", rule_.queue}, {"messages", count}});
}

void DeadLetterConsumer::received(std::vector<ports::Delivery> deliveries) {
  if (stopping_) return;
  log_received(deliveries.size());
  for (const ports::Delivery& delivery : deliveries) {
    const auto id = task_of(delivery.message);
    if (!id) {
      pass_over(delivery.tag, "a DLQ message that names no task is kept");
      continue;
    }
    const auto attempts = ports::number_of(delivery.message.headers, kAttemptHeader);
    take({.id = *id,
          .tag = delivery.tag,
          .died = died_with(delivery.message),
          .attempts = static_cast<int>(std::clamp<std::int64_t>(attempts.value_or(0), 0, 1 << 30)),
          .tried = attempts_before(delivery.message, rule_.queue)});
  }
}

void DeadLetterConsumer::interrupted(const Error& why) {
  later_.clear();
  floor_.parts.log.log(Level::warning, "dead_letters.interrupted",
                       "the broker is away: its DLQ messages will come again",
                       {{"queue", rule_.queue}, {"error", why.text()}});
}

void DeadLetterConsumer::take(Letter letter) {
  ++under_way_;
  look(letter);
}

void DeadLetterConsumer::look(Letter letter) {
  floor_.ask(floor_.parts.reader, ports::Find{letter.id},
             [this, letter](ports::Asked<ports::Find>& asked) {
               if (!asked.answer) return try_later(letter, "find", asked.answer.error());
               found(letter, *std::move(asked.answer));
             });
}

void DeadLetterConsumer::found(Letter letter, ports::Find::Answer record) {
  const std::string id = letter.id.text();
  if (!record) {
    return delete_message(letter, Level::warning, "dead_letters.not_found",
                          "Transaction not found: " + id + ", deleting DLQ message");
  }
  const DeadLetters* const rule =
      record->queue == rule_.queue ? &rule_ : hooks_.rule_of(record->queue);
  if (!rule) {
    if (letter.tag) pass_over(*letter.tag, "a DLQ message of a queue that keeps them is kept");
    return end(letter);
  }
  switch (record->task.state) {
    case core::State::failed:
      return delete_message(
          letter, Level::info, "dead_letters.duplicate",
          "Transaction already failed: " + id + ", deleting duplicate DLQ message");
    case core::State::succeeded:
    case core::State::canceled:
      return delete_message(letter, Level::info, "dead_letters.ended",
                            "Transaction already " +
                                std::string(core::to_string(record->task.state)) + ": " + id +
                                ", deleting DLQ message");
    case core::State::pending:
    case core::State::retrying:
    case core::State::running:
      if (!letter.tag) return end(letter);  // somebody has brought it back meanwhile
      if (is_stale(letter, *record)) {
        return delete_message(letter, Level::info, "dead_letters.stale",
                              "Transaction brought back: " + id + ", deleting old DLQ message");
      }
      if (record->task.state == core::State::running) return keep_message(letter);
      break;
    case core::State::dead: break;
  }
  Decision decision = decide(letter, *record, *rule);
  carry_out(letter, *std::move(record), std::move(decision));
}

// A message of a task that goes on, with another message: its dead letter, from before it was
// brought back; or one from before its last attempt. What a broker has given up by itself is
// neither.
bool DeadLetterConsumer::is_stale(const Letter& letter, const ports::TaskRecord& record) const {
  return letter.died.has_value() || letter.attempts < record.task.spent.attempts;
}

DeadLetterConsumer::Decision DeadLetterConsumer::decide(const Letter& letter,
                                                        const ports::TaskRecord& record,
                                                        const DeadLetters& rule) const {
  Decision decision;
  if (rule.rule == DeadLetters::Rule::redrive && record.retry_on_failure) {
    if (rule.redrive_rounds <= 0) {
      log_task(floor_.parts.log,
               {Level::warning, "dead_letters.no_retry", "Retry requested but disabled"}, record);
    } else if (record.task.spent.replays < rule.redrive_rounds) {
      auto steps = redrive(letter, record);
      if (steps) return {.steps = *std::move(steps), .redrives = true};
      log_task(floor_.parts.log,
               {Level::warning, "dead_letters.no_retry", "Retry requested but refused"}, record,
               {{"error", steps.error().text()}});
    }
  }
  const int tried = record.task.state == core::State::dead ? 0 : letter.tried;
  // The states that it is refused in were dealt with by whoever calls.
  decision.steps.push_back(core::close(record.task, tried, floor_.wall_now()).value());
  return decision;
}

// One that waits is given up first: otherwise nothing would tell that it was brought back (N3).
Result<std::vector<core::Transition>> DeadLetterConsumer::redrive(
    const Letter& letter, const ports::TaskRecord& record) const {
  std::vector<core::Transition> steps;
  core::Task task = record.task;
  if (task.state != core::State::dead) {
    auto closed = core::close(task, letter.tried, floor_.wall_now());
    if (!closed) return std::unexpected(std::move(closed).error());
    core::apply(*closed, task);
    steps.push_back(*std::move(closed));
  }
  const TaskType& type = floor_.type_or_default(record.type);
  auto replayed = core::replay(task, {}, type.policy_of(record.limits), floor_.wall_now());
  if (!replayed) return std::unexpected(std::move(replayed).error());
  steps.push_back(*std::move(replayed));
  return steps;
}

void DeadLetterConsumer::carry_out(Letter letter, ports::TaskRecord record, Decision decision) {
  ports::Change change;
  core::Token token = record.task.token;
  for (const core::Transition& step : decision.steps) {
    change.changes.push_back({.id = record.id, .token = token, .transition = step});
    if (step.failure) change.changes.back().fingerprint = fingerprint(step.failure->message);
    token = step.token;
  }
  floor_.ask(floor_.parts.writer, std::move(change),
             [this, letter, record = std::move(record),
              decision = std::move(decision)](ports::Asked<ports::Change>& asked) mutable {
               if (!asked.answer) return try_later(letter, "change", asked.answer.error());
               if (asked.answer->back() == ports::Change::Done::applied) {
                 return carried_out(letter, std::move(record), decision);
               }
               // Somebody else has decided about it, or is at it.
               if (--letter.looks_left > 0) return look(letter);
               try_later(letter, "change",
                         {ErrorCode::conflict, "change", "the task keeps changing"});
             });
}

void DeadLetterConsumer::carried_out(const Letter& letter, ports::TaskRecord record,
                                     const Decision& decision) {
  for (const core::Transition& step : decision.steps) {
    hooks_.carried(record, step);
    core::apply(step, record.task);
  }
  const std::string message = "DLQ message processed: " + letter.id.text() +
                              (decision.redrives ? " -> redriven" : " -> failed");
  const auto& failure = record.task.last_failure;
  log_task(floor_.parts.log, {Level::info, "dead_letters.processed", message}, record,
           {{"retry_on_failure", record.retry_on_failure},
            {"replays", record.task.spent.replays},
            {"error", failure ? std::string_view(failure->message) : ""}});
  delete_message(letter);
}

void DeadLetterConsumer::delete_message(const Letter& letter) {
  if (letter.tag && !closing_) broker_->acknowledge(*consumer_, *letter.tag);
  end(letter);
}

// One that was found in the store has none, so there is nothing to tell of.
void DeadLetterConsumer::delete_message(const Letter& letter, Level level, std::string_view event,
                                        const std::string& why) {
  if (letter.tag) {
    floor_.parts.log.log(level, event, why, {{"queue", rule_.queue}, {"task", letter.id.text()}});
  }
  delete_message(letter);
}

void DeadLetterConsumer::keep_message(const Letter& letter) {
  if (letter.tag && !stopping_) {
    later_.push_back(letter);
    later_.back().looks_left = Letter().looks_left;
  }
  end(letter);
}

// With all that is known of it (C6.2). What has no message is found dead again.
void DeadLetterConsumer::try_later(const Letter& letter, std::string_view operation,
                                   const Error& error) {
  floor_.parts.log.log(Level::error, "dead_letters.failed",
                       "DLQ message not processed: tried again at the next poll",
                       {{"queue", rule_.queue},
                        {"task", letter.id.text()},
                        {"operation", operation},
                        {"error", error.text()}});
  keep_message(letter);
}

// Never deleted: it is somebody's. Held, so that it is not delivered again and again.
void DeadLetterConsumer::pass_over(const ports::DeliveryTag& tag, std::string_view why) {
  if (!closing_) broker_->hold(*consumer_, tag);
  if (std::exchange(warned_, true)) return;
  floor_.parts.log.log(Level::warning, "dead_letters.kept", why, {{"queue", rule_.queue}});
}

void DeadLetterConsumer::end(const Letter& letter) {
  --under_way_;
  if (!letter.tag && --of_page_ == 0) {
    if (!next_page_.empty() && !stopping_) return look_at_page(next_page_);
    return survey_ended();
  }
  close_if_idle();
}

}  // namespace holdfast::engine
