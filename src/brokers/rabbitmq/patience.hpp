#pragma once

#include <optional>
#include <string>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/retry.hpp>

#include "brokers/rabbitmq/rabbitmq.hpp"

namespace holdfast::brokers::rabbitmq {

// How something is done again after it was lost (R8, R10): at once, then after every wait, as often
// as may be. Each attempt that failed is one record; so is success after them, and giving up.
class Patience {
 public:
  // `what`: "connect", "consume jobs".
  [[nodiscard]] static retry::Policy policy(const Options& options, const std::string& what,
                                            Clock& clock, const Logger& log);

  explicit Patience(retry::Policy policy) : policy_(std::move(policy)) {}

  [[nodiscard]] bool is_trying() const noexcept { return run_.has_value(); }
  // The next attempt: the first, or one more.
  void attempt();
  void succeeded();
  // When to try again; nothing: it gave up.
  [[nodiscard]] std::optional<SteadyTime> failed(const Error& why);

 private:
  retry::Policy policy_;
  std::optional<retry::Run> run_;
  bool waited_ = false;
};

}  // namespace holdfast::brokers::rabbitmq
