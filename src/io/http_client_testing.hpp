#pragma once

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "io/http_client.hpp"
#include "io/loop.hpp"

namespace holdfast::testing {

// A loop that runs on a thread of its own.
class RunningLoop {
 public:
  RunningLoop() : thread_([this] { loop_.run(); }) {}
  ~RunningLoop() {
    loop_.stop();
    thread_.join();
  }
  RunningLoop(const RunningLoop&) = delete;
  RunningLoop& operator=(const RunningLoop&) = delete;

  [[nodiscard]] io::Loop& operator*() { return loop_; }

 private:
  io::Loop loop_;
  std::thread thread_;
};

[[nodiscard]] inline std::shared_ptr<const io::AddressGuard> allowing(
    const std::vector<std::string>& allowed) {
  return std::make_shared<const io::AddressGuard>(io::AddressGuard::make(allowed).value());
}

// A client whose answers a test can wait for. May reach this machine.
class Fetcher {
 public:
  explicit Fetcher(io::HttpClientOptions options = {})
      : client(io::HttpClient::start(*loop, std::move(options)).value()) {}

  struct Started {
    io::HttpCall call;
    std::future<io::HttpResult> result;
  };

  [[nodiscard]] Started start(io::HttpRequest request) {
    if (!request.guard) request.guard = allowing({"loopback"});
    std::promise<io::HttpResult> promise;
    auto future = promise.get_future();
    auto call = client.send(std::move(request),
                            [promise = std::move(promise)](io::HttpResult result) mutable {
                              promise.set_value(std::move(result));
                            });
    return {std::move(call), std::move(future)};
  }

  [[nodiscard]] io::HttpResult fetch(io::HttpRequest request) {
    return start(std::move(request)).result.get();
  }

  RunningLoop loop;
  io::HttpClient client;
};

[[nodiscard]] inline std::shared_ptr<const std::string> shared_text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

}  // namespace holdfast::testing
