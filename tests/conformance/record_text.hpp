// Answers of stores as text: two that are equal have equal text, and a difference shows as a line.
#pragma once

#include <string>

#include "ports/store.hpp"

namespace holdfast::conformance {

[[nodiscard]] std::string text_of(WallTime time);  // microseconds since 1970
[[nodiscard]] std::string text_of(const Failure& failure);
[[nodiscard]] std::string text_of(const ports::PastAttempt& attempt);
[[nodiscard]] std::string text_of(const ports::TaskRecord& record);  // every field
[[nodiscard]] std::string text_of(const ports::QueueCounts& counts);
[[nodiscard]] std::string text_of(const ports::Group& group);
[[nodiscard]] std::string text_of(const ports::Note& note);

template <class T>
[[nodiscard]] std::string text_of(const std::optional<T>& value) {
  return value ? text_of(*value) : "none";
}

}  // namespace holdfast::conformance
