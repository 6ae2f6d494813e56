#include "cli/recovery_output.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/text_columns.hpp"

namespace holdfast::cli::recovery_output_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using wire::Recovery;
using wire::RecoveryState;

const WallTime kNow{1'800'000'000s};

Recovery recovery_of(const std::string& queue) {
  return {.id = "019a9c5e-7a31-7cc2-9d3e-0a1b2c3d4e5f",
          .state = RecoveryState::done,
          .request = {.broker = "main", .queue = queue},
          .started = kNow - 12min,
          .complete = true};
}

std::string list_of(const Recovery& recovery) {
  return recoveries_for_people({recovery}, kNow, false);
}

TEST(RecoveryOutput, a_list_has_whole_ids_where_there_is_room) {
  const std::string text = list_of(recovery_of("a.dlq"));
  EXPECT_THAT(text, HasSubstr("019a9c5e-7a31-7cc2-9d3e-0a1b2c3d4e5f"));
  EXPECT_THAT(text, Not(HasSubstr("Ids are cut")));
}

TEST(RecoveryOutput, a_list_cuts_ids_before_it_cuts_queues) {
  Recovery recovery = recovery_of("jobs.of.the.night.dead-letters");
  recovery.state = RecoveryState::interrupted;
  recovery.request.dry_run = true;
  const std::string text = list_of(recovery);
  EXPECT_THAT(text, HasSubstr("jobs.of.the.night.dead-letters\n"));
  EXPECT_THAT(text, HasSubstr("holdfast recoveries ls --json has them whole"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(columns_of(line), kColumns) << line;
}

TEST(RecoveryOutput, one_that_left_messages_is_not_just_done) {
  Recovery recovery = recovery_of("a.dlq");
  EXPECT_THAT(list_of(recovery), Not(HasSubstr("done,")));
  recovery.complete = false;
  recovery.why = "no progress for too long (--stall)";
  EXPECT_THAT(list_of(recovery), HasSubstr("done, some left"));
  recovery.progress.left = 1250;
  EXPECT_THAT(list_of(recovery), HasSubstr("done, 1,250 left"));
  EXPECT_THAT(recovery_result(recovery, false),
              HasSubstr("done, 1,250 left: no progress for too long"));
  recovery.progress.left = 0;
  recovery.progress.skipped = 3;
  EXPECT_THAT(list_of(recovery), HasSubstr("done, 3 kept"));
}

}  // namespace
}  // namespace holdfast::cli::recovery_output_test
