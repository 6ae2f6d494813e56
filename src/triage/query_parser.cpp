#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/nearest_name.hpp"
#include "core/time_text.hpp"
#include "core/units.hpp"
#include "triage/query.hpp"
#include "wire/json_path.hpp"

namespace holdfast::triage {
namespace {

using Field = Term::Field;
using Compare = Term::Compare;

constexpr std::string_view kPayload = "payload.";
constexpr std::size_t kMostBytes = 4096;
constexpr std::size_t kMostTerms = 50;

struct Name {
  std::string_view text;
  Field field;
};
constexpr auto kNames = std::to_array<Name>({
    {"state", Field::state},
    {"queue", Field::queue},
    {"type", Field::type},
    {"group", Field::group},
    {"id", Field::id},
    {"reason", Field::reason},
    {"attempts", Field::attempts},
    {"crashes", Field::crashes},
    {"replays", Field::replays},
    {"since", Field::since},
    {"until", Field::until},
    {"created", Field::created},
    {"error", Field::error},
});

std::string known_names() {
  std::string all;
  for (const Name& name : kNames)
    all += std::string(name.text) + ", ";
  return all + "payload.FIELD";
}

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '$' || c == '@' || static_cast<unsigned char>(c) >= 0x80;
}

// Reads one query from the left to the right. What cannot be read ends it, with the first error.
class Parser {
 public:
  Parser(std::string_view text, WallTime now) : text_(text), now_(now) {}

  Result<std::vector<Term>> terms() {
    if (text_.size() > kMostBytes) {
      return fail(ErrorCode::invalid_argument, "query",
                  fmt::format("{} bytes, of at most {}", text_.size(), kMostBytes));
    }
    std::vector<Term> terms;
    while (skip_spaces()) {
      if (terms.size() == kMostTerms) {
        return refuse(at_, fmt::format("more than {} terms", kMostTerms));
      }
      Term term;
      if (auto read = read_term(term); !read) return std::unexpected(std::move(read).error());
      terms.push_back(std::move(term));
    }
    return terms;
  }

 private:
  [[nodiscard]] std::unexpected<Error> refuse(std::size_t at, std::string why) const {
    return fail(
        ErrorCode::invalid_argument, "query",
        fmt::format("{} at character {} of {}", std::move(why), at + 1, quoted(text_, 200)));
  }

  bool skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
    return at_ < text_.size();
  }

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  std::optional<Compare> read_compare() {
    const char first = peek();
    const bool with_equal = peek(1) == '=';
    const auto take = [&](std::size_t bytes, Compare compare) {
      at_ += bytes;
      return compare;
    };
    if (first == ':' || first == '=') return take(1, Compare::equal);
    if (first == '!' && with_equal) return take(2, Compare::unequal);
    if (first == '>') return with_equal ? take(2, Compare::at_least) : take(1, Compare::more);
    if (first == '<') return with_equal ? take(2, Compare::at_most) : take(1, Compare::less);
    return std::nullopt;
  }

  Result<void> read_term(Term& term) {
    const std::size_t began = at_;
    if (peek() == '-' && at_ + 1 < text_.size() && peek(1) != ' ') {
      term.negated = true;
      ++at_;
    }
    const std::size_t name_at = at_;
    while (at_ < text_.size() && is_name_byte(peek()))
      ++at_;
    const std::string_view name = text_.substr(name_at, at_ - name_at);
    const auto compare = name.empty() ? std::nullopt : read_compare();
    if (!compare) {  // a word
      at_ = name_at;
      return read_values(term, false);
    }
    term.compare = *compare;
    if (auto named = set_field(term, name, name_at); !named) return named;
    if (auto read = read_values(term, true); !read) return read;
    return understand(term, began);
  }

  Result<void> set_field(Term& term, std::string_view name, std::size_t at) const {
    if (name.starts_with(kPayload)) {
      term.field = Field::payload;
      term.path = wire::path_of(name.substr(kPayload.size()));
      if (std::ranges::find(term.path, "") != term.path.end()) {
        return refuse(at, quoted(name) + " has an empty step");
      }
      return {};
    }
    const auto found = std::ranges::find(kNames, name, &Name::text);
    if (found == kNames.end()) {
      std::array<std::string_view, kNames.size()> names;
      std::ranges::transform(kNames, names.begin(), &Name::text);
      return refuse(at, fmt::format("there is nothing called {}{} (known are {}; a text with a "
                                    "colon goes in quotes)",
                                    quoted(name), did_you_mean_only(name, names), known_names()));
    }
    term.field = found->field;
    return {};
  }

  static std::string did_you_mean_only(std::string_view name,
                                       std::span<const std::string_view> names) {
    const std::string hint = did_you_mean(name, names);
    return hint.starts_with("; did you mean") ? hint : std::string();
  }

  // One value, or several with commas between them.
  Result<void> read_values(Term& term, bool named) {
    while (true) {
      auto value = read_value(named);
      if (!value) return std::unexpected(std::move(value).error());
      term.values.push_back(*std::move(value));
      if (!named || peek() != ',') return {};
      ++at_;
    }
  }

