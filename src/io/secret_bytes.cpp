#include "io/secret_bytes.hpp"

#include <cerrno>
#include <system_error>

#include <unistd.h>

namespace holdfast::io {

SecretBytes secret_bytes() {
  SecretBytes bytes{};
  if (::getentropy(bytes.data(), bytes.size()) != 0) {
    throw std::system_error(errno, std::generic_category(), "read the system's randomness");
  }
  return bytes;
}

}  // namespace holdfast::io
