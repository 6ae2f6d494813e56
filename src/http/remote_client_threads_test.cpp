// <holdfast/client.hpp> against a server: the real one, and one that plays tricks.
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/client.hpp>

#include "http/remote_testing.hpp"
#include "io/http_server_testing.hpp"
#include "io/tls_testing.hpp"
#include "support/temporary_folder.hpp"
#include "wire/submission_json.hpp"

namespace holdfast::http::remote_client_threads_test {
namespace {

using holdfast::testing::http_answer;
using holdfast::testing::ServedConnection;
using holdfast::testing::ServedRequest;
using holdfast::testing::TestServer;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr Duration kLong = 60s;

// Claims one task of the default queue and settles it, as a worker elsewhere would.
void settle_one(testing::TestApi& api, const core::Outcome& outcome) {
  std::promise<Result<core::Transition>> done;
  api.node().on_loop([&] {
    static_cast<void>(api.node().engine().lend({.queue = "default", .wait = kLong}, [&](auto lent) {
      const ports::TaskRecord& record = lent.value().at(0);
      api.node().engine().settle({record.id, record.task.token}, outcome, {},
                                 [&](auto settled) { done.set_value(std::move(settled)); });
    }));
  });
  EXPECT_TRUE(done.get_future().get());
}

TEST(RemoteClient, does_what_an_embedded_one_does) {  // N11
  testing::TestApi api;
  Client client(api.url() + "/");
  ASSERT_TRUE(client.open());
  const auto id = client.submit({.type = "mail.send",
                                 .queue = "a b/c",
                                 .payload = std::string("\x00\xff", 2),
                                 .priority = 3,
                                 .key = "welcome:ann"});
  ASSERT_TRUE(id) << id.error().text();
  const auto info = client.find(*id);
  ASSERT_TRUE(info) << info.error().text();
  EXPECT_EQ(info->queue, "a b/c");
  EXPECT_EQ(info->payload, std::string("\x00\xff", 2));
  EXPECT_EQ(info->priority, 3);
  EXPECT_EQ(info->key, "welcome:ann");

  EXPECT_TRUE(client.pause("a b/c"));
  EXPECT_TRUE(client.limit("a b/c", 4));
  const auto queues = client.counts();
  ASSERT_TRUE(queues) << queues.error().text();
  ASSERT_EQ(queues->size(), 1U);
  EXPECT_TRUE(queues->front().paused);
  EXPECT_EQ(queues->front().concurrency, 4);
  EXPECT_TRUE(client.resume("a b/c"));
  EXPECT_FALSE(client.counts()->front().paused);

  const auto page = client.list({.state = TaskState::pending, .queue = "a b/c", .limit = 5000});
  ASSERT_TRUE(page) << page.error().text();
  EXPECT_EQ(page->tasks.size(), 1U);
  EXPECT_TRUE(client.cancel(*id));
  EXPECT_EQ(client.find(*id)->state, TaskState::canceled);
  EXPECT_EQ(client.cancel(*id).error().code, ErrorCode::conflict);
}

TEST(RemoteClient, brings_dead_letters_back_or_throws_them_away) {  // T5
  testing::TestApi api;
  Client client(api.url());
  const auto id = client.submit({.type = "t", .attempts = 1});
  ASSERT_TRUE(id);
  settle_one(api, Failure{.message = "disk 7 on fire"});
  EXPECT_EQ(client.find(*id)->state, TaskState::dead);
  const auto groups = client.groups();
  ASSERT_TRUE(groups) << groups.error().text();
  EXPECT_EQ(groups->front().example, "disk 7 on fire");
  EXPECT_TRUE(client.replay(*id));
  EXPECT_EQ(client.find(*id)->state, TaskState::pending);
  EXPECT_EQ(client.replay(*id).error().code, ErrorCode::conflict);
  settle_one(api, Failure{.message = "disk 7 on fire"});
  const TaskId unknown = TaskId::parse("00000000-0000-7000-8000-000000000001").value();
  const std::vector<TaskId> both{unknown, *id};
  const auto discarded = client.discard(both);
  ASSERT_TRUE(discarded) << discarded.error().text();
  EXPECT_EQ((*discarded)[0].error().code, ErrorCode::not_found);
  EXPECT_TRUE((*discarded)[1]);
  EXPECT_EQ(client.find(*id)->state, TaskState::canceled);
  EXPECT_EQ(client.find(unknown).error().code, ErrorCode::not_found);
}

TEST(RemoteClient, waits_for_the_end_of_a_task) {
  testing::TestApi api;
  Client client(api.url());
  const auto id = client.submit({.type = "t"});
  EXPECT_EQ(client.wait(*id, 1ms).error().code, ErrorCode::timeout);
  std::thread worker([&] { settle_one(api, core::Success{"42"}); });
  const auto done = client.wait(*id, kLong);
  worker.join();
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->result, "42");
}

TEST(RemoteClient, hands_in_more_than_the_server_takes_at_once) {
  testing::TestApi api;  // at most 7 in an array
  Client client(api.url());
  std::vector<Submission> many(100, Submission{.type = "t"});
  many[50].type = "";
  many[60].payload = std::string(2000, 'x');  // at most 1000 bytes
  const auto answers = client.submit(many);
  ASSERT_TRUE(answers) << answers.error().text();
  ASSERT_EQ(answers->size(), 100U);
  EXPECT_EQ((*answers)[50].error().code, ErrorCode::invalid_argument);
  EXPECT_EQ((*answers)[60].error().code, ErrorCode::invalid_argument);
  EXPECT_THAT((*answers)[60].error().message, HasSubstr("2000 bytes"));
  EXPECT_EQ(client.counts()->front().count(TaskState::pending), 98U);
}

TEST(RemoteClient, says_what_is_wrong_with_its_token) {
  testing::TestApi api(testing::token("right", Role::submit));
  Client none(api.url());
  EXPECT_THAT(none.open().error().text(), HasSubstr("wants a token, and none was given"));
  Client wrong(api.url(), {.token = "planted-wrong"});
  EXPECT_THAT(wrong.open().error().text(), HasSubstr("does not know the token"));
  EXPECT_THAT(wrong.open().error().text(), Not(HasSubstr("planted")));
  Client lesser(api.url(), {.token = "right"});
  EXPECT_TRUE(lesser.open());
  EXPECT_TRUE(lesser.submit({.type = "t"}));
  EXPECT_THAT(lesser.counts().error().text(), HasSubstr("this needs read"));
}

// A server that plays tricks, and what it was asked.
class Trickster {
 public:
  using Answer = std::function<std::string(const ServedRequest&, int number)>;

