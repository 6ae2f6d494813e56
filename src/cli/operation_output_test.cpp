#include "cli/operation_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli::operation_output_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

Operation some_operation(OperationState state) {
  return {.id = "0193e0a4-0000-7000-8000-000000000001",
          .state = state,
          .query = "group:5d0f1e6cbb7a1e22",
          .by = "alice",
          .plan = {.complete = true,
                   .matching = 1502,
                   .possible = 1500,
                   .queues = {{.name = "mail", .count = 1500, .paused = true}},
                   .types = {{.name = "send", .count = 1500}},
                   .refused = {{.why = "it took its worker down", .count = 2, .example = {}}}},
          .progress = {.total = 1500, .done = 1500}};
}

TEST(OperationOutput, N2_a_plan_says_how_many_where_to_and_what_is_refused) {
  const std::string plan = plan_for_people(some_operation(OperationState::planned), false);
  EXPECT_THAT(plan, HasSubstr("Would bring back 1,500 of 1,502 tasks that match.\n"));
  EXPECT_THAT(plan, HasSubstr("mail   1,500  paused: they wait there until it is resumed\n"));
  EXPECT_THAT(plan, HasSubstr("2 refused: it took its worker down"));
}

TEST(OperationOutput, what_a_whole_replay_came_to_is_one_line) {
  EXPECT_EQ(end_for_people(some_operation(OperationState::done), false), "Brought back 1,500.\n");
}

TEST(OperationOutput, N2_one_that_has_stopped_says_why_and_how_to_go_on) {
  Operation stopped = some_operation(OperationState::stopped);
  stopped.why = "1 of 1 failed again";
  stopped.progress = {.total = 1500, .done = 1, .failed = 1};
  EXPECT_EQ(end_for_people(stopped, false),
            "Brought back 1 of 1,500. Of these 0 succeeded, 1 failed again.\n"
            "The operation is stopped:\n"
            "  1 of 1 failed again\n"
            "To go on: holdfast operations resume 0193e0a4-0000-7000-8000-000000000001\n");
}

TEST(OperationOutput, what_has_ended_cannot_be_gone_on_with) {
  const std::string canceled = end_for_people(some_operation(OperationState::canceled), false);
  EXPECT_THAT(canceled, EndsWith("The operation is canceled.\n"));
  EXPECT_THAT(canceled, Not(HasSubstr("resume")));
}

}  // namespace
}  // namespace holdfast::cli::operation_output_test
