#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/breaker.hpp>
#include <holdfast/testing.hpp>

namespace holdfast::breaker_test {
namespace {

using namespace std::chrono_literals;
using State = Breaker::State;

struct BreakerTest : ::testing::Test {
  testing::FakeClock clock;
  testing::FakeRandom random;
  std::vector<std::string> changes;

  std::shared_ptr<Breaker> make(Breaker::Options options) {
    options.on_change = [this](const Breaker::Change& change) {
      changes.push_back(std::string(to_string(change.from)) + " → " +
                        std::string(to_string(change.to)) + ": " + std::string(change.reason));
    };
    return std::make_shared<Breaker>(std::move(options), clock, random);
  }

  static void fail(Breaker& breaker, int times) {
    for (int i = 0; i < times; ++i)
      breaker.try_acquire().failure();
  }
  static void succeed(Breaker& breaker, int times) {
    for (int i = 0; i < times; ++i)
      breaker.try_acquire().success();
  }
};

TEST_F(BreakerTest, opens_after_failures_in_a_row) {
  auto breaker = make({.consecutive_failures = 3});
  fail(*breaker, 2);
  EXPECT_EQ(breaker->state(), State::closed);
  fail(*breaker, 1);
  EXPECT_EQ(breaker->state(), State::open);
  EXPECT_FALSE(breaker->try_acquire());
  EXPECT_EQ(breaker->retry_in(), 30s);
  EXPECT_EQ(changes, std::vector<std::string>{"closed → open: failures in a row"});
}

TEST_F(BreakerTest, a_success_breaks_the_row) {
  auto breaker = make({.consecutive_failures = 3});
  for (int i = 0; i < 10; ++i) {
    fail(*breaker, 2);
    succeed(*breaker, 1);
  }
  EXPECT_EQ(breaker->state(), State::closed);
}

TEST_F(BreakerTest, opens_at_a_failure_rate) {
  auto breaker = make({.consecutive_failures = 0, .failure_rate = 0.5, .least_calls = 10});
  succeed(*breaker, 5);
  fail(*breaker, 4);
  EXPECT_EQ(breaker->state(), State::closed);  // 9 calls say nothing yet
  fail(*breaker, 1);
  EXPECT_EQ(breaker->state(), State::open);
  EXPECT_EQ(changes, std::vector<std::string>{"closed → open: failure rate"});
}

TEST_F(BreakerTest, forgets_what_slid_out_of_the_window) {
  auto breaker =
      make({.consecutive_failures = 0, .failure_rate = 0.5, .window = 10s, .least_calls = 4});
  fail(*breaker, 3);
  clock.advance(10s);  // the window is 10 buckets of 1 s: all three are out of it
  fail(*breaker, 1);
  EXPECT_EQ(breaker->state(), State::closed);
  fail(*breaker, 3);
  EXPECT_EQ(breaker->state(), State::open);
}

TEST_F(BreakerTest, remembers_what_is_still_in_the_window) {
  auto breaker =
      make({.consecutive_failures = 0, .failure_rate = 0.5, .window = 10s, .least_calls = 4});
  fail(*breaker, 3);
  clock.advance(9s);
  fail(*breaker, 1);
  EXPECT_EQ(breaker->state(), State::open);
}

TEST_F(BreakerTest, lets_one_probe_through_when_it_is_time) {
  auto breaker = make({.consecutive_failures = 1, .open_for = retry::fixed(5s)});
  fail(*breaker, 1);
  clock.advance(4999ms);
  EXPECT_FALSE(breaker->try_acquire());
  clock.advance(1ms);
  auto probe = breaker->try_acquire();
  EXPECT_TRUE(probe);
  EXPECT_EQ(breaker->state(), State::half_open);
  EXPECT_FALSE(breaker->try_acquire());  // only one at a time
  probe.success();
  EXPECT_EQ(breaker->state(), State::closed);
  EXPECT_EQ(changes, (std::vector<std::string>{"closed → open: failures in a row",
                                               "open → half-open: time to probe",
                                               "half-open → closed: probes succeeded"}));
}

TEST_F(BreakerTest, a_failed_probe_opens_it_again_for_longer) {
  auto breaker = make({.consecutive_failures = 1,
                       .open_for = retry::exponential({.first = 1s, .factor = 2, .cap = 1min})});
  fail(*breaker, 1);
  EXPECT_EQ(breaker->retry_in(), 1s);
  clock.advance(1s);
  fail(*breaker, 1);
  EXPECT_EQ(breaker->state(), State::open);
  EXPECT_EQ(breaker->retry_in(), 2s);
  clock.advance(2s);
  succeed(*breaker, 1);
  fail(*breaker, 1);
  EXPECT_EQ(breaker->retry_in(), 1s);  // from the beginning, after it was well
}

TEST_F(BreakerTest, closes_only_when_all_probes_succeeded) {
  auto breaker = make({.consecutive_failures = 1, .open_for = retry::fixed(1s), .probes = 3});
  fail(*breaker, 1);
  clock.advance(1s);
  auto a = breaker->try_acquire();
  auto b = breaker->try_acquire();
  auto c = breaker->try_acquire();
  EXPECT_TRUE(c);
  EXPECT_FALSE(breaker->try_acquire());
  a.success();
  b.success();
  EXPECT_EQ(breaker->state(), State::half_open);
  EXPECT_FALSE(breaker->try_acquire());
  c.success();
  EXPECT_EQ(breaker->state(), State::closed);
}

TEST_F(BreakerTest, a_dropped_probe_frees_its_place) {
  auto breaker = make({.consecutive_failures = 1, .open_for = retry::fixed(1s)});
  fail(*breaker, 1);
  clock.advance(1s);
  {
    const auto dropped = breaker->try_acquire();
  }
  EXPECT_EQ(breaker->state(), State::half_open);
  EXPECT_TRUE(breaker->try_acquire());
}

TEST_F(BreakerTest, ignores_reports_from_before_the_last_change) {
  auto breaker = make({.consecutive_failures = 1, .open_for = retry::fixed(1s)});
  auto slow_success = breaker->try_acquire();
  auto slow_failure = breaker->try_acquire();
  fail(*breaker, 1);
  slow_success.success();
  EXPECT_EQ(breaker->state(), State::open);
  clock.advance(1s);
  succeed(*breaker, 1);
  EXPECT_EQ(breaker->state(), State::closed);
  slow_failure.failure();
  EXPECT_EQ(breaker->state(), State::closed);
}

TEST_F(BreakerTest, a_stale_probe_cannot_close_a_later_half_open) {
  auto breaker = make({.consecutive_failures = 1, .open_for = retry::fixed(1s), .probes = 2});
  fail(*breaker, 1);
  clock.advance(1s);
  auto stale = breaker->try_acquire();
  fail(*breaker, 1);  // the second probe opens it again
  clock.advance(1s);
  auto first = breaker->try_acquire();
  stale.success();
  first.success();
  EXPECT_EQ(breaker->state(), State::half_open);
}

TEST_F(BreakerTest, obeys_a_person) {
  auto breaker = make({});
  breaker->force_open();
  EXPECT_EQ(breaker->state(), State::open);
  breaker->force_open();
  breaker->reset();
  EXPECT_EQ(breaker->state(), State::closed);
  EXPECT_EQ(changes,
            (std::vector<std::string>{"closed → open: by hand", "open → closed: by hand"}));
}

TEST_F(BreakerTest, survives_nonsense_options) {
  auto breaker = make({.failure_rate = 0.5, .window = -1s, .least_calls = -4, .probes = 0});
  fail(*breaker, 10);
  EXPECT_EQ(breaker->state(), State::open);
}

TEST_F(BreakerTest, a_full_bucket_keeps_its_rate) {
  auto breaker = make({.consecutive_failures = 0, .failure_rate = 0.9, .least_calls = 10});
  for (int i = 0; i < 600'000; ++i) {
    succeed(*breaker, 1);
    fail(*breaker, 1);
  }
  EXPECT_EQ(breaker->state(), State::closed);
}

TEST(BreakerOpen, says_which_breaker_and_for_how_long) {
  const BreakerOpen open("payments", 1500ms);
  EXPECT_STREQ(open.what(), "circuit breaker \"payments\" is open; next probe in 1.5s");
  EXPECT_EQ(open.retry_in(), 1500ms);
}

TEST_F(BreakerTest, can_be_open_for_ever) {
  auto breaker = make({.name = "db", .open_for = retry::fixed(Duration::max())});
  breaker->force_open();
  EXPECT_EQ(breaker->retry_in(), Duration::max());
  EXPECT_EQ(BreakerOpen("db", breaker->retry_in()).retry_in(), Duration::max());
}

}  // namespace
}  // namespace holdfast::breaker_test
