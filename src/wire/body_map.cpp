#include "wire/body_map.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/nearest_name.hpp"
#include "core/utf8.hpp"
#include "wire/fields.hpp"
#include "wire/json_syntax.hpp"
#include "wire/submission_json.hpp"

namespace holdfast::wire {
namespace {

constexpr std::size_t kMostParts = 50;  // of what is wrong with one body

std::string_view kind_name(BodyType type) {
  switch (type) {
    case BodyType::string: return "a text";
    case BodyType::integer: return "a whole number";
    case BodyType::number: return "a number";
    case BodyType::boolean: return "true or false";
    case BodyType::object: return "an object";
    case BodyType::array: return "an array";
  }
  return "";
}

std::string text_of(const JsonValue& string) {
  return unescaped(string.text.substr(1, string.text.size() - 2));
}

// What does not fit is as far away as can be.
double number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc::result_out_of_range) return value;
  const bool is_small = text.find("e-") != text.npos || text.find("E-") != text.npos;
  const double far = is_small ? 0.0 : std::numeric_limits<double>::infinity();
  return text.starts_with('-') ? -far : far;
}

// 5, and 5.0 as JSON Schema has it; and numbers that no double holds, if they are written out.
bool is_whole(std::string_view text) {
  if (text.find_first_of(".eE") == text.npos) return true;
  const double value = number_of(text);
  return std::isfinite(value) && std::floor(value) == value;
}

bool has_type(const JsonValue& value, BodyType type) {
  switch (type) {
    case BodyType::string: return value.kind == JsonKind::string;
    case BodyType::integer: return value.kind == JsonKind::number && is_whole(value.text);
    case BodyType::number: return value.kind == JsonKind::number;
    case BodyType::boolean: return value.kind == JsonKind::boolean;
    case BodyType::object: return value.kind == JsonKind::object;
    case BodyType::array: return value.kind == JsonKind::array;
  }
  return false;
}

// In characters: the text is UTF-8.
std::uint64_t length_of(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

// Of values that are neither objects nor arrays.
bool is_same(const JsonValue& one, const JsonValue& other) {
  if (one.kind != other.kind) return false;
  if (one.text == other.text) return true;
  if (one.kind == JsonKind::string) return text_of(one) == text_of(other);
  if (one.kind != JsonKind::number) return false;
  constexpr double kExact = 9007199254740992;  // beyond it, two numbers may be one double
  const double value = number_of(one.text);
  return std::abs(value) < kExact && value == number_of(other.text);
}

JsonValue value_of(std::string_view json) {
  return JsonCursor(json).take();
}

std::string written(double value) {
  std::string out;
  JsonWriter(out).number(value);
  return out;
}

std::string words_of(std::span<const std::string> values) {
  std::string words;
  for (const std::string& value : values)
    words += (words.empty() ? "" : ", ") + value;
  return words;
}

}  // namespace

void BodyMap::check(const Rule& rule, const JsonValue& value, std::vector<std::string>& wrong) {
  const BodyField& field = rule.field;
  if (!has_type(value, field.type)) {
    wrong.push_back(wrong_kind(kind_name(field.type), value).error().what);
    return;
  }
  if (!field.one_of.empty() && std::ranges::none_of(field.one_of, [&](const std::string& allowed) {
        return is_same(value, value_of(allowed));
      })) {
    wrong.push_back("it must be one of " + words_of(field.one_of));
  }
  if (field.type == BodyType::string) check_string(rule, value, wrong);
  if (field.type == BodyType::integer || field.type == BodyType::number)
    check_number(rule, value, wrong);
}

