#include "http/server.hpp"

#include <iterator>
#include <list>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include "http/connection.hpp"
#include "io/loop.hpp"

namespace asio = boost::asio;

namespace holdfast::http {
namespace {

using Tcp = asio::ip::tcp;
using ErrorCodeOf = boost::system::error_code;

// How often connections are looked at that may have taken too long. One timer for all of them:
// one for each step of each would cost more than the steps.
constexpr Duration kSweepEvery = std::chrono::milliseconds(250);
constexpr Duration kAcceptAgain = std::chrono::milliseconds(100);

}  // namespace

struct Server::Parts : std::enable_shared_from_this<Server::Parts> {
  Parts(io::Loop& its_loop, std::shared_ptr<Reception> its_reception)
      : loop(its_loop), reception(std::move(its_reception)), acceptor(loop.context()) {}

  [[nodiscard]] const ServerOptions& options() const { return reception->options; }
  [[nodiscard]] bool has_tls() const { return !options().tls_certificate.empty(); }

  [[nodiscard]] Result<std::unique_ptr<asio::ssl::context>> read_tls() const;
  Result<void> bind();
  void accept();
  void accepted(Tcp::socket socket);
  void sweep();

  io::Loop& loop;
  const std::shared_ptr<Reception> reception;
  Tcp::acceptor acceptor;
  std::unique_ptr<asio::ssl::context> tls;
  std::list<std::weak_ptr<Connection>> connections;
  std::unique_ptr<ports::Loop::Timer> sweeping;
  std::unique_ptr<ports::Loop::Timer> accepting_again;
};

Result<std::unique_ptr<asio::ssl::context>> Server::Parts::read_tls() const {
  try {
    auto fresh = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
    fresh->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                       asio::ssl::context::no_tlsv1_1);
    fresh->use_certificate_chain_file(options().tls_certificate);
    fresh->use_private_key_file(options().tls_key, asio::ssl::context::pem);
    return fresh;
  } catch (const boost::system::system_error& error) {
    return fail(ErrorCode::invalid_argument, "read the certificate",
                options().tls_certificate + " with " + options().tls_key + ": " + error.what());
  }
}

Result<void> Server::Parts::bind() {
  if (has_tls()) {
    auto read = read_tls();
    if (!read) return std::unexpected(std::move(read).error());
    tls = *std::move(read);
  }
  ErrorCodeOf error;
  const auto address = asio::ip::make_address(options().address, error);
  const Tcp::endpoint endpoint(address, options().port);
  const auto refused = [&](const char* what) {
    ErrorCodeOf ignored;
    static_cast<void>(acceptor.close(ignored));
    return fail(ErrorCode::unavailable,
                "listen on " + options().address + ":" + std::to_string(options().port),
                std::string(what) + ": " + error.message());
  };
  if (error) return refused("no address");
  // NOLINTBEGIN(bugprone-unused-return-value): Asio returns what it has written to `error`.
  if (acceptor.open(endpoint.protocol(), error); error) return refused("open");
  acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  if (acceptor.bind(endpoint, error); error) return refused("bind");
  if (acceptor.listen(asio::socket_base::max_listen_connections, error); error) {
    return refused("listen");
  }
  // NOLINTEND(bugprone-unused-return-value)
  return {};
}

void Server::Parts::accept() {
  acceptor.async_accept([weak = weak_from_this()](const ErrorCodeOf& error, Tcp::socket socket) {
    const auto self = weak.lock();
    if (!self || error == asio::error::operation_aborted) return;
    if (!error) {
      self->accepted(std::move(socket));
      return self->accept();
    }
    // Out of descriptors, most likely: it would fail again at once.
    self->reception->log.log(Level::warning, "http.accept", "a connection could not be accepted",
                             {{"error", error.message()}});
    self->accepting_again = self->loop.after(kAcceptAgain, [weak] {
      if (const auto alive = weak.lock()) alive->accept();
    });
  });
}

void Server::Parts::accepted(Tcp::socket socket) {
  if (reception->open >= options().max_connections) {
    // As many as may be: nothing is promised to one more, and nothing is spent on it.
    ErrorCodeOf ignored;
    static constexpr std::string_view kFull =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
        "X-Content-Type-Options: nosniff\r\nContent-Length: 0\r\n\r\n";
    static_cast<void>(socket.non_blocking(true, ignored));
    if (!has_tls()) socket.send(asio::buffer(kFull), 0, ignored);
    return;
  }
  const auto connection = has_tls() ? tls_connection(reception, std::move(socket), *tls)
                                    : plain_connection(reception, std::move(socket));
  connections.push_back(connection);
  connection->start();
}

void Server::Parts::sweep() {
  const SteadyTime at = reception->now();
  std::vector<std::shared_ptr<Connection>> late;
  for (auto place = connections.begin(); place != connections.end();) {
    const auto connection = place->lock();
    if (connection && connection->due() <= at) late.push_back(connection);
    place = connection ? std::next(place) : connections.erase(place);
  }
  for (const auto& connection : late)
    connection->out_of_time();
  sweeping = loop.after(kSweepEvery, [this] { sweep(); });
}

Server::Server(io::Loop& loop, const Gate& gate, ServerOptions options, Logger log, Clock& clock)
    : parts_(std::make_shared<Parts>(
          loop, std::make_shared<Reception>(gate, std::move(options), log, clock))) {}

Server::~Server() {
  stop_accepting();
  parts_->sweeping.reset();
  for (const auto& connection : std::exchange(parts_->connections, {}))
    if (const auto alive = connection.lock()) alive->close();
}

Result<void> Server::bind() {
  return parts_->bind();
}

Result<void> Server::listen() {
  if (!parts_->acceptor.is_open()) {
    if (auto bound = bind(); !bound) return bound;
  }
  parts_->accept();
  parts_->sweep();
  return {};
}

std::uint16_t Server::port() const {
  ErrorCodeOf ignored;
  return parts_->acceptor.local_endpoint(ignored).port();
}

Result<void> Server::reload_tls() {
  if (!parts_->has_tls()) return {};
  auto read = parts_->read_tls();
  if (!read) return std::unexpected(std::move(read).error());
  parts_->tls = *std::move(read);
  return {};
}

Result<void> Server::check_tls() const {
  if (!parts_->has_tls()) return {};
  const auto read = parts_->read_tls();
  if (!read) return std::unexpected(read.error());
  return {};
}

void Server::cut_streams() {
  for (const auto& connection : parts_->connections) {
    if (const auto alive = connection.lock()) alive->cut_stream();
  }
}

void Server::stop_accepting() {
  parts_->reception->stopping = true;
  parts_->accepting_again.reset();
  ErrorCodeOf ignored;
  static_cast<void>(parts_->acceptor.close(ignored));
  for (const auto& connection : parts_->connections) {
    if (const auto alive = connection.lock()) alive->wind_down();
  }
}

std::size_t Server::connections() const noexcept {
  return parts_->reception->open;
}

std::size_t Server::requests_under_way() const noexcept {
  return parts_->reception->busy;
}

}  // namespace holdfast::http
