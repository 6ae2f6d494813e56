#include "brokers/sqs/shelf.hpp"

#include <gmock/gmock.h>

namespace holdfast::brokers::sqs::shelf_test {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Duration kVisibility = 30s;

SteadyTime at(Duration since) {
  return SteadyTime(1000h) + since;
}

TEST(SqsShelf, counts_what_is_not_held) {
  Shelf shelf(kVisibility);
  const auto one = shelf.put("a", "r1", at(0s));
  const auto two = shelf.put("b", "r2", at(0s));
  ASSERT_TRUE(one && two);
  EXPECT_NE(*one, *two);
  EXPECT_EQ(shelf.counted(), 2U);
  shelf.hold(*one);
  shelf.hold(*one);
  shelf.hold(77);
  EXPECT_EQ(shelf.counted(), 1U);
  EXPECT_EQ(shelf.size(), 2U);
  EXPECT_EQ(shelf.take(*one)->receipt, "r1");
  EXPECT_FALSE(shelf.take(*one));
  EXPECT_EQ(shelf.counted(), 1U);
  EXPECT_EQ(shelf.take(*two)->receipt, "r2");
  EXPECT_EQ(shelf.counted(), 0U);
}

TEST(SqsShelf, asks_for_more_time_in_the_second_half_and_once) {
  Shelf shelf(kVisibility);
  const auto one = shelf.put("a", "r1", at(0s));
  ASSERT_TRUE(one);
  EXPECT_THAT(shelf.wishes(at(11s)), IsEmpty());
  const auto wishes = shelf.wishes(at(15s));
  ASSERT_THAT(wishes, SizeIs(1));
  EXPECT_EQ(wishes[0].receipt, "r1");
  EXPECT_EQ(wishes[0].visibility, kVisibility);
  EXPECT_THAT(shelf.wishes(at(16s)), IsEmpty());  // it is asked for
  shelf.granted(wishes[0], at(15s));
  EXPECT_THAT(shelf.wishes(at(20s)), IsEmpty());
  EXPECT_EQ(shelf.expire(at(44s)), 0U);
  const auto later = shelf.wishes(at(30s));
  ASSERT_THAT(later, SizeIs(1));
  shelf.refused(later[0], false);
  EXPECT_THAT(shelf.wishes(at(31s)), SizeIs(1));  // again
}

TEST(SqsShelf, also_asks_for_what_is_held) {
  Shelf shelf(kVisibility);
  const auto one = shelf.put("a", "r1", at(0s));
  shelf.hold(one.value_or(0));
  EXPECT_THAT(shelf.wishes(at(20s)), SizeIs(1));
}

TEST(SqsShelf, tells_whose_time_has_run_out_once) {
  Shelf shelf(kVisibility);
  (void)shelf.put("a", "r1", at(0s));
  (void)shelf.put("b", "r2", at(10s));
  EXPECT_EQ(shelf.expire(at(29s)), 0U);
  EXPECT_EQ(shelf.expire(at(30s)), 1U);
  EXPECT_EQ(shelf.expire(at(31s)), 0U);
  EXPECT_THAT(shelf.wishes(at(31s)), SizeIs(1));  // of the other
  EXPECT_EQ(shelf.counted(), 2U);                 // the receiver has them still
}

TEST(SqsShelf, gives_a_delivery_its_new_receipt) {
  Shelf shelf(kVisibility);
  const auto one = shelf.put("a", "r1", at(0s));
  ASSERT_TRUE(one);
  const auto asked = shelf.wishes(at(20s));
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(shelf.expire(at(30s)), 1U);
  EXPECT_FALSE(shelf.put("a", "r2", at(31s)));  // not delivered once more
  EXPECT_EQ(shelf.counted(), 1U);
  shelf.refused(asked[0], true);  // of the old receipt
  EXPECT_EQ(shelf.expire(at(40s)), 0U);
  EXPECT_EQ(shelf.take(*one)->receipt, "r2");
}

TEST(SqsShelf, lets_go_after_twelve_hours) {
  Shelf shelf(kVisibility);
  (void)shelf.put("a", "r1", at(0s));
  SteadyTime now = at(0s);
  for (; now < at(12h - 40s); now += 15s) {
    for (const auto& wish : shelf.wishes(now))
      shelf.granted(wish, now);
    ASSERT_EQ(shelf.expire(now), 0U);
  }
  for (; now < at(12h + 15s); now += 5s) {
    for (const auto& wish : shelf.wishes(now)) {
      EXPECT_LE(now + wish.visibility, at(12h));
      shelf.granted(wish, now);
    }
  }
  EXPECT_EQ(shelf.expire(at(12h + 1s)), 1U);
}

TEST(SqsShelf, takes_the_word_of_sqs_that_a_receipt_is_void) {
  Shelf shelf(kVisibility);
  (void)shelf.put("a", "r1", at(0s));
  const auto wishes = shelf.wishes(at(15s));
  ASSERT_THAT(wishes, SizeIs(1));
  shelf.refused(wishes[0], true);
  EXPECT_EQ(shelf.expire(at(16s)), 1U);
  EXPECT_THAT(shelf.wishes(at(17s)), IsEmpty());
}

TEST(SqsShelf, is_cleared_from_the_oldest) {
  Shelf shelf(kVisibility);
  for (const char* const id : {"c", "a", "b"})
    (void)shelf.put(id, id, at(0s));
  const auto all = shelf.take_all();
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[0].receipt, "c");
  EXPECT_EQ(all[2].receipt, "b");
  EXPECT_EQ(shelf.counted(), 0U);
  EXPECT_TRUE(shelf.put("c", "again", at(1s)));
}

}  // namespace
}  // namespace holdfast::brokers::sqs::shelf_test
