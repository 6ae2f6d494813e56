#include "brokers/rabbitmq/ack_window.hpp"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace holdfast::brokers::rabbitmq::ack_window_test {
namespace {

using Say = AckWindow::Say;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

AckWindow with_delivered(std::uint64_t count) {
  AckWindow window;
  for (std::uint64_t tag = 1; tag <= count; ++tag)
    window.delivered(tag);
  return window;
}

TEST(AckWindow, says_many_at_once_where_nothing_is_left_before_them) {
  auto window = with_delivered(5);
  for (const std::uint64_t tag : {2, 1, 3})
    EXPECT_TRUE(window.say(tag, Say::acknowledge));
  EXPECT_THAT(window.take_acks(), ElementsAre(AckWindow::Ack{3, true}));
  EXPECT_THAT(window.take_acks(), IsEmpty());
  EXPECT_TRUE(window.say(4, Say::acknowledge));
  EXPECT_THAT(window.take_acks(), ElementsAre(AckWindow::Ack{4, false}));
}

TEST(AckWindow, never_covers_what_is_held_or_not_settled) {
  auto window = with_delivered(6);
  EXPECT_TRUE(window.say(2, Say::hold));
  for (const std::uint64_t tag : {1, 3, 4})
    EXPECT_TRUE(window.say(tag, Say::acknowledge));
  EXPECT_THAT(window.take_acks(), ElementsAre(AckWindow::Ack{1, false}, AckWindow::Ack{3, false},
                                              AckWindow::Ack{4, false}));
  EXPECT_EQ(window.held(), 1U);
  EXPECT_TRUE(window.say(6, Say::acknowledge));
  EXPECT_THAT(window.take_acks(), ElementsAre(AckWindow::Ack{6, false}));
}

TEST(AckWindow, hears_of_each_delivery_once) {
  auto window = with_delivered(3);
  EXPECT_TRUE(window.say(1, Say::hand_back));
  EXPECT_FALSE(window.say(1, Say::acknowledge));
  EXPECT_TRUE(window.say(2, Say::acknowledge));
  EXPECT_FALSE(window.say(2, Say::hold));
  EXPECT_FALSE(window.say(9, Say::acknowledge));
  EXPECT_FALSE(window.say(0, Say::acknowledge));
  EXPECT_THAT(window.take_acks(), ElementsAre(AckWindow::Ack{2, false}));
  EXPECT_FALSE(window.say(2, Say::acknowledge));
}

TEST(AckWindow, lets_what_is_held_be_settled_after_all) {
  auto window = with_delivered(2);
  EXPECT_TRUE(window.say(1, Say::hold));
  EXPECT_TRUE(window.say(1, Say::acknowledge));
  EXPECT_EQ(window.held(), 0U);
  EXPECT_THAT(window.take_acks(), ElementsAre(AckWindow::Ack{1, false}));
}

TEST(AckWindow, counts_the_bytes_of_what_is_neither_settled_nor_held) {
  AckWindow window;
  for (std::uint64_t tag = 1; tag <= 3; ++tag)
    window.delivered(tag, 100 * tag);
  EXPECT_EQ(window.open_bytes(), 600U);
  EXPECT_TRUE(window.say(2, Say::hold));
  EXPECT_EQ(window.open_bytes(), 400U);
  EXPECT_TRUE(window.say(2, Say::acknowledge));
  EXPECT_EQ(window.open_bytes(), 400U);
  EXPECT_TRUE(window.say(1, Say::acknowledge));
  EXPECT_TRUE(window.say(3, Say::hand_back));
  EXPECT_EQ(window.open_bytes(), 0U);
}

// Whatever is said in whatever order, a broker that hears it acknowledges just what was
// acknowledged.
RC_GTEST_PROP(AckWindow, tells_the_broker_neither_more_nor_less, ()) {
  AckWindow window;
  std::set<std::uint64_t> at_broker;
  std::set<std::uint64_t> wanted;
  std::set<std::uint64_t> got;
  std::uint64_t last = 0;
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 100));
  for (const int step : steps) {
    if (step < 40 || last == 0) {
      window.delivered(++last);
      at_broker.insert(last);
    } else if (step < 90) {
      const auto tag = *rc::gen::inRange<std::uint64_t>(1, last + 1);
      const Say say = step < 70 ? Say::acknowledge : step < 80 ? Say::hold : Say::hand_back;
      if (!window.say(tag, say)) continue;
      if (say == Say::acknowledge) wanted.insert(tag);
      if (say == Say::hand_back) at_broker.erase(tag);
    } else {
      for (const auto& ack : window.take_acks()) {
        RC_ASSERT(at_broker.contains(ack.tag));  // or the broker closes the channel
        if (!ack.multiple) {
          got.insert(ack.tag);
          at_broker.erase(ack.tag);
          continue;
        }
        const auto end = at_broker.upper_bound(ack.tag);
        got.insert(at_broker.begin(), end);
        at_broker.erase(at_broker.begin(), end);
      }
      RC_ASSERT(got == wanted);
    }
  }
}

}  // namespace
}  // namespace holdfast::brokers::rabbitmq::ack_window_test
