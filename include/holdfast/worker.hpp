#pragma once

#include <concepts>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <holdfast/classify.hpp>
#include <holdfast/job.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/retry/observed.hpp>
#include <holdfast/retry/wait.hpp>

namespace holdfast {

// How tasks of one type are run. What cannot be (no attempt at all, a negative timeout) is an error
// that start() reports.
struct HandlerOptions {
  int attempts = 4;  // the first, and three retries
  int crashes = 3;   // so often may it take the process down before it is put aside
  int replays = 3;   // so often may it be brought back without somebody insisting
  Duration timeout = std::chrono::seconds(30);  // of one attempt; zero: none
  retry::Wait wait = retry::exponential();      // 1 s, 2 s, 4 s … at most 5 min
  std::optional<Classifier> classifier = {};    // nothing: all presets
  // What it calls. All types with the same one share a circuit breaker: while that is open, their
  // tasks wait, and spend no attempt. Empty: none.
  std::string dependency = {};
};

// How a handler ended: what it returned, which is kept as the task's result, or a failure.
using HandlerResult = std::expected<std::string, Failure>;

namespace detail {

// What is behind every handler. Called by many threads at once.
using BlockingHandler = std::move_only_function<HandlerResult(Job&)>;

// One that does not block: it returns at once, and calls `done` exactly once when it has ended, on
// any thread. Job and what is captured live until then.
using HandlerDone = std::move_only_function<void(HandlerResult)>;
using AsyncHandler = std::move_only_function<void(std::shared_ptr<Job> job, HandlerDone done)>;

template <class F>
decltype(auto) call_handler(F& function, Job& job) {
  if constexpr (std::is_invocable_v<F&, Job&>) {
    return std::invoke(function, job);
  } else {
    return std::invoke(function);
  }
}

template <class F>
using ReturnOf = decltype(call_handler(std::declval<F&>(), std::declval<Job&>()));

template <class R>
HandlerResult to_handler_result(R returned) {
  if constexpr (retry::detail::IsExpected<R>::value) {
    if (!returned) return std::unexpected(retry::detail::describe(returned.error()));
    if constexpr (std::is_void_v<typename R::value_type>) {
      return HandlerResult();
    } else {
      return to_handler_result(*std::move(returned));
    }
  } else {
    static_assert(std::is_constructible_v<std::string, R>,
                  "a handler returns nothing, a text, or std::expected of one of them; for one "
                  "that returns boost::asio::awaitable, include <holdfast/worker_asio.hpp>");
    return std::string(std::move(returned));
  }
}

// Makes a handler from a function that returns R. <holdfast/worker_asio.hpp> has its own for
// coroutines.
template <class R>
struct HandlerMaker {
  template <class F>
  static BlockingHandler make(F function, std::shared_ptr<void>& /*context*/) {
    return [function = std::move(function)](Job& job) mutable -> HandlerResult {
      if constexpr (std::is_void_v<R>) {
        call_handler(function, job);
        return HandlerResult();
      } else {
        return to_handler_result<R>(call_handler(function, job));
      }
    };
  }
};

}  // namespace detail

// Runs tasks.
//
//   holdfast::Worker worker("sqlite:tasks.db");
//   worker.on("mail.send", [](holdfast::Job& job) { send(job.payload()); }, {.attempts = 5});
//   return worker.run();
//
// The URL is as for Client, and so is opening: it happens in run() or start(), which say what is
// wrong. A process has one worker for a store, with all its handlers; any number of clients share
// the store with it. On Redis (redis://), and from a server (http://, https://), from which tasks
// are pulled, any number of workers, in any number of processes, may work at once. One that loses
// its Redis or its server goes on with what it has, and asks again until it is back.
//
// A handler returns nothing, a text (the task's result), or std::expected of one of them with an
// error that to_failure knows; or it throws. What fails is retried, given up or parked, as its
// classifier and options say: a Failure, returned or thrown, may carry what it knows beside its
// message (an HTTP status, a Retry-After, an exit code). Handlers are called by several threads at
// once. A type for which there is no handler is left alone by this worker only as long as its
// queue is: a claimed task without one fails, and is retried by the rules.
//
// Shutdown: no further task is claimed; what runs has `grace` to end; then the handlers' stop
// tokens are requested, and what still runs is handed back to be run again, at no cost to it,
// whatever its handler returns from then on. One that has not returned after `stop_grace` is left
// behind on its thread, which goes on until the process ends: so end it soon, and with
// std::quick_exit if the handler uses what main's end would destroy.
//
// Threads: on() before start() or run(); stop() from any thread; the rest by the one that owns it.
class Worker {
 public:
  struct Queue {
    std::string name = "default";
    int concurrency = 0;  // most tasks of it that run here at once; 0: no limit but the threads
  };

  struct Options {
    std::vector<Queue> queues = {Queue()};
    int threads = 0;                                // that call handlers; 0: one for each core
    int coroutines = 256;                           // most coroutine handlers under way at once
    Duration grace = std::chrono::seconds(30);      // for what runs to end, at a shutdown
    Duration stop_grace = std::chrono::seconds(5);  // then for a handler that was asked to stop
    // How soon others take over what this process has claimed if the whole machine goes. Renewed
    // while it lives.
    Duration lease = std::chrono::seconds(30);
    Logger log = Logger(stderr_log());
    // The store has failed for good: nothing runs any more until another process opens it. Called
    // once, on the worker's own thread, so it must neither block nor call the worker. run() returns
    // by itself then.
    std::function<void(const Error&)> on_broken = {};

    // For servers only, as those of Client::Options.
    std::string token = {};  // with the role "work", or "operate"
    std::string ca_file = {};
    bool token_in_the_clear = false;
  };

  // How a shutdown went.
  struct Stopped {
    std::size_t handed_back = 0;      // tasks that were at hand and will be run again
    std::size_t cut_short = 0;        // of those: their handlers were at work
    std::size_t left_behind = 0;      // of those: their handlers have not returned
    std::optional<Error> error = {};  // of the store, if that is why it ended
  };

  explicit Worker(std::string url) : Worker(std::move(url), Options()) {}
  Worker(std::string url, Options options);
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&& other) noexcept;
  ~Worker();  // stops, if it has not been

  // Tasks of `type` are run by `function`: called with Job&, or with nothing. A type that has a
  // handler already is an error that start() reports.
  template <class F>
  Worker& on(std::string type, F function, HandlerOptions options = {}) {
    using Maker = detail::HandlerMaker<detail::ReturnOf<F>>;
    add(std::move(type), Maker::make(std::move(function), coroutine_context()), std::move(options));
    return *this;
  }

  // Works until SIGINT or SIGTERM, or until stop(); a second signal ends the grace at once. Gives
  // the exit code of the program: 0 all clean; 3 handlers were cut short, and their tasks handed
  // back; 1 it could not start, or the store failed (the log says what).
  [[nodiscard]] int run();

  // For a program with a main loop of its own: start() returns once tasks are being run, stop()
  // once they are not. No signal is touched.
  [[nodiscard]] Result<void> start();
  Stopped stop();

  // Has run() come to its end, and returns at once: for handlers too. Threads: any.
  void request_stop();
  // Ends the grace of a stop that is under way, as a second signal does. Threads: any.
  void hurry();

 private:
  class Team;

  void add(std::string type, detail::BlockingHandler handler, HandlerOptions options);
  void add(std::string type, detail::AsyncHandler handler, HandlerOptions options);
  // What the coroutine handlers of this worker share; owned by them and by the worker.
  std::shared_ptr<void>& coroutine_context();

  std::unique_ptr<Team> team_;
};

}  // namespace holdfast
