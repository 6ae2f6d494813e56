#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/task.hpp>

#include "core/text_template.hpp"
#include "wire/json_cursor.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::wire {

// What is known of a task when a route answers.
struct Shown {
  const TaskInfo& task;
  bool existed = false;   // its key stood for it before
  bool outbound = false;  // see Accepted
};

// The form of an answer: JSON, in whose texts {names} stand for what is known of a task. A text
// that is one such place and nothing else becomes the value itself (a number, true, null);
// elsewhere it is part of the text.
//
//   {"id": "{id}", "status": "{state}", "tries": "{attempts}", "see": "/relay/{id}"}
//
// Names are those of a task in the API (id, type, state, attempts …), `error` for the text of its
// last failure, `existed` and `outbound` as of a submission, and `payload.NAME` and `result.NAME`
// for what is within. What is not there is null, or nothing within a text.
class AnswerShape {
 public:
  AnswerShape() = default;  // an empty object

  // What is wrong: `"{staet}": unknown place …`. `json` must be JSON.
  [[nodiscard]] static std::expected<AnswerShape, std::string> parse(std::string_view json);

  [[nodiscard]] std::string fill(const Shown& shown) const;
  // JSON Schema of what fill() makes.
  void write_schema(JsonWriter& writer) const;

 private:
  enum class Kind : std::uint8_t { raw, value, text };
  struct Piece {
    Kind kind = Kind::raw;
    std::string content = {};         // JSON as it is, or the name of a place
    TextTemplate text_template = {};  // of a text
  };

  std::expected<void, std::string> add(JsonCursor& cursor);
  std::expected<void, std::string> add_text(std::string_view json);
  void add_raw(std::string_view json);

  std::string json_ = "{}";
  std::vector<Piece> pieces_ = {{.kind = Kind::raw, .content = "{}"}};
};

}  // namespace holdfast::wire
