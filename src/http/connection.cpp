#include "http/connection.hpp"

#include <array>
#include <optional>
#include <type_traits>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "http/answer_head.hpp"
#include "http/problem.hpp"

namespace asio = boost::asio;
namespace beast = boost::beast;

namespace holdfast::http {
namespace {

using Tcp = asio::ip::tcp;
using ErrorCodeOf = boost::system::error_code;
using Parser = beast::http::request_parser<beast::http::string_body>;

constexpr std::size_t kReadBytes = std::size_t{16} << 10U;
// Of a stream, so much is on its way to a reader at a time.
constexpr std::size_t kPartBytes = std::size_t{64} << 10U;
constexpr Duration kWriteTimeout = std::chrono::seconds(30);

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

// A caller that speaks plain HTTP where TLS is spoken.
bool is_plain_http(const ErrorCodeOf& error) {
  return error.category() == asio::error::get_ssl_category() &&
         ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST;
}

// While a request is being answered the next bytes are waited for already: that is how it is
// noticed that the caller has gone.
template <class Stream>
class ConnectionOver final : public Connection,
                             public std::enable_shared_from_this<ConnectionOver<Stream>> {
 public:
  static constexpr bool kTls = !std::is_same_v<Stream, Tcp::socket>;

  template <class... Arguments>
  explicit ConnectionOver(std::shared_ptr<Reception> reception, Arguments&&... arguments)
      : reception_(std::move(reception)), stream_(std::forward<Arguments>(arguments)...) {
    ++reception_->open;
  }
  ~ConnectionOver() override {
    if (!closed_) --reception_->open;
  }

  void start() override {
    ErrorCodeOf ignored;
    socket().set_option(Tcp::no_delay(true), ignored);
    wait_until(reception_->options.header_timeout);
    if constexpr (kTls) {
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](const ErrorCodeOf& error) {
                                if (error) return self->refuse_handshake(error);
                                self->read_ahead();
                              });
    } else {
      read_ahead();
    }
  }

  void close() override {
    if (closed_) return;
    closed_ = true;
    --reception_->open;
    ErrorCodeOf ignored;
    socket().shutdown(Tcp::socket::shutdown_both, ignored);
    socket().close(ignored);
    end_stream();
    end_request();
    if (gone_) gone_->tell();
  }

  void wind_down() override {
    keep_alive_ = false;
    if (source_) return cut_stream();
    if (!busy_ && !writing_) close();
  }

  void cut_stream() override {
    if (!source_) return;
    keep_alive_ = false;
    end_stream();
    send_rest();
  }

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

  void wait_until(Duration span) { due_ = saturating_add(reception_->now(), span); }

  void refuse_handshake(const ErrorCodeOf& error) {
    static constexpr std::string_view kSpeakTls =
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 40\r\n"
        "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\nThis port speaks TLS: ask "
        "with https://\n";
    ErrorCodeOf ignored;
    if (!closed_ && is_plain_http(error)) {
      socket().non_blocking(true, ignored);
      socket().send(asio::buffer(kSpeakTls), 0, ignored);
      return linger();
    }
    close();
  }

  // Always at most one read under way; into a place of its own, since what has come before may be
  // parsed meanwhile.
  void read_ahead() {
    if (reading_ || closed_ || sends_no_more_) return;
    if (phase_ == Phase::answering && come_.size() >= kReadBytes) return;  // it can wait
    reading_ = true;
    stream_.async_read_some(asio::buffer(chunk_), [self = this->shared_from_this()](
                                                      const ErrorCodeOf& error, std::size_t size) {
      self->reading_ = false;
      if (error == asio::error::eof && self->wants_its_answer()) return;
      if (error) return self->close();
      if (self->lingering_) return self->drain();
      self->come_.append(self->chunk_.data(), size);
      if (self->phase_ != Phase::answering) return self->advance();
      self->read_ahead();
    });
  }

  // A caller that has said all may still listen: only one that is waited for is taken for gone, and
  // one that is not there fails to take its answer.
  bool wants_its_answer() {
    if (phase_ != Phase::answering || source_ || (gone_ && gone_->is_awaited())) return false;
    keep_alive_ = false;
    sends_no_more_ = true;
    return true;
  }

