#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <holdfast/time.hpp>

// Who talks to the server while it is measured. Each is a process of its own, so that what it costs
// is not counted as the server's; both are as lean as they can be, since they share the machine.
namespace holdfast::server::bench {

// Posts `request`, a whole one as it goes over the wire, `count` times over `connections`
// connections to 127.0.0.1, each waiting for the answer of the one before.
struct Load {
  std::string request = {};
  std::size_t count = 0;
  std::size_t connections = 32;
};
struct Loaded {
  double seconds = 0;
  std::uint64_t accepted = 0;  // answered 201
  std::uint64_t refused = 0;   // answered otherwise, or not at all
};
// The work of a peer: hears the port (uint16_t), tells Loaded.
void load(int channel, const Load& load);

// The work of a peer: answers every request with 200, each after `wait`. Tells its port (uint16_t)
// first, and Received for each byte that it hears.
struct Received {
  std::uint64_t requests = 0;
  std::uint64_t most_at_once = 0;
};
void receive(int channel, Duration wait);

}  // namespace holdfast::server::bench
