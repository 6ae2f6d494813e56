#include "config/route_keys.hpp"

#include <array>

#include <fmt/format.h>

#include "config/json_values.hpp"
#include "config/key_rows.hpp"
#include "config/plain_values.hpp"
#include "config/read_table.hpp"
#include "config/text_checks.hpp"
#include "wire/answer_shape.hpp"

namespace holdfast::config {
namespace {

using wire::BodyField;
using wire::BodyType;
using wire::UnknownFields;

constexpr std::array<std::pair<std::string_view, BodyType>, 6> kTypes = {
    {{"string", BodyType::string},
     {"integer", BodyType::integer},
     {"number", BodyType::number},
     {"boolean", BodyType::boolean},
     {"object", BodyType::object},
     {"array", BodyType::array}}};
constexpr std::array<std::pair<std::string_view, UnknownFields>, 2> kUnknown = {
    {{"refuse", UnknownFields::refuse}, {"keep", UnknownFields::keep}}};

struct TextOrNone {
  static constexpr std::string_view kKind = Text::kKind;
  void read(const Spot& spot, const Value& value, std::string& into) const {
    if (const std::string* text = read_text(spot, value)) into = *text;
  }
  [[nodiscard]] std::string show(const std::string& value) const {
    return value.empty() ? "" : holdfast::quoted(value, std::string::npos);
  }
};

// What is not given has nothing to show.
template <class Kind, class T>
struct OrNone {
  static constexpr std::string_view kKind = Kind::kKind;
  Kind kind;
  void read(const Spot& spot, const Value& value, std::optional<T>& into) const {
    const std::size_t before = spot.reading.problems.size();
    T given{};
    kind.read(spot, value, given);
    if (spot.reading.problems.size() == before) into = given;
  }
  [[nodiscard]] std::string show(const std::optional<T>& value) const {
    return value ? kind.show(*value) : "";
  }
};

struct Count {
  static constexpr std::string_view kKind = Whole::kKind;
  void read(const Spot& spot, const Value& value, std::uint64_t& into) const {
    int whole = 0;
    Whole{0, 1 << 30}.read(spot, value, whole);
    into = static_cast<std::uint64_t>(whole);
  }
  [[nodiscard]] std::string show(std::uint64_t value) const { return std::to_string(value); }
};

struct JsonText {
  static constexpr std::string_view kKind = "any value";
  void read(const Spot& spot, const Value& value, std::string& into) const {
    if (auto json = json_of(spot, value)) into = *std::move(json);
  }
  [[nodiscard]] std::string show(const std::string& value) const {
    return value.empty() ? "" : toml_of(value);
  }
};

struct JsonTexts {
  static constexpr std::string_view kKind = "list of values";
  void read(const Spot& spot, const Value& value, std::vector<std::string>& into) const {
    const auto* list = value.as<Value::List>();
    if (list == nullptr || list->empty())
      return spot.wrong("this must be a list of at least one value, in brackets");
    std::vector<std::string> texts;
    for (const Value& item : *list) {
      if (auto json = json_of(spot, item)) texts.push_back(*std::move(json));
    }
    into = std::move(texts);
  }
  [[nodiscard]] std::string show(const std::vector<std::string>& value) const {
    std::string line;
    for (const std::string& text : value)
      line += (line.empty() ? "" : ", ") + toml_of(text);
    return line.empty() ? "" : "[" + line + "]";
  }
};

// Each member by itself, so that what is wrong has its own place.
struct AnswerTable {
  static constexpr std::string_view kKind = "table";
  void read(const Spot& spot, const Value& value, std::string& into) const {
    const auto* table = value.as<Value::Table>();
    if (table == nullptr) return spot.wrong("an answer is a table", R"(write { id = "{id}" })");
    auto json = json_of(spot, value);
    if (!json) return;
    for (const Member& member : *table) {
      const Spot inner{spot.reading, join_key(spot.key, member.key), member.value.place};
      const auto shape = wire::AnswerShape::parse(json_of(inner, member.value).value_or("null"));
      if (!shape) inner.wrong(shape.error(), "{{ and }} stand for braces themselves");
    }
    into = *std::move(json);
  }
  [[nodiscard]] std::string show(const std::string& value) const {
    return value.empty() ? "" : toml_of(value);
  }
};

struct BodyTable {
  static constexpr std::string_view kKind = "table of tables";
  void read(const Spot& spot, const Value& value, std::vector<BodyField>& into) const {
    const auto* table = value.as<Value::Table>();
    if (table == nullptr) {
      return spot.wrong("a body is a table of its fields", R"(write { to = { type = "string" } })");
    }
    std::vector<BodyField> fields;
    for (const Member& member : *table) {
      const std::string path = join_key(spot.key, member.key);
      if (member.value.as<Value::Table>() == nullptr) {
        spot.reading.wrong(member.value.place, path, "a field is a table",
                           R"(write { type = "string" })");
        continue;
      }
      BodyField field{.name = member.key};
      read_table(spot.reading, body_field_section(), path, member.value, field);
      fields.push_back(std::move(field));
    }
    into = std::move(fields);
  }
  [[nodiscard]] std::string show(const std::vector<BodyField>& value) const {
    std::string fields;
    for (const BodyField& field : value) {
      std::string keys;
      for (const Row<BodyField>& row : body_field_section().rows) {
        const std::string text = row.show(field);
        if (text.empty() || text == row.info.default_text) continue;
        keys += fmt::format("{} {} = {}", keys.empty() ? "" : ",", row.info.name, text);
      }
      fields +=
          fmt::format("{} {} = {{{} }}", fields.empty() ? "" : ",", join_key("", field.name), keys);
    }
    return fields.empty() ? "{}" : "{" + fields + " }";
  }
};

}  // namespace

const Section<wire::BodyField>& body_field_section() {
  static const Section<BodyField> section{
      "body",
      "What a field of a body must be, in the words of JSON Schema, and what it becomes. "
      "[api.md](api.md#routes-of-your-own) has the rest.",
      {
          row<BodyField>("type", &BodyField::type, Choice<BodyType>{"type", kTypes}, yes,
                         "`string`, `integer`, `number`, `boolean`, `object` or `array`",
                         {.required = true}),
          row<BodyField>("required", &BodyField::required, YesNo{}, yes,
                         "`true`: a body without it is refused"),
          row<BodyField>("pattern", &BodyField::pattern, TextOrNone{}, yes,
                         "of a string: RE2 syntax, found anywhere in it unless it says `^` and "
                         "`$`"),
          row<BodyField>("min_length", &BodyField::min_length, OrNone<Count, std::uint64_t>{}, yes,
                         "of a string: at least so many characters"),
          row<BodyField>("max_length", &BodyField::max_length, OrNone<Count, std::uint64_t>{}, yes,
                         "and at most so many"),
          row<BodyField>("minimum", &BodyField::minimum,
                         OrNone<Fraction, double>{Fraction{-1e300, 1e300}}, yes,
                         "of a number: no less"),
          row<BodyField>("maximum", &BodyField::maximum,
                         OrNone<Fraction, double>{Fraction{-1e300, 1e300}}, yes, "and no more"),
          row<BodyField>("enum", &BodyField::one_of, JsonTexts{}, yes, "one of these and no other"),
          row<BodyField>("default", &BodyField::fallback, JsonText{}, yes,
                         "what stands for it when it is left out"),
          row<BodyField>("as", &BodyField::as, TextOrNone{}, yes,
                         "the field of the task that it becomes: `retry_on_failure`, `key`, "
                         "`priority`, `delay`, `due`, `deadline`, `attempts`, `timeout` or "
                         "`trace`; or else another name in the payload. `payload.NAME` is always "
                         "that"),
      }};
  return section;
}

Section<Route> route_section() {
  return {
      "route",
      "Routes of your own beside those of the API: `POST /path` takes a body in a form of your "
      "own and hands in a task, `GET /path/{id}` shows one. [api.md](api.md#routes-of-your-own) "
      "has the rest.",
      {
          row<Route>("task", &Route::task, Text{check_name}, yes,
                     "the type of the tasks that it hands in, and the only one that it shows",
                     {.required = true}),
          row<Route>("role", &Route::role, OrNone<Choice<Role>, Role>{{"role", kRoles}}, yes,
                     "what a token needs for it; without it, `submit` of POST and `read` of GET"),
          row<Route>("status", &Route::status, OrNone<Whole, int>{Whole{200, 202}}, yes,
                     "of an answer when all is well; without it, 201 of POST and 200 of GET"),
          row<Route>("summary", &Route::summary, TextOrNone{}, yes,
                     "a line about it for `/openapi.json`"),
          row<Route>("unknown", &Route::unknown, Choice<UnknownFields>{"way", kUnknown}, yes,
                     "fields of a body that are not described here: `refuse`, or `keep` them in "
                     "the payload"),
          row<Route>("body", &Route::body, BodyTable{}, yes,
                     "a table for each field of the body, below"),
          row<Route>("answer", &Route::answer, AnswerTable{}, yes,
                     "the form of the answer: `{id}`, `{state}` and their like stand for what is "
                     "known of the task; without it, these two"),
      },
      "\"METHOD /PATH\""};
}

}  // namespace holdfast::config
