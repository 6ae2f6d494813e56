// Nodes on a store that several processes share: each goes by the store's clock, hears its news,
// and claims nothing that it does not begin.
#include <algorithm>
#include <mutex>

#include <gtest/gtest.h>

#include "node/node.hpp"
#include "stores/memory/memory_store.hpp"
#include "support/engine_world.hpp"

namespace holdfast::node::shared_node_threads_test {
namespace {

using namespace std::chrono_literals;
using engine::testing::succeeding;
using engine::testing::TestHandler;

// What all of them share.
struct Shop {
  std::mutex mutex;
  stores::MemoryStore store;
  std::size_t largest_claim = 0;
};

class Door final : public ports::Store {
 public:
  explicit Door(std::shared_ptr<Shop> shop) : shop_(std::move(shop)) {}
  void carry_out(std::span<ports::Request> batch) override {
    const std::lock_guard lock(shop_->mutex);
    for (const ports::Request& request : batch) {
      const auto* claim = std::get_if<ports::Asked<ports::Claim>>(&request);
      if (claim) shop_->largest_claim = std::max(shop_->largest_claim, claim->verb.max);
    }
    shop_->store.carry_out(batch);
  }

 private:
  const std::shared_ptr<Shop> shop_;
};

class Messenger final : public ports::News {
 public:
  void listen(Told told) override {
    const std::lock_guard lock(mutex_);
    told_ = std::move(told);
  }
  void tell(const std::string& queue) {
    const std::lock_guard lock(mutex_);
    if (told_) told_({.queue = queue});
  }

 private:
  std::mutex mutex_;
  Told told_;
};

// An hour behind the machine's.
class LateClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime now() const noexcept override { return system_clock().now(); }
  [[nodiscard]] WallTime wall_now() const noexcept override {
    return system_clock().wall_now() - 1h;
  }
  bool sleep_until(SteadyTime until, std::stop_token stop) override {
    return system_clock().sleep_until(until, std::move(stop));
  }
};

struct Opening {
  std::shared_ptr<Shop> shop = std::make_shared<Shop>();

  Opened open(Messenger** messenger = nullptr) const {
    Opened opened;
    opened.url = "shared:";
    opened.store.writer = std::make_unique<Door>(shop);
    auto news = std::make_unique<Messenger>();
    if (messenger) *messenger = news.get();
    opened.store.news = std::move(news);
    opened.store.clock = std::make_shared<LateClock>();
    return opened;
  }
};

Node::Work work_of(std::shared_ptr<ports::Handler> handler) {
  Node::Work work;
  work.types.emplace_back("t", engine::TypeOptions{.handler = std::move(handler)});
  work.queues.push_back({.name = "q", .concurrency = 4});
  return work;
}

TEST(SharedNode, runs_what_another_has_handed_in_as_soon_as_it_is_told) {
  const Opening opening;
  Messenger* messenger = nullptr;
  Node worker(opening.open(&messenger), {});
  Node client(opening.open(), {});
  ASSERT_TRUE(worker.start_work(work_of(succeeding())));
  const auto answer = client.submit({{.type = "t", .queue = "q"}});
  ASSERT_TRUE(answer && answer->front());
  const TaskId id = answer->front()->id;
  messenger->tell("q");
  const SteadyTime until = system_clock().now() + 60s;
  ports::TaskRecord record;
  do {
    record = client.query(ports::Find{id}).value().value();
  } while (record.task.state != core::State::succeeded && system_clock().now() < until);
  EXPECT_EQ(record.task.state, core::State::succeeded);
  EXPECT_TRUE(worker.stop_work());
}

TEST(SharedNode, goes_by_the_clock_of_the_store) {
  const Opening opening;
  Node node(opening.open(), {});
  const auto answer = node.submit({{.type = "t", .queue = "q"}});
  const auto record = node.query(ports::Find{answer.value().front()->id}).value().value();
  EXPECT_LT(record.task.created, system_clock().wall_now() - 30min);
  EXPECT_TRUE(node.is_shared());
}

TEST(SharedNode, claims_nothing_ahead) {  // N7: after a crash, all of it would count as begun
  const Opening opening;
  Node node(opening.open(), {});
  const auto handler = std::make_shared<TestHandler>(
      [](const std::shared_ptr<ports::Run>& run) {
        if (run->begin()) run->finish(core::Success{});
      },
      1000);
  ASSERT_TRUE(node.submit(std::vector(2000, ports::NewTask{.type = "t", .queue = "q"})));
  ASSERT_TRUE(node.start_work(work_of(handler)));
  const SteadyTime until = system_clock().now() + 60s;
  std::uint64_t left = 1;
  while (left > 0 && system_clock().now() < until) {
    const auto counts = node.query(ports::Count{}).value();
    left = counts.front().count(core::State::pending) + counts.front().count(core::State::running);
  }
  EXPECT_EQ(left, 0U);
  EXPECT_TRUE(node.stop_work());
  EXPECT_LE(opening.shop->largest_claim, 4U);
}

}  // namespace
}  // namespace holdfast::node::shared_node_threads_test
