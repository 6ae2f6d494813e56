// The whole way of an input: real files, a real client, and a server as each test plays it.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/testing/log_capture.hpp>

#include "handlers/handlers_testing.hpp"
#include "inputs/with_input.hpp"
#include "io/fifo_testing.hpp"
#include "io/http_client_testing.hpp"
#include "io/http_server_testing.hpp"

namespace holdfast::inputs::with_input_threads_test {
namespace {

using handlers::testing::failure_of;
using handlers::testing::result_of;
using handlers::testing::TestRun;
using holdfast::testing::http_answer;
using holdfast::testing::LogCapture;
using holdfast::testing::RunningLoop;
using holdfast::testing::ServedConnection;
using holdfast::testing::ServedRequest;
using holdfast::testing::TemporaryFolder;
using holdfast::testing::TestServer;
using namespace std::chrono_literals;

// Reads the input, and hands it back as the result.
class Reader final : public ports::Handler {
 public:
  void start(std::shared_ptr<ports::Run> run) noexcept override {
    if (!run->begin()) return run->finish(core::HandedBack{});
    ++runs;
    path = run->input();
    std::ifstream in{path, std::ios::binary};
    run->finish(core::Success{std::string(std::istreambuf_iterator<char>(in), {})});
  }
  std::atomic<int> runs = 0;
  std::string path;
};

// Waits for nothing, and remembers for how long it should have.
class HastyLoop final : public ports::Loop {
 public:
  explicit HastyLoop(ports::Loop& loop) : loop_(loop) {}
  void post(Work work) override { loop_.post(std::move(work)); }
  std::unique_ptr<Timer> after(Duration wait, Work work) override {
    const std::lock_guard lock(mutex_);
    waits_.push_back(wait);
    return loop_.after(0s, std::move(work));
  }
  // Rounded: the clock goes on while it is asked.
  [[nodiscard]] std::vector<std::chrono::milliseconds> waits() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::chrono::milliseconds> rounded;
    for (const Duration wait : waits_)
      rounded.push_back(std::chrono::round<std::chrono::seconds>(wait));
    return rounded;
  }

