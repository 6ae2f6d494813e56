#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/log.hpp>

#include "ports/loop.hpp"

namespace holdfast::io {

// As debuggers and `top -H` show it; cut to the 15 bytes that the system keeps.
void name_this_thread(const std::string& name) noexcept;
// Of the exception that is being handled.
void log_lane_threw(const Logger& log, const std::string& lane, std::size_t jobs) noexcept;

// A thread that owns one blocking client, and carries out all that has gathered as one batch:
// what must be paid for each batch (an fsync, a round trip) is then paid the more rarely the more
// there is to do, and a lone job waits for nothing.
//
// Jobs are carried out, and come back, in the order they were posted. One whose batch threw comes
// back as the throw has left it, and the throw is logged.
template <class Job>
class Lane {
 public:
  using CarryOut = std::move_only_function<void(std::span<Job>)>;
  using Done = std::move_only_function<void(Job)>;

  // `carry_out` is called on the lane's own thread only. The loop and the log's sink must outlive
  // the lane.
  Lane(ports::Loop& loop, std::string name, CarryOut carry_out, Logger log = {})
      : loop_(loop), name_(std::move(name)), log_(log), carry_out_(std::move(carry_out)) {
    thread_ = std::thread([this] { run(); });
  }

  // Carries out what was posted, and hands it to the loop.
  ~Lane() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // `watcher` is told on the loop of each batch that comes back, by its size; nothing: nobody is.
  // What is under way may be told to the one before. Threads: any.
  using Watcher = std::function<void(std::size_t)>;
  void watch(Watcher watcher) {
    auto shared = watcher ? std::make_shared<const Watcher>(std::move(watcher)) : nullptr;
    const std::lock_guard lock(mutex_);
    watcher_ = std::move(shared);
  }

  // `done` is called on the loop, exactly once; if the loop is over by then, it is destroyed.
  // Threads: any.
  void post(Job job, Done done) {
    {
      const std::lock_guard lock(mutex_);
      if (!inbox_) inbox_ = std::make_unique<Batch>();
      inbox_->add(std::move(job), std::move(done));
    }
    wake_.notify_one();
  }

 private:
  struct Batch {
    std::vector<Job> jobs;
    std::vector<Done> done;                  // as many
    std::shared_ptr<const Watcher> watcher;  // may be missing

    void add(Job job, Done then) {
      // Room first, so that what throws cannot leave one without the other.
      if (done.size() == done.capacity()) done.reserve(std::max<std::size_t>(8, 2 * done.size()));
      jobs.push_back(std::move(job));
      done.push_back(std::move(then));
    }
  };

  void run() {
    name_this_thread(name_);
    while (auto batch = next()) {
      try {
        carry_out_(batch->jobs);
      } catch (...) {
        log_lane_threw(log_, name_, batch->jobs.size());
      }
      // A pointer fits into the work without a further allocation.
      loop_.post([batch = std::move(batch)] {
        if (batch->watcher) (*batch->watcher)(batch->jobs.size());
        for (std::size_t at = 0; at < batch->jobs.size(); ++at)
          batch->done[at](std::move(batch->jobs[at]));
      });
    }
  }

  // Waits for work. Nothing: it is all done, and no more will come.
  [[nodiscard]] std::unique_ptr<Batch> next() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return inbox_ || closing_; });
    if (inbox_) inbox_->watcher = watcher_;
    return std::move(inbox_);
  }

  ports::Loop& loop_;
  const std::string name_;
  const Logger log_;
  CarryOut carry_out_;  // the lane's thread only

  std::mutex mutex_;
  std::condition_variable wake_;
  std::unique_ptr<Batch> inbox_;
  std::shared_ptr<const Watcher> watcher_;
  bool closing_ = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace holdfast::io
