// Attempts begin on the loop, are sent by the client's thread, and stopped by any.
#include <future>
#include <latch>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "handlers/handlers_testing.hpp"
#include "handlers/webhook.hpp"
#include "handlers/webhook_rules.hpp"
#include "io/http_client_testing.hpp"
#include "io/http_server_testing.hpp"

namespace holdfast::handlers::webhook_threads_test {
namespace {

using namespace std::chrono_literals;
using holdfast::testing::allowing;
using holdfast::testing::http_answer;
using holdfast::testing::RunningLoop;
using holdfast::testing::ServedConnection;
using holdfast::testing::ServedRequest;
using holdfast::testing::TestServer;
using testing::failure_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::result_of;
using testing::TestRun;

std::shared_ptr<TestRun> run_with(std::string payload, std::string type = "mail.send") {
  ports::TaskRecord record;
  record.id = TaskId::parse("01912d68-783e-7a03-8467-5661c1243ad4").value();
  record.type = std::move(type);
  record.payload = std::move(payload);
  record.task.token = core::Token{42};
  return std::make_shared<TestRun>(std::move(record), 3);
}

class WebhookThreads : public ::testing::Test {
 protected:
  Webhook made(WebhookOptions options) {
    if (!options.guard) options.guard = allowing({"loopback"});
    return Webhook::make(client_, std::move(options), system_clock()).value();
  }

  // On the loop, as engines do.
  void begin(Webhook& webhook, const std::vector<std::shared_ptr<TestRun>>& runs) {
    std::promise<void> begun;
    (*loop_).post([&] {
      for (const auto& run : runs)
        webhook.start(run);
      begun.set_value();
    });
    begun.get_future().wait();
  }

  core::Outcome outcome_of_run(Webhook& webhook, const std::shared_ptr<TestRun>& run) {
    begin(webhook, {run});
    return run->wait();
  }

  core::Outcome send(WebhookOptions options, std::string payload = "{}") {
    auto webhook = made(std::move(options));
    return outcome_of_run(webhook, run_with(std::move(payload)));
  }

  // The outcome where the server answers so.
  core::Outcome answered(std::string answer, WebhookOptions options = {}) {
    TestServer server(TestServer::each([&](const ServedRequest&) { return answer; }));
    options.url = server.url();
    return send(std::move(options));
  }

