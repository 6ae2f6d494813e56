#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <holdfast/retry/wait.hpp>

#include "core/units.hpp"

namespace holdfast::retry {

// One wait, with what a jitter or a cap around it must know.
struct Step {
  Duration wait{};
  Duration first{};                // where decorrelated jitter starts
  Duration cap = Duration::max();  // holds after jitter
  Duration previous{};             // the wait before this one; zero at the beginning of a part
  bool asked_by_error = false;     // then it is not jittered
};

class Wait::Schedule {
 public:
  static constexpr int kForEver = std::numeric_limits<int>::max();

  virtual ~Schedule() = default;
  virtual Step step(const WaitInput& input, Random& random) const = 0;
  virtual std::string text() const = 0;
  // How many retries it has waits for before `then` takes over.
  virtual int covers() const { return kForEver; }
  // Whether text() needs brackets when something is said of the whole.
  virtual bool is_compound() const { return false; }
};

namespace {

using SchedulePointer = std::shared_ptr<const Wait::Schedule>;

Duration not_negative(Duration wait) {
  return std::max(wait, Duration::zero());
}

Duration scaled(Duration whole, double unit) {
  const auto part = static_cast<Duration::rep>(static_cast<double>(whole.count()) * unit);
  return std::min(whole, Duration(part));
}

Duration saturating_triple(Duration wait) {
  return wait > Duration::max() / 3 ? Duration::max() : 3 * wait;
}

std::string bracketed(const Wait::Schedule& schedule) {
  return schedule.is_compound() ? "(" + schedule.text() + ")" : schedule.text();
}

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

class TimesSchedule final : public Wait::Schedule {
 public:
  TimesSchedule(SchedulePointer wait, int count) : wait_(std::move(wait)), count_(count) {}

  Step step(const WaitInput& input, Random& random) const override {
    return wait_->step(input, random);
  }
  std::string text() const override {
    return bracketed(*wait_) +
           (count_ == 1 ? " (once)" : " (" + std::to_string(count_) + " times)");
  }
  int covers() const override { return count_; }

 private:
  const SchedulePointer wait_;
  const int count_;
};

class ChainSchedule final : public Wait::Schedule {
 public:
  ChainSchedule(SchedulePointer head, SchedulePointer rest)
      : head_(std::move(head)), rest_(std::move(rest)), head_covers_(head_->covers()) {}

  Step step(const WaitInput& input, Random& random) const override {
    if (input.retry <= head_covers_) return head_->step(input, random);
    WaitInput relative = input;
    relative.retry = input.retry - head_covers_;
    if (relative.retry == 1) relative.previous = Duration::zero();
    return rest_->step(relative, random);
  }
  std::string text() const override { return head_->text() + ", then " + rest_->text(); }
  int covers() const override {
    const int rest = rest_->covers();
    return rest > kForEver - head_covers_ ? kForEver : head_covers_ + rest;
  }
  bool is_compound() const override { return true; }

 private:
  const SchedulePointer head_;
  const SchedulePointer rest_;
  const int head_covers_;
};

class JitteredSchedule final : public Wait::Schedule {
 public:
  JitteredSchedule(SchedulePointer wait, Jitter jitter) : wait_(std::move(wait)), jitter_(jitter) {}

  Step step(const WaitInput& input, Random& random) const override {
    Step step = wait_->step(input, random);
    if (!step.asked_by_error) step.wait = std::min(step.cap, spread(step, random.unit()));
    return step;
  }
  std::string text() const override { return bracketed(*wait_) + ", " + word() + " jitter"; }
  int covers() const override { return wait_->covers(); }

 private:
  Duration spread(const Step& step, double unit) const {
    switch (jitter_) {
      case Jitter::none:
        return step.wait;
      case Jitter::full:
        return scaled(step.wait, unit);
      case Jitter::equal: {
        const Duration half = step.wait / 2;
        return half + scaled(step.wait - half, unit);
      }
      case Jitter::decorrelated: {
        const Duration before = step.previous > Duration::zero() ? step.previous : step.first;
        const Duration most = std::max(step.first, saturating_triple(before));
        return step.first + scaled(most - step.first, unit);
      }
    }
    return step.wait;
  }

