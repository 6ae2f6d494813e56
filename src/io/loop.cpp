#include "io/loop.hpp"

#include <atomic>
#include <mutex>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace asio = boost::asio;

namespace holdfast::io {
namespace {

// A burst's worth of room is given back once it is over.
constexpr std::size_t kKeptCapacity = 4096;

class AsioTimer final : public ports::Loop::Timer {
 public:
  AsioTimer(asio::io_context& context, Duration wait, ports::Loop::Work work)
      : timer_(context), work_(std::make_shared<ports::Loop::Work>(std::move(work))) {
    timer_.expires_after(wait);
    timer_.async_wait([work = work_](const boost::system::error_code& error) {
      // Asio may have queued the call before it was stopped; then the work is gone.
      if (error || !*work) return;
      auto now = std::exchange(*work, nullptr);  // it may well destroy its timer
      now();
    });
  }
  ~AsioTimer() override { *work_ = nullptr; }
  AsioTimer(const AsioTimer&) = delete;
  AsioTimer& operator=(const AsioTimer&) = delete;

 private:
  asio::steady_timer timer_;
  std::shared_ptr<ports::Loop::Work> work_;
};

}  // namespace

struct Loop::Parts {
  std::atomic<bool> stopping = false;

  std::mutex mutex;
  std::vector<Work> inbox;  // what gathers while the loop runs something else
  bool woken = false;       // a drain is on its way: a burst costs Asio one wakeup
  bool over = false;

  std::vector<Work> batch;  // loop only: what runs now

  // One thread runs it, any may post. The last member: what it destroys may still post.
  asio::io_context context{1};

  void drain() {
    {
      const std::lock_guard lock(mutex);
      batch.swap(inbox);
      woken = false;
    }
    for (Work& work : batch) {
      if (stopping.load(std::memory_order_relaxed)) return;  // close() destroys the rest
      std::exchange(work, nullptr)();
    }
    batch.clear();
    if (batch.capacity() > kKeptCapacity) batch = std::vector<Work>();
  }

  // What was not run is destroyed without the lock: its destructors may post.
  void close() {
    std::vector<Work> unrun;
    {
      const std::lock_guard lock(mutex);
      over = true;
      unrun.swap(inbox);
    }
    unrun.clear();
    batch.clear();
  }
};

Loop::Loop() : parts_(std::make_unique<Parts>()) {}

Loop::~Loop() {
  parts_->close();
}

void Loop::run() {
  struct Closing {
    Parts& parts;
    ~Closing() { parts.close(); }
  };
  const Closing closing{*parts_};
  const auto stays = asio::make_work_guard(parts_->context);
  parts_->context.run();
}

void Loop::stop() {
  parts_->stopping = true;
  parts_->context.stop();
}

void Loop::post(Work work) {
  {
    const std::lock_guard lock(parts_->mutex);
    if (parts_->over) return;  // the work is destroyed by the caller, without the lock
    parts_->inbox.push_back(std::move(work));
    if (std::exchange(parts_->woken, true)) return;
  }
  asio::post(parts_->context, [parts = parts_.get()] { parts->drain(); });
}

std::unique_ptr<ports::Loop::Timer> Loop::after(Duration wait, Work work) {
  return std::make_unique<AsioTimer>(parts_->context, wait, std::move(work));
}

asio::io_context& Loop::context() noexcept {
  return parts_->context;
}

}  // namespace holdfast::io
