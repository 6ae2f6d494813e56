#include "http/server.hpp"

#include <array>
#include <charconv>
#include <ctime>
#include <list>
#include <optional>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "http/problem.hpp"
#include "io/loop.hpp"

namespace asio = boost::asio;
namespace beast = boost::beast;

namespace holdfast::http {
namespace {

using Tcp = asio::ip::tcp;
using ErrorCodeOf = boost::system::error_code;
using Parser = beast::http::request_parser<beast::http::string_body>;

// How often connections are looked at that may have taken too long. One timer for all of them:
// one for each step of each would cost more than the steps.
constexpr Duration kSweepEvery = std::chrono::milliseconds(250);
constexpr Duration kAcceptAgain = std::chrono::milliseconds(100);
constexpr std::size_t kReadBytes = std::size_t{16} << 10U;
constexpr Duration kWriteTimeout = std::chrono::seconds(30);

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// "Mon, 16 Nov 2026 03:00:00 GMT"
std::string http_date(std::time_t now) {
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 40> text{};
  const std::size_t size =
      std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text.data(), size};
}

// Which error it was that kept a request from being read; nothing: the caller is simply gone.
std::optional<Response> refusal_of(const ErrorCodeOf& error) {
  using E = beast::http::error;
  if (error == E::body_limit) return problem(413, "the body is larger than this server takes");
  if (error == E::header_limit || error == E::buffer_overflow) {
    return problem(431, "the head of the request is larger than this server takes");
  }
  if (error.category() == make_error_code(E::bad_method).category() && error != E::end_of_stream &&
      error != E::partial_message && error != E::need_more) {
    return problem(400, "this is not HTTP: " + error.message());
  }
  return std::nullopt;
}

class AnyConnection {
 public:
  virtual ~AnyConnection() = default;
  virtual void close() = 0;
  [[nodiscard]] virtual bool is_busy() const = 0;  // a request is under way
  [[nodiscard]] virtual SteadyTime due() const = 0;
  virtual void out_of_time() = 0;
};

}  // namespace

struct Server::Parts : std::enable_shared_from_this<Server::Parts> {
  Parts(io::Loop& its_loop, const Gate& its_gate, ServerOptions its_options, Logger its_log,
        Clock& its_clock)
      : loop(its_loop),
        gate(its_gate),
        options(std::move(its_options)),
        log(its_log),
        clock(its_clock),
        acceptor(loop.context()) {}

  [[nodiscard]] bool has_tls() const { return !options.tls_certificate.empty(); }
  [[nodiscard]] SteadyTime now() const { return clock.now(); }

  Result<void> read_tls();
  Result<void> listen();
  void accept();
  void accepted(Tcp::socket socket);
  void sweep();
  const std::string& date() {
    const std::time_t second =
        std::chrono::floor<std::chrono::seconds>(clock.wall_now()).time_since_epoch().count();
    if (second != date_second) {
      date_second = second;
      date_text = http_date(second);
    }
    return date_text;
  }

  io::Loop& loop;
  const Gate& gate;
  const ServerOptions options;
  const Logger log;
  Clock& clock;
  Tcp::acceptor acceptor;
  std::shared_ptr<asio::ssl::context> tls;
  std::list<std::weak_ptr<AnyConnection>> connections;
  std::size_t busy = 0;
  bool stopping = false;
  std::unique_ptr<ports::Loop::Timer> sweeping;
  std::unique_ptr<ports::Loop::Timer> accepting_again;
  std::time_t date_second = 0;
  std::string date_text;
};

