#include <future>
#include <latch>
#include <stdexcept>
#include <system_error>

#include <gtest/gtest.h>

#include <holdfast/testing.hpp>
#include <holdfast/worker.hpp>

#include "handlers/function.hpp"
#include "handlers/handlers_testing.hpp"

namespace holdfast::handlers::function_threads_test {
namespace {

using namespace std::chrono_literals;
using testing::failure_of;
using testing::result_of;
using testing::test_run;
using testing::TestRun;

template <class F>
detail::BlockingHandler handler_of(F function) {
  std::shared_ptr<void> context;
  return detail::HandlerMaker<detail::ReturnOf<F>>::make(std::move(function), context);
}

class FunctionTest : public ::testing::Test {
 protected:
  template <class F>
  Function handler(F function) {
    return {handler_of(std::move(function)), pools_, clock_};
  }

  // How one attempt by `function` ends.
  template <class F>
  core::Outcome outcome(F function) {
    auto run = test_run();
    handler(std::move(function)).start(run);
    return run->wait();
  }

  holdfast::testing::FakeClock clock_;
  std::shared_ptr<Pools> pools_ =
      std::make_shared<Pools>(Pools{.common = std::make_shared<Pool>("test", 2)});
};

struct Denied {
  int status = 0;
};

Failure to_failure(const Denied& denied) {
  return {.message = "denied", .http_status = denied.status};
}

TEST_F(FunctionTest, keeps_what_a_function_returns) {
  EXPECT_EQ(result_of(outcome([](Job&) -> std::string { return "done"; })), "done");
  EXPECT_EQ(result_of(outcome([] { return "literal"; })), "literal");
  EXPECT_EQ(result_of(outcome([] {})), "");
  EXPECT_EQ(result_of(outcome([](Job&) -> Result<std::string> { return "value"; })), "value");
  EXPECT_EQ(result_of(outcome([]() -> std::expected<void, std::string> { return {}; })), "");
}

TEST_F(FunctionTest, takes_an_error_value_for_a_failure) {
  EXPECT_EQ(failure_of(outcome([]() -> Result<std::string> {
              return fail(ErrorCode::timeout, "send", "too slow");
            })),
            (Failure{.message = "send: too slow", .kind = FailureKind::timeout}));
  EXPECT_EQ(failure_of(outcome(
                []() -> std::expected<void, Denied> { return std::unexpected(Denied{403}); })),
            (Failure{.message = "denied", .http_status = 403}));
}

TEST_F(FunctionTest, T10_takes_whatever_is_thrown_for_a_failure) {
  EXPECT_EQ(failure_of(outcome([] { throw std::runtime_error("broken"); })).message, "broken");
  EXPECT_EQ(failure_of(outcome([] { throw 7; })).message, "unknown exception");
  const auto refused = std::make_error_code(std::errc::connection_refused);
  EXPECT_EQ(failure_of(outcome([&] { throw std::system_error(refused); })).os_error, ECONNREFUSED);
}

TEST_F(FunctionTest, honours_all_that_a_thrown_failure_knows) {
  const Failure told{.message = "slow down",
                     .http_status = 429,
                     .exit_code = 75,
                     .retry_after = std::chrono::seconds(7)};
  EXPECT_EQ(failure_of(outcome([&] { throw told; })), told);
  EXPECT_EQ(failure_of(outcome([&]() -> HandlerResult { return std::unexpected(told); })), told);
}

// T2, N6
TEST_F(FunctionTest, tells_the_function_all_about_its_attempt) {
  ports::TaskRecord record;
  record.id = TaskId::parse("01912d68-783e-7a03-8467-5661c1243ad4").value();
  record.type = "mail.send";
  record.queue = "mail";
  record.payload = "ann";
  record.task.token = {42};
  record.trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  auto run = std::make_shared<TestRun>(record, 3);
  run->set_end(clock_.wall_now() + 9s);
  run->request_stop();

  handler([&](Job& job) {
    EXPECT_EQ(job.id(), record.id);
    EXPECT_EQ(job.type(), "mail.send");
    EXPECT_EQ(job.queue(), "mail");
    EXPECT_EQ(job.payload(), "ann");
    EXPECT_EQ(job.attempt(), 3);
    EXPECT_EQ(job.token(), 42U);
    EXPECT_EQ(job.trace(), record.trace);
    EXPECT_EQ(job.deadline(), clock_.wall_now() + 9s);
    EXPECT_EQ(job.time_left(), 9s);
    EXPECT_TRUE(job.stop_token().stop_requested());
    EXPECT_FALSE(job.heartbeat());
    clock_.advance(1h);
    EXPECT_EQ(job.time_left(), 0s);
  }).start(run);
  EXPECT_EQ(result_of(run->wait()), "");
  EXPECT_EQ(run->heartbeats(), 1);
}

TEST_F(FunctionTest, has_endless_time_left_without_a_timeout) {
  EXPECT_EQ(result_of(outcome([](Job& job) {
              return job.time_left() == Duration::max() ? "endless" : "limited";
            })),
            "endless");
}

TEST_F(FunctionTest, runs_as_many_at_once_as_there_are_threads) {
  std::latch both(2);
  auto meet = handler([&] { both.arrive_and_wait(); });
  auto first = test_run();
  auto second = test_run();
  meet.start(first);
  meet.start(second);
  EXPECT_EQ(result_of(first->wait()), "");
  EXPECT_EQ(result_of(second->wait()), "");
}

TEST_F(FunctionTest, does_not_run_what_nobody_wants_any_more) {
  auto run = test_run();
  run->unwant();
  handler([] { ADD_FAILURE() << "was called"; }).start(run);
  EXPECT_TRUE(std::holds_alternative<core::HandedBack>(run->wait()));
}

TEST_F(FunctionTest, runs_no_more_of_a_queue_than_its_limit) {
  pools_->of_queue["narrow"] = std::make_shared<Pool>("narrow", 1);
  std::atomic<int> at_once = 0;
  auto narrow = handler([&] {
    EXPECT_EQ(++at_once, 1);
    --at_once;
  });
  std::vector<std::shared_ptr<TestRun>> runs;
  for (int i = 0; i < 100; ++i)
    narrow.start(runs.emplace_back(test_run("narrow")));
  for (const auto& run : runs)
    EXPECT_EQ(result_of(run->wait()), "");
}

TEST_F(FunctionTest, finishes_each_of_many_exactly_once) {
  std::atomic<int> calls = 0;
  auto count = handler([&] { ++calls; });
  std::vector<std::shared_ptr<TestRun>> runs;
  for (int i = 0; i < 2000; ++i)
    count.start(runs.emplace_back(test_run()));
  for (const auto& run : runs)
    EXPECT_EQ(result_of(run->wait()), "");
  EXPECT_EQ(pools_->close(), 0U);
  for (const auto& run : runs)
    EXPECT_EQ(run->finished(), 1);
  EXPECT_EQ(calls, 2000);
}

TEST_F(FunctionTest, T3_hands_back_what_has_not_begun_when_the_pool_closes) {
  std::promise<void> leave;
  auto left = leave.get_future().share();
  std::latch at_work(2);
  auto hang = handler([&at_work, left] {
    at_work.count_down();
    left.wait();
  });
  std::vector<std::shared_ptr<TestRun>> runs;
  for (int i = 0; i < 5; ++i)
    hang.start(runs.emplace_back(test_run()));
  at_work.wait();

  EXPECT_EQ(pools_->close(), 2U);  // both threads are left behind
  for (int i = 2; i < 5; ++i) {
    EXPECT_TRUE(std::holds_alternative<core::HandedBack>(runs[i]->wait()));
    EXPECT_FALSE(runs[i]->has_begun());
  }
  auto late = test_run();
  hang.start(late);
  EXPECT_TRUE(std::holds_alternative<core::HandedBack>(late->wait()));

  leave.set_value();
  EXPECT_EQ(result_of(runs[0]->wait()), "");
  EXPECT_EQ(result_of(runs[1]->wait()), "");
}

TEST_F(FunctionTest, keeps_alive_what_a_thread_that_is_left_behind_needs) {
  auto ground = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = ground;
  std::promise<void> leave;
  auto left = leave.get_future().share();
  auto run = test_run();
  {
    std::latch at_work(1);
    Pool pool("left", 1, std::move(ground));
    pool.add(run, std::make_shared<Pool::Work>([&at_work, left](const auto&) -> core::Outcome {
               at_work.count_down();
               left.wait();
               return core::Success{};
             }));
    at_work.wait();
    EXPECT_EQ(pool.close(), 1U);
  }
  EXPECT_FALSE(watched.expired());
  leave.set_value();
  static_cast<void>(run->wait());
}

TEST_F(FunctionTest, a_pool_that_knows_every_outcome_leaves_nobody_behind) {
  for (int round = 0; round < 200; ++round) {
    Pool pool("round", 2);
    auto run = test_run();
    pool.add(run, std::make_shared<Pool::Work>([](const auto&) { return core::Success{}; }));
    static_cast<void>(run->wait());
    EXPECT_EQ(pool.close(), 0U);
  }
}

}  // namespace
}  // namespace holdfast::handlers::function_threads_test
