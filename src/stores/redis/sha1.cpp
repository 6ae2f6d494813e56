#include "stores/redis/sha1.hpp"

#include <boost/uuid/detail/sha1.hpp>
#include <fmt/format.h>

namespace holdfast::stores::redis {

std::string sha1_hex(std::string_view text) {
  boost::uuids::detail::sha1 sha1;
  sha1.process_bytes(text.data(), text.size());
  unsigned int digest[5];  // as Boost has it
  sha1.get_digest(digest);
  std::string hex;
  for (const unsigned int word : digest)
    hex += fmt::format("{:08x}", word);
  return hex;
}

}  // namespace holdfast::stores::redis
