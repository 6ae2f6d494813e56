// Routes that the configuration adds, over a store in memory.
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/api.hpp"
#include "http/mapped_route.hpp"
#include "node/registry.hpp"
#include "wire/problem.hpp"
#include "wire/task_json.hpp"

namespace holdfast::http::api_mapped_threads_test {
namespace {

using ::testing::HasSubstr;

std::string memory_url() {
  static int count = 0;
  return "memory:mapped-" + std::to_string(++count);
}

MappedRoute post_route(std::string path, std::string answer) {
  return {.method = "POST",
          .path = std::move(path),
          .task = "relay.direct",
          .role = Role::submit,
          .status = 201,
          .body = wire::BodyMap::make(
                      {{.name = "to", .required = true, .pattern = "^0x"},
                       {.name = "speed", .type = wire::BodyType::integer, .as = "priority"},
                       {.name = "again",
                        .type = wire::BodyType::boolean,
                        .fallback = "false",
                        .as = "retry_on_failure"}},
                      wire::UnknownFields::refuse)
                      .value(),
          .answer = wire::AnswerShape::parse(answer).value()};
}

MappedRoute get_route(std::string path, std::string answer) {
  return {.method = "GET",
          .path = std::move(path),
          .task = "relay.direct",
          .role = Role::read,
          .answer = wire::AnswerShape::parse(answer).value()};
}

class MappedApiTest : public ::testing::Test {
 protected:
  MappedApiTest() {
    api_.add_to(routes_);
    node::Node::Work work;
    work.types.emplace_back("relay.direct", engine::TypeOptions{.queue = "relay"});
    EXPECT_TRUE(node_->start_work(std::move(work)));
    node_->on_loop([this] {
      api_.set_mapped(
          routes_,
          {post_route("/relay/direct", R"({"id":"{id}","status":"{state}","new":"{existed}"})"),
           get_route("/relay/{id}",
                     R"({"status":"{state}","queue":"{queue}","again":"{retry_on_failure}",)"
                     R"("error":"{error}","to":"{payload.to}"})")});
    });
  }
  ~MappedApiTest() override { static_cast<void>(node_->stop_work()); }

  Response ask(const std::string& method, const std::string& target, std::string body = {},
               Fields headers = {}) {
    std::promise<Response> promise;
    auto answer = promise.get_future();
    headers.emplace_back("host", "localhost");
    if (!body.empty()) headers.emplace_back("content-type", "application/json");
    node_->on_loop([&] {
      auto admitted = gate_.admit({.method = method, .target = target, .headers = headers});
      if (!admitted) return promise.set_value(std::move(admitted).error());
      admitted->request.body = std::move(body);
      admitted->route->handle(std::move(admitted->request),
                              [&](Response response) { promise.set_value(std::move(response)); });
    });
    return answer.get();
  }
  Response post(std::string body, Fields headers = {}) {
    return ask("POST", "/relay/direct", std::move(body), std::move(headers));
  }
  static std::string id_in(const Response& answer) {
    EXPECT_THAT(answer.body, HasSubstr(R"({"id":")"));
    return answer.body.substr(7, 36);
  }
  TaskInfo find(const std::string& id) {
    return wire::read_task(ask("GET", "/v1/tasks/" + id).body).value();
  }

  std::shared_ptr<node::Node> node_ = node::open(memory_url(), {}).value();
  Api api_{*node_, {.max_payload = 100}, system_clock(), {.is_ready = [] { return true; }}};
  Routes routes_;
  Gate gate_{routes_, Tokens()};
};

TEST_F(MappedApiTest, C2_2_a_body_becomes_a_task_and_is_shown_as_its_clients_expect) {
  const Response answer = post(R"({"again":true,"to":"0xabc","speed":7})");
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"(,"status":"pending","new":false})"));
  const TaskInfo task = find(id_in(answer));
  EXPECT_EQ(task.type, "relay.direct");
  EXPECT_EQ(task.queue, "relay");
  EXPECT_EQ(task.payload, R"({"to":"0xabc"})");
  EXPECT_EQ(task.priority, 7);
  EXPECT_TRUE(task.retry_on_failure);
  EXPECT_EQ(ask("GET", "/relay/" + id_in(answer)).body,
            R"({"status":"pending","queue":"relay","again":true,"error":null,"to":"0xabc"})");
}

TEST_F(MappedApiTest, C2_3_what_is_not_said_is_false) {
  EXPECT_FALSE(find(id_in(post(R"({"to":"0xabc"})"))).retry_on_failure);
}

TEST_F(MappedApiTest, a_bad_body_is_named_field_by_field_and_nothing_is_stored) {
  const Response answer = post(R"({"to":"abc","speed":"fast","form":1})");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.type, "application/problem+json");
  const wire::Problem problem = wire::read_problem(answer.body).value();
  ASSERT_EQ(problem.errors.size(), 3U);
  EXPECT_EQ(problem.errors[0].where, "to");
  EXPECT_EQ(problem.errors[1].where, "speed");
  EXPECT_EQ(problem.errors[2].where, "form");
  EXPECT_EQ(problem.type, "urn:holdfast:invalid-argument");
  EXPECT_THAT(problem.detail, HasSubstr(R"(to: "abc" does not match ^0x; speed: a whole number)"));
  EXPECT_EQ(ask("GET", "/v1/tasks").body, R"({"tasks":[]})");
}

