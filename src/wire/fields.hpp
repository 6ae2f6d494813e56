#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/task.hpp>

#include "core/task.hpp"
#include "wire/json_cursor.hpp"
#include "wire/json_writer.hpp"

// How the readers of this room are made: a table of fields for each form, and a `read` for each
// kind of value. Nothing here is for users of the room.
namespace holdfast::wire {

// What cannot be read, and where: the path is put together on the way out, so that what can be read
// pays nothing for it.
struct Fault {
  std::string where = {};  // ".history[3].started"
  std::string what = {};
  bool is_of_document = false;  // not of one entry alone: nothing of the document can be trusted
};
using Read = std::expected<void, Fault>;

[[nodiscard]] std::unexpected<Fault> fault(std::string what);
// "a number is expected, not the text \"5\""
[[nodiscard]] std::unexpected<Fault> wrong_kind(std::string_view expected, const JsonValue& found);

[[nodiscard]] Read read(const JsonValue& value, bool& out);
[[nodiscard]] Read read(const JsonValue& value, int& out);
[[nodiscard]] Read read(const JsonValue& value, std::uint64_t& out);
[[nodiscard]] Read read(const JsonValue& value, double& out);
[[nodiscard]] Read read(const JsonValue& value, std::string& out);
// "1m30s" as of core/units, or a number of seconds, to the nearest nanosecond.
[[nodiscard]] Read read(const JsonValue& value, Duration& out);
// RFC 3339, cut to the microsecond: nothing that is kept is finer.
[[nodiscard]] Read read(const JsonValue& value, WallTime& out);
[[nodiscard]] Read read(const JsonValue& value, TaskId& out);
[[nodiscard]] Read read(const JsonValue& value, core::Token& out);
[[nodiscard]] Read read(const JsonValue& value, TaskState& out);
[[nodiscard]] Read read(const JsonValue& value, DeadReason& out);
[[nodiscard]] Read read(const JsonValue& value, FailureKind& out);

// Why somebody decides so: at most 500 bytes.
[[nodiscard]] Read read_reason(const JsonValue& value, std::string& out);

// Bytes in one of their three forms: see bytes.hpp.
[[nodiscard]] Read read_json_bytes(const JsonValue& value, std::string& out);
[[nodiscard]] Read read_base64_bytes(const JsonValue& value, std::string& out);

template <class Value>
[[nodiscard]] Read read(const JsonValue& value, std::optional<Value>& out) {
  return read(value, out.emplace());
}

template <class Value>
[[nodiscard]] Read read(const JsonValue& value, std::vector<Value>& out) {
  if (value.kind != JsonKind::array) return wrong_kind("an array", value);
  JsonCursor cursor(value.text);
  cursor.enter();
  while (cursor.next_element()) {
    if (Read done = read(cursor.take(), out.emplace_back()); !done) {
      done.error().where.insert(0, "[" + std::to_string(out.size() - 1) + "]");
      return done;
    }
  }
  return {};
}

// One field of a form.
struct FieldTraits {
  std::string_view name = {};
  bool is_required = false;
  bool takes_null = false;  // elsewhere null is the same as a field that is left out
  // Not 0: at most one field of the same set may be given.
  int set = 0;
};

template <class Form>
struct Field : FieldTraits {
  Read (*read)(const JsonValue& value, Form& out) = nullptr;
};

template <class Member>
struct MemberOf;
template <class Form_, class Value_>
struct MemberOf<Value_ Form_::*> {
  using Form = Form_;
  using Value = Value_;
};
template <auto kMember>
using FormOf = typename MemberOf<decltype(kMember)>::Form;

template <auto kMember>
[[nodiscard]] constexpr Field<FormOf<kMember>> field(std::string_view name) {
  using Form = FormOf<kMember>;
  return {{.name = name},
          [](const JsonValue& value, Form& out) { return read(value, out.*kMember); }};
}

template <auto kMember>
[[nodiscard]] constexpr Field<FormOf<kMember>> required(std::string_view name) {
  auto made = field<kMember>(name);
  made.is_required = true;
  return made;
}

// The string that bytes are read into, whether they may be missing or not.
[[nodiscard]] inline std::string& bytes_of(std::string& member) {
  return member;
}
[[nodiscard]] inline std::string& bytes_of(std::optional<std::string>& member) {
  return member.emplace();
}

// The three forms of bytes, which are one set: field<&T::x>("x_text") is the third.
template <auto kMember>
[[nodiscard]] constexpr Field<FormOf<kMember>> json_bytes(std::string_view name, int set) {
  using Form = FormOf<kMember>;
  return {{.name = name, .takes_null = true, .set = set}, [](const JsonValue& value, Form& out) {
            return read_json_bytes(value, bytes_of(out.*kMember));
          }};
}
template <auto kMember>
[[nodiscard]] constexpr Field<FormOf<kMember>> text_bytes(std::string_view name, int set) {
  auto made = field<kMember>(name);
  made.set = set;
  return made;
}
template <auto kMember>
[[nodiscard]] constexpr Field<FormOf<kMember>> base64_bytes(std::string_view name, int set) {
  using Form = FormOf<kMember>;
  return {{.name = name, .set = set}, [](const JsonValue& value, Form& out) {
            return read_base64_bytes(value, bytes_of(out.*kMember));
          }};
}

// Requests are to be right to the letter: a field that nobody knows is a mistake. Answers may come
// from a newer server, which says more.
enum class Unknown : std::uint8_t { refused, passed_over };

// Goes over the members of one object with the fields that it may have.
class MemberWalk {
 public:
  MemberWalk(JsonCursor& cursor, Unknown unknown) : cursor_(&cursor), unknown_(unknown) {}

