#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <holdfast/task.hpp>

#include "engine/observer.hpp"
#include "seeing/histogram.hpp"

namespace holdfast::seeing {

// What is counted of tasks. The order is that of kCounted in metrics.cpp.
enum class Counted : std::uint8_t {
  submitted,
  started,
  attempted,
  succeeded,
  failed,
  retried,
  timed_out,
  crashed,
  throttled,
  put_off,
  handed_back,
  canceled,
  discarded,
  replayed,
  rescued,
};
inline constexpr std::size_t kCountedKinds = 15;

// What has happened since the start, as alerts and dashboards look at it.
struct Totals {
  std::uint64_t submitted = 0;
  std::uint64_t attempts = 0;  // that have ended
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  std::uint64_t retried = 0;
  std::uint64_t dead = 0;
  std::uint64_t timeouts = 0;

  Totals& operator+=(const Totals& other);
  [[nodiscard]] Totals since(const Totals& before) const;
  bool operator==(const Totals&) const = default;
};

// The tasks of one type in one queue.
struct Series {
  Series(std::string its_queue, std::string its_type)
      : queue(std::move(its_queue)), type(std::move(its_type)) {}

  std::string queue;
  std::string type;
  std::array<std::uint64_t, kCountedKinds> counts{};
  std::array<std::uint64_t, 6> dead{};  // index: DeadReason
  Histogram<kSeconds.size()> ran{kSeconds};
  Histogram<kSeconds.size()> waited{kSeconds};

  void count(Counted what) noexcept { ++counts[static_cast<std::size_t>(what)]; }
  [[nodiscard]] std::uint64_t of(Counted what) const noexcept {
    return counts[static_cast<std::size_t>(what)];
  }
  [[nodiscard]] Totals totals() const;
};

// Counts what happens to tasks, by queue and type. Both names come from callers, so only so many
// pairs are told apart; what comes beyond is counted as "other". Threads: the loop's.
class Tally {
 public:
  static constexpr std::size_t kMostSeries = 200;
  static constexpr std::string_view kOther = "other";

  explicit Tally(std::size_t most = kMostSeries) : most_(most) {}

  // Known in advance: it has its place, whatever callers send, and is there with zeros.
  void expect(std::string_view queue, std::string_view type);

  void submitted(const ports::NewTask& task) {
    of(task.queue, task.type).count(Counted::submitted);
  }
  void started(const ports::TaskRecord& task, WallTime now);
  void moved(const engine::Moved& moved);

  // In the order they came.
  [[nodiscard]] const std::vector<std::unique_ptr<Series>>& series() const noexcept { return all_; }

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>()(text);
    }
  };
  using Types = std::unordered_map<std::string, Series*, TextHash, std::equal_to<>>;

  [[nodiscard]] Series& of(std::string_view queue, std::string_view type);
  [[nodiscard]] Series* find(std::string_view queue, std::string_view type);
  Series& add(std::string_view queue, std::string_view type);

  const std::size_t most_;
  std::vector<std::unique_ptr<Series>> all_;
  std::unordered_map<std::string, Types, TextHash, std::equal_to<>> queues_;
  Series* last_ = nullptr;   // most tasks are of the type of the one before
  Series* other_ = nullptr;  // once there are too many
};

}  // namespace holdfast::seeing
