// What a worker tells a server, and what it makes of answers: of one that plays tricks.
#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/http_server_testing.hpp"
#include "io/loop.hpp"
#include "node/remote_lane.hpp"
#include "wire/claims.hpp"

namespace holdfast::http::remote_lane_threads_test {
namespace {

using holdfast::testing::http_answer;
using holdfast::testing::ServedConnection;
using holdfast::testing::ServedRequest;
using holdfast::testing::TestServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kIds[] = {"01930000-0000-7000-8000-000000000001",
                                "01930000-0000-7000-8000-000000000002",
                                "01930000-0000-7000-8000-000000000003"};

std::string refusal(const std::string& status, const std::string& type) {
  return http_answer(status, R"({"type":"urn:holdfast:)" + type + R"(","detail":"no"})",
                     "Content-Type: application/problem+json\r\n");
}

// A lane to a server that answers as it is told.
class LaneWorld {
 public:
  using Answer = std::function<std::string(const ServedRequest&)>;
  explicit LaneWorld(Answer answer)
      : server_([this, answer = std::move(answer)](ServedConnection& connection) {
          while (const auto request = connection.read()) {
            {
              const std::lock_guard lock(mutex_);
              came_.push_back(*request);
            }
            if (!connection.write(answer(*request))) return;
          }
        }) {
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~LaneWorld() {
    on_loop([this] { lane_.reset(); });
    loop_.stop();
    thread_.join();
  }
  LaneWorld(const LaneWorld&) = delete;
  LaneWorld& operator=(const LaneWorld&) = delete;

  template <class Verb>
  Result<typename Verb::Answer> ask(Verb verb) {
    std::promise<Result<typename Verb::Answer>> promise;
    on_loop([&] {
      if (!lane_) lane_.emplace(loop_, server(), system_clock());
      lane_->ask(ports::Asked<Verb>{std::move(verb)}, [&](ports::Request request) {
        promise.set_value(std::get<ports::Asked<Verb>>(std::move(request)).answer);
      });
    });
    return promise.get_future().get();
  }

  // How often something was asked for: "…1/complete".
  std::size_t count(const std::string& what) {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count_if(
        came_, [&](const auto& one) { return one.head.find(what) != std::string::npos; }));
  }
  ServedRequest last() {
    const std::lock_guard lock(mutex_);
    return came_.back();
  }

 private:
  node::RemoteServer server() { return node::RemoteServer::make({.url = server_.url("")}).value(); }
  void on_loop(std::move_only_function<void()> work) {
    std::promise<void> done;
    loop_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

  std::mutex mutex_;
  std::vector<ServedRequest> came_;
  TestServer server_;
  io::Loop loop_;
  std::optional<node::RemoteLane> lane_;
  std::thread thread_;
};

ports::Change::One success(std::size_t at) {
  ports::Change::One one{.id = TaskId::parse(kIds[at]).value(), .token = {1}, .transition = {}};
  one.transition.from = core::State::running;
  one.transition.to = core::State::succeeded;
  one.transition.event = core::Event::success;
  return one;
}

TEST(RemoteLane, what_the_server_has_taken_is_not_told_again_for_what_it_could_not) {
  std::atomic<int> failures = 2;
  LaneWorld world([&](const ServedRequest& request) {
    const bool is_second = request.head.find(kIds[1]) != std::string::npos;
    if (is_second && failures-- > 0) return http_answer("503 Busy");
    return http_answer("200 OK", "{}");
  });
  const ports::Change change{{success(0), success(1), success(2)}};
  for (int i = 0; i < 2; ++i) {
    const auto told = world.ask(change);
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().code, ErrorCode::unavailable);
  }
  using Done = ports::Change::Done;
  EXPECT_THAT(world.ask(change).value(), ElementsAre(Done::applied, Done::applied, Done::applied));
  EXPECT_EQ(world.count(kIds[0]), 1U);
  EXPECT_EQ(world.count(kIds[1]), 3U);
  // Nothing of it is kept any longer.
  EXPECT_TRUE(world.ask(ports::Change{{success(0)}}));
  EXPECT_EQ(world.count(kIds[0]), 2U);
}

TEST(RemoteLane, only_the_server_can_say_that_a_claim_is_lost) {  // N6
  LaneWorld world([](const ServedRequest& request) {
    if (request.head.find(kIds[0]) != std::string::npos) return http_answer("404 No", "<html>");
    const bool known = request.head.find(kIds[1]) != std::string::npos;
    return known ? refusal("409 Conflict", "conflict") : refusal("404 No", "not-found");
  });
  const auto of_proxy = world.ask(ports::Change{{success(0)}});
  ASSERT_FALSE(of_proxy);
  EXPECT_EQ(of_proxy.error().code, ErrorCode::unavailable);
  using Done = ports::Change::Done;
  EXPECT_THAT(world.ask(ports::Change{{success(1), success(2)}}).value(),
              ElementsAre(Done::moved_on, Done::unknown_task));
  const WallTime later = system_clock().wall_now() + 30s;
  const ports::Held claim{TaskId::parse(kIds[0]).value(), {1}};
  EXPECT_FALSE(world.ask(ports::Renew{{claim}, later}));
  const ports::Held lost{TaskId::parse(kIds[1]).value(), {1}};
  EXPECT_THAT(world.ask(ports::Renew{{lost}, later}).value(), ElementsAre(false));
}

TEST(RemoteLane, what_is_too_late_for_the_worker_does_not_come_back_at_once) {
  LaneWorld world([](const ServedRequest&) { return http_answer("200 OK", "{}"); });
  ports::Change::One late = success(0);
  late.transition.to = core::State::dead;
  late.transition.event = core::Event::expire;
  EXPECT_TRUE(world.ask(ports::Change{{late}}));
  EXPECT_THAT(world.last().head, HasSubstr("/release"));
  EXPECT_EQ(wire::read_release_request(world.last().body)->wait, Duration(1s));
}

TEST(RemoteLane, an_extension_that_hangs_is_given_up_before_the_lease_ends) {
  std::promise<void> over;
  const auto end = over.get_future().share();
  LaneWorld world([&](const ServedRequest& request) {
    if (request.head.find(kIds[1]) != std::string::npos) end.wait();
    return http_answer("200 OK", "{}");
  });
  const SteadyTime before = system_clock().now();
  const ports::Held first{TaskId::parse(kIds[0]).value(), {1}};
  const ports::Held hangs{TaskId::parse(kIds[1]).value(), {1}};
  EXPECT_FALSE(world.ask(ports::Renew{{first, hangs}, system_clock().wall_now() + 3s}));
  EXPECT_LT(system_clock().now() - before, 15s);  // 1 s; twenty without a look at the lease
  over.set_value();
}

}  // namespace
}  // namespace holdfast::http::remote_lane_threads_test