namespace {

// One caller, request by request. While a request is being answered the next bytes are waited for
// already: that is how it is noticed that the caller has gone.
template <class Stream>
class Connection final : public AnyConnection,
                         public std::enable_shared_from_this<Connection<Stream>> {
 public:
  static constexpr bool kTls = !std::is_same_v<Stream, Tcp::socket>;

  template <class... Arguments>
  Connection(std::shared_ptr<Server::Parts> server, Arguments&&... arguments)
      : server_(std::move(server)), stream_(std::forward<Arguments>(arguments)...) {}

  void start() {
    ErrorCodeOf ignored;
    socket().set_option(Tcp::no_delay(true), ignored);
    wait_until(server_->options.header_timeout);
    if constexpr (kTls) {
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](const ErrorCodeOf& error) {
                                if (error) return self->close();
                                self->read_ahead();
                              });
    } else {
      read_ahead();
    }
  }

  void close() override {
    if (closed_) return;
    closed_ = true;
    ErrorCodeOf ignored;
    socket().shutdown(Tcp::socket::shutdown_both, ignored);
    socket().close(ignored);
    end_request();
    if (gone_) gone_->tell();
  }

  [[nodiscard]] bool is_busy() const override { return busy_; }
  [[nodiscard]] SteadyTime due() const override { return due_; }

  void out_of_time() override {
    if (phase_ != Phase::head && phase_ != Phase::body) return close();
    respond(problem(408, "the request did not come in time"), false);
  }

 private:
  enum class Phase : std::uint8_t { idle, head, body, answering };

  Tcp::socket& socket() {
    if constexpr (kTls) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }

  void wait_until(Duration span) { due_ = saturating_add(server_->now(), span); }

  // Always at most one read under way; into a place of its own, since what has come before may be
  // parsed meanwhile.
  void read_ahead() {
    if (reading_ || closed_) return;
    if (phase_ == Phase::answering && come_.size() >= kReadBytes) return;  // it can wait
    reading_ = true;
    stream_.async_read_some(asio::buffer(chunk_), [self = this->shared_from_this()](
                                                      const ErrorCodeOf& error, std::size_t size) {
      self->reading_ = false;
      if (error) return self->close();
      if (self->lingering_) return self->drain();
      self->come_.append(self->chunk_.data(), size);
      if (self->phase_ != Phase::answering) self->advance();
    });
  }

  // As far as what has come allows.
  void advance() {
    while (!closed_ && phase_ != Phase::answering) {
      if (phase_ == Phase::idle) {
        if (come_.empty()) break;
        phase_ = Phase::head;
        parser_.emplace();
        parser_->header_limit(static_cast<std::uint32_t>(server_->options.max_head));
        parser_->body_limit(server_->options.max_body);
        wait_until(server_->options.header_timeout);
      }
      if (!parse()) break;
    }
    if (phase_ != Phase::answering) read_ahead();
  }

  // False: more must come first.
  bool parse() {
    if (come_.empty()) return false;
    ErrorCodeOf error;
    const bool had_head = parser_->is_header_done();
    parser_->eager(had_head);
    come_.erase(0, parser_->put(asio::buffer(come_), error));
    if (error == beast::http::error::need_more) return false;
    if (error) {
      if (const auto refusal = refusal_of(error)) {
        respond(*refusal, false);
      } else {
        close();
      }
      return false;
    }
    if (!had_head && parser_->is_header_done() && !take_head()) return false;
    if (!parser_->is_done()) return true;
    dispatch();
    return true;
  }

  // False: it was refused.
  bool take_head() {
    const auto& message = parser_->get();
    keep_alive_ = message.keep_alive() && !server_->stopping;
    is_head_ = message.method() == beast::http::verb::head;
    Head head{.method = std::string(message.method_string()),
              .target = std::string(message.target())};
    for (const auto& field : message)
      head.headers.emplace_back(lower(field.name_string()), std::string(field.value()));
    auto admitted = server_->gate.admit(std::move(head));
    if (!admitted) {
      // What follows is its body, which nobody wants.
      respond(std::move(admitted).error(), parser_->is_done());
      return false;
    }
    admitted_.emplace(*std::move(admitted));
    phase_ = Phase::body;
    wait_until(server_->options.body_timeout);
    if (beast::iequals(message[beast::http::field::expect], "100-continue")) ask_for_body();
    return true;
  }

  void ask_for_body() {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asking_ = true;
    asio::async_write(stream_, asio::buffer(kContinue),
                      [self = this->shared_from_this()](const ErrorCodeOf& error, std::size_t) {
                        self->asking_ = false;
                        if (error) return self->close();
                        if (auto held = std::exchange(self->held_, std::nullopt)) {
                          self->respond(std::move(held->first), held->second);
                        }
                      });
  }

  void dispatch() {
    phase_ = Phase::answering;
    busy_ = true;
    ++server_->busy;
    due_ = SteadyTime::max();
    Request request = std::move(admitted_->request);
    const Route& route = *admitted_->route;
    request.body = std::move(parser_->get().body());
    gone_ = request.gone = std::make_shared<Gone>();
    auto reply = [weak = this->weak_from_this()](Response response) {
      if (const auto self = weak.lock()) self->respond(std::move(response), true);
    };
    const auto self = this->shared_from_this();  // the answer may come at once, and close us
    try {
      route.handle(std::move(request), std::move(reply));
    } catch (const std::exception& error) {
      server_->log.log(
          Level::error, "http.threw", "a route threw: a bug of ours",
          {{"method", route.method}, {"route", route.pattern}, {"error", error.what()}});
      if (busy_) respond(problem(500, "the server has a bug here; its log says more"), true);
    }
    read_ahead();
  }

  void end_request() {
    if (!std::exchange(busy_, false)) return;
    --server_->busy;
  }

  void respond(Response response, bool may_go_on) {
    if (closed_ || writing_) return;
    if (asking_) {  // one write at a time
      if (!held_) held_.emplace(std::move(response), may_go_on);
      return;
    }
    end_request();
    gone_.reset();
    phase_ = Phase::answering;
    writing_ = true;
    keep_alive_ = keep_alive_ && may_go_on && !server_->stopping;
    out_.clear();
    head_of(response);
    body_ = is_head_ ? std::string() : std::move(response.body);
    wait_until(kWriteTimeout);
    const std::array<asio::const_buffer, 2> parts = {asio::buffer(out_), asio::buffer(body_)};
    asio::async_write(stream_, parts,
                      [self = this->shared_from_this()](const ErrorCodeOf& error, std::size_t) {
                        self->written(error);
                      });
  }

  void head_of(const Response& response) {
    const auto add = [&](std::string_view text) { out_ += text; };
    add("HTTP/1.1 ");
    add(std::to_string(response.status));
    add(" ");
    add(reason_of(response.status));
    add("\r\nDate: ");
    add(server_->date());
    if (response.status != 204) {
      add("\r\nContent-Length: ");
      add(std::to_string(response.body.size()));
    }
    if (!response.body.empty()) {
      add("\r\nContent-Type: ");
      add(response.type);
    }
    add("\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store");
    for (const auto& [name, value] : response.headers) {
      add("\r\n");
      add(name);
      add(": ");
      add(value);
    }
    if (!keep_alive_) add("\r\nConnection: close");
    add("\r\n\r\n");
  }

  void written(const ErrorCodeOf& error) {
    writing_ = false;
    if (error || closed_) return close();
    if (!keep_alive_) return linger();
    phase_ = Phase::idle;
    is_head_ = false;
    parser_.reset();
    admitted_.reset();
    wait_until(server_->options.idle_timeout);
    advance();
  }

  // Closed at once, a caller that still sends would be reset before it has read our answer.
  void linger() {
    ErrorCodeOf ignored;
    socket().shutdown(Tcp::socket::shutdown_send, ignored);
    wait_until(std::chrono::seconds(1));
    lingering_ = true;
    drain();
  }

  void drain() {
    if (reading_ || closed_) return;
    reading_ = true;
    socket().async_read_some(asio::buffer(chunk_), [self = this->shared_from_this()](
                                                       const ErrorCodeOf& error, std::size_t) {
      self->reading_ = false;
      if (error) return self->close();
      self->drain();
    });
  }

  const std::shared_ptr<Server::Parts> server_;
  Stream stream_;
  std::array<char, kReadBytes> chunk_;
  std::string come_;  // and not parsed yet
  std::optional<Parser> parser_;
  std::optional<Gate::Admitted> admitted_;
  std::shared_ptr<Gone> gone_;
  Phase phase_ = Phase::idle;
  SteadyTime due_ = SteadyTime::max();
  std::string out_;
  std::string body_;
  bool reading_ = false;
  bool writing_ = false;
  bool busy_ = false;
  bool keep_alive_ = true;
  bool is_head_ = false;
  bool lingering_ = false;
  bool asking_ = false;                            // for a body: "100 Continue" is being written
  std::optional<std::pair<Response, bool>> held_;  // the answer that waits for that
  bool closed_ = false;
};

}  // namespace

