// A policy calls: functions of every kind, when it stops, how long it waits.
#include <expected>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/retry.hpp>
#include <holdfast/testing.hpp>

#include "core/policy_testing.hpp"

namespace holdfast::retry::policy_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::FakeRandom;
using testing::Flaky;
using ::testing::IsEmpty;

using PolicyCalls = PolicyFixture;

TEST_F(PolicyCalls, returns_what_the_function_returns) {
  EXPECT_EQ(policy.call([] { return 42; }), 42);
  EXPECT_THAT(clock.slept(), IsEmpty());
  EXPECT_THAT(log.entries(), IsEmpty());
}

TEST_F(PolicyCalls, retries_a_function_that_throws) {
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("connection reset"), 2).returns(42);
  EXPECT_EQ(policy.call(fetch), 42);
  EXPECT_EQ(fetch.calls(), 3);
  EXPECT_THAT(clock.slept(), ElementsAre(1s, 2s));
}

TEST_F(PolicyCalls, throws_the_original_exception_in_the_end) {
  Flaky<int> fetch;
  fetch.throws(HttpError(503, "unavailable"));
  try {
    policy.call(fetch);
    FAIL() << "did not throw";
  } catch (const HttpError& error) {
    EXPECT_EQ(error.status, 503);
  }
  EXPECT_EQ(fetch.calls(), 4);
  EXPECT_THAT(clock.slept(), ElementsAre(1s, 2s, 4s));
}

TEST_F(PolicyCalls, the_exception_is_the_very_same_object) {
  const HttpError* thrown = nullptr;
  History history;
  try {
    policy.stop(attempts(1)).call([]() -> int { throw HttpError(500, "x"); }, history);
  } catch (const HttpError& error) {
    thrown = &error;
    try {
      std::rethrow_exception(history.failures().back().exception);
    } catch (const HttpError& kept) {
      EXPECT_EQ(&kept, thrown);
    }
  }
  EXPECT_NE(thrown, nullptr);
}

TEST_F(PolicyCalls, retries_a_function_that_returns_expected) {
  Flaky<std::expected<int, std::string>> read;
  read.fails(std::string("timed out"), 1).returns(7);
  EXPECT_EQ(policy.call(read), 7);
  EXPECT_THAT(clock.slept(), ElementsAre(1s));
}

TEST_F(PolicyCalls, returns_the_original_error_in_the_end) {
  Flaky<std::expected<int, ApiError>> read;
  read.fails(ApiError{503});
  EXPECT_EQ(policy.call(read).error(), ApiError{503});
  EXPECT_EQ(read.calls(), 4);
}

TEST_F(PolicyCalls, retries_expected_void) {
  int calls = 0;
  const auto result = policy.call([&]() -> std::expected<void, std::error_code> {
    if (++calls < 3) return std::unexpected(std::make_error_code(std::errc::connection_reset));
    return {};
  });
  EXPECT_TRUE(result.has_value());
  EXPECT_EQ(calls, 3);
}

TEST_F(PolicyCalls, retries_a_function_that_returns_nothing) {
  Flaky<void> send;
  send.throws(std::runtime_error("no"), 1).does([] {});
  policy.call(send);
  EXPECT_EQ(send.calls(), 2);
}

TEST_F(PolicyCalls, hands_references_through) {
  int value = 1;
  int& result = policy.call([&]() -> int& { return value; });
  EXPECT_EQ(&result, &value);
}

TEST_F(PolicyCalls, hands_through_what_can_only_be_moved) {
  const auto result = policy.call([] { return std::make_unique<int>(5); });
  EXPECT_EQ(*result, 5);
}

TEST_F(PolicyCalls, retries_results_that_are_not_wanted) {
  Flaky<int> status;
  status.returns(503, 2).returns(200);
  EXPECT_EQ(policy.retry_if_result([](int code) { return code >= 500; }).call(status), 200);
  EXPECT_EQ(status.calls(), 3);
}

TEST_F(PolicyCalls, returns_the_last_unwanted_result_in_the_end) {
  Flaky<int> status;
  status.returns(503, 3).returns(504);
  EXPECT_EQ(policy.retry_if_result([](int code) { return code >= 500; }).call(status), 504);
  EXPECT_EQ(log.of("retry.give_up").at(0).fields.at("error"), "unwanted result 504");
}

TEST_F(PolicyCalls, looks_at_results_inside_expected_too) {
  Flaky<std::expected<bool, std::string>> ready;
  ready.returns(false).fails(std::string("boom")).returns(true);
  const auto picky = policy.retry_if_result([](bool is_ready) { return !is_ready; });
  EXPECT_EQ(picky.call(ready), true);
  EXPECT_EQ(ready.calls(), 3);
}

