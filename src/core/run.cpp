#include <algorithm>
#include <deque>
#include <limits>
#include <stop_token>

#include <holdfast/retry/run.hpp>

#include "core/units.hpp"

namespace holdfast::retry {
namespace {

// A half-open breaker whose probes are all under way says no time at which to ask again.
constexpr Duration kProbePoll = std::chrono::milliseconds(20);

// Sleeps until `until`, or until any of the tokens asks to stop.
bool sleep_with(Clock& clock, SteadyTime until, const std::vector<std::stop_token>& tokens) {
  if (tokens.empty()) return clock.sleep_until(until, {});
  if (tokens.size() == 1) return clock.sleep_until(until, tokens.front());
  std::stop_source any;
  const auto forward = [&any] { any.request_stop(); };
  std::deque<std::stop_callback<decltype(forward)>> callbacks;
  for (const auto& token : tokens)
    callbacks.emplace_back(token, forward);
  return clock.sleep_until(until, any.get_token());
}

}  // namespace

void Run::prepare() {
  if (history_) *history_ = History();
  if (settings_.timed) attempt_.deadline = settings_.stop.deadline(started_);
}

Run::Next Run::admit() {
  if (settings_.breaker) {
    permit_ = settings_.breaker->try_acquire();
    if (!permit_) {
      refused_by_breaker_ = true;
      if (settings_.when_open == WhenOpen::fail) return refuse(GiveUp::breaker_open);
      const Duration wait = std::max(settings_.breaker->retry_in(), kProbePoll);
      const SteadyTime until = saturating_add(settings_.clock->now(), wait);
      if (stop_reached(until)) return refuse(GiveUp::breaker_open);
      return {.kind = Next::Kind::sleep, .until = until};
    }
    refused_by_breaker_ = false;
  }
  if (settings_.before_attempt) settings_.before_attempt(attempt_);
  return {};
}

std::optional<SteadyTime> Run::failed(const Observed& observed) {
  last_failure_ = describe(observed);
  const FailureView view = last_failure_->view();
  const Verdict verdict = judge(observed, view);
  report_to_breaker(verdict.kind);

  std::optional<GiveUp> reason = never_again(verdict.kind);
  Duration wait{};
  SteadyTime until{};
  if (!reason) {
    wait = next_wait(verdict, view);
    until = saturating_add(settings_.clock->now(), wait);
    reason = not_now(verdict.kind, wait, until);
  }
  remember(observed, reason ? Duration::zero() : wait);
  if (reason) {
    give_up(*reason, view);
    return std::nullopt;
  }

  settings_.log.log(Level::warning, "retry.wait",
                    settings_.name + " failed, trying again in " + format_duration(wait),
                    {{"operation", settings_.name},
                     {"attempt", attempt_.number},
                     {"wait", wait},
                     {"error", view.message}});
  if (settings_.before_sleep) {
    settings_.before_sleep({settings_.name, attempt_.number, view, wait});
  }
  return until;
}

// Whoever refuses, or asks for time, is well enough to answer: only what may recover counts against
// the dependency.
void Run::report_to_breaker(VerdictKind verdict) {
  if (verdict == VerdictKind::retry) {
    permit_.failure();
  } else if (verdict == VerdictKind::success) {
    permit_.success();
  } else {
    permit_ = {};
  }
}

std::optional<GiveUp> Run::never_again(VerdictKind verdict) {
  switch (verdict) {
    case VerdictKind::retry:
    case VerdictKind::throttle: return std::nullopt;
    case VerdictKind::give_up: return GiveUp::not_retryable;
    case VerdictKind::ambiguous: return GiveUp::ambiguous;
    case VerdictKind::success: return GiveUp::already_done;
  }
  return std::nullopt;
}

std::optional<GiveUp> Run::not_now(VerdictKind verdict, Duration wait, SteadyTime until) {
  if (const auto reason = stop_reached(until)) return reason;
  if (breaker_refuses_after(wait)) return GiveUp::breaker_open;
  const bool costs_budget = settings_.budget && verdict == VerdictKind::retry;
  if (costs_budget && !settings_.budget->spend()) return GiveUp::budget;
  return std::nullopt;
}

Duration Run::next_wait(const Verdict& verdict, const FailureView& failure) {
  const Duration wait = settings_.wait.next(
      {.retry = attempt_.number, .previous = wait_, .failure = &failure}, *settings_.random);
  wait_ = wait;  // what a throttle adds is not the schedule's, and must not stretch its jitter
  return settings_.wait.or_longer(wait, verdict.wait.value_or(Duration::zero()));
}

Run::Next Run::woke(bool slept) {
  if (!slept) return refuse(GiveUp::stop_requested);
  // Asked again, because the sleep may have ended later than it should have.
  if (const auto reason = stop_reached(settings_.clock->now())) return refuse(*reason);
  // A sleep that waited for a breaker has no new attempt behind it.
  constexpr int kMost = std::numeric_limits<int>::max();
  if (!refused_by_breaker_ && attempt_.number < kMost) ++attempt_.number;
  return begin();
}

Run::Next Run::refuse(GiveUp reason) {
  if (last_failure_) {
    give_up(reason, last_failure_->view());
  } else if (history_) {
    history_->gave_up_ = reason;  // before any attempt: there is no failure to tell anyone of
  }
  return {.kind = Next::Kind::refuse, .until = {}};
}

bool Run::retry_after(const Observed& observed) {
  const auto until = failed(observed);
  if (!until) return false;
  return go({.kind = Next::Kind::sleep, .until = *until});
}

bool Run::go(Next next) {
  while (next.kind == Next::Kind::sleep)
    next = woke(sleep(next.until));
  return next.kind == Next::Kind::go;
}

bool Run::sleep(SteadyTime until) const {
  auto tokens = settings_.stop.tokens();
  while (!sleep_with(*settings_.clock, until, tokens)) {
    if (!sleeps_on(until, tokens)) return false;
  }
  return true;
}

bool Run::sleeps_on(SteadyTime until, std::vector<std::stop_token>& tokens) const {
  if (stop_reached(until)) return false;
  const auto requested = [](const std::stop_token& token) { return token.stop_requested(); };
  return std::erase_if(tokens, requested) > 0;
}

bool Run::unwanted(const Observed& observed) const {
  const FailureView none;
  for (const auto& condition : settings_.conditions) {
    if (condition(observed, none)) return true;
  }
  return false;
}

Failure Run::describe(const Observed& observed) const {
  for (const auto* describes : {&settings_.describes, &settings_.named_describes}) {
    for (const auto& describe : *describes) {
      if (auto failure = describe(observed)) return *std::move(failure);
    }
  }
  return observed.failure();
}

Verdict Run::judge(const Observed& observed, const FailureView& failure) const {
  for (const auto& condition : settings_.conditions) {
    if (const auto retry = condition(observed, failure)) {
      return {*retry ? VerdictKind::retry : VerdictKind::give_up};
    }
  }
  if (settings_.classifier) return settings_.classifier->classify(failure, settings_.log).verdict;
  return {settings_.only_what_conditions_name ? VerdictKind::give_up : VerdictKind::retry};
}

bool Run::breaker_refuses_after(Duration wait) const {
  return settings_.breaker && settings_.when_open == WhenOpen::fail &&
         settings_.breaker->retry_in() > wait;
}

std::optional<GiveUp> Run::stop_reached(SteadyTime next) const {
  return settings_.stop.reached({.attempts = made(), .started = started_, .next = next});
}

void Run::remember(const Observed& observed, Duration wait) {
  waited_ = saturating_add(waited_, wait);
  if (!history_) return;
  if (history_->failures_.size() == History::kMostFailures) history_->failures_.pop_front();
  history_->failures_.push_back({attempt_.number, *last_failure_, observed.exception(), wait});
  history_->attempts_ = attempt_.number;
  history_->waited_ = waited_;
}

void Run::give_up(GiveUp reason, const FailureView& failure) {
  if (history_) history_->gave_up_ = reason;
  settings_.log.log(settings_.give_up_level, "retry.give_up",
                    settings_.name + " failed: " + std::string(to_string(reason)),
                    {{"operation", settings_.name},
                     {"attempts", made()},
                     {"waited", waited_},
                     {"reason", to_string(reason)},
                     {"error", failure.message}});
  if (settings_.on_give_up) {
    settings_.on_give_up({settings_.name, made(), failure, reason, waited_});
  }
}

void Run::record_success() {
  if (history_) history_->attempts_ = attempt_.number;
  if (attempt_.number == 1) return;
  settings_.log.log(
      Level::info, "retry.recovered",
      settings_.name + " succeeded after " + std::to_string(attempt_.number) + " attempts",
      {{"operation", settings_.name}, {"attempts", attempt_.number}, {"waited", waited_}});
  if (settings_.on_recovered) {
    settings_.on_recovered({settings_.name, attempt_.number, waited_});
  }
}

Error Run::refusal_error() const {
  return {ErrorCode::unavailable, settings_.name,
          BreakerOpen(settings_.breaker->name(), settings_.breaker->retry_in()).what()};
}

void Run::throw_refusal() const {
  throw BreakerOpen(settings_.breaker->name(), settings_.breaker->retry_in());
}

}  // namespace holdfast::retry
