#pragma once

#include <string>
#include <string_view>

#include "cli/top_frame.hpp"

namespace holdfast::cli::testing {

inline const WallTime kNow =
    WallTime(std::chrono::sys_days{std::chrono::year{2026} / 11 / 17}) + std::chrono::hours(3);

[[nodiscard]] inline wire::QueueNow queue(std::string name, std::uint64_t pending,
                                          std::uint64_t running = 0, std::uint64_t dead = 0) {
  wire::QueueNow queue{.name = std::move(name)};
  queue.tasks = {pending, running, 0, 0, 0, dead, 0};
  queue.oldest_due_age = std::chrono::seconds(pending > 0 ? 65 : 0);
  queue.rates = wire::RatesNow{.succeeded = static_cast<double>(running) * 4.05, .retried = 0.4};
  return queue;
}

[[nodiscard]] inline wire::GroupNow group(std::string id, std::uint64_t count, std::string example,
                                          TaskState state = TaskState::dead) {
  return {.id = std::move(id),
          .state = state,
          .count = count,
          .first_seen = kNow - std::chrono::hours(30),
          .last_seen = kNow - std::chrono::minutes(3),
          .example = std::move(example)};
}

// Three queues, two groups, and one operation under way.
[[nodiscard]] inline Snapshot some() {
  Snapshot snapshot{.where = "http://127.0.0.1:8080", .is_server = true, .time = kNow};
  snapshot.stats.version = "0.1.0";
  snapshot.stats.uptime = std::chrono::hours(26);
  snapshot.stats.queues = {queue("mail", 1234, 4, 2), queue("reports", 12, 0, 119'762),
                           queue("video", 0, 1)};
  snapshot.stats.queues[1].paused = true;
  snapshot.groups = {group("92ab5f0c11d3e844", 119'762, "dial tcp: connection refused"),
                     group("0011223344556677", 2, "no such customer", TaskState::failed)};
  snapshot.operations = std::vector<wire::OperationNow>{
      {.id = "01J1", .action = "replay", .state = "done", .query = "queue:old"},
      {.id = "01J2",
       .action = "replay",
       .state = "running",
       .query = "group:92ab5f0c11d3e844",
       .progress = {.done = 1240, .succeeded = 1200, .failed = 40, .total = 2000}}};
  return snapshot;
}

[[nodiscard]] inline Key letter(std::string text) {
  return {Key::Kind::text, std::move(text)};
}

}  // namespace holdfast::cli::testing
