#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/task.hpp>
#include <holdfast/time.hpp>

#include "config/config.hpp"

// What `holdfast demo` tells: the tasks of a bad day, and the configuration of the server that runs
// them. Every task is a process of its own, and what goes wrong in it really does.
namespace holdfast::cli {

struct DemoKind {
  std::string_view type;
  std::size_t count = 0;
  std::string_view fate;  // for people: what will become of them
};
[[nodiscard]] std::span<const DemoKind> demo_kinds() noexcept;

// The type whose cause is found and repaired, and the file in the demo's folder that does it.
inline constexpr std::string_view kRepairedType = "report.render";
inline constexpr std::string_view kRepairFile = "repaired";

// How long things take: as in life, but shorter; or as short as can be, for tests.
struct DemoPace {
  Duration feeding = std::chrono::seconds(6);          // until all tasks are handed in
  Duration first_wait = std::chrono::seconds(1);       // before a retry
  Duration timeout = std::chrono::seconds(2);          // of those that hang
  Duration reading = std::chrono::milliseconds(1500);  // for people, between the parts
};
[[nodiscard]] DemoPace fast_pace() noexcept;

// Of a server in `folder`, as its own configuration file would say it.
[[nodiscard]] Result<config::Config> demo_config(const std::string& folder, const DemoPace& pace);

// All tasks, those of each kind spread evenly over the whole.
[[nodiscard]] std::vector<Submission> demo_tasks();

}  // namespace holdfast::cli
