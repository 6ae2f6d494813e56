#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::seeing {

// How often which values came: counted in buckets, each up to its bound and counted once.
template <std::size_t N>
class Histogram {
 public:
  using Bounds = std::array<double, N>;

  explicit constexpr Histogram(const Bounds& bounds) : bounds_(&bounds) {}

  void add(double value) noexcept {
    const auto at = std::ranges::lower_bound(*bounds_, value) - bounds_->begin();
    ++counts_[static_cast<std::size_t>(at)];
    sum_ += value;
    ++count_;
  }

  [[nodiscard]] const Bounds& bounds() const noexcept { return *bounds_; }
  // The last one is of values beyond all bounds.
  [[nodiscard]] const std::array<std::uint64_t, N + 1>& counts() const noexcept { return counts_; }
  [[nodiscard]] double sum() const noexcept { return sum_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  const Bounds* bounds_;
  std::array<std::uint64_t, N + 1> counts_{};
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

// From milliseconds to an hour: handlers are commands and calls over the network.
inline constexpr std::array<double, 15> kSeconds{0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1,
                                                 2.5,   5,     10,   30,   60,  300,  3600};
inline constexpr std::array<double, 11> kSizes{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};

}  // namespace holdfast::seeing
