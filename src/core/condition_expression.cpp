#include "core/condition_expression.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/json_text.hpp"

namespace holdfast {
namespace {

constexpr std::size_t kMostShown = 24;  // bytes of the text, in an error
constexpr std::size_t kMostPatternError = 200;
constexpr std::int64_t kMostPatternMemory = 1 << 20;
constexpr std::string_view kSigns = "=!~<>";

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' '))
    text.remove_prefix(1);
  while (text.ends_with(' '))
    text.remove_suffix(1);
  return text;
}

struct Sign {
  std::string_view text;
  Comparison how;
};

// Longer ones first.
constexpr std::array<Sign, 9> kAllSigns = {{{"=~", Comparison::matches},
                                            {"!~", Comparison::unlike},
                                            {"!=", Comparison::differs},
                                            {"<=", Comparison::at_most},
                                            {">=", Comparison::at_least},
                                            {"=", Comparison::equals},
                                            {"~", Comparison::contains},
                                            {"<", Comparison::less},
                                            {">", Comparison::more}}};

const Sign* sign_at(std::string_view text) {
  const auto* const found = std::ranges::find_if(
      kAllSigns, [&](const Sign& sign) { return text.starts_with(sign.text); });
  return found == kAllSigns.end() ? nullptr : found;
}

// The first such character ends a name: names have none of them.
bool has_a_sign(std::string_view text) {
  const std::size_t at = text.find_first_of(kSigns);
  return at != std::string_view::npos && sign_at(text.substr(at));
}

// "and" or "AND", and behind it a space or a parenthesis.
bool begins_with_word(std::string_view text, std::string_view word) {
  if (text.size() <= word.size()) return false;
  const bool is_word = std::ranges::equal(text.substr(0, word.size()), word, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
  return is_word && (text[word.size()] == ' ' || text[word.size()] == '(');
}

// A name and a sign, whatever "not" and parentheses are in front of them.
bool begins_with_condition(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.starts_with('('))
      text.remove_prefix(1);
    else if (begins_with_word(text, "not"))
      text.remove_prefix(3);
    else
      break;
  }
  const std::size_t end = text.find_first_of(" =!~<>()\"");
  if (end == 0 || end == std::string_view::npos) return false;
  text.remove_prefix(end);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return sign_at(text) != nullptr;
}

// The word that joins what is in front of `text` with the condition behind it; empty: none does.
std::string_view joining_word(std::string_view text) {
  for (const std::string_view word : {"and", "or"}) {
    if (begins_with_word(text, word) && begins_with_condition(text.substr(word.size())))
      return word;
  }
  return {};
}

// "a or b c=d" is more likely to be two conditions than a value.
bool seems_to_join(std::string_view value, bool is_cut) {
  for (const std::string_view word : {" or ", " and ", " OR ", " AND ", " || ", " && "}) {
    const std::size_t at = value.find(word);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = value.substr(at + word.size());
    if (is_cut ? rest.find_first_of(kSigns) != std::string_view::npos : has_a_sign(rest))
      return true;
  }
  return false;
}

// "10)", "a(b": parentheses of the filter, more likely than of the value.
bool has_odd_parentheses(std::string_view value) {
  std::size_t open = 0;
  for (const char c : value) {
    if (c == '(') ++open;
    if (c == ')' && open-- == 0) return true;
  }
  return open > 0;
}

bool is_ordered(Comparison how) {
  using enum Comparison;
  return how == less || how == more || how == at_most || how == at_least;
}

// "10 and", "2 or more".
bool has_word(std::string_view value) {
  constexpr auto kWords =
      std::to_array<std::string_view>({" and ", " or ", " not ", " AND ", " OR ", " NOT "});
  const std::string ended = std::string(value) + ' ';
  return std::ranges::any_of(kWords, [&](auto word) { return ended.contains(word); });
}

struct Quoted {
  std::string value;
  std::size_t size = 0;  // with its quotes
};

// The simple escapes: more is not needed to write a text on a command line.
std::optional<Quoted> read_quoted(std::string_view text, bool is_pattern) {
  Quoted found;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') {
      found.size = at + 1;
      return found;
    }
    if (text[at] != '\\') {
      found.value += text[at];
      continue;
    }
    if (++at == text.size()) return std::nullopt;
    const char escaped = text[at];
    if (is_pattern) {
      if (escaped != '"') found.value += '\\';
      found.value += escaped;
      continue;
    }
    switch (escaped) {
      case 'n': found.value += '\n'; break;
      case 't': found.value += '\t'; break;
      case 'r': found.value += '\r'; break;
      case '"':
      case '\\':
      case '/': found.value += escaped; break;
      default: return std::nullopt;
    }
  }
  return std::nullopt;
}

