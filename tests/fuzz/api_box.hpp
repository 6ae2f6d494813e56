// The API over a store in memory, called as the server calls it, for any bytes.
#pragma once

#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "core/json_check.hpp"
#include "http/api.hpp"
#include "node/registry.hpp"
#include "wire/problem.hpp"

namespace holdfast::fuzz {

inline void expect(bool holds) {
  if (!holds) std::abort();
}

class ApiBox {
 public:
  ApiBox() {
    api_.add_to(routes_);
    node::Node::Work work;
    work.types.emplace_back("t", engine::TypeOptions{.policy = {.attempts = 1}, .queue = "q"});
    expect(node_->start_work(std::move(work)).has_value());
    for (const char* body : {R"({"type":"t","payload":1,"key":"k"})", R"({"type":"t","queue":"r"})",
                             R"({"type":"u","delay":"1h"})"}) {
      expect(ask({"POST", "/v1/tasks", {{"host", "localhost"}, kJson}}, body).status == 201);
    }
  }
  ~ApiBox() { static_cast<void>(node_->stop_work()); }
  ApiBox(const ApiBox&) = delete;
  ApiBox& operator=(const ApiBox&) = delete;

  // What is answered: something that we stand to, whatever was asked.
  http::Response ask(http::Head head, std::string body) {
    auto promise = std::make_shared<std::promise<http::Response>>();
    auto answer = promise->get_future();
    node_->on_loop([&] {
      auto admitted = gate_.admit(std::move(head));
      if (!admitted) return promise->set_value(std::move(admitted).error());
      admitted->request.body = std::move(body);
      admitted->request.gone = std::make_shared<http::Gone>();
      admitted->route->handle(std::move(admitted->request), [promise](http::Response response) {
        promise->set_value(std::move(response));
      });
    });
    http::Response response = answer.get();
    check(response);
    return response;
  }

  inline static const std::pair<std::string, std::string> kJson{"content-type", "application/json"};

 private:
  static void check(const http::Response& response) {
    expect(response.status >= 200 && response.status < 500);
    if (response.type.ends_with("json")) expect(is_json(response.body));
    if (response.status < 400) return;
    const auto problem = wire::read_problem(response.body);
    expect(problem && problem->status == response.status && !problem->detail.empty());
  }

  static std::shared_ptr<node::Node> open_node() {
    static int count = 0;
    return node::open("memory:fuzz-" + std::to_string(++count), {}).value();
  }

  std::shared_ptr<node::Node> node_ = open_node();
  // Nobody waits for a task that does not come.
  http::Api api_{*node_,
                 {.max_payload = 1000, .max_array = 20, .longest_wait = Duration::zero()},
                 system_clock(),
                 {.is_ready = [] { return true; }}};
  http::Routes routes_;
  http::Gate gate_{routes_, http::Tokens()};
};

// One that has not gathered too much yet: its store looks at every task.
inline ApiBox& api_box() {
  static std::unique_ptr<ApiBox> box;
  static int asked = 0;
  if (!box || ++asked % 500 == 0) {
    box.reset();
    box = std::make_unique<ApiBox>();
  }
  return *box;
}

}  // namespace holdfast::fuzz
