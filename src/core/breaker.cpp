#include <algorithm>
#include <utility>

#include <holdfast/breaker.hpp>

#include "core/units.hpp"

namespace holdfast {
namespace {

// The word: generation (32) | probes that succeeded (15) | probes under way (15) | state (2).
constexpr int kOutShift = 2, kDoneShift = 17, kGenerationShift = 32;
constexpr std::uint64_t kProbeMask = (1U << 15) - 1;

std::uint64_t state_of(std::uint64_t word) {
  return word & 3;
}
std::uint64_t out_of(std::uint64_t word) {
  return (word >> kOutShift) & kProbeMask;
}
std::uint64_t done_of(std::uint64_t word) {
  return (word >> kDoneShift) & kProbeMask;
}
std::uint64_t generation_of(std::uint64_t word) {
  return word >> kGenerationShift;
}

std::uint64_t next_word(std::uint64_t word, std::uint64_t state) {
  return ((generation_of(word) + 1) << kGenerationShift) | state;
}

std::uint64_t with_probes(std::uint64_t word, std::uint64_t out, std::uint64_t done) {
  return (generation_of(word) << kGenerationShift) | (done << kDoneShift) | (out << kOutShift) |
         state_of(word);
}

// A bucket of the window: bucket number (24) | failures (20) | calls (20).
constexpr int kFailuresShift = 20, kNumberShift = 40;
constexpr std::uint64_t kCountMask = (1U << 20) - 1, kNumberMask = (1U << 24) - 1;

// How far Clock::rough_now() may be behind, and more: a tick of the slowest kernels is 10 ms.
constexpr Duration kRoughest = std::chrono::milliseconds(50);

Duration up_to_millisecond(Duration span) {
  using std::chrono::milliseconds;
  // The last millisecond of the range cannot be rounded up.
  return std::chrono::ceil<milliseconds>(std::min(span, Duration::max() - milliseconds(1)));
}

Breaker::Options sane(Breaker::Options options) {
  options.probes = std::clamp(options.probes, 1, static_cast<int>(kProbeMask));
  options.least_calls = std::max(options.least_calls, 1);
  options.window = std::max(options.window, Duration(std::chrono::milliseconds(10)));
  return options;
}

}  // namespace

BreakerOpen::BreakerOpen(const std::string& breaker, Duration retry_in)
    : std::runtime_error("circuit breaker \"" + breaker + "\" is open; next probe in " +
                         format_duration(up_to_millisecond(retry_in))),
      retry_in_(retry_in) {}

std::string_view to_string(Breaker::State state) noexcept {
  switch (state) {
    case Breaker::State::closed: return "closed";
    case Breaker::State::open: return "open";
    case Breaker::State::half_open: return "half-open";
  }
  return "closed";
}

Breaker::Breaker(Options options, Clock& clock, Random& random)
    : options_(sane(std::move(options))),
      clock_(clock),
      random_(random),
      bucket_span_(options_.window / kBuckets) {}

Breaker::State Breaker::state() const noexcept {
  return static_cast<State>(state_of(word_.load(std::memory_order_acquire)));
}

Duration Breaker::retry_in() const noexcept {
  if (state() != State::open) return Duration::zero();
  return std::max(open_until() - clock_.now().time_since_epoch(), Duration::zero());
}

Duration Breaker::open_until() const noexcept {
  return Duration(open_until_ns_.load(std::memory_order_acquire));
}

bool Breaker::time_to_probe() const noexcept {
  const Duration left = open_until() - clock_.rough_now().time_since_epoch();
  if (left <= Duration::zero()) return true;
  // Who has slept for retry_in() must not be refused because the cheap clock is behind.
  return left <= kRoughest && clock_.now().time_since_epoch() >= open_until();
}

Breaker::Permit Breaker::acquire_when_not_closed(std::uint64_t word) noexcept {
  for (;;) {
    switch (state_of(word)) {
      case kClosed: return {this, word};
      case kOpen: {
        if (!time_to_probe()) return {};
        // This call becomes the first probe.
        const std::uint64_t half_open = with_probes(next_word(word, kHalfOpen), 1, 0);
        if (!word_.compare_exchange_strong(word, half_open, std::memory_order_acq_rel)) continue;
        announce(State::open, State::half_open, "time to probe");
        return {this, half_open};
      }
      default: {
        if (out_of(word) + done_of(word) >= static_cast<std::uint64_t>(options_.probes)) return {};
        const std::uint64_t more = with_probes(word, out_of(word) + 1, done_of(word));
        if (word_.compare_exchange_strong(word, more, std::memory_order_acq_rel)) {
          return {this, more};
        }
      }
    }
  }
}

void Breaker::succeeded(std::uint64_t permit_word) noexcept {
  if (state_of(permit_word) == kHalfOpen) return probe_ended(permit_word, true);
  const std::uint64_t word = word_.load(std::memory_order_acquire);
  if (generation_of(word) != generation_of(permit_word)) return;
  if (failures_in_row_.load(std::memory_order_relaxed) != 0) {
    failures_in_row_.store(0, std::memory_order_relaxed);
  }
  if (options_.failure_rate > 0) count(false, clock_.rough_now());
}

void Breaker::failed(std::uint64_t permit_word) noexcept {
  if (state_of(permit_word) == kHalfOpen) return probe_ended(permit_word, false);
  const std::uint64_t word = word_.load(std::memory_order_acquire);
  if (generation_of(word) != generation_of(permit_word)) return;
  const int in_row = failures_in_row_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (options_.consecutive_failures > 0 && in_row >= options_.consecutive_failures) {
    open(word, "failures in a row");
    return;
  }
  if (options_.failure_rate <= 0) return;
  const SteadyTime now = clock_.rough_now();
  count(true, now);
  if (rate_reached(now)) open(word, "failure rate");
}

void Breaker::abandon(std::uint64_t permit_word) noexcept {
  if (state_of(permit_word) != kHalfOpen) return;
  std::uint64_t word = word_.load(std::memory_order_acquire);
  while (generation_of(word) == generation_of(permit_word) &&
         !word_.compare_exchange_weak(word, with_probes(word, out_of(word) - 1, done_of(word)),
                                      std::memory_order_acq_rel)) {
  }
}

void Breaker::probe_ended(std::uint64_t permit_word, bool succeeded) noexcept {
  std::uint64_t word = word_.load(std::memory_order_acquire);
  while (generation_of(word) == generation_of(permit_word)) {
    if (!succeeded) {
      if (open(word, "a probe failed")) return;
    } else if (done_of(word) + 1 >= static_cast<std::uint64_t>(options_.probes)) {
      if (close(word, "probes succeeded")) return;
    } else if (word_.compare_exchange_strong(word,
                                             with_probes(word, out_of(word) - 1, done_of(word) + 1),
                                             std::memory_order_acq_rel)) {
      return;
    }
    word = word_.load(std::memory_order_acquire);
  }
}

bool Breaker::open(std::uint64_t from_word, std::string_view reason) noexcept {
  const int in_row = opened_in_row_.load(std::memory_order_relaxed) + 1;
  const Duration span = options_.open_for.next({.retry = in_row}, random_);
  // Before the word: who sees `open` must also see until when. Two threads that open it at once
  // write nearly the same time, and one of them wins the word.
  const SteadyTime until = saturating_add(clock_.now(), span);
  open_until_ns_.store(until.time_since_epoch().count(), std::memory_order_release);
  if (!word_.compare_exchange_strong(from_word, next_word(from_word, kOpen),
                                     std::memory_order_acq_rel)) {
    return false;
  }
  opened_in_row_.store(in_row, std::memory_order_relaxed);
  announce(static_cast<State>(state_of(from_word)), State::open, reason);
  return true;
}

bool Breaker::close(std::uint64_t from_word, std::string_view reason) noexcept {
  // Before the word: the first call of the new time must not meet the counts of the old one.
  failures_in_row_.store(0, std::memory_order_relaxed);
  for (auto& bucket : buckets_)
    bucket.store(0, std::memory_order_relaxed);
  if (!word_.compare_exchange_strong(from_word, next_word(from_word, kClosed),
                                     std::memory_order_acq_rel)) {
    return false;
  }
  opened_in_row_.store(0, std::memory_order_relaxed);
  announce(static_cast<State>(state_of(from_word)), State::closed, reason);
  return true;
}

void Breaker::force_open() noexcept {
  for (std::uint64_t word = word_.load(std::memory_order_acquire);
       state_of(word) != kOpen && !open(word, "by hand");) {
    word = word_.load(std::memory_order_acquire);
  }
}

void Breaker::reset() noexcept {
  for (std::uint64_t word = word_.load(std::memory_order_acquire);
       state_of(word) != kClosed && !close(word, "by hand");) {
    word = word_.load(std::memory_order_acquire);
  }
}

void Breaker::announce(State from, State to, std::string_view reason) const noexcept {
  if (options_.on_change) options_.on_change({options_.name, from, to, reason});
}

std::int64_t Breaker::bucket_number(SteadyTime now) const noexcept {
  return now.time_since_epoch() / bucket_span_;
}

void Breaker::count(bool failure, SteadyTime now) noexcept {
  const std::int64_t number = bucket_number(now);
  auto& bucket = buckets_[static_cast<std::size_t>(number) % kBuckets];
  const std::uint64_t tag = static_cast<std::uint64_t>(number) & kNumberMask;
  std::uint64_t have = bucket.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    const bool current = have >> kNumberShift == tag;
    std::uint64_t calls = current ? have & kCountMask : 0;
    std::uint64_t failures = current ? (have >> kFailuresShift) & kCountMask : 0;
    if (calls == kCountMask) {  // full: halve both, which keeps their rate
      calls /= 2;
      failures /= 2;
    }
    next = (tag << kNumberShift) | ((failures + (failure ? 1 : 0)) << kFailuresShift) | (calls + 1);
  } while (!bucket.compare_exchange_weak(have, next, std::memory_order_relaxed));
}

bool Breaker::rate_reached(SteadyTime now) const noexcept {
  const std::uint64_t newest = static_cast<std::uint64_t>(bucket_number(now)) & kNumberMask;
  std::uint64_t calls = 0;
  std::uint64_t failures = 0;
  for (const auto& bucket : buckets_) {
    const std::uint64_t have = bucket.load(std::memory_order_relaxed);
    const std::uint64_t age = (newest - (have >> kNumberShift)) & kNumberMask;
    if (age >= kBuckets) continue;
    calls += have & kCountMask;
    failures += (have >> kFailuresShift) & kCountMask;
  }
  return calls >= static_cast<std::uint64_t>(options_.least_calls) &&
         static_cast<double>(failures) >= options_.failure_rate * static_cast<double>(calls);
}

}  // namespace holdfast
