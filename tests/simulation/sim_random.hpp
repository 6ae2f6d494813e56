#pragma once

#include <cstdint>

#include <holdfast/clock.hpp>

namespace holdfast::simulation {

// Chance that comes from a seed alone: the same seed, the same numbers, on every machine.
class SimRandom final : public Random {
 public:
  explicit SimRandom(std::uint64_t seed) : state_(seed) {}

  // SplitMix64: every seed is a good one, also those that follow one another.
  std::uint64_t next() noexcept override {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // A source of its own, so that what one part draws does not move what another one does.
  [[nodiscard]] SimRandom fork() { return SimRandom(next()); }

  [[nodiscard]] bool chance(double probability) { return unit() < probability; }

  // In [0, count).
  [[nodiscard]] std::size_t below(std::size_t count) {
    return count == 0 ? 0 : static_cast<std::size_t>(next() % count);
  }

  // In [least, most].
  [[nodiscard]] int between(int least, int most) {
    return least + static_cast<int>(below(static_cast<std::size_t>(most - least) + 1));
  }

  // In whole microseconds, as stores keep them.
  [[nodiscard]] Duration between(Duration least, Duration most) {
    const auto span = std::chrono::duration_cast<std::chrono::microseconds>(most - least).count();
    if (span <= 0) return least;
    return least + std::chrono::microseconds(below(static_cast<std::size_t>(span) + 1));
  }

 private:
  std::uint64_t state_;
};

}  // namespace holdfast::simulation