 private:
  ports::Loop& loop_;
  mutable std::mutex mutex_;
  std::vector<Duration> waits_;
};

struct Box {
  explicit Box(const std::string& endpoint, const std::function<void(InputOptions&)>& change = {}) {
    InputOptions options{.fetch = {.server = {.endpoint = endpoint}}, .shown_endpoint = endpoint};
    options.bucket = TextTemplate::parse("uploads").value();
    options.key = TextTemplate::parse("{object}").value();
    if (change) change(options);
    on_loop([&] {
      landing = Landing::open(hasty, folder.path()).value();
      handler = std::make_shared<WithInput>(reader, landing, options, Logger(log), system_clock());
    });
  }
  ~Box() {
    on_loop([&] {
      handler.reset();
      landing.reset();
    });
  }
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  void on_loop(const std::function<void()>& work) {
    std::promise<void> done;
    hasty.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

  std::shared_ptr<TestRun> start(std::string payload = R"({"object": "a/b.txt"})") {
    ports::TaskRecord record;
    record.type = "scan.file";
    record.queue = "scans";
    record.payload = std::move(payload);
    record.task.token.value = ++tokens;
    auto run = std::make_shared<TestRun>(std::move(record));
    on_loop([&] { handler->start(run); });
    return run;
  }

  void wait_until_no_file_is_left() const {
    while (!std::filesystem::is_empty(landing->folder.path()))
      std::this_thread::yield();
  }

  TemporaryFolder folder;
  LogCapture log;
  RunningLoop loop;
  HastyLoop hasty{*loop};
  std::shared_ptr<Reader> reader = std::make_shared<Reader>();
  std::shared_ptr<Landing> landing;
  std::shared_ptr<WithInput> handler;
  std::uint64_t tokens = 0;
};

// Answers one after the other; the last again and again.
TestServer::Serve one_after_the_other(std::vector<std::string> answers, std::atomic<int>& asked) {
  return TestServer::each([answers = std::move(answers), &asked](const ServedRequest&) {
    const auto at = static_cast<std::size_t>(asked++);
    return answers[std::min(at, answers.size() - 1)];
  });
}

TEST(WithInput, hands_over_a_file_that_is_gone_afterwards) {
  std::string asked;
  TestServer server(TestServer::each([&](const ServedRequest& request) {
    asked = request.head.substr(0, request.head.find('\r'));
    return http_answer("200 OK", "the content");
  }));
  Box box(server.url("/"));
  const auto run = box.start(R"({"object": "a b/c+d.txt"})");
  EXPECT_EQ(result_of(run->wait()), "the content");
  EXPECT_EQ(asked, "GET /uploads/a%20b/c%2Bd.txt HTTP/1.1");
  EXPECT_TRUE(box.reader->path.starts_with(box.landing->folder.path()));
  box.wait_until_no_file_is_left();
  EXPECT_TRUE(box.log.entries().empty());  // a success is not worth a line
}

TEST(WithInput, R3_retries_what_may_recover_and_logs_each) {
  std::atomic<int> asked = 0;
  TestServer server(one_after_the_other(
      {http_answer("500 Internal Server Error"),
       http_answer("503 Slow Down", "<Code>SlowDown</Code>"), http_answer("200 OK", "at last")},
      asked));
  Box box(server.url());
  EXPECT_EQ(result_of(box.start()->wait()), "at last");
  EXPECT_EQ(box.hasty.waits(), (std::vector<std::chrono::milliseconds>{1s, 2s}));
  const auto retries = box.log.of("retry.wait");
  ASSERT_EQ(retries.size(), 2U);
  EXPECT_EQ(retries[0].level, Level::warning);
  EXPECT_EQ(retries[0].fields.at("operation"), "fetch input");
  EXPECT_EQ(retries[0].fields.at("attempt"), "1");
  EXPECT_EQ(retries[0].fields.at("wait"), "1");
  EXPECT_EQ(retries[0].fields.at("error"), "HTTP 500");
  EXPECT_EQ(retries[0].fields.at("bucket"), "uploads");
  EXPECT_EQ(retries[0].fields.at("key"), "a/b.txt");
  EXPECT_EQ(retries[1].fields.at("attempt"), "2");
  EXPECT_EQ(retries[1].fields.at("wait"), "2");
  EXPECT_EQ(retries[1].fields.at("error"), "HTTP 503: SlowDown");
  EXPECT_EQ(box.log.of("retry.recovered").size(), 1U);
  EXPECT_TRUE(box.log.of("input.failed").empty());
}

TEST(WithInput, R3_waits_no_longer_than_its_cap) {
  std::atomic<int> asked = 0;
  TestServer server(one_after_the_other({http_answer("500 Internal Server Error")}, asked));
  Box box(server.url(), [](InputOptions& options) { options.fetch.attempts = 6; });
  static_cast<void>(box.start()->wait());
  EXPECT_EQ(box.hasty.waits(), (std::vector<std::chrono::milliseconds>{1s, 2s, 4s, 8s, 8s}));
}

TEST(WithInput, R4_fails_the_task_with_the_last_attempt_and_says_so_once) {
  std::string endpoint;
  {
    const TestServer gone([](ServedConnection&) {});
    endpoint = gone.url();
  }
  Box box(endpoint);
  const auto run = box.start();
  const Failure failure = failure_of(run->wait());
  EXPECT_EQ(failure.message,
            "cannot fetch the input s3://uploads/a/b.txt: could not connect: Connection refused");
  EXPECT_TRUE(run->was_given_up());
  EXPECT_FALSE(run->has_begun());
  EXPECT_EQ(box.log.of("retry.wait").size(), 2U);
  const auto failed = box.log.of("input.failed");
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].level, Level::error);
  const std::map<std::string, std::string> context{
      {"task", run->task().id.text()},
      {"type", "scan.file"},
      {"queue", "scans"},
      {"bucket", "uploads"},
      {"key", "a/b.txt"},
      {"endpoint", endpoint},
      {"attempts", "3"},
      {"error", "could not connect: Connection refused"}};
  EXPECT_EQ(failed[0].fields, context);
  EXPECT_EQ(box.reader->runs, 0);
  box.wait_until_no_file_is_left();
}

TEST(WithInput, leaves_it_to_the_task_where_that_is_asked_for) {
  std::atomic<int> asked = 0;
  TestServer server(one_after_the_other({http_answer("502 Bad Gateway")}, asked));
  Box box(server.url(), [](InputOptions& options) { options.on_failure = OnFailure::retry; });
  const auto run = box.start();
  EXPECT_EQ(failure_of(run->wait()).http_status, 502);
  EXPECT_FALSE(run->was_given_up());
  EXPECT_EQ(asked, 3);
}

