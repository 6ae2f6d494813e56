#include <holdfast/retry/policy.hpp>

namespace holdfast::retry {

detail::Settings::Settings(Clock& the_clock, Random& the_random)
    : stop(attempts(4)),
      wait(exponential({.jitter = Jitter::full})),
      clock(&the_clock),
      random(&the_random) {}

Policy Policy::changed(const Change& change) const {
  auto settings = std::make_shared<detail::Settings>(*settings_);
  change(*settings);
  settings->timed = settings->stop.timed();
  settings->gated = settings->breaker || settings->before_attempt;
  Policy copy = *this;
  copy.settings_ = std::move(settings);
  return copy;
}

Policy Policy::named(std::string name) const {
  return changed([&](auto& settings) { settings.name = std::move(name); });
}

Policy Policy::stop(Stop stop) const {
  return changed([&](auto& settings) { settings.stop = std::move(stop); });
}

Policy Policy::wait(Wait wait) const {
  return changed([&](auto& settings) { settings.wait = std::move(wait); });
}

Policy Policy::classify_with(Classifier classifier) const {
  return changed([&](auto& settings) { settings.classifier = std::move(classifier); });
}

Policy Policy::budget(std::shared_ptr<RetryBudget> budget) const {
  return changed([&](auto& settings) { settings.budget = std::move(budget); });
}

Policy Policy::breaker(std::shared_ptr<Breaker> breaker, WhenOpen when_open) const {
  return changed([&](auto& settings) {
    settings.breaker = std::move(breaker);
    settings.when_open = when_open;
  });
}

Policy Policy::before_attempt(std::function<void(const Attempt&)> hook) const {
  return changed([&](auto& settings) { settings.before_attempt = std::move(hook); });
}

Policy Policy::before_sleep(std::function<void(const BeforeSleep&)> hook) const {
  return changed([&](auto& settings) { settings.before_sleep = std::move(hook); });
}

Policy Policy::on_recovered(std::function<void(const Recovered&)> hook) const {
  return changed([&](auto& settings) { settings.on_recovered = std::move(hook); });
}

Policy Policy::on_give_up(std::function<void(const GaveUp&)> hook) const {
  return changed([&](auto& settings) { settings.on_give_up = std::move(hook); });
}

Policy Policy::log_to(Logger log, Level give_up) const {
  return changed([&](auto& settings) {
    settings.log = log;
    settings.give_up_level = give_up;
  });
}

}  // namespace holdfast::retry
