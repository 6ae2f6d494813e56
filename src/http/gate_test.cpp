#include "http/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::http::gate_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSecret = "correct horse battery";

Routes some_routes() {
  Routes routes;
  const auto add = [&](const char* method, const char* pattern, std::optional<Role> role) {
    routes.add({.method = method, .pattern = pattern, .role = role});
  };
  add("POST", "/v1/tasks", Role::submit);
  add("GET", "/v1/tasks", Role::read);
  add("GET", "/v1/tasks/{id}", Role::read);
  add("POST", "/v1/tasks/{id}/cancel", Role::operate);
  add("POST", "/v1/claims", Role::work);
  add("GET", "/healthz", std::nullopt);
  routes.set_configured({{.method = "POST", .pattern = "/relay", .role = Role::submit},
                         {.method = "GET", .pattern = "/relay/{id}", .role = Role::read}});
  return routes;
}

class GateTest : public ::testing::Test {
 protected:
  // The status; 200 if it may come in.
  int status(const Gate& gate, Head head) {
    const auto admitted = gate.admit(std::move(head));
    if (admitted) return 200;
    said_ = admitted.error().body;
    headers_ = admitted.error().headers;
    return admitted.error().status;
  }
  static Head head(std::string method, std::string target, Fields headers = {}) {
    headers.emplace_back("host", "localhost:8080");
    return {
        .method = std::move(method), .target = std::move(target), .headers = std::move(headers)};
  }
  static Head with_token(std::string method, std::string target, const std::string& token) {
    return head(std::move(method), std::move(target), {{"authorization", "Bearer " + token}});
  }

  const Routes routes_ = some_routes();
  const Gate open_{routes_, Tokens()};
  const Gate closed_{routes_, Tokens({{"ci", Role::submit, sha256("submit-submit-1")},
                                      {"eye", Role::read, sha256("read-read-read-1")},
                                      {"box", Role::work, sha256("work-work-work-1")},
                                      {"ann", Role::operate, sha256(kSecret)}})};
  std::string said_;
  Fields headers_;
};

TEST_F(GateTest, finds_a_route_with_what_its_path_says) {
  const auto admitted = open_.admit(head("GET", "/v1/tasks/a%2Fb%20c?limit=5&q=x+y%21"));
  ASSERT_TRUE(admitted);
  EXPECT_EQ(admitted->route->pattern, "/v1/tasks/{id}");
  EXPECT_EQ(admitted->request.params.at("id"), "a/b c");
  EXPECT_EQ(admitted->request.parameter("limit"), "5");
  EXPECT_EQ(admitted->request.parameter("q"), "x y!");
  EXPECT_EQ(admitted->request.parameter("none"), std::nullopt);
  EXPECT_EQ(admitted->request.caller.name, "local");
}

TEST_F(GateTest, says_what_is_not_there) {
  for (const char* path : {"/", "/v1", "/v1/tasks/", "/v1/tasks/1/", "/v1/tasks/1/cancel/x", "*",
                           "", "/v1/tasks/%zz", "/v1//tasks", "/v1/tasks/%00"}) {
    EXPECT_EQ(status(open_, head("GET", path)), 404) << path;
  }
  EXPECT_EQ(status(open_, head("DELETE", "/v1/tasks")), 405);
  EXPECT_EQ(headers_, (Fields{{"Allow", "POST, GET"}}));
  EXPECT_EQ(status(open_, head("HEAD", "/v1/tasks/1")), 200);
  EXPECT_EQ(status(open_, head("GET", "/v1/tasks?q=%")), 400);
}

TEST(Routes, those_of_the_configuration_come_after_the_API_and_go) {
  Routes routes = some_routes();
  routes.set_configured({{.method = "GET", .pattern = "/v1/{id}", .role = Role::read},
                         {.method = "GET", .pattern = "/mine/{id}", .role = Role::read}});
  EXPECT_EQ(routes.find("GET", "/v1/tasks").route->pattern, "/v1/tasks");
  EXPECT_EQ(routes.find("GET", "/relay/1").route, nullptr);
  // Whoever was admitted is answered by what it came for.
  const auto held = routes.find("GET", "/mine/1").route;
  routes.set_configured({});
  EXPECT_EQ(routes.find("GET", "/mine/1").route, nullptr);
  EXPECT_EQ(held->pattern, "/mine/{id}");
  EXPECT_EQ(routes.all().size(), 6U);
}

