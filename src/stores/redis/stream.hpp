#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <holdfast/clock.hpp>
#include <holdfast/result.hpp>

#include "io/tcp_wire.hpp"
#include "stores/redis/stop_signal.hpp"

namespace holdfast::stores::redis {

// Bytes to a server and back, in both directions at once: a server whose answers nobody takes
// takes no more questions. Blocks, until it is told to stop. Threads: one.
class Stream {
 public:
  struct Moved {
    std::size_t sent = 0;
    std::size_t received = 0;

    [[nodiscard]] bool nothing() const noexcept { return sent == 0 && received == 0; }
  };

  // `stop` must outlive it. Fails with unavailable; invalid_argument for a file of certificates
  // that cannot be read.
  [[nodiscard]] static Result<Stream> connect(io::TcpWire::To to, Duration timeout,
                                              const StopSignal& stop, const Clock& clock);

  // Sends of `out` and receives into `in`, as soon as either can be done. Nothing at all: neither
  // could for as long as `silence`. Fails with unavailable: the connection is lost.
  [[nodiscard]] Result<Moved> move(std::string_view out, std::span<char> in, Duration silence);

  // What was sent and has not arrived yet is not to arrive any more.
  void abandon() noexcept { wire_.abandon(); }

 private:
  Stream(io::TcpWire wire, const StopSignal& stop) : wire_(std::move(wire)), stop_(&stop) {}
  [[nodiscard]] Result<Moved> last_words(std::span<char> in, Error why);

  io::TcpWire wire_;
  const StopSignal* stop_;
};

}  // namespace holdfast::stores::redis
