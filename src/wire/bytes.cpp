#include "wire/bytes.hpp"

#include <string>

#include "core/utf8.hpp"
#include "wire/base64.hpp"
#include "wire/json_syntax.hpp"

namespace holdfast::wire {
namespace {

// Whether a reader that cuts off the spaces around a value gets all of it back.
[[nodiscard]] bool has_spaces_around(std::string_view text) noexcept {
  constexpr std::string_view kSpaces = " \n\r\t";
  return kSpaces.find(text.front()) != kSpaces.npos || kSpaces.find(text.back()) != kSpaces.npos;
}

}  // namespace

void write_bytes(JsonWriter& writer, const BytesNames& names, std::string_view bytes,
                 std::size_t most_depth) {
  if (!bytes.empty() && !has_spaces_around(bytes) && is_json(bytes, most_depth)) {
    writer.key(names.json).raw(bytes);
  } else if (is_utf8(bytes)) {
    writer.key(names.text).text(bytes);
  } else {
    std::string text;
    append_base64(text, bytes);
    writer.key(names.base64).plain(text);
  }
}

}  // namespace holdfast::wire
