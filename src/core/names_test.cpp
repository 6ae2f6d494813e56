#include <gtest/gtest.h>

#include <holdfast/failure.hpp>
#include <holdfast/result.hpp>
#include <holdfast/verdict.hpp>

namespace holdfast::names_test {
namespace {

TEST(Names, are_the_words_of_the_outside_face) {
  EXPECT_EQ(to_string(VerdictKind::give_up), "give up");
  EXPECT_EQ(to_string(FailureKind::crash), "crash");
  EXPECT_EQ(to_string(ErrorCode::not_found), "not found");
  EXPECT_EQ(to_string(ErrorCode::overloaded), "overloaded");
}

}  // namespace
}  // namespace holdfast::names_test
