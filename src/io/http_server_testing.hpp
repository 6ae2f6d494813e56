#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/unique_fd.hpp"

namespace holdfast::testing {

struct ServedRequest {
  std::string head;  // request line and headers
  std::string body;

  // Of the first header of that name; "none" without one.
  [[nodiscard]] std::string header(std::string_view name) const {
    const auto same = [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) ==
             std::tolower(static_cast<unsigned char>(b));
    };
    for (std::size_t at = head.find('\n'); at != head.npos; at = head.find('\n', at + 1)) {
      const std::string_view line = std::string_view(head).substr(at + 1);
      if (line.size() <= name.size() || line[name.size()] != ':') continue;
      if (!std::equal(name.begin(), name.end(), line.begin(), same)) continue;
      const std::string_view value =
          line.substr(name.size() + 1, line.find('\r') - name.size() - 1);
      return std::string(value.substr(value.starts_with(' ') ? 1 : 0));
    }
    return "none";
  }
};

[[nodiscard]] inline std::string http_answer(std::string_view status, std::string_view body = {},
                                             std::string_view headers = {}) {
  return "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

// One connection of a client, as a test plays the server of it. Everything blocks.
class ServedConnection {
 public:
  ServedConnection(int fd, SSL* ssl, int number) : number_(number), fd_(fd), ssl_(ssl) {}
  ~ServedConnection() { SSL_free(ssl_); }
  ServedConnection(const ServedConnection&) = delete;
  ServedConnection& operator=(const ServedConnection&) = delete;

  [[nodiscard]] int number() const { return number_; }  // from 1

  // Nothing: the client has closed it.
  [[nodiscard]] std::optional<ServedRequest> read() {
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == buffer_.npos) {
      if (!more()) return std::nullopt;
    }
    ServedRequest request{.head = buffer_.substr(0, end + 2), .body = {}};
    buffer_.erase(0, end + 4);
    std::size_t size = 0;
    const std::string length = request.header("Content-Length");
    std::from_chars(length.data(), length.data() + length.size(), size);
    while (buffer_.size() < size) {
      if (!more()) return std::nullopt;
    }
    request.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return request;
  }

  // False: the client has gone.
  bool write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t size = ssl_ ? SSL_write(ssl_, text.data(), static_cast<int>(text.size()))
                                : ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (size <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(size));
    }
    return true;
  }

  bool read_some() { return more(); }

  void wait_for_end() {
    while (more()) {
    }
  }

  // The client's next read or write fails, where a mere close would end it in order.
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }

 private:
  bool more() {
    std::array<char, 16'384> part{};
    const ssize_t size = ssl_ ? SSL_read(ssl_, part.data(), static_cast<int>(part.size()))
                              : ::recv(fd_, part.data(), part.size(), 0);
    if (size > 0) buffer_.append(part.data(), static_cast<std::size_t>(size));
    return size > 0;
  }

  const int number_;
  const int fd_;
  SSL* const ssl_;
  std::string buffer_;
};

// A server on a free port of this machine, with a thread for each connection. A connection is
// closed when what serves it returns.
class TestServer {
 public:
  using Serve = std::function<void(ServedConnection&)>;

  explicit TestServer(Serve serve, const std::string& address = "127.0.0.1", SSL_CTX* tls = nullptr)
      : serve_(std::move(serve)), tls_(tls), address_(address) {
    listen();
    accepting_ = std::thread([this] { accept_all(); });
  }

  // Answers each request by what `answer` says.
  static Serve each(std::function<std::string(const ServedRequest&)> answer) {
    return [answer = std::move(answer)](ServedConnection& connection) {
      while (const auto request = connection.read()) {
        if (!connection.write(answer(*request))) return;
      }
    };
  }

  ~TestServer() {
    ::shutdown(listening_.get(), SHUT_RDWR);
    accepting_.join();
    {
      const std::lock_guard lock(mutex_);
      for (Client& client : clients_)
        ::shutdown(client.fd.get(), SHUT_RDWR);
    }
    for (Client& client : clients_)
      client.thread.join();
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int connections() const { return connections_; }  // so far
  [[nodiscard]] std::string url(const std::string& path = "/") const {
    const bool is_v6 = address_.contains(':');
    return (tls_ ? "https://" : "http://") + (is_v6 ? "[" + address_ + "]" : address_) + ":" +
           std::to_string(port_) + path;
  }

 private:
  struct Client {
    io::UniqueFd fd;
    std::thread thread;
  };

  void listen() {
    sockaddr_storage storage{};
    socklen_t size = 0;
    if (address_.contains(':')) {
      auto& in = reinterpret_cast<sockaddr_in6&>(storage);
      in.sin6_family = AF_INET6;
      ::inet_pton(AF_INET6, address_.c_str(), &in.sin6_addr);
      size = sizeof in;
    } else {
      auto& in = reinterpret_cast<sockaddr_in&>(storage);
      in.sin_family = AF_INET;
      ::inet_pton(AF_INET, address_.c_str(), &in.sin_addr);
      size = sizeof in;
    }
    listening_.reset(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto* const address = reinterpret_cast<sockaddr*>(&storage);
    if (::bind(listening_.get(), address, size) != 0 || ::listen(listening_.get(), 4096) != 0 ||
        ::getsockname(listening_.get(), address, &size) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot listen");
    port_ =
        ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(address)->sin6_port
                                            : reinterpret_cast<sockaddr_in*>(address)->sin_port);
  }

  void accept_all() {
    // OpenSSL writes to a client that has gone as to any other. The threads below inherit this.
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    while (true) {
      io::UniqueFd fd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd) return;
      const std::lock_guard lock(mutex_);
      Client& client = clients_.emplace_back();
      client.fd = std::move(fd);
      client.thread =
          std::thread([this, &client, number = ++connections_] { run(client, number); });
    }
  }

  void run(Client& client, int number) {
    const int fd = client.fd.get();
    SSL* ssl = nullptr;
    if (tls_) {
      ssl = SSL_new(tls_);
      SSL_set_fd(ssl, fd);
      if (SSL_accept(ssl) != 1) {
        SSL_free(ssl);
        ::shutdown(fd, SHUT_RDWR);
        return;
      }
    }
    {
      ServedConnection connection(fd, ssl, number);
      serve_(connection);
    }
    const std::lock_guard lock(mutex_);
    client.fd.reset();
  }

  const Serve serve_;
  SSL_CTX* const tls_;
  const std::string address_;
  io::UniqueFd listening_;
  int port_ = 0;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;
  std::list<Client> clients_;
  std::thread accepting_;
};

}  // namespace holdfast::testing
