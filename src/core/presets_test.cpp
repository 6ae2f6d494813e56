// The presets together: their order, their names, and what none of them knows.
#include <gtest/gtest.h>

#include <holdfast/classify.hpp>

#include "core/preset_rows.hpp"

namespace holdfast::presets_test {
namespace {

using enum VerdictKind;

TEST(Presets, aws) {
  expect_rows({
      {"An error occurred (ThrottlingException) when calling the PutItem operation: Rate exceeded",
       throttle, "aws.throttled"},
      {"An error occurred (Throttling) when calling the DescribeStacks operation", throttle,
       "aws.throttled"},
      {"ProvisionedThroughputExceededException: The level of configured provisioned throughput for "
       "the table was exceeded",
       throttle, "aws.throttled"},
      {"SlowDown: Please reduce your request rate.", throttle, "aws.throttled"},
      {"TooManyRequestsException: Too Many Requests", throttle, "aws.throttled"},
      {"An error occurred (ExpiredToken) when calling the GetObject operation: The provided token "
       "has "
       "expired.",
       give_up, "aws.credentials"},
      {"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>", give_up,
       "aws.credentials"},
      {"User: arn:aws:iam::1:user/a is not authorized to perform: sqs:SendMessage", give_up,
       "aws.credentials"},
      {"SignatureDoesNotMatch: The request signature we calculated does not match", give_up,
       "aws.credentials"},
      {"NoSuchBucket: The specified bucket does not exist", give_up, "aws.not-found"},
      {"AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist", give_up,
       "aws.not-found"},
      {"ValidationException: One or more parameter values were invalid", give_up,
       "aws.invalid-request"},
      {"An error occurred (InternalFailure) when calling the ReceiveMessage operation", retry,
       "aws.unavailable"},
      {"RequestTimeout: Your socket connection to the server was not read from or written to",
       retry, "aws.unavailable"},
      {"ServiceUnavailable: Please try again.", retry, "aws.unavailable"},
  });
  EXPECT_EQ(all_presets().explain({"a slowdown of the disk"}).rule, "");
}

// C1.8
TEST(Presets, C1_8_unknown_errors_are_retried) {
  for (const char* text : {"", "something went wrong", "Segmentation fault (core dumped)",
                           "SyntaxError: Unexpected token < in JSON at position 0",
                           "zip code 22030", "invalid rate limit configuration"}) {
    EXPECT_EQ(all_presets().classify({text}), (Classification{{retry, {}}, -1, Basis::fallback}))
        << text;
  }
}

TEST(PresetOrder, the_special_comes_before_the_general) {
  const FailureView reverted{.message = "execution reverted", .http_status = 500};
  EXPECT_EQ(all_presets()(reverted).kind, give_up);
  const auto wrong_way = Classifier::make(combine({presets::http(), presets::ethereum()}));
  ASSERT_TRUE(wrong_way);
  EXPECT_EQ((*wrong_way)(reverted).kind, retry)
      << "the order must matter for this test to mean much";

  const FailureView throttled{.message = "ThrottlingException: Rate exceeded", .http_status = 400};
  EXPECT_EQ(all_presets()(throttled).kind, throttle);
  EXPECT_EQ(all_presets()({.message = "upstream timed out", .http_status = 400}).kind, give_up);
}

TEST(PresetOrder, own_rules_go_before_or_after) {
  const std::vector<Rule> mine = {{.name = "mine", .pattern = "timed out", .verdict = give_up}};
  EXPECT_EQ(Classifier::make(combine({mine, presets::all()})).value()({"read timed out"}).kind,
            give_up);
  EXPECT_EQ(Classifier::make(combine({presets::all(), mine})).value()({"read timed out"}).kind,
            retry);
}

TEST(PresetRules, each_has_a_reason_and_a_name_of_its_preset) {
  for (const std::string_view preset : presets::names()) {
    const auto rules = presets::named(preset);
    ASSERT_TRUE(rules);
    EXPECT_FALSE(rules->empty());
    for (const Rule& rule : *rules) {
      EXPECT_FALSE(rule.reason.empty()) << rule.name;
      EXPECT_TRUE(preset == "all" || rule.name.starts_with(std::string(preset) + ".")) << rule.name;
    }
    EXPECT_TRUE(Classifier::make(*rules)) << preset;
  }
}

TEST(PresetRules, none_matches_an_empty_text) {
  for (const Rule& rule : presets::all()) {
    if (rule.pattern.empty()) continue;
    EXPECT_EQ(Classifier::make({rule}).value().classify({""}).rule, -1) << rule.name;
  }
}

TEST(PresetRules, an_unknown_preset_is_an_error_that_offers_the_nearest) {
  EXPECT_EQ(presets::named("netwrok").error().message,
            "unknown preset \"netwrok\"; did you mean \"network\"?");
  EXPECT_EQ(presets::named("kubernetes").error().message,
            "unknown preset \"kubernetes\"; known are network, http, ethereum, aws, database, all");
  EXPECT_FALSE(presets::named(std::string(1 << 20, 'x')));
}

}  // namespace
}  // namespace holdfast::presets_test
