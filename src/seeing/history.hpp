#pragma once

#include <deque>
#include <utility>

#include <holdfast/time.hpp>

namespace holdfast::seeing {

// Samples of something that grows, so that it can be said how much it has grown lately.
template <class Value>
class History {
 public:
  struct Sample {
    SteadyTime at{};
    Value value{};
  };

  explicit History(Duration longest) : longest_(longest) {}

  void add(SteadyTime now, Value value) {
    samples_.push_back({now, std::move(value)});
    // One that is older than the longest span must stay, to compare with.
    while (samples_.size() > 2 && now - samples_[1].at >= longest_)
      samples_.pop_front();
  }

  // The latest that is at least so old, or else the oldest. There must be one.
  [[nodiscard]] const Sample& before(SteadyTime now, Duration span) const {
    for (auto sample = samples_.rbegin(); sample != samples_.rend(); ++sample) {
      if (now - sample->at >= span) return *sample;
    }
    return samples_.front();
  }

  [[nodiscard]] bool empty() const noexcept { return samples_.empty(); }
  [[nodiscard]] SteadyTime latest() const noexcept { return samples_.back().at; }

 private:
  const Duration longest_;
  std::deque<Sample> samples_;
};

}  // namespace holdfast::seeing
