#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/classify.hpp>

namespace holdfast {
namespace {

// The patterns are made ready by the first who needs them.
TEST(ClassifierThreads, many_may_be_the_first_to_ask) {
  const Classifier classifier = Classifier::make(presets::all()).value();
  std::atomic<int> alike = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const Classification found = classifier.classify({.message = "connection reset by peer"});
        if (found.basis == Basis::pattern && found.verdict.kind == VerdictKind::retry) ++alike;
      });
    }
  }
  EXPECT_EQ(alike, 4);
}

}  // namespace
}  // namespace holdfast
