#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace holdfast::testing {

// Stands between a client and a broker, and cuts every connection when so many frames of AMQP, or
// bytes of whatever it is, have passed in one direction; or stops to pass anything on, as a network
// that lost its way does.
class CuttingProxy {
 public:
  static constexpr int kNever = std::numeric_limits<int>::max();
  static constexpr std::size_t kAllBytes = std::numeric_limits<std::size_t>::max();
  enum class Side : std::uint8_t { to_broker, from_broker };

  // `own`: another address of this machine to be found at.
  explicit CuttingProxy(std::uint16_t broker_port, const char* own = "127.0.0.1")
      : broker_port_(broker_port) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    inet_pton(AF_INET, own, &address.sin_addr);
    socklen_t size = sizeof(address);
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_, 16);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~CuttingProxy() {
    ending_ = true;
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    cut();
    for (std::thread& pump : pumps_)
      pump.join();
    close(listener_);
  }
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  // For connections to come: so many whole frames pass, and not a byte more. The eight bytes that a
  // client begins with count as one.
  void cut_after(Side side, int frames) {
    side_ = side;
    frames_ = frames;
    was_cut_ = false;
  }
  // For the next connection alone: so many bytes pass, and not one more.
  void cut_next_after_bytes(Side side, std::size_t bytes) {
    side_ = side;
    was_cut_ = false;
    bytes_ = bytes;
  }
  // Of a connection that is there: so many bytes more pass, and not one more.
  void cut_after_more_bytes(Side side, std::size_t bytes) {
    side_ = side;
    was_cut_ = false;
    more_bytes_ = bytes;
  }
  [[nodiscard]] bool was_cut() const noexcept { return was_cut_; }
  // All connections there are.
  void cut() {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_)
      shutdown(fd, SHUT_RDWR);
  }
  // Nothing passes towards the broker any more, and nothing is read of it.
  void stall(bool on) { stalled_ = on; }

 private:
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  void accept_all() {
    while (!ending_) {
      const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) return;
      const int broker = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address = loopback(broker_port_);
      if (connect(broker, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
        close(client);
        close(broker);
        continue;
      }
      {
        const std::lock_guard lock(mutex_);
        open_.push_back(client);
        open_.push_back(broker);
      }
      pumps_.emplace_back([this, client, broker] { pump(client, broker); });
    }
  }

  // Bytes of one direction that may pass.
  struct Counter {
    int frames_left = kNever;
    std::size_t frame_left = 0;  // of the frame that is passing
    bool greeted = true;
    std::size_t bytes_left = kAllBytes;
    std::string head = {};

    // How many of these bytes may pass; fewer than all: then it is cut.
    std::size_t allow(const char* bytes, std::size_t count) {
      if (bytes_left != kAllBytes) {
        const std::size_t some = std::min(bytes_left, count);
        bytes_left -= some;
        return some;
      }
      if (frames_left == kNever) return count;
      std::size_t passed = 0;
      while (passed < count) {
        if (frame_left == 0 && frames_left == 0) return passed;
        if (frame_left > 0) {
          const std::size_t some = std::min(frame_left, count - passed);
          passed += some;
          frame_left -= some;
          if (frame_left == 0) --frames_left;
          continue;
        }
        if (!greeted) {
          greeted = true;
          frame_left = 8;
          continue;
        }
        head += bytes[passed++];
        if (head.size() < 7) continue;
        std::uint32_t size = 0;
        for (int at = 3; at < 7; ++at) {
          size = (size << 8U) | static_cast<unsigned char>(head[static_cast<std::size_t>(at)]);
        }
        head.clear();
        frame_left = size + 1;
      }
      return passed;
    }
  };

  void pump(int client, int broker) {
    Counter up{.frames_left = side_ == Side::to_broker ? frames_.load() : kNever, .greeted = false};
    Counter down{.frames_left = side_ == Side::from_broker ? frames_.load() : kNever};
    (side_ == Side::to_broker ? up : down).bytes_left = bytes_.exchange(kAllBytes);
    std::vector<char> buffer(65536);
    const auto pass = [&](int from, int to, Counter& counter) {
      const ssize_t came = recv(from, buffer.data(), buffer.size(), 0);
      if (came <= 0) return false;
      const auto count = static_cast<std::size_t>(came);
      if (more_bytes_ != kAllBytes && &counter == (side_ == Side::to_broker ? &up : &down)) {
        counter.bytes_left = more_bytes_.exchange(kAllBytes);
      }
      const std::size_t allowed = counter.allow(buffer.data(), count);
      for (std::size_t at = 0; at < allowed;) {
        const ssize_t sent = send(to, buffer.data() + at, allowed - at, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        at += static_cast<std::size_t>(sent);
      }
      if (allowed == count) return true;
      was_cut_ = true;
      return false;
    };
    for (bool open = true; open && !ending_;) {
      const bool stalled = stalled_;
      pollfd polled[2] = {{stalled ? -1 : client, POLLIN, 0}, {broker, POLLIN, 0}};
      poll(polled, 2, 20);
      if (polled[0].revents != 0) open = pass(client, broker, up);
      if (open && polled[1].revents != 0) open = pass(broker, client, down);
    }
    const std::lock_guard lock(mutex_);
    for (const int fd : {client, broker}) {
      std::erase(open_, fd);
      close(fd);
    }
  }

  const std::uint16_t broker_port_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> ending_ = false;
  std::atomic<bool> stalled_ = false;
  std::atomic<Side> side_ = Side::to_broker;
  std::atomic<int> frames_ = kNever;
  std::atomic<std::size_t> bytes_ = kAllBytes;
  std::atomic<std::size_t> more_bytes_ = kAllBytes;
  std::atomic<bool> was_cut_ = false;
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::thread> pumps_;  // the acceptor's, then the destructor's
  std::thread acceptor_;
};

}  // namespace holdfast::testing
