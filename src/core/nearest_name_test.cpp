#include "core/nearest_name.hpp"

#include <array>

#include <gtest/gtest.h>

namespace holdfast::nearest_name_test {
namespace {

using Names = std::vector<std::string_view>;

TEST(NearestNames, are_those_with_something_alike_in_them) {
  constexpr std::array<std::string_view, 4> kKnown = {"work", "orders.dlq", "mail.dlq", "retry"};
  EXPECT_EQ(nearest_names(".dql", kKnown, 2), (Names{"mail.dlq", "orders.dlq"}));
  EXPECT_EQ(nearest_names("retyr", kKnown, 1), (Names{"retry"}));
  EXPECT_EQ(nearest_names("", kKnown, 9).size(), 4U);
  EXPECT_TRUE(nearest_names("x", {}, 3).empty());
}

TEST(DidYouMean, takes_the_name_as_a_whole) {
  constexpr std::array<std::string_view, 2> kKnown = {"network", "http"};
  EXPECT_EQ(did_you_mean("netwrok", kKnown), "; did you mean \"network\"?");
  EXPECT_EQ(did_you_mean("other", kKnown), "; known are network, http");
}

}  // namespace
}  // namespace holdfast::nearest_name_test
