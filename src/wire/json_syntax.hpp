#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::wire {

struct SyntaxFault {
  std::size_t offset = 0;  // in bytes
  std::string what = {};
};

// Nothing if `text` is one JSON value (RFC 8259) in valid UTF-8, spaces around it or not, whose
// brackets are nested at most `most_depth` deep. Duplicate keys are no fault of syntax.
[[nodiscard]] std::optional<SyntaxFault> syntax_fault(std::string_view text,
                                                      std::size_t most_depth);
[[nodiscard]] bool is_json(std::string_view text, std::size_t most_depth);

// "line 3, column 14", both from 1, in characters.
[[nodiscard]] std::string place_of(std::string_view text, std::size_t offset);

}  // namespace holdfast::wire
