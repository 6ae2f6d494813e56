#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <type_traits>

#include <holdfast/retry/history.hpp>
#include <holdfast/retry/policy.hpp>

namespace holdfast::retry {

namespace detail {

template <class Function>
constexpr bool takes_attempt = std::is_invocable_v<Function&, const Attempt&>;

template <class Function>
decltype(auto) invoke(Function& function, const Attempt& attempt) {
  if constexpr (takes_attempt<Function>) {
    return std::invoke(function, attempt);
  } else {
    return std::invoke(function);
  }
}

template <class Function>
using ResultOf = decltype(invoke(std::declval<Function&>(), std::declval<const Attempt&>()));

}  // namespace detail

// The steps of one call under a policy, without the call and without the sleep: a state machine
// that says what to do next. Policy::call drives it with a blocking sleep,
// <holdfast/retry_asio.hpp> with a timer; with it a policy can be used in any other event loop.
//
//   begin → Go, Sleep or Refuse
//   after an attempt: succeeded(), or failed(what) → Sleep or nothing (it gave up)
//   after a Sleep: woke(slept) → as begin
//
// Threads: belongs to one call. The policy and the history must outlive it.
class Run {
 public:
  struct Next {
    enum class Kind : std::uint8_t { go, sleep, refuse };
    Kind kind = Kind::go;
    SteadyTime until{};  // of a sleep
  };

  // `tells_deadline`: whether anyone will look at attempt().deadline.
  Run(const Policy& policy, History* history, bool tells_deadline = true)
      : settings_(*policy.settings_), history_(history) {
    // On every call, and early is the safe side.
    if (settings_.timed) started_ = settings_.clock->rough_now();
    if (settings_.budget) settings_.budget->earn();
    if (history || (settings_.timed && tells_deadline)) [[unlikely]]
      prepare();
  }

  [[nodiscard]] Next begin() { return settings_.gated ? admit() : Next{}; }

  [[nodiscard]] const Attempt& attempt() const noexcept { return attempt_; }

  void succeeded() {
    permit_.success();
    if (history_ || attempt_.number > 1) [[unlikely]]
      record_success();
  }

  // Nothing: it gave up, and what the attempt ended with is the end of the call.
  [[nodiscard]] std::optional<SteadyTime> failed(const Observed& observed);

  // `slept`: false if the sleep was cut short by a stop token or a cancellation.
  [[nodiscard]] Next woke(bool slept);

  // After a sleep that was cut short: whether it goes on, because a token that was requested is
  // only one part of a condition that needs more than it. That token is then taken out of `tokens`.
  [[nodiscard]] bool sleeps_on(SteadyTime until, std::vector<std::stop_token>& tokens) const;

  // Whether a result is one that the policy wants to keep.
  template <class R>
  [[nodiscard]] bool wants(const R& result) const {
    if constexpr (detail::IsExpected<R>::value) {
      if (!result.has_value()) return false;
      if constexpr (std::is_void_v<typename R::value_type>) {
        return true;
      } else {
        return !settings_.looks_at_results || !unwanted(Observed::result(*result));
      }
    } else {
      return !settings_.looks_at_results || !unwanted(Observed::result(result));
    }
  }

  template <class R>
  [[nodiscard]] static Observed observe(const R& result) {
    if constexpr (!detail::IsExpected<R>::value) {
      return Observed::result(result);
    } else if constexpr (std::is_void_v<typename R::value_type>) {
      return Observed::error(result.error());
    } else {
      return result.has_value() ? Observed::result(*result) : Observed::error(result.error());
    }
  }

  // What the caller of a refused call gets: an E made from an Error, or a thrown BreakerOpen.
  template <class R>
  [[nodiscard]] R refusal() const {
    if constexpr (detail::IsExpected<R>::value) {
      if constexpr (std::is_constructible_v<typename R::error_type, Error>) {
        return R(std::unexpect, refusal_error());
      }
    }
    throw_refusal();
  }

  // Failed, sleep and woke in one, with the policy's clock: true if the next attempt may go ahead.
  [[nodiscard]] bool retry_after(const Observed& observed);
  // Begin and all the sleeps that it asks for.
  [[nodiscard]] bool begin_blocking() { return !settings_.gated || go(admit()); }

  [[nodiscard]] std::vector<std::stop_token> stop_tokens() const { return settings_.stop.tokens(); }
  [[nodiscard]] Clock& clock() const noexcept { return *settings_.clock; }

 private:
  void prepare();
  void record_success();
  [[nodiscard]] Next admit();
  [[nodiscard]] bool go(Next next);
  [[nodiscard]] bool sleep(SteadyTime until) const;
  [[nodiscard]] bool unwanted(const Observed& observed) const;
  [[nodiscard]] Failure describe(const Observed& observed) const;
  [[nodiscard]] Verdict judge(const Observed& observed, const FailureView& failure) const;
  // A sleep that ends before an open breaker's next probe would be for nothing.
  [[nodiscard]] bool breaker_refuses_after(Duration wait) const;
  [[nodiscard]] Next refuse(GiveUp reason);
  // Attempts made: while a breaker refuses it, the one that attempt() tells of is not one of them.
  [[nodiscard]] int made() const noexcept {
    return attempt_.number - (refused_by_breaker_ ? 1 : 0);
  }
  [[nodiscard]] std::optional<GiveUp> stop_reached(SteadyTime next) const;
  void report_to_breaker(VerdictKind verdict);
  [[nodiscard]] static std::optional<GiveUp> never_again(VerdictKind verdict);
  [[nodiscard]] std::optional<GiveUp> not_now(VerdictKind verdict, Duration wait, SteadyTime until);
  [[nodiscard]] Duration next_wait(const Verdict& verdict, const FailureView& failure);
  void remember(const Observed& observed, Duration wait);
  void give_up(GiveUp reason, const FailureView& failure);
  [[nodiscard]] Error refusal_error() const;
  [[noreturn]] void throw_refusal() const;

  const detail::Settings& settings_;
  History* history_;
  bool refused_by_breaker_ = false;
  Attempt attempt_;
  SteadyTime started_{};
  Duration waited_{};
  Duration wait_{};  // what the schedule said last
  std::optional<Failure> last_failure_;
  Breaker::Permit permit_;
};

template <class Function>
decltype(auto) Policy::run(Function& function, History* history) const {
  using R = detail::ResultOf<Function>;
  Run run(*this, history, detail::takes_attempt<Function> || settings_->before_attempt);
  if (!run.begin_blocking()) [[unlikely]]
    return run.refusal<R>();
  for (;;) {
    // An exception of a hook is not a failed attempt.
    bool in_attempt = true;
    try {
      if constexpr (std::is_void_v<R>) {
        detail::invoke(function, run.attempt());
        in_attempt = false;
        run.succeeded();
        return;
      } else {
        // NOLINTNEXTLINE(misc-const-correctness): what is const cannot be moved out
        R result = detail::invoke(function, run.attempt());
        in_attempt = false;
        if (run.wants(result)) [[likely]] {
          run.succeeded();
          return result;
        }
        if (!run.retry_after(Run::observe(result))) return result;
      }
    } catch (...) {
      if (!in_attempt || !run.retry_after(Observed::thrown(std::current_exception()))) throw;
    }
  }
}

}  // namespace holdfast::retry
