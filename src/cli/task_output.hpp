#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/task.hpp>

#include "cli/io.hpp"
#include "wire/json_writer.hpp"

// Tasks as the verbs show them.
namespace holdfast::cli {

// "3m ago", "in 2h", "now"
[[nodiscard]] std::string relative_time(WallTime time, WallTime now);
// "2026-11-16 03:04:05 UTC (3m ago)"
[[nodiscard]] std::string full_time(WallTime time, WallTime now);

enum class Tone : std::uint8_t { plain, good, bad, waiting, faint };
[[nodiscard]] Tone tone_of(TaskState state);
[[nodiscard]] std::string toned(std::string_view text, Tone tone, bool colour);

// Rows below their headings, in columns as wide as they need; the last takes what is left of the
// 80, and is cut. Texts are made visible.
class Table {
 public:
  struct Cell {
    std::string text = {};
    Tone tone = Tone::plain;
  };
  explicit Table(std::vector<std::string> headings);
  void add(std::vector<Cell> row);
  [[nodiscard]] std::string text(bool colour) const;
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<Cell>> rows_;
};

[[nodiscard]] std::string tasks_for_people(const std::vector<TaskInfo>& tasks, WallTime now,
                                           bool colour);
[[nodiscard]] std::string task_for_people(const TaskInfo& task, WallTime now, bool colour);

// One JSON value, on a line of its own.
[[nodiscard]] std::string json_line(const std::function<void(wire::JsonWriter&)>& write);

[[nodiscard]] std::optional<TaskState> state_named(std::string_view name);

// On a terminal, one line that is written anew each time and wiped at the end.
class Progress {
 public:
  explicit Progress(Io& io) : io_(io) {}
  ~Progress() { wipe(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `total` of 0: not known.
  void show(std::string_view what, std::uint64_t done, std::uint64_t total);
  void wipe();

 private:
  Io& io_;
  bool shown_ = false;
};

}  // namespace holdfast::cli