class ConditionParser {
 public:
  using Node = Result<ConditionNode>;

  ConditionParser(std::string_view text, const ConditionCheck& check)
      : text_(text), check_(check) {}

  Node parse() {
    if (text_.size() > kMostExpressionBytes) {
      return fail(ErrorCode::invalid_argument, kOperation,
                  "a filter has at most " + std::to_string(kMostExpressionBytes) +
                      " bytes; this has " + std::to_string(text_.size()));
    }
    auto node = parse_joined(ConditionNode::Kind::any);
    if (!node) return node;
    if (at_ == text_.size()) return node;
    if (rest().starts_with(')'))
      return wrong("no parenthesis is open here; a value that has one stands in quotes");
    return wrong("behind a condition come \"and\", \"or\" or the end");
  }

 private:
  static constexpr const char* kOperation = "read filter";

  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  void skip_spaces() { at_ = std::min(text_.find_first_not_of(' ', at_), text_.size()); }
  [[nodiscard]] std::unexpected<Error> wrong(std::string_view what) const {
    const std::string_view there = rest();
    const std::string shown = there.empty() ? "the end" : quoted(there, kMostShown);
    return fail(ErrorCode::invalid_argument, kOperation,
                "position " + std::to_string(at_ + 1) + ", at " + shown + ": " + std::string(what));
  }

  bool take_word(std::string_view word) {
    skip_spaces();
    if (!begins_with_word(rest(), word)) return false;
    at_ += word.size();
    return true;
  }

  // "or" joins what "and" joins, and that joins what is one.
  Node parse_joined(ConditionNode::Kind kind) {
    const bool is_any = kind == ConditionNode::Kind::any;
    ConditionNode joined{.kind = kind};
    do {
      auto part = is_any ? parse_joined(ConditionNode::Kind::all) : parse_one();
      if (!part) return part;
      joined.parts.push_back(*std::move(part));
    } while (take_word(is_any ? "or" : "and"));
    if (joined.parts.size() > 1) return joined;
    ConditionNode only = std::move(joined.parts.front());
    return only;
  }

  Node parse_one() {
    skip_spaces();
    const bool is_not = begins_with_word(rest(), "not");
    if (!is_not && !rest().starts_with('(')) return parse_condition();
    if (depth_ >= kMostExpressionDepth) {
      return wrong("parentheses and \"not\" are nested at most " +
                   std::to_string(kMostExpressionDepth) + " deep");
    }
    ++depth_;
    auto node = is_not ? parse_opposite() : parse_group();
    --depth_;
    return node;
  }

  Node parse_opposite() {
    take_word("not");
    auto node = parse_one();
    if (!node) return node;
    ConditionNode opposite{.kind = ConditionNode::Kind::none};
    opposite.parts.push_back(*std::move(node));
    return opposite;
  }

  Node parse_group() {
    const std::size_t opened = at_++;
    ++open_;
    auto node = parse_joined(ConditionNode::Kind::any);
    --open_;
    if (!node) return node;
    skip_spaces();
    if (rest().starts_with(')')) {
      ++at_;
      return node;
    }
    if (!rest().empty()) return wrong("behind a condition come \"and\", \"or\" or \")\"");
    return wrong("the parenthesis at position " + std::to_string(opened + 1) + " is not closed");
  }

  Node parse_condition() {
    const std::size_t begin = at_;
    const std::size_t end = text_.find_first_of(kSigns, at_);
    const Sign* const sign = end == std::string_view::npos ? nullptr : sign_at(text_.substr(end));
    if (!sign) return wrong("a condition is NAME=VALUE, or with !=, ~, <, >, <=, >=, =~ or !~");
    ConditionNode node{
        .condition = {.name = std::string(without_spaces(text_.substr(begin, end - begin))),
                      .how = sign->how,
                      .value = {}}};
    if (node.condition.name.empty()) return wrong("there is no name before the sign");
    at_ = end + sign->text.size();
    if (auto read = read_value(node.condition); !read)
      return std::unexpected(std::move(read).error());
    const std::size_t after = std::exchange(at_, begin);
    const std::string fault = check_ ? check_(node.condition) : "";
    if (!fault.empty()) return wrong(fault);
    at_ = after;
    return node;
  }

