#include <cerrno>

#include <gtest/gtest.h>

#include <holdfast/classify.hpp>

namespace holdfast::classifier_test {
namespace {

using namespace std::chrono_literals;
using enum VerdictKind;

Classifier make(std::vector<Rule> rules) {
  auto made = Classifier::make(std::move(rules));
  EXPECT_TRUE(made) << made.error().text();
  return made ? *made : Classifier();
}

std::string error_of(std::vector<Rule> rules) {
  auto made = Classifier::make(std::move(rules));
  EXPECT_FALSE(made);
  if (made) return "";
  EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
  return made.error().text();
}

TEST(Classifier, C1_8_without_rules_retries_everything) {
  const Classifier classifier;
  EXPECT_EQ(classifier.classify({"whatever"}), (Classification{{retry, {}}, -1, Basis::fallback}));
  EXPECT_TRUE(classifier.rules().empty());
}

TEST(Classifier, finds_a_pattern_anywhere_and_in_any_case) {
  const Classifier classifier = make({{.pattern = "nonce too low", .verdict = ambiguous}});
  EXPECT_EQ(classifier.classify({"rpc: Nonce TOO low: next 5"}),
            (Classification{{ambiguous, {}}, 0, Basis::pattern}));
  EXPECT_EQ(classifier.classify({"nonce too high"}).rule, -1);
}

TEST(Classifier, the_first_rule_in_order_wins_whatever_its_condition) {
  const Classifier classifier = make({{.pattern = "replacement transaction underpriced"},
                                      {.http_status = {500}, .verdict = give_up},
                                      {.pattern = "transaction underpriced", .verdict = ambiguous},
                                      {.pattern = "underpriced", .verdict = throttle}});
  EXPECT_EQ(classifier.classify({"replacement transaction underpriced"}).rule, 0);
  EXPECT_EQ(classifier.classify({.message = "transaction underpriced", .http_status = 500}).rule,
            1);
  EXPECT_EQ(classifier.classify({.message = "transaction underpriced", .http_status = 400}).rule,
            2);
  EXPECT_EQ(classifier.classify({"underpriced"}).rule, 3);
}

TEST(Classifier, every_kind_of_condition_must_hold) {
  const Classifier classifier = make({{.pattern = "quota",
                                       .http_status = {403, {500, 504}},
                                       .exit_codes = {1, 2},
                                       .os_errors = {EAGAIN},
                                       .kind = FailureKind::crash,
                                       .verdict = give_up}});
  const FailureView all{.message = "over quota",
                        .kind = FailureKind::crash,
                        .http_status = 502,
                        .exit_code = 2,
                        .os_error = EAGAIN,
                        .retry_after = {}};
  EXPECT_EQ(classifier.classify(all).rule, 0);
  for (int missing = 0; missing < 5; ++missing) {
    FailureView failure = all;
    if (missing == 0) failure.message = "over the top";
    if (missing == 1) failure.http_status = 505;
    if (missing == 2) failure.exit_code = {};
    if (missing == 3) failure.os_error = EPIPE;
    if (missing == 4) failure.kind = FailureKind::error;
    EXPECT_EQ(classifier.classify(failure).rule, -1) << missing;
  }
}

TEST(Classifier, tells_what_a_verdict_rests_on) {
  const Classifier classifier = make({{.pattern = "x"},
                                      {.http_status = {{400, 499}}},
                                      {.exit_codes = {75}},
                                      {.os_errors = {EPIPE}},
                                      {.kind = FailureKind::timeout}});
  EXPECT_EQ(classifier.classify({"x"}).basis, Basis::pattern);
  EXPECT_EQ(classifier.classify({.message = "", .http_status = 404}).basis, Basis::http_status);
  EXPECT_EQ(classifier.classify({.message = "", .exit_code = 75}).basis, Basis::exit_code);
  EXPECT_EQ(classifier.classify({.message = "", .os_error = EPIPE}).basis, Basis::os_error);
  EXPECT_EQ(classifier.classify({.message = "", .kind = FailureKind::timeout}).basis, Basis::kind);
  EXPECT_EQ(classifier.classify({"y"}).basis, Basis::fallback);
}

TEST(Classifier, C1_7_honours_retry_after) {
  const Classifier classifier = make({{.http_status = {429}, .verdict = throttle, .wait = 30s},
                                      {.http_status = {503}, .verdict = retry},
                                      {.http_status = {400}, .verdict = give_up}});
  const auto verdict = [&](int status, std::optional<Duration> retry_after) {
    return classifier({.message = "", .http_status = status, .retry_after = retry_after});
  };
  EXPECT_EQ(verdict(429, {}), (Verdict{throttle, 30s}));
  EXPECT_EQ(verdict(429, 5s), (Verdict{throttle, 5s})) << "the error knows better than the rule";
  EXPECT_EQ(verdict(503, {}), (Verdict{retry, {}}));
  EXPECT_EQ(verdict(503, 5s), (Verdict{throttle, 5s}));
  EXPECT_EQ(verdict(599, 5s), (Verdict{throttle, 5s})) << "of an unknown error, too";
  EXPECT_EQ(verdict(400, 5s), (Verdict{give_up, {}}));
}

TEST(Classifier, a_retry_after_of_zero_asks_for_nothing) {
  const Classifier classifier = make({{.http_status = {429}, .verdict = throttle, .wait = 30s}});
  EXPECT_EQ(classifier({.message = "", .http_status = 429, .retry_after = 0s}),
            (Verdict{throttle, 30s}));
  EXPECT_EQ(classifier({.message = "", .http_status = 503, .retry_after = 0s}),
            (Verdict{retry, {}}));
}

TEST(Classifier, looks_at_both_ends_of_a_huge_text_and_not_between) {
  const Classifier classifier = make({{.pattern = "needle", .verdict = give_up}});
  std::string text(10 << 20, 'x');
  EXPECT_EQ(classifier.classify({text}).rule, -1);
  text.replace(5 << 20, 6, "needle");
  EXPECT_EQ(classifier.classify({text}).rule, -1) << "the middle is beyond the bound";
  text.replace(text.size() - 6, 6, "needle");
  EXPECT_EQ(classifier.classify({text}).rule, 0);
  EXPECT_EQ(classifier.explain({text}).offset, text.size() - 6);
  text.replace(100, 6, "needle");
  EXPECT_EQ(classifier.explain({text}).offset, 100);
}

TEST(Classifier, looks_at_all_of_a_text_up_to_the_bound) {
  const Classifier classifier = make({{.pattern = "needle", .verdict = give_up}});
  std::string text(64 << 10, 'x');
  text.replace((32 << 10) - 3, 6, "needle");
  EXPECT_EQ(classifier.classify({text}).rule, 0);
}

TEST(Classifier, reads_bytes_that_are_not_utf8) {
  const Classifier classifier = make({{.pattern = "connection .+ refused", .verdict = give_up}});
  EXPECT_EQ(classifier.classify({"connection \xff\xfe\x80 refused"}).rule, 0);
  EXPECT_EQ(classifier.classify({std::string_view("connection \0\0 refused", 21)}).rule, 0);
  EXPECT_EQ(classifier.classify({std::string_view()}).rule, -1);
}

TEST(Classifier, a_copy_shares_its_rules) {
  const Classifier one = make({{.name = "mine", .pattern = "x", .verdict = give_up}});
  const Classifier two = one;  // NOLINT: the copy is what is tested
  EXPECT_EQ(one.rules().data(), two.rules().data());
  EXPECT_EQ(two({"x"}).kind, give_up);
}

TEST(ClassifierErrors, a_bad_pattern_is_named_with_its_place) {
  EXPECT_EQ(error_of({{.name = "a", .pattern = "a"},
                      {.name = "b", .pattern = "b"},
                      {.name = "nonce", .pattern = "low|bar(nonce too"}}),
            "make classifier: rule 3 \"nonce\": bad pattern at offset 7: missing ): (nonce too");
}

TEST(ClassifierErrors, an_unnamed_rule_goes_by_its_place) {
  EXPECT_EQ(error_of({{.pattern = "a"}, {.pattern = "x**"}}),
            "make classifier: rule 2 \"rule 2\": bad pattern at offset 1: bad repetition operator: "
            "**");
}

TEST(ClassifierErrors, a_rule_without_a_condition_is_refused) {
  EXPECT_NE(
      error_of({{.name = "empty", .verdict = give_up}}).find("rule 1 \"empty\": no condition"),
      std::string::npos);
}

TEST(ClassifierErrors, an_unknown_verdict_is_refused) {
  EXPECT_EQ(error_of({{.name = "n", .pattern = "x", .verdict = static_cast<VerdictKind>(9)}}),
            "make classifier: rule 1 \"n\": unknown verdict 9");
}

TEST(ClassifierErrors, a_wait_must_be_of_a_throttle_and_not_negative) {
  EXPECT_EQ(error_of({{.name = "n", .pattern = "x", .verdict = throttle, .wait = -1s}}),
            "make classifier: rule 1 \"n\": negative wait");
  EXPECT_EQ(error_of({{.name = "n", .pattern = "x", .verdict = give_up, .wait = 1s}}),
            "make classifier: rule 1 \"n\": a wait belongs to the verdict throttle, not give up");
}

TEST(ClassifierErrors, a_range_must_not_end_before_it_begins) {
  EXPECT_EQ(error_of({{.name = "n", .http_status = {{504, 500}}}}),
            "make classifier: rule 1 \"n\": HTTP status range 504-500 ends before it begins");
}

TEST(ClassifierErrors, a_name_used_twice_is_refused) {
  EXPECT_EQ(error_of({{.name = "n", .pattern = "x"}, {.name = "n", .pattern = "y"}}),
            "make classifier: rule 2 \"n\": the name is taken by rule 1");
}

TEST(Explain, names_rule_reason_matched_text_and_place) {
  const Classifier classifier = make({{.name = "eth.funds",
                                       .pattern = "insufficient (funds|balance)",
                                       .verdict = give_up,
                                       .reason = "The account cannot pay."}});
  const Explanation explanation = classifier.explain({"rpc: Insufficient Funds for gas"});
  EXPECT_EQ(explanation.verdict, (Verdict{give_up, {}}));
  EXPECT_EQ(explanation.category, "NON_RETRYABLE");
  EXPECT_EQ(explanation.basis, Basis::pattern);
  EXPECT_EQ(explanation.rule, "eth.funds");
  EXPECT_EQ(explanation.reason, "The account cannot pay.");
  EXPECT_EQ(explanation.matched, "Insufficient Funds");
  EXPECT_EQ(explanation.offset, 5);
  EXPECT_EQ(
      explanation.text(),
      "[NON_RETRYABLE] Pattern match: Insufficient Funds (eth.funds: The account cannot pay.)");
}

TEST(Explain, bounds_the_matched_text) {
  const Classifier classifier = make({{.pattern = "x+", .verdict = give_up}});
  EXPECT_EQ(classifier.explain({std::string(5000, 'x')}).matched.size(), 200);
}

TEST(Explain, names_the_status_where_that_decided) {
  const Classifier classifier =
      make({{.pattern = "y"}, {.name = "http", .http_status = {{400, 499}}, .verdict = give_up}});
  const Explanation explanation =
      classifier.explain({.message = "Bad Request", .http_status = 422});
  EXPECT_EQ(explanation.matched, "422");
  EXPECT_FALSE(explanation.offset);
  EXPECT_EQ(explanation.text(), "[NON_RETRYABLE] HTTP status 422 (http)");
}

TEST(Explain, says_that_no_rule_knows_the_error) {
  const Explanation explanation = Classifier().explain({"?"});
  EXPECT_EQ(explanation.rule, "");
  EXPECT_FALSE(explanation.reason.empty());
  EXPECT_EQ(explanation.text(), "[RETRYABLE] Default classification");
}

TEST(Combine, keeps_the_order_of_the_lists) {
  const std::vector<Rule> combined =
      combine({{{.name = "a", .pattern = "x"}}, {}, {{.name = "b", .pattern = "x"}}});
  ASSERT_EQ(combined.size(), 2);
  EXPECT_EQ(combined[0].name, "a");
  EXPECT_EQ(combined[1].name, "b");
}

}  // namespace
}  // namespace holdfast::classifier_test
