#pragma once

#include <cstdint>

#include <holdfast/clock.hpp>

namespace holdfast::torture {

// Chance that a seed repeats, on every machine (splitmix64).
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() noexcept override {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }

  std::uint64_t below(std::uint64_t end) noexcept { return next() % end; }
  bool chance(double probability) noexcept { return unit() < probability; }

 private:
  std::uint64_t state_;
};

}  // namespace holdfast::torture
