#pragma once

#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <holdfast/worker.hpp>

// Handlers that are coroutines:
//
//   worker.on("page.fetch", [](holdfast::Job& job) -> boost::asio::awaitable<std::string> {
//     co_return co_await fetch(job.payload());
//   });
//
// They return boost::asio::awaitable of what other handlers return. All of a worker's run on one
// thread, hundreds at a time (Worker::Options::coroutines), so none may block. When
// job.stop_token() is requested, the coroutine is also cancelled, with every type of cancellation:
// what it waits for ends with operation_aborted.
namespace holdfast::detail {

// A context with a thread of its own, for as long as it is wanted.
class CoroutineThread {
 public:
  CoroutineThread() {
    std::promise<void> ended;
    ended_ = ended.get_future();
    thread_ = std::thread([context = context_, ended = std::move(ended)]() mutable {
      const auto work = boost::asio::make_work_guard(*context);
      context->run();
      ended.set_value();
    });
  }

  // A coroutine that blocks its thread is left behind with it: see Worker.
  ~CoroutineThread() {
    context_->stop();
    const bool is_own = std::this_thread::get_id() == thread_.get_id();
    if (!is_own && ended_.wait_for(kPatience) == std::future_status::ready) {
      thread_.join();
    } else {
      thread_.detach();
    }
  }

  CoroutineThread(const CoroutineThread&) = delete;
  CoroutineThread& operator=(const CoroutineThread&) = delete;

  [[nodiscard]] boost::asio::io_context::executor_type executor() const {
    return context_->get_executor();
  }

 private:
  static constexpr std::chrono::seconds kPatience{1};

  std::shared_ptr<boost::asio::io_context> context_ = std::make_shared<boost::asio::io_context>(1);
  std::future<void> ended_;
  std::thread thread_;
};

// One attempt: cancels its coroutine when the attempt's stop token says so.
class CoroutineCall : public std::enable_shared_from_this<CoroutineCall> {
 public:
  using Executor = boost::asio::io_context::executor_type;

  CoroutineCall(Executor executor, std::shared_ptr<Job> job, HandlerDone done)
      : executor_(std::move(executor)), job_(std::move(job)), done_(std::move(done)) {}

  template <class T, class F>
  void start(const std::shared_ptr<F>& function) {
    auto body = [function, job = job_]() -> boost::asio::awaitable<T> {
      co_return co_await call_handler(*function, *job);
    };
    auto slot = signal_.slot();
    auto self = shared_from_this();
    // First: a coroutine that waits for nothing has ended when co_spawn returns.
    stop_.emplace(job_->stop_token(), Stop{weak_from_this()});
    if constexpr (std::is_void_v<T>) {
      auto ended = [self](const std::exception_ptr& thrown) {
        self->end(thrown ? HandlerResult(std::unexpected(to_failure(thrown))) : HandlerResult());
      };
      boost::asio::co_spawn(executor_, std::move(body),
                            boost::asio::bind_cancellation_slot(slot, std::move(ended)));
    } else {
      auto ended = [self](const std::exception_ptr& thrown, T returned) {
        self->end(thrown ? HandlerResult(std::unexpected(to_failure(thrown)))
                         : to_handler_result<T>(std::move(returned)));
      };
      boost::asio::co_spawn(executor_, std::move(body),
                            boost::asio::bind_cancellation_slot(slot, std::move(ended)));
    }
  }

 private:
  // Called by whoever requests the stop; the signal belongs to the coroutine's thread.
  struct Stop {
    std::weak_ptr<CoroutineCall> call;

    void operator()() const {
      const auto alive = call.lock();
      if (!alive) return;
      boost::asio::post(alive->executor_,
                        [alive] { alive->signal_.emit(boost::asio::cancellation_type::all); });
    }
  };

  void end(HandlerResult result) {
    stop_.reset();
    job_.reset();
    done_(std::move(result));
  }

  Executor executor_;
  std::shared_ptr<Job> job_;
  HandlerDone done_;
  boost::asio::cancellation_signal signal_;
  std::optional<std::stop_callback<Stop>> stop_;
};

template <class T, class Executor>
struct HandlerMaker<boost::asio::awaitable<T, Executor>> {
  template <class F>
  static AsyncHandler make(F function, std::shared_ptr<void>& context) {
    if (!context) context = std::make_shared<CoroutineThread>();
    return [thread = std::static_pointer_cast<CoroutineThread>(context),
            function = std::make_shared<F>(std::move(function))](std::shared_ptr<Job> job,
                                                                 HandlerDone done) {
      const auto call =
          std::make_shared<CoroutineCall>(thread->executor(), std::move(job), std::move(done));
      // From its own thread, so that end() cannot come before the stop callback is in place.
      boost::asio::post(thread->executor(),
                        [call, function] { call->template start<T>(function); });
    };
  }
};

}  // namespace holdfast::detail
