// What a policy retries and what it gives up, and how it describes errors.
#include <expected>
#include <stdexcept>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/retry.hpp>
#include <holdfast/testing.hpp>

#include "core/policy_testing.hpp"

namespace holdfast::retry::policy_conditions_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::Flaky;
using ::testing::IsEmpty;

using PolicyConditions = PolicyFixture;

bool is_server_error(const ApiError& error) noexcept {
  return error.status >= 500;
}

TEST_F(PolicyConditions, retries_only_the_exceptions_that_are_named) {
  const auto strict = policy.retry_on<std::system_error, HttpError>();
  Flaky<int> bad;
  bad.throws(std::logic_error("a bug"));
  EXPECT_THROW(strict.call(bad), std::logic_error);
  EXPECT_EQ(bad.calls(), 1);
  Flaky<int> flaky;
  flaky.throws(HttpError(500, "x"), 1)
      .throws(std::system_error(std::make_error_code(std::errc::connection_refused)), 1)
      .returns(1);
  EXPECT_EQ(strict.call(flaky), 1);
}

TEST_F(PolicyConditions, retries_exceptions_derived_from_those_named) {
  Flaky<int> fetch;
  fetch.throws(HttpError(500, "x"), 1).returns(1);
  EXPECT_EQ(policy.retry_on<std::runtime_error>().call(fetch), 1);
}

TEST_F(PolicyConditions, gives_up_on_what_is_named_so_and_retries_the_rest) {
  const auto lenient = policy.give_up_on<std::invalid_argument>();
  Flaky<int> bad;
  bad.throws(std::runtime_error("flaky"), 1).throws(std::invalid_argument("hopeless"));
  EXPECT_THROW(lenient.call(bad), std::invalid_argument);
  EXPECT_EQ(bad.calls(), 2);
}

TEST_F(PolicyConditions, asks_predicates_about_exceptions_and_errors_of_their_type) {
  const auto picky = policy.retry_if([](const HttpError& error) { return error.status >= 500; });
  Flaky<int> fetch;
  fetch.throws(HttpError(503, "x"), 1).throws(HttpError(404, "gone"));
  EXPECT_THROW(picky.call(fetch), HttpError);
  EXPECT_EQ(fetch.calls(), 2);

  Flaky<std::expected<int, ApiError>> read;
  read.fails(ApiError{500}).fails(ApiError{400});
  EXPECT_EQ(policy.retry_if(is_server_error).call(read).error().status, 400);
  EXPECT_EQ(read.calls(), 2);
}

TEST_F(PolicyConditions, asks_predicates_on_failures_about_everything) {
  const auto picky =
      policy.retry_if([](const FailureView& failure) { return failure.message == "again"; });
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("again"), 2).throws(std::runtime_error("never"));
  EXPECT_ANY_THROW(picky.call(fetch));
  EXPECT_EQ(fetch.calls(), 3);
}

TEST_F(PolicyConditions, the_first_condition_with_something_to_say_decides) {
  const auto policy_with_exception = policy.give_up_on<HttpError>().retry_on<std::runtime_error>();
  EXPECT_THROW(policy_with_exception.call([]() -> int { throw HttpError(500, "x"); }), HttpError);
  EXPECT_EQ(log.of("retry.give_up").at(0).fields.at("reason"), "not retryable");
  EXPECT_EQ(log.of("retry.give_up").at(0).fields.at("attempts"), "1");
}

TEST_F(PolicyConditions, obeys_a_classifier) {
  const auto classifier = Classifier::make({
      {.name = "quota", .pattern = "slow down", .verdict = VerdictKind::throttle, .wait = 30s},
      {.name = "funds", .pattern = "insufficient funds", .verdict = VerdictKind::give_up},
      {.name = "nonce", .pattern = "nonce too low", .verdict = VerdictKind::ambiguous},
      {.name = "known", .pattern = "already known", .verdict = VerdictKind::success},
  });
  const auto classified = policy.classify_with(classifier.value());
  const auto end_of = [&](const char* text) {
    History history;
    Flaky<int> fetch;
    fetch.throws(std::runtime_error(text));
    EXPECT_ANY_THROW(classified.call(fetch, history));
    return history.gave_up();
  };
  EXPECT_EQ(end_of("insufficient funds for gas"), GiveUp::not_retryable);
  EXPECT_EQ(end_of("nonce too low"), GiveUp::ambiguous);
  EXPECT_EQ(end_of("already known"), GiveUp::already_done);
  EXPECT_THAT(clock.slept(), IsEmpty());
  EXPECT_EQ(end_of("something else"), GiveUp::attempts);
  EXPECT_THAT(clock.slept(), ElementsAre(1s, 2s, 4s));
  EXPECT_EQ(end_of("slow down"), GiveUp::attempts);
  EXPECT_THAT(clock.slept(), ElementsAre(1s, 2s, 4s, 30s, 30s, 30s));
}

