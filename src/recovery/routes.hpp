#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>

#include "ports/broker.hpp"
#include "recovery/letter.hpp"

namespace holdfast::recovery {

// Where messages go.
struct Routes {
  enum class To : std::uint8_t {
    map,              // by their type
    origin_exchange,  // as they were first published: exchange and routing key
    origin_queue,     // into the queue that they first died in
    queue,            // all of them into one
    review,           // nowhere: all of them are kept, and parked
    nowhere,          // they are discarded
  };

  To to = To::map;
  std::map<std::string, ports::Address> map = {};  // V7: by type
  std::string queue = {};
};

// The error says why there is none, for people: the message is kept for review (V6).
[[nodiscard]] std::expected<ports::Address, std::string> target_of(const Letter& letter,
                                                                   const Routes& routes);

// For people: a queue by its name, else "exchange/key".
[[nodiscard]] std::string to_text(const ports::Address& address);

}  // namespace holdfast::recovery
