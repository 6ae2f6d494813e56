#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <holdfast/clock.hpp>

#include "ports/loop.hpp"

namespace holdfast::testing {

// A loop that a test runs by itself, for as long as it waits for something: what other threads post
// is done on the thread of the test, in real time.
class RealLoop final : public ports::Loop {
 public:
  void post(Work work) override {
    {
      const std::lock_guard lock(mutex_);
      posted_.push_back(std::move(work));
    }
    wake_.notify_one();
  }

  [[nodiscard]] std::unique_ptr<Timer> after(Duration wait, Work work) override {
    const Key key{saturating_add(system_clock().now(), wait), ++count_};
    timers_.emplace(key, std::move(work));
    return std::make_unique<RealTimer>(*this, key);
  }

  // False: it did not come true in time.
  bool until(const std::function<bool()>& condition, Duration most = std::chrono::seconds(60)) {
    const auto end = system_clock().now() + most;
    while (!condition()) {
      const auto now = system_clock().now();
      if (now >= end) return false;
      turn(std::min(end, now + std::chrono::milliseconds(20)));
    }
    return true;
  }

  // Does whatever comes, for so long.
  void run_for(Duration span) {
    (void)until([] { return false; }, span);
  }

 private:
  using Key = std::pair<SteadyTime, std::uint64_t>;

  class RealTimer final : public Timer {
   public:
    RealTimer(RealLoop& loop, Key key) : loop_(loop), key_(key) {}
    ~RealTimer() override { loop_.timers_.erase(key_); }

   private:
    RealLoop& loop_;
    const Key key_;
  };

  void turn(SteadyTime end) {
    if (!timers_.empty() && timers_.begin()->first.first <= system_clock().now()) {
      Work work = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      return work();
    }
    if (!timers_.empty()) end = std::min(end, timers_.begin()->first.first);
    Work work;
    {
      std::unique_lock lock(mutex_);
      if (posted_.empty()) wake_.wait_for(lock, end - system_clock().now());
      if (posted_.empty()) return;
      work = std::move(posted_.front());
      posted_.pop_front();
    }
    work();
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Work> posted_;
  std::map<Key, Work> timers_;  // the loop's
  std::uint64_t count_ = 0;
};

}  // namespace holdfast::testing
