#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <holdfast/clock.hpp>

#include "io/unique_fd.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::testing {

// What a Redis server answers, read without any of the code that is tested.
struct RedisAnswer {
  char kind = '_';  // as on the wire: + - : $ *; '_' is nil
  std::string text = {};
  std::vector<RedisAnswer> parts = {};
};

// A plain connection, for tests that want to look, or to interfere. Throws what goes wrong.
class RedisTalk {
 public:
  explicit RedisTalk(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
      throw std::runtime_error("redis: no connection");
  }

  RedisAnswer ask(const std::vector<std::string>& words) {
    std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& word : words)
      bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t sent = ::send(fd_.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error("redis: the connection is lost");
      at += static_cast<std::size_t>(sent);
    }
    return answer();
  }

 private:
  void more() {
    std::array<char, 16384> bytes{};
    const ssize_t came = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
    if (came <= 0) throw std::runtime_error("redis: the connection is lost");
    read_.append(bytes.data(), static_cast<std::size_t>(came));
  }
  std::string line() {
    std::size_t end = std::string::npos;
    while ((end = read_.find("\r\n")) == std::string::npos)
      more();
    std::string text = read_.substr(0, end);
    read_.erase(0, end + 2);
    return text;
  }
  RedisAnswer answer() {
    const std::string head = line();
    RedisAnswer answer{.kind = head.at(0), .text = head.substr(1)};
    if (answer.kind != '$' && answer.kind != '*') return answer;
    const long size = std::stol(answer.text);
    answer.text.clear();
    if (size < 0) {
      answer.kind = '_';
    } else if (answer.kind == '*') {
      for (long at = 0; at < size; ++at)
        answer.parts.push_back(this->answer());
    } else {
      const auto bytes = static_cast<std::size_t>(size);
      while (read_.size() < bytes + 2)
        more();
      answer.text = read_.substr(0, bytes);
      read_.erase(0, bytes + 2);
    }
    return answer;
  }

  io::UniqueFd fd_;
  std::string read_;
};

