#include "handlers/webhook_rules.hpp"

#include <gtest/gtest.h>

namespace holdfast::handlers::webhook_rules_test {
namespace {

VerdictKind verdict(std::string_view message, std::optional<int> status = {}) {
  static const Classifier classifier =
      with_webhook_rules(Classifier::make(presets::all()).value()).value();
  return classifier.classify({.message = message, .http_status = status}).verdict.kind;
}

TEST(WebhookRules, give_up_what_only_a_person_can_mend) {
  EXPECT_EQ(verdict("refused address 127.0.0.1: it is loopback"), VerdictKind::give_up);
  EXPECT_EQ(verdict("HTTP 302: redirects are not followed", 302), VerdictKind::give_up);
  EXPECT_EQ(verdict("HTTP 308: timed out", 308), VerdictKind::give_up);
}

TEST(WebhookRules, leave_the_rest_to_the_presets) {
  EXPECT_EQ(verdict("HTTP 503: refused address 1", 503), VerdictKind::retry);
  EXPECT_EQ(verdict("HTTP 410: gone", 410), VerdictKind::give_up);
  EXPECT_EQ(verdict("HTTP 429", 429), VerdictKind::throttle);
  EXPECT_EQ(verdict("connection lost after the request was sent: x"), VerdictKind::retry);
}

TEST(WebhookRules, refuse_a_name_that_is_taken) {
  const auto users = Classifier::make({{.name = "webhook.redirect", .http_status = {301}}});
  EXPECT_FALSE(with_webhook_rules(users.value()).has_value());
}

}  // namespace
}  // namespace holdfast::handlers::webhook_rules_test