void BodyMap::check_string(const Rule& rule, const JsonValue& value,
                           std::vector<std::string>& wrong) {
  const BodyField& field = rule.field;
  const std::string text = text_of(value);
  const std::uint64_t length = length_of(text);
  if (field.min_length && length < *field.min_length) {
    wrong.push_back(fmt::format("it has {} characters, of at least {}", length, *field.min_length));
  }
  if (field.max_length && length > *field.max_length) {
    wrong.push_back(fmt::format("it has {} characters, of at most {}", length, *field.max_length));
  }
  if (rule.pattern && !rule.pattern->is_found_in(text)) {
    wrong.push_back(fmt::format("{} does not match {}", quoted(text, 60), field.pattern));
  }
}

void BodyMap::check_number(const Rule& rule, const JsonValue& value,
                           std::vector<std::string>& wrong) {
  const BodyField& field = rule.field;
  const double number = number_of(value.text);
  if (field.minimum && number < *field.minimum)
    wrong.push_back(fmt::format("it must be at least {}", written(*field.minimum)));
  if (field.maximum && number > *field.maximum)
    wrong.push_back(fmt::format("it must be at most {}", written(*field.maximum)));
}

Result<BodyMap> BodyMap::make(std::vector<BodyField> fields, UnknownFields unknown) {
  const auto troubles = troubles_of(fields);
  if (!troubles.empty()) {
    const FieldTrouble& first = troubles.front();
    return fail(ErrorCode::invalid_argument, "describe body",
                fmt::format("{}{}{}: {}", fields[first.field].name, first.key.empty() ? "" : ".",
                            first.key, first.what));
  }
  BodyMap made;
  made.unknown_ = unknown;
  for (BodyField& field : fields) {
    Rule rule;
    if (!field.pattern.empty()) rule.pattern = TextPattern::compile(field.pattern).value();
    const Target target = target_of(field);
    rule.is_of_task = target.is_of_task;
    rule.target = target.name;
    rule.field = std::move(field);
    made.rules_.push_back(std::move(rule));
  }
  return made;
}

// One body on its way: what each field was given, and what is wrong.
class BodyMap::Reading {
 public:
  explicit Reading(const BodyMap& map)
      : map_(map), seen_(map.rules_.size()), bad_(map.rules_.size()), given_(map.rules_.size()) {}

  void take_members(JsonCursor& cursor) {
    cursor.enter();
    while (const auto key = cursor.next_key()) {
      std::string name = unescaped(*key);
      take(std::move(name), cursor.take());
    }
  }

  void take_missing() {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      const BodyField& field = map_.rules_[i].field;
      if (given_[i]) continue;
      if (field.required) note(field.name, "is missing");
      if (!field.fallback.empty()) given_[i] = value_of(field.fallback);
    }
  }

  std::expected<Submission, std::vector<Problem::Part>> outcome() && {
    Submission submission{.queue = ""};
    JsonWriter writer(submission.payload);
    writer.begin_object();
    for (std::size_t i = 0; i < given_.size(); ++i) {
      const Rule& rule = map_.rules_[i];
      if (!given_[i]) continue;
      if (!rule.is_of_task) {
        writer.key(rule.target).raw(given_[i]->text);
      } else if (!bad_[i]) {
        const auto set = set_field(submission, rule.target, *given_[i]);
        if (!set) note(rule.field.name, set.error());
      }
    }
    for (const auto& [name, value] : kept_)
      writer.key(name).raw(value.text);
    writer.end_object();
    if (parts_.empty()) return submission;
    if (more_ > 0) parts_.push_back({.where = "", .detail = fmt::format("and {} more", more_)});
    return std::unexpected(std::move(parts_));
  }

  void note(std::string where, std::string what) {
    if (parts_.size() < kMostParts) {
      parts_.push_back({.where = std::move(where), .detail = std::move(what)});
    } else {
      ++more_;
    }
  }

 private:
  void take(std::string name, const JsonValue& value) {
    const auto rule = std::ranges::find(
        map_.rules_, name, [](const Rule& r) -> const std::string& { return r.field.name; });
    if (rule == map_.rules_.end()) return take_unknown(std::move(name), value);
    const auto at = static_cast<std::size_t>(rule - map_.rules_.begin());
    if (seen_[at]) return note(std::move(name), "is given twice");
    seen_[at] = true;
    if (value.kind == JsonKind::null) return;
    given_[at] = value;
    std::vector<std::string> wrong;
    check(*rule, value, wrong);
    bad_[at] = !wrong.empty();
    for (std::string& what : wrong)
      note(name, std::move(what));
  }

  void take_unknown(std::string name, const JsonValue& value) {
    if (map_.unknown_ == UnknownFields::refuse) return refuse_unknown(name);
    const bool is_taken = std::ranges::any_of(
        map_.rules_, [&](const Rule& r) { return !r.is_of_task && r.target == name; });
    if (is_taken) return note(std::move(name), "another field goes by this name");
    if (!names_.insert(name).second) return note(std::move(name), "is given twice");
    kept_.emplace_back(std::move(name), value);
  }

  void refuse_unknown(const std::string& name) {
    if (parts_.size() >= kMostParts) {  // to look for names that are near takes long
      ++more_;
      return;
    }
    std::vector<std::string_view> known;
    known.reserve(map_.rules_.size());
    for (const Rule& rule : map_.rules_)
      known.push_back(rule.field.name);
    std::string what = "unknown field";
    if (!known.empty()) what += did_you_mean(name, known);
    note(std::string(utf8_prefix(name, 60)), std::move(what));
  }

  const BodyMap& map_;
  std::vector<bool> seen_;  // by the place of the rule, as are the next two
  std::vector<bool> bad_;
  std::vector<std::optional<JsonValue>> given_;
  std::vector<std::pair<std::string, JsonValue>> kept_;
  std::set<std::string> names_;  // of what is kept
  std::vector<Problem::Part> parts_;
  std::size_t more_ = 0;
};

