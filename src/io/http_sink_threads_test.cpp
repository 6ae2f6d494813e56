#include <cerrno>

#include <gtest/gtest.h>

#include "io/http_client.hpp"
#include "io/http_client_testing.hpp"
#include "io/http_server_testing.hpp"

namespace holdfast::io::http_sink_threads_test {
namespace {

using testing::Fetcher;
using testing::http_answer;
using testing::ServedConnection;
using testing::ServedRequest;
using testing::TestServer;

class TextSink final : public HttpSink {
 public:
  explicit TextSink(std::size_t room = 1 << 30) : room_(room) {}
  [[nodiscard]] int write(std::string_view bytes) noexcept override {
    if (text.size() + bytes.size() > room_) return ENOSPC;
    text += bytes;
    return 0;
  }
  std::string text;

 private:
  const std::size_t room_;
};

TEST(HttpSink, gets_the_body_as_it_comes) {
  const std::string body(5 << 20, 'x');
  TestServer server(
      TestServer::each([&](const ServedRequest&) { return http_answer("200 OK", body); }));
  Fetcher fetcher;
  const auto sink = std::make_shared<TextSink>();
  const auto answer = fetcher.fetch({.url = server.url(), .sink = sink});
  ASSERT_TRUE(answer);  // though it is longer than most_response_bytes
  EXPECT_EQ(answer->body, "");
  EXPECT_EQ(sink->text, body);
}

TEST(HttpSink, gets_nothing_of_an_answer_that_says_no) {
  TestServer server(TestServer::each(
      [&](const ServedRequest&) { return http_answer("404 Not Found", "no such thing"); }));
  Fetcher fetcher;
  const auto sink = std::make_shared<TextSink>();
  const auto answer = fetcher.fetch({.url = server.url(), .sink = sink});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "no such thing");
  EXPECT_EQ(sink->text, "");
}

TEST(HttpSink, takes_no_more_than_was_asked_for) {
  TestServer server([](ServedConnection& connection) {
    if (!connection.read()) return;
    connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (connection.write("5\r\nhello\r\n")) {
    }
  });
  Fetcher fetcher;
  const auto sink = std::make_shared<TextSink>();
  const auto answer = fetcher.fetch({.url = server.url(), .sink = sink, .most_sink_bytes = 1000});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fault, HttpFault::too_large);
  EXPECT_EQ(answer.error().message, "the answer is longer than 1000 bytes");
  EXPECT_LE(sink->text.size(), 1000U);
}

TEST(HttpSink, does_not_begin_what_is_announced_as_too_long) {
  TestServer server(
      TestServer::each([&](const ServedRequest&) { return http_answer("200 OK", "12345"); }));
  Fetcher fetcher;
  const auto sink = std::make_shared<TextSink>();
  const auto longer = fetcher.fetch({.url = server.url(), .sink = sink, .most_sink_bytes = 4});
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().fault, HttpFault::too_large);
  EXPECT_EQ(sink->text, "");
  ASSERT_TRUE(fetcher.fetch({.url = server.url(), .sink = sink, .most_sink_bytes = 5}));
  EXPECT_EQ(sink->text, "12345");
}

TEST(HttpSink, says_why_it_could_not_take_more) {
  TestServer server(
      TestServer::each([&](const ServedRequest&) { return http_answer("200 OK", "12345"); }));
  Fetcher fetcher;
  const auto sink = std::make_shared<TextSink>(3);
  const auto answer = fetcher.fetch({.url = server.url(), .sink = sink});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fault, HttpFault::local);
  EXPECT_EQ(answer.error().os_error, ENOSPC);
  EXPECT_EQ(answer.error().message, "cannot keep the answer: No space left on device");
}

TEST(HttpSink, is_told_when_the_rest_does_not_come) {
  TestServer server([](ServedConnection& connection) {
    if (!connection.read()) return;
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
  });
  Fetcher fetcher;
  const auto sink = std::make_shared<TextSink>();
  const auto answer = fetcher.fetch({.url = server.url(), .sink = sink});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fault, HttpFault::cut_off);
}

}  // namespace
}  // namespace holdfast::io::http_sink_threads_test