Result<void> Server::Parts::read_tls() {
  try {
    auto fresh = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    fresh->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                       asio::ssl::context::no_tlsv1_1);
    fresh->use_certificate_chain_file(options.tls_certificate);
    fresh->use_private_key_file(options.tls_key, asio::ssl::context::pem);
    tls = std::move(fresh);
    return {};
  } catch (const boost::system::system_error& error) {
    return fail(ErrorCode::invalid_argument, "read the certificate",
                options.tls_certificate + " with " + options.tls_key + ": " + error.what());
  }
}

Result<void> Server::Parts::listen() {
  if (has_tls()) {
    if (auto read = read_tls(); !read) return read;
  }
  ErrorCodeOf error;
  const auto address = asio::ip::make_address(options.address, error);
  const Tcp::endpoint endpoint(address, options.port);
  const auto refused = [&](const char* what) {
    return fail(ErrorCode::unavailable,
                "listen on " + options.address + ":" + std::to_string(options.port),
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
  accept();
  sweep();
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
    self->log.log(Level::warning, "http.accept", "a connection could not be accepted",
                  {{"error", error.message()}});
    self->accepting_again = self->loop.after(kAcceptAgain, [weak] {
      if (const auto alive = weak.lock()) alive->accept();
    });
  });
}

void Server::Parts::accepted(Tcp::socket socket) {
  if (connections.size() >= options.max_connections) {
    // As many as may be: nothing is promised to one more, and nothing is spent on it.
    ErrorCodeOf ignored;
    static constexpr std::string_view kFull =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
        "Content-Length: 0\r\n\r\n";
    socket.non_blocking(true, ignored);
    if (!has_tls()) socket.send(asio::buffer(kFull), 0, ignored);
    return;
  }
  const auto add = [&](auto connection) {
    connections.push_back(connection);
    connection->start();
  };
  if (has_tls()) {
    using Stream = asio::ssl::stream<Tcp::socket>;
    add(std::make_shared<Connection<Stream>>(shared_from_this(), std::move(socket), *tls));
  } else {
    add(std::make_shared<Connection<Tcp::socket>>(shared_from_this(), std::move(socket)));
  }
}

