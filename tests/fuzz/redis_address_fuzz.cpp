// Addresses of Redis: any text is one or an error, and one survives being written but for its
// password.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stores/redis/address.hpp"

namespace {

using holdfast::stores::redis::Address;

void expect(bool holds) {
  if (!holds) std::abort();
}

void expect_same(const Address& a, const Address& b) {
  expect(a.hosts == b.hosts && a.master == b.master && a.tls == b.tls && a.ca_file == b.ca_file &&
         a.database == b.database && a.space == b.space);
}

// As it was, but without the password, and so without whose it is.
void check_text(Address address) {
  address.user.clear();
  const auto again = holdfast::stores::redis::parse_address(address.text());
  expect(again.has_value());
  expect_same(*again, address);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto address = holdfast::stores::redis::parse_address(text);
  if (!address) {
    expect(address.error().code == holdfast::ErrorCode::invalid_argument);
    return 0;
  }
  expect(holdfast::stores::redis::is_redis_url(text));
  expect(!address->hosts.empty());
  expect(address->space.find_first_of("{}") == std::string::npos);
  check_text(*address);
  return 0;
}
