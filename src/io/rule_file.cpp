#include "io/rule_file.hpp"

#include <array>
#include <charconv>
#include <map>
#include <string>

#include <fmt/format.h>

#include "core/classifier_checks.hpp"
#include "core/json_text.hpp"
#include "core/nearest_name.hpp"
#include "core/pattern_set.hpp"
#include "core/units.hpp"
#include "io/os_error_name.hpp"
#include "io/text_file.hpp"
#include "io/toml.hpp"

namespace holdfast {
namespace {

constexpr std::string_view kReadRulesOperation = "read rules";
constexpr std::size_t kMostBytes = 4 << 20;  // some 20,000 rules; /dev/zero has no end

// What went wrong; none: all is well.
using Trouble = std::optional<Error>;

constexpr std::array<std::string_view, 3> kFileKeys = {"use", "use_first", "rule"};
constexpr std::array<std::string_view, 9> kRuleKeys = {
    "name", "pattern", "status", "exit_code", "os_error", "kind", "verdict", "wait", "reason"};
constexpr std::array<std::string_view, 5> kVerdicts = {"retry", "throttle", "give up", "ambiguous",
                                                       "success"};
constexpr std::array<std::string_view, 3> kKinds = {"error", "timeout", "crash"};

class RuleReader {
 public:
  explicit RuleReader(std::string_view file) : file_(file) {}

  Result<std::vector<Rule>> read(const toml::table& document);

  [[nodiscard]] Error error(const toml::source_region& where, std::string_view what) const {
    return {ErrorCode::invalid_argument, std::string(kReadRulesOperation),
            fmt::format("{}:{}:{}: {}", file_, where.begin.line, where.begin.column, what)};
  }

 private:
  Trouble read_presets(const toml::node& value, std::vector<Rule>& rules);
  Trouble read_rules(const toml::node& value);
  Trouble read_rule(const toml::table& table);
  Trouble read_key(std::string_view key, const toml::node& value, Rule& rule) const;
  Trouble check(const toml::table& table, const Rule& rule);

  Trouble read_text(const toml::node& value, std::string& into) const;
  Trouble read_status(const toml::node& value, std::vector<StatusRange>& into) const;
  Trouble read_number(const toml::node& value, std::vector<int>& into) const;
  Trouble read_os_error(const toml::node& value, std::vector<int>& into) const;
  Trouble read_kind(const toml::node& value, std::optional<FailureKind>& into) const;
  Trouble read_verdict(const toml::node& value, VerdictKind& into) const;
  Trouble read_wait(const toml::node& value, std::optional<Duration>& into) const;

  // One value, or a list of them.
  template <class Read>
  Trouble each(const toml::node& value, const Read& read) const {
    const toml::array* list = value.as_array();
    if (list == nullptr) return read(value);
    if (list->empty()) return wrong(value, "the list is empty");
    for (const toml::node& item : *list) {
      if (Trouble trouble = read(item)) return trouble;
    }
    return std::nullopt;
  }

  [[nodiscard]] Error wrong(const toml::node& where, std::string_view what) const {
    return error(where.source(), what);
  }

