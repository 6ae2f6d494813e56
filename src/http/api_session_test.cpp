#include "http/api_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing/fake_clock.hpp>

namespace holdfast::http::api_session_test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* kOwn = "http://localhost:8080";

struct ApiSessionTest : ::testing::Test {
  ApiSessionTest() {
    add_session_routes(routes, gate, {});
    const auto ok = [](const Request&, Reply reply) { reply({.body = "done"}); };
    routes.add({.method = "GET", .pattern = "/look", .role = Role::read, .handle = ok});
    routes.add({.method = "POST", .pattern = "/change", .role = Role::operate, .handle = ok});
    routes.add({.method = "DELETE", .pattern = "/change", .role = Role::operate, .handle = ok});
  }

  Response ask(const char* method, const char* target, Fields headers = {}, std::string body = {}) {
    headers.emplace_back("host", "localhost:8080");
    if (!body.empty()) headers.emplace_back("content-type", "application/json");
    auto admitted = gate.admit({.method = method, .target = target, .headers = std::move(headers)});
    if (!admitted) return std::move(admitted).error();
    admitted->request.body = std::move(body);
    Response answer;
    admitted->route->handle(std::move(admitted->request),
                            [&](Response response) { answer = std::move(response); });
    return answer;
  }
  Response log_in(const std::string& token, Fields headers = {{"origin", kOwn}}) {
    return ask("POST", "/v1/session", std::move(headers), R"({"token":")" + token + "\"}");
  }
  // What the browser would send back.
  static std::string cookie_of(const Response& answer) {
    EXPECT_EQ(answer.status, 204) << answer.body;
    EXPECT_EQ(answer.headers.size(), 1U);
    const std::string& text = answer.headers.at(0).second;
    return text.substr(0, text.find(';'));
  }
  int changed(Fields headers) { return ask("POST", "/change", std::move(headers)).status; }

  Routes routes;
  holdfast::testing::FakeClock clock;
  Gate gate{routes,
            Tokens({{"ann", Role::operate, sha256("ann-ann-ann")},
                    {"eye", Role::read, sha256("eye-eye-eye")}}),
            clock};
};

