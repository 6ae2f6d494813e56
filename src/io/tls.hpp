#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>

namespace holdfast::io {

// How messages call the one at the other end.
struct Peer {
  std::string name = "the server";
  std::string tls_advice = "";  // where there is no TLS at a port: what to do instead
};

// Files in PEM.
struct TlsFiles {
  std::string authorities = {};  // whom to believe; empty: whom the system does
  std::string certificate = {};  // by which the other side knows us; empty: it does not
  std::string key = {};          // of that; empty: it is in the same file
};

// Whether they can be read and belong together. Fails with invalid_argument, and names the file.
[[nodiscard]] Result<void> check_tls_files(const TlsFiles& files);

// TLS between what a connection says and what its socket carries: bytes in, bytes out, no socket of
// its own, so that nothing in it can wait or raise SIGPIPE. The certificate must be one of the
// authorities' and must name the host; there is no way to switch that off.
class Tls {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Tls>> make(const std::string& host,
                                                         const TlsFiles& files, Peer peer);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  // What the socket has brought.
  void feed(std::string_view encrypted);
  // What is to be sent; `taken` bytes of it were.
  [[nodiscard]] std::string_view to_send();
  void taken(std::size_t bytes);

  // True: both sides have agreed, and the certificate is right.
  [[nodiscard]] Result<bool> shake_hands();
  // How many bytes were read; 0: more must be fed first.
  [[nodiscard]] Result<std::size_t> read(std::span<char> into);
  // All of it, to be found in to_send().
  [[nodiscard]] Result<void> write(std::string_view plain);

  struct Parts;
  explicit Tls(std::unique_ptr<Parts> parts);  // as make() does

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace holdfast::io
