#include "brokers/rabbitmq/patience.hpp"

#include <algorithm>

namespace holdfast::brokers::rabbitmq {

retry::Policy Patience::policy(const Options& options, const std::string& what, Clock& clock,
                               const Logger& log) {
  const int most = std::max(options.connect_attempts, 1);
  const std::string broker = options.at.text();
  return retry::Policy(clock, system_random())
      .named(what)
      .stop(retry::attempts(most))
      .wait(retry::fixed(options.connect_wait))
      .before_sleep([log, broker, most](const retry::BeforeSleep& failed) {
        log.log(Level::warning, "broker.retry", "The broker cannot be used; trying again.",
                {{"broker", broker},
                 {"operation", failed.operation},
                 {"attempt", failed.attempt},
                 {"attempts", most},
                 {"wait", failed.wait},
                 {"error", failed.failure.message}});
      })
      .on_recovered([log, broker](const retry::Recovered& done) {
        log.log(Level::info, "broker.recovered", "The broker can be used again.",
                {{"broker", broker},
                 {"operation", done.operation},
                 {"attempts", done.attempts},
                 {"waited", done.waited}});
      })
      .on_give_up([log, broker](const retry::GaveUp& given) {
        log.log(Level::critical, "broker.gave_up", "The broker could not be used; giving up.",
                {{"broker", broker},
                 {"operation", given.operation},
                 {"attempts", given.attempts},
                 {"error", given.failure.message}});
      });
}

void Patience::attempt() {
  if (!run_) {
    run_.emplace(policy_, nullptr, false);
    (void)run_->begin();
  } else if (waited_) {
    (void)run_->woke(true);
  }
  waited_ = false;
}

void Patience::succeeded() {
  if (run_) run_->succeeded();
  run_.reset();
}

std::optional<SteadyTime> Patience::failed(const Error& why) {
  if (!run_) attempt();
  auto until = run_->failed(retry::Observed::error(why));
  waited_ = until.has_value();
  if (!until) run_.reset();
  return until;
}

}  // namespace holdfast::brokers::rabbitmq
