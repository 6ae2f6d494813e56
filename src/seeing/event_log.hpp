#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/observer.hpp"

namespace holdfast::seeing {

// One thing that happened.
struct Happening {
  enum class Kind : std::uint8_t { task, queue, alert, operation };

  Kind kind = Kind::task;
  WallTime time{};

  // Of tasks.
  TaskId id;
  std::string type;
  std::string queue;  // also of queues
  std::optional<core::State> from;
  core::State to{};
  std::string_view event;  // a word that lives for ever
  int attempt = 0;
  std::string error;

  bool paused = false;  // of queues
  std::string json;     // of alerts and operations: all there is to say
};

// The latest happenings, numbered from 1 on; as many as it may keep, in a ring whose places are
// used again and again. Threads: the loop's.
class EventLog {
 public:
  static constexpr std::size_t kMostErrorBytes = 500;

  // `life` tells the numbers of this log from those of any other.
  EventLog(std::size_t keep, std::string life);

  void submitted(const TaskId& id, const ports::NewTask& task);
  void started(const ports::TaskRecord& task, WallTime now);
  void moved(const engine::Moved& moved);
  void paused(std::string_view queue, bool paused, WallTime now);
  void alert(std::string json, WallTime now);
  // A replay or discard of many tasks has come to where its JSON says.
  void operation(std::string json, WallTime now);

  [[nodiscard]] std::uint64_t first() const noexcept { return last_ + 1 - kept(); }
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }  // 0: none yet
  // Must be one that is kept.
  [[nodiscard]] const Happening& at(std::uint64_t number) const;

  // "7f3a….42", for clients to come back with.
  [[nodiscard]] std::string id_of(std::uint64_t number) const;
  // Nothing: it is of another life, or no id at all.
  [[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view id) const;

  // Called with each happening; it is noted, but whoever wants to look at it does so later.
  std::function<void()> on_news = {};

 private:
  [[nodiscard]] std::size_t kept() const noexcept { return ring_.size(); }
  Happening& next(Happening::Kind kind, WallTime now);

  const std::size_t keep_;
  const std::string life_;
  std::vector<Happening> ring_;
  std::uint64_t last_ = 0;
};

}  // namespace holdfast::seeing