TEST_F(GateTest, every_route_refuses_no_token_a_wrong_one_and_a_lesser_one) {
  for (const auto& shared : routes_.all()) {
    const Route& route = *shared;
    const std::string path = route.pattern;
    const bool needs = route.role.has_value();
    EXPECT_EQ(status(closed_, head(route.method, path)), needs ? 401 : 200) << path;
    EXPECT_EQ(status(closed_, with_token(route.method, path, "wrong")), needs ? 401 : 200) << path;
    EXPECT_EQ(status(closed_, with_token(route.method, path, "")), needs ? 401 : 200) << path;
    for (const auto& [token, role] :
         {std::pair("submit-submit-1", Role::submit), std::pair("read-read-read-1", Role::read),
          std::pair("work-work-work-1", Role::work), std::pair(kSecret, Role::operate)}) {
      const bool may = !needs || includes(role, *route.role);
      EXPECT_EQ(status(closed_, with_token(route.method, path, token)), may ? 200 : 403)
          << route.method << " " << path << " as " << to_string(role);
    }
  }
}

TEST_F(GateTest, a_refusal_never_repeats_a_token) {
  EXPECT_EQ(status(closed_, with_token("POST", "/v1/tasks/1/cancel", "read-read-read-1")), 403);
  EXPECT_THAT(said_, HasSubstr("eye"));
  EXPECT_THAT(said_, Not(HasSubstr("read-read-read")));
  EXPECT_EQ(status(closed_, with_token("GET", "/v1/tasks", "planted-secret")), 401);
  EXPECT_THAT(said_, Not(HasSubstr("planted-secret")));
}

TEST_F(GateTest, a_token_in_the_address_is_refused) {
  for (const char* name : {"token", "access_token", "api_key"}) {
    const std::string target = std::string("/v1/tasks?") + name + "=" + kSecret;
    EXPECT_EQ(status(closed_, with_token("GET", target, kSecret)), 400) << name;
    EXPECT_EQ(status(open_, head("GET", target)), 400) << name;
  }
}

TEST_F(GateTest, without_tokens_only_names_of_this_machine_are_served) {
  const auto asked_for = [&](const char* host) {
    return status(open_, {.method = "GET", .target = "/healthz", .headers = {{"host", host}}});
  };
  for (const char* host : {"localhost", "localhost:1", "127.0.0.1:8080", "[::1]:8080"})
    EXPECT_EQ(asked_for(host), 200) << host;
  for (const char* host : {"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "",
                           "[::2]", "localhost.evil.example"})
    EXPECT_EQ(asked_for(host), 421) << host;
  EXPECT_EQ(status(open_, {.method = "GET", .target = "/healthz"}), 421);
}

TEST_F(GateTest, a_page_of_another_origin_may_not_change_anything) {
  const auto posted = [&](Fields headers) {
    return status(open_, head("POST", "/v1/tasks", std::move(headers)));
  };
  EXPECT_EQ(posted({}), 200);
  EXPECT_EQ(posted({{"origin", "http://localhost:8080"}}), 200);
  EXPECT_EQ(posted({{"origin", "http://localhost:9999"}}), 403);
  EXPECT_EQ(posted({{"origin", "https://evil.example"}}), 403);
  EXPECT_EQ(posted({{"origin", "null"}}), 403);
  EXPECT_EQ(posted({{"sec-fetch-site", "cross-site"}}), 403);
  EXPECT_EQ(posted({{"sec-fetch-site", "same-origin"}}), 200);
  EXPECT_EQ(status(open_, head("GET", "/v1/tasks", {{"origin", "https://evil.example"}})), 200);
  // A token of one's own is no excuse: a browser may send it along.
  EXPECT_EQ(status(closed_, head("POST", "/v1/tasks",
                                 {{"authorization", std::string("Bearer ") + kSecret},
                                  {"origin", "https://evil.example"}})),
            403);
}

}  // namespace
}  // namespace holdfast::http::gate_test
