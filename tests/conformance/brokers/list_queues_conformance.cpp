#include <gmock/gmock.h>

#include "conformance/brokers/broker_conformance.hpp"

namespace holdfast::conformance::list_queues_conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names_of(const Result<std::vector<ports::QueueStatus>>& listed) {
  EXPECT_TRUE(listed) << listed.error().text();
  std::vector<std::string> names;
  for (const ports::QueueStatus& queue : listed.value_or(std::vector<ports::QueueStatus>()))
    names.push_back(queue.name);
  return names;
}

TEST_P(BrokerConformance, lists_queues_by_a_pattern_of_their_names) {
  const std::string name = BrokerWorld::unique_name("list");
  const std::string& ending = GetParam().ending;
  std::vector<std::string> all;
  for (const char* const part : {"-1", "-2", "-2a", "x-1"}) {
    all.push_back(name + part + ending);
    ASSERT_TRUE(world.make_sure({.queues = {{.name = all.back(), .kind = GetParam().queues}}}));
  }
  EXPECT_THAT(names_of(world.list_queues(name + "-*")), ElementsAre(all[0], all[1], all[2]));
  EXPECT_THAT(names_of(world.list_queues(name + "-?" + ending)), ElementsAre(all[0], all[1]));
  EXPECT_THAT(names_of(world.list_queues(name + "*1" + ending)), ElementsAre(all[0], all[3]));
  EXPECT_THAT(names_of(world.list_queues(all[2])), ElementsAre(all[2]));
  EXPECT_THAT(names_of(world.list_queues(name + "-9*")), IsEmpty());
}

TEST_P(BrokerConformance, lists_queues_with_what_is_in_them) {
  const std::string queue = new_queue("listed");
  for (const char* const body : {"one", "two", "three"})
    ASSERT_EQ(world.publish(queue, body).fate, Fate::confirmed);
  Recorder recorder;
  const auto consumer = broker().consume({.queue = queue, .prefetch = 1}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 1; }));
  ports::QueueStatus status;
  const bool is_counted = world.until([&] {
    const auto listed = world.list_queues(queue);
    if (!listed || listed->size() != 1) return false;
    status = listed->front();
    return status.ready.value_or(0) + status.unacknowledged.value_or(0) == 3 &&
           status.unacknowledged.value_or(0) > 0;
  });
  EXPECT_TRUE(is_counted) << status.ready.value_or(999) << ' '
                          << status.unacknowledged.value_or(999);
  EXPECT_NE(status.kind, ports::QueueStatus::Kind::unknown);
  EXPECT_EQ(status.kind == ports::QueueStatus::Kind::quorum,
            GetParam().queues == ports::QueueWish::Kind::quorum);
  EXPECT_TRUE(status.is_approximate);
  world.close(consumer);
}

TEST_P(BrokerConformance, lists_queues_with_where_their_dead_letters_go) {
  const std::string name = BrokerWorld::unique_name("dies");
  const std::string queue = name + GetParam().ending;
  const std::string letters = name + "-dlq" + GetParam().ending;
  ASSERT_TRUE(
      world.make_sure({.queues = {{.name = letters, .kind = GetParam().queues},
                                  {.name = queue,
                                   .kind = GetParam().queues,
                                   .dead_letter = ports::Address{.routing_key = letters}}}}));
  const auto listed = world.list_queues(queue);
  ASSERT_TRUE(listed) << listed.error().text();
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().dead_letter, ports::Address{.routing_key = letters});
}

}  // namespace
}  // namespace holdfast::conformance::list_queues_conformance
