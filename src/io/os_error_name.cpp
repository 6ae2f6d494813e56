#include "io/os_error_name.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>

namespace holdfast {

std::optional<int> os_error_number(std::string_view name) noexcept {
  int number = 0;
  const char* begin = name.data();
  const char* end = begin + name.size();
  if (const auto [at, error] = std::from_chars(begin, end, number);
      error == std::errc() && at == end && number > 0) {
    return number;
  }
  // Second names, which strerrorname_np does not give.
  if (name == "EWOULDBLOCK") return EWOULDBLOCK;
  if (name == "EDEADLOCK") return EDEADLK;
  if (name == "ENOTSUP") return ENOTSUP;
  constexpr int kLast = 200;  // Linux has 133
  for (int candidate = 1; candidate < kLast; ++candidate) {
    const char* known = strerrorname_np(candidate);
    if (known != nullptr && name == known) return candidate;
  }
  return std::nullopt;
}

}  // namespace holdfast
