#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include <holdfast/result.hpp>

namespace holdfast::cli {

// What the threads of something that runs until it is ended tell the one that waits. Threads: any.
class Wanted {
 public:
  void stop() {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  void broken(const Error& error) {
    const std::lock_guard lock(mutex_);
    broken_ = error;
    stop_ = true;
    changed_.notify_all();
  }
  void reload() {
    const std::lock_guard lock(mutex_);
    reload_ = true;
    changed_.notify_all();
  }
  // True: the configuration is to be read again. False: it is over.
  [[nodiscard]] bool wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stop_ || reload_; });
    return !stop_ && std::exchange(reload_, false);
  }
  [[nodiscard]] std::optional<Error> why() {
    const std::lock_guard lock(mutex_);
    return broken_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  bool reload_ = false;
  std::optional<Error> broken_;
};

}  // namespace holdfast::cli
