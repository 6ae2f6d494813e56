#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>

#include <holdfast/result.hpp>

#include "io/tls.hpp"
#include "io/unique_fd.hpp"

namespace holdfast::io {

// Bytes to a server and back, over TCP and, if so asked, TLS. Nothing in it waits but the look-up
// of the host's name, in begin(). Threads: one.
class TcpWire {
 public:
  struct To {
    std::string host;
    std::uint16_t port = 0;
    bool tls = false;
    std::string ca_file = {};
    Peer peer = {};
    std::string cert_file = {};  // by which the server knows us, with its key
    std::string key_file = {};
  };

  [[nodiscard]] static Result<TcpWire> begin(To to);

  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  // What poll is to wait for. `has_more`: whether there is something to be written.
  [[nodiscard]] short events(bool has_more);

  // Goes on with what begin() has begun, when poll says so. True: it is up.
  [[nodiscard]] Result<bool> connected();

  // More may be there to be read than poll knows of.
  [[nodiscard]] bool is_layered() const noexcept { return tls_ != nullptr; }

  // 0: nothing is there, or nothing is taken, for now.
  [[nodiscard]] Result<std::size_t> read(std::span<char> into);
  [[nodiscard]] Result<std::size_t> write(std::string_view bytes);

  // What was written and has not arrived yet is not to arrive any more: the end of this is a reset.
  void abandon() noexcept;

 private:
  struct Address {
    sockaddr_storage address{};
    socklen_t size = 0;
    int family = 0;
  };

  TcpWire() = default;
  [[nodiscard]] Result<void> connect_to_next();
  [[nodiscard]] Result<std::size_t> receive(std::span<char> into);
  [[nodiscard]] Result<std::size_t> send(std::string_view bytes);
  [[nodiscard]] Result<void> send_encrypted();

  To to_;
  std::vector<Address> addresses_;  // not tried yet, last first
  UniqueFd socket_;
  bool tcp_up_ = false;
  bool up_ = false;
  std::unique_ptr<Tls> tls_;
  std::vector<char> encrypted_;
};

}  // namespace holdfast::io
