#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/clock.hpp>
#include <holdfast/retry/wait.hpp>

namespace holdfast {

// Thrown in place of a call that an open breaker did not let through.
class BreakerOpen : public std::runtime_error {
 public:
  BreakerOpen(const std::string& breaker, Duration retry_in);

  [[nodiscard]] Duration retry_in() const noexcept { return retry_in_; }

 private:
  Duration retry_in_;
};

// Stops calling a dependency that keeps failing, and finds out by a few probes when it is back.
//
//   closed     every call goes through; failures are counted
//   open       no call goes through until `open_for` is over
//   half-open  `probes` calls go through: all succeed → closed, one fails → open again
//
// A call asks for a Permit and reports on it. A permit that is dropped without a report (an
// exception on the way) counts as nothing and frees its place. A report from before the last change
// of state is ignored: a slow call from before an outage says nothing about now.
//
// Threads: all members may be called from any thread at once; there is no lock. The breaker must
// outlive its permits; the clock and the random source must outlive the breaker.
class Breaker {
 public:
  enum class State : std::uint8_t { closed, open, half_open };

  struct Change {
    std::string_view breaker;
    State from;
    State to;
    std::string_view reason;
  };

  struct Options {
    std::string name = "breaker";
    int consecutive_failures = 5;  // opens after so many in a row; 0: do not look at rows
    double failure_rate = 0;       // opens at this share of failures in the window; 0: do not look
    Duration window = std::chrono::seconds(10);
    int least_calls = 20;  // of the window, before its rate says anything
    // How long it stays open; a wait that grows does so each time that probing fails.
    retry::Wait open_for = retry::fixed(std::chrono::seconds(30));
    int probes = 1;
    // Called after each change, by the thread that made it. Must not throw.
    std::function<void(const Change&)> on_change = {};
  };

  class Permit {
   public:
    Permit() = default;
    Permit(Permit&& other) noexcept
        : breaker_(std::exchange(other.breaker_, nullptr)), word_(other.word_) {}
    Permit& operator=(Permit&& other) noexcept {
      std::swap(breaker_, other.breaker_);
      std::swap(word_, other.word_);
      return *this;
    }
    ~Permit() {
      if (breaker_) breaker_->abandon(word_);
    }

    [[nodiscard]] explicit operator bool() const noexcept { return breaker_ != nullptr; }

    void success() noexcept {
      if (breaker_) std::exchange(breaker_, nullptr)->succeeded(word_);
    }
    void failure() noexcept {
      if (breaker_) std::exchange(breaker_, nullptr)->failed(word_);
    }

   private:
    friend class Breaker;
    Permit(Breaker* breaker, std::uint64_t word) : breaker_(breaker), word_(word) {}

    Breaker* breaker_ = nullptr;
    std::uint64_t word_ = 0;
  };

  Breaker() : Breaker(Options()) {}
  explicit Breaker(Options options, Clock& clock = system_clock(),
                   Random& random = system_random());

  // Leave to make one call; empty if the breaker does not let it through.
  [[nodiscard]] Permit try_acquire() noexcept {
    const std::uint64_t word = word_.load(std::memory_order_acquire);
    if ((word & kStateMask) == kClosed) return {this, word};
    return acquire_when_not_closed(word);
  }

  [[nodiscard]] State state() const noexcept;
  // How long until an open breaker lets a probe through; zero if it would now.
  [[nodiscard]] Duration retry_in() const noexcept;
  [[nodiscard]] const std::string& name() const noexcept { return options_.name; }

  // By a person's hand.
  void force_open() noexcept;
  void reset() noexcept;

 private:
  // One word holds all that must change together: state, probes out and succeeded, and a generation
  // that grows with each change of state and so tells old permits from new ones.
  static constexpr std::uint64_t kStateMask = 3, kClosed = 0, kOpen = 1, kHalfOpen = 2;
  static constexpr int kBuckets = 10;

  Permit acquire_when_not_closed(std::uint64_t word) noexcept;
  void succeeded(std::uint64_t word) noexcept;
  void failed(std::uint64_t word) noexcept;
  void abandon(std::uint64_t word) noexcept;

  void probe_ended(std::uint64_t permit_word, bool succeeded) noexcept;
  bool open(std::uint64_t from_word, std::string_view reason) noexcept;
  bool close(std::uint64_t from_word, std::string_view reason) noexcept;
  void announce(State from, State to, std::string_view reason) const noexcept;

  [[nodiscard]] Duration open_until() const noexcept;  // steady time since its epoch
  [[nodiscard]] bool time_to_probe() const noexcept;
  void count(bool failure, SteadyTime now) noexcept;
  [[nodiscard]] bool rate_reached(SteadyTime now) const noexcept;
  [[nodiscard]] std::int64_t bucket_number(SteadyTime now) const noexcept;

  // Constant.
  const Options options_;
  Clock& clock_;
  Random& random_;
  const Duration bucket_span_;

  // Shared.
  std::atomic<std::uint64_t> word_{kClosed};
  std::atomic<int> failures_in_row_{0};
  std::atomic<int> opened_in_row_{0};
  std::atomic<std::int64_t> open_until_ns_{0};
  std::array<std::atomic<std::uint64_t>, kBuckets> buckets_{};
};

[[nodiscard]] std::string_view to_string(Breaker::State state) noexcept;

}  // namespace holdfast
