#include "core/classifier_checks.hpp"

#include <unordered_map>

#include <fmt/format.h>

namespace holdfast {
namespace {

bool is_verdict(VerdictKind verdict) {
  switch (verdict) {
    case VerdictKind::retry:
    case VerdictKind::throttle:
    case VerdictKind::give_up:
    case VerdictKind::ambiguous:
    case VerdictKind::success: return true;
  }
  return false;
}

bool has_condition(const Rule& rule) {
  return !rule.pattern.empty() || !rule.http_status.empty() || !rule.exit_codes.empty() ||
         !rule.os_errors.empty() || rule.kind;
}

}  // namespace

Error rule_error(const Rule& rule, int index, std::string_view what) {
  return {ErrorCode::invalid_argument, "make classifier",
          fmt::format("rule {} \"{}\": {}", index + 1, rule.name, what)};
}

std::optional<std::string> check_rule(const Rule& rule) {
  if (!has_condition(rule)) {
    return "no condition: give a pattern, an HTTP status, an exit code, an OS error or a kind";
  }
  if (!is_verdict(rule.verdict)) {
    return fmt::format("unknown verdict {}", static_cast<int>(rule.verdict));
  }
  if (rule.wait && rule.verdict != VerdictKind::throttle) {
    return fmt::format("a wait belongs to the verdict throttle, not {}", to_string(rule.verdict));
  }
  if (rule.wait && *rule.wait < Duration::zero()) return "negative wait";
  for (const StatusRange range : rule.http_status) {
    if (range.first > range.last) {
      return fmt::format("HTTP status range {}-{} ends before it begins", range.first, range.last);
    }
  }
  return std::nullopt;
}

std::optional<Error> name_rules(std::vector<Rule>& rules) {
  std::unordered_map<std::string_view, std::size_t> taken;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].name.empty()) rules[i].name = fmt::format("rule {}", i + 1);
    if (const auto [at, fresh] = taken.emplace(rules[i].name, i); !fresh) {
      return rule_error(rules[i], static_cast<int>(i),
                        fmt::format("the name is taken by rule {}", at->second + 1));
    }
  }
  return std::nullopt;
}

}  // namespace holdfast