  RunningLoop loop_;
  io::HttpClient client_ = io::HttpClient::start(*loop_).value();
};

TEST_F(WebhookThreads, posts_the_payload_signed_and_gives_the_result) {
  ServedRequest seen;
  TestServer server(TestServer::each([&](const ServedRequest& request) {
    seen = request;
    return http_answer("200 OK", "thanks");
  }));
  const auto outcome = send({.url = server.url("/in"),
                             .secrets = {"whsec_YQ==", "raw key"},
                             .headers = {{"Authorization", "Bearer xyz"}}},
                            R"({"to":"ann"})");
  EXPECT_EQ(result_of(outcome), "thanks");
  EXPECT_THAT(seen.head, ::testing::StartsWith("POST /in HTTP/1.1\r\n"));
  EXPECT_EQ(seen.body, R"({"to":"ann"})");
  EXPECT_EQ(seen.header("Content-Type"), "application/json");
  EXPECT_EQ(seen.header("Holdfast-Task-Type"), "mail.send");
  EXPECT_EQ(seen.header("Holdfast-Attempt"), "3");
  EXPECT_EQ(seen.header("Holdfast-Token"), "42");
  EXPECT_EQ(seen.header("Authorization"), "Bearer xyz");
  const std::string id = seen.header("webhook-id");
  const std::string timestamp = seen.header("webhook-timestamp");
  EXPECT_EQ(id, "01912d68-783e-7a03-8467-5661c1243ad4");
  const auto sent = WallTime(std::chrono::seconds(std::stoll(timestamp)));
  EXPECT_LT(std::chrono::abs(system_clock().wall_now() - sent), 1h);
  EXPECT_EQ(seen.header("webhook-signature"),
            WebhookSigner::make("whsec_YQ==")->sign(id, timestamp, seen.body) + " " +
                WebhookSigner::make("raw key")->sign(id, timestamp, seen.body));
}

TEST_F(WebhookThreads, hands_on_the_trace_of_a_task_that_has_one) {
  constexpr const char* kTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  std::string seen;
  TestServer server(TestServer::each([&](const ServedRequest& request) {
    seen = request.header("traceparent");
    return http_answer("204 No Content");
  }));
  auto webhook = made({.url = server.url()});
  ports::TaskRecord record;
  record.trace = kTrace;
  static_cast<void>(outcome_of_run(webhook, std::make_shared<TestRun>(std::move(record))));
  EXPECT_EQ(seen, kTrace);
  static_cast<void>(outcome_of_run(webhook, run_with("{}")));
  EXPECT_EQ(seen, "none");
}

TEST_F(WebhookThreads, says_what_the_payload_is) {
  std::string type;
  TestServer server(TestServer::each([&](const ServedRequest& request) {
    type = request.header("Content-Type");
    EXPECT_EQ(request.header("webhook-signature"), "none");
    return http_answer("204 No Content");
  }));
  EXPECT_EQ(result_of(send({.url = server.url()}, "{not json")), "");
  EXPECT_EQ(type, "application/octet-stream");
  static_cast<void>(send({.url = server.url(), .content_type = "text/csv"}, "a,b"));
  EXPECT_EQ(type, "text/csv");
  static_cast<void>(send({.url = server.url()}, ""));
  EXPECT_EQ(type, "application/octet-stream");
}

TEST_F(WebhookThreads, cannot_be_made_to_send_other_headers) {
  std::string head;
  TestServer server(TestServer::each([&](const ServedRequest& request) {
    head = request.head;
    return http_answer("200 OK");
  }));
  auto webhook = made({.url = server.url()});
  static_cast<void>(
      outcome_of_run(webhook, run_with("{}", "a\r\nAuthorization: Basic x\r\n\xc3\xa9%")));
  EXPECT_THAT(head,
              HasSubstr("Holdfast-Task-Type: a%0D%0AAuthorization:%20Basic%20x%0D%0A%C3%A9%25"));
  EXPECT_THAT(head, Not(HasSubstr("\r\nAuthorization")));
}

TEST_F(WebhookThreads, fails_with_the_status_and_the_beginning_of_the_answer) {
  EXPECT_EQ(failure_of(answered(http_answer("500 Internal Server Error", " no luck\n"))),
            (Failure{.message = "HTTP 500: no luck", .http_status = 500}));
  EXPECT_EQ(failure_of(answered(http_answer("410 Gone"))),
            (Failure{.message = "HTTP 410", .http_status = 410}));
  EXPECT_EQ(failure_of(answered(http_answer("400 Bad Request", "aéé"), {.kept_error_bytes = 4})),
            (Failure{.message = "HTTP 400: aé…", .http_status = 400}));
}

TEST_F(WebhookThreads, hands_on_when_to_come_again) {
  const auto failure =
      failure_of(answered(http_answer("429 Too Many Requests", "", "retry-after: 120\r\n")));
  EXPECT_EQ(failure, (Failure{.message = "HTTP 429", .http_status = 429, .retry_after = 120s}));
}

TEST(WebhookOutcome, counts_a_date_to_come_again_from_now) {
  const WallTime now(std::chrono::sys_days(std::chrono::year(1994) / 11 / 6) + 8h);
  const auto failure = failure_of(
      outcome_of(io::HttpResponse{.status = 503,
                                  .head = "HTTP/1.1 503 x\r\n"
                                          "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n"},
                 now, 100));
  EXPECT_EQ(failure.retry_after, 49min + 37s);
}

TEST_F(WebhookThreads, does_not_follow_a_redirect) {
  const auto failure =
      failure_of(answered(http_answer("302 Found", "", "Location: http://10.0.0.1/\r\n")));
  EXPECT_EQ(failure,
            (Failure{.message = "HTTP 302: redirects are not followed", .http_status = 302}));
}

TEST_F(WebhookThreads, has_succeeded_though_the_answer_is_too_long) {
  EXPECT_EQ(result_of(answered(http_answer("200 OK", "0123456789"), {.most_result_bytes = 4})),
            "0123");
  EXPECT_EQ(failure_of(answered(http_answer("500 x", "0123456789"), {.most_result_bytes = 4})),
            (Failure{.message = "HTTP 500: 0123", .http_status = 500}));
}

TEST_F(WebhookThreads, that_is_cut_off_is_to_be_tried_again) {
  TestServer server([](ServedConnection& connection) { static_cast<void>(connection.read()); });
  const auto failure = failure_of(send({.url = server.url()}));
  EXPECT_THAT(failure.message, HasSubstr("connection lost after the request was sent"));
  const auto classifier = Classifier::make(presets::network()).value();
  EXPECT_EQ(classifier.explain(failure.view()).rule, "network.connection-lost");
}

TEST_F(WebhookThreads, that_takes_too_long_has_timed_out) {
  TestServer server([](ServedConnection& connection) { connection.wait_for_end(); });
  const auto failure = failure_of(send({.url = server.url(), .timeout = 50ms}));
  EXPECT_EQ(failure.kind, FailureKind::timeout);
  EXPECT_EQ(failure.message, "timed out after the request was sent");
}

TEST_F(WebhookThreads, gives_up_an_address_that_is_not_allowed) {
  TestServer server(TestServer::each([](const ServedRequest&) { return http_answer("200 OK"); }));
  auto webhook = Webhook::make(client_, {.url = server.url()}, system_clock()).value();
  const auto failure = failure_of(outcome_of_run(webhook, run_with("{}")));
  const auto classifier = with_webhook_rules(Classifier::make(presets::all()).value()).value();
  EXPECT_EQ(classifier.classify(failure.view()).verdict.kind, VerdictKind::give_up)
      << failure.message;
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(WebhookThreads, is_canceled_by_a_stop_request) {
  std::promise<void> arrived;
  std::promise<void> let_go;
  TestServer server([&](ServedConnection& connection) {
    if (connection.read()) arrived.set_value();
    connection.wait_for_end();
    let_go.set_value();
  });
  auto webhook = made({.url = server.url()});
  const auto run = run_with("{}");
  begin(webhook, {run});
  arrived.get_future().wait();
  run->request_stop();
  EXPECT_EQ(failure_of(run->wait()).message, "canceled");
  let_go.get_future().wait();
  EXPECT_EQ(run->finished(), 1);
}

TEST_F(WebhookThreads, that_was_stopped_before_it_began_ends_too) {
  TestServer server([](ServedConnection& connection) { connection.wait_for_end(); });
  auto webhook = made({.url = server.url()});
  const auto run = run_with("{}");
  run->request_stop();
  EXPECT_EQ(failure_of(outcome_of_run(webhook, run)).message, "canceled");
}

TEST_F(WebhookThreads, that_nobody_wants_any_more_is_not_sent) {
  TestServer server(TestServer::each([](const ServedRequest&) { return http_answer("200 OK"); }));
  auto webhook = made({.url = server.url()});
  const auto run = run_with("{}");
  run->unwant();
  EXPECT_TRUE(std::holds_alternative<core::HandedBack>(outcome_of_run(webhook, run)));
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(WebhookThreads, attempts_end_once_whoever_comes_first) {
  TestServer server(TestServer::each([](const ServedRequest&) { return http_answer("200 OK"); }));
  auto webhook = made({.url = server.url()});
  std::vector<std::shared_ptr<TestRun>> runs;
  for (int n = 0; n < 100; ++n)
    runs.push_back(run_with("{}"));
  {
    const std::jthread stopping([&] {
      for (std::size_t n = 0; n < runs.size(); n += 2)
        runs[n]->request_stop();
    });
    begin(webhook, runs);
  }
  for (const auto& run : runs)
    static_cast<void>(run->wait());
  for (const auto& run : runs)
    EXPECT_EQ(run->finished(), 1);
}

TEST_F(WebhookThreads, refuses_what_cannot_be_sent) {
  const auto error_of = [&](WebhookOptions options) {
    if (options.url.empty()) options.url = "https://hooks.example.org/";
    const auto webhook = Webhook::make(client_, std::move(options), system_clock());
    return webhook ? "none" : webhook.error().text();
  };
  EXPECT_EQ(error_of({}), "none");
  EXPECT_THAT(error_of({.url = "ftp://x/"}), HasSubstr("http:// or https://"));
  EXPECT_THAT(error_of({.secrets = {"good", ""}}), HasSubstr("empty"));
  EXPECT_THAT(error_of({.headers = {{"a b", "1"}}}), HasSubstr("\"a b\""));
  EXPECT_THAT(error_of({.headers = {{"Webhook-Id", "1"}}}), HasSubstr("\"Webhook-Id\""));
  EXPECT_THAT(error_of({.headers = {{"Holdfast-X", "1"}}}), HasSubstr("\"Holdfast-X\""));
  EXPECT_THAT(error_of({.headers = {{"Content-Length", "1"}}}), HasSubstr("ours"));
  const auto broken = error_of({.headers = {{"X-Key", "s3cret\r\nY: 1"}}});
  EXPECT_THAT(broken, HasSubstr("\"X-Key\""));
  EXPECT_THAT(broken, Not(HasSubstr("s3cret")));
}

TEST_F(WebhookThreads, knows_the_host_for_its_breaker) {
  EXPECT_EQ(made({.url = "https://Hooks.example.org/in/1"}).host(), "hooks.example.org");
}

}  // namespace
}  // namespace holdfast::handlers::webhook_threads_test
