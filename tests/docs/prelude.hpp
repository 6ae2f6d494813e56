// What every snippet of the documentation may take for granted: docs_test includes it before them.
#pragma once

#include <chrono>
#include <expected>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <gtest/gtest.h>

#include <holdfast/classify.hpp>
#include <holdfast/policies.hpp>
#include <holdfast/retry.hpp>
#include <holdfast/retry_asio.hpp>
#include <holdfast/testing.hpp>

// Pages show `assert`; here it is a check that also holds in a release build.
#undef assert
#define assert(condition) EXPECT_TRUE(condition)

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace std::string_view_literals;
using namespace holdfast;

// Pages show `retry::Policy()`. In their tests it runs on a clock whose sleeps take no time.
namespace on_fake_clock {

inline holdfast::testing::FakeClock clock;

namespace retry {
using namespace holdfast::retry;

struct Policy : holdfast::retry::Policy {
  Policy() : holdfast::retry::Policy(clock, system_random()) {}
  Policy(Clock& other, Random& random) : holdfast::retry::Policy(other, random) {}
};
}  // namespace retry
}  // namespace on_fake_clock

namespace RetryGuide {
namespace retry = on_fake_clock::retry;
}
namespace ReadmeGuide {
namespace retry = on_fake_clock::retry;
}
namespace ClassifyGuide {
namespace retry = on_fake_clock::retry;
}
