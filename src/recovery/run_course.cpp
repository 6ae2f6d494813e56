// The course of a run: its beginning, its connection, its time and its end.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/json_text.hpp"
#include "recovery/run.hpp"

namespace holdfast::recovery {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTick = 100ms;
constexpr Duration kDepthEvery = 1s;
constexpr int kMostAsked = 50;
constexpr int kMissingToBeGone = 2;
constexpr int kProofs = 2;
constexpr Duration kProveAgain = 1s;

}  // namespace

// The beginning.

void Run::start(std::move_only_function<void(Outcome)> done) {
  done_ = std::move(done);
  started_ = last_received_ = last_progress_ = parts_.clock.now();
  tick_later();
  parts_.broker.depth(options_.queue, [this](Result<ports::Depth> depth) {
    if (ending_) return;
    if (!depth) return end(Ended::failed, std::move(depth).error());
    if (depth->is_sure) note_found(depth->ready);
    summary_.consumers = depth->consumers;
    if (depth->consumers > 0) {
      warn(Warning::Kind::queue,
           "queue " + quoted(options_.queue) + " has " + std::to_string(depth->consumers) +
               (depth->consumers == 1 ? " other consumer" : " other consumers") +
               ": messages that are delivered there are not counted");
    }
    std::vector<NeededQueue> queues;
    if (!options_.park.empty()) queues.push_back({parts_.broker, options_.park});
    if (options_.rules.routes.to == Routes::To::queue && !options_.dry) {
      queues.push_back({target(), options_.rules.routes.queue});
    }
    check_queues(std::move(queues));
  });
}

void Run::note_found(std::uint64_t messages) {
  summary_.found = messages;
  parts_.observer.found(messages);
}

// Those that everything goes to must be there before anything is begun.
void Run::check_queues(std::vector<NeededQueue> queues) {
  if (queues.empty()) return check_returns();
  const NeededQueue queue = std::move(queues.back());
  queues.pop_back();
  const bool is_elsewhere = &queue.at != &parts_.broker;
  queue.at.depth(queue.name, [this, is_elsewhere,
                              queues = std::move(queues)](Result<ports::Depth> depth) mutable {
    if (ending_) return;
    last_progress_ = parts_.clock.now();
    if (depth) return check_queues(std::move(queues));
    Error error = std::move(depth).error();
    if (is_elsewhere) error.message += at_target();
    end(Ended::failed, std::move(error));
  });
}

void Run::check_returns() {
  parts_.broker.inspect(options_.queue, [this](Result<ports::QueueFacts> facts) {
    if (ending_) return;
    last_progress_ = parts_.clock.now();
    if (!facts) return end(Ended::failed, std::move(facts).error());
    auto rules = ReturnRules::make(
        *facts, {.queue = options_.queue, .dry = options_.dry, .stated = options_.delivery_limit});
    if (!rules) return end(Ended::failed, std::move(rules).error());
    returns_ = *rules;
    summary_.counts_returns = facts->kind == ports::QueueFacts::Kind::counts;
    is_plain_ = facts->kind == ports::QueueFacts::Kind::plain;
    if (is_plain_ && !summary_.found) note_found(0);
    if (!returns_.limit()) return begin_consuming();
    prove_publishing(kProofs);
  });
}

// Whatever is taken from a queue with a limit must be able to leave it by a copy. So the broker has
// to show first that it takes messages: in need of memory or disk it still takes the first one of a
// connection. They go to no queue, so nothing is left of them.
void Run::prove_publishing(int times) {
  if (times == 0) return begin_consuming();
  parts_.broker.publish(
      {.to = {.routing_key = "holdfast.proof." + options_.rules.run}, .message = {}},
      [this, times](const ports::Sent& sent) {
        if (ending_) return;
        if (sent.fate == ports::Fate::refused) {
          return end(Ended::failed,
                     Error{sent.error.code, "recover",
                           "messages cannot be published to the default exchange, by which one "
                           "that stays in a queue with a delivery limit gets a new copy: " +
                               sent.error.message + ". Nothing was taken from the queue"});
        }
        if (sent.fate != ports::Fate::unsent && sent.fate != ports::Fate::unknown)
          return prove_publishing(times - 1);
        if (!std::exchange(publishing_warned_, true)) {
          warn(Warning::Kind::connection,
               "the broker takes no messages now, so none are taken from the queue: " +
                   sent.error.message);
        }
        prove_timer_ = parts_.loop.after(kProveAgain, [this] { prove_publishing(kProofs); });
      });
}

