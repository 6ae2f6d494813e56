#pragma once

#include <cstddef>
#include <ctime>
#include <memory>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include "http/server.hpp"

namespace holdfast::http {

// What all connections of one server share. Threads: the loop's.
struct Reception {
  Reception(const Gate& its_gate, ServerOptions its_options, Logger its_log, Clock& its_clock)
      : gate(its_gate), options(std::move(its_options)), log(its_log), clock(its_clock) {}

  [[nodiscard]] SteadyTime now() const { return clock.now(); }
  [[nodiscard]] const std::string& date();  // for a header

  const Gate& gate;
  const ServerOptions options;
  const Logger log;
  Clock& clock;
  std::size_t open = 0;   // connections
  std::size_t busy = 0;   // requests under way
  bool stopping = false;  // nobody is kept for another request

 private:
  std::time_t date_second_ = 0;
  std::string date_text_;
};

// One caller, request by request. Lives for as long as something is under way with it.
class Connection {
 public:
  virtual ~Connection() = default;

  virtual void start() = 0;
  virtual void close() = 0;
  // The server stops: closes if nothing is under way, and ends what would not end by itself.
  virtual void wind_down() = 0;
  // Ends an answer that would go on, if one is being sent.
  virtual void cut_stream() = 0;
  // When it has taken too long; out_of_time() then says so to the caller, and closes.
  [[nodiscard]] virtual SteadyTime due() const = 0;
  virtual void out_of_time() = 0;
};

[[nodiscard]] std::shared_ptr<Connection> plain_connection(std::shared_ptr<Reception> reception,
                                                           boost::asio::ip::tcp::socket socket);
[[nodiscard]] std::shared_ptr<Connection> tls_connection(std::shared_ptr<Reception> reception,
                                                         boost::asio::ip::tcp::socket socket,
                                                         boost::asio::ssl::context& tls);

}  // namespace holdfast::http
