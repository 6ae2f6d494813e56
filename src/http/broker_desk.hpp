#pragma once

#include <functional>
#include <string>

#include <holdfast/result.hpp>

#include "wire/broker_json.hpp"

namespace holdfast::http {

// Whom the routes ask about brokers. Threads: the loop's; answers come there, each once, and not
// later than a few seconds after they were asked for.
class BrokerDesk {
 public:
  virtual ~BrokerDesk() = default;

  virtual void brokers(std::move_only_function<void(wire::BrokerList)> then) = 0;
  // One with its queues. not_found: there is none of that name.
  virtual void broker(std::string name,
                      std::move_only_function<void(Result<wire::BrokerInfo>)> then) = 0;
};

}  // namespace holdfast::http
