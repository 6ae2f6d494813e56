#include "node/remote_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::node::remote_server_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(RemoteOptions options) {
  const auto made = RemoteServer::make(std::move(options));
  if (made) return "none";
  EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
  return made.error().text();
}

TEST(RemoteServer, knows_the_url_of_a_server) {
  EXPECT_TRUE(is_remote("http://localhost:8080"));
  EXPECT_TRUE(is_remote("HTTPS://tasks.example.org"));
  EXPECT_FALSE(is_remote("sqlite:http://x"));
  EXPECT_FALSE(is_remote("http:tasks.db"));
  EXPECT_FALSE(is_remote(""));
}

TEST(RemoteServer, takes_a_path_and_drops_its_last_slash) {
  EXPECT_EQ(RemoteServer::make({.url = "https://example.org/tasks/"})->url(),
            "https://example.org/tasks");
  const auto server = RemoteServer::make({.url = "http://[::1]:8080", .token = "t"});
  ASSERT_TRUE(server) << server.error().text();
  EXPECT_EQ(server->request({.path = "/v1/tasks"}).url, "http://[::1]:8080/v1/tasks");
}

TEST(RemoteServer, refuses_a_token_in_the_url_and_does_not_show_it) {
  for (const char* url : {"http://planted@localhost", "http://localhost/?token=planted",
                          "https://user:planted@example.org:8080/"}) {
    EXPECT_THAT(refusal({.url = url}), HasSubstr("give it apart"));
    EXPECT_THAT(refusal({.url = url}), Not(HasSubstr("planted")));
  }
}

TEST(RemoteServer, does_not_send_a_token_in_the_clear_unless_told_to) {
  EXPECT_THAT(refusal({.url = "http://10.0.0.5:8080", .token = "planted"}),
              HasSubstr("could be read on its way"));
  EXPECT_THAT(refusal({.url = "http://10.0.0.5", .token = "planted"}), Not(HasSubstr("planted")));
  EXPECT_EQ(refusal({.url = "http://10.0.0.5", .token = "t", .token_in_the_clear = true}), "none");
  for (const char* url :
       {"http://localhost:1", "http://127.0.0.7", "http://[::1]", "https://example.org"}) {
    EXPECT_EQ(refusal({.url = url, .token = "t"}), "none") << url;
  }
  EXPECT_EQ(refusal({.url = "http://10.0.0.5"}), "none");
}

TEST(RemoteServer, refuses_what_is_no_url_or_no_token) {
  EXPECT_THAT(refusal({.url = "http://"}), HasSubstr("is no URL of a server"));
  EXPECT_THAT(refusal({.url = "https://example.org", .token = "a\nb"}), HasSubstr("control"));
}

TEST(RemoteServer, knows_a_refusal_of_its_own_from_that_of_a_proxy) {
  const auto server = RemoteServer::make({.url = "http://localhost"}).value();
  const auto is_own = [&](std::string type, std::string body) {
    const auto told = server.answer(
        io::HttpResponse{.status = 404,
                         .head = "HTTP/1.1 404 No\r\nContent-Type: " + type + "\r\n\r\n",
                         .body = std::move(body)},
        "settle", {});
    return told.error().is_of_holdfast;
  };
  const std::string own = R"({"type":"urn:holdfast:not-found","status":404,"detail":"no"})";
  EXPECT_TRUE(is_own("application/problem+json", own));
  EXPECT_FALSE(is_own("text/html", own));
  EXPECT_FALSE(is_own("application/problem+json", R"({"type":"about:blank","status":404})"));
  EXPECT_FALSE(is_own("text/html", "<html>"));
}

TEST(RemoteServer, has_connections_for_those_who_wait_and_some_for_the_rest) {
  const auto server = RemoteServer::make({.url = "http://localhost", .polls = 10}).value();
  EXPECT_EQ(server.client_options().most_connections, 42U);
}

TEST(RemoteServer, writes_any_name_into_a_path) {
  EXPECT_EQ(percent_encoded("a b/c?ü"), "a%20b%2Fc%3F%C3%BC");
}

}  // namespace
}  // namespace holdfast::node::remote_server_test
