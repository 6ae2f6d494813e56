// Waits that stand for themselves. What is made of them: wait_combined.cpp.
#include <algorithm>
#include <cmath>
#include <vector>

#include <holdfast/retry/wait.hpp>

#include "core/units.hpp"
#include "core/wait_schedule.hpp"

namespace holdfast::retry {
namespace {

// "1s, 2s, 4s … at most 16s" for a schedule that grows from `at(1)` to `cap`.
template <class At>
std::string growing_text(const At& at, Duration cap) {
  constexpr int kShown = 3;
  std::string text = format_duration(at(1));
  for (int retry = 2; retry <= kShown; ++retry) {
    if (at(retry) == at(retry - 1)) return text;
    text += ", " + format_duration(at(retry));
  }
  if (at(kShown + 1) == at(kShown)) return text;
  text += " …";
  return cap == Duration::max() ? text : text + " at most " + format_duration(cap);
}

class FixedSchedule final : public Wait::Schedule {
 public:
  explicit FixedSchedule(Duration wait) : wait_(not_negative(wait)) {}

  Step step(const WaitInput& input, Random&) const override {
    return {.wait = wait_, .first = wait_, .previous = input.previous};
  }
  std::string text() const override {
    return wait_ == Duration::zero() ? "no wait" : format_duration(wait_);
  }

 private:
  const Duration wait_;
};

class ListSchedule final : public Wait::Schedule {
 public:
  explicit ListSchedule(std::span<const Duration> waits) : waits_(waits.begin(), waits.end()) {
    for (Duration& wait : waits_)
      wait = not_negative(wait);
  }

  Step step(const WaitInput& input, Random&) const override {
    if (waits_.empty()) return {};
    const std::size_t index = static_cast<std::size_t>(input.retry) - 1;
    const Duration wait = waits_[std::min(index, waits_.size() - 1)];
    return {.wait = wait, .first = waits_.front(), .previous = input.previous};
  }

  std::string text() const override {
    constexpr std::size_t kShown = 6;
    if (waits_.empty()) return "no wait";
    std::string text = format_duration(waits_.front());
    for (std::size_t i = 1; i < std::min(waits_.size(), kShown); ++i) {
      text += ", " + format_duration(waits_[i]);
    }
    return waits_.size() <= kShown ? text : text + " … " + format_duration(waits_.back());
  }

  int covers() const override { return static_cast<int>(waits_.size()); }

 private:
  std::vector<Duration> waits_;
};

class LinearSchedule final : public Wait::Schedule {
 public:
  explicit LinearSchedule(const Linear& options)
      : first_(not_negative(options.first)),
        step_(not_negative(options.step)),
        cap_(not_negative(options.cap)) {}

  Step step(const WaitInput& input, Random&) const override {
    return {.wait = at(input.retry), .first = at(1), .cap = cap_, .previous = input.previous};
  }
  std::string text() const override {
    return growing_text([this](int retry) { return at(retry); }, cap_);
  }

 private:
  Duration at(int retry) const {
    const int steps = retry - 1;
    if (first_ >= cap_) return cap_;
    if (steps > 0 && step_ > (cap_ - first_) / steps) return cap_;
    return first_ + step_ * steps;
  }

  const Duration first_;
  const Duration step_;
  const Duration cap_;
};

class ExponentialSchedule final : public Wait::Schedule {
 public:
  explicit ExponentialSchedule(const Exponential& options)
      : first_(not_negative(options.first)),
        factor_(options.factor >= 1 ? options.factor : 1),
        cap_(not_negative(options.cap)) {}

  Step step(const WaitInput& input, Random&) const override {
    return {.wait = at(input.retry), .first = at(1), .cap = cap_, .previous = input.previous};
  }
  std::string text() const override {
    return growing_text([this](int retry) { return at(retry); }, cap_);
  }

 private:
  Duration at(int retry) const {
    if (retry == 1 || first_ == Duration::zero()) return std::min(first_, cap_);
    const double wait = static_cast<double>(first_.count()) * std::pow(factor_, retry - 1);
    if (!(wait < static_cast<double>(cap_.count()))) return cap_;
    return std::min(cap_, Duration(std::llround(wait)));
  }

  const Duration first_;
  const double factor_;
  const Duration cap_;
};

class CustomSchedule final : public Wait::Schedule {
 public:
  CustomSchedule(std::function<Duration(const WaitInput&)> function, std::string text)
      : function_(std::move(function)), text_(std::move(text)) {}

  Step step(const WaitInput& input, Random&) const override {
    const Duration wait = function_ ? not_negative(function_(input)) : Duration::zero();
    return {.wait = wait, .first = wait, .previous = input.previous};
  }
  std::string text() const override { return text_; }

 private:
  const std::function<Duration(const WaitInput&)> function_;
  const std::string text_;
};

SchedulePointer no_wait_schedule() {
  static const SchedulePointer schedule = std::make_shared<FixedSchedule>(Duration::zero());
  return schedule;
}

}  // namespace

Wait::Wait() : schedule_(no_wait_schedule()) {}

Duration Wait::next(const WaitInput& input, Random& random) const {
  if (input.retry >= 1) return schedule_->step(input, random).wait;
  WaitInput first = input;
  first.retry = 1;
  return schedule_->step(first, random).wait;
}

Duration Wait::or_longer(Duration wait, Duration asked) const noexcept {
  return std::min(std::max(wait, asked), schedule_->ceiling());
}

std::string Wait::text() const {
  return schedule_->text();
}

Wait no_wait() {
  return Wait();
}

Wait fixed(Duration wait) {
  return Wait(std::make_shared<FixedSchedule>(wait));
}

Wait list(std::initializer_list<Duration> waits) {
  return list(std::span<const Duration>(waits.begin(), waits.size()));
}

Wait list(std::span<const Duration> waits) {
  return Wait(std::make_shared<ListSchedule>(waits));
}

Wait linear(Linear options) {
  return Wait(std::make_shared<LinearSchedule>(options)).jittered(options.jitter);
}

Wait exponential(Exponential options) {
  return Wait(std::make_shared<ExponentialSchedule>(options)).jittered(options.jitter);
}

Wait custom(std::function<Duration(const WaitInput&)> function, std::string text) {
  return Wait(std::make_shared<CustomSchedule>(std::move(function), std::move(text)));
}

}  // namespace holdfast::retry
