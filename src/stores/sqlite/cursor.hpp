#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>

namespace holdfast::stores::sqlite {

// The place of a row in the order of its listing: queue, rank, due or end, seq, as far as the
// listing goes by them. As text it is "<letter>.<number>.<number>.<number>.<number>", where the
// letter says which listing it belongs to.
struct Cursor {
  char listing = 'a';
  std::array<std::int64_t, 4> at{};

  [[nodiscard]] std::string text() const;
  [[nodiscard]] static Result<Cursor> parse(std::string_view text, char listing);
};

}  // namespace holdfast::stores::sqlite
