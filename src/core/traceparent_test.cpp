#include "core/traceparent.hpp"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::traceparent_test {
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

TEST(Traceparent, of_a_later_version_is_taken_as_version_00) {
  const std::string fields = "-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  EXPECT_EQ(received_traceparent("00" + fields), "00" + fields);
  EXPECT_EQ(received_traceparent("01" + fields), "00" + fields);
  EXPECT_EQ(received_traceparent("cc" + fields + "-what the future brings"), "00" + fields);
}

TEST(Traceparent, that_is_malformed_is_ignored) {
  const std::string fields = "-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  for (const std::string& bad :
       {std::string(), "00" + fields + "-more", "ff" + fields, "0x" + fields,
        "01" + fields + "more", "01" + fields.substr(1), "01" + fields.substr(0, 51),
        std::string("01-00000000000000000000000000000000-00f067aa0ba902b7-01")}) {
    EXPECT_EQ(received_traceparent(bad), std::nullopt) << bad;
  }
}

TEST(Traceparent, has_the_id_of_a_trace) {
  EXPECT_EQ(trace_id_of("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
            "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(trace_id_of(""), "");
  EXPECT_EQ(trace_id_of("no trace"), "");
}

}  // namespace
}  // namespace holdfast::traceparent_test
