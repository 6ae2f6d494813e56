#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <holdfast/retry.hpp>
#include <holdfast/testing.hpp>

// What the tests of policies share.
namespace holdfast::retry {

struct HttpError : std::runtime_error {
  HttpError(int code, std::string text) : std::runtime_error(std::move(text)), status(code) {}
  int status;
};

// An error type of the user's own, found by argument-dependent lookup.
struct ApiError {
  int status = 0;
  std::optional<Duration> retry_after = {};
  bool operator==(const ApiError&) const = default;
};
inline Failure to_failure(const ApiError& error) {
  return {.message = "API error", .http_status = error.status, .retry_after = error.retry_after};
}

// Four attempts, waits of 1 s, 2 s, 4 s, and a log that remembers.
struct PolicyFixture : ::testing::Test {
  testing::FakeClock clock;
  testing::FakeRandom random;
  testing::LogCapture log;
  Policy policy = Policy(clock, random)
                      .named("fetch")
                      .stop(attempts(4))
                      .wait(exponential())
                      .log_to(Logger(log, clock));
};

}  // namespace holdfast::retry
