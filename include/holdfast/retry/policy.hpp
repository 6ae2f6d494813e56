#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/breaker.hpp>
#include <holdfast/budget.hpp>
#include <holdfast/classify.hpp>
#include <holdfast/log.hpp>
#include <holdfast/retry/observed.hpp>
#include <holdfast/retry/stop.hpp>
#include <holdfast/retry/wait.hpp>

namespace holdfast::retry {

class History;

// What a function that is being retried is told, if it takes a `const Attempt&`.
struct Attempt {
  int number = 1;
  // After this no further attempt begins: a good time limit for what the attempt itself does.
  std::optional<SteadyTime> deadline = {};
};

// What hooks are told. Owns nothing.
struct BeforeSleep {
  std::string_view operation;
  int attempt = 1;  // the one that failed
  const FailureView& failure;
  Duration wait{};
};
struct Recovered {
  std::string_view operation;
  int attempts = 1;
  Duration waited{};
};
struct GaveUp {
  std::string_view operation;
  int attempts = 1;
  const FailureView& failure;
  GiveUp reason = GiveUp::attempts;
  Duration waited{};
};

// What to do with a call that an open breaker refuses before its first attempt. (Between attempts
// the call ends with the error of its last attempt.)
enum class WhenOpen : std::uint8_t {
  fail,  // BreakerOpen is thrown; or, if the function returns std::expected<T, E> and an E can be
         // made from holdfast::Error, that is returned
  wait,  // it waits for the next probe, as long as `stop` allows; no attempt is spent
};

namespace detail {

// A condition's answer: retry it, give up, or nothing to say about an error like this.
using Condition = std::function<std::optional<bool>(const Observed&, const FailureView&)>;
using Describe = std::function<std::optional<Failure>(const Observed&)>;

struct Settings {
  Settings(Clock& clock, Random& random);

  std::string name = "call";
  Stop stop;
  Wait wait;
  std::vector<Condition> conditions;
  std::vector<Describe> describes;
  std::vector<Describe> named_describes;   // by to_failure of types that conditions name
  bool only_what_conditions_name = false;  // a retry_on or retry_if was given: the rest gives up
  bool looks_at_results = false;
  std::optional<Classifier> classifier;
  std::shared_ptr<RetryBudget> budget;
  std::shared_ptr<Breaker> breaker;
  WhenOpen when_open = WhenOpen::fail;
  std::function<void(const Attempt&)> before_attempt;
  std::function<void(const BeforeSleep&)> before_sleep;
  std::function<void(const Recovered&)> on_recovered;
  std::function<void(const GaveUp&)> on_give_up;
  Logger log;
  Level give_up_level = Level::error;
  Clock* clock;
  Random* random;

  // Derived, so that a call that succeeds at once looks at as little as it can.
  bool timed = false;  // must know when it began
  bool gated = false;  // a breaker or a hook comes before each attempt
};

}  // namespace detail

// When, how often and how patiently to try again: one immutable value for functions that throw,
// functions that return std::expected, functions that return plain values, and Asio coroutines
// (<holdfast/retry_asio.hpp>). Each member that sets something returns a changed copy, so a policy
// can be kept as a constant and varied where it is used.
//
// Unless told otherwise: 4 attempts, waits of 1 s, 2 s, 4 s with full jitter, at most 5 min, and
// every failure is retried. What the last attempt ended with comes back untouched.
//
// Threads: a policy may be used by any number of threads at once. Hooks are called by the thread
// that calls; an exception that a hook throws ends the call.
class Policy {
 public:
  Policy() : Policy(system_clock(), system_random()) {}
  // For tests: time and chance from elsewhere. Both must outlive the policy and its copies.
  Policy(Clock& clock, Random& random)
      : settings_(std::make_shared<detail::Settings>(clock, random)) {}

  // What is being done, for logs and hooks: "publish".
  [[nodiscard]] Policy named(std::string name) const;

  [[nodiscard]] Policy stop(Stop stop) const;
  [[nodiscard]] Policy wait(Wait wait) const;

  // Retry when. Conditions are asked in the order in which they were added; the first that has
  // something to say decides, then the classifier. What nobody names is given up if there is any
  // retry_on or retry_if, and retried if there is none.

  // Exceptions of these types (or derived), or std::expected errors of exactly these types.
  template <class... Errors>
  [[nodiscard]] Policy retry_on() const {
    return add_types<Errors...>(true);
  }
  template <class... Errors>
  [[nodiscard]] Policy give_up_on() const {
    return add_types<Errors...>(false);
  }

  // `predicate(const E&) → bool` for exceptions or errors of type E, where true means retry.
  // `predicate(const FailureView&)` is asked about every error, in Holdfast's description of it. A
  // lambda names the type of its parameter: one that takes `auto` does not say what it asks about.
  template <class Predicate>
  [[nodiscard]] Policy retry_if(Predicate predicate) const;

  // `predicate(const T&) → bool` for results of type T, where true means that the result is not
  // wanted and the call is retried. The last such result comes back if it never gets better. Of a
  // std::expected<T, E> it is asked about the T.
  template <class Predicate>
  [[nodiscard]] Policy retry_if_result(Predicate predicate) const;