  // An empty answer: the connection is cut.
  explicit Trickster(Answer answer)
      : server_([this, answer = std::move(answer)](ServedConnection& connection) {
          while (const auto request = connection.read()) {
            int number = 0;
            {
              const std::lock_guard lock(mutex_);
              came_.push_back(*request);
              number = static_cast<int>(came_.size());
            }
            const std::string text = answer(*request, number);
            if (text.empty() || !connection.write(text)) return;
          }
        }) {}

  [[nodiscard]] std::string url() const { return server_.url(""); }
  [[nodiscard]] std::vector<ServedRequest> came() {
    const std::lock_guard lock(mutex_);
    return came_;
  }

 private:
  std::mutex mutex_;
  std::vector<ServedRequest> came_;
  TestServer server_;
};

constexpr std::string_view kAccepted =
    R"({"id":"01930000-0000-7000-8000-000000000001","existed":false})";

TEST(RemoteClient, a_task_without_a_key_is_sent_again_with_the_same_one) {  // N5
  Trickster server([](const ServedRequest&, int number) {
    return number < 3 ? std::string() : http_answer("201 Created", kAccepted);
  });
  Client client(server.url());
  const auto id = client.submit({.type = "t", .payload = "x"});
  ASSERT_TRUE(id) << id.error().text();
  const auto came = server.came();
  ASSERT_EQ(came.size(), 3U);
  const auto first = wire::read_submission(came[0].body, {}).value();
  EXPECT_THAT(first.key, StartsWith("once-"));
  EXPECT_EQ(came[0].body, came[2].body);
}

TEST(RemoteClient, a_server_that_is_busy_is_asked_again) {
  Trickster server([](const ServedRequest&, int number) {
    const char* const status[] = {"503 Busy", "429 Slow Down", "502 Bad Gateway", "504 Too Late"};
    return number <= 4 ? http_answer(status[number - 1], "<html>", "Retry-After: 0\r\n")
                       : http_answer("200 OK", R"({"queues":[]})");
  });
  Client client(server.url());
  const auto counts = client.counts();
  EXPECT_TRUE(counts) << counts.error().text();
  EXPECT_EQ(server.came().size(), 5U);
}

TEST(RemoteClient, a_queue_that_is_full_is_asked_again) {
  Trickster server([](const ServedRequest&, int number) {
    return number < 3 ? http_answer("429 Full", R"({"type":"urn:holdfast:overloaded"})",
                                    "Retry-After: 0\r\n")
                      : http_answer("201 Created", kAccepted);
  });
  Client client(server.url());
  const auto id = client.submit({.type = "t"});
  EXPECT_TRUE(id) << id.error().text();
  EXPECT_EQ(server.came().size(), 3U);
}

TEST(RemoteClient, a_refused_token_is_told_once_for_all_tasks) {
  Trickster server([](const ServedRequest&, int) { return http_answer("401 Who", "{}"); });
  Client client(server.url(), {.token = "wrong"});
  const auto ids = client.submit(std::vector<Submission>(100, Submission{.type = "t"}));
  ASSERT_FALSE(ids);
  EXPECT_EQ(ids.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(server.came().size(), 1U);
}

TEST(RemoteClient, a_refusal_does_not_say_that_an_earlier_try_was_not_accepted) {  // N5
  Trickster server([](const ServedRequest&, int number) {
    return number == 1 ? std::string() : http_answer("401 Who", "{}");
  });
  Client client(server.url(), {.token = "wrong"});
  const auto id = client.submit({.type = "t"});
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().code, ErrorCode::unavailable);
  EXPECT_THAT(id.error().message, HasSubstr("does not know the token"));
}

TEST(RemoteClient, does_not_wait_past_its_patience) {
  Trickster server([](const ServedRequest&, int) {
    return http_answer("503 Busy", "", "Retry-After: 3600\r\n");
  });
  Client client(server.url(), {.patience = 30s});
  const auto counts = client.counts();
  ASSERT_FALSE(counts);
  EXPECT_EQ(counts.error().code, ErrorCode::unavailable);
  EXPECT_EQ(server.came().size(), 1U);
}

TEST(RemoteClient, what_an_earlier_try_has_done_is_no_conflict) {
  const std::string canceled = R"({"id":"01930000-0000-7000-8000-000000000001","type":"t",)"
                               R"("queue":"q","state":"canceled"})";
  Trickster server([&](const ServedRequest& request, int number) {
    if (number == 1) return std::string();
    if (request.head.starts_with("GET")) return http_answer("200 OK", canceled);
    return http_answer("409 Conflict", R"({"type":"urn:holdfast:conflict","detail":"canceled"})");
  });
  Client client(server.url());
  const auto done = client.cancel(TaskId::parse("01930000-0000-7000-8000-000000000001").value());
  EXPECT_TRUE(done) << done.error().text();
}

TEST(RemoteClient, gives_up_at_once_on_what_does_not_pass) {
  const auto error_of = [](std::string answer) {
    Trickster server([answer](const ServedRequest&, int) { return answer; });
    Client client(server.url());
    const auto counts = client.counts();
    EXPECT_FALSE(counts);
    EXPECT_EQ(server.came().size(), 1U);
    return counts ? Error() : counts.error();
  };
  EXPECT_EQ(error_of(http_answer("507 Full", R"({"detail":"disk full"})")).code,
            ErrorCode::exhausted);
  EXPECT_THAT(error_of(http_answer("301 Moved", "", "Location: http://127.0.0.1:1/\r\n")).message,
              HasSubstr("redirect"));
  EXPECT_THAT(error_of(http_answer("200 OK", "<html>hello</html>")).message,
              HasSubstr("none of a Holdfast server"));
  EXPECT_EQ(error_of(http_answer("413 Large", R"({"detail":"too large"})")).message, "too large");
}

TEST(RemoteClient, sends_its_token_and_nothing_of_it_elsewhere) {
  Trickster server(
      [](const ServedRequest&, int) { return http_answer("200 OK", R"({"queues":[]})"); });
  Client client(server.url(), {.token = "planted"});
  EXPECT_TRUE(client.counts());
  EXPECT_EQ(server.came().at(0).header("Authorization"), "Bearer planted");
  EXPECT_THAT(server.came().at(0).head, StartsWith("GET /v1/queues HTTP/1.1"));
}

TEST(RemoteClient, trusts_whom_its_ca_file_names_and_nobody_else) {
  const auto authority = holdfast::testing::TestCertificate::authority("our own");
  const auto certificate = holdfast::testing::TestCertificate::server("IP:127.0.0.1", authority);
  const holdfast::testing::TemporaryFolder folder;
  const std::string ca_file = folder / "ca.pem";
  authority.save_certificate(ca_file);
  const auto context = certificate.context();
  TestServer server(TestServer::each([](const ServedRequest&) {
                      return http_answer("200 OK", R"({"queues":[]})");
                    }),
                    "127.0.0.1", context.get());
  Client trusting(server.url(), {.token = "t", .ca_file = ca_file});
  const auto counts = trusting.counts();
  EXPECT_TRUE(counts) << counts.error().text();
  Client other(server.url(), {.token = "t"});
  EXPECT_EQ(other.counts().error().code, ErrorCode::unavailable);
  Client missing(server.url(), {.ca_file = "/no/such/file"});
  EXPECT_FALSE(missing.counts());
}

TEST(RemoteClient, a_server_that_nobody_runs_is_unavailable) {
  Client client("http://127.0.0.1:1", {.patience = 10ms});
  const auto counts = client.counts();
  ASSERT_FALSE(counts);
  EXPECT_EQ(counts.error().code, ErrorCode::unavailable);
  EXPECT_THAT(counts.error().message, HasSubstr("http://127.0.0.1:1: "));
}

}  // namespace
}  // namespace holdfast::http::remote_client_threads_test
