// A server for tests of clients and workers elsewhere.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "http/api.hpp"
#include "http/server.hpp"
#include "node/registry.hpp"

namespace holdfast::http::testing {

// The API over a store in memory, on a free port. Types that are given to it are those that its
// configuration would name.
class TestApi {
 public:
  explicit TestApi(Tokens tokens = {}, std::uint16_t port = 0,
                   const std::string& name = next_name(), node::Node::Work work = {})
      : node_(node::open("memory:" + name, {}).value()), gate_(routes_, std::move(tokens)) {
    api_.add_to(routes_);
    EXPECT_TRUE(node_->start_work(std::move(work)));
    node_->on_loop([&] {
      server_ =
          std::make_unique<Server>(node_->loop(), gate_, ServerOptions{.port = port}, Logger());
      const auto listening = server_->listen();
      EXPECT_TRUE(listening) << listening.error().text();
      port_ = server_->port();
    });
  }
  ~TestApi() {
    node_->on_loop([&] { server_.reset(); });
    static_cast<void>(node_->stop_work());
  }
  TestApi(const TestApi&) = delete;
  TestApi& operator=(const TestApi&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] node::Node& node() { return *node_; }

  static std::string next_name() {
    static std::atomic<int> count = 0;
    return "served-" + std::to_string(++count);
  }

 private:
  std::shared_ptr<node::Node> node_;
  Api api_{*node_, {.max_payload = 1000, .max_array = 7}, system_clock(), {.is_ready = [] {
             return true;
           }}};
  Routes routes_;
  Gate gate_;
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
};

[[nodiscard]] inline Tokens token(std::string text, Role role) {
  return Tokens({{.name = "ann", .role = role, .hash = sha256(text)}});
}

}  // namespace holdfast::http::testing
