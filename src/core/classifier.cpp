#include <limits>
#include <mutex>

#include <fmt/format.h>

#include <holdfast/classify.hpp>

#include "core/classifier_checks.hpp"
#include "core/pattern_set.hpp"
#include "core/utf8.hpp"

namespace holdfast {
namespace {

constexpr std::size_t kPartBytes = 32 << 10;
constexpr std::size_t kMatchedBytes = 200;
constexpr std::size_t kLoggedBytes = 500;

// The parts of a message that are looked at.
struct Parts {
  std::string_view head;
  std::string_view tail;  // empty: the head is all of it
};

Parts parts_of(std::string_view message) {
  if (message.size() <= 2 * kPartBytes) return {message, {}};
  return {message.substr(0, kPartBytes), message.substr(message.size() - kPartBytes)};
}

bool any(const std::vector<int>& values, std::optional<int> value) {
  return value && std::find(values.begin(), values.end(), *value) != values.end();
}

bool any(const std::vector<StatusRange>& ranges, std::optional<int> status) {
  return status && std::any_of(ranges.begin(), ranges.end(),
                               [&](StatusRange range) { return range.contains(*status); });
}

// Whether every condition but the pattern holds.
bool holds(const Rule& rule, const FailureView& failure) {
  return (rule.http_status.empty() || any(rule.http_status, failure.http_status)) &&
         (rule.exit_codes.empty() || any(rule.exit_codes, failure.exit_code)) &&
         (rule.os_errors.empty() || any(rule.os_errors, failure.os_error)) &&
         (!rule.kind || *rule.kind == failure.kind);
}

Basis basis_of(const Rule& rule) {
  if (!rule.pattern.empty()) return Basis::pattern;
  if (!rule.http_status.empty()) return Basis::http_status;
  if (!rule.exit_codes.empty()) return Basis::exit_code;
  if (!rule.os_errors.empty()) return Basis::os_error;
  return Basis::kind;
}

// A Retry-After of zero asks for nothing; taken as a throttle it would be a retry without a wait
// that is never counted.
Verdict honour_retry_after(Verdict verdict, const FailureView& failure) {
  if (!failure.retry_after || *failure.retry_after <= Duration::zero()) return verdict;
  if (verdict.kind == VerdictKind::retry) verdict.kind = VerdictKind::throttle;
  if (verdict.kind == VerdictKind::throttle) verdict.wait = failure.retry_after;
  return verdict;
}

// "400" of an HTTP status, "timeout" of a kind. Empty for what rests on the message or on nothing.
std::string value_of(Basis basis, const FailureView& failure) {
  switch (basis) {
    case Basis::http_status: return std::to_string(failure.http_status.value_or(0));
    case Basis::exit_code: return std::to_string(failure.exit_code.value_or(0));
    case Basis::os_error: return std::to_string(failure.os_error.value_or(0));
    case Basis::kind: return std::string(to_string(failure.kind));
    case Basis::pattern:
    case Basis::fallback: break;
  }
  return {};
}

// The phrases that operators search their logs for (C1.1–C1.8).
std::string phrase(VerdictKind verdict, Basis basis, std::string_view value) {
  std::string text = fmt::format("[{}] ", category(verdict));
  if (basis == Basis::pattern) return text + "Pattern match";
  if (basis == Basis::fallback) return text + "Default classification";
  std::string named(to_string(basis));
  named[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(named[0])));
  return fmt::format("{}{} {}", text, named, value);
}

}  // namespace

struct Classifier::Compiled {
  std::vector<Rule> rules;
  std::vector<int> rule_of_pattern;  // ascending
  // Rules without a pattern, each under its basis, ascending. What a failure does not carry need
  // not be looked at.
  std::vector<int> by_basis[static_cast<int>(Basis::fallback)];

  // The first rule that matches, or rules.size().
  [[nodiscard]] int first_match(const FailureView& failure) const {
    int first = static_cast<int>(rules.size());
    if (failure.http_status) first = first_of(Basis::http_status, failure, first);
    if (failure.exit_code) first = first_of(Basis::exit_code, failure, first);
    if (failure.os_error) first = first_of(Basis::os_error, failure, first);
    first = first_of(Basis::kind, failure, first);
    return first_by_pattern(failure, first);
  }

  // By the same numbers as rule_of_pattern. Made for the first failure that comes down to its
  // message: the presets alone take more than 1 MB, for each classifier that has them.
  const PatternSet& patterns() const {
    std::call_once(has_patterns_, [this] {
      for (const int rule : rule_of_pattern)
        static_cast<void>(patterns_.add(rules[rule].pattern));  // make() has checked it
      patterns_.compile();
    });
    return patterns_;
  }

 private:
  int first_of(Basis basis, const FailureView& failure, int before) const {
    for (const int rule : by_basis[static_cast<int>(basis)]) {
      if (rule >= before) break;
      if (holds(rules[rule], failure)) return rule;
    }
    return before;
  }

  int first_by_pattern(const FailureView& failure, int before) const {
    if (rule_of_pattern.empty() || rule_of_pattern.front() >= before) return before;
    thread_local std::vector<int> hits;
    hits.clear();
    const Parts parts = parts_of(failure.message);
    patterns().match(parts.head, hits);
    if (!parts.tail.empty()) patterns().match(parts.tail, hits);
    for (const int hit : hits) {
      const int rule = rule_of_pattern[hit];
      if (rule < before && holds(rules[rule], failure)) before = rule;
    }
    return before;
  }

