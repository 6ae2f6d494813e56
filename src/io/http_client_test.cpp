#include "io/http_client.hpp"

#include <cerrno>
#include <cstdlib>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/classify.hpp>

#include "io/http_client_testing.hpp"
#include "io/http_server_testing.hpp"

namespace holdfast::io::http_client_test {
namespace {

using namespace std::chrono_literals;
using testing::allowing;
using testing::Fetcher;
using ::testing::HasSubstr;
using testing::http_answer;
using ::testing::Not;
using testing::ServedConnection;
using testing::ServedRequest;
using testing::shared_text;
using ::testing::StartsWith;
using testing::TestServer;

HttpError error_of(const HttpResult& result) {
  return result ? HttpError{.message = "it did not fail"} : result.error();
}

VerdictKind verdict_of(const HttpError& error) {
  static const Classifier classifier = Classifier::make(presets::all()).value();
  return classifier.classify({.message = error.message, .os_error = error.os_error}).verdict.kind;
}

TEST(HttpClient, sends_a_request_and_gives_the_answer) {
  ServedRequest seen;
  TestServer server(TestServer::each([&](const ServedRequest& request) {
    seen = request;
    return http_answer("201 Created", "done", "X-Place:  /tasks/1 \r\n");
  }));
  Fetcher fetcher({.user_agent = "tester/1"});
  const auto answer = fetcher.fetch({.method = "POST",
                                     .url = server.url("/in?x=1"),
                                     .headers = {{"Content-Type", "text/plain"}, {"X-None", ""}},
                                     .body = shared_text("hello")});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "done");
  EXPECT_EQ(answer->header("x-place"), "/tasks/1");
  EXPECT_EQ(answer->header("x-plac"), std::nullopt);
  EXPECT_THAT(seen.head, StartsWith("POST /in?x=1 HTTP/1.1\r\n"));
  EXPECT_EQ(seen.body, "hello");
  EXPECT_EQ(seen.header("Content-Type"), "text/plain");
  EXPECT_EQ(seen.header("X-None"), "");
  EXPECT_EQ(seen.header("User-Agent"), "tester/1");
  EXPECT_EQ(seen.header("Accept-Encoding"), "none");
}

TEST(HttpClient, knows_other_methods_and_forgets_those_before) {
  TestServer server(TestServer::each([&](const ServedRequest& request) {
    const std::string method = request.head.substr(0, request.head.find(' '));
    return http_answer("200 OK", method == "HEAD" ? "" : method + ":" + request.body);
  }));
  Fetcher fetcher;
  const auto body_of = [&](const char* method, std::shared_ptr<const std::string> body) {
    const auto answer =
        fetcher.fetch({.method = method, .url = server.url(), .body = std::move(body)});
    return answer ? answer->body : answer.error().message;
  };
  EXPECT_EQ(body_of("PUT", shared_text("abc")), "PUT:abc");
  EXPECT_EQ(body_of("GET", nullptr), "GET:");
  EXPECT_EQ(body_of("HEAD", nullptr), "");
  EXPECT_EQ(body_of("POST", shared_text("")), "POST:");
  EXPECT_EQ(body_of("DELETE", nullptr), "DELETE:");
  EXPECT_EQ(body_of("GET", nullptr), "GET:");
}

TEST(HttpClient, sends_a_megabyte_of_any_bytes) {
  std::string sent;
  for (std::size_t n = 0; sent.size() < (1U << 20); ++n)
    sent += static_cast<char>(n * 7);
  std::string seen;
  TestServer server(TestServer::each([&](const ServedRequest& request) {
    seen = request.body;
    return http_answer("200 OK");
  }));
  Fetcher fetcher;
  const auto answer =
      fetcher.fetch({.method = "POST", .url = server.url(), .body = shared_text(sent)});
  EXPECT_TRUE(answer.has_value());
  EXPECT_TRUE(seen == sent);
}

TEST(HttpClient, keeps_connections) {
  TestServer server(TestServer::each([](const ServedRequest&) { return http_answer("200 OK"); }));
  Fetcher fetcher;
  for (int n = 0; n < 20; ++n)
    ASSERT_TRUE(fetcher.fetch({.url = server.url()}).has_value());
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClient, opens_another_for_a_kept_one_that_was_closed) {
  TestServer server([](ServedConnection& connection) {
    if (connection.read()) connection.write(http_answer("200 OK"));
  });
  Fetcher fetcher;
  for (int n = 0; n < 5; ++n)
    ASSERT_TRUE(fetcher.fetch({.url = server.url()}).has_value());
  EXPECT_EQ(server.connections(), 5);
}

TEST(HttpClient, gives_the_last_answer_after_interim_ones) {
  TestServer server(TestServer::each([](const ServedRequest&) {
    return "HTTP/1.1 103 Early Hints\r\nX-Hint: 1\r\n\r\n" + http_answer("200 OK", "real");
  }));
  Fetcher fetcher;
  const auto answer = fetcher.fetch({.url = server.url()});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->header("X-Hint"), std::nullopt);
}

