#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "config/config.hpp"
#include "http/broker_desk.hpp"
#include "ports/broker.hpp"
#include "ports/loop.hpp"
#include "server/broker_choice.hpp"

namespace holdfast::server {

// The brokers of the configuration and their dead-letter queues, as they were last seen. A broker
// is looked at when somebody asks, and not again for a while; whoever asks waits a few seconds for
// it at most, and is told what was seen before then.
//
// Threads: the loop's, which must outlive it.
class BrokerDesk final : public http::BrokerDesk {
 public:
  using Opener = std::function<Result<std::unique_ptr<ports::Broker>>(
      ports::Loop&, const BrokerSettings&, const Logger&)>;
  BrokerDesk(ports::Loop& loop, Clock& clock, Logger log, Opener opener = open_broker);
  ~BrokerDesk() override;
  BrokerDesk(const BrokerDesk&) = delete;
  BrokerDesk& operator=(const BrokerDesk&) = delete;

  // Whether set() would take it.
  [[nodiscard]] static Result<void> check(const config::Config& config);
  // Has the brokers of this configuration. What was seen of those that are the same is kept. Fails,
  // and changes nothing, where one cannot be used.
  [[nodiscard]] Result<void> set(const config::Config& config);

  void brokers(std::move_only_function<void(wire::BrokerList)> then) override;
  void broker(std::string name,
              std::move_only_function<void(Result<wire::BrokerInfo>)> then) override;

  // How a queue of a broker is reached; its URL names the queue. not_found: there is no such
  // broker, or the queue is none of its dead-letter queues.
  [[nodiscard]] Result<BrokerSettings> reach(const std::string& broker,
                                             const std::string& queue) const;
  // Which recovery runs on a queue, by its id; empty: none.
  void on_recovery(
      std::function<std::string(const std::string& broker, const std::string& queue)> which) {
    recovery_of_ = std::move(which);
  }

 private:
  struct One;
  struct Look;
  struct Waiting;
  using Told = std::move_only_function<void(One&)>;

  void look(One& one, Told told);
  void ask_next(const std::shared_ptr<Look>& look);
  void ended(Look& look);
  void tell(const std::shared_ptr<Waiting>& waiting);
  void note_rates(One& one, const ports::QueueStatus& queue) const;
  [[nodiscard]] wire::BrokerInfo info_of(const One& one) const;

  ports::Loop& loop_;
  Clock& clock_;
  const Logger log_;
  const Opener opener_;
  std::function<std::string(const std::string&, const std::string&)> recovery_of_;
  std::map<std::string, std::shared_ptr<One>> all_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace holdfast::server