// A port that nobody has now. Somebody may have it a moment later: whoever takes it tries again.
inline std::uint16_t free_port() {
  const io::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

// A real redis-server of one test's own, in a folder of its own. It ends with this; should the test
// be killed, the system ends it. Start it on the test's main thread: it ends with that one.
class RedisServer {
 public:
  struct Options {
    std::vector<std::string> settings = {};  // as on its command line: "--appendonly", "yes"
    std::string password = {};
    // A node of a cluster: with all slots, or, to meet another, with none.
    bool cluster = false;
    bool all_slots = true;
    // Files for a second port, which takes TLS alone; none: no such port.
    std::string tls_certificate = {};
    std::string tls_key = {};
    // Not a server of data: the lines of a sentinel's configuration.
    std::vector<std::string> sentinel = {};
  };

  RedisServer() : RedisServer(Options()) {}
  explicit RedisServer(Options options) : options_(std::move(options)) {
    for (int left = 5;; --left) {
      port_ = free_port();
      tls_port_ = options_.tls_certificate.empty() ? 0 : free_port();
      cluster_port_ = options_.cluster ? free_port() : 0;
      try {
        start();
        break;
      } catch (const std::exception&) {
        kill();
        if (left == 0) throw;
      }
    }
    if (options_.cluster && options_.all_slots) take_all_slots();
  }
  ~RedisServer() { kill(); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::uint16_t tls_port() const noexcept { return tls_port_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] const TemporaryFolder& folder() const noexcept { return folder_; }
  [[nodiscard]] std::string url() const {
    const std::string login = options_.password.empty() ? "" : ":" + options_.password + "@";
    return "redis://" + login + "127.0.0.1:" + std::to_string(port_);
  }

  // Again in the same folder and at the same port; returns when it answers and has read its data.
  void start() {
    std::vector<std::string> words = command_line();
    std::vector<char*> pointers;
    for (std::string& word : words)
      pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    const std::string said = folder_ / "output";
    posix_spawn_file_actions_addopen(&files, 1, said.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    const int failed = ::posix_spawn(&pid_, pointers[0], &files, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) pid_ = 0;
    wait_until_it_answers();
  }
  // As an administrator does.
  void stop() { end(SIGTERM); }
  // As a power cut does, as far as a process can tell.
  void kill() { end(SIGKILL); }
  // It keeps its connections and says nothing.
  void pause() const { ::kill(pid_, SIGSTOP); }
  void resume() const { ::kill(pid_, SIGCONT); }

  // Until this node knows that every slot has one.
  void wait_for_cluster() const {
    const SteadyTime give_up_at = system_clock().now() + std::chrono::seconds(60);
    while (!ask({"CLUSTER", "INFO"}).text.starts_with("cluster_state:ok")) {
      if (system_clock().now() > give_up_at) throw std::runtime_error("no cluster: " + log());
      system_clock().sleep_for(std::chrono::milliseconds(20));
    }
  }
  // Joins the cluster of that one.
  void meet(const RedisServer& other) const {
    (void)ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(other.port_),
               std::to_string(other.cluster_port_)});
    wait_for_cluster();
  }

  // Asks it over a connection of its own.
  [[nodiscard]] RedisAnswer ask(const std::vector<std::string>& words) const {
    RedisTalk talk(port_);
    if (!options_.password.empty()) (void)talk.ask({"AUTH", options_.password});
    return talk.ask(words);
  }
  // One line of INFO: "instantaneous_ops_per_sec", "total_commands_processed", "used_memory".
  [[nodiscard]] std::string info(const std::string& name) const {
    const std::string all = "\r\n" + ask({"INFO", "everything"}).text;
    const auto at = all.find("\r\n" + name + ":");
    if (at == std::string::npos) return {};
    const auto begin = at + name.size() + 3;
    return all.substr(begin, all.find('\r', begin) - begin);
  }
  // What it has written to its log: for the message of a test that fails.
  [[nodiscard]] std::string log() const {
    std::ifstream file(folder_ / "output");
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  [[nodiscard]] std::vector<std::string> command_line() const {
    std::vector<std::string> words = {"/usr/bin/setpriv", "--pdeathsig", "KILL",
                                      "/usr/bin/redis-server"};
    const auto add = [&](std::initializer_list<std::string> more) {
      words.insert(words.end(), more);
    };
    if (!options_.sentinel.empty()) {
      std::ofstream file(folder_ / "sentinel.conf");
      for (const std::string& line : options_.sentinel)
        file << line << "\n";
      add({folder_ / "sentinel.conf", "--sentinel"});
    }
    add({"--bind", "127.0.0.1", "--port", std::to_string(port_), "--dir", folder_.path().string(),
         "--daemonize", "no"});
    if (!options_.sentinel.empty()) return words;
    add({"--save", "", "--appendonly", "no", "--enable-debug-command", "yes"});
    if (!options_.password.empty()) add({"--requirepass", options_.password});
    if (tls_port_ != 0) {
      add({"--tls-port", std::to_string(tls_port_), "--tls-cert-file", options_.tls_certificate,
           "--tls-key-file", options_.tls_key, "--tls-ca-cert-file", options_.tls_certificate,
           "--tls-auth-clients", "no"});
    }
    if (options_.cluster) {
      add({"--cluster-enabled", "yes", "--cluster-port", std::to_string(cluster_port_),
           "--cluster-config-file", "nodes.conf"});
    }
    words.insert(words.end(), options_.settings.begin(), options_.settings.end());
    return words;
  }

  // Throws when it does not, or has ended.
  void wait_until_it_answers() {
    const SteadyTime give_up_at = system_clock().now() + std::chrono::seconds(60);
    while (pid_ != 0 && system_clock().now() < give_up_at) {
      if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
        pid_ = 0;
        break;
      }
      try {
        if (!ask({"PING"}).text.starts_with("LOADING")) return;
      } catch (const std::runtime_error&) {
        // not yet
      }
      system_clock().sleep_for(std::chrono::milliseconds(5));
    }
    throw std::runtime_error("redis-server did not start: " + log());
  }

  void take_all_slots() {
    (void)ask({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    wait_for_cluster();
  }

  void end(int signal) {
    if (pid_ == 0) return;
    ::kill(pid_, signal);
    if (signal != SIGKILL) ::kill(pid_, SIGCONT);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
  }

  const Options options_;
  TemporaryFolder folder_;
  std::uint16_t port_ = 0;
  std::uint16_t tls_port_ = 0;
  std::uint16_t cluster_port_ = 0;
  pid_t pid_ = 0;
};

}  // namespace holdfast::testing
