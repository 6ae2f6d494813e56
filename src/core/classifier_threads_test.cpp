#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/classify.hpp>

namespace holdfast::classifier_threads_test {
namespace {

TEST(ClassifierThreads, one_classifier_serves_many_threads) {
  std::vector<Rule> rules;
  for (int i = 0; i < 100; ++i) {
    rules.push_back({.pattern = "error " + std::to_string(i) + "\\b",
                     .verdict = i % 2 ? VerdictKind::give_up : VerdictKind::retry});
  }
  const Classifier classifier = Classifier::make(std::move(rules)).value();
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([copy = classifier, thread, &wrong] {
        for (int i = 0; i < 2000; ++i) {
          const int expected = (i * 7 + thread) % 120;
          const std::string message = "it was error " + std::to_string(expected) + " this time";
          if (copy.classify({message}).rule != (expected < 100 ? expected : -1)) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

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
}  // namespace holdfast::classifier_threads_test
