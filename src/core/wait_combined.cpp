// Waits that are made of other waits.
#include <algorithm>

#include <holdfast/retry/wait.hpp>

#include "core/units.hpp"
#include "core/wait_schedule.hpp"

namespace holdfast::retry {
namespace {

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
      case Jitter::none: return step.wait;
      case Jitter::full: return scaled(step.wait, unit);
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
      case Jitter::none: return "no";
      case Jitter::full: return "full";
      case Jitter::equal: return "equal";
      case Jitter::decorrelated: return "decorrelated";
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
  Duration ceiling() const noexcept override { return cap_; }

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

}  // namespace

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

Wait from_error(const Wait& otherwise) {
  return Wait(std::make_shared<FromErrorSchedule>(otherwise.schedule_));
}

}  // namespace holdfast::retry