TEST_F(ApiSessionTest, a_token_is_changed_for_a_cookie_that_scripts_cannot_read) {
  const Response answer = log_in("ann-ann-ann");
  EXPECT_EQ(answer.status, 204);
  ASSERT_EQ(answer.headers.size(), 1U);
  EXPECT_EQ(answer.headers[0].first, "Set-Cookie");
  EXPECT_THAT(answer.headers[0].second,
              MatchesRegex("holdfast_session=[0-9a-f]+; HttpOnly; SameSite=Strict; Path=/; "
                           "Max-Age=43200"));
  EXPECT_THAT(answer.headers[0].second, Not(HasSubstr("ann")));
  const std::string cookie = cookie_of(answer);
  const Response who = ask("GET", "/v1/session", {{"cookie", cookie}});
  EXPECT_THAT(who.body,
              StartsWith(R"({"login":"token","name":"ann","role":"operate","version":")"));
  EXPECT_EQ(ask("GET", "/look", {{"cookie", "theme=dark; " + cookie}}).status, 200);
}

TEST_F(ApiSessionTest, over_TLS_the_cookie_goes_over_nothing_else) {
  EXPECT_THAT(log_in("ann-ann-ann", {{"origin", "https://localhost:8080"}}).headers[0].second,
              HasSubstr("; Secure"))
      << "where a proxy speaks it";
  Routes own;
  add_session_routes(own, gate, {.tls = true});
  Response answer;
  own.find("POST", "/v1/session")
      .route->handle(
          {.headers = {{"content-type", "application/json"}}, .body = R"({"token":"ann-ann-ann"})"},
          [&](Response said) { answer = said; });
  EXPECT_THAT(answer.headers.at(0).second, HasSubstr("; Secure"));
}

TEST_F(ApiSessionTest, who_is_not_known_is_told_what_is_needed) {
  EXPECT_THAT(ask("GET", "/v1/session").body,
              StartsWith(R"({"login":"token","name":null,"role":null,"version":")"));
  EXPECT_THAT(ask("GET", "/v1/session", {{"cookie", "holdfast_session=00"}}).body,
              HasSubstr(R"("name":null)"));
  EXPECT_THAT(ask("GET", "/v1/session", {{"authorization", "Bearer eye-eye-eye"}}).body,
              HasSubstr(R"("name":"eye","role":"read")"));
  const Response wrong = log_in("planted-wrong-token");
  EXPECT_EQ(wrong.status, 401);
  EXPECT_THAT(wrong.body, Not(HasSubstr("planted")));
  EXPECT_EQ(ask("GET", "/look", {{"cookie", "holdfast_session=00"}}).status, 401);
}

TEST_F(ApiSessionTest, bodies_are_checked) {
  const Fields own = {{"origin", kOwn}};
  EXPECT_EQ(ask("POST", "/v1/session", own).status, 415);
  EXPECT_EQ(ask("POST", "/v1/session", own, "{}").status, 400);
  EXPECT_EQ(ask("POST", "/v1/session", own, R"({"token":1})").status, 400);
}

TEST_F(ApiSessionTest, without_tokens_nobody_needs_to_log_in) {
  gate.set_tokens({});
  EXPECT_THAT(ask("GET", "/v1/session").body,
              StartsWith(R"({"login":"none","name":"local","role":"operate",)"));
  EXPECT_EQ(log_in("ann-ann-ann").status, 409);
  EXPECT_EQ(changed({}), 200);
  EXPECT_EQ(changed({{"cookie", "holdfast_session=00"}}), 200) << "of another server, some day";
}

TEST_F(ApiSessionTest, only_our_own_page_logs_in_or_out) {
  for (const auto& headers :
       {Fields{}, Fields{{"origin", "http://localhost:9999"}}, Fields{{"origin", "null"}},
        Fields{{"sec-fetch-site", "none"}}, Fields{{"sec-fetch-site", "same-site"}},
        Fields{{"sec-fetch-site", "cross-site"}, {"origin", kOwn}},
        Fields{{"sec-fetch-site", "same-origin"}, {"origin", "https://evil.example"}}}) {
    EXPECT_EQ(log_in("ann-ann-ann", headers).status, 403);
    EXPECT_EQ(ask("DELETE", "/v1/session", headers).status, 403);
  }
  EXPECT_EQ(log_in("ann-ann-ann", {{"sec-fetch-site", "same-origin"}}).status, 204);
}

TEST_F(ApiSessionTest, a_cookie_changes_things_for_our_own_page_only) {
  const std::string cookie = cookie_of(log_in("ann-ann-ann"));
  EXPECT_EQ(changed({{"cookie", cookie}, {"origin", kOwn}}), 200);
  EXPECT_EQ(changed({{"cookie", cookie}, {"sec-fetch-site", "same-origin"}}), 200);
  EXPECT_EQ(changed({{"cookie", cookie}}), 403) << "a browser would say where it comes from";
  EXPECT_EQ(changed({{"cookie", cookie}, {"origin", "https://evil.example"}}), 403);
  EXPECT_EQ(changed({{"cookie", cookie}, {"origin", "http://localhost:9999"}}), 403)
      << "browsers send it to every port of one name";
  EXPECT_EQ(changed({{"cookie", cookie}, {"sec-fetch-site", "same-site"}}), 403);
  EXPECT_EQ(ask("DELETE", "/change", {{"cookie", cookie}}).status, 403);
  // Nor may pages of others look with it.
  EXPECT_EQ(ask("GET", "/look", {{"cookie", cookie}}).status, 200);
  EXPECT_EQ(ask("GET", "/look", {{"cookie", cookie}, {"origin", "http://localhost:9999"}}).status,
            401);
  EXPECT_EQ(ask("GET", "/look", {{"cookie", cookie}, {"sec-fetch-site", "same-site"}}).status, 401);
  // Who has a token needs no page.
  EXPECT_EQ(changed({{"authorization", "Bearer ann-ann-ann"}}), 200);
}

TEST_F(ApiSessionTest, a_cookie_may_do_what_its_token_may) {
  const std::string cookie = cookie_of(log_in("eye-eye-eye"));
  EXPECT_EQ(ask("GET", "/look", {{"cookie", cookie}}).status, 200);
  EXPECT_EQ(changed({{"cookie", cookie}, {"origin", kOwn}}), 403);
  // A token that is sent is meant, whatever a browser adds.
  EXPECT_EQ(changed({{"cookie", cookie}, {"authorization", "Bearer ann-ann-ann"}}), 200);
  EXPECT_EQ(changed({{"cookie", cookie}, {"authorization", "Bearer wrong"}, {"origin", kOwn}}),
            401);
}

TEST_F(ApiSessionTest, ends_at_logout_at_another_login_with_its_token_and_with_time) {
  const auto looks = [&](const std::string& cookie) {
    return ask("GET", "/look", {{"cookie", cookie}}).status;
  };
  const std::string first = cookie_of(log_in("ann-ann-ann"));
  const Response out = ask("DELETE", "/v1/session", {{"cookie", first}, {"origin", kOwn}});
  EXPECT_EQ(out.status, 204);
  EXPECT_EQ(out.headers.at(0).second,
            "holdfast_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
  EXPECT_EQ(looks(first), 401);
  EXPECT_EQ(ask("DELETE", "/v1/session", {{"origin", kOwn}}).status, 204)
      << "as often as one likes";

  const std::string second = cookie_of(log_in("ann-ann-ann"));
  const std::string third =
      cookie_of(log_in("eye-eye-eye", {{"origin", kOwn}, {"cookie", second}}));
  EXPECT_EQ(looks(second), 401);
  EXPECT_EQ(looks(third), 200);

  gate.set_tokens(Tokens({{"eye", Role::read, sha256("eye-eye-eye")}}));
  EXPECT_EQ(looks(third), 200);
  gate.set_tokens(Tokens({{"eye", Role::read, sha256("another-secret")}}));
  EXPECT_EQ(looks(third), 401);

  gate.set_tokens(Tokens({{"ann", Role::operate, sha256("ann-ann-ann")}}));
  const std::string last = cookie_of(log_in("ann-ann-ann"));
  clock.advance(12h);
  EXPECT_EQ(looks(last), 401);
}

}  // namespace
}  // namespace holdfast::http::api_session_test