  Result<void> read_value(Condition& condition) {
    const bool is_pattern =
        condition.how == Comparison::matches || condition.how == Comparison::unlike;
    const std::size_t first = text_.find_first_not_of(' ', at_);
    if (first != std::string_view::npos && text_[first] == '"') {
      at_ = first;
      auto value = read_quoted(rest(), is_pattern);
      if (!value)
        return wrong(R"(a quoted value ends with its quote, and knows \" \\ \n \r and \t)");
      condition.value = std::move(value->value);
      at_ += value->size;
      skip_spaces();
    } else if (auto plain = read_plain(condition); !plain) {
      return plain;
    }
    return is_pattern ? compile(condition, first) : Result<void>();
  }

  // Without quotes.
  Result<void> read_plain(Condition& condition) {
    const std::size_t size = plain_size();
    const std::string_view plain = without_spaces(rest().substr(0, size));
    // "==" would be read as "=" of something else, and choose what nobody meant.
    if (!plain.empty() && kSigns.contains(plain.front()))
      return wrong(
          "the signs are =, !=, ~, <, >, <=, >=, =~ and !~; a value that begins with one stands in "
          "quotes");
    if (seems_to_join(plain, size < rest().size())) {
      return wrong(
          "this may be a value, or more conditions, joined by \"and\" or \"or\", of which one "
          "cannot "
          "be read: a value with such words stands in quotes");
    }
    if (is_ordered(condition.how) && (has_odd_parentheses(plain) || has_word(plain))) {
      return wrong(
          "what is less or more than this has no \"and\", \"or\", \"not\" or half a pair of "
          "parentheses; a text that has them stands in quotes");
    }
    condition.value = plain;
    at_ += size;
    skip_spaces();
    return {};
  }

  // Of a value without quotes, with the spaces around it.
  [[nodiscard]] std::size_t plain_size() const {
    const std::string_view text = rest();
    std::size_t open = 0;  // of the value's own parentheses
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '(') ++open;
      if (text[at] == ')' && open_ > 0 && open-- == 0) return at;
      if (text[at] == ' ' && !joining_word(text.substr(at + 1)).empty()) return at;
    }
    return text.size();
  }

  Result<void> compile(Condition& condition, std::size_t from) {
    const std::size_t after = at_;
    at_ = std::min(from, text_.size());
    if (++patterns_ > kMostExpressionPatterns) {
      return wrong("a filter has at most " + std::to_string(kMostExpressionPatterns) +
                   " regular expressions");
    }
    auto pattern = TextPattern::compile(condition.value, kMostPatternMemory);
    if (!pattern) {
      std::string shown;
      append_visible(shown, std::string_view(pattern.error()).substr(0, kMostPatternError));
      return wrong(shown);
    }
    condition.pattern = *std::move(pattern);
    at_ = after;
    return {};
  }

  const std::string_view text_;
  const ConditionCheck& check_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t open_ = 0;  // parentheses
  std::size_t patterns_ = 0;
};

}  // namespace

Result<ConditionNode> parse_conditions(std::string_view text, const ConditionCheck& check) {
  return ConditionParser(text, check).parse();
}

std::string to_string(const ConditionNode& node) {
  using enum ConditionNode::Kind;
  if (node.kind == condition) return to_string(node.condition);
  const auto part_text = [&](const ConditionNode& part) {
    const bool is_bare =
        part.kind == condition || part.kind == none || (part.kind == all && node.kind == any);
    return is_bare ? to_string(part) : "(" + to_string(part) + ")";
  };
  if (node.kind == none) return "not " + part_text(node.parts.front());
  std::string text;
  for (const ConditionNode& part : node.parts) {
    if (!text.empty()) text += node.kind == all ? " and " : " or ";
    text += part_text(part);
  }
  return text;
}

bool holds(const ConditionNode& node, const std::function<bool(const Condition&)>& meets_one) {
  const auto part_holds = [&](const ConditionNode& part) { return holds(part, meets_one); };
  switch (node.kind) {
    case ConditionNode::Kind::condition: return meets_one(node.condition);
    case ConditionNode::Kind::all: return std::ranges::all_of(node.parts, part_holds);
    case ConditionNode::Kind::any: return std::ranges::any_of(node.parts, part_holds);
    case ConditionNode::Kind::none: return !part_holds(node.parts.front());
  }
  return false;
}

}  // namespace holdfast