std::expected<Submission, std::vector<Problem::Part>> BodyMap::read(std::string_view json,
                                                                    std::size_t most_depth) const {
  Reading reading(*this);
  if (const auto fault = syntax_fault(json, most_depth)) {
    reading.note("", fmt::format("{}: {}", place_of(json, fault->offset), fault->what));
    return std::move(reading).outcome();
  }
  JsonCursor cursor(json);
  if (cursor.kind() != JsonKind::object) {
    reading.note("", wrong_kind("an object", cursor.take()).error().what);
    return std::move(reading).outcome();
  }
  reading.take_members(cursor);
  reading.take_missing();
  return std::move(reading).outcome();
}

void BodyMap::write_schema(JsonWriter& writer) const {
  writer.begin_object().key("type").text("object");
  writer.key("properties").begin_object();
  for (const Rule& rule : rules_) {
    const BodyField& field = rule.field;
    writer.key(field.name).begin_object().key("type");
    if (field.required) {
      writer.text(to_string(field.type));
    } else {
      writer.begin_array().text(to_string(field.type)).text("null").end_array();
    }
    if (!field.pattern.empty()) writer.key("pattern").text(field.pattern);
    if (field.min_length) writer.key("minLength").number(*field.min_length);
    if (field.max_length) writer.key("maxLength").number(*field.max_length);
    if (field.minimum) writer.key("minimum").number(*field.minimum);
    if (field.maximum) writer.key("maximum").number(*field.maximum);
    if (!field.one_of.empty()) {
      writer.key("enum").begin_array();
      for (const std::string& value : field.one_of)
        writer.raw(value);
      if (!field.required) writer.null();
      writer.end_array();
    }
    if (!field.fallback.empty()) writer.key("default").raw(field.fallback);
    writer.end_object();
  }
  writer.end_object();
  writer.key("required").begin_array();
  for (const Rule& rule : rules_) {
    if (rule.field.required) writer.text(rule.field.name);
  }
  writer.end_array();
  writer.key("additionalProperties").boolean(unknown_ == UnknownFields::keep).end_object();
}

namespace {

// What a description says of one field, all that is wrong with it.
class Description {
 public:
  Description(const BodyField& field, std::size_t place, std::vector<FieldTrouble>& out)
      : field_(field), place_(place), out_(out) {}

