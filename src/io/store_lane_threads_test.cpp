#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "io/loop.hpp"
#include "io/store_lane.hpp"

namespace holdfast::io::store_lane_threads_test {
namespace {

using namespace ports;

// Answers purges with their `max`, and throws at an audit.
class SmallStore final : public Store {
 public:
  explicit SmallStore(bool& destroyed) : destroyed_(destroyed) {}
  ~SmallStore() override { destroyed_ = true; }
  SmallStore(const SmallStore&) = delete;
  SmallStore& operator=(const SmallStore&) = delete;

  void carry_out(std::span<Request> batch) override {
    for (Request& request : batch) {
      if (auto* purge = std::get_if<Asked<Purge>>(&request)) purge->answer = purge->verb.max;
      if (std::holds_alternative<Asked<Audit>>(request)) throw std::runtime_error("a bug");
    }
  }

 private:
  bool& destroyed_;
};

TEST(StoreLane, asks_the_store_and_answers_on_the_loop) {
  bool destroyed = false;
  io::Loop loop;
  std::vector<std::size_t> answers;
  {
    io::StoreLane lane(loop, "writer", std::make_unique<SmallStore>(destroyed));
    for (std::size_t n = 0; n < 10; ++n) {
      lane_ask(lane, Purge{.max = n}, [&](const Result<std::size_t>& answer) {
        answers.push_back(answer.value());
        if (answers.size() == 10) loop.stop();
      });
    }
    EXPECT_TRUE(answers.empty());
    loop.run();
  }
  EXPECT_EQ(answers, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(destroyed);
}

TEST(StoreLane, a_store_that_throws_leaves_its_requests_not_carried_out) {
  bool destroyed = false;
  io::Loop loop;
  io::StoreLane lane(loop, "writer", std::make_unique<SmallStore>(destroyed));
  Result<AuditReport> answer;
  lane_ask(lane, Audit{}, [&](Result<AuditReport> given) {
    answer = std::move(given);
    loop.stop();
  });
  loop.run();
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::internal);
  EXPECT_EQ(answer.error().text(), "store: was not carried out");
}

}  // namespace
}  // namespace holdfast::io::store_lane_threads_test
