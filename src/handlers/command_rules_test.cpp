#include "handlers/command_rules.hpp"

#include <gtest/gtest.h>

namespace holdfast::handlers::command_rules_test {
namespace {

VerdictKind verdict(const Classifier& classifier, std::optional<int> exit_code,
                    std::string_view message = {}) {
  return classifier.classify({.message = message, .exit_code = exit_code}).verdict.kind;
}

TEST(CommandRules, believe_the_exit_code_before_the_users_rules) {
  const auto users =
      Classifier::make({{.pattern = "timeout", .verdict = VerdictKind::retry},
                        {.exit_codes = {75}, .verdict = VerdictKind::give_up},
                        {.pattern = "no such user", .verdict = VerdictKind::give_up}});
  const auto classifier = with_command_rules(users.value()).value();
  EXPECT_EQ(verdict(classifier, 64, "timeout"), VerdictKind::give_up);
  EXPECT_EQ(verdict(classifier, 65, "timeout"), VerdictKind::give_up);
  EXPECT_EQ(verdict(classifier, 75, "no such user"), VerdictKind::retry);
}

TEST(CommandRules, leave_other_failures_to_the_user) {
  const auto users =
      Classifier::make({{.pattern = "no such user", .verdict = VerdictKind::give_up}});
  const auto classifier = with_command_rules(users.value()).value();
  EXPECT_EQ(verdict(classifier, 1, "no such user"), VerdictKind::give_up);
  EXPECT_EQ(verdict(classifier, 1, "something else"), VerdictKind::retry);
  EXPECT_EQ(verdict(classifier, std::nullopt, "no such user"), VerdictKind::give_up);
}

TEST(CommandRules, refuse_a_name_that_is_taken) {
  const auto users = Classifier::make({{.name = "command.retry", .exit_codes = {1}}});
  const auto classifier = with_command_rules(users.value());
  ASSERT_FALSE(classifier.has_value());
  EXPECT_EQ(classifier.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace holdfast::handlers::command_rules_test
