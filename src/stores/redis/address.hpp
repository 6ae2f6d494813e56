#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

namespace holdfast::stores::redis {

// Where a store on Redis is, as its URL says it:
//   redis://[user:password@]host[:port][/db][?space=NAME]
//   rediss://…                                             over TLS, with the server verified
//   redis+sentinel://[user:password@]host[:port],host[:port],…/master[/db]
//   rediss+sentinel://…                                    the same over TLS
struct Address {
  struct Host {
    std::string name = {};
    std::uint16_t port = 6379;  // of a sentinel: 26379

    [[nodiscard]] std::string text() const { return name + " port " + std::to_string(port); }
    bool operator==(const Host&) const = default;
  };

  std::vector<Host> hosts = {};  // of sentinels: all that were named
  std::string master = {};       // with sentinels: its name there; empty: no sentinels
  bool tls = false;
  std::string ca_file = {};  // ?ca=FILE; empty: whom the machine trusts
  std::string user = {};
  std::string password = {};  // never in a log
  int database = 0;
  std::string space = "hf";  // the tag of all its keys: two stores on one server have two

  // As a URL, without what is secret.
  [[nodiscard]] std::string text() const;
};

// Fails with invalid_argument, naming what is wrong. A password is never in the message.
[[nodiscard]] Result<Address> parse_address(std::string_view url);
[[nodiscard]] bool is_redis_url(std::string_view url) noexcept;

}  // namespace holdfast::stores::redis