TEST(HttpClient, does_not_follow_redirects) {
  TestServer server(TestServer::each([&](const ServedRequest& request) {
    EXPECT_THAT(request.head, StartsWith("GET / "));
    return http_answer("302 Found", "", "Location: /elsewhere\r\n");
  }));
  Fetcher fetcher;
  const auto answer = fetcher.fetch({.url = server.url()});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 302);
}

TEST(HttpClient, does_not_use_the_proxies_of_the_environment) {
  TestServer proxy(
      TestServer::each([](const ServedRequest&) { return http_answer("200 OK", "proxy"); }));
  TestServer server(
      TestServer::each([](const ServedRequest&) { return http_answer("200 OK", "server"); }));
  ::setenv("http_proxy", proxy.url().c_str(), 1);
  ::setenv("ALL_PROXY", proxy.url().c_str(), 1);
  {
    Fetcher fetcher;
    EXPECT_EQ(fetcher.fetch({.url = server.url()})->body, "server");
  }
  ::unsetenv("http_proxy");
  ::unsetenv("ALL_PROXY");
  Fetcher through({.proxy = proxy.url()});
  EXPECT_EQ(through.fetch({.url = server.url()})->body, "proxy");
}

TEST(HttpClient, refuses_what_cannot_be_sent) {
  TestServer server(TestServer::each([](const ServedRequest&) { return http_answer("200 OK"); }));
  Fetcher fetcher;
  const HttpRequest bad[] = {
      {.url = "ftp://127.0.0.1/"},
      {.url = "file:///etc/passwd"},
      {.url = "gopher://127.0.0.1/"},
      {.url = ""},
      {.url = "http://"},
      {.url = server.url() + "\r\nX: 1"},
      {.url = server.url() + std::string(100'000, 'x')},
      {.method = "GET /\r\nX:", .url = server.url()},
      {.url = server.url(), .headers = {{"X", "1\r\nY: 2"}}},
      {.url = server.url(), .headers = {{"X: 1\r\nY", "2"}}},
      {.url = server.url(), .headers = {{"", "2"}}},
      {.url = server.url(), .headers = {{"X", std::string("1\0", 2)}}},
  };
  for (const HttpRequest& request : bad) {
    const auto error = error_of(fetcher.fetch(request));
    EXPECT_EQ(error.fault, HttpFault::bad_request) << request.url << ": " << error.message;
    EXPECT_FALSE(error.was_sent);
  }
  EXPECT_EQ(server.connections(), 0);
}

TEST(HttpClient, tells_that_nobody_listens) {
  std::string url;
  {
    TestServer gone(TestServer::each([](const ServedRequest&) { return http_answer("200 OK"); }));
    url = gone.url();
  }
  Fetcher fetcher;
  const auto error = error_of(fetcher.fetch({.url = url}));
  EXPECT_EQ(error.fault, HttpFault::connect);
  EXPECT_EQ(error.message, "could not connect: Connection refused");
  EXPECT_EQ(error.os_error, ECONNREFUSED);
  EXPECT_FALSE(error.was_sent);
  EXPECT_EQ(verdict_of(error), VerdictKind::retry);
}

TEST(HttpClient, tells_that_a_name_leads_nowhere) {
  Fetcher fetcher;
  const auto error = error_of(fetcher.fetch({.url = "http://nowhere.invalid/"}));
  EXPECT_EQ(error.fault, HttpFault::resolve);
  EXPECT_EQ(error.message, "Could not resolve host: nowhere.invalid");
  EXPECT_EQ(verdict_of(error), VerdictKind::retry);
}

TEST(HttpClient, tells_a_server_that_never_answers) {
  TestServer server([](ServedConnection& connection) { connection.wait_for_end(); });
  Fetcher fetcher;
  const auto error = error_of(fetcher.fetch({.url = server.url(), .timeout = 50ms}));
  EXPECT_EQ(error.fault, HttpFault::timeout);
  EXPECT_EQ(error.message, "timed out after the request was sent");
  EXPECT_TRUE(error.was_sent);
  EXPECT_EQ(error.answer.status, 0);
}

TEST(HttpClient, tells_an_answer_that_does_not_end) {
  TestServer server([](ServedConnection& connection) {
    if (connection.read()) connection.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
    connection.wait_for_end();
  });
  Fetcher fetcher;
  const auto error = error_of(fetcher.fetch({.url = server.url(), .timeout = 50ms}));
  EXPECT_EQ(error.fault, HttpFault::timeout);
  EXPECT_EQ(error.answer.status, 200);
  EXPECT_EQ(error.answer.body, "half");
}

TEST(HttpClient, tells_a_connection_that_was_not_made_in_time) {
  // A queue of one connection that nobody accepts: the next ones wait.
  const UniqueFd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof in;
  auto* const address = reinterpret_cast<sockaddr*>(&in);
  ASSERT_EQ(::bind(listening.get(), address, size), 0);
  ASSERT_EQ(::listen(listening.get(), 0), 0);
  ASSERT_EQ(::getsockname(listening.get(), address, &size), 0);
  const UniqueFd first(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(first.get(), address, size), 0);
  Fetcher fetcher;
  const auto error = error_of(fetcher.fetch(
      {.url = "http://127.0.0.1:" + std::to_string(ntohs(in.sin_port)), .connect_timeout = 50ms}));
  EXPECT_EQ(error.fault, HttpFault::timeout);
  EXPECT_EQ(error.message, "timed out before the request was sent");
  EXPECT_FALSE(error.was_sent);
}

// Wherever it is cut: it is told, and what has come of the answer is kept.
TEST(HttpClient, tells_a_connection_that_is_cut_at_each_step) {
  struct Row {
    const char* sent;
    bool is_reset;
    int status;
  };
  const Row rows[] = {
      {"", false, 0},
      {"", true, 0},
      {"HTTP/1.1 200 OK\r\nContent-Le", false, 200},
      {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", false, 200},
      {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", false, 200},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", false, 200},
  };
  for (const Row& row : rows) {
    TestServer server([&](ServedConnection& connection) {
      static_cast<void>(connection.read());
      connection.write(row.sent);
      if (row.is_reset) connection.reset();
    });
    Fetcher fetcher;
    const auto error = error_of(
        fetcher.fetch({.method = "POST", .url = server.url(), .body = shared_text("payload")}));
    EXPECT_EQ(error.fault, HttpFault::cut_off) << row.sent << ": " << error.message;
    EXPECT_TRUE(error.was_sent);
    EXPECT_THAT(error.message, StartsWith("connection lost after the request was sent: "));
    EXPECT_EQ(verdict_of(error), VerdictKind::retry);
    EXPECT_EQ(error.answer.status, row.status) << row.sent;
  }
}

TEST(HttpClient, tells_a_connection_that_is_cut_in_the_request) {
  TestServer server([](ServedConnection& connection) {
    connection.read_some();
    connection.reset();
  });
  Fetcher fetcher;
  const auto error = error_of(fetcher.fetch(
      {.method = "POST", .url = server.url(), .body = shared_text(std::string(32U << 20, 'x'))}));
  EXPECT_EQ(error.fault, HttpFault::cut_off) << error.message;
  EXPECT_TRUE(error.was_sent);
}

TEST(HttpClient, tells_what_is_not_http) {
  TestServer server([](ServedConnection& connection) {
    if (connection.read()) connection.write("220 smtp.example.org ESMTP\r\n");
  });
  Fetcher fetcher;
  const auto error = error_of(fetcher.fetch({.url = server.url()}));
  EXPECT_EQ(error.fault, HttpFault::no_http) << error.message;
}

TEST(HttpClient, takes_no_more_of_an_answer_than_was_asked_for) {
  TestServer server([](ServedConnection& connection) {
    if (!connection.read()) return;
    connection.write("HTTP/1.1 200 OK\r\n\r\n");
    while (connection.write(std::string(10'000, 'x'))) {
    }
  });
  Fetcher fetcher;
  const auto error = error_of(fetcher.fetch({.url = server.url(), .most_response_bytes = 5000}));
  EXPECT_EQ(error.fault, HttpFault::too_large);
  EXPECT_EQ(error.message, "the answer is longer than 5000 bytes");
  EXPECT_EQ(error.answer.status, 200);
  EXPECT_EQ(error.answer.body, std::string(5000, 'x'));
}

TEST(HttpClient, takes_an_answer_that_just_fits) {
  TestServer server(TestServer::each(
      [](const ServedRequest&) { return http_answer("200 OK", std::string(5000, 'x')); }));
  Fetcher fetcher;
  EXPECT_EQ(fetcher.fetch({.url = server.url(), .most_response_bytes = 5000})->body.size(), 5000U);
}

TEST(HttpClient, does_not_read_headers_without_end) {
  TestServer server([](ServedConnection& connection) {
    if (!connection.read()) return;
    connection.write("HTTP/1.1 200 OK\r\n");
    while (connection.write("X-Filler: " + std::string(1000, 'x') + "\r\n")) {
    }
  });
  Fetcher fetcher;
  EXPECT_EQ(error_of(fetcher.fetch({.url = server.url()})).fault, HttpFault::too_large);
}

TEST(HttpClient, cancels) {
  std::promise<void> arrived;
  TestServer server([&](ServedConnection& connection) {
    if (connection.read()) arrived.set_value();
    connection.wait_for_end();  // the client lets go of it
  });
  Fetcher fetcher;
  auto started = fetcher.start({.url = server.url(), .timeout = {}});
  arrived.get_future().wait();
  started.call.cancel();
  started.call.cancel();
  EXPECT_EQ(error_of(started.result.get()).fault, HttpFault::canceled);
  started.call.cancel();
  HttpCall().cancel();
}

TEST(HttpClient, needs_its_certificates_at_once) {
  Loop loop;
  const auto client = HttpClient::start(loop, {.ca_file = "/nowhere/ca.pem"});
  ASSERT_FALSE(client.has_value());
  EXPECT_EQ(client.error().code, ErrorCode::not_found);
  EXPECT_THAT(client.error().message, HasSubstr("/nowhere/ca.pem"));
}

// The guard.

TEST(HttpClientGuard, refuses_this_machine_however_it_is_written) {
  TestServer server(TestServer::each([](const ServedRequest&) { return http_answer("200 OK"); }));
  const std::string port = ":" + std::to_string(server.port()) + "/";
  Fetcher fetcher;
  const auto strict = std::make_shared<const AddressGuard>();
  for (const std::string host :
       {"127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost", "LOCALHOST",
        "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "0", "[::]",
        "ann:secret@127.0.0.1", "169.254.169.254", "[fe80::1]", "[fd00::1]",
        "127.0.0.1%2f@127.0.0.1"}) {
    const auto error = error_of(
        fetcher.fetch({.url = "http://" + host + port, .connect_timeout = 1s, .guard = strict}));
    EXPECT_EQ(error.fault, HttpFault::refused_address) << host << ": " << error.message;
    EXPECT_THAT(error.message, StartsWith("refused address ")) << host;
    EXPECT_THAT(error.message, Not(HasSubstr("secret")));
    EXPECT_FALSE(error.was_sent);
  }
  EXPECT_EQ(server.connections(), 0);
}

TEST(HttpClientGuard, is_strict_where_none_is_given) {
  TestServer server(TestServer::each([](const ServedRequest&) { return http_answer("200 OK"); }));
  testing::RunningLoop loop;
  auto client = HttpClient::start(*loop).value();
  std::promise<HttpResult> promise;
  client.send({.url = server.url()},
              [&](HttpResult result) { promise.set_value(std::move(result)); });
  const auto error = error_of(promise.get_future().get());
  EXPECT_EQ(error.fault, HttpFault::refused_address);
  EXPECT_EQ(error.message, "refused address 127.0.0.1: it is loopback");
  EXPECT_EQ(server.connections(), 0);
}

// A name may lead elsewhere each time that it is looked up; 127.0.0.2 stands for the public
// address.
TEST(HttpClientGuard, refuses_a_name_that_leads_elsewhere_on_the_next_connection) {
  TestServer allowed(
      [](ServedConnection& connection) {
        if (connection.read()) connection.write(http_answer("200 OK", "", "Connection: close\r\n"));
      },
      "127.0.0.2");
  const std::string port = std::to_string(allowed.port());
  const auto guard = allowing({"127.0.0.2"});
  Fetcher fetcher;
  const auto fetch_at = [&](const std::string& address) {
    return fetcher.fetch({.url = "http://rebound.example:" + port + "/",
                          .guard = guard,
                          .resolve = {"rebound.example:" + port + ":" + address}});
  };
  ASSERT_TRUE(fetch_at("127.0.0.2").has_value());
  EXPECT_EQ(error_of(fetch_at("127.0.0.1")).message, "refused address 127.0.0.1: it is loopback");
  EXPECT_EQ(error_of(fetch_at("169.254.169.254")).fault, HttpFault::refused_address);
  EXPECT_EQ(error_of(fetch_at("[::1]")).fault, HttpFault::refused_address);
  EXPECT_TRUE(fetch_at("127.0.0.2").has_value());
}

TEST(HttpClientGuard, takes_an_allowed_one_of_several_addresses) {
  TestServer server(TestServer::each([](const ServedRequest&) { return http_answer("200 OK"); }));
  const std::string port = std::to_string(server.port());
  Fetcher fetcher;
  const auto answer = fetcher.fetch({.url = "http://two.example:" + port + "/",
                                     .guard = allowing({"127.0.0.1"}),
                                     .resolve = {"two.example:" + port + ":10.0.0.1,127.0.0.1"}});
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
}

TEST(HttpClientGuard, is_asked_about_a_connection_that_another_request_opened) {
  TestServer server(TestServer::each([](const ServedRequest&) { return http_answer("200 OK"); }));
  Fetcher fetcher;
  ASSERT_TRUE(fetcher.fetch({.url = server.url(), .guard = allowing({"loopback"})}).has_value());
  const auto error = error_of(
      fetcher.fetch({.url = server.url(), .guard = std::make_shared<const AddressGuard>()}));
  EXPECT_EQ(error.fault, HttpFault::refused_address);
  EXPECT_FALSE(error.was_sent);
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClient, speaks_ipv6) {
  TestServer server(TestServer::each([](const ServedRequest&) { return http_answer("200 OK"); }),
                    "::1");
  Fetcher fetcher;
  EXPECT_TRUE(fetcher.fetch({.url = server.url(), .guard = allowing({"::1"})}).has_value());
  EXPECT_EQ(error_of(fetcher.fetch({.url = server.url(), .guard = allowing({"127.0.0.1"})})).fault,
            HttpFault::refused_address);
}

TEST(HttpClient, gives_up_on_an_answer_that_stalls) {
  TestServer server([](ServedConnection& connection) {
    static_cast<void>(connection.read());
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of");
    connection.wait_for_end();
  });
  Fetcher fetcher;
  const auto error =
      error_of(fetcher.fetch({.url = server.url(), .timeout = 1min, .stall_timeout = 1s}));
  EXPECT_EQ(error.fault, HttpFault::timeout);
  EXPECT_EQ(error.answer.body, "half of");
}

TEST(HttpClient, has_no_more_connections_at_once_than_allowed) {
  std::promise<void> begin;
  const auto begun = begin.get_future().share();
  TestServer server(TestServer::each([&](const ServedRequest&) {
    begun.wait();
    return http_answer("200 OK");
  }));
  Fetcher fetcher({.most_connections = 3});
  std::vector<Fetcher::Started> started;
  for (int i = 0; i < 100; ++i)
    started.push_back(fetcher.start({.url = server.url()}));
  while (server.connections() < 3)
    std::this_thread::yield();
  begin.set_value();
  for (auto& one : started)
    EXPECT_TRUE(one.result.get());
  EXPECT_EQ(server.connections(), 3);
}

}  // namespace
}  // namespace holdfast::io::http_client_test