TEST_F(PolicyCalls, a_condition_on_results_leaves_errors_as_they_were) {
  Flaky<int> status;
  status.throws(std::runtime_error("reset"), 1).returns(200);
  EXPECT_EQ(policy.retry_if_result([](int code) { return code >= 500; }).call(status), 200);
}

TEST_F(PolicyCalls, gives_up_on_what_is_not_an_exception_class_too) {
  EXPECT_THROW(policy.call([]() -> int { throw 5; }), int);
  EXPECT_EQ(log.of("retry.wait").size(), 3U);
}

TEST_F(PolicyCalls, tells_the_attempt_its_number_and_deadline) {
  std::vector<int> numbers;
  std::vector<std::optional<SteadyTime>> deadlines;
  const auto limited = policy.stop(attempts(3) | elapsed(1min));
  const SteadyTime start = clock.now();
  EXPECT_ANY_THROW(limited.call([&](const Attempt& attempt) {
    numbers.push_back(attempt.number);
    deadlines.push_back(attempt.deadline);
    throw std::runtime_error("no");
  }));
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3));
  EXPECT_THAT(deadlines, ElementsAre(start + 1min, start + 1min, start + 1min));
}

TEST_F(PolicyCalls, does_not_begin_a_sleep_that_would_pass_the_deadline) {
  const auto patient = policy.stop(elapsed(10s)).wait(fixed(4s));
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("no"));
  History history;
  EXPECT_ANY_THROW(patient.call(fetch, history));
  EXPECT_THAT(clock.slept(), ElementsAre(4s, 4s));  // a third would end at 12 s
  EXPECT_EQ(history.gave_up(), GiveUp::time);
  EXPECT_EQ(clock.now(), SteadyTime(8s));
}

TEST_F(PolicyCalls, counts_the_time_of_the_attempts_themselves) {
  const auto patient = policy.stop(elapsed(10s)).wait(fixed(1s));
  int calls = 0;
  EXPECT_ANY_THROW(patient.call([&] {
    ++calls;
    clock.advance(6s);
    throw std::runtime_error("slow and wrong");
  }));
  EXPECT_EQ(calls, 2);
}

TEST_F(PolicyCalls, stops_when_asked_between_attempts) {
  std::stop_source source;
  const auto stoppable = policy.stop(attempts(10) | requested(source.get_token()));
  Flaky<void> send;
  send.throws(std::runtime_error("no"), 1).does([&] {
    source.request_stop();
    throw std::runtime_error("the last word");
  });
  History history;
  try {
    stoppable.call(send, history);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the last word");
  }
  EXPECT_EQ(history.gave_up(), GiveUp::stop_requested);
  EXPECT_EQ(send.calls(), 2);
}

TEST_F(PolicyCalls, makes_the_first_attempt_whatever_stop_says) {
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(policy.stop(requested(source.get_token())).call([] { return 1; }), 1);
  EXPECT_EQ(policy.stop(deadline(clock.now() - 1s)).call([] { return 1; }), 1);
}

TEST_F(PolicyCalls, waits_as_the_error_asks) {
  Flaky<std::expected<int, ApiError>> read;
  read.fails(ApiError{429, 7s}).fails(ApiError{429}).returns(1);
  EXPECT_EQ(policy.wait(from_error(fixed(1s))).call(read), 1);
  EXPECT_THAT(clock.slept(), ElementsAre(7s, 1s));
}

TEST_F(PolicyCalls, default_waits_have_full_jitter) {
  FakeRandom low_then_high{0.0, 0.75};
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("no"), 2).returns(1);
  Policy(clock, low_then_high).call(fetch);
  EXPECT_THAT(clock.slept(), ElementsAre(0s, 1500ms));
}

TEST_F(PolicyCalls, decorrelated_jitter_remembers_the_wait_before) {
  FakeRandom always_high{1.0};
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("no"));
  const auto jittery =
      Policy(clock, always_high)
          .stop(attempts(4))
          .wait(exponential({.first = 1s, .cap = 20s, .jitter = Jitter::decorrelated}));
  EXPECT_ANY_THROW(jittery.call(fetch));
  const auto slept = clock.slept();
  ASSERT_EQ(slept.size(), 3U);
  EXPECT_NEAR(std::chrono::duration<double>(slept[1]) / slept[0], 3.0, 0.01);
  EXPECT_LE(slept[2], 20s);
}

}  // namespace
}  // namespace holdfast::retry::policy_test