void Run::begin_consuming() {
  if (summary_.found == 0U && summary_.consumers == 0) return end(Ended::empty);
  if (parts_.journal) {
    append_begin(journal_lines_, parts_.clock.wall_now(), options_.rules.run,
                 options_.key.empty() ? options_.queue : options_.key, options_.window);
    write_journal();
    if (ending_) return;
  }
  std::size_t ahead = std::max<std::size_t>(1, options_.window);
  for (const auto& most : {options_.limit, options_.trial}) {
    if (most) ahead = std::min(ahead, static_cast<std::size_t>(std::max<std::uint64_t>(1, *most)));
  }
  // What is handed out and waits for its turn is kept from others: a few seconds' worth will do. It
  // is returned when the run ends: where that is counted, half a second's worth.
  if (options_.rate > 0) {
    const double seconds = returns_.limit() ? 0.5 : 5;
    ahead = std::min(ahead,
                     static_cast<std::size_t>(std::ceil(std::max(1.0, options_.rate * seconds))));
  }
  window_ = DeliveryWindow(ahead, returns_.limit().has_value());
  consumer_ = parts_.broker.consume(
      {.queue = options_.queue, .prefetch = window_.size(), .most_bytes = options_.most_bytes},
      *this);
}

// Another broker.

// A copy at one broker says nothing of another.
Identity Run::copy_identity(const Entry& entry) const {
  if (!parts_.to) return identity_of(entry.delivery.message, entry.to);
  const std::string& to = options_.to_key.empty() ? options_.to_place : options_.to_key;
  return identity_of(entry.delivery.message, {.exchange = to + '\n' + entry.to.exchange,
                                              .routing_key = entry.to.routing_key});
}

std::string Run::at_target() const {
  return parts_.to ? " at " + options_.to_place : "";
}

// The connection.

void Run::consuming() {
  consuming_ = true;
  if (!worked_since_) worked_since_ = parts_.clock.now();
  ever_consumed_ = true;
  last_received_ = parts_.clock.now();
  depth_asked_.reset();
}

// What a new connection is told may be passing: the broker is just starting, or a queue moves.
void Run::refused(const Error& why) {
  if (ending_ || (ever_consumed_ && why.code != ErrorCode::invalid_argument)) return;
  end(Ended::failed, why);
}

// Everything that was delivered comes again, whatever became of it here. What was counted as held
// is counted when it comes; what is under way is remembered, so that it is known when it comes.
void Run::interrupted(const Error& why) {
  consuming_ = false;
  empty_since_.reset();
  if (closing_) return;
  ++life_;
  received_ = settled_;
  refused_for_ = {};
  settled_before_ = std::exchange(settled_in_life_, 0);
  resize_window(window_.restart());
  ++summary_.interruptions;
  warn(Warning::Kind::connection,
       "the connection is lost, and what is not settled comes again: " + why.message);
  std::uint64_t under_way = 0;  // what does not come again, and is still to be recovered
  for (auto& [tag, entry] : in_flight_) {
    if (!is_last(entry)) entry.delivery.message.body = {};
    const bool goes_on = is_last(entry) && entry.purpose == Entry::Purpose::recover;
    if (goes_on) ++under_way;
    nobodys_.insert_or_assign(tag, std::move(entry));
  }
  in_flight_.clear();
  // What was done with is not taken again.
  taken_ = summary_.recovered.total() + summary_.discarded + gone_.failed.total() +
           gone_.skipped.total() + under_way;
  rescue_what_was_lost();
  to_acknowledge_.clear();
  if (!ending_) held_ = {};  // else nothing comes any more
  if (options_.dry && !ending_) {
    plan_.clear();
    summary_.planned = 0;
  }
  if (summary_.found && handled() < *summary_.found) caught_up_since_.reset();
  // What was chosen and not sent yet comes to nobody any more.
  if (ending_) {
    summary_.cut_short = true;
    close_when_idle();
  }
}

