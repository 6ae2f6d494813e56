#pragma once

// For your own tests of code that retries: time that does not pass by itself, chance that is
// scripted, functions that fail as told, and a log that remembers.
//
//   testing::FakeClock clock;
//   testing::FakeRandom random;
//   testing::Flaky<int> fetch;
//   fetch.throws(std::runtime_error("connection reset"), 2).returns(42);
//   const auto policy = retry::Policy(clock, random).wait(retry::fixed(10s));
//   policy.call(fetch);            // 42, at once
//   clock.slept();                 // {10s, 10s}

#include <holdfast/testing/fake_clock.hpp>   // IWYU pragma: export
#include <holdfast/testing/fake_random.hpp>  // IWYU pragma: export
#include <holdfast/testing/flaky.hpp>        // IWYU pragma: export
#include <holdfast/testing/log_capture.hpp>  // IWYU pragma: export
