#pragma once

#include <cstddef>
#include <string_view>

#include "wire/json_writer.hpp"

namespace holdfast::wire {

// How payloads and results, which are any bytes, stand in JSON. For a payload:
//   "payload": …           bytes that are JSON themselves, as they are, to the last digit
//   "payload_text": "…"    other text in UTF-8
//   "payload_base64": "…"  all else
// What is read may have any of them, but one only; none is no bytes.

// JSON that is nested deeper is sent as text, so that who reads it need not nest as deep.
inline constexpr std::size_t kMostPayloadDepth = 64;

// The names of the three forms.
struct BytesNames {
  std::string_view json;
  std::string_view text;
  std::string_view base64;
};
inline constexpr BytesNames kPayloadNames{"payload", "payload_text", "payload_base64"};
inline constexpr BytesNames kResultNames{"result", "result_text", "result_base64"};

// Writes key and value. Empty bytes are an empty text.
void write_bytes(JsonWriter& writer, const BytesNames& names, std::string_view bytes,
                 std::size_t most_depth = kMostPayloadDepth);

}  // namespace holdfast::wire
