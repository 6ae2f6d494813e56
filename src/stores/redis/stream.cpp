#include "stores/redis/stream.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include <poll.h>

namespace holdfast::stores::redis {
namespace {

enum class Woken : std::uint8_t { ready, silent, stopped };

int milliseconds_of(Duration span) {
  const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(span).count();
  return static_cast<int>(
      std::clamp<decltype(rounded)>(rounded, 0, std::numeric_limits<int>::max()));
}

// `events`: in, what to wait for; out, what has come.
Woken wait_for(int fd, short& events, const StopSignal& stop, Duration at_most) {
  pollfd polled[2] = {{fd, events, 0}, {stop.fd(), POLLIN, 0}};
  int ready = 0;
  do {
    ready = ::poll(polled, 2, milliseconds_of(at_most));
  } while (ready < 0 && errno == EINTR);
  if (stop.given()) return Woken::stopped;
  events = polled[0].revents;
  return ready == 0 ? Woken::silent : Woken::ready;
}

std::unexpected<Error> stopped() {
  return fail(ErrorCode::unavailable, "talk to Redis", "it was told to stop");
}

}  // namespace

Result<Stream> Stream::connect(io::TcpWire::To to, Duration timeout, const StopSignal& stop,
                               const Clock& clock) {
  std::string late = to.host + " port " + std::to_string(to.port) + ": no answer in time";
  if (to.tls) late += " (does this port take TLS? it is tls-port in the server's configuration)";
  const SteadyTime give_up_at = saturating_add(clock.now(), timeout);
  auto wire = io::TcpWire::begin(std::move(to));
  if (!wire) return std::unexpected(wire.error());
  for (;;) {
    auto up = wire->connected();
    if (!up) return std::unexpected(up.error());
    if (*up) return Stream(std::move(*wire), stop);
    short events = wire->events(false);
    switch (wait_for(wire->fd(), events, stop, give_up_at - clock.now())) {
      case Woken::ready: break;
      case Woken::stopped: return stopped();
      case Woken::silent: return fail(ErrorCode::unavailable, "connect to Redis", std::move(late));
    }
  }
}

Result<Stream::Moved> Stream::move(std::string_view out, std::span<char> in, Duration silence) {
  // What can be sent mostly can at once; what is to be received mostly takes a while.
  bool may_send = !out.empty();
  bool may_receive = wire_.is_layered();
  for (;;) {
    Moved moved;
    if (may_send) {
      auto sent = wire_.write(out);
      if (!sent) return last_words(in, std::move(sent.error()));
      moved.sent = *sent;
    }
    if (may_receive) {
      auto received = wire_.read(in);
      if (!received) return std::unexpected(received.error());
      moved.received = *received;
    }
    if (!moved.nothing()) return moved;
    short events = wire_.events(!out.empty());
    switch (wait_for(wire_.fd(), events, *stop_, silence)) {
      case Woken::ready: break;
      case Woken::stopped: return stopped();
      case Woken::silent: return Moved{};
    }
    may_send = (events & POLLOUT) != 0;
    may_receive = (events & ~POLLOUT) != 0;  // also what has gone wrong is read
  }
}

// A server that ends a connection may have said why before.
Result<Stream::Moved> Stream::last_words(std::span<char> in, Error why) {
  auto received = wire_.read(in);
  if (!received || *received == 0) return std::unexpected(std::move(why));
  return Moved{.sent = 0, .received = *received};
}

}  // namespace holdfast::stores::redis
