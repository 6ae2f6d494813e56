#include "cli/demo_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/text_columns.hpp"

namespace holdfast::cli::demo_output_test {
namespace {

using ::testing::HasSubstr;

// What is left of a text when a terminal has acted on its colours.
std::string without_colours(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = text.find('m', at);
    } else {
      plain += text[at];
    }
  }
  return plain;
}

DemoMoment moment(std::uint64_t succeeded, std::uint64_t dead, std::uint64_t planned) {
  DemoMoment made{.seconds = 12.34, .planned = planned};
  made.by_state[static_cast<std::size_t>(TaskState::succeeded)] = succeeded;
  made.by_state[static_cast<std::size_t>(TaskState::dead)] = dead;
  return made;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++count;
  return count;
}

TEST(DemoOutput, the_bar_has_the_shares_of_the_states_and_always_the_same_length) {
  for (const std::uint64_t succeeded : {0U, 1U, 33U, 100U, 149U}) {
    const std::string lines = without_colours(live_lines(moment(succeeded, 50, 199)));
    EXPECT_EQ(count_of(lines, "█") + count_of(lines, "░"), 60U) << lines;
    EXPECT_LE(columns_of(lines.substr(0, lines.find('\n'))), kColumns) << lines;
  }
  EXPECT_EQ(count_of(live_lines(moment(50, 50, 200)), "█"), 30U);
  EXPECT_EQ(count_of(live_lines(moment(150, 50, 200)), "░"), 0U);
}

TEST(DemoOutput, numbers_fit_80_columns_for_a_thousand_tasks_in_all) {
  DemoMoment full{.seconds = 999.9, .planned = 7000};
  full.by_state.fill(99);
  full.by_state[static_cast<std::size_t>(TaskState::succeeded)] = 999;
  const std::string lines = without_colours(live_lines(full));
  const std::string second = lines.substr(lines.find('\n') + 1);
  EXPECT_LE(columns_of(second), kColumns + 1) << second;
  EXPECT_LE(columns_of(plain_line(full)), kColumns + 1) << plain_line(full);
}

TEST(DemoOutput, a_path_names_each_end_and_counts_repeats) {
  const auto timeout =
      TaskAttempt{.event = "error", .failure = Failure{.kind = FailureKind::timeout}};
  TaskInfo task{.history = {timeout, timeout, TaskAttempt{.event = "crash"},
                            TaskAttempt{.event = "success"}}};
  EXPECT_EQ(path_of(task), "timeout ×2, crash, success");
}

TEST(DemoOutput, a_lost_task_is_said_and_not_glossed_over) {
  DemoSummary summary{.answered = 3};
  summary.audit.accepted = 3;
  summary.audit.present[static_cast<std::size_t>(TaskState::succeeded)] = 3;
  EXPECT_TRUE(summary.nothing_lost());
  EXPECT_THAT(proof(summary, false), HasSubstr("3 accepted = 3 succeeded\n   Nothing was lost."));

  summary.answered = 4;  // one more was answered for than the file knows of
  EXPECT_FALSE(summary.nothing_lost());
  EXPECT_THAT(proof(summary, false), HasSubstr("something was lost"));

  summary.answered = 3;
  summary.audit.present[static_cast<std::size_t>(TaskState::succeeded)] = 2;
  EXPECT_FALSE(summary.nothing_lost());
  EXPECT_THAT(proof(summary, false), HasSubstr("3 accepted ≠ 2 succeeded"));

  summary.audit.present[static_cast<std::size_t>(TaskState::succeeded)] = 3;
  summary.audit.found = 1;
  EXPECT_FALSE(summary.nothing_lost());
}

}  // namespace
}  // namespace holdfast::cli::demo_output_test