void Server::Parts::sweep() {
  const SteadyTime at = now();
  std::vector<std::shared_ptr<AnyConnection>> late;
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
    : parts_(std::make_shared<Parts>(loop, gate, std::move(options), log, clock)) {}

Server::~Server() {
  stop_accepting();
  parts_->sweeping.reset();
  for (const auto& connection : std::exchange(parts_->connections, {}))
    if (const auto alive = connection.lock()) alive->close();
}

Result<void> Server::listen() {
  return parts_->listen();
}

std::uint16_t Server::port() const {
  ErrorCodeOf ignored;
  return parts_->acceptor.local_endpoint(ignored).port();
}

Result<void> Server::reload_tls() {
  if (!parts_->has_tls()) return {};
  return parts_->read_tls();
}

void Server::stop_accepting() {
  parts_->stopping = true;
  parts_->accepting_again.reset();
  ErrorCodeOf ignored;
  parts_->acceptor.close(ignored);
  for (const auto& connection : parts_->connections) {
    const auto alive = connection.lock();
    if (alive && !alive->is_busy()) alive->close();
  }
}

std::size_t Server::connections() const noexcept {
  return parts_->connections.size();
}

std::size_t Server::requests_under_way() const noexcept {
  return parts_->busy;
}

}  // namespace holdfast::http
