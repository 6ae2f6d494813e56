// Rules and a text from the input: lines up to the first empty one are patterns, the rest is the
// text. Whatever they are, the classifier must answer as if the rules were tried one by one.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>

#include <holdfast/classify.hpp>

namespace {

using holdfast::Classifier;
using holdfast::Explanation;
using holdfast::Rule;

constexpr std::size_t kMostRules = 16;
constexpr std::size_t kLongestPattern = 100;

std::vector<Rule> take_rules(std::string_view& input) {
  std::vector<Rule> rules;
  while (rules.size() < kMostRules && !input.empty()) {
    const std::size_t end = input.find('\n');
    const std::string_view line = input.substr(0, end);
    input.remove_prefix(end == std::string_view::npos ? input.size() : end + 1);
    if (line.empty()) break;
    rules.push_back({.pattern = std::string(line.substr(0, kLongestPattern)),
                     .verdict = static_cast<holdfast::VerdictKind>(rules.size() % 5)});
  }
  return rules;
}

bool found_alone(const std::string& pattern, std::string_view text) {
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_case_sensitive(false);
  options.set_log_errors(false);
  const re2::RE2 alone(pattern, options);
  return alone.ok() && re2::RE2::PartialMatch({text.data(), text.size()}, alone);
}

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<Rule> rules = take_rules(text);
  const auto classifier = Classifier::make(rules);
  if (!classifier) {
    require(!classifier.error().message.empty());
    return 0;
  }
  int expected = -1;
  for (std::size_t i = 0; i < rules.size() && expected < 0; ++i) {
    if (found_alone(rules[i].pattern, text)) expected = static_cast<int>(i);
  }
  require(classifier->classify({text}).rule == expected);

  const Explanation explanation = classifier->explain({text});
  require(explanation.offset.has_value() == (expected >= 0));
  if (explanation.offset) {
    require(text.substr(*explanation.offset).starts_with(explanation.matched));
  }
  return 0;
}
