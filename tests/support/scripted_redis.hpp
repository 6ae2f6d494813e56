#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "io/unique_fd.hpp"

namespace holdfast::testing {

// A server that speaks as Redis does, and says what a test tells it to. Unless told otherwise all
// goes well: whatever it is asked, it says OK.
class ScriptedRedis {
 public:
  using Words = std::vector<std::string>;
  struct Act {
    std::string says = {};  // as it goes over the wire; empty: nothing
    bool hangs_up = false;  // afterwards
  };
  // Runs on a thread of the server, and may take its time.
  using Reply = std::function<Act(const Words&)>;

  ScriptedRedis() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener_.get(), 64) != 0 ||
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("no scripted server");
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~ScriptedRedis() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    hang_up();
    for (std::thread& connection : threads_)
      connection.join();
  }
  ScriptedRedis(const ScriptedRedis&) = delete;
  ScriptedRedis& operator=(const ScriptedRedis&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string place() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::string url() const { return "redis://" + place(); }

  // The next commands of that name are answered so, one after the other.
  void next(const std::string& command, Reply reply) {
    const std::lock_guard lock(mutex_);
    next_[command].push_back(std::move(reply));
  }
  void next(const std::string& command, const std::string& says) { next(command, saying(says)); }
  // All of that name from now on, after those above.
  void always(const std::string& command, Reply reply) {
    const std::lock_guard lock(mutex_);
    always_[command] = std::move(reply);
  }
  void always(const std::string& command, const std::string& says) {
    always(command, saying(says));
  }
  // The next connection, as soon as its first bytes come.
  void at_once(Reply reply) {
    const std::lock_guard lock(mutex_);
    at_once_ = std::move(reply);
  }
  // Ends all connections there are.
  void hang_up() {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_)
      ::shutdown(fd, SHUT_RDWR);
  }

  [[nodiscard]] static Reply saying(const std::string& says) {
    return [says](const Words&) { return Act{.says = says}; };
  }
  [[nodiscard]] static Reply hanging_up_after(const std::string& says) {
    return [says](const Words&) { return Act{.says = says, .hangs_up = true}; };
  }
  [[nodiscard]] static Reply silent() { return saying(""); }

  // Every command of that name so far, as its words with spaces between.
  [[nodiscard]] std::vector<std::string> seen(const std::string& command) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> found;
    for (const Words& words : seen_) {
      if (words.front() == command) found.push_back(joined(words));
    }
    return found;
  }
  [[nodiscard]] std::vector<std::string> seen() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> found;
    for (const Words& words : seen_)
      found.push_back(joined(words));
    return found;
  }
  [[nodiscard]] int connections() const noexcept { return connections_; }
  // Of those, how many were broken off: what was on its way then does not arrive.
  [[nodiscard]] int resets() const noexcept { return resets_; }

 private:
  static std::string joined(const Words& words) {
    std::string text;
    for (const std::string& word : words)
      text += (text.empty() ? "" : " ") + word;
    return text;
  }

  void accept_all() {
    for (;;) {
      const int client = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) return;
      ++connections_;
      {
        const std::lock_guard lock(mutex_);
        open_.push_back(client);
      }
      threads_.emplace_back([this, client] { serve(client); });
    }
  }

  void serve(int client) {
    std::string read;
    for (bool open = true; open;) {
      for (Words words = taken_from(read); open && !words.empty();) {
        open = answer(client, words);
        words = taken_from(read);
      }
      std::array<char, 16384> bytes{};
      const ssize_t came = open ? ::recv(client, bytes.data(), bytes.size(), 0) : 0;
      if (came < 0 && errno == ECONNRESET) ++resets_;
      if (came <= 0) break;
      read.append(bytes.data(), static_cast<std::size_t>(came));
      if (const Reply reply = taken_at_once()) open = say(client, reply({}));
    }
    const std::lock_guard lock(mutex_);
    std::erase(open_, client);
    ::close(client);
  }

  Reply taken_at_once() {
    const std::lock_guard lock(mutex_);
    return std::exchange(at_once_, {});
  }

  bool answer(int client, const Words& words) { return say(client, reply_to(words)(words)); }

  static bool say(int client, const Act& act) {
    for (std::size_t at = 0; at < act.says.size();) {
      const ssize_t sent = ::send(client, act.says.data() + at, act.says.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) return false;
      at += static_cast<std::size_t>(sent);
    }
    return !act.hangs_up;
  }

  Reply reply_to(const Words& words) {
    const std::lock_guard lock(mutex_);
    seen_.push_back(words);
    auto& scripted = next_[words.front()];
    if (!scripted.empty()) {
      Reply reply = std::move(scripted.front());
      scripted.pop_front();
      return reply;
    }
    const auto found = always_.find(words.front());
    return found != always_.end() ? found->second : saying("+OK\r\n");
  }

  // The first whole command of what was read; none: empty.
  static Words taken_from(std::string& read) {
    std::size_t at = 0;
    const auto number = [&]() -> long {
      const auto end = read.find("\r\n", at);
      if (end == std::string::npos) return -1;
      const long value = std::stol(read.substr(at + 1, end - at - 1));
      at = end + 2;
      return value;
    };
    Words words;
    for (long left = number(); left > 0; --left) {
      const long size = number();
      if (size < 0 || read.size() < at + static_cast<std::size_t>(size) + 2) return {};
      words.push_back(read.substr(at, static_cast<std::size_t>(size)));
      at += static_cast<std::size_t>(size) + 2;
    }
    if (!words.empty()) read.erase(0, at);
    return words;
  }

  io::UniqueFd listener_;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_ = 0;
  std::atomic<int> resets_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, std::deque<Reply>> next_;
  std::map<std::string, Reply> always_;
  Reply at_once_;
  std::vector<Words> seen_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;  // the acceptor's, then the destructor's
  std::thread acceptor_;
};

}  // namespace holdfast::testing
