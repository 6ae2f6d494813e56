#include "io/look_up_turns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::io::look_up_turns_test {
namespace {

using ::testing::ElementsAre;

struct Waiter {
  bool is_tired = false;
};

TEST(LookUpTurns, are_few_and_handed_on_in_order) {
  LookUpTurns<Waiter> turns(2);
  Waiter a;
  Waiter b;
  Waiter c;
  Waiter d;
  EXPECT_TRUE(turns.take("x", &a));
  EXPECT_TRUE(turns.take("x", &b));
  EXPECT_FALSE(turns.take("x", &c));
  EXPECT_FALSE(turns.take("x", &d));
  EXPECT_EQ(turns.waiting(), 2U);
  EXPECT_EQ(turns.give_back("x"), &c);
  EXPECT_EQ(turns.give_back("x"), &d);
  EXPECT_EQ(turns.waiting(), 0U);
  EXPECT_EQ(turns.give_back("x"), nullptr);
  EXPECT_TRUE(turns.take("x", &a));
  EXPECT_FALSE(turns.take("x", &b));
}

TEST(LookUpTurns, of_one_origin_do_not_hold_up_another) {
  LookUpTurns<Waiter> turns(1);
  Waiter a;
  EXPECT_TRUE(turns.take("x", &a));
  EXPECT_FALSE(turns.take("x", &a));
  EXPECT_TRUE(turns.take("y", &a));
}

TEST(LookUpTurns, are_not_given_to_those_who_have_left) {
  LookUpTurns<Waiter> turns(1);
  Waiter a;
  Waiter tired{.is_tired = true};
  Waiter c;
  EXPECT_TRUE(turns.take("x", &a));
  EXPECT_FALSE(turns.take("x", &tired));
  EXPECT_FALSE(turns.take("x", &c));
  EXPECT_THAT(turns.leave_if([](const Waiter& waiter) { return waiter.is_tired; }),
              ElementsAre(&tired));
  EXPECT_EQ(turns.waiting(), 1U);
  EXPECT_EQ(turns.give_back("x"), &c);
}

}  // namespace
}  // namespace holdfast::io::look_up_turns_test
