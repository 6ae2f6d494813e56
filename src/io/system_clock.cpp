#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>

#include <pthread.h>
#include <time.h>

#include <holdfast/clock.hpp>

namespace holdfast {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime now() const noexcept override {
    return std::chrono::steady_clock::now();
  }
  [[nodiscard]] WallTime wall_now() const noexcept override {
    return std::chrono::system_clock::now();
  }

  [[nodiscard]] SteadyTime rough_now() const noexcept override {
    // The same clock as steady_clock's, as it stood at the last tick of the kernel.
    timespec at{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &at);
    return SteadyTime(std::chrono::seconds(at.tv_sec) + Duration(at.tv_nsec));
  }

  bool sleep_until(SteadyTime until, std::stop_token stop) override {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested() && now() < until) {
      // wait_until's own arithmetic may overflow for times near the end of the range.
      const SteadyTime latest = now() + std::chrono::years(1);
      wake.wait_until(lock, stop, std::min(until, latest), [] { return false; });
    }
    return !stop.stop_requested();
  }
};

// SplitMix64 on one counter a thread: no lock, and no state shared between threads. A child process
// begins anew: two that go on from the same counter would make the same ids.
class SystemRandom final : public Random {
 public:
  SystemRandom() {
    pthread_atfork(nullptr, nullptr, [] { forks_.fetch_add(1, std::memory_order_relaxed); });
  }

  std::uint64_t next() noexcept override {
    thread_local std::uint64_t state = seed();
    thread_local unsigned forks = forks_.load(std::memory_order_relaxed);
    if (const unsigned now = forks_.load(std::memory_order_relaxed); now != forks) {
      forks = now;
      state = seed();
    }
    std::uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  static std::uint64_t seed() noexcept {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
  }

  static inline std::atomic<unsigned> forks_{0};
};

}  // namespace

Clock& system_clock() noexcept {
  static SystemClock clock;
  return clock;
}

Random& system_random() noexcept {
  static SystemRandom random;
  return random;
}

}  // namespace holdfast
