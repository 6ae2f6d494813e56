#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/task.hpp>
#include <holdfast/time.hpp>

#include "wire/json_writer.hpp"

// What a server tells of itself to those who watch it: /v1/stats, /v1/dead/groups and
// /v1/operations, as far as a view of everything shows it. What a server does not tell stays
// empty; what it tells beyond is passed over.
namespace holdfast::wire {

// Per second, over the last minute.
struct RatesNow {
  double succeeded = 0;
  double failed = 0;
  double retried = 0;
  double dead = 0;
  double timeouts = 0;

  RatesNow& operator+=(const RatesNow& other);
  bool operator==(const RatesNow&) const = default;
};

struct QueueNow {
  std::string name = {};
  bool paused = false;
  std::array<std::uint64_t, 7> tasks{};  // index: TaskState
  Duration oldest_due_age{};
  std::optional<RatesNow> rates = {};  // nothing: nobody has counted

  [[nodiscard]] std::uint64_t count(TaskState state) const {
    return tasks[static_cast<std::size_t>(state)];
  }
  [[nodiscard]] std::uint64_t waiting() const {
    return count(TaskState::pending) + count(TaskState::retrying);
  }
  bool operator==(const QueueNow&) const = default;
};

struct GroupNow {
  std::string id = {};
  TaskState state = TaskState::dead;
  std::uint64_t count = 0;
  WallTime first_seen{};
  WallTime last_seen{};
  std::string example = {};
  std::vector<std::uint64_t> trend = {};  // arrivals by hour, oldest first

  bool operator==(const GroupNow&) const = default;
};

struct OperationNow {
  struct Progress {
    std::uint64_t done = 0;
    std::uint64_t refused = 0;
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t total = 0;

    bool operator==(const Progress&) const = default;
  };

  std::string id = {};
  std::string action = {};
  std::string state = {};
  std::string query = {};
  std::string by = {};
  std::string why = {};
  Progress progress = {};

  // Nothing becomes of it any more.
  [[nodiscard]] bool has_ended() const {
    return state == "done" || state == "canceled" || state == "failed";
  }
  bool operator==(const OperationNow&) const = default;
};

struct ExpiringNow {
  TaskState state = TaskState::dead;
  std::uint64_t count = 0;
  WallTime from{};

  bool operator==(const ExpiringNow&) const = default;
};

struct BreakerNow {
  std::string dependency = {};
  std::string state = {};

  bool operator==(const BreakerNow&) const = default;
};

struct BrokerNow {
  std::string name = {};
  std::string text = {};  // what is wrong, and what waits; empty: nothing is

  bool operator==(const BrokerNow&) const = default;
};

struct AlertNow {
  std::string alert = {};
  std::string text = {};

  bool operator==(const AlertNow&) const = default;
};

struct StatsNow {
  std::string version = {};
  Duration uptime{};
  std::vector<QueueNow> queues = {};
  std::vector<BreakerNow> breakers = {};
  std::vector<BrokerNow> brokers = {};
  std::vector<AlertNow> alerts = {};
  std::vector<ExpiringNow> expiring = {};

  bool operator==(const StatsNow&) const = default;
};

// Fail with corrupt.
[[nodiscard]] Result<StatsNow> read_stats(std::string_view json);
[[nodiscard]] Result<std::vector<GroupNow>> read_groups_now(std::string_view json);
[[nodiscard]] Result<std::vector<OperationNow>> read_operations_now(std::string_view json);

void write(JsonWriter& writer, const RatesNow& rates);
void write(JsonWriter& writer, const QueueNow& queue);
void write(JsonWriter& writer, const GroupNow& group);
void write(JsonWriter& writer, const OperationNow& operation);
void write(JsonWriter& writer, const ExpiringNow& expiring);

}  // namespace holdfast::wire
