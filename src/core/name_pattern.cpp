#include "core/name_pattern.hpp"

#include <re2/re2.h>

namespace holdfast {

NamePattern::NamePattern(std::string_view pattern) {
  std::string expression;
  std::string part;
  const auto end_part = [&] {
    expression += RE2::QuoteMeta(part);
    if (!has_wildcards_) prefix_ = part;
    if (part.size() > longest_part_.size()) longest_part_ = part;
    part.clear();
  };
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c == '*' || c == '?') {
      end_part();
      has_wildcards_ = true;
      expression += c == '*' ? ".*" : ".";
    } else {
      const bool is_escape = c == '\\' && at + 1 < pattern.size();
      part += is_escape ? pattern[++at] : c;
    }
  }
  end_part();
  RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(true);
  compiled_ = std::make_shared<const RE2>(expression, options);
}

bool NamePattern::matches(std::string_view name) const {
  return RE2::FullMatch(name, *compiled_);
}

std::string escaped_name(std::string_view name) {
  std::string pattern;
  for (const char c : name) {
    if (c == '*' || c == '?' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

}  // namespace holdfast
