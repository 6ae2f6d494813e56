#include <iostream>

#include <gtest/gtest.h>

#include "simulation/world.hpp"

namespace holdfast::simulation::simulation_test {
namespace {

// A simulation that finds nothing proves nothing: each of these bugs has to be found, and soon.
class PlantedBug : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PlantedBug, is_found) {
  const auto bug = static_cast<Bug>(GetParam());
  constexpr std::uint64_t kMostSeeds = 100;
  for (std::uint64_t seed = 1; seed <= kMostSeeds; ++seed) {
    const RunReport report = simulate(seed, {.bug = bug});
    if (!report.breach) continue;
    std::cout << to_string(bug) << ": found by seed " << seed << ": " << *report.breach << "\n";
    return;
  }
  FAIL() << to_string(bug) << " was not found by " << kMostSeeds << " seeds";
}

INSTANTIATE_TEST_SUITE_P(simulation_finds, PlantedBug, ::testing::Range<std::size_t>(0, kBugs),
                         [](const auto& info) {
                           return std::string(to_string(static_cast<Bug>(info.param)));
                         });

TEST(Simulation, gives_the_same_trace_for_the_same_seed_and_another_for_another) {
  const RunReport first = World(7, {}).run();
  const RunReport again = World(7, {}).run();
  const RunReport other = World(8, {}).run();
  EXPECT_EQ(first.breach, std::nullopt);
  EXPECT_EQ(first.hash, again.hash);
  EXPECT_NE(first.hash, other.hash);
}

}  // namespace
}  // namespace holdfast::simulation::simulation_test