  mutable std::once_flag has_patterns_;
  mutable PatternSet patterns_;
};

Classifier::Classifier() : Classifier(std::make_shared<const Compiled>()) {}

Classifier::Classifier(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

Result<Classifier> Classifier::make(std::vector<Rule> rules) {
  if (auto error = name_rules(rules)) return std::unexpected(std::move(*error));
  auto compiled = std::make_shared<Compiled>();
  for (int i = 0; i < static_cast<int>(rules.size()); ++i) {
    const Rule& rule = rules[i];
    if (const auto wrong = check_rule(rule)) return std::unexpected(rule_error(rule, i, *wrong));
    if (rule.pattern.empty()) {
      compiled->by_basis[static_cast<int>(basis_of(rule))].push_back(i);
      continue;
    }
    if (const auto wrong = check_pattern(rule.pattern)) {
      return std::unexpected(rule_error(
          rule, i, fmt::format("bad pattern at offset {}: {}", wrong->offset, wrong->message)));
    }
    compiled->rule_of_pattern.push_back(i);
  }
  compiled->rules = std::move(rules);
  return Classifier(std::move(compiled));
}

std::span<const Rule> Classifier::rules() const noexcept {
  return compiled_->rules;
}

Classification Classifier::classify(const FailureView& failure) const {
  const int first = compiled_->first_match(failure);
  if (first == static_cast<int>(compiled_->rules.size())) {
    return {honour_retry_after({}, failure), -1, Basis::fallback};
  }
  const Rule& rule = compiled_->rules[first];
  return {honour_retry_after({rule.verdict, rule.wait}, failure), first, basis_of(rule)};
}

Classification Classifier::classify(const FailureView& failure, const Logger& log) const {
  const Classification result = classify(failure);
  const VerdictKind verdict = result.verdict.kind;
  const bool refused = verdict == VerdictKind::give_up || verdict == VerdictKind::ambiguous;
  const Level level = refused ? Level::warning : Level::info;
  if (!log.enabled(level)) return result;

  std::vector<Field> fields{{"category", category(verdict)},
                            {"verdict", to_string(verdict)},
                            {"error", utf8_prefix(failure.message, kLoggedBytes)}};
  if (result.rule >= 0) fields.emplace_back("rule", compiled_->rules[result.rule].name);
  if (result.verdict.wait) fields.emplace_back("wait", *result.verdict.wait);
  log.log(level, "classify", phrase(verdict, result.basis, value_of(result.basis, failure)),
          fields);
  return result;
}

Explanation Classifier::explain(const FailureView& failure) const {
  const Classification result = classify(failure);
  Explanation explanation{result.verdict,
                          result.basis,
                          holdfast::category(result.verdict.kind),
                          {},
                          "Unknown errors are retried.",
                          value_of(result.basis, failure),
                          {}};
  if (result.rule < 0) return explanation;

  const Rule& rule = compiled_->rules[result.rule];
  explanation.rule = rule.name;
  explanation.reason = rule.reason;
  if (result.basis != Basis::pattern) return explanation;

  const auto& places = compiled_->rule_of_pattern;
  const int pattern = static_cast<int>(std::lower_bound(places.begin(), places.end(), result.rule) -
                                       places.begin());
  const Parts parts = parts_of(failure.message);
  std::string_view part = parts.head;
  auto span = compiled_->patterns().find(pattern, part);
  if (!span) {
    part = parts.tail;
    span = compiled_->patterns().find(pattern, part);
  }
  if (!span) return explanation;
  explanation.matched = part.substr(span->offset, std::min(span->size, kMatchedBytes));
  explanation.offset = span->offset + static_cast<std::size_t>(part.data() - parts.head.data());
  return explanation;
}

std::string Explanation::text() const {
  std::string text = phrase(verdict.kind, basis, matched);
  if (basis == Basis::pattern) text += ": " + matched;
  if (rule.empty()) return text;
  return fmt::format("{} ({}{}{})", text, rule, reason.empty() ? "" : ": ", reason);
}

std::vector<Rule> combine(std::initializer_list<std::vector<Rule>> lists) {
  std::vector<Rule> combined;
  for (const auto& list : lists)
    combined.insert(combined.end(), list.begin(), list.end());
  return combined;
}

std::string_view to_string(Basis basis) noexcept {
  switch (basis) {
    case Basis::pattern: return "pattern";
    case Basis::http_status: return "HTTP status";
    case Basis::exit_code: return "exit code";
    case Basis::os_error: return "OS error";
    case Basis::kind: return "kind";
    case Basis::fallback: return "fallback";
  }
  return "fallback";
}

std::string_view category(VerdictKind verdict) noexcept {
  switch (verdict) {
    case VerdictKind::retry:
    case VerdictKind::throttle: return "RETRYABLE";
    case VerdictKind::give_up: return "NON_RETRYABLE";
    case VerdictKind::ambiguous: return "AMBIGUOUS";
    case VerdictKind::success: return "SUCCESS";
  }
  return "RETRYABLE";
}

}  // namespace holdfast
