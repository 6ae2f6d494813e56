#include <gtest/gtest.h>

#include <holdfast/clock.hpp>

namespace holdfast {
namespace {

TEST(SystemClock, does_not_sleep_for_a_time_already_reached) {
  EXPECT_TRUE(system_clock().sleep_until(system_clock().now(), {}));
}

TEST(SystemClock, a_stop_already_requested_wins) {
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(system_clock().sleep_until(SteadyTime::max(), source.get_token()));
}

TEST(SystemClock, rough_time_is_never_ahead) {
  for (int i = 0; i < 1000; ++i) {
    const SteadyTime rough = system_clock().rough_now();
    EXPECT_LE(rough, system_clock().now());
    EXPECT_GT(rough, system_clock().now() - std::chrono::seconds(10));
  }
}

TEST(SystemRandom, unit_stays_below_one) {
  for (int i = 0; i < 1000; ++i) {
    const double unit = system_random().unit();
    EXPECT_GE(unit, 0.0);
    EXPECT_LT(unit, 1.0);
  }
}

}  // namespace
}  // namespace holdfast
