#include <stdexcept>
#include <string>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/retry_asio.hpp>
#include <holdfast/testing_asio.hpp>

namespace holdfast::retry::retry_asio_test {
namespace {

using namespace std::chrono_literals;
using boost::asio::awaitable;
using ::testing::ElementsAre;

struct CoCall : ::testing::Test {
  testing::FakeClock clock;
  testing::FakeRandom random;
  boost::asio::io_context context;
  Policy policy = Policy(clock, random).stop(attempts(3)).wait(exponential());

  // Runs one coroutine to its end and gives its result.
  template <class T>
  T run(awaitable<T> coroutine) {
    auto future = boost::asio::co_spawn(context, std::move(coroutine), boost::asio::use_future);
    context.restart();
    context.run();
    return future.get();
  }
};

TEST_F(CoCall, retries_a_coroutine_that_throws) {
  int calls = 0;
  const auto fetch = [&]() -> awaitable<int> {
    if (++calls < 3) throw std::runtime_error("reset");
    co_return 42;
  };
  EXPECT_EQ(run(co_call(policy, fetch, nullptr, testing::fake_sleep)), 42);
  EXPECT_THAT(clock.slept(), ElementsAre(1s, 2s));
}

TEST_F(CoCall, throws_the_original_exception_in_the_end) {
  History history;
  const auto fetch = []() -> awaitable<void> {
    throw std::out_of_range("the original");
    co_return;
  };
  EXPECT_THROW(run(co_call(policy, fetch, &history, testing::fake_sleep)), std::out_of_range);
  EXPECT_EQ(history.attempts(), 3);
  EXPECT_EQ(history.gave_up(), GiveUp::attempts);
}

TEST_F(CoCall, retries_a_coroutine_that_returns_nothing) {
  int calls = 0;
  const auto send = [&](const Attempt& attempt) -> awaitable<void> {
    EXPECT_EQ(attempt.number, ++calls);
    if (calls < 2) throw std::runtime_error("reset");
    co_return;
  };
  run(co_call(policy, send, nullptr, testing::fake_sleep));
  EXPECT_EQ(calls, 2);
}

TEST_F(CoCall, retries_expected_and_returns_its_error_in_the_end) {
  const auto read = []() -> awaitable<Result<int>> {
    co_return fail(ErrorCode::unavailable, "read", "down");
  };
  const auto result = run(co_call(policy, read, nullptr, testing::fake_sleep));
  EXPECT_EQ(result.error().message, "down");
  EXPECT_THAT(clock.slept(), ElementsAre(1s, 2s));
}

TEST_F(CoCall, retries_unwanted_results) {
  int status = 502;
  const auto get = [&]() -> awaitable<int> { co_return status++; };
  const auto picky = policy.retry_if_result([](int code) { return code < 504; });
  EXPECT_EQ(run(co_call(picky, get, nullptr, testing::fake_sleep)), 504);
}

TEST_F(CoCall, N4_is_refused_by_an_open_breaker) {
  auto breaker = std::make_shared<Breaker>(Breaker::Options{.name = "db"}, clock, random);
  breaker->force_open();
  const auto throwing = []() -> awaitable<void> { co_return; };
  EXPECT_THROW(run(co_call(policy.breaker(breaker), throwing)), BreakerOpen);
  const auto by_value = []() -> awaitable<Result<int>> { co_return 1; };
  EXPECT_EQ(run(co_call(policy.breaker(breaker), by_value)).error().code, ErrorCode::unavailable);
}

TEST_F(CoCall, N4_waits_for_an_open_breaker) {
  auto breaker = std::make_shared<Breaker>(Breaker::Options{}, clock, random);
  breaker->force_open();
  const auto get = []() -> awaitable<int> { co_return 1; };
  EXPECT_EQ(
      run(co_call(policy.breaker(breaker, WhenOpen::wait), get, nullptr, testing::fake_sleep)), 1);
  EXPECT_THAT(clock.slept(), ElementsAre(30s));
}

TEST_F(CoCall, a_stop_request_that_needs_more_than_itself_does_not_end_the_sleep) {
  std::stop_source source;
  source.request_stop();
  const auto both = policy.stop(requested(source.get_token()) & attempts(2));
  const auto fetch = []() -> awaitable<int> {
    throw std::runtime_error("reset");
    co_return 1;
  };
  History history;
  EXPECT_ANY_THROW(run(co_call(both, fetch, &history, testing::fake_sleep)));
  EXPECT_EQ(history.attempts(), 2);
  const auto at_once = Policy().stop(requested(source.get_token()) & attempts(2)).wait(no_wait());
  EXPECT_ANY_THROW(run(co_call(at_once, fetch, &history)));
  EXPECT_EQ(history.attempts(), 2);
}

TEST_F(CoCall, a_fake_sleep_listens_to_every_stop_token) {
  std::stop_source first;
  std::stop_source second;
  const auto either = policy.stop(requested(first.get_token()) | requested(second.get_token()))
                          .before_sleep([&](const BeforeSleep&) { second.request_stop(); });
  const auto fetch = []() -> awaitable<int> {
    throw std::runtime_error("reset");
    co_return 1;
  };
  History history;
  EXPECT_ANY_THROW(run(co_call(either, fetch, &history, testing::fake_sleep)));
  EXPECT_THAT(clock.slept(), ElementsAre());
}

TEST_F(CoCall, a_cancellation_as_the_sleep_ends_keeps_the_last_error) {
  boost::asio::cancellation_signal signal;
  const auto canceled_late = [&](SteadyTime, Clock&,
                                 const std::vector<std::stop_token>&) -> awaitable<bool> {
    co_await boost::asio::post(context, boost::asio::use_awaitable);
    signal.emit(boost::asio::cancellation_type::terminal);
    co_return true;
  };
  const auto fetch = []() -> awaitable<int> {
    throw std::out_of_range("the original");
    co_return 1;
  };
  History history;
  std::exception_ptr ended;
  boost::asio::co_spawn(
      context, co_call(policy, fetch, &history, canceled_late),
      boost::asio::bind_cancellation_slot(
          signal.slot(), [&](std::exception_ptr e, int) { ended = std::move(e); }));
  context.run();
  EXPECT_THROW(std::rethrow_exception(ended), std::out_of_range);
  EXPECT_EQ(history.attempts(), 1);
  EXPECT_EQ(history.gave_up(), GiveUp::stop_requested);
}

// These two sleep with a real timer of an hour: they end only because the sleep is cut short.

TEST_F(CoCall, a_cancellation_ends_the_sleep_with_the_last_error) {
  boost::asio::cancellation_signal signal;
  const auto hour = Policy().stop(attempts(3)).wait(fixed(1h));
  History history;
  const auto fetch = [&]() -> awaitable<int> {
    boost::asio::post(context, [&] { signal.emit(boost::asio::cancellation_type::terminal); });
    throw std::out_of_range("the original");
    co_return 1;
  };
  std::exception_ptr ended;
  boost::asio::co_spawn(
      context, co_call(hour, fetch, &history),
      boost::asio::bind_cancellation_slot(
          signal.slot(), [&](std::exception_ptr e, int) { ended = std::move(e); }));
  context.run();
  EXPECT_THROW(std::rethrow_exception(ended), std::out_of_range);
  EXPECT_EQ(history.gave_up(), GiveUp::stop_requested);
}

TEST_F(CoCall, a_stop_token_ends_the_sleep_with_the_last_error) {
  std::stop_source source;
  const auto hour = Policy().stop(attempts(3) | requested(source.get_token())).wait(fixed(1h));
  History history;
  const auto fetch = [&]() -> awaitable<Result<int>> {
    boost::asio::post(context, [&] { source.request_stop(); });
    co_return fail(ErrorCode::timeout, "fetch", "the original");
  };
  EXPECT_EQ(run(co_call(hour, fetch, &history)).error().message, "the original");
  EXPECT_EQ(history.gave_up(), GiveUp::stop_requested);
  EXPECT_EQ(history.attempts(), 1);
}

TEST_F(CoCall, a_cancellation_during_the_attempt_is_not_slept_upon) {
  boost::asio::cancellation_signal signal;
  const auto hour = Policy().stop(attempts(3)).wait(fixed(1h));
  const auto fetch = [&]() -> awaitable<int> {
    co_await boost::asio::post(context, boost::asio::use_awaitable);
    signal.emit(boost::asio::cancellation_type::terminal);
    throw std::out_of_range("the original");
    co_return 1;
  };
  std::exception_ptr ended;
  boost::asio::co_spawn(
      context, co_call(hour, fetch),
      boost::asio::bind_cancellation_slot(
          signal.slot(), [&](std::exception_ptr e, int) { ended = std::move(e); }));
  context.run();
  EXPECT_THROW(std::rethrow_exception(ended), std::out_of_range);
}

}  // namespace
}  // namespace holdfast::retry::retry_asio_test
