#include "engine/observer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::engine::observer_test {
namespace {

using ::testing::ElementsAre;
using testing::failing;
using testing::succeeding;
using testing::TestHandler;
using testing::World;
using namespace std::chrono_literals;

// Writes down what it hears.
class Notes final : public Observer {
 public:
  void submitted(const TaskId&, const ports::NewTask& task) noexcept override {
    lines.push_back("submitted " + task.type);
  }
  void started(const ports::TaskRecord& task, WallTime now) noexcept override {
    lines.push_back("started " + task.type);
    waited = now - task.was_due;
  }
  void moved(const Moved& moved) noexcept override {
    lines.push_back(std::string(core::to_string(moved.transition.event)) + " → " +
                    std::string(core::to_string(moved.transition.to)) +
                    (moved.rescued ? ", rescued" : ""));
    ran = moved.ran;
  }
  void configured(const ports::Configure& settings) noexcept override {
    lines.push_back(settings.queue + (settings.paused.value_or(false) ? " paused" : " set"));
  }
  void breaker_changed(const Breaker::Change& change) noexcept override {
    lines.push_back("breaker " + std::string(change.breaker) + " " +
                    std::string(to_string(change.to)));
  }

  std::vector<std::string> take() { return std::exchange(lines, {}); }

  std::vector<std::string> lines;
  Duration waited{};
  Duration ran{};
};

struct Observed : World {
  Notes notes;

  Observed() {
    options.observer = &notes;
    options.breaker = {.consecutive_failures = 1, .open_for = retry::fixed(30s)};
    renew();
  }
  ~Observed() { engine.reset(); }
};

TEST(Observer, hears_of_a_task_from_its_submission_to_its_end) {
  Observed world;
  const auto handler = std::make_shared<TestHandler>();
  world.run(handler, {}, 1);
  world.submit();
  world.submit({.key = "k"});
  EXPECT_THAT(world.notes.take(), ElementsAre("submitted t", "started t", "submitted t"));
  world.submit({.key = "k"});
  EXPECT_TRUE(world.notes.take().empty()) << "it was there before";
  ASSERT_TRUE(handler->runs[0]->begin());
  world.loop.pass(3s);
  handler->runs[0]->finish(core::Success{});
  world.loop.settle();
  EXPECT_THAT(world.notes.take(), ElementsAre("success → succeeded", "started t"));
  EXPECT_EQ(world.notes.ran, 3s);
  EXPECT_EQ(world.notes.waited, 3s);
}

TEST(Observer, hears_of_retries_and_of_what_people_decide) {
  Observed world;
  world.run(failing({.message = "no"}), {.attempts = 2, .wait = retry::fixed(1s)});
  const TaskId id = world.submit();
  world.loop.pass(2s);
  EXPECT_THAT(world.notes.take(), ElementsAre("submitted t", "started t", "error → retrying",
                                              "started t", "error → dead"));
  world.engine->discard(id, [](const auto&) {});
  world.engine->configure({.queue = "q", .paused = true}, [](const auto&) {});
  world.loop.settle();
  EXPECT_THAT(world.notes.take(),
              ::testing::UnorderedElementsAre("discard → canceled", "q paused"));
}

TEST(Observer, hears_of_breakers) {
  Observed world;
  world.engine->handle("t", {.handler = failing({.message = "no"}), .dependency = "api"});
  world.engine->serve({.name = "q"});
  world.engine->start();
  world.submit();
  EXPECT_THAT(world.notes.take(),
              ElementsAre("submitted t", "started t", "breaker api open", "error → retrying"));
  ASSERT_EQ(world.engine->breakers().size(), 1U);
  EXPECT_EQ(world.engine->breakers()[0]->name(), "api");
}

TEST(Observer, hears_of_tasks_that_are_lent) {
  Observed world;
  world.engine->start();
  const TaskId id = world.submit();
  ports::Held claim;
  static_cast<void>(world.engine->lend(
      {.queue = "q"}, [&](const auto& lent) { claim = {lent->at(0).id, lent->at(0).task.token}; }));
  world.loop.settle();
  world.loop.pass(2s);
  world.engine->settle(claim, core::Success{}, {}, [](const auto&) {});
  world.loop.settle();
  EXPECT_EQ(claim.id, id);
  EXPECT_THAT(world.notes.take(), ElementsAre("submitted t", "started t", "success → succeeded"));
  EXPECT_EQ(world.notes.ran, 2s);
}

TEST(Observer, hears_of_what_is_rescued) {
  Observed world;
  world.run(std::make_shared<TestHandler>());
  world.submit();
  world.options.owner = "life 2";
  world.renew();
  world.notes.take();
  world.engine->start();
  world.loop.settle();
  EXPECT_THAT(world.notes.take(), ElementsAre("crash → retrying, rescued"));
}

}  // namespace
}  // namespace holdfast::engine::observer_test
