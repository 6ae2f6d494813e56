#include "server/bench_peer.hpp"

#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <holdfast/clock.hpp>

#include "io/forked.hpp"

namespace holdfast::server::bench {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// The bytes of one message: its head and its body. Nothing: it is not whole yet.
std::optional<std::size_t> whole(std::string_view text) {
  const std::size_t head = text.find("\r\n\r\n");
  if (head == text.npos) return std::nullopt;
  std::size_t body = 0;
  for (const std::string_view name : {"Content-Length: ", "content-length: "}) {
    const std::size_t at = text.substr(0, head).find(name);
    if (at == text.npos) continue;
    std::from_chars(text.data() + at + name.size(), text.data() + head, body);
  }
  const std::size_t size = head + 4 + body;
  if (text.size() < size) return std::nullopt;
  return size;
}

class Loader {
 public:
  Loader(const Load& load, std::uint16_t port)
      : load_(load), to_(asio::ip::address_v4::loopback(), port), left_(load.count) {}

  Loaded run() {
    const SteadyTime began = system_clock().now();
    for (std::size_t i = 0; i < load_.connections; ++i) {
      auto connection = std::make_shared<Connection>(*this);
      connection->socket.async_connect(to_, [this, connection](const error_code& error) {
        if (error) return lose();
        connection->socket.set_option(tcp::no_delay(true));
        connection->send();
      });
    }
    context_.run();
    loaded_.seconds = std::chrono::duration<double>(system_clock().now() - began).count();
    loaded_.refused += left_;
    return loaded_;
  }

 private:
  struct Connection : std::enable_shared_from_this<Connection> {
    explicit Connection(Loader& its_loader) : loader(its_loader), socket(its_loader.context_) {}

    void send() {
      if (loader.left_ == 0) return;
      --loader.left_;
      asio::async_write(socket, asio::buffer(loader.load_.request),
                        [self = shared_from_this()](const error_code& error, std::size_t) {
                          if (error) return self->loader.lose();
                          self->receive();
                        });
    }
    void receive() {
      socket.async_read_some(asio::buffer(space), [self = shared_from_this()](
                                                      const error_code& error, std::size_t size) {
        if (error) return self->loader.lose();
        self->came(size);
      });
    }
    void came(std::size_t size) {
      answer.append(space.data(), size);
      if (!whole(answer)) return receive();
      ++(answer.starts_with("HTTP/1.1 201 ") ? loader.loaded_.accepted : loader.loaded_.refused);
      answer.clear();
      send();
    }

    Loader& loader;
    tcp::socket socket;
    std::array<char, 16384> space;
    std::string answer;
  };

  void lose() { ++loaded_.refused; }

  const Load& load_;
  const tcp::endpoint to_;
  asio::io_context context_{1};
  std::size_t left_;
  Loaded loaded_;
};

class Receiver {
 public:
  Receiver(int channel, Duration wait)
      : wait_(wait),
        channel_(context_, channel),
        acceptor_(context_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    acceptor_.listen(4096);
  }

  void run() {
    std::uint16_t port = acceptor_.local_endpoint().port();
    if (!io::send_all(channel_.native_handle(), &port, sizeof port)) return;
    accept();
    answer_questions();
    context_.run();
  }

 private:
  struct Connection : std::enable_shared_from_this<Connection> {
    Connection(Receiver& its_receiver, tcp::socket its_socket)
        : receiver(its_receiver), socket(std::move(its_socket)), timer(its_receiver.context_) {}

    void receive() {
      socket.async_read_some(asio::buffer(space), [self = shared_from_this()](
                                                      const error_code& error, std::size_t size) {
        if (error) return;
        self->request.append(self->space.data(), size);
        self->answer_whole();
      });
    }
    void answer_whole() {
      const auto size = whole(request);
      if (!size) return receive();
      request.erase(0, *size);
      ++receiver.received_.requests;
      ++receiver.at_once_;
      receiver.received_.most_at_once =
          std::max(receiver.received_.most_at_once, receiver.at_once_);
      if (receiver.wait_ == Duration::zero()) return answer();
      timer.expires_after(receiver.wait_);
      timer.async_wait([self = shared_from_this()](const error_code&) { self->answer(); });
    }
    void answer() {
      static constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
      --receiver.at_once_;
      asio::async_write(socket, asio::buffer(kAnswer),
                        [self = shared_from_this()](const error_code& error, std::size_t) {
                          if (!error) self->answer_whole();
                        });
    }

    Receiver& receiver;
    tcp::socket socket;
    asio::steady_timer timer;
    std::array<char, 4096> space;
    std::string request;
  };

  void accept() {
    acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
      if (!error) {
        socket.set_option(tcp::no_delay(true));
        std::make_shared<Connection>(*this, std::move(socket))->receive();
      }
      accept();
    });
  }
  void answer_questions() {
    channel_.async_read_some(
        asio::buffer(&question_, 1), [this](const error_code& error, std::size_t) {
          if (error || !io::send_all(channel_.native_handle(), &received_, sizeof received_)) {
            return context_.stop();
          }
          answer_questions();
        });
  }

  const Duration wait_;
  asio::io_context context_{1};
  asio::posix::stream_descriptor channel_;
  tcp::acceptor acceptor_;
  char question_ = 0;
  std::uint64_t at_once_ = 0;
  Received received_;
};

}  // namespace

void load(int channel, const Load& load) {
  std::uint16_t port = 0;
  if (!io::receive_all(channel, &port, sizeof port)) return;
  Loaded loaded = Loader(load, port).run();
  static_cast<void>(io::send_all(channel, &loaded, sizeof loaded));
}

void receive(int channel, Duration wait) {
  Receiver(channel, wait).run();
}

}  // namespace holdfast::server::bench
