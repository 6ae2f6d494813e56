#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "config/config.hpp"
#include "engine/carriage.hpp"
#include "ports/loop.hpp"
#include "seeing/broker_states.hpp"
#include "server/broker_choice.hpp"

namespace holdfast::server {

// Has the brokers that the server uses be seen: how their connections fare, and, looked at now and
// then, how much waits in the dead-letter queues that the server knows.
//
// Threads: the loop's. The loop and the states must outlive it.
class BrokerMonitor {
 public:
  // How often queues are counted. SQS wants to be paid for each question.
  static constexpr Duration kEvery = std::chrono::seconds(5);
  static constexpr Duration kEveryAtSqs = std::chrono::seconds(30);

  BrokerMonitor(ports::Loop& loop, seeing::BrokerStates& states, Logger log);
  ~BrokerMonitor();
  BrokerMonitor(const BrokerMonitor&) = delete;
  BrokerMonitor& operator=(const BrokerMonitor&) = delete;

  // For a broker at that place, to be given to it.
  [[nodiscard]] std::shared_ptr<seeing::BrokerState> observe(const BrokerPlace& place);
  // A queue that this broker carries. Its dead letters are counted by the same broker, for as long
  // as somebody else has it.
  void add(const engine::Carriage& carriage, const std::shared_ptr<seeing::BrokerState>& state);
  // The dead-letter queues of these recoveries, in place of those before: counted by connections of
  // their own. Fails, and changes nothing, for a URL that is none.
  [[nodiscard]] Result<void> set(const std::map<std::string, config::Recover>& recoveries);

 private:
  struct Queue {
    std::string place;
    std::string name;
    std::weak_ptr<ports::Broker> broker;
    bool is_asked = false;
    // One that is not there is asked about ever more rarely: brokers log each time.
    int looks_passed_over = 0;
    int looks_to_pass_over = 0;
  };
  // A broker that is there for recoveries alone.
  struct Opened {
    std::shared_ptr<ports::Broker> broker;
    std::shared_ptr<seeing::BrokerState> state;
    // A broker that tells of its alarms only to those that publish is sent, now and then, what goes
    // to no queue. Not so: it has no alarms, or does not let us.
    bool tries_publishing = false;
    bool is_tried = false;
  };
  // URL without the queue, authority, endpoint.
  using Key = std::tuple<std::string, std::string, std::string>;

  [[nodiscard]] Result<std::shared_ptr<Opened>> open(const BrokerSettings& settings,
                                                     const BrokerPlace& place);
  void look_later(Duration wait, bool at_sqs);
  void look(bool at_sqs);
  void ask(const std::shared_ptr<Queue>& queue);
  void try_publishing(const std::shared_ptr<Opened>& opened);

  ports::Loop& loop_;
  seeing::BrokerStates& states_;
  const Logger log_;
  std::vector<std::shared_ptr<Queue>> carried_;
  std::vector<std::shared_ptr<Queue>> recovered_;
  std::map<Key, std::shared_ptr<Opened>> opened_;
  std::unique_ptr<ports::Loop::Timer> timer_;
  std::unique_ptr<ports::Loop::Timer> timer_at_sqs_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace holdfast::server
