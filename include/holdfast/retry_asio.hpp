#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/retry.hpp>

namespace holdfast::retry {

namespace detail {

template <class T>
struct Awaited;
template <class T, class Executor>
struct Awaited<boost::asio::awaitable<T, Executor>> : std::type_identity<T> {};

template <class Function>
using AwaitedResultOf = typename Awaited<ResultOf<Function>>::type;

}  // namespace detail

// How a coroutine sleeps: ends at `until` (true), or early on a stop token or a cancellation
// (false).
using AsioSleep = std::function<boost::asio::awaitable<bool>(
    SteadyTime until, Clock& clock, const std::vector<std::stop_token>& stop)>;

// With a timer of the coroutine's own executor. A stop token or the cancellation of the coroutine
// ends it within milliseconds. A stop is handed to the executor, so its context must not be
// destroyed while another thread may be requesting one.
inline boost::asio::awaitable<bool> timer_sleep(SteadyTime until, Clock& clock,
                                                const std::vector<std::stop_token>& stop) {
  const auto executor = co_await boost::asio::this_coro::executor;
  // Shared: a stop callback on another thread may still be posting when the sleep has ended.
  const auto timer = std::make_shared<boost::asio::steady_timer>(executor);
  timer->expires_after(std::max(until - clock.now(), Duration::zero()));
  const auto cancel = [executor, timer] {
    boost::asio::post(executor, [timer] { timer->expires_at(SteadyTime::min()); });
  };
  std::deque<std::stop_callback<decltype(cancel)>> callbacks;
  for (const auto& token : stop)
    callbacks.emplace_back(token, cancel);

  boost::system::error_code error;
  co_await timer->async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, error));
  callbacks.clear();
  for (const auto& token : stop) {
    if (token.stop_requested()) co_return false;
  }
  co_return !error;
}

// Policy::call for a function that returns boost::asio::awaitable<T>, where T is void, a plain
// value or std::expected. The policy and the function live in the coroutine; what the function
// refers to must outlive it, and so must `history`, if given. Cancelling the coroutine while it
// sleeps ends the call with what the last attempt ended with.
//
// Threads: as for every coroutine, one executor that runs one handler at a time (a strand, where
// the context has several threads).
template <class Function>
boost::asio::awaitable<detail::AwaitedResultOf<Function>> co_call(Policy policy, Function function,
                                                                  History* history = nullptr,
                                                                  AsioSleep sleep = timer_sleep) {
  using R = detail::AwaitedResultOf<Function>;
  using Kept = std::conditional_t<std::is_void_v<R>, std::monostate, R>;
  using Kind = Run::Next::Kind;
  Run run(policy, history);

  // What the last attempt ended with. An exception cannot be waited upon where it is caught.
  std::exception_ptr thrown;
  std::optional<Kept> result;
  Run::Next next = run.begin();
  for (;;) {
    while (next.kind == Kind::sleep) {
      const auto cancellation = co_await boost::asio::this_coro::cancellation_state;
      const auto canceled = [&] {
        return cancellation.cancelled() != boost::asio::cancellation_type::none;
      };
      auto tokens = run.stop_tokens();
      bool slept = false;
      do {
        slept = !canceled() && co_await sleep(next.until, run.clock(), tokens);
      } while (!slept && !canceled() && run.sleeps_on(next.until, tokens));
      next = run.woke(slept && !canceled());
    }
    if (next.kind == Kind::refuse) break;

    thrown = nullptr;
    result.reset();
    try {
      if constexpr (std::is_void_v<R>) {
        co_await detail::invoke(function, run.attempt());
        result.emplace();
      } else {
        result.emplace(co_await detail::invoke(function, run.attempt()));
      }
    } catch (...) {
      thrown = std::current_exception();
    }
    if constexpr (std::is_void_v<R>) {
      if (result) {
        run.succeeded();
        co_return;
      }
    } else if (result && run.wants(*result)) {
      run.succeeded();
      co_return *std::move(result);
    }

    const Observed observed = thrown ? Observed::thrown(thrown) : Run::observe(*result);
    const std::optional<SteadyTime> until = run.failed(observed);
    next = until ? Run::Next{Kind::sleep, *until} : Run::Next{Kind::refuse};
  }

  if (thrown) std::rethrow_exception(thrown);
  if constexpr (!std::is_void_v<R>) {
    if (result) co_return *std::move(result);
  }
  co_return run.refusal<R>();
}

}  // namespace holdfast::retry
