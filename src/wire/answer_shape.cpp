#include "wire/answer_shape.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/nearest_name.hpp"
#include "wire/bytes.hpp"
#include "wire/json_syntax.hpp"

namespace holdfast::wire {
namespace {

constexpr std::string_view kText = R"({"type":"string"})";
constexpr std::string_view kTextOrNull = R"({"type":["string","null"]})";
constexpr std::string_view kWhole = R"({"type":"integer"})";
constexpr std::string_view kYesNo = R"({"type":"boolean"})";
constexpr std::string_view kTime = R"({"type":"string","format":"date-time"})";
constexpr std::string_view kTimeOrNull = R"({"type":["string","null"],"format":"date-time"})";
constexpr std::string_view kAny = "{}";

// Bytes as a value of JSON: their own, or a text.
void write_value(JsonWriter& writer, std::string_view bytes) {
  if (is_json(bytes, kMostPayloadDepth)) {
    writer.raw(bytes);
  } else {
    writer.text(bytes);
  }
}

void write_or_null(JsonWriter& writer, std::string_view text) {
  if (text.empty()) {
    writer.null();
  } else {
    writer.text(text);
  }
}

struct Place {
  std::string_view name;
  std::string_view schema;
  void (*write)(JsonWriter& writer, const Shown& shown);
};

// What a success had trouble with before is not what became of it.
void write_error(JsonWriter& writer, const Shown& shown) {
  const TaskInfo& task = shown.task;
  if (!task.last_failure || task.state == TaskState::succeeded) {
    writer.null();
  } else {
    writer.text(task.last_failure->message);
  }
}

constexpr auto kPlaces = std::to_array<Place>({
    {"id", R"({"type":"string","format":"uuid"})",
     [](JsonWriter& w, const Shown& s) { w.plain(s.task.id.text()); }},
    {"type", kText, [](JsonWriter& w, const Shown& s) { w.text(s.task.type); }},
    {"queue", kText, [](JsonWriter& w, const Shown& s) { w.text(s.task.queue); }},
    {"state",
     R"({"type":"string","enum":["pending","running","retrying","succeeded","failed","dead",)"
     R"("canceled"]})",
     [](JsonWriter& w, const Shown& s) { w.word(to_string(s.task.state)); }},
    {"dead_reason", kTextOrNull,
     [](JsonWriter& w, const Shown& s) {
       if (s.task.dead_reason) {
         w.word(to_string(*s.task.dead_reason));
       } else {
         w.null();
       }
     }},
    {"error", kTextOrNull, write_error},
    {"attempts", kWhole, [](JsonWriter& w, const Shown& s) { w.number(s.task.attempts); }},
    {"crashes", kWhole, [](JsonWriter& w, const Shown& s) { w.number(s.task.crashes); }},
    {"deferrals", kWhole, [](JsonWriter& w, const Shown& s) { w.number(s.task.deferrals); }},
    {"replays", kWhole, [](JsonWriter& w, const Shown& s) { w.number(s.task.replays); }},
    {"priority", kWhole, [](JsonWriter& w, const Shown& s) { w.number(s.task.priority); }},
    {"retry_on_failure", kYesNo,
     [](JsonWriter& w, const Shown& s) { w.boolean(s.task.retry_on_failure); }},
    {"key", kTextOrNull, [](JsonWriter& w, const Shown& s) { write_or_null(w, s.task.key); }},
    {"trace", kTextOrNull, [](JsonWriter& w, const Shown& s) { write_or_null(w, s.task.trace); }},
    {"group", kTextOrNull, [](JsonWriter& w, const Shown& s) { write_or_null(w, s.task.group); }},
    {"created", kTime, [](JsonWriter& w, const Shown& s) { w.time(s.task.created); }},
    {"due", kTime, [](JsonWriter& w, const Shown& s) { w.time(s.task.due); }},
    {"changed", kTime, [](JsonWriter& w, const Shown& s) { w.time(s.task.changed); }},
    {"deadline", kTimeOrNull,
     [](JsonWriter& w, const Shown& s) {
       if (s.task.deadline) {
         w.time(*s.task.deadline);
       } else {
         w.null();
       }
     }},
    {"existed", kYesNo, [](JsonWriter& w, const Shown& s) { w.boolean(s.existed); }},
    {"outbound", kYesNo, [](JsonWriter& w, const Shown& s) { w.boolean(s.outbound); }},
    {"payload", kAny, [](JsonWriter& w, const Shown& s) { write_value(w, s.task.payload); }},
    {"result", kAny,
     [](JsonWriter& w, const Shown& s) {
       if (s.task.result) {
         write_value(w, *s.task.result);
       } else {
         w.null();
       }
     }},
});

// "payload.to": within the payload. Nothing: it is no such place.
struct Within {
  bool is_payload = false;
  std::string_view path;
};

std::optional<Within> within_of(std::string_view name) {
  for (const std::string_view whole : {"payload.", "result."}) {
    if (name.starts_with(whole) && name.size() > whole.size())
      return Within{.is_payload = whole.front() == 'p', .path = name.substr(whole.size())};
  }
  return std::nullopt;
}

// The value that "a.b" leads to, through objects.
std::optional<std::string_view> value_at(std::string_view json, std::string_view path) {
  if (!is_json(json, kMostPayloadDepth)) return std::nullopt;
  JsonCursor cursor(json);
  while (true) {
    if (cursor.kind() != JsonKind::object) return std::nullopt;
    const std::string_view name = path.substr(0, path.find('.'));
    cursor.enter();
    auto key = cursor.next_key();
    while (key && unescaped(*key) != name) {
      cursor.take();
      key = cursor.next_key();
    }
    if (!key) return std::nullopt;
    if (name.size() == path.size()) return cursor.take().text;
    path.remove_prefix(name.size() + 1);
  }
}

const Place* place_named(std::string_view name) {
  const auto* found = std::ranges::find(kPlaces, name, &Place::name);
  return found == kPlaces.end() ? nullptr : found;
}

void write_place(JsonWriter& writer, std::string_view name, const Shown& shown) {
  if (const Place* place = place_named(name)) return place->write(writer, shown);
  const auto within = within_of(name);
  std::string_view bytes = shown.task.payload;
  if (within && !within->is_payload)
    bytes = shown.task.result ? std::string_view(*shown.task.result) : std::string_view();
  const auto value = within ? value_at(bytes, within->path) : std::nullopt;
  if (value) {
    writer.raw(*value);
  } else {
    writer.null();
  }
}

// As part of a text.
std::string text_at(std::string_view name, const Shown& shown) {
  std::string json;
  JsonWriter writer(json);
  write_place(writer, name, shown);
  const JsonValue value = JsonCursor(json).take();
  if (value.kind == JsonKind::null) return "";
  if (value.kind != JsonKind::string) return std::string(value.text);
  return unescaped(value.text.substr(1, value.text.size() - 2));
}

// The name, if the text is one place and nothing else.
std::optional<std::string_view> only_place(std::string_view text) {
  if (!text.starts_with('{') || !text.ends_with('}') || text.size() < 3) return std::nullopt;
  const std::string_view name = text.substr(1, text.size() - 2);
  if (name.find_first_of("{}") != name.npos) return std::nullopt;
  return name;
}

std::optional<std::string> trouble_with_place(std::string_view name) {
  if (place_named(name) || within_of(name)) return std::nullopt;
  std::vector<std::string_view> known;
  known.reserve(kPlaces.size() + 2);
  for (const Place& place : kPlaces)
    known.push_back(place.name);
  known.insert(known.end(), {"payload.NAME", "result.NAME"});
  return fmt::format("there is no {} of a task{}", quoted(name), did_you_mean(name, known));
}

void write_schema_of(JsonWriter& writer, const JsonValue& value) {
  if (value.kind == JsonKind::object) {
    std::vector<std::string> names;
    JsonCursor cursor(value.text);
    cursor.enter();
    writer.begin_object().key("type").text("object").key("properties").begin_object();
    while (const auto key = cursor.next_key()) {
      names.push_back(unescaped(*key));
      writer.key(names.back());
      write_schema_of(writer, cursor.take());
    }
    writer.end_object().key("required").begin_array();
    for (const std::string& name : names)
      writer.text(name);
    writer.end_array().end_object();
    return;
  }
  if (value.kind == JsonKind::array) {
    writer.raw(R"({"type":"array"})");
    return;
  }
  if (value.kind != JsonKind::string) {
    writer.begin_object().key("const").raw(value.text).end_object();
    return;
  }
  const std::string text = unescaped(value.text.substr(1, value.text.size() - 2));
  const auto name = only_place(text);
  const Place* place = name ? place_named(*name) : nullptr;
  writer.raw(place ? place->schema : name ? kAny : kText);
}

}  // namespace

std::expected<AnswerShape, std::string> AnswerShape::parse(std::string_view json) {
  AnswerShape made;
  made.json_ = json;
  made.pieces_.clear();
  JsonCursor cursor(json);
  if (auto added = made.add(cursor); !added) return std::unexpected(std::move(added.error()));
  return made;
}

std::expected<void, std::string> AnswerShape::add(JsonCursor& cursor) {
  const JsonKind kind = cursor.kind();
  if (kind == JsonKind::string) return add_text(cursor.take().text);
  if (kind != JsonKind::object && kind != JsonKind::array) {
    add_raw(cursor.take().text);
    return {};
  }
  const bool is_object = kind == JsonKind::object;
  add_raw(is_object ? "{" : "[");
  cursor.enter();
  for (bool first = true;; first = false) {
    std::string before = first ? "" : ",";
    if (is_object) {
      const auto key = cursor.next_key();
      if (!key) break;
      before += fmt::format("\"{}\":", *key);
    } else if (!cursor.next_element()) {
      break;
    }
    add_raw(before);
    if (auto added = add(cursor); !added) return added;
  }
  add_raw(is_object ? "}" : "]");
  return {};
}

std::expected<void, std::string> AnswerShape::add_text(std::string_view json) {
  const std::string text = unescaped(json.substr(1, json.size() - 2));
  if (const auto name = only_place(text)) {
    if (auto trouble = trouble_with_place(*name)) return std::unexpected(std::move(*trouble));
    pieces_.push_back({.kind = Kind::value, .content = std::string(*name)});
    return {};
  }
  auto parsed = TextTemplate::parse(text);
  if (!parsed) return std::unexpected(parsed.error().message);
  const auto checked =
      parsed->fill([](std::string_view name) -> std::expected<std::string, std::string> {
        if (auto trouble = trouble_with_place(name)) return std::unexpected(std::move(*trouble));
        return "";
      });
  if (!checked) return std::unexpected(checked.error());
  pieces_.push_back({.kind = Kind::text, .text_template = *std::move(parsed)});
  return {};
}

void AnswerShape::add_raw(std::string_view json) {
  if (pieces_.empty() || pieces_.back().kind != Kind::raw) pieces_.push_back({});
  pieces_.back().content += json;
}

std::string AnswerShape::fill(const Shown& shown) const {
  std::string out;
  for (const Piece& piece : pieces_) {
    JsonWriter writer(out);  // its commas are in the pieces already
    switch (piece.kind) {
      case Kind::raw: writer.raw(piece.content); break;
      case Kind::value: write_place(writer, piece.content, shown); break;
      case Kind::text:
        writer.text(*piece.text_template.fill(
            [&](std::string_view name) -> std::expected<std::string, std::string> {
              return text_at(name, shown);
            }));
        break;
    }
  }
  return out;
}

void AnswerShape::write_schema(JsonWriter& writer) const {
  write_schema_of(writer, JsonCursor(json_).take());
}

}  // namespace holdfast::wire
