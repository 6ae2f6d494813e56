#include <atomic>
#include <latch>

#include <gtest/gtest.h>

#include "io/http_client.hpp"
#include "io/http_client_testing.hpp"
#include "io/http_server_testing.hpp"

namespace holdfast::io::http_client_threads_test {
namespace {

using testing::Fetcher;
using testing::http_answer;
using testing::ServedConnection;
using testing::ServedRequest;
using testing::TestServer;

TEST(HttpClientThreads, hundreds_are_under_way_at_once) {
  constexpr int kMany = 500;
  std::latch all_arrived(kMany);
  TestServer server([&](ServedConnection& connection) {
    if (!connection.read()) return;
    all_arrived.arrive_and_wait();  // none is answered before all are here
    connection.write(http_answer("200 OK", "x"));
  });
  Fetcher fetcher;
  std::vector<Fetcher::Started> started;
  for (int n = 0; n < kMany; ++n)
    started.push_back(fetcher.start({.url = server.url()}));
  for (auto& one : started)
    ASSERT_TRUE(one.result.get().has_value());
  EXPECT_EQ(server.connections(), kMany);
}

TEST(HttpClientThreads, those_of_one_name_do_not_keep_each_other_waiting) {
  constexpr int kMany = 50;
  std::latch all_arrived(kMany);
  TestServer server([&](ServedConnection& connection) {
    if (!connection.read()) return;
    all_arrived.arrive_and_wait();
    connection.write(http_answer("200 OK", "x"));
  });
  Fetcher fetcher;
  std::vector<Fetcher::Started> started;
  for (int n = 0; n < kMany; ++n) {
    started.push_back(
        fetcher.start({.url = "http://localhost:" + std::to_string(server.port()) + "/"}));
  }
  for (auto& one : started)
    ASSERT_TRUE(one.result.get().has_value());
}

TEST(HttpClientThreads, any_thread_may_send_and_cancel) {
  TestServer server(TestServer::each([](const ServedRequest&) { return http_answer("200 OK"); }));
  Fetcher fetcher;
  std::atomic<int> succeeded = 0;
  std::atomic<int> canceled = 0;
  {
    std::vector<std::jthread> senders;
    for (int thread = 0; thread < 4; ++thread) {
      senders.emplace_back([&] {
        for (int n = 0; n < 50; ++n) {
          auto started = fetcher.start({.url = server.url()});
          if (n % 2) started.call.cancel();
          const auto result = started.result.get();
          if (result) {
            ++succeeded;
          } else if (result.error().fault == HttpFault::canceled) {
            ++canceled;
          }
        }
      });
    }
  }
  EXPECT_EQ(succeeded + canceled, 200);
  EXPECT_GE(succeeded, 100);
}

TEST(HttpClientThreads, what_is_under_way_comes_back_when_the_client_goes) {
  std::latch arrived(10);
  TestServer server([&](ServedConnection& connection) {
    if (connection.read()) arrived.count_down();
    connection.wait_for_end();
  });
  testing::RunningLoop loop;
  std::vector<Fetcher::Started> started;
  {
    auto client = HttpClient::start(*loop).value();
    for (int n = 0; n < 10; ++n) {
      std::promise<HttpResult> promise;
      auto future = promise.get_future();
      auto call = client.send(
          {.url = server.url(), .guard = testing::allowing({"loopback"})},
          [promise = std::move(promise)](HttpResult result) mutable { promise.set_value(result); });
      started.push_back({std::move(call), std::move(future)});
    }
    arrived.wait();
  }
  for (auto& one : started) {
    EXPECT_EQ(one.result.get().error().fault, HttpFault::canceled);
    one.call.cancel();  // of a client that is gone
  }
}

}  // namespace
}  // namespace holdfast::io::http_client_threads_test