TEST(WithInput, gives_up_at_once_on_what_cannot_recover) {
  for (const std::string status :
       {"400 Bad Request", "403 Forbidden", "404 Not Found", "301 Moved", "204 No Content"}) {
    std::atomic<int> asked = 0;
    TestServer server(one_after_the_other({http_answer(status)}, asked));
    Box box(server.url());
    const auto run = box.start();
    const Failure failure = failure_of(run->wait());
    EXPECT_EQ(failure.http_status, std::stoi(status)) << status;
    EXPECT_TRUE(run->was_given_up()) << status;
    EXPECT_EQ(asked, 1) << status;
    EXPECT_EQ(box.log.of("input.failed").at(0).fields.at("attempts"), "1") << status;
  }
}

TEST(WithInput, gives_up_on_a_payload_that_does_not_name_the_object) {
  std::atomic<int> asked = 0;
  TestServer server(one_after_the_other({http_answer("200 OK")}, asked));
  Box box(server.url());
  const auto run = box.start(R"({"other": 1})");
  EXPECT_EQ(failure_of(run->wait()).message,
            R"(cannot fetch the input: the payload has no field "object")");
  EXPECT_TRUE(run->was_given_up());
  EXPECT_TRUE(box.start(R"({"object": "../other/secret"})")->was_given_up());
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(box.log.of("input.failed").size(), 2U);
}

TEST(WithInput, refuses_an_object_that_is_too_large) {
  std::atomic<int> asked = 0;
  TestServer server(one_after_the_other({http_answer("200 OK", std::string(2000, 'x'))}, asked));
  Box box(server.url(), [](InputOptions& options) { options.fetch.largest_bytes = 1024; });
  const auto run = box.start();
  EXPECT_EQ(failure_of(run->wait()).message,
            "cannot fetch the input s3://uploads/a/b.txt: the object is larger than 1KiB");
  EXPECT_TRUE(run->was_given_up());
  EXPECT_EQ(asked, 1);
  box.wait_until_no_file_is_left();
}

TEST(WithInput, fetches_again_what_came_damaged_and_keeps_nothing_of_it) {
  std::atomic<int> asked = 0;
  TestServer server(one_after_the_other(
      {http_answer("200 OK", "a longer text, damaged"), http_answer("200 OK", "abc")}, asked));
  Box box(server.url(),
          [](InputOptions& options) { options.sha256 = TextTemplate::parse("{digest}").value(); });
  const std::string digest = io::to_hex(io::sha256("abc"));
  const auto run = box.start(R"({"object": "x", "digest": ")" + digest + R"("})");
  EXPECT_EQ(result_of(run->wait()), "abc");
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(box.log.of("retry.wait").at(0).fields.at("error"),
            "the object has the SHA-256 " + io::to_hex(io::sha256("a longer text, damaged")) +
                ", not " + digest);
}

