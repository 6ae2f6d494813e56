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
constexpr int kMostAsked = 20;

}  // namespace

// The beginning.

void Run::start(std::move_only_function<void(Outcome)> done) {
  done_ = std::move(done);
  started_ = last_received_ = last_progress_ = parts_.clock.now();
  tick_later();
  parts_.broker.depth(options_.queue, [this](Result<ports::Depth> depth) {
    if (ending_) return;
    if (!depth) return end(Ended::failed, std::move(depth).error());
    summary_.found = depth->ready;
    parts_.observer.found(depth->ready);
    std::vector<std::string> queues;
    if (!options_.park.empty() && !options_.dry) queues.push_back(options_.park);
    if (options_.rules.routes.to == Routes::To::queue && !options_.dry) {
      queues.push_back(options_.rules.routes.queue);
    }
    check_queues(std::move(queues));
  });
}

// Those that everything goes to must be there before anything is begun.
void Run::check_queues(std::vector<std::string> queues) {
  if (queues.empty()) return begin_consuming();
  std::string queue = std::move(queues.back());
  queues.pop_back();
  parts_.broker.depth(queue,
                      [this, queues = std::move(queues)](Result<ports::Depth> depth) mutable {
                        if (ending_) return;
                        if (!depth) return end(Ended::failed, std::move(depth).error());
                        check_queues(std::move(queues));
                      });
}

void Run::begin_consuming() {
  if (parts_.journal) {
    append_begin(journal_lines_, parts_.clock.wall_now(), options_.rules.run,
                 options_.place.empty() ? options_.queue : options_.place, options_.window);
    write_journal();
    if (ending_) return;
  }
  std::size_t ahead = std::max<std::size_t>(1, options_.window);
  if (options_.limit) {
    ahead = std::min(ahead, static_cast<std::size_t>(std::max<std::uint64_t>(1, *options_.limit)));
  }
  // What is handed out and waits for its turn is kept from others: a few seconds' worth will do.
  if (options_.rate > 0) {
    ahead = std::min(ahead, static_cast<std::size_t>(std::ceil(std::max(1.0, options_.rate * 5))));
  }
  consumer_ = parts_.broker.consume({.queue = options_.queue, .prefetch = ahead}, *this);
}

// The connection.

void Run::consuming() {
  consuming_ = true;
  last_received_ = parts_.clock.now();
  depth_asked_.reset();
}

// Everything that was delivered comes again, whatever became of it here. What was counted as held
// is counted when it comes; what is under way is remembered, so that it is known when it comes.
void Run::interrupted(const Error& why) {
  consuming_ = false;
  empty_since_.reset();
  if (closing_) return;
  ++life_;
  ++summary_.interruptions;
  warn(Warning::Kind::connection,
       "the connection is lost, and what is not settled comes again: " + why.message);
  for (auto& [tag, entry] : in_flight_) {
    entry.delivery.message.body = {};
    nobodys_.insert_or_assign(tag, std::move(entry));
  }
  in_flight_.clear();
  troubled_.clear();
  waiting_.clear();
  deferred_.clear();
  to_acknowledge_.clear();
  pending_ = 0;
  held_ = {};
  if (options_.dry) {
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
  const bool busy = !consuming_ || !in_flight_.empty() || !troubled_.empty() || !nobodys_.empty();
  // What comes again and again, since connections do not last, is no progress either.
  const bool in_a_circle = quiet && life_ != progress_life_;
  if (!busy && !in_a_circle) last_progress_ = now;
  if (!caught_up_since_ && summary_.found && handled() >= *summary_.found) caught_up_since_ = now;
  if (quiet) look_at_depth(now);
  refresh_summary();
  parts_.observer.moved(summary_);
  if (closing_) return;
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
  parts_.broker.depth(options_.queue, [this](Result<ports::Depth> depth) {
    depth_under_way_ = false;
    if (!depth || depth->ready > 0 || !is_quiet()) {
      empty_since_.reset();
      if (depth || depth.error().code != ErrorCode::not_found || ending_) return;
      return end(Ended::failed, std::move(depth).error());  // somebody has deleted it
    }
    if (!empty_since_) empty_since_ = parts_.clock.now();
  });
}

// Messages that are done with, now: settled, or held.
std::uint64_t Run::handled() const {
  return settled_ + held_.held;
}

std::uint64_t Run::chosen() const {
  return summary_.recovered.total() + gone_.failed.total() + held_.failed.total() + pending_;
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
    troubled_.clear();
    waiting_.clear();
    grace_timer_ = parts_.loop.after(options_.grace, [this] { close(); });
  }
  if (consumer_ && !before) parts_.broker.pause(*consumer_);
  // Not from within whatever found that it is over.
  parts_.loop.post([this] { close_when_idle(); });
}

void Run::close_when_idle() {
  if (finishes_waiting_ && !(waiting_.empty() && troubled_.empty())) return;
  if (in_flight_.empty()) close();
}

// What is still under way is left: its message is handed back, and comes twice at worst.
void Run::close() {
  if (std::exchange(closing_, true)) return;
  finishes_waiting_ = false;
  summary_.duplicates += in_flight_.size() + std::exchange(nobodys_, {}).size();
  settle();
  grace_timer_ = parts_.loop.after(options_.grace, [this] { finish(); });
  if (!consumer_) return ask_what_is_left();
  parts_.broker.close(*consumer_, [this] { check_targets(plan_.target_queues()); });
}

// Of a dry run: what can be found out without sending anything.
void Run::check_targets(std::vector<std::string> queues) {
  if (queues.empty() || finished_) return ask_what_is_left();
  std::string queue = std::move(queues.back());
  queues.pop_back();
  parts_.broker.depth(
      queue, [this, queue, queues = std::move(queues)](const Result<ports::Depth>& depth) mutable {
        if (depth || depth.error().code == ErrorCode::not_found)
          plan_.checked(queue, depth.has_value());
        check_targets(std::move(queues));
      });
}

void Run::ask_what_is_left() {
  if (finished_) return;
  if (summary_.ended == Ended::failed) return finish();
  parts_.broker.depth(options_.queue, [this](const Result<ports::Depth>& depth) {
    if (finished_) return;
    if (depth) summary_.left = depth->ready;
    // Some brokers take a moment until what was handed back is counted; or others have it by now.
    if (depth && depth->ready < held_.held + held_.again && ++asked_what_is_left_ < kMostAsked) {
      left_timer_ = parts_.loop.after(kTick, [this] { ask_what_is_left(); });
      return;
    }
    finish();
  });
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
  done({std::move(summary_), std::move(plan_)});
}

}  // namespace holdfast::recovery
