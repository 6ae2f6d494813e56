#include "seeing/workers.hpp"

#include <gtest/gtest.h>

#include "seeing/seeing_testing.hpp"

namespace holdfast::seeing::workers_test {
namespace {

using testing::kNow;
using testing::record;
using namespace std::chrono_literals;

ports::TaskRecord run_by(std::string owner, Duration since, std::string type = "t") {
  ports::TaskRecord task = record(std::move(type));
  task.owner = std::move(owner);
  task.changed = kNow + since;
  task.lease_end = kNow + 30s;
  return task;
}

TEST(Workers, nobody_runs_anything) {
  EXPECT_EQ(workers_json({}, true), R"({"workers":[],"complete":true})");
}

TEST(Workers, are_told_by_name_with_what_they_run) {
  std::vector<ports::TaskRecord> running = {run_by("host-7", 2s, "late"), run_by("away:w1", 1s),
                                            run_by("host-7", 1s, "early")};
  running[0].task.spent = {.attempts = 1, .crashes = 1, .deferrals = 5, .replays = 5};
  const std::string nil = TaskId().text();
  EXPECT_EQ(workers_json(running, false),
            R"({"workers":[{"name":"away:w1","elsewhere":true,"running":1,"tasks":[{"id":")" + nil +
                R"(","type":"t","queue":"q","since":"2026-11-16T00:00:01.000000Z",)"
                R"("lease_end":"2026-11-16T00:00:30.000000Z","attempt":1}]},)"
                R"({"name":"host-7","elsewhere":false,"running":2,"tasks":[{"id":")" +
                nil +
                R"(","type":"early","queue":"q","since":"2026-11-16T00:00:01.000000Z",)"
                R"("lease_end":"2026-11-16T00:00:30.000000Z","attempt":1},{"id":")" +
                nil +
                R"(","type":"late","queue":"q","since":"2026-11-16T00:00:02.000000Z",)"
                R"("lease_end":"2026-11-16T00:00:30.000000Z","attempt":3}]}],"complete":false})");
}

}  // namespace
}  // namespace holdfast::seeing::workers_test
