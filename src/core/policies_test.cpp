#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/policies.hpp>
#include <holdfast/testing.hpp>

// The named policies, to the second, and the records that they leave (R10: one policy value each).
namespace holdfast::policies::policies_test {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

struct NamedPolicies : ::testing::Test {
  testing::FakeClock clock;
  testing::FakeRandom random;
  testing::LogCapture log;
  retry::Policy base{clock, random};
  Logger logger{log, clock};
  testing::Flaky<int> operation;
  std::system_error refused{std::make_error_code(std::errc::connection_refused), "connect"};
};

// R1
TEST_F(NamedPolicies, R1_publish_waits_1_2_4_8_and_gives_the_original_error_after_5_attempts) {
  operation.throws(refused);
  EXPECT_THROW(publish(logger, base).call(operation), std::system_error);
  EXPECT_EQ(operation.calls(), 5);
  EXPECT_THAT(clock.slept(), ElementsAre(1s, 2s, 4s, 8s));
  const auto retries = log.of("retry.wait");
  ASSERT_THAT(retries, SizeIs(4));
  EXPECT_EQ(retries[2].fields.at("operation"), "publish");
  EXPECT_EQ(retries[2].fields.at("attempt"), "3");
  EXPECT_EQ(retries[2].fields.at("wait"), "4");
  EXPECT_EQ(retries[2].fields.at("error"), "connect: Connection refused");
  EXPECT_THAT(log.of("retry.give_up"), SizeIs(1));
}

TEST_F(NamedPolicies, R1_publish_does_not_wait_longer_than_16_seconds) {
  operation.throws(refused);
  EXPECT_ANY_THROW(publish(logger, base).stop(retry::attempts(8)).call(operation));
  EXPECT_THAT(clock.slept(), ElementsAre(1s, 2s, 4s, 8s, 16s, 16s, 16s));
}

TEST_F(NamedPolicies, R1_publish_retries_connection_errors_only) {
  operation.throws(std::invalid_argument("payload is not JSON"));
  EXPECT_THROW(publish(logger, base).call(operation), std::invalid_argument);
  EXPECT_EQ(operation.calls(), 1);
}

// R2
TEST_F(NamedPolicies, R2_a_recovered_publish_leaves_one_record_with_its_attempts) {
  operation.throws(refused, 2).returns(1);
  EXPECT_EQ(publish(logger, base).call(operation), 1);
  const auto recovered = log.of("retry.recovered");
  ASSERT_THAT(recovered, SizeIs(1));
  EXPECT_EQ(recovered[0].fields.at("attempts"), "3");
  EXPECT_EQ(recovered[0].level, Level::info);
}

// R3
TEST_F(NamedPolicies, R3_download_waits_1_2_and_gives_up_after_3_attempts) {
  operation.throws(refused);
  EXPECT_THROW(download(logger, base).call(operation), std::system_error);
  EXPECT_EQ(operation.calls(), 3);
  EXPECT_THAT(clock.slept(), ElementsAre(1s, 2s));
  EXPECT_THAT(log.of("retry.wait"), SizeIs(2));
}

TEST_F(NamedPolicies, R3_download_does_not_wait_longer_than_8_seconds) {
  operation.throws(refused);
  EXPECT_ANY_THROW(download(logger, base).stop(retry::attempts(6)).call(operation));
  EXPECT_THAT(clock.slept(), ElementsAre(1s, 2s, 4s, 8s, 8s));
}

// R8: each attempt with its number and error, the last one critical.
TEST_F(NamedPolicies, R8_connect_tries_90_times_10_seconds_apart_and_ends_with_a_critical_record) {
  operation.throws(refused);
  EXPECT_THROW(connect(logger, base).call(operation), std::system_error);
  EXPECT_EQ(operation.calls(), 90);
  EXPECT_THAT(clock.slept(), SizeIs(89));
  EXPECT_THAT(clock.slept(), Each(10s));
  const auto retries = log.of("retry.wait");
  ASSERT_THAT(retries, SizeIs(89));
  EXPECT_EQ(retries[88].fields.at("attempt"), "89");
  EXPECT_EQ(retries[88].fields.at("error"), "connect: Connection refused");
  const auto end = log.of("retry.give_up");
  ASSERT_THAT(end, SizeIs(1));
  EXPECT_EQ(end[0].level, Level::critical);
  EXPECT_EQ(end[0].fields.at("attempts"), "90");
}

TEST(ConnectionFailure, is_known_by_errno_and_by_text) {
  EXPECT_TRUE(is_connection_failure({.os_error = ECONNREFUSED}));
  EXPECT_TRUE(is_connection_failure({.os_error = ETIMEDOUT}));
  EXPECT_TRUE(
      is_connection_failure({.message = "dial tcp 10.0.0.5:5672: connect: connection refused"}));
  EXPECT_TRUE(is_connection_failure({.message = "read ECONNRESET"}));
  EXPECT_FALSE(is_connection_failure({.message = "no such bucket"}));
  EXPECT_FALSE(is_connection_failure({.os_error = ENOENT}));
  EXPECT_FALSE(is_connection_failure({.message = "certificate verify failed"}));
}

}  // namespace
}  // namespace holdfast::policies::policies_test
