#include "cli/demo.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct DemoTest : ::testing::Test {
  holdfast::testing::FakeClock clock;
  holdfast::testing::FakeRandom random;
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Io io{in, out, err};
};

TEST_F(DemoTest, recovers_gives_up_and_opens_a_breaker_in_under_ten_seconds) {
  EXPECT_EQ(run_demo(io, false, clock, random), kDone);
  EXPECT_THAT(out.str(),
              AllOf(HasSubstr("fetch price succeeded after 3 attempts"),
                    HasSubstr("[NON_RETRYABLE] Pattern match"),
                    HasSubstr("breaker payments: closed → open"), HasSubstr("next probe in 1.5s"),
                    HasSubstr("half-open → closed"), HasSubstr("The third went through.")));
  EXPECT_LT(clock.now().time_since_epoch(), 10s);
  EXPECT_EQ(err.str(), "");
}

TEST_F(DemoTest, fits_a_terminal_of_80_columns) {
  EXPECT_EQ(run_demo(io, false, clock, random), kDone);
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) {
    const auto columns = std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
    EXPECT_LE(columns, 80) << line;
  }
}

TEST_F(DemoTest, prints_json_lines_alone_when_asked) {
  EXPECT_EQ(run_demo(io, true, clock, random), kDone);
  std::istringstream lines(out.str());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(line.starts_with("{\"time\":") && line.ends_with("}")) << line;
  }
  EXPECT_GT(count, 10);
}

TEST_F(DemoTest, says_when_it_cannot_write) {
  out.setstate(std::ios::badbit);
  EXPECT_EQ(run_demo(io, false, clock, random), kFailed);
  EXPECT_THAT(err.str(), HasSubstr("cannot write"));
}

}  // namespace
}  // namespace holdfast::cli
