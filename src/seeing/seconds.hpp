#pragma once

#include <chrono>

#include <holdfast/time.hpp>

namespace holdfast::seeing {

// As reports give spans of time: a number with its fraction.
[[nodiscard]] constexpr double seconds_of(Duration span) noexcept {
  return std::chrono::duration<double>(span).count();
}

}  // namespace holdfast::seeing