TEST_F(PolicyConditions, a_cap_on_all_waits_holds_for_a_throttle_too) {
  const auto classified =
      policy.classify_with(Classifier::make(presets::http()).value()).stop(attempts(2));
  const auto fails = [] -> std::expected<int, ApiError> {
    return std::unexpected(ApiError{429, 1h});
  };
  static_cast<void>(classified.call(fails));
  static_cast<void>(classified.wait(exponential().capped(30s)).call(fails));
  EXPECT_THAT(clock.slept(), ElementsAre(1h, 30s));
}

TEST_F(PolicyConditions, conditions_come_before_the_classifier) {
  const auto classifier =
      Classifier::make({{.name = "no", .pattern = "x", .verdict = VerdictKind::give_up}});
  Flaky<int> fetch;
  fetch.throws(HttpError(500, "x"), 1).returns(1);
  EXPECT_EQ(policy.retry_on<HttpError>().classify_with(classifier.value()).call(fetch), 1);
}

TEST_F(PolicyConditions, describes_errors_as_it_is_told) {
  const auto described = policy.describe([](const HttpError& error) {
    return Failure{.message = "described", .http_status = error.status};
  });
  const auto by_status =
      described.retry_if([](const FailureView& failure) { return failure.http_status == 503; });
  Flaky<int> fetch;
  fetch.throws(HttpError(503, "x"), 1).throws(HttpError(400, "x"));
  EXPECT_ANY_THROW(by_status.call(fetch));
  EXPECT_EQ(fetch.calls(), 2);
  EXPECT_EQ(log.of("retry.wait").at(0).fields.at("error"), "described");
}

// An exception with a to_failure of its own.
struct ThrownApiError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
Failure to_failure(const ThrownApiError& error) {
  return {.message = error.what(), .http_status = 429, .retry_after = 7s};
}

TEST_F(PolicyConditions, finds_to_failure_of_exceptions_that_conditions_name) {
  Flaky<int> fetch;
  fetch.throws(ThrownApiError("busy"), 1).returns(1);
  EXPECT_EQ(policy.retry_on<ThrownApiError>().wait(from_error(fixed(1s))).call(fetch), 1);
  EXPECT_THAT(clock.slept(), ElementsAre(7s));
}

TEST_F(PolicyConditions, a_hook_that_throws_leaves_the_history_whole) {
  History history;
  const auto hooked = policy.before_sleep([](const BeforeSleep&) { throw std::logic_error("x"); });
  EXPECT_THROW(hooked.call([]() -> int { throw HttpError(500, "the last"); }, history),
               std::logic_error);
  ASSERT_EQ(history.failures().size(), 1U);
  EXPECT_EQ(history.failures()[0].failure.message, "the last");
}

TEST_F(PolicyConditions, describes_errors_of_any_type_somehow) {
  enum class Code { bad = 7 };
  struct Opaque {};
  const auto once = policy.stop(attempts(1));
  static_cast<void>(
      once.call([]() -> std::expected<int, Code> { return std::unexpected(Code::bad); }));
  static_cast<void>(once.call([]() -> std::expected<int, int> { return std::unexpected(3); }));
  static_cast<void>(
      once.call([]() -> std::expected<int, Opaque> { return std::unexpected(Opaque()); }));
  static_cast<void>(once.call(
      []() -> std::expected<int, std::errc> { return std::unexpected(std::errc::timed_out); }));
  const auto entries = log.of("retry.give_up");
  EXPECT_EQ(entries.at(3).fields.at("error"), "Connection timed out");
  EXPECT_EQ(entries.at(0).fields.at("error"), "error 7");
  EXPECT_EQ(entries.at(1).fields.at("error"), "error 3");
  EXPECT_THAT(entries.at(2).fields.at("error"), ::testing::StartsWith("error of type"));
}

TEST_F(PolicyConditions, an_exception_pointer_as_error_is_looked_into) {
  Flaky<std::expected<int, std::exception_ptr>> read;
  read.fails(std::make_exception_ptr(HttpError(500, "x")), 1)
      .fails(std::make_exception_ptr(std::logic_error("bug")));
  static_cast<void>(policy.retry_on<HttpError>().call(read));
  EXPECT_EQ(read.calls(), 2);
}

}  // namespace
}  // namespace holdfast::retry::policy_conditions_test
