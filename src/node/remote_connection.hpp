#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <holdfast/result.hpp>

#include "io/http_client.hpp"
#include "io/loop.hpp"

namespace holdfast::node {

// A client of HTTP for those that wait for the answer: with a loop, and a thread for it. Threads:
// any at once.
class RemoteConnection {
 public:
  [[nodiscard]] static Result<std::shared_ptr<RemoteConnection>> start(
      const io::HttpClientOptions& options);
  RemoteConnection() = default;  // see start()
  ~RemoteConnection();
  RemoteConnection(const RemoteConnection&) = delete;
  RemoteConnection& operator=(const RemoteConnection&) = delete;

  [[nodiscard]] io::HttpResult ask(io::HttpRequest request);
  // What is asked now, and from now on, is answered as canceled.
  void close();

 private:
  io::Loop loop_;
  std::optional<io::HttpClient> client_;
  std::thread thread_;
  std::mutex mutex_;
  bool is_closed_ = false;
  io::HttpCall latest_;  // one who closes it asks one thing at a time
};

}  // namespace holdfast::node
