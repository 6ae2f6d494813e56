// First rule wins: the one compiled pass against the plainest way to say what it must answer.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <re2/re2.h>

#include <holdfast/classify.hpp>

namespace holdfast::classifier_property_test {
namespace {

bool pattern_holds(const Rule& rule, std::string_view message) {
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_case_sensitive(false);
  return re2::RE2::PartialMatch({message.data(), message.size()}, re2::RE2(rule.pattern, options));
}

bool rule_holds(const Rule& rule, const FailureView& failure) {
  if (!rule.pattern.empty() && !pattern_holds(rule, failure.message)) return false;
  if (!rule.http_status.empty()) {
    bool found = false;
    for (const StatusRange range : rule.http_status) {
      found = found || (failure.http_status && *failure.http_status >= range.first &&
                        *failure.http_status <= range.last);
    }
    if (!found) return false;
  }
  if (!rule.exit_codes.empty() && failure.exit_code != rule.exit_codes.front()) return false;
  return !rule.kind || rule.kind == failure.kind;
}

int first_rule(const std::vector<Rule>& rules, const FailureView& failure) {
  for (int i = 0; i < static_cast<int>(rules.size()); ++i) {
    if (rule_holds(rules[i], failure)) return i;
  }
  return -1;
}

rc::Gen<Rule> any_rule() {
  const auto pattern = rc::gen::elementOf(
      std::vector<std::string>{"", "a", "b", "ab", "a.b", "a*b", "^a", "b$", "(a|b)b", "\\bab\\b",
                               "aa|bb", "[^a]b", "\\x00", "\\xff", "a{2,3}", "A.*B", "(?-i:B)"});
  return rc::gen::map(
      rc::gen::tuple(pattern, rc::gen::inRange(0, 5), rc::gen::inRange(0, 6),
                     rc::gen::elementOf(std::vector{FailureKind::error, FailureKind::timeout}),
                     rc::gen::inRange(0, 5)),
      [](const auto& drawn) {
        const auto& [text, statuses, exit_code, kind, verdict] = drawn;
        Rule rule{.pattern = text, .verdict = static_cast<VerdictKind>(verdict)};
        if (statuses == 1) rule.http_status = {500, 404};
        if (statuses == 2) rule.http_status = {{400, 499}};
        if (exit_code == 1) rule.exit_codes = {75};
        const bool bare =
            rule.pattern.empty() && rule.http_status.empty() && rule.exit_codes.empty();
        if (bare || exit_code == 2) rule.kind = kind;
        return rule;
      });
}

template <class T>
rc::Gen<std::optional<T>> any_of(std::vector<std::optional<T>> values) {
  return rc::gen::elementOf(std::move(values));
}

// C5.2: one compiled pass gives the answer of trying one by one. bench/ measures what it costs.
RC_GTEST_PROP(ClassifierProperty, the_first_rule_wins_as_if_they_were_tried_one_by_one, ()) {
  const auto rules = *rc::gen::container<std::vector<Rule>>(any_rule());
  const auto made = Classifier::make(rules);
  RC_ASSERT(made.has_value());
  for (int i = 0; i < 10; ++i) {
    const auto message =
        *rc::gen::container<std::string>(rc::gen::elementOf(std::string("aabbAB \n\xff\0", 10)));
    const FailureView failure{
        .message = message,
        .kind = *rc::gen::element(FailureKind::error, FailureKind::timeout, FailureKind::crash),
        .http_status = *any_of<int>({std::nullopt, 404, 499, 500}),
        .exit_code = *any_of<int>({std::nullopt, 1, 75}),
    };
    const Classification got = made->classify(failure);
    const int expected = first_rule(rules, failure);
    RC_ASSERT(got.rule == expected);
    RC_ASSERT(got.verdict.kind == (expected < 0 ? VerdictKind::retry : rules[expected].verdict));
    RC_ASSERT((got.basis == Basis::fallback) == (expected < 0));
  }
}

RC_GTEST_PROP(ClassifierProperty, what_explain_calls_matched_is_in_the_message, ()) {
  const auto rules = *rc::gen::container<std::vector<Rule>>(any_rule());
  const auto made = Classifier::make(rules);
  RC_ASSERT(made.has_value());
  const auto message =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("aabbAB \n\xff\0", 10)));
  const Explanation explanation = made->explain({message});
  RC_ASSERT(explanation.verdict == (*made)({message}));
  RC_ASSERT(explanation.offset.has_value() == (explanation.basis == Basis::pattern));
  if (!explanation.offset) return;
  RC_ASSERT(message.substr(*explanation.offset, explanation.matched.size()) == explanation.matched);
}

}  // namespace
}  // namespace holdfast::classifier_property_test