TEST_F(MappedApiTest, other_limits_are_those_of_the_API) {
  EXPECT_EQ(ask("POST", "/relay/direct").status, 415);
  EXPECT_EQ(post(R"({"to":"0x)" + std::string(200, 'a') + R"("})").status, 413);
  EXPECT_EQ(post(R"({"to":"0xabc","speed":1000})").status, 400);  // a priority ends at 100
  EXPECT_EQ(post(std::string(100, '[')).status, 400);
  EXPECT_EQ(ask("GET", "/v1/tasks").body, R"({"tasks":[]})");
}

TEST_F(MappedApiTest, a_key_that_was_known_is_answered_as_its_task_stands) {
  const Fields key = {{"idempotency-key", "k"}};
  const std::string id = id_in(post(R"({"to":"0xabc"})", key));
  EXPECT_EQ(ask("POST", "/v1/tasks/" + id + "/cancel").status, 200);
  const Response again = post(R"({ "again": false, "to": "0xabc" })", key);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, R"({"id":")" + id + R"(","status":"canceled","new":true})");
  EXPECT_EQ(post(R"({"to":"0xabcd"})", key).status, 409);
}

TEST_F(MappedApiTest, tasks_of_other_types_are_not_found) {
  const Response other = ask("POST", "/v1/tasks", R"({"type":"other"})");
  EXPECT_EQ(ask("GET", "/relay/" + id_in(other)).status, 404);
  EXPECT_EQ(ask("GET", "/relay/nonsense").status, 404);
}

TEST_F(MappedApiTest, a_trace_is_kept_as_of_any_task) {
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  EXPECT_EQ(find(id_in(post(R"({"to":"0xabc"})", {{"traceparent", trace}}))).trace, trace);
}

TEST_F(MappedApiTest, a_change_holds_from_the_next_request_on) {
  EXPECT_THAT(ask("GET", "/openapi.json").body, HasSubstr("/relay/direct"));
  node_->on_loop([this] { api_.set_mapped(routes_, {post_route("/other", R"({"id":"{id}"})")}); });
  EXPECT_EQ(post(R"({"to":"0xabc"})").status, 404);
  EXPECT_EQ(ask("POST", "/other", R"({"to":"0xabc"})").status, 201);
  EXPECT_THAT(ask("GET", "/openapi.json").body, Not(HasSubstr("/relay/direct")));
}

}  // namespace
}  // namespace holdfast::http::api_mapped_threads_test
