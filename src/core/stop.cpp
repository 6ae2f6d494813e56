#include <algorithm>

#include <holdfast/retry/stop.hpp>

namespace holdfast::retry {

struct Stop::Condition {
  enum class Kind : std::uint8_t { attempts, elapsed, deadline, token, any, all };

  Kind kind;
  int attempts = 0;
  Duration elapsed{};
  SteadyTime deadline{};
  std::stop_token token{};
  Stop left{};
  Stop right{};
};

namespace {

Stop make(Stop::Condition condition) {
  return Stop(std::make_shared<const Stop::Condition>(std::move(condition)));
}

}  // namespace

std::string_view to_string(GiveUp reason) noexcept {
  switch (reason) {
    case GiveUp::attempts: return "out of attempts";
    case GiveUp::time: return "out of time";
    case GiveUp::stop_requested: return "stop requested";
    case GiveUp::not_retryable: return "not retryable";
    case GiveUp::ambiguous: return "ambiguous";
    case GiveUp::already_done: return "already done";
    case GiveUp::budget: return "retry budget spent";
    case GiveUp::breaker_open: return "circuit breaker open";
  }
  return "out of attempts";
}

std::optional<GiveUp> Stop::reached(const StopInput& input) const {
  if (!condition_) return std::nullopt;
  const Condition& c = *condition_;
  const auto when = [](bool holds, GiveUp reason) {
    return holds ? std::optional(reason) : std::nullopt;
  };
  switch (c.kind) {
    case Condition::Kind::attempts: return when(input.attempts >= c.attempts, GiveUp::attempts);
    case Condition::Kind::elapsed:
      return when(input.next >= saturating_add(input.started, c.elapsed), GiveUp::time);
    case Condition::Kind::deadline: return when(input.next >= c.deadline, GiveUp::time);
    case Condition::Kind::token: return when(c.token.stop_requested(), GiveUp::stop_requested);
    case Condition::Kind::any: {
      const auto left = c.left.reached(input);
      return left ? left : c.right.reached(input);
    }
    case Condition::Kind::all: {
      const auto left = c.left.reached(input);
      return left && c.right.reached(input) ? left : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<SteadyTime> Stop::deadline(SteadyTime started) const {
  if (!condition_) return std::nullopt;
  const Condition& c = *condition_;
  switch (c.kind) {
    case Condition::Kind::elapsed: return saturating_add(started, c.elapsed);
    case Condition::Kind::deadline: return c.deadline;
    case Condition::Kind::any: {
      const auto left = c.left.deadline(started);
      const auto right = c.right.deadline(started);
      if (left && right) return std::min(*left, *right);
      return left ? left : right;
    }
    case Condition::Kind::all: {
      const auto left = c.left.deadline(started);
      const auto right = c.right.deadline(started);
      if (left && right) return std::max(*left, *right);
      return std::nullopt;
    }
    default: return std::nullopt;
  }
}

bool Stop::timed() const {
  if (!condition_) return false;
  switch (condition_->kind) {
    case Condition::Kind::elapsed:
    case Condition::Kind::deadline: return true;
    case Condition::Kind::any:
    case Condition::Kind::all: return condition_->left.timed() || condition_->right.timed();
    default: return false;
  }
}

std::vector<std::stop_token> Stop::tokens() const {
  if (!condition_) return {};
  if (condition_->kind == Condition::Kind::token) return {condition_->token};
  auto all = condition_->left.tokens();
  const auto more = condition_->right.tokens();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Stop operator|(const Stop& a, const Stop& b) {
  if (!a.condition_) return b;
  if (!b.condition_) return a;
  return make({.kind = Stop::Condition::Kind::any, .left = a, .right = b});
}

Stop operator&(const Stop& a, const Stop& b) {
  if (!a.condition_ || !b.condition_) return never();
  return make({.kind = Stop::Condition::Kind::all, .left = a, .right = b});
}

Stop never() {
  return {};
}

Stop attempts(int most) {
  return make({.kind = Stop::Condition::Kind::attempts, .attempts = std::max(most, 1)});
}

Stop elapsed(Duration most) {
  return make({.kind = Stop::Condition::Kind::elapsed, .elapsed = most});
}

Stop deadline(SteadyTime at) {
  return make({.kind = Stop::Condition::Kind::deadline, .deadline = at});
}

Stop requested(std::stop_token token) {
  return make({.kind = Stop::Condition::Kind::token, .token = std::move(token)});
}

}  // namespace holdfast::retry