  std::string file_;
  std::vector<Rule> own_;
  std::map<std::string, toml::source_index> line_of_name_;
};

Result<std::vector<Rule>> RuleReader::read(const toml::table& document) {
  std::vector<Rule> before;
  std::vector<Rule> after;
  for (const auto& [key, value] : document) {
    Trouble trouble;
    if (key == "use") {
      trouble = read_presets(value, after);
    } else if (key == "use_first") {
      trouble = read_presets(value, before);
    } else if (key == "rule") {
      trouble = read_rules(value);
    } else {
      trouble = error(key.source(), fmt::format("unknown key {}{}", quoted(key.str()),
                                                did_you_mean(key.str(), kFileKeys)));
    }
    if (trouble) return std::unexpected(std::move(*trouble));
  }
  return combine({before, own_, after});
}

Trouble RuleReader::read_presets(const toml::node& value, std::vector<Rule>& rules) {
  if (const toml::array* list = value.as_array(); list != nullptr && list->empty()) return {};
  return each(value, [&](const toml::node& item) -> Trouble {
    const auto* name = item.as_string();
    if (name == nullptr) return wrong(item, "the name of a preset is text");
    auto preset = presets::named(name->get());
    if (!preset) return wrong(item, preset.error().message);
    for (const Rule& rule : *preset) {
      const auto [at, fresh] = line_of_name_.emplace(rule.name, item.source().begin.line);
      if (fresh) continue;
      return wrong(item, fmt::format("preset {} brings a rule {}, and line {} has it already",
                                     quoted(name->get()), quoted(rule.name), at->second));
    }
    rules.insert(rules.end(), preset->begin(), preset->end());
    return std::nullopt;
  });
}

Trouble RuleReader::read_rules(const toml::node& value) {
  const toml::array* list = value.as_array();
  if (list == nullptr) return wrong(value, "rules are written as [[rule]], with two brackets");
  for (const toml::node& item : *list) {
    const toml::table* table = item.as_table();
    if (table == nullptr) return wrong(item, "rules are written as [[rule]], with two brackets");
    if (Trouble trouble = read_rule(*table)) return trouble;
  }
  return std::nullopt;
}

Trouble RuleReader::read_rule(const toml::table& table) {
  Rule rule;
  for (const auto& [key, value] : table) {
    if (std::ranges::find(kRuleKeys, key.str()) == kRuleKeys.end()) {
      return error(key.source(), fmt::format("unknown key {}{}", quoted(key.str()),
                                             did_you_mean(key.str(), kRuleKeys)));
    }
    if (Trouble trouble = read_key(key.str(), value, rule)) return trouble;
  }
  if (Trouble trouble = check(table, rule)) return trouble;
  own_.push_back(std::move(rule));
  return std::nullopt;
}

Trouble RuleReader::read_key(std::string_view key, const toml::node& value, Rule& rule) const {
  if (key == "name") return read_text(value, rule.name);
  if (key == "pattern") return read_text(value, rule.pattern);
  if (key == "status") {
    return each(value, [&](const toml::node& item) { return read_status(item, rule.http_status); });
  }
  if (key == "exit_code") {
    return each(value, [&](const toml::node& item) { return read_number(item, rule.exit_codes); });
  }
  if (key == "os_error") {
    return each(value, [&](const toml::node& item) { return read_os_error(item, rule.os_errors); });
  }
  if (key == "kind") return read_kind(value, rule.kind);
  if (key == "verdict") return read_verdict(value, rule.verdict);
  if (key == "wait") return read_wait(value, rule.wait);
  return read_text(value, rule.reason);
}

// What the classifier would refuse later, while the place in the file is known.
Trouble RuleReader::check(const toml::table& table, const Rule& rule) {
  if (!table.contains("verdict")) {
    return wrong(table, "a rule needs a verdict: retry, throttle, give up, ambiguous or success");
  }
  if (const auto refused = check_rule(rule)) return wrong(table, *refused);
  if (!rule.pattern.empty()) {
    if (const auto refused = check_pattern(rule.pattern)) {
      return wrong(*table.get("pattern"),
                   fmt::format("bad pattern at offset {}: {}", refused->offset, refused->message));
    }
  }
  if (rule.name.empty()) return std::nullopt;
  const auto [at, fresh] = line_of_name_.emplace(rule.name, table.source().begin.line);
  if (fresh) return std::nullopt;
  return wrong(*table.get("name"), fmt::format("the name {} is taken by the rule in line {}",
                                               quoted(rule.name), at->second));
}

Trouble RuleReader::read_text(const toml::node& value, std::string& into) const {
  const auto* text = value.as_string();
  if (text == nullptr) return wrong(value, "this must be text, in quotes");
  if (text->get().empty()) return wrong(value, "this must not be empty");
  into = text->get();
  return std::nullopt;
}

// 429, "429", "5xx" or "500-504".
std::optional<StatusRange> parse_status(std::string_view text) {
  if (text.size() == 3 && text[0] >= '1' && text[0] <= '9' && text.substr(1) == "xx") {
    const int hundreds = (text[0] - '0') * 100;
    return StatusRange(hundreds, hundreds + 99);
  }
  const auto code = [](std::string_view digits) -> std::optional<int> {
    int number = 0;
    const char* begin = digits.data();
    const char* end = begin + digits.size();
    const auto [at, error] = std::from_chars(begin, end, number);
    if (error != std::errc() || at != end || number < 100 || number > 999) return std::nullopt;
    return number;
  };
  const std::size_t dash = text.find('-');
  const auto first = code(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : code(text.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  return StatusRange(*first, *last);
}

Trouble RuleReader::read_status(const toml::node& value, std::vector<StatusRange>& into) const {
  std::optional<StatusRange> range;
  if (const auto* text = value.as_string()) range = parse_status(text->get());
  if (const auto* number = value.as_integer()) range = parse_status(std::to_string(number->get()));
  if (!range) return wrong(value, R"(this must be an HTTP status: 429, "5xx" or "500-504")");
  into.push_back(*range);
  return std::nullopt;
}

Trouble RuleReader::read_number(const toml::node& value, std::vector<int>& into) const {
  const auto* number = value.as_integer();
  if (number == nullptr || number->get() < 0 || number->get() > 255) {
    return wrong(value, "this must be an exit code, from 0 to 255");
  }
  into.push_back(static_cast<int>(number->get()));
  return std::nullopt;
}

Trouble RuleReader::read_os_error(const toml::node& value, std::vector<int>& into) const {
  std::optional<int> number;
  if (const auto* text = value.as_string()) number = os_error_number(text->get());
  if (const auto* given = value.as_integer())
    number = os_error_number(std::to_string(given->get()));
  if (!number) return wrong(value, R"(this must be an OS error: "ECONNRESET" or its number)");
  into.push_back(*number);
  return std::nullopt;
}

Trouble RuleReader::read_kind(const toml::node& value, std::optional<FailureKind>& into) const {
  std::string text;
  if (Trouble trouble = read_text(value, text)) return trouble;
  for (const FailureKind kind : {FailureKind::error, FailureKind::timeout, FailureKind::crash}) {
    if (to_string(kind) == text) into = kind;
  }
  if (into) return std::nullopt;
  return wrong(value, fmt::format("unknown kind {}{}", quoted(text), did_you_mean(text, kKinds)));
}

Trouble RuleReader::read_verdict(const toml::node& value, VerdictKind& into) const {
  std::string text;
  if (Trouble trouble = read_text(value, text)) return trouble;
  std::string spaced = text;
  std::ranges::replace_if(spaced, [](char c) { return c == '_' || c == '-'; }, ' ');
  using enum VerdictKind;
  for (const VerdictKind kind : {retry, throttle, give_up, ambiguous, success}) {
    if (to_string(kind) != spaced) continue;
    into = kind;
    return std::nullopt;
  }
  return wrong(value,
               fmt::format("unknown verdict {}{}", quoted(text), did_you_mean(spaced, kVerdicts)));
}

Trouble RuleReader::read_wait(const toml::node& value, std::optional<Duration>& into) const {
  std::string text;
  if (Trouble trouble = read_text(value, text)) return trouble;
  const auto wait = parse_duration(text);
  if (!wait) return wrong(value, wait.error().message);
  into = *wait;
  return std::nullopt;
}

}  // namespace

Result<std::vector<Rule>> parse_rules(std::string_view text, std::string_view name) {
  RuleReader reader(name);
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    return std::unexpected(reader.error(parsed.error().source(), parsed.error().description()));
  }
  return reader.read(parsed.table());
}

Result<std::vector<Rule>> load_rules(const std::string& path) {
  const auto text = io::read_text_file(path, kReadRulesOperation, kMostBytes);
  if (!text) return std::unexpected(text.error());
  return parse_rules(*text, path);
}

}  // namespace holdfast