  std::string word() const {
    switch (jitter_) {
      case Jitter::none:
        return "no";
      case Jitter::full:
        return "full";
      case Jitter::equal:
        return "equal";
      case Jitter::decorrelated:
        return "decorrelated";
    }
    return "no";
  }

  const SchedulePointer wait_;
  const Jitter jitter_;
};

class CappedSchedule final : public Wait::Schedule {
 public:
  CappedSchedule(SchedulePointer wait, Duration cap)
      : wait_(std::move(wait)), cap_(not_negative(cap)) {}

  Step step(const WaitInput& input, Random& random) const override {
    Step step = wait_->step(input, random);
    step.wait = std::min(step.wait, cap_);
    step.first = std::min(step.first, cap_);
    step.cap = std::min(step.cap, cap_);
    return step;
  }
  std::string text() const override {
    return bracketed(*wait_) + ", at most " + format_duration(cap_);
  }
  int covers() const override { return wait_->covers(); }

 private:
  const SchedulePointer wait_;
  const Duration cap_;
};

class SumSchedule final : public Wait::Schedule {
 public:
  SumSchedule(SchedulePointer a, SchedulePointer b) : a_(std::move(a)), b_(std::move(b)) {}

  Step step(const WaitInput& input, Random& random) const override {
    const Step a = a_->step(input, random);
    const Step b = b_->step(input, random);
    return {.wait = saturating_add(a.wait, b.wait),
            .first = saturating_add(a.first, b.first),
            .cap = saturating_add(a.cap, b.cap),
            .previous = input.previous,
            .asked_by_error = a.asked_by_error || b.asked_by_error};
  }
  std::string text() const override { return bracketed(*a_) + " plus " + bracketed(*b_); }
  int covers() const override {
    if (a_->covers() == kForEver) return b_->covers();
    if (b_->covers() == kForEver) return a_->covers();
    return std::max(a_->covers(), b_->covers());
  }
  bool is_compound() const override { return true; }

 private:
  const SchedulePointer a_;
  const SchedulePointer b_;
};

class FromErrorSchedule final : public Wait::Schedule {
 public:
  explicit FromErrorSchedule(SchedulePointer otherwise) : otherwise_(std::move(otherwise)) {}

  Step step(const WaitInput& input, Random& random) const override {
    if (!input.failure || !input.failure->retry_after) return otherwise_->step(input, random);
    const Duration asked = not_negative(*input.failure->retry_after);
    return {.wait = asked, .first = asked, .previous = input.previous, .asked_by_error = true};
  }
  std::string text() const override {
    return "what the error asks for, else " + otherwise_->text();
  }
  int covers() const override { return otherwise_->covers(); }
  bool is_compound() const override { return true; }

 private:
  const SchedulePointer otherwise_;
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

std::string Wait::text() const {
  return schedule_->text();
}

Wait Wait::times(int count) const {
  return Wait(std::make_shared<TimesSchedule>(schedule_, std::max(count, 0)));
}

Wait Wait::then(Wait rest) const {
  if (schedule_->covers() == Schedule::kForEver) return *this;
  return Wait(std::make_shared<ChainSchedule>(schedule_, std::move(rest.schedule_)));
}

Wait Wait::jittered(Jitter jitter) const {
  if (jitter == Jitter::none) return *this;
  return Wait(std::make_shared<JitteredSchedule>(schedule_, jitter));
}

Wait Wait::capped(Duration cap) const {
  return Wait(std::make_shared<CappedSchedule>(schedule_, cap));
}

Wait operator+(const Wait& a, const Wait& b) {
  return Wait(std::make_shared<SumSchedule>(a.schedule_, b.schedule_));
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

Wait from_error(Wait otherwise) {
  return Wait(std::make_shared<FromErrorSchedule>(otherwise.schedule_));
}

Wait custom(std::function<Duration(const WaitInput&)> function, std::string text) {
  return Wait(std::make_shared<CustomSchedule>(std::move(function), std::move(text)));
}

}  // namespace holdfast::retry
