#include "recovery/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/recovery_world.hpp"

namespace holdfast::recovery::journal_test {
namespace {

using ::testing::Contains;
using testing::dead;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Journal, torn_lines_are_passed_over) {
  EarlierRuns runs;
  runs.read(R"({"time":"x","run":"r","event":"begin","queue":"q","window":1})");
  runs.read(R"({"run":"r","event":"recovered","key":"000102030405060708090a0b0c0d0e0f"})");
  runs.read(R"({"run":"r","event":"recovered","key":"0001020304)");
  runs.read("");
  runs.read("[1]");
  EXPECT_EQ(runs.unsettled("q").confirmed.size(), 1U);
}

TEST(Journal, holds_no_more_than_can_be_in_doubt) {
  EarlierRuns runs;
  runs.read(R"({"run":"r","event":"begin","queue":"q","window":1})");
  for (int i = 0; i < 3'000; ++i) {
    const Identity identity = identity_of(dead(std::to_string(i)), {});
    runs.read(R"({"run":"r","event":"recovered","key":")" + to_text(identity) + "\"}");
  }
  EXPECT_EQ(runs.unsettled("q").confirmed.size(), copies_in_doubt(1));
  EXPECT_THAT(runs.unsettled("q").confirmed, Contains(identity_of(dead("2999"), {})));
}

TEST(Journal, what_was_done_elsewhere_says_nothing_of_this_queue) {
  EarlierRuns runs;
  runs.read(R"({"run":"r","event":"begin","queue":"amqp://test/%2f/dlq","window":1})");
  runs.read(R"({"run":"r","event":"recovered","key":"000102030405060708090a0b0c0d0e0f"})");
  EXPECT_THAT(runs.unsettled("amqp://production/%2f/dlq").confirmed, IsEmpty());
  EXPECT_EQ(runs.unsettled("amqp://test/%2f/dlq").confirmed.size(), 1U);
}

TEST(Journal, two_of_the_same_in_one_run_are_not_one_message) {
  EarlierRuns runs;
  runs.read(R"({"run":"r","event":"begin","queue":"q","window":1})");
  for (int i = 0; i < 2; ++i)
    runs.read(R"({"run":"r","event":"recovered","key":"000102030405060708090a0b0c0d0e0f"})");
  EXPECT_THAT(runs.unsettled("q").confirmed, IsEmpty());
}

// V3, P6
TEST(Journal, V3_what_was_sent_and_not_answered_is_in_doubt) {
  const auto key = [](const char* id) { return to_text(identity_of(dead(id), {})); };
  EarlierRuns runs;
  runs.read(R"({"run":"r","event":"begin","queue":"q","window":10})");
  for (const char* id : {"1", "2", "3", "4"})
    runs.read(R"({"run":"r","event":"sending","key":")" + key(id) + "\"}");
  runs.read(R"({"run":"r","event":"recovered","key":")" + key("1") + "\"}");
  runs.read(R"({"run":"r","event":"kept","key":")" + key("3") + "\"}");
  const EarlierCopies left = runs.unsettled("q");
  EXPECT_THAT(left.confirmed, ElementsAre(identity_of(dead("1"), {})));
  EXPECT_THAT(left.in_doubt, ElementsAre(identity_of(dead("2"), {}), identity_of(dead("4"), {})));
}

TEST(Journal, a_clean_run_that_emptied_the_queue_closes_those_before_it) {
  EarlierRuns runs;
  runs.read(R"({"run":"a","event":"begin","queue":"q","window":1})");
  runs.read(R"({"run":"a","event":"recovered","key":"000102030405060708090a0b0c0d0e0f"})");
  runs.read(R"({"run":"b","event":"begin","queue":"q","window":1})");
  runs.read(R"({"run":"b","event":"end","ended":"empty","clean":true,"emptied":true})");
  EXPECT_THAT(runs.unsettled("q").confirmed, IsEmpty());
}

TEST(Journal, a_clean_run_that_left_messages_says_nothing_of_those_before_it) {
  EarlierRuns runs;
  runs.read(R"({"run":"a","event":"begin","queue":"q","window":1})");
  runs.read(R"({"run":"a","event":"recovered","key":"000102030405060708090a0b0c0d0e0f"})");
  runs.read(R"({"run":"b","event":"begin","queue":"q","window":1})");
  runs.read(R"({"run":"b","event":"end","ended":"empty","clean":true,"emptied":false})");
  EXPECT_EQ(runs.unsettled("q").confirmed.size(), 1U);
}

}  // namespace
}  // namespace holdfast::recovery::journal_test
