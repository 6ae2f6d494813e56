#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "http/gate.hpp"

namespace holdfast::io {
class Loop;
}

namespace holdfast::http {

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;  // 0: any that is free
  std::size_t max_body = std::size_t{8} << 20U;
  std::size_t max_head = std::size_t{16} << 10U;
  std::size_t max_connections = 1024;
  Duration header_timeout = std::chrono::seconds(10);
  Duration body_timeout = std::chrono::seconds(30);
  Duration idle_timeout = std::chrono::seconds(60);
  std::string tls_certificate = {};  // files in PEM; both, or none
  std::string tls_key = {};
  // A request was answered: its route (nothing: none took it) and the status. Called on the loop.
  std::function<void(const Route*, int status)> on_answered = {};
};

// HTTP/1.1, on the loop. A request is looked at by the gate before its body is read, and given to
// its route when it is whole. Slow callers are cut off, and so is one that sends more than it may.
//
// Threads: the loop's, or before that runs.
class Server {
 public:
  // The gate, the loop and the log's sink must outlive it.
  Server(io::Loop& loop, const Gate& gate, ServerOptions options, Logger log,
         Clock& clock = system_clock());
  ~Server();  // cuts off whoever is connected
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Takes the port: fails if it cannot be had, or the certificate not be read. Whoever connects
  // from now on waits for listen().
  [[nodiscard]] Result<void> bind();
  // Serves callers; takes the port first, if bind() has not.
  [[nodiscard]] Result<void> listen();
  [[nodiscard]] std::uint16_t port() const;
  // Reads certificate and key anew; what it cannot read leaves the old ones in place.
  [[nodiscard]] Result<void> reload_tls();
  [[nodiscard]] Result<void> check_tls() const;  // whether that would do
  // Ends answers that would go on: whoever reads them may come back, if it still may come in.
  void cut_streams();

  // Accepts nobody any more; requests under way are still answered, and streams end.
  void stop_accepting();
  [[nodiscard]] std::size_t connections() const noexcept;
  [[nodiscard]] std::size_t requests_under_way() const noexcept;

 private:
  struct Parts;
  const std::shared_ptr<Parts> parts_;
};

}  // namespace holdfast::http
