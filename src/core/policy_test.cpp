#include <expected>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/retry.hpp>
#include <holdfast/testing.hpp>

namespace holdfast::retry {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::FakeClock;
using testing::FakeRandom;
using testing::Flaky;
using ::testing::IsEmpty;

struct HttpError : std::runtime_error {
  HttpError(int code, std::string text) : std::runtime_error(std::move(text)), status(code) {}
  int status;
};

// An error type of the user's own, found by argument-dependent lookup.
struct ApiError {
  int status = 0;
  std::optional<Duration> retry_after = {};
  bool operator==(const ApiError&) const = default;
};
Failure to_failure(const ApiError& error) {
  return {.message = "API error", .http_status = error.status, .retry_after = error.retry_after};
}

bool is_server_error(const ApiError& error) noexcept {
  return error.status >= 500;
}

struct PolicyTest : ::testing::Test {
  FakeClock clock;
  FakeRandom random;
  testing::LogCapture log;
  Policy policy = Policy(clock, random)
                      .named("fetch")
                      .stop(attempts(4))
                      .wait(exponential())
                      .log_to(Logger(log, clock));
};

// --- functions of every kind

TEST_F(PolicyTest, returns_what_the_function_returns) {
  EXPECT_EQ(policy.call([] { return 42; }), 42);
  EXPECT_THAT(clock.slept(), IsEmpty());
  EXPECT_THAT(log.entries(), IsEmpty());
}

TEST_F(PolicyTest, retries_a_function_that_throws) {
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("connection reset"), 2).returns(42);
  EXPECT_EQ(policy.call(fetch), 42);
  EXPECT_EQ(fetch.calls(), 3);
  EXPECT_THAT(clock.slept(), ElementsAre(1s, 2s));
}

