#include <stdexcept>
#include <vector>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <holdfast/testing.hpp>
#include <holdfast/worker_asio.hpp>

#include "handlers/async_function.hpp"
#include "handlers/handlers_testing.hpp"

namespace holdfast::handlers::async_function_threads_test {
namespace {

namespace asio = boost::asio;
using testing::failure_of;
using testing::result_of;
using testing::test_run;
using testing::TestRun;

class CoroutineTest : public ::testing::Test {
 protected:
  template <class F>
  AsyncFunction handler(F function) {
    return {detail::HandlerMaker<detail::ReturnOf<F>>::make(std::move(function), context_), turns_,
            clock_};
  }

  template <class F>
  core::Outcome outcome(F function) {
    auto run = test_run();
    handler(std::move(function)).start(run);
    return run->wait();
  }

  holdfast::testing::FakeClock clock_;
  std::shared_ptr<void> context_;
  std::shared_ptr<AllTurns> turns_ =
      std::make_shared<AllTurns>(AllTurns{.common = std::make_shared<Turns>(8)});
};

// Waits for ever, if it is not cancelled.
asio::awaitable<void> hang() {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  timer.expires_at(asio::steady_timer::time_point::max());
  co_await timer.async_wait(asio::use_awaitable);
}

TEST_F(CoroutineTest, keeps_what_it_returns) {
  EXPECT_EQ(result_of(outcome([](Job&) -> asio::awaitable<std::string> { co_return "done"; })),
            "done");
  EXPECT_EQ(result_of(outcome([]() -> asio::awaitable<void> { co_return; })), "");
  EXPECT_EQ(failure_of(outcome([]() -> asio::awaitable<Result<std::string>> {
              co_return fail(ErrorCode::unavailable, "ask", "nobody is there");
            })).message,
            "ask: nobody is there");
}

TEST_F(CoroutineTest, T10_takes_what_it_throws_for_a_failure) {
  EXPECT_EQ(failure_of(outcome([](Job&) -> asio::awaitable<void> {
              throw Failure{.message = "slow down", .http_status = 429};
              co_return;
            })),
            (Failure{.message = "slow down", .http_status = 429}));
  // One that throws before it is a coroutine at all.
  EXPECT_EQ(failure_of(outcome([](Job&) -> asio::awaitable<void> {
              throw std::runtime_error("too early");
            })).message,
            "too early");
}

TEST_F(CoroutineTest, T4_is_cancelled_by_the_stop_of_its_attempt) {
  auto run = test_run();
  auto hanging = handler([](Job&) -> asio::awaitable<void> { co_await hang(); });
  hanging.start(run);
  run->wait_until_begun();
  run->request_stop();
  EXPECT_NE(failure_of(run->wait()).message, "not a failure");

  auto stopped = test_run();
  stopped->request_stop();
  hanging.start(stopped);
  EXPECT_NE(failure_of(stopped->wait()).message, "not a failure");
}

TEST_F(CoroutineTest, many_are_under_way_at_once_but_no_more_than_their_turns) {
  auto hanging = handler([](Job&) -> asio::awaitable<void> { co_await hang(); });
  std::vector<std::shared_ptr<TestRun>> runs;
  for (int i = 0; i < 12; ++i)
    hanging.start(runs.emplace_back(test_run()));
  for (int i = 0; i < 8; ++i)
    EXPECT_TRUE(runs[i]->has_begun());
  for (int i = 8; i < 12; ++i)
    EXPECT_FALSE(runs[i]->has_begun());
  for (int i = 0; i < 12; ++i) {
    runs[i]->wait_until_begun();
    runs[i]->request_stop();
    static_cast<void>(runs[i]->wait());
  }
}

TEST_F(CoroutineTest, one_that_nobody_wants_any_more_gives_its_turn_on) {
  turns_->of_queue["one"] = std::make_shared<Turns>(1);
  auto first = test_run("one");
  first->unwant();
  auto second = test_run("one");
  auto at_once = handler([]() -> asio::awaitable<void> { co_return; });
  at_once.start(first);
  at_once.start(second);
  EXPECT_TRUE(std::holds_alternative<core::HandedBack>(first->wait()));
  EXPECT_EQ(result_of(second->wait()), "");
}

TEST_F(CoroutineTest, one_that_is_destroyed_with_its_context_has_failed) {
  auto run = test_run();
  {
    handler([](Job&) -> asio::awaitable<void> { co_await hang(); }).start(run);
    run->wait_until_begun();
    context_.reset();
  }
  EXPECT_EQ(failure_of(run->wait()).message, "the coroutine was destroyed before its end");
}

}  // namespace
}  // namespace holdfast::handlers::async_function_threads_test
