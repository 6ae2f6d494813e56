#include "io/text_file.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "core/units.hpp"

namespace holdfast::io {

Result<std::string> read_text_file(const std::string& path, std::string_view operation,
                                   std::size_t most_bytes) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(most_bytes + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  // A folder opens, and fails when it is read.
  if (file.bad() || !file.is_open()) {
    const std::error_code reason(errno != 0 ? errno : EIO, std::generic_category());
    return fail(reason == std::errc::no_such_file_or_directory ? ErrorCode::not_found
                                                               : ErrorCode::unavailable,
                std::string(operation), fmt::format("{}: {}", path, reason.message()));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > most_bytes) {
    return fail(ErrorCode::exhausted, std::string(operation),
                fmt::format("{}: more than {}", path, format_size(most_bytes)));
  }
  return text;
}

}  // namespace holdfast::io