TEST_F(PolicyTest, throws_the_original_exception_in_the_end) {
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

TEST_F(PolicyTest, the_exception_is_the_very_same_object) {
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

TEST_F(PolicyTest, retries_a_function_that_returns_expected) {
  Flaky<std::expected<int, std::string>> read;
  read.fails(std::string("timed out"), 1).returns(7);
  EXPECT_EQ(policy.call(read), 7);
  EXPECT_THAT(clock.slept(), ElementsAre(1s));
}

TEST_F(PolicyTest, returns_the_original_error_in_the_end) {
  Flaky<std::expected<int, ApiError>> read;
  read.fails(ApiError{503});
  EXPECT_EQ(policy.call(read).error(), ApiError{503});
  EXPECT_EQ(read.calls(), 4);
}

TEST_F(PolicyTest, retries_expected_void) {
  int calls = 0;
  const auto result = policy.call([&]() -> std::expected<void, std::error_code> {
    if (++calls < 3) return std::unexpected(std::make_error_code(std::errc::connection_reset));
    return {};
  });
  EXPECT_TRUE(result.has_value());
  EXPECT_EQ(calls, 3);
}

TEST_F(PolicyTest, retries_a_function_that_returns_nothing) {
  Flaky<void> send;
  send.throws(std::runtime_error("no"), 1).does([] {});
  policy.call(send);
  EXPECT_EQ(send.calls(), 2);
}

TEST_F(PolicyTest, hands_references_through) {
  int value = 1;
  int& result = policy.call([&]() -> int& { return value; });
  EXPECT_EQ(&result, &value);
}

TEST_F(PolicyTest, hands_through_what_can_only_be_moved) {
  const auto result = policy.call([] { return std::make_unique<int>(5); });
  EXPECT_EQ(*result, 5);
}

TEST_F(PolicyTest, retries_results_that_are_not_wanted) {
  Flaky<int> status;
  status.returns(503, 2).returns(200);
  EXPECT_EQ(policy.retry_if_result([](int code) { return code >= 500; }).call(status), 200);
  EXPECT_EQ(status.calls(), 3);
}

TEST_F(PolicyTest, returns_the_last_unwanted_result_in_the_end) {
  Flaky<int> status;
  status.returns(503, 3).returns(504);
  EXPECT_EQ(policy.retry_if_result([](int code) { return code >= 500; }).call(status), 504);
  EXPECT_EQ(log.of("retry.give_up").at(0).fields.at("error"), "unwanted result 504");
}

TEST_F(PolicyTest, looks_at_results_inside_expected_too) {
  Flaky<std::expected<bool, std::string>> ready;
  ready.returns(false).fails(std::string("boom")).returns(true);
  const auto picky = policy.retry_if_result([](bool is_ready) { return !is_ready; });
  EXPECT_EQ(picky.call(ready), true);
  EXPECT_EQ(ready.calls(), 3);
}

TEST_F(PolicyTest, a_condition_on_results_leaves_errors_as_they_were) {
  Flaky<int> status;
  status.throws(std::runtime_error("reset"), 1).returns(200);
  EXPECT_EQ(policy.retry_if_result([](int code) { return code >= 500; }).call(status), 200);
}

TEST_F(PolicyTest, gives_up_on_what_is_not_an_exception_class_too) {
  EXPECT_THROW(policy.call([]() -> int { throw 5; }), int);
  EXPECT_EQ(log.of("retry.wait").size(), 3U);
}

// --- stop

TEST_F(PolicyTest, tells_the_attempt_its_number_and_deadline) {
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

TEST_F(PolicyTest, does_not_begin_a_sleep_that_would_pass_the_deadline) {
  const auto patient = policy.stop(elapsed(10s)).wait(fixed(4s));
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("no"));
  History history;
  EXPECT_ANY_THROW(patient.call(fetch, history));
  EXPECT_THAT(clock.slept(), ElementsAre(4s, 4s));  // a third would end at 12 s
  EXPECT_EQ(history.gave_up(), GiveUp::time);
  EXPECT_EQ(clock.now(), SteadyTime(8s));
}

TEST_F(PolicyTest, counts_the_time_of_the_attempts_themselves) {
  const auto patient = policy.stop(elapsed(10s)).wait(fixed(1s));
  int calls = 0;
  EXPECT_ANY_THROW(patient.call([&] {
    ++calls;
    clock.advance(6s);
    throw std::runtime_error("slow and wrong");
  }));
  EXPECT_EQ(calls, 2);
}

TEST_F(PolicyTest, stops_when_asked_between_attempts) {
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

TEST_F(PolicyTest, makes_the_first_attempt_whatever_stop_says) {
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(policy.stop(requested(source.get_token())).call([] { return 1; }), 1);
  EXPECT_EQ(policy.stop(deadline(clock.now() - 1s)).call([] { return 1; }), 1);
}

// --- wait

TEST_F(PolicyTest, waits_as_the_error_asks) {
  Flaky<std::expected<int, ApiError>> read;
  read.fails(ApiError{429, 7s}).fails(ApiError{429}).returns(1);
  EXPECT_EQ(policy.wait(from_error(fixed(1s))).call(read), 1);
  EXPECT_THAT(clock.slept(), ElementsAre(7s, 1s));
}

TEST_F(PolicyTest, default_waits_have_full_jitter) {
  FakeRandom low_then_high{0.0, 0.75};
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("no"), 2).returns(1);
  Policy(clock, low_then_high).call(fetch);
  EXPECT_THAT(clock.slept(), ElementsAre(0s, 1500ms));
}

TEST_F(PolicyTest, decorrelated_jitter_remembers_the_wait_before) {
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

// --- retry when

TEST_F(PolicyTest, retries_only_the_exceptions_that_are_named) {
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

TEST_F(PolicyTest, retries_exceptions_derived_from_those_named) {
  Flaky<int> fetch;
  fetch.throws(HttpError(500, "x"), 1).returns(1);
  EXPECT_EQ(policy.retry_on<std::runtime_error>().call(fetch), 1);
}

TEST_F(PolicyTest, gives_up_on_what_is_named_so_and_retries_the_rest) {
  const auto lenient = policy.give_up_on<std::invalid_argument>();
  Flaky<int> bad;
  bad.throws(std::runtime_error("flaky"), 1).throws(std::invalid_argument("hopeless"));
  EXPECT_THROW(lenient.call(bad), std::invalid_argument);
  EXPECT_EQ(bad.calls(), 2);
}

TEST_F(PolicyTest, asks_predicates_about_exceptions_and_errors_of_their_type) {
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

TEST_F(PolicyTest, asks_predicates_on_failures_about_everything) {
  const auto picky =
      policy.retry_if([](const FailureView& failure) { return failure.message == "again"; });
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("again"), 2).throws(std::runtime_error("never"));
  EXPECT_ANY_THROW(picky.call(fetch));
  EXPECT_EQ(fetch.calls(), 3);
}

TEST_F(PolicyTest, the_first_condition_with_something_to_say_decides) {
  const auto policy_with_exception = policy.give_up_on<HttpError>().retry_on<std::runtime_error>();
  EXPECT_THROW(policy_with_exception.call([]() -> int { throw HttpError(500, "x"); }), HttpError);
  EXPECT_EQ(log.of("retry.give_up").at(0).fields.at("reason"), "not retryable");
  EXPECT_EQ(log.of("retry.give_up").at(0).fields.at("attempts"), "1");
}

TEST_F(PolicyTest, obeys_a_classifier) {
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

TEST_F(PolicyTest, a_cap_on_all_waits_holds_for_a_throttle_too) {
  const auto classified =
      policy.classify_with(Classifier::make(presets::http()).value()).stop(attempts(2));
  const auto fails = [] -> std::expected<int, ApiError> {
    return std::unexpected(ApiError{429, 1h});
  };
  static_cast<void>(classified.call(fails));
  static_cast<void>(classified.wait(exponential().capped(30s)).call(fails));
  EXPECT_THAT(clock.slept(), ElementsAre(1h, 30s));
}

TEST_F(PolicyTest, conditions_come_before_the_classifier) {
  const auto classifier =
      Classifier::make({{.name = "no", .pattern = "x", .verdict = VerdictKind::give_up}});
  Flaky<int> fetch;
  fetch.throws(HttpError(500, "x"), 1).returns(1);
  EXPECT_EQ(policy.retry_on<HttpError>().classify_with(classifier.value()).call(fetch), 1);
}

TEST_F(PolicyTest, describes_errors_as_it_is_told) {
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

TEST_F(PolicyTest, finds_to_failure_of_exceptions_that_conditions_name) {
  Flaky<int> fetch;
  fetch.throws(ThrownApiError("busy"), 1).returns(1);
  EXPECT_EQ(policy.retry_on<ThrownApiError>().wait(from_error(fixed(1s))).call(fetch), 1);
  EXPECT_THAT(clock.slept(), ElementsAre(7s));
}

TEST_F(PolicyTest, a_hook_that_throws_leaves_the_history_whole) {
  History history;
  const auto hooked = policy.before_sleep([](const BeforeSleep&) { throw std::logic_error("x"); });
  EXPECT_THROW(hooked.call([]() -> int { throw HttpError(500, "the last"); }, history),
               std::logic_error);
  ASSERT_EQ(history.failures().size(), 1U);
  EXPECT_EQ(history.failures()[0].failure.message, "the last");
}

TEST_F(PolicyTest, describes_errors_of_any_type_somehow) {
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

TEST_F(PolicyTest, an_exception_pointer_as_error_is_looked_into) {
  Flaky<std::expected<int, std::exception_ptr>> read;
  read.fails(std::make_exception_ptr(HttpError(500, "x")), 1)
      .fails(std::make_exception_ptr(std::logic_error("bug")));
  static_cast<void>(policy.retry_on<HttpError>().call(read));
  EXPECT_EQ(read.calls(), 2);
}

// --- hooks, logs, history

TEST_F(PolicyTest, calls_hooks_in_order) {
  std::vector<std::string> seen;
  const auto hooked = policy
                          .before_attempt([&](const Attempt& attempt) {
                            seen.push_back("before " + std::to_string(attempt.number));
                          })
                          .before_sleep([&](const BeforeSleep& sleep) {
                            seen.push_back("sleep " + std::to_string(sleep.wait / 1s) + " after " +
                                           std::to_string(sleep.attempt) + ": " +
                                           std::string(sleep.failure.message));
                          })
                          .on_recovered([&](const Recovered& recovered) {
                            seen.push_back("recovered after " + std::to_string(recovered.attempts) +
                                           " and " + std::to_string(recovered.waited / 1s));
                          })
                          .on_give_up([&](const GaveUp& gave_up) {
                            seen.push_back("gave up after " + std::to_string(gave_up.attempts) +
                                           ": " + std::string(to_string(gave_up.reason)));
                          });
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("no"), 2).returns(1);
  hooked.call(fetch);
  EXPECT_THAT(seen, ElementsAre("before 1", "sleep 1 after 1: no", "before 2",
                                "sleep 2 after 2: no", "before 3", "recovered after 3 and 3"));
  seen.clear();
  EXPECT_ANY_THROW(hooked.stop(attempts(1)).call([]() -> int { throw std::runtime_error("no"); }));
  EXPECT_THAT(seen, ElementsAre("before 1", "gave up after 1: out of attempts"));
}

TEST_F(PolicyTest, an_exception_of_a_hook_ends_the_call) {
  const auto hooked = policy.on_recovered([](const Recovered&) { throw std::logic_error("hook"); });
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("no"), 1).returns(1);
  EXPECT_THROW(hooked.call(fetch), std::logic_error);
  EXPECT_EQ(fetch.calls(), 2);
}

TEST_F(PolicyTest, logs_one_record_for_each_retry_and_for_the_end) {
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("connection reset"), 1).returns(1);
  policy.call(fetch);
  const auto entries = log.entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].level, Level::warning);
  EXPECT_EQ(entries[0].event, "retry.wait");
  EXPECT_EQ(entries[0].message, "fetch failed, trying again in 1s");
  EXPECT_EQ(
      entries[0].fields,
      (std::map<std::string, std::string>{
          {"operation", "fetch"}, {"attempt", "1"}, {"wait", "1"}, {"error", "connection reset"}}));
  EXPECT_EQ(entries[1].level, Level::info);
  EXPECT_EQ(entries[1].event, "retry.recovered");
  EXPECT_EQ(entries[1].fields.at("attempts"), "2");
}

TEST_F(PolicyTest, keeps_a_history) {
  Flaky<int> fetch;
  fetch.throws(HttpError(500, "first"), 1).throws(std::runtime_error("second"), 1).returns(1);
  History history;
  policy.call(fetch, history);
  EXPECT_EQ(history.attempts(), 3);
  EXPECT_EQ(history.waited(), 3s);
  EXPECT_TRUE(history.succeeded());
  ASSERT_EQ(history.failures().size(), 2U);
  EXPECT_EQ(history.failures()[0].failure.message, "first");
  EXPECT_EQ(history.failures()[0].wait, 1s);
  EXPECT_EQ(history.failures()[1].attempt, 2);
  EXPECT_THROW(std::rethrow_exception(history.failures()[0].exception), HttpError);

  policy.call([] { return 1; }, history);  // cleared
  EXPECT_EQ(history.attempts(), 1);
  EXPECT_THAT(history.failures(), IsEmpty());
}

TEST_F(PolicyTest, a_long_history_stays_small) {
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("no"));
  History history;
  EXPECT_ANY_THROW(policy.log_to({}).stop(attempts(5000)).wait(no_wait()).call(fetch, history));
  EXPECT_EQ(history.attempts(), 5000);
  EXPECT_EQ(history.failures().size(), History::kMostFailures);
  EXPECT_EQ(history.failures().back().attempt, 5000);
}

TEST_F(PolicyTest, is_a_value_that_changes_by_copy) {
  const Policy twice = policy.stop(attempts(2)).named("twice");
  EXPECT_EQ(policy.name(), "fetch");
  EXPECT_EQ(twice.name(), "twice");
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("no"));
  EXPECT_ANY_THROW(policy.call(fetch));
  EXPECT_EQ(fetch.calls(), 4);
}

}  // namespace
}  // namespace holdfast::retry
