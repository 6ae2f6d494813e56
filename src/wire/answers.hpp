#pragma once

#include <cstddef>
#include <string_view>

#include "wire/bytes.hpp"
#include "wire/fields.hpp"

// What the readers of answers have in common. Nothing here is for users of the room.
namespace holdfast::wire {

inline constexpr Reading kAnswer{.operation = "read answer",
                                 .code = ErrorCode::corrupt,
                                 .most_depth = kMostPayloadDepth + 8,
                                 .unknown = Unknown::passed_over};

[[nodiscard]] Read read(const JsonValue& value, Failure& out);

// What an answer wraps into an object of one field.
template <auto kMember>
[[nodiscard]] Result<typename MemberOf<decltype(kMember)>::Value> read_wrapped(
    std::string_view json, std::span<const Field<FormOf<kMember>>> fields) {
  auto form = read_document<FormOf<kMember>>(json, fields, kAnswer);
  if (!form) return std::unexpected(std::move(form.error()));
  return std::move((*form).*kMember);
}

}  // namespace holdfast::wire
