#include "http/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/answer_head.hpp"

namespace holdfast::http::page_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::array<Asset, 2> kAssets = {
    {{.path = "/", .type = "text/html", .etag = "\"e1\"", .gzipped = "packed page"},
     {.path = "/assets/app-1f3a.js",
      .type = "text/javascript",
      .etag = "\"e2\"",
      .gzipped = "packed script"}}};

struct PageTest : ::testing::Test {
  PageTest() { add_page_routes(routes, kAssets); }

  Response get(std::string target, Fields headers = {{"accept-encoding", "gzip, br"}}) {
    headers.emplace_back("host", "localhost");
    auto admitted = gate.admit({.method = "GET", .target = std::move(target), .headers = headers});
    if (!admitted) return std::move(admitted).error();
    Response answer;
    admitted->route->handle(std::move(admitted->request),
                            [&](Response response) { answer = std::move(response); });
    return answer;
  }
  static std::string head(const Response& response) { return head_of(response, {.date = "now"}); }

  Routes routes;
  Gate gate{routes, Tokens({{"ann", Role::operate, sha256("ann-ann-ann")}})};
};

TEST_F(PageTest, anyone_may_have_it_packed) {
  const Response page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "packed page");
  EXPECT_EQ(page.type, "text/html");
  EXPECT_THAT(head(page), HasSubstr("\r\nContent-Encoding: gzip\r\n"));
  EXPECT_THAT(head(page), HasSubstr("\r\nVary: Accept-Encoding\r\n"));
  const Response script = get("/assets/app-1f3a.js");
  EXPECT_EQ(script.body, "packed script");
  EXPECT_EQ(script.type, "text/javascript");
  for (const char* path : {"/assets/other.js", "/assets/", "/assets", "/assets/a/b", "/index.html"})
    EXPECT_EQ(get(path).status, 404) << path;
}

TEST_F(PageTest, what_is_named_by_its_content_is_kept_and_the_page_is_asked_for_again) {
  EXPECT_THAT(head(get("/")), HasSubstr("\r\nCache-Control: no-cache\r\n"));
  EXPECT_THAT(head(get("/")), Not(HasSubstr("no-store")));
  EXPECT_THAT(head(get("/assets/app-1f3a.js")),
              HasSubstr("\r\nCache-Control: public, max-age=31536000, immutable\r\n"));
  for (const char* known : {"\"e1\"", "\"other\", W/\"e1\"", "*"}) {
    const Response same = get("/", {{"if-none-match", known}});
    EXPECT_EQ(same.status, 304) << known;
    EXPECT_EQ(same.body, "");
    EXPECT_THAT(head(same), HasSubstr("HTTP/1.1 304 Not Modified\r\n"));
    EXPECT_THAT(head(same), HasSubstr("\r\nETag: \"e1\"\r\n"));
    EXPECT_THAT(head(same), Not(HasSubstr("Content-Length")));
  }
  EXPECT_EQ(get("/", {{"if-none-match", "\"e2\""}, {"accept-encoding", "gzip"}}).status, 200);
}

TEST_F(PageTest, browsers_are_told_to_take_nothing_from_elsewhere) {
  for (const char* path : {"/", "/assets/app-1f3a.js"}) {
    const std::string said = head(get(path));
    for (const char* part :
         {"\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
          "connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; "
          "form-action 'self'; frame-ancestors 'none'\r\n",
          "\r\nX-Content-Type-Options: nosniff\r\n", "\r\nReferrer-Policy: no-referrer\r\n",
          "\r\nX-Frame-Options: DENY\r\n", "\r\nCross-Origin-Opener-Policy: same-origin\r\n"}) {
      EXPECT_THAT(said, HasSubstr(part)) << path;
    }
  }
}

TEST_F(PageTest, who_cannot_unpack_it_is_told_so) {
  for (const char* accepted : {"gzip", "br, GZIP", "*", "gzip;q=0.5", "deflate;q=0, gzip ; q=1"})
    EXPECT_EQ(get("/", {{"accept-encoding", accepted}}).status, 200) << accepted;
  for (const char* accepted : {"", "br", "gzip;q=0", "gzip; q=0.0", "identity", "gzipped"}) {
    const Response refused = get("/", {{"accept-encoding", accepted}});
    EXPECT_EQ(refused.status, 406) << accepted;
    EXPECT_THAT(refused.body, HasSubstr("Accept-Encoding: gzip"));
  }
}

TEST_F(PageTest, without_tokens_it_is_for_this_machine_only) {
  gate.set_tokens({});
  EXPECT_EQ(get("/").status, 200);
  const auto elsewhere =
      gate.admit({.method = "GET", .target = "/", .headers = {{"host", "evil.example"}}});
  EXPECT_EQ(elsewhere.error().status, 421);
}

TEST(Page, a_program_without_it_says_so) {
  Routes routes;
  add_page_routes(routes, {});
  Response answer;
  routes.find("GET", "/").route->handle({.path = "/"}, [&](Response said) { answer = said; });
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, HasSubstr("built without the page"));
}

TEST(AnswerHead, what_the_API_says_is_not_to_be_kept) {
  EXPECT_THAT(head_of({.body = "{}"}, {.date = "now"}),
              HasSubstr("\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"));
}

}  // namespace
}  // namespace holdfast::http::page_test