  Result<std::string> read_value(bool named) {
    const std::size_t began = at_;
    if (peek() == '"') return read_quoted();
    while (at_ < text_.size() && peek() != ' ' && peek() != '\t' && peek() != '\n' &&
           !(named && peek() == ','))
      ++at_;
    if (at_ == began) return refuse(began, "a value is missing");
    return std::string(text_.substr(began, at_ - began));
  }

  Result<std::string> read_quoted() {
    const std::size_t began = at_++;
    std::string value;
    while (at_ < text_.size() && peek() != '"') {
      if (peek() == '\\' && (peek(1) == '"' || peek(1) == '\\')) ++at_;
      value += text_[at_++];
    }
    if (at_ == text_.size()) return refuse(began, "a quote is not closed");
    ++at_;
    return value;
  }

  // What the values of a term mean, by its field.
  Result<void> understand(Term& term, std::size_t began) const {
    switch (term.field) {
      case Field::state: return each(term, began, [&](const auto& v) { return state(term, v); });
      case Field::reason: return each(term, began, [&](const auto& v) { return reason(term, v); });
      case Field::group: return each(term, began, [&](const auto& v) { return group(term, v); });
      case Field::id: return each(term, began, [&](const auto& v) { return id(term, v); });
      case Field::attempts:
      case Field::crashes:
      case Field::replays: return number(term, began);
      case Field::since:
      case Field::until:
      case Field::created: return time(term, began);
      case Field::queue:
      case Field::type:
      case Field::error: return only_equal(term, began);
      case Field::payload:
      case Field::word: return {};
    }
    return {};
  }

  // "!=" is "-" with ":", for those who think so.
  Result<void> only_equal(Term& term, std::size_t began) const {
    if (term.compare == Compare::unequal) term.negated = !term.negated;
    if (term.compare == Compare::equal || term.compare == Compare::unequal) {
      term.compare = Compare::equal;
      return {};
    }
    return refuse(began, "this can only be compared with \":\" or \"!=\"");
  }

  // `take` says what is wrong with a value, if anything is.
  template <class Take>
  Result<void> each(Term& term, std::size_t began, Take take) const {
    if (auto plain = only_equal(term, began); !plain) return plain;
    for (const std::string& value : term.values) {
      if (std::string wrong = take(value); !wrong.empty()) return refuse(began, std::move(wrong));
    }
    return {};
  }

  static std::string state(Term& term, const std::string& value) {
    for (int i = 0; i <= static_cast<int>(TaskState::canceled); ++i) {
      if (to_string(static_cast<TaskState>(i)) == value) {
        term.states.push_back(static_cast<TaskState>(i));
        return {};
      }
    }
    return quoted(value) +
           " is no state (pending, running, retrying, succeeded, failed, dead, canceled)";
  }

  static std::string reason(Term& term, std::string value) {
    std::ranges::replace(value, '_', ' ');
    for (int i = 0; i <= static_cast<int>(DeadReason::replays); ++i) {
      if (to_string(static_cast<DeadReason>(i)) == value) {
        term.reasons.push_back(static_cast<DeadReason>(i));
        return {};
      }
    }
    return quoted(value) +
           " is no reason (\"out of attempts\", crashes, ambiguous, deadline, \"throttled too "
           "long\", replays)";
  }

  static std::string group(Term& term, const std::string& value) {
    const auto parsed = Fingerprint::parse(value);
    if (!parsed) return quoted(value) + " is no name of a group: 16 hexadecimal digits";
    term.groups.push_back(*parsed);
    return {};
  }

  static std::string id(Term& term, const std::string& value) {
    const auto parsed = TaskId::parse(value);
    if (!parsed) return quoted(value) + " is no id of a task";
    term.ids.push_back(*parsed);
    return {};
  }

  Result<void> one_value(const Term& term, std::size_t began) const {
    if (term.values.size() == 1) return {};
    return refuse(began, "only one value can be compared with");
  }

  Result<void> number(Term& term, std::size_t began) const {
    if (auto one = one_value(term, began); !one) return one;
    const std::string& value = term.values.front();
    const char* const end = value.data() + value.size();
    const auto [read_to, error] = std::from_chars(value.data(), end, term.number);
    if (error == std::errc() && read_to == end) return {};
    return refuse(began, quoted(value) + " is no number");
  }

  // A time, or how long ago.
  Result<void> time(Term& term, std::size_t began) const {
    if (auto one = one_value(term, began); !one) return one;
    const std::string& value = term.values.front();
    if (auto ago = parse_duration(value)) {
      term.time = saturating_add(now_, -*ago);
    } else if (auto at = parse_rfc3339(value)) {
      term.time = *at;
    } else {
      return refuse(
          began,
          quoted(value) + " is neither a time (2026-11-17T03:00:00Z) nor how long ago (1h30m)");
    }
    const bool is_created = term.field == Field::created;
    if (!is_created) return only_equal(term, began);
    if (term.compare == Compare::equal || term.compare == Compare::unequal) {
      return refuse(began, "created is compared with >=, >, < or <=");
    }
    return {};
  }

  const std::string_view text_;
  const WallTime now_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Query> Query::parse(std::string_view text, WallTime now) {
  auto terms = Parser(text, now).terms();
  if (!terms) return std::unexpected(std::move(terms).error());
  Query query;
  query.text_ = std::string(text);
  query.terms_ = *std::move(terms);
  return query;
}

}  // namespace holdfast::triage