// Time.

void Run::tick_later() {
  tick_timer_ = parts_.loop.after(kTick, [this] { tick(); });
}

void Run::tick() {
  if (finished_) return;
  tick_later();
  const SteadyTime now = parts_.clock.now();
  const bool quiet = is_quiet();
  if (!put_aside_.empty() && !aside_timer_) try_what_is_put_aside();
  const bool busy = !consuming_ || !in_flight_.empty() || !troubled_.empty() || !nobodys_.empty();
  // What comes again and again, since connections do not last, is no progress either.
  const bool in_a_circle = quiet && life_ != progress_life_;
  if (!busy && !in_a_circle) last_progress_ = now;
  if (!caught_up_since_ && summary_.found && handled() >= *summary_.found) caught_up_since_ = now;
  if (quiet || (consuming_ && !ending_ && !summary_.found)) look_at_depth(now);
  if (ever_consumed_ && !consuming_ && !ending_) look_whether_deleted(now);
  refresh_summary();
  parts_.observer.moved(summary_);
  if (closing_ || (ending_ && !finishes_waiting_)) return;
  const auto over = ending(options_.limits, {.now = now,
                                             .started = started_,
                                             .last_received = last_received_,
                                             .last_progress = last_progress_,
                                             .empty_since = empty_since_,
                                             .caught_up_since = caught_up_since_,
                                             .busy = busy || in_a_circle,
                                             .quiet = quiet});
  if (!over) return;
  if (finishes_waiting_ && *over != Ended::total && *over != Ended::stall) return;
  end(*over);
}

bool Run::is_quiet() const {
  return consuming_ && !ending_ && waiting_.empty() && in_flight_.empty() && troubled_.empty() &&
         nobodys_.empty() && to_acknowledge_.empty();
}

void Run::look_at_depth(SteadyTime now) {
  if (depth_under_way_ || (depth_asked_ && now - *depth_asked_ < kDepthEvery)) return;
  depth_under_way_ = true;
  depth_asked_ = now;
  parts_.broker.depth(options_.queue, [this, before = received_](Result<ports::Depth> depth) {
    depth_under_way_ = false;
    if (depth) return note_depth(*depth, before);
    empty_since_.reset();
    if (depth.error().code == ErrorCode::not_found && !ending_) end_without_queue();
  });
}

// A queue that is deleted is a lost connection at first.
void Run::look_whether_deleted(SteadyTime now) {
  if (depth_under_way_ || (depth_asked_ && now - *depth_asked_ < kDepthEvery)) return;
  depth_under_way_ = true;
  depth_asked_ = now;
  parts_.broker.depth(options_.queue, [this](const Result<ports::Depth>& depth) {
    depth_under_way_ = false;
    const bool is_missing = !depth && depth.error().code == ErrorCode::not_found;
    times_missing_ = is_missing && !consuming_ ? times_missing_ + 1 : 0;
    if (times_missing_ >= kMissingToBeGone && !ending_) end_without_queue();
  });
}

// No original is left that could be brought back once more, so no copy can be there twice.
void Run::end_without_queue() {
  is_deleted_ = true;
  doubts_ = 0;
  end(Ended::failed,
      Error{ErrorCode::not_found, "recover", "queue " + quoted(options_.queue) + " was deleted"});
}

void Run::note_depth(const ports::Depth& depth, std::uint64_t received_before) {
  if (!is_known(depth)) return empty_since_.reset();
  if (!summary_.found) {
    note_found(depth.ready + received_before);
    if (summary_.found == 0U && received_ == 0 && !ending_) return end(Ended::empty);
  }
  if (depth.ready > 0 || !is_quiet()) return empty_since_.reset();
  if (!empty_since_) empty_since_ = parts_.clock.now();
}