TEST(WithInput, gives_up_on_a_digest_that_is_none) {
  std::atomic<int> asked = 0;
  TestServer server(one_after_the_other({http_answer("200 OK")}, asked));
  Box box(server.url(),
          [](InputOptions& options) { options.sha256 = TextTemplate::parse("{digest}").value(); });
  for (const std::string digest :
       {"abc", "", "zz", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8-5"}) {
    const auto run = box.start(R"({"object": "x", "digest": ")" + digest + R"("})");
    static_cast<void>(run->wait());
    EXPECT_TRUE(run->was_given_up()) << digest;
  }
  EXPECT_EQ(asked, 0);
}

TEST(WithInput, retries_when_the_connection_is_cut_amid_the_content) {
  std::atomic<int> asked = 0;
  TestServer server([&](ServedConnection& connection) {
    if (!connection.read()) return;
    if (++asked < 3) {
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome of it");
      if (asked == 2) connection.reset();
      return;
    }
    connection.write(http_answer("200 OK", "all of it"));
  });
  Box box(server.url());
  EXPECT_EQ(result_of(box.start()->wait()), "all of it");
  EXPECT_EQ(asked, 3);
}

TEST(WithInput, does_not_wait_for_a_trickle) {
  std::atomic<bool> over = false;
  TestServer server([&](ServedConnection& connection) {
    if (!connection.read()) return;
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n");
    while (!over && connection.write("x"))
      std::this_thread::yield();
  });
  Box box(server.url(), [](InputOptions& options) {
    options.fetch.timeout = 50ms;
    options.fetch.largest_bytes = std::uint64_t{1} << 50;
    options.fetch.attempts = 2;
  });
  const auto run = box.start();
  const Failure failure = failure_of(run->wait());
  EXPECT_EQ(failure.kind, FailureKind::timeout);
  EXPECT_TRUE(run->was_given_up());
  over = true;
}

TEST(WithInput, ends_at_once_when_it_is_asked_to_and_spends_nothing) {
  std::promise<void> arrived;
  TestServer server([&](ServedConnection& connection) {
    if (!connection.read()) return;
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
    arrived.set_value();
    connection.wait_for_end();  // that of the client
  });
  Box box(server.url());
  const auto run = box.start();
  arrived.get_future().wait();
  run->request_stop();
  EXPECT_TRUE(std::holds_alternative<core::HandedBack>(run->wait()));
  EXPECT_FALSE(run->has_begun());
  EXPECT_TRUE(box.log.entries().empty());
  box.wait_until_no_file_is_left();
}

TEST(WithInput, ends_at_once_while_it_waits_for_the_next_attempt) {
  std::atomic<int> asked = 0;
  TestServer server(one_after_the_other({http_answer("500 Internal Server Error")}, asked));
  Box box(server.url(), [](InputOptions& options) { options.fetch.attempts = 1'000'000; });
  const auto run = box.start();
  while (asked < 3)
    std::this_thread::yield();
  run->request_stop();
  EXPECT_TRUE(std::holds_alternative<core::HandedBack>(run->wait()));
}

TEST(WithInput, does_not_begin_what_was_stopped_before) {
  std::atomic<int> asked = 0;
  TestServer server(one_after_the_other({http_answer("200 OK")}, asked));
  Box box(server.url());
  ports::TaskRecord record;
  record.payload = R"({"object": "x"})";
  auto run = std::make_shared<TestRun>(std::move(record));
  run->request_stop();
  run->unwant();
  box.on_loop([&] { box.handler->start(run); });
  EXPECT_TRUE(std::holds_alternative<core::HandedBack>(run->wait()));
  EXPECT_EQ(box.reader->runs, 0);
}

TEST(WithInput, goes_with_what_is_on_its_way) {
  std::promise<void> arrived;
  TestServer server([&](ServedConnection& connection) {
    if (!connection.read()) return;
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
    arrived.set_value();
    connection.wait_for_end();
  });
  Box box(server.url());
  const auto run = box.start();
  arrived.get_future().wait();
  box.on_loop([&] { box.handler.reset(); });
  EXPECT_EQ(run->finished(), 0);
  box.wait_until_no_file_is_left();
}

TEST(WithInput, leaves_a_machine_without_room_to_the_tasks_own_policy) {
  std::atomic<int> asked = 0;
  TestServer server(one_after_the_other({http_answer("200 OK", "x")}, asked));
  Box box(server.url());
  std::filesystem::remove(box.landing->folder.path());
  const auto run = box.start();
  EXPECT_NE(failure_of(run->wait()).message.find("No such file or directory"), std::string::npos);
  EXPECT_FALSE(run->was_given_up());
  EXPECT_EQ(asked, 0);
  std::filesystem::create_directory(box.landing->folder.path());
}

TEST(WithInput, fetches_many_at_once) {
  TestServer server(TestServer::each([](const ServedRequest& request) {
    return http_answer("200 OK", request.head.substr(0, request.head.find(" HTTP")));
  }));
  Box box(server.url());
  std::vector<std::shared_ptr<TestRun>> runs;
  for (int n = 0; n < 200; ++n)
    runs.push_back(box.start(R"({"object": )" + std::to_string(n) + "}"));
  for (int n = 0; n < 200; ++n)
    EXPECT_EQ(result_of(runs[static_cast<std::size_t>(n)]->wait()),
              "GET /uploads/" + std::to_string(n));
  box.wait_until_no_file_is_left();
}

}  // namespace
}  // namespace holdfast::inputs::with_input_threads_test
