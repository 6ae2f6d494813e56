// What tests of clients and workers share.
#pragma once

#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/client.hpp>
#include <holdfast/worker.hpp>

namespace holdfast::node::testing {

// Longer than any test takes; who waits for it has failed.
inline constexpr Duration kLong = std::chrono::seconds(60);

// A place that no other test has.
[[nodiscard]] inline std::string memory_url() {
  static std::atomic<int> count = 0;
  return "memory:test-" + std::to_string(++count);
}

[[nodiscard]] inline Worker::Options quiet(Worker::Options options = {}) {
  options.log = {};
  return options;
}

// One task from beginning to end.
[[nodiscard]] inline TaskInfo ran(Client& client, Submission submission) {
  const auto id = client.submit(std::move(submission));
  if (!id) {
    ADD_FAILURE() << id.error().text();
    return {};
  }
  const auto info = client.wait(*id, kLong);
  if (!info) {
    ADD_FAILURE() << info.error().text();
    return {};
  }
  return *info;
}

}  // namespace holdfast::node::testing