// What a queue seems to have that is not plain, while its leader is lost, is nothing: neither
// messages nor consumers. So nothing is believed only while this run consumes, and is counted.
bool Run::is_known(const ports::Depth& depth) const {
  return depth.is_sure || is_plain_;
}

// Messages that are done with, now: settled, or held.
std::uint64_t Run::handled() const {
  return settled_ + held_.held;
}

void Run::progressed() {
  if (handled() <= most_handled_) return;  // the same again, after a lost connection, is none
  most_handled_ = handled();
  progress_life_ = life_;
  last_progress_ = parts_.clock.now();
}

void Run::refresh_summary() {
  summary_.failed = gone_.failed;
  summary_.failed.add(held_.failed);
  summary_.skipped = gone_.skipped;
  summary_.skipped.add(held_.skipped);
  summary_.unreadable = held_.unreadable;
  summary_.passed = gone_.passed + held_.passed;
  summary_.took = parts_.clock.now() - started_;
}

// The end.

void Run::stop() {
  end(Ended::asked);
}

void Run::give_up(const Error& why) {
  end(Ended::failed, why);
}

void Run::end(Ended why, std::optional<Error> error) {
  if (ending_ && !finishes_waiting_) return;
  const bool before = ending_.has_value();
  ending_ = summary_.ended = why;
  summary_.error = std::move(error);
  finishes_waiting_ = why == Ended::limit;
  if (!finishes_waiting_) {
    rescue_or_drop_what_waits();
    close_after_grace();
  }
  if (consumer_ && !before) drain();
  // Not from within whatever found that it is over.
  parts_.loop.post([this] { close_when_idle(); });
}

// What is on its way still comes: among it may be what must not be returned.
void Run::drain() {
  if (std::exchange(draining_, true)) return;
  parts_.broker.drain(*consumer_, [this] {
    drained_ = true;
    pump();
    close_when_idle();
  });
}

void Run::close_when_idle() {
  if (consumer_ && !drained_) return;
  const bool is_idle = waiting_.empty() && troubled_.empty() && in_flight_.empty();
  if (is_idle && !has_what_must_go()) close();
}

// Not while something is in hand that would not survive it.
void Run::close_after_grace() {
  grace_timer_ = parts_.loop.after(options_.grace, [this] {
    if (waiting_.empty() && !has_what_must_go()) return close();
    if (!std::exchange(waits_warned_, true)) {
      warn(Warning::Kind::queue,
           "messages are in hand that their queue would destroy if they were returned once more: "
           "the run ends as soon as the broker has taken a copy of each. To end it now loses them");
    }
    close_after_grace();
  });
}

// What is still under way is left: its message is handed back, and comes twice at worst.
void Run::close() {
  if (std::exchange(closing_, true)) return;
  finishes_waiting_ = false;
  count_doubts();
  settle();
  grace_timer_ = parts_.loop.after(options_.grace, [this] { finish(); });
  if (!consumer_) return ask_what_is_left();
  parts_.broker.close(*consumer_, [this] { check_targets(plan_.targets()); });
}

void Run::count_doubts() {
  const std::uint64_t unanswered = in_flight_.size() + std::exchange(nobodys_, {}).size();
  const std::uint64_t doubts = std::exchange(doubts_, 0);
  if (is_deleted_) return;
  // The broker is away: nobody knows which of the last acknowledgements it has kept.
  if (!consuming_)
    summary_.duplicates +=
        std::min<std::uint64_t>(settled_before_, copies_in_doubt(options_.window));
  summary_.duplicates += unanswered + doubts;
}