  // retry → retried · throttle → retried after its wait, free of the budget, though it counts as
  // one of the attempts of `stop` · give up, ambiguous, success → not retried. Each classification
  // is logged to log_to.
  [[nodiscard]] Policy classify_with(Classifier classifier) const;

  // How errors of type E are described to hooks, logs and the classifier:
  // `describe(const E&) → Failure`. For types of your own, to_failure (failure.hpp) does the same,
  // if E is the type of an error value or a type that a condition above names.
  template <class Function>
  [[nodiscard]] Policy describe(Function function) const;

  // Shared with other policies that call the same dependency.
  [[nodiscard]] Policy budget(std::shared_ptr<RetryBudget> budget) const;
  // Failures that are retried count against it. What is given up or throttled says nothing about
  // it: who refuses or asks for time is well enough to answer.
  [[nodiscard]] Policy breaker(std::shared_ptr<Breaker> breaker,
                               WhenOpen when_open = WhenOpen::fail) const;

  [[nodiscard]] Policy before_attempt(std::function<void(const Attempt&)> hook) const;
  [[nodiscard]] Policy before_sleep(std::function<void(const BeforeSleep&)> hook) const;
  [[nodiscard]] Policy on_recovered(std::function<void(const Recovered&)> hook) const;
  [[nodiscard]] Policy on_give_up(std::function<void(const GaveUp&)> hook) const;

  // One record for each retry (warning), for success after retries (info), and for giving up.
  [[nodiscard]] Policy log_to(Logger log, Level give_up = Level::error) const;

  // Calls `function` until it succeeds or the policy gives up; returns what it returned, or throws
  // what it threw. `function` may take a `const Attempt&`.
  template <class Function>
  decltype(auto) call(Function&& function) const {
    return run(function, nullptr);
  }
  template <class Function>
  decltype(auto) call(Function&& function, History& history) const {
    return run(function, &history);
  }

  [[nodiscard]] const std::string& name() const noexcept { return settings_->name; }
  [[nodiscard]] const Wait& waits() const noexcept { return settings_->wait; }

 private:
  friend class Run;

  using Change = std::function<void(detail::Settings&)>;
  [[nodiscard]] Policy changed(const Change& change) const;

  template <class... Errors>
  [[nodiscard]] Policy add_types(bool retry) const;

  template <class Function>
  decltype(auto) run(Function& function, History* history) const;

  std::shared_ptr<const detail::Settings> settings_;
};

namespace detail {

template <class E, class Function>
Describe describe_with(Function function) {
  return [function = std::move(function)](const Observed& observed) {
    std::optional<Failure> failure;
    observed.visit_error<E>([&](const E& error) { failure = function(error); });
    return failure;
  };
}

// An exception is thrown without its type. Where a condition names the type, its own to_failure can
// be found.
template <class E>
void describe_named(Settings& settings) {
  if constexpr (std::is_class_v<E> && !std::is_same_v<E, FailureView> && requires(const E& error) {
                  { to_failure(error) } -> std::convertible_to<Failure>;
                }) {
    settings.named_describes.push_back(
        describe_with<E>([](const E& error) { return to_failure(error); }));
  }
}

}  // namespace detail

template <class... Errors>
Policy Policy::add_types(bool retry) const {
  return changed([retry](detail::Settings& settings) {
    (detail::describe_named<Errors>(settings), ...);
    if (retry) settings.only_what_conditions_name = true;
    settings.conditions.push_back(
        [retry](const Observed& observed, const FailureView&) -> std::optional<bool> {
          const bool named = (observed.visit_error<Errors>([](const Errors&) {}) || ...);
          return named ? std::optional(retry) : std::nullopt;
        });
  });
}

template <class Predicate>
Policy Policy::retry_if(Predicate predicate) const {
  using E = typename detail::Parameter<Predicate>::type;
  return changed([&](detail::Settings& settings) {
    detail::describe_named<E>(settings);
    settings.only_what_conditions_name = true;
    settings.conditions.push_back(
        [predicate = std::move(predicate)](const Observed& observed,
                                           const FailureView& failure) -> std::optional<bool> {
          std::optional<bool> answer;
          if (observed.is_result()) return answer;
          if constexpr (std::is_same_v<E, FailureView>) {
            answer = predicate(failure);
          } else {
            observed.visit_error<E>([&](const E& error) { answer = predicate(error); });
          }
          return answer;
        });
  });
}

template <class Predicate>
Policy Policy::retry_if_result(Predicate predicate) const {
  using T = typename detail::Parameter<Predicate>::type;
  return changed([&](detail::Settings& settings) {
    settings.looks_at_results = true;
    settings.conditions.push_back(
        [predicate = std::move(predicate)](const Observed& observed,
                                           const FailureView&) -> std::optional<bool> {
          const T* result = observed.as_result<T>();
          return result && predicate(*result) ? std::optional(true) : std::nullopt;
        });
  });
}

template <class Function>
Policy Policy::describe(Function function) const {
  using E = typename detail::Parameter<Function>::type;
  return changed([&](detail::Settings& settings) {
    settings.describes.push_back(detail::describe_with<E>(std::move(function)));
  });
}

}  // namespace holdfast::retry
