#include "io/tcp_wire.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

namespace holdfast::io {
namespace {

std::string os_text(int error) {
  return std::generic_category().message(error);
}

std::unexpected<Error> refused(const TcpWire::To& to, int error) {
  std::string what = to.host + " port " + std::to_string(to.port) + ": " + os_text(error);
  if (error == ECONNREFUSED) what += " (is " + to.peer.name + " running, and is it this port?)";
  return fail(ErrorCode::unavailable, "connect to " + to.peer.name, what);
}

std::unexpected<Error> broken(const TcpWire::To& to, int error) {
  return fail(ErrorCode::unavailable, "talk to " + to.peer.name,
              error == 0 ? to.peer.name + " has ended the connection"
                         : "the connection is broken: " + os_text(error));
}

bool for_now(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

Result<TcpWire> TcpWire::begin(To to) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(to.port);
  const int failed = getaddrinfo(to.host.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) {
    return fail(ErrorCode::unavailable, "connect to " + to.peer.name,
                to.host + ": " + (failed == EAI_SYSTEM ? os_text(errno) : gai_strerror(failed)));
  }
  TcpWire wire;
  for (const addrinfo* one = found; one; one = one->ai_next) {
    auto& address = wire.addresses_.emplace_back();
    std::memcpy(&address.address, one->ai_addr, one->ai_addrlen);
    address.size = one->ai_addrlen;
    address.family = one->ai_family;
  }
  freeaddrinfo(found);
  std::ranges::reverse(wire.addresses_);
  wire.to_ = std::move(to);
  if (wire.to_.tls) {
    auto tls = Tls::make(wire.to_.host,
                         {.authorities = wire.to_.ca_file,
                          .certificate = wire.to_.cert_file,
                          .key = wire.to_.key_file},
                         wire.to_.peer);
    if (!tls) return std::unexpected(tls.error());
    wire.tls_ = std::move(*tls);
  }
  if (auto begun = wire.connect_to_next(); !begun) return std::unexpected(begun.error());
  return wire;
}

// Leaves a socket behind that is connecting, or connected.
Result<void> TcpWire::connect_to_next() {
  int error = EADDRNOTAVAIL;
  while (!addresses_.empty()) {
    const Address address = addresses_.back();
    addresses_.pop_back();
    socket_.reset(::socket(address.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_) {
      error = errno;
      continue;
    }
    const int on = 1;
    setsockopt(fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address.address);
    if (::connect(fd(), generic, address.size) == 0 || errno == EINPROGRESS) return {};
    error = errno;
  }
  return refused(to_, error);
}

short TcpWire::events(bool has_more) {
  if (!tcp_up_) return POLLOUT;
  const bool encrypted_left = tls_ && !tls_->to_send().empty();
  return static_cast<short>(POLLIN | (has_more || encrypted_left ? POLLOUT : 0));
}

Result<bool> TcpWire::connected() {
  if (up_) return true;
  if (!tcp_up_) {
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size);
    pollfd writable{fd(), POLLOUT, 0};
    if (error == 0 && ::poll(&writable, 1, 0) == 0) return false;
    if (error != 0) {
      if (addresses_.empty()) return refused(to_, error);
      if (auto next = connect_to_next(); !next) return std::unexpected(next.error());
      return false;
    }
    tcp_up_ = true;
    if (!tls_) return up_ = true;
  }
  encrypted_.resize(16384);
  for (;;) {
    auto agreed = tls_->shake_hands();
    if (auto sent = send_encrypted(); !sent && agreed) return std::unexpected(sent.error());
    if (!agreed) return std::unexpected(agreed.error());
    if (*agreed) return up_ = true;
    auto came = receive(encrypted_);
    if (!came) return std::unexpected(came.error());
    if (*came == 0) return false;
    tls_->feed({encrypted_.data(), *came});
  }
}

Result<std::size_t> TcpWire::read(std::span<char> into) {
  if (!tls_) return receive(into);
  for (;;) {
    auto plain = tls_->read(into);
    if (!plain || *plain > 0) return plain;
    auto came = receive(encrypted_);
    if (!came) return came;
    if (*came == 0) return 0;
    tls_->feed({encrypted_.data(), *came});
  }
}

Result<std::size_t> TcpWire::write(std::string_view bytes) {
  if (!tls_) return send(bytes);
  if (auto sent = send_encrypted(); !sent) return std::unexpected(sent.error());
  if (!tls_->to_send().empty() || bytes.empty()) return 0;
  constexpr std::size_t kAtOnce = 65536;
  bytes = bytes.substr(0, kAtOnce);
  if (auto taken = tls_->write(bytes); !taken) return std::unexpected(taken.error());
  if (auto sent = send_encrypted(); !sent) return std::unexpected(sent.error());
  return bytes.size();
}

void TcpWire::abandon() noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

Result<std::size_t> TcpWire::receive(std::span<char> into) {
  const ssize_t came = ::recv(fd(), into.data(), into.size(), 0);
  if (came > 0) return static_cast<std::size_t>(came);
  if (came == 0) return broken(to_, 0);
  if (for_now(errno)) return 0;
  return broken(to_, errno);
}

Result<std::size_t> TcpWire::send(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const ssize_t taken = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (taken >= 0) return static_cast<std::size_t>(taken);
  if (for_now(errno)) return 0;
  return broken(to_, errno);
}

Result<void> TcpWire::send_encrypted() {
  for (auto bytes = tls_->to_send(); !bytes.empty(); bytes = tls_->to_send()) {
    auto taken = send(bytes);
    if (!taken) return std::unexpected(taken.error());
    if (*taken == 0) return {};
    tls_->taken(*taken);
  }
  return {};
}

}  // namespace holdfast::io