  struct Found {
    std::size_t field = 0;  // its place in the table
    JsonValue value = {};
  };
  // The next one to be read; nothing at the end.
  template <class Form>
  [[nodiscard]] std::optional<Found> next(std::span<const Field<Form>> fields) {
    while (const auto key = cursor_->next_key()) {
      const std::string name = key->find('\\') == key->npos ? std::string() : unescaped(*key);
      const std::string_view wanted = name.empty() ? *key : std::string_view(name);
      std::size_t at = 0;
      while (at < fields.size() && fields[at].name != wanted)
        ++at;
      const JsonValue value = cursor_->take();
      if (at == fields.size()) {
        // The first is enough: to look for names that are near takes long for a million of them.
        if (unknown_ == Unknown::refused && !first_) note_unknown(wanted, names_of(fields));
        continue;
      }
      if (note_seen(fields[at], at, value)) return Found{.field = at, .value = value};
    }
    for (std::size_t at = 0; at < fields.size(); ++at) {
      if (fields[at].is_required && !(given_ >> at & 1)) note_missing(fields[at]);
    }
    return std::nullopt;
  }
  void note(const FieldTraits& field, Fault fault);
  [[nodiscard]] Read outcome() &&;

 private:
  template <class Form>
  [[nodiscard]] static std::vector<std::string_view> names_of(std::span<const Field<Form>> fields) {
    std::vector<std::string_view> names;
    for (const Field<Form>& field : fields)
      names.push_back(field.name);
    return names;
  }
  // Whether the value is to be read.
  [[nodiscard]] bool note_seen(const FieldTraits& field, std::size_t at, const JsonValue& value);
  void note_unknown(std::string_view name, const std::vector<std::string_view>& known);
  void note_missing(const FieldTraits& field);
  void keep(Fault fault);

  JsonCursor* cursor_;
  Unknown unknown_;
  std::uint64_t seen_ = 0;   // by the place of the field
  std::uint64_t given_ = 0;  // of these, with a value
  std::uint64_t sets_ = 0;   // by the number of the set
  std::optional<Fault> first_;
};

// The object that the cursor stands at, which it always steps over. Of several faults the first
// one, unless one is of the whole document.
template <class Form>
[[nodiscard]] Read read_object(JsonCursor& cursor, std::span<const Field<Form>> fields,
                               Unknown unknown, Form& out) {
  if (cursor.kind() != JsonKind::object) return wrong_kind("an object", cursor.take());
  cursor.enter();
  MemberWalk walk(cursor, unknown);
  while (const auto found = walk.next(fields)) {
    const Field<Form>& field = fields[found->field];
    if (Read done = field.read(found->value, out); !done) walk.note(field, std::move(done.error()));
  }
  return std::move(walk).outcome();
}

template <class Form>
[[nodiscard]] Read read_object(const JsonValue& value, std::span<const Field<Form>> fields,
                               Unknown unknown, Form& out) {
  JsonCursor cursor(value.text);
  return read_object(cursor, fields, unknown, out);
}

// What a document is read for, and how far it may go.
struct Reading {
  std::string_view operation = {};
  ErrorCode code = ErrorCode::invalid_argument;
  std::size_t most_depth = 0;
  Unknown unknown = Unknown::refused;
};

[[nodiscard]] Error to_error(const Reading& reading, const Fault& fault);
// Fails unless it is JSON, with its line and column.
[[nodiscard]] Result<void> check_syntax(std::string_view json, const Reading& reading);

template <class Form>
[[nodiscard]] Result<Form> read_document(std::string_view json, std::span<const Field<Form>> fields,
                                         const Reading& reading) {
  if (auto checked = check_syntax(json, reading); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  JsonCursor cursor(json);
  Form form;
  const Read done = read_object(cursor, fields, reading.unknown, form);
  if (!done) return std::unexpected(to_error(reading, done.error()));
  return form;
}

}  // namespace holdfast::wire