  void check_for_text() {
    const bool is_text = field_.type == BodyType::string;
    if (!field_.pattern.empty()) {
      const auto compiled = TextPattern::compile(field_.pattern);
      if (!is_text) wrong("pattern", "this is about a string");
      if (!compiled) wrong("pattern", compiled.error());
    }
    if (field_.min_length && !is_text) wrong("min_length", "this is about a string");
    if (field_.max_length && !is_text) wrong("max_length", "this is about a string");
    if (field_.min_length && field_.max_length && *field_.min_length > *field_.max_length)
      wrong("max_length", "this is less than min_length: nothing could be right");
  }

  void check_for_number() {
    const bool is_number = field_.type == BodyType::integer || field_.type == BodyType::number;
    if (field_.minimum && !is_number) wrong("minimum", "this is about a number");
    if (field_.maximum && !is_number) wrong("maximum", "this is about a number");
    if (field_.minimum && field_.maximum && *field_.minimum > *field_.maximum)
      wrong("maximum", "this is less than minimum: nothing could be right");
  }

  void check_enum() {
    for (const std::string& value : field_.one_of) {
      const JsonValue one = value_of(value);
      if (one.kind == JsonKind::object || one.kind == JsonKind::array) {
        wrong("enum", "values of an enum are texts, numbers, true or false");
      } else if (!has_type(one, field_.type)) {
        wrong("enum", wrong_kind(kind_name(field_.type), one).error().what);
      }
    }
  }

  void check_target(std::span<const BodyField> before) {
    const Target target = target_of(field_);
    if (target.name.empty()) wrong("as", "a name has at least one letter");
    if (target.is_of_task && !fits_task(target.name)) {
      wrong("as", fmt::format("{} of a task is {}, and this is {}", target.name,
                              kind_name(type_of_task_field(target.name)), kind_name(field_.type)));
    }
    for (const BodyField& other : before) {
      if (target_of(other) != target) continue;
      wrong(field_.as.empty() ? "" : "as",
            fmt::format("{} becomes {} already", quoted(other.name), quoted(target.name)));
      return;
    }
  }

  void wrong(std::string_view key, std::string what) {
    out_.push_back({.field = place_, .key = key, .what = std::move(what)});
  }

 private:
  static BodyType type_of_task_field(std::string_view name) {
    if (name == "retry_on_failure") return BodyType::boolean;
    if (name == "priority" || name == "attempts") return BodyType::integer;
    return BodyType::string;
  }
  // Spans of time may also be numbers of seconds.
  [[nodiscard]] bool fits_task(std::string_view name) const {
    const bool is_span = name == "delay" || name == "timeout";
    const bool is_number = field_.type == BodyType::integer || field_.type == BodyType::number;
    return field_.type == type_of_task_field(name) || (is_span && is_number);
  }

  const BodyField& field_;
  std::size_t place_;
  std::vector<FieldTrouble>& out_;
};

}  // namespace

std::vector<FieldTrouble> troubles_of(std::span<const BodyField> fields) {
  std::vector<FieldTrouble> troubles;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const BodyField& field = fields[i];
    const std::size_t before = troubles.size();
    Description description(field, i, troubles);
    description.check_for_text();
    description.check_for_number();
    description.check_enum();
    description.check_target(fields.first(i));
    if (field.fallback.empty()) continue;
    if (field.required) description.wrong("default", "a field that is required has none");
    if (troubles.size() > before) continue;  // what a default has to meet is not clear
    BodyMap::Rule rule{.field = field};
    if (!field.pattern.empty()) rule.pattern = TextPattern::compile(field.pattern).value();
    std::vector<std::string> wrong;
    BodyMap::check(rule, value_of(field.fallback), wrong);
    for (std::string& what : wrong)
      description.wrong("default", std::move(what));
  }
  return troubles;
}

}  // namespace holdfast::wire
