#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/carried_world.hpp"

namespace holdfast::engine::carrier_faults_test {
namespace {

using core::State;
using ports::Fate;
using testing::CarriedWorld;
using testing::TestHandler;
using namespace std::chrono_literals;

// Crashes, lost connections, lies about publishes and foreign messages in any order: in the end
// every task and every message has come to its end, and none is anywhere else.
TEST(Carrier, nothing_is_lost_whatever_happens) {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    CarriedWorld world;
    std::uint32_t state = seed * 2654435761U;
    const auto chance = [&](std::uint32_t of) {
      state = state * 1664525U + 1013904223U;
      return (state >> 8U) % of == 0;
    };
    world.confirmed = seed % 2 == 0;
    std::map<std::string, int> done;
    bool calm = false;
    const auto handler = [&] {
      return std::make_shared<TestHandler>([&](const std::shared_ptr<ports::Run>& run) {
        if (!run->begin()) return run->finish(core::HandedBack{});
        if (!calm && chance(3)) return run->finish(Failure{.message = "no"});
        ++done[run->task().payload];
        run->finish(core::Success{});
      });
    };
    const core::TaskPolicy policy{.attempts = 1000, .crashes = 1000, .wait = retry::fixed(2s)};
    const auto lie = [&](const auto&) -> std::optional<Fate> {
      if (calm || !chance(4)) return std::nullopt;
      world.broker->unknown_arrives = chance(2);
      return chance(2) ? Fate::unsent : Fate::unknown;
    };
    world.start(handler(), policy);
    world.broker->fault = lie;
    std::vector<std::string> accepted;
    for (int step = 0; step < 120; ++step) {
      const std::string name = "p" + std::to_string(step);
      if (chance(3)) {
        world.engine->submit({{.type = "t", .queue = "q", .payload = name}},
                             [&accepted, name](const auto& answers) {
                               if (answers && answers->front()) accepted.push_back(name);
                             });
      }
      if (chance(4)) {
        world.queues->put("q", {.body = "f" + name, .headers = {}});
        accepted.push_back("f" + name);
        world.broker->deliver();
      }
      if (chance(9)) world.broker->interrupt();
      if (chance(12)) {
        world.live_again(handler(), policy);
        world.broker->fault = lie;
      }
      if (chance(2)) world.loop.pass(1s);
    }
    calm = true;
    world.loop.pass(15min);
    for (const std::string& name : accepted)
      EXPECT_GE(done[name], 1) << name << " was lost with seed " << seed;
    EXPECT_EQ(world.at(State::succeeded), world.store.tasks().size()) << "seed " << seed;
    EXPECT_EQ(world.queues->depth("q"), 0U) << "seed " << seed;
    EXPECT_EQ(world.broker->unsettled(), 0U)
        << "seed " << seed << ":" << world.broker->unsettled_text();
  }
}

}  // namespace
}  // namespace holdfast::engine::carrier_faults_test
