#include "io/os_error.hpp"

#include <cerrno>
#include <system_error>

namespace holdfast::io {
namespace {

ErrorCode code_of(int os_error) noexcept {
  switch (os_error) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::not_found;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EAGAIN: return ErrorCode::exhausted;
    default: return ErrorCode::unavailable;
  }
}

}  // namespace

std::unexpected<Error> fail_os(std::string operation, const std::string& what, int os_error) {
  return fail(code_of(os_error), std::move(operation),
              what + ": " + std::generic_category().message(os_error));
}

}  // namespace holdfast::io
