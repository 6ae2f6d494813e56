// What a policy tells: hooks, logs, history.
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/retry.hpp>
#include <holdfast/testing.hpp>

#include "core/policy_testing.hpp"

namespace holdfast::retry::policy_hooks_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::Flaky;
using ::testing::IsEmpty;

using PolicyHooks = PolicyFixture;

TEST_F(PolicyHooks, calls_hooks_in_order) {
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

TEST_F(PolicyHooks, an_exception_of_a_hook_ends_the_call) {
  const auto hooked = policy.on_recovered([](const Recovered&) { throw std::logic_error("hook"); });
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("no"), 1).returns(1);
  EXPECT_THROW(hooked.call(fetch), std::logic_error);
  EXPECT_EQ(fetch.calls(), 2);
}

TEST_F(PolicyHooks, logs_one_record_for_each_retry_and_for_the_end) {
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

TEST_F(PolicyHooks, keeps_a_history) {
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

TEST_F(PolicyHooks, a_long_history_stays_small) {
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("no"));
  History history;
  EXPECT_ANY_THROW(policy.log_to({}).stop(attempts(5000)).wait(no_wait()).call(fetch, history));
  EXPECT_EQ(history.attempts(), 5000);
  EXPECT_EQ(history.failures().size(), History::kMostFailures);
  EXPECT_EQ(history.failures().back().attempt, 5000);
}

TEST_F(PolicyHooks, is_a_value_that_changes_by_copy) {
  const Policy twice = policy.stop(attempts(2)).named("twice");
  EXPECT_EQ(policy.name(), "fetch");
  EXPECT_EQ(twice.name(), "twice");
  Flaky<int> fetch;
  fetch.throws(std::runtime_error("no"));
  EXPECT_ANY_THROW(policy.call(fetch));
  EXPECT_EQ(fetch.calls(), 4);
}

}  // namespace
}  // namespace holdfast::retry::policy_hooks_test
