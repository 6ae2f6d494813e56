// What tests of handlers put in the engine's place.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "core/rules.hpp"
#include "ports/handler.hpp"

namespace holdfast::handlers::testing {

// An attempt whose end a test can wait for. Threads: any.
class TestRun final : public ports::Run {
 public:
  explicit TestRun(ports::TaskRecord record = {}, int number = 1)
      : record_(std::move(record)), number_(number) {}

  [[nodiscard]] const ports::TaskRecord& task() const noexcept override { return record_; }
  [[nodiscard]] int number() const noexcept override { return number_; }
  [[nodiscard]] bool begin() noexcept override {
    const std::lock_guard lock(mutex_);
    if (!wanted_) return false;
    begun_ = true;
    changed_.notify_all();
    return true;
  }
  [[nodiscard]] WallTime end() const noexcept override { return end_; }
  [[nodiscard]] std::stop_token stop() const noexcept override { return stop_.get_token(); }
  bool heartbeat() noexcept override {
    ++heartbeats_;
    return !stop_.stop_requested();
  }
  void give_up(Failure failure) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      given_up_ = true;
    }
    finish(std::move(failure));
  }
  void finish(core::Outcome outcome) noexcept override {
    const std::lock_guard lock(mutex_);
    ++finished_;
    if (!outcome_) outcome_ = std::move(outcome);
    changed_.notify_all();
  }

  // For the test.
  void unwant() {
    const std::lock_guard lock(mutex_);
    wanted_ = false;
  }
  void set_end(WallTime end) { end_ = end; }  // before it is handed on
  void request_stop() { stop_.request_stop(); }
  [[nodiscard]] int heartbeats() const { return heartbeats_; }
  [[nodiscard]] int finished() const {
    const std::lock_guard lock(mutex_);
    return finished_;
  }
  [[nodiscard]] bool was_given_up() const {
    const std::lock_guard lock(mutex_);
    return given_up_;
  }
  [[nodiscard]] bool has_begun() const {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  void wait_until_begun() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_; });
  }
  [[nodiscard]] core::Outcome wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return outcome_.has_value(); });
    return *outcome_;
  }

 private:
  const ports::TaskRecord record_;
  const int number_;
  WallTime end_ = WallTime::max();
  std::stop_source stop_;
  std::atomic<int> heartbeats_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = true;
  bool begun_ = false;
  bool given_up_ = false;
  int finished_ = 0;
  std::optional<core::Outcome> outcome_;
};

inline std::shared_ptr<TestRun> test_run(std::string queue = "default") {
  ports::TaskRecord record;
  record.queue = std::move(queue);
  return std::make_shared<TestRun>(std::move(record));
}

[[nodiscard]] inline std::string result_of(const core::Outcome& outcome) {
  const auto* success = std::get_if<core::Success>(&outcome);
  return success ? success->result : "not a success";
}

[[nodiscard]] inline Failure failure_of(const core::Outcome& outcome) {
  const auto* failure = std::get_if<Failure>(&outcome);
  return failure ? *failure : Failure{.message = "not a failure"};
}

}  // namespace holdfast::handlers::testing
