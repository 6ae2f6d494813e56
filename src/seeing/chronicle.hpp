#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <holdfast/time.hpp>

#include "ports/store.hpp"
#include "seeing/tally.hpp"

namespace holdfast::seeing {

// How many tasks wait, run and are dead, over all queues.
struct Depths {
  std::uint64_t waiting = 0;  // pending or retrying
  std::uint64_t running = 0;
  std::uint64_t dead = 0;

  bool operator==(const Depths&) const = default;
};

[[nodiscard]] Depths depths_of(const ports::Count::Answer& queues);

// What has happened lately, step by step, for curves: the last hour finely, the last day coarsely.
// Two rings of a fixed size, so a sample costs no allocation, and a year as much memory as a day.
// No clock: whoever adds says when it was. Threads: the loop's.
class Chronicle {
 public:
  static constexpr Duration kFineStep = std::chrono::seconds(10);
  static constexpr Duration kCoarseStep = std::chrono::minutes(5);
  static constexpr std::size_t kFineSteps = 360;    // an hour
  static constexpr std::size_t kCoarseSteps = 288;  // a day

  // One step: how much has happened in it, and what there was at its end.
  struct Sample {
    WallTime end{};
    Duration span{};  // how long it was
    Totals grown = {};
    std::optional<Depths> depths = {};  // nothing: the store could not be asked
  };

  // Begins with totals of zero.
  Chronicle(SteadyTime now, WallTime wall_now);

  struct Moment {
    SteadyTime now{};
    WallTime wall_now{};
    Totals totals = {};  // since the start
  };
  // To be called every kFineStep, with a later moment each time.
  void add(const Moment& moment, std::optional<Depths> depths);

  enum class Span : std::uint8_t { hour, day };
  // From the oldest, numbered 0, to the latest.
  [[nodiscard]] std::size_t size(Span span) const noexcept;
  [[nodiscard]] const Sample& at(Span span, std::size_t number) const;

  // The JSON of /v1/series: docs/api.md describes it.
  [[nodiscard]] std::string json(Span span) const;

 private:
  template <std::size_t N>
  struct Ring {
    void add(const Moment& moment, std::optional<Depths> depths);
    [[nodiscard]] const Sample& at(std::size_t number) const {
      return samples[size < N ? number : (next + number) % N];
    }

    std::array<Sample, N> samples = {};
    std::size_t size = 0;
    std::size_t next = 0;  // where the next one goes
    Moment last = {};      // up to which it tells
  };

  const WallTime began_;
  Ring<kFineSteps> fine_;
  Ring<kCoarseSteps> coarse_;
};

}  // namespace holdfast::seeing
