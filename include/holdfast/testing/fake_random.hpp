#pragma once

#include <algorithm>
#include <initializer_list>
#include <mutex>
#include <vector>

#include <holdfast/clock.hpp>

namespace holdfast::testing {

// Chance that is scripted: unit() gives these values, one after the other and then from the
// beginning again. Without a script always one half, the middle of every jitter. Threads: as
// Random.
class FakeRandom final : public Random {
 public:
  FakeRandom() : FakeRandom({0.5}) {}
  FakeRandom(std::initializer_list<double> units) : units_(units) {}

  std::uint64_t next() noexcept override {
    const std::lock_guard lock(mutex_);
    if (units_.empty()) return 0;
    const double unit = std::clamp(units_[at_++ % units_.size()], 0.0, 1.0 - 0x1.0p-53);
    return static_cast<std::uint64_t>(unit * 0x1.0p53) << 11;
  }

 private:
  std::mutex mutex_;
  std::vector<double> units_;
  std::size_t at_ = 0;
};

}  // namespace holdfast::testing
