#include "wire/traceparent.hpp"

#include <gtest/gtest.h>

namespace holdfast::wire {
namespace {

TEST(Traceparent, is_of_version_00_in_small_letters_with_ids_that_are_not_zero) {
  EXPECT_TRUE(is_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
  EXPECT_FALSE(is_traceparent(""));
  EXPECT_FALSE(is_traceparent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
  EXPECT_FALSE(is_traceparent("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"));
  EXPECT_FALSE(is_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x"));
  EXPECT_FALSE(is_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-"));
  EXPECT_FALSE(is_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01"));
  EXPECT_FALSE(is_traceparent("00-00000000000000000000000000000000-00f067aa0ba902b7-01"));
  EXPECT_FALSE(is_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"));
}

}  // namespace
}  // namespace holdfast::wire