// Of a dry run: what can be found out without sending anything.
void Run::check_targets(std::vector<Plan::Target> targets) {
  if (targets.empty() || finished_) {
    summary_.would_fail = plan_.missing();
    summary_.planned -= std::min(summary_.planned, summary_.would_fail);
    return ask_what_is_left();
  }
  ports::Broker& to = this->target();
  const Plan::Target target = std::move(targets.back());
  targets.pop_back();
  auto next = [this, target, targets = std::move(targets)](std::optional<bool> is_there) mutable {
    if (is_there) plan_.checked(target, *is_there);
    check_targets(std::move(targets));
  };
  if (target.is_exchange) {
    return to.find_exchange(target.name,
                            [next = std::move(next)](const Result<bool>& found) mutable {
                              next(found ? std::optional(*found) : std::nullopt);
                            });
  }
  to.depth(target.name, [next = std::move(next)](const Result<ports::Depth>& depth) mutable {
    const bool is_known = depth || depth.error().code == ErrorCode::not_found;
    next(is_known ? std::optional(depth.has_value()) : std::nullopt);
  });
}

// A queue takes some time until what was returned is counted; so it is asked until all that was
// found is accounted for, and nothing changes any more. What is never counted was taken by others,
// or is gone.
void Run::ask_what_is_left() {
  if (finished_) return;
  if (summary_.ended == Ended::failed && !consumer_) return finish();
  parts_.broker.depth(options_.queue, [this](const Result<ports::Depth>& depth) {
    if (finished_) return;
    if (depth) {
      std::optional<std::uint64_t> left;
      if (may_be_what_is_left(*depth)) left = depth->ready;
      const bool is_steady = left && last_left_ == left;
      last_left_ = summary_.left = left;
      reconcile();
      const bool is_whole = summary_.vanished == 0 && is_steady;
      if (!is_whole && ++asked_what_is_left_ < kMostAsked) {
        left_timer_ = parts_.loop.after(kTick, [this] { ask_what_is_left(); });
        return;
      }
    }
    if (!depth && depth.error().code == ErrorCode::not_found) nothing_is_left();
    finish();
  });
}

void Run::nothing_is_left() {
  summary_.left = 0;
  reconcile();
  if (summary_.vanished == 0 || summary_.error) return;
  summary_.ended = Ended::failed;
  summary_.error =
      Error{ErrorCode::not_found, "recover", "queue " + quoted(options_.queue) + " was deleted"};
}

// Nobody consumes any more: that nothing is left is believed if nothing should be.
bool Run::may_be_what_is_left(const ports::Depth& depth) const {
  if (is_known(depth)) return true;
  if (summary_.ended == Ended::empty) return held_.held + held_.again == 0;
  return summary_.found && gone() >= *summary_.found;
}

// P6: whether all that was found is accounted for.
void Run::reconcile() {
  summary_.arrived = summary_.vanished = 0;
  if (!summary_.found || !summary_.left) return;
  const std::uint64_t accounted = gone() + *summary_.left;
  summary_.arrived = accounted - std::min(accounted, *summary_.found);
  summary_.vanished = *summary_.found - std::min(accounted, *summary_.found);
}

// Out of the queue, by this run.
std::uint64_t Run::gone() const {
  return summary_.recovered.total() + summary_.discarded + summary_.parked + summary_.recognised;
}

void Run::finish() {
  if (std::exchange(finished_, true)) return;
  refresh_summary();
  if (parts_.journal && consumer_) {
    // After a lost connection nobody knows which of the last acknowledgements have arrived.
    const bool clean =
        consuming_ && summary_.interruptions == 0 && !summary_.error && summary_.left.has_value();
    append_end(journal_lines_, parts_.clock.wall_now(), summary_, clean);
    Result<void> written = parts_.journal->append(journal_lines_);
    if (written) written = parts_.journal->sync();
    if (!written && !summary_.error) summary_.error = written.error();
  }
  parts_.observer.moved(summary_);
  auto done = std::move(done_);
  done({.summary = std::move(summary_),
        .plan = std::move(plan_),
        .failed_for_good = std::move(gone_.failed),
        .skipped_for_good = std::move(gone_.skipped),
        .passed_for_good = gone_.passed});
}

}  // namespace holdfast::recovery
