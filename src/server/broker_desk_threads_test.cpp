#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "io/loop.hpp"
#include "server/broker_desk.hpp"
#include "support/model_broker.hpp"

namespace holdfast::server::broker_desk_threads_test {
namespace {

using namespace std::chrono_literals;
using holdfast::testing::ModelBroker;
using holdfast::testing::ModelQueues;

// A desk on a loop of its own, before a broker that is a model.
class BrokerDeskTest : public ::testing::Test {
 protected:
  BrokerDeskTest() {
    config_.brokers["main"] = {
        .url = {.text = config::Secret("amqp://u:planted@h", ""), .shown = "amqp://***@h"},
        .queues = {"*.dlq"}};
    queues_->ready["app.dlq"];
    queues_->ready["app.work"];
    on_loop([this] {
      desk_ = std::make_unique<BrokerDesk>(
          loop_, clock_, Logger(),
          [this](ports::Loop& loop, const BrokerSettings&,
                 const Logger&) -> Result<std::unique_ptr<ports::Broker>> {
            ++opened_;
            return std::make_unique<ModelBroker>(loop, queues_);
          });
      ASSERT_TRUE(desk_->set(config_));
    });
  }
  ~BrokerDeskTest() override {
    on_loop([this] { desk_.reset(); });
    loop_.stop();
    thread_.join();
  }

  void on_loop(const std::function<void()>& work) {
    std::promise<void> done;
    loop_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().get();
  }
  Result<wire::BrokerInfo> look(const std::string& name = "main") {
    std::promise<Result<wire::BrokerInfo>> promise;
    loop_.post([&] {
      desk_->broker(name,
                    [&](Result<wire::BrokerInfo> info) { promise.set_value(std::move(info)); });
    });
    return promise.get_future().get();
  }
  void fill(int count) {
    on_loop([&] {
      for (int i = 0; i < count; ++i)
        queues_->put("app.dlq", {});
    });
  }

  void open_real_ones() {
    on_loop([this] {
      desk_ = std::make_unique<BrokerDesk>(loop_, clock_, Logger());
      ASSERT_TRUE(desk_->set(config_));
    });
  }

  config::Config config_;
  std::shared_ptr<ModelQueues> queues_ = std::make_shared<ModelQueues>();
  holdfast::testing::FakeClock clock_;
  int opened_ = 0;
  io::Loop loop_;
  std::unique_ptr<BrokerDesk> desk_;
  std::thread thread_{[this] { loop_.run(); }};
};

TEST_F(BrokerDeskTest, a_management_api_that_is_not_there_is_said_how_to_name) {
  config_.brokers["main"].url.text = config::Secret("amqp://u:planted@127.0.0.1", "");
  config_.brokers["main"].management.text = config::Secret("http://127.0.0.1:1", "");
  open_real_ones();
  const std::string error = look().value().error;
  EXPECT_NE(error.find("The key management of [broker.main] says where"), std::string::npos)
      << error;
}

TEST_F(BrokerDeskTest, shows_the_queues_that_match_and_how_fast_they_grow) {
  const auto first = look();
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ(first->reachable, true);
  EXPECT_EQ(first->url, "amqp://***@h");
  ASSERT_EQ(first->queues.size(), 1U);
  EXPECT_EQ(first->queues.front().name, "app.dlq");
  EXPECT_EQ(first->queues.front().ready, 0U);
  EXPECT_FALSE(first->queues.front().rates);
  fill(20);
  // Not yet: it was looked at a moment ago.
  EXPECT_EQ(look()->queues.front().ready, 0U);
  clock_.advance(10s);
  const auto second = look();
  EXPECT_EQ(second->queues.front().ready, 20U);
  ASSERT_TRUE(second->queues.front().rates);
  EXPECT_EQ(second->queues.front().rates->over, 10s);
  EXPECT_DOUBLE_EQ(second->queues.front().rates->change, 2);
  EXPECT_EQ(second->queues.front().rates->in, std::nullopt);  // nobody counts what is taken
}

TEST_F(BrokerDeskTest, reaches_its_dead_letter_queues_and_no_others) {
  on_loop([this] {
    EXPECT_EQ(desk_->reach("main", "a/b.dlq")->url, "amqp://u:planted@h/%2f/a%2fb.dlq");
    EXPECT_EQ(desk_->reach("main", "app.work").error().code, ErrorCode::not_found);
    EXPECT_EQ(desk_->reach("none", "app.dlq").error().code, ErrorCode::not_found);
  });
  EXPECT_EQ(look("none").error().code, ErrorCode::not_found);
}

TEST_F(BrokerDeskTest, knows_the_dead_letter_queues_of_what_the_broker_carries) {
  config_.queues["mail"].broker = {.text = config::Secret("amqp://other:x@h/%2f", "")};
  config_.queues["odd"].broker = {.text = config::Secret("amqp://h", "")};
  config_.queues["odd"].dead_letter = "the*grave";
  config_.queues["elsewhere"].broker = {.text = config::Secret("amqp://g", "")};
  config_.queues["elsewhere"].dead_letter = "far away";
  on_loop([this] {
    ASSERT_TRUE(desk_->set(config_));
    EXPECT_TRUE(desk_->reach("main", "the*grave"));
    EXPECT_FALSE(desk_->reach("main", "the grave"));
    EXPECT_FALSE(desk_->reach("main", "far away"));
  });
}

TEST_F(BrokerDeskTest, a_reload_keeps_what_is_the_same) {
  ASSERT_TRUE(look());
  on_loop([this] {
    ASSERT_TRUE(desk_->set(config_));
    EXPECT_EQ(opened_, 1);
    config_.brokers["main"].queues = {"app.*"};
    ASSERT_TRUE(desk_->set(config_));
    EXPECT_EQ(opened_, 2);
  });
  EXPECT_EQ(look()->queues.size(), 2U);
  on_loop([this] { ASSERT_TRUE(desk_->set({})); });
  EXPECT_FALSE(look());
}

TEST_F(BrokerDeskTest, refuses_the_url_of_a_queue) {
  config_.brokers["main"].url.text = config::Secret("sqs://r/queue", "");
  const auto checked = BrokerDesk::check(config_);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("names a queue"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::server::broker_desk_threads_test