  // As far as what has come allows.
  void advance() {
    while (!closed_ && phase_ != Phase::answering) {
      if (phase_ == Phase::idle) {
        if (come_.empty()) break;
        phase_ = Phase::head;
        parser_.emplace();
        parser_->header_limit(static_cast<std::uint32_t>(reception_->options.max_head));
        parser_->body_limit(reception_->options.max_body);
        wait_until(reception_->options.header_timeout);
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
    if (error == beast::http::error::need_more) {
      // The bytes of a body are always taken. What is left is the head of a chunk, or what follows
      // the last one: the parser has no limit for these.
      if (had_head && come_.size() > reception_->options.max_head) {
        respond(problem(431, "the head of a chunk is larger than this server takes"), false);
      }
      return false;
    }
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
    keep_alive_ = message.keep_alive() && !reception_->stopping;
    is_head_ = message.method() == beast::http::verb::head;
    knows_chunks_ = message.version() >= 11;
    Head head{.method = std::string(message.method_string()),
              .target = std::string(message.target())};
    for (const auto& field : message)
      head.headers.emplace_back(lower(field.name_string()), std::string(field.value()));
    auto admitted = reception_->gate.admit(std::move(head));
    if (!admitted) {
      // What follows is its body, which nobody wants.
      respond(std::move(admitted).error(), parser_->is_done());
      return false;
    }
    admitted_.emplace(*std::move(admitted));
    if (!parser_->is_done() && admitted_->route->method == "GET") {
      respond(problem(413, "no body is expected here"), false);
      return false;
    }
    phase_ = Phase::body;
    wait_until(reception_->options.body_timeout);
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
    ++reception_->busy;
    due_ = SteadyTime::max();
    Request request = std::move(admitted_->request);
    const auto route_held = admitted_->route;  // a reload may drop it while it answers
    const Route& route = *route_held;
    request.body = std::move(parser_->get().body());
    gone_ = request.gone = std::make_shared<Gone>();
    auto reply = [weak = this->weak_from_this()](Response response) {
      if (const auto self = weak.lock()) self->respond(std::move(response), true);
    };
    const auto self = this->shared_from_this();  // the answer may come at once, and close us
    try {
      route.handle(std::move(request), std::move(reply));
    } catch (const std::exception& error) {
      reception_->log.log(
          Level::error, "http.threw", "a route threw: a bug of ours",
          {{"method", route.method}, {"route", route.pattern}, {"error", error.what()}});
      if (busy_) respond(problem(500, "the server has a bug here; its log says more"), true);
    }
    read_ahead();
  }

  void end_request() {
    if (!std::exchange(busy_, false)) return;
    --reception_->busy;
  }

  void respond(Response response, bool may_go_on) {
    if (closed_ || writing_ || rest_) return;
    if (asking_) {  // one write at a time
      if (!held_) held_.emplace(std::move(response), may_go_on);
      return;
    }
    end_request();
    gone_.reset();
    phase_ = Phase::answering;
    if (reception_->options.on_answered) {
      reception_->options.on_answered(admitted_ ? admitted_->route.get() : nullptr,
                                      response.status);
    }
    const bool streams = response.source && !is_head_;
    keep_alive_ = keep_alive_ && may_go_on && !reception_->stopping;
    if (streams && !knows_chunks_) keep_alive_ = false;  // its end is that of the connection
    out_ = head_of(response, {.date = reception_->date(),
                              .keep_alive = keep_alive_,
                              .chunked = streams && knows_chunks_});
    body_ = is_head_ ? std::string() : std::move(response.body);
    if (streams) begin_stream(std::move(response.source));
    const std::array<asio::const_buffer, 2> parts = {asio::buffer(out_), asio::buffer(body_)};
    write(parts);
  }

  template <class Buffers>
  void write(const Buffers& buffers) {
    writing_ = true;
    wait_until(kWriteTimeout);
    // A caller that takes a long answer slowly has time as long as it takes some of it.
    const auto go_on = [self = this->shared_from_this()](const ErrorCodeOf& error, std::size_t) {
      self->wait_until(kWriteTimeout);
      return error ? std::size_t{0} : kPartBytes;
    };
    asio::async_write(stream_, buffers, go_on,
                      [self = this->shared_from_this()](const ErrorCodeOf& error, std::size_t) {
                        self->written(error);
                      });
  }

  void written(const ErrorCodeOf& error) {
    writing_ = false;
    if (error || closed_) return close();
    if (rest_) return send_rest();
    if (!keep_alive_) return linger();
    phase_ = Phase::idle;
    is_head_ = false;
    parser_.reset();
    admitted_.reset();
    wait_until(reception_->options.idle_timeout);
    advance();
  }

  void begin_stream(std::shared_ptr<BodySource> source) {
    rest_ = true;
    if (reception_->stopping) return;  // it ends as it begins
    source_ = std::move(source);
    source_->on_more([weak = this->weak_from_this()] {
      if (const auto self = weak.lock()) self->send_rest();
    });
  }

  void end_stream() {
    if (source_) source_->on_more({});
    source_.reset();
  }

  // What the source has by now; and its end, if it has come to that.
  void send_rest() {
    if (writing_ || closed_ || !rest_) return;
    body_.clear();
    if (source_ && !source_->take(body_, kPartBytes)) end_stream();
    if (!source_) rest_ = false;
    out_.clear();
    if (knows_chunks_) {
      out_ = chunk_of(body_, !source_);
    } else {
      out_.swap(body_);
    }
    if (!out_.empty()) return write(asio::buffer(out_));
    due_ = SteadyTime::max();
    if (!source_) written({});
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

  const std::shared_ptr<Reception> reception_;
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
  std::shared_ptr<BodySource> source_;  // of the stream that is being sent
  bool rest_ = false;                   // a stream has begun, and its end has not been sent
  bool reading_ = false;
  bool writing_ = false;
  bool busy_ = false;
  bool keep_alive_ = true;
  bool is_head_ = false;
  bool knows_chunks_ = true;
  bool lingering_ = false;
  bool sends_no_more_ = false;
  bool asking_ = false;                            // for a body: "100 Continue" is being written
  std::optional<std::pair<Response, bool>> held_;  // the answer that waits for that
  bool closed_ = false;
};

}  // namespace

const std::string& Reception::date() {
  const std::time_t second =
      std::chrono::floor<std::chrono::seconds>(clock.wall_now()).time_since_epoch().count();
  if (second != date_second_) {
    date_second_ = second;
    date_text_ = http_date(second);
  }
  return date_text_;
}

std::shared_ptr<Connection> plain_connection(std::shared_ptr<Reception> reception,
                                             Tcp::socket socket) {
  return std::make_shared<ConnectionOver<Tcp::socket>>(std::move(reception), std::move(socket));
}

std::shared_ptr<Connection> tls_connection(std::shared_ptr<Reception> reception, Tcp::socket socket,
                                           asio::ssl::context& tls) {
  using Stream = asio::ssl::stream<Tcp::socket>;
  return std::make_shared<ConnectionOver<Stream>>(std::move(reception), std::move(socket), tls);
}

}  // namespace holdfast::http
