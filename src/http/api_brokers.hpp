#pragma once

#include "http/broker_desk.hpp"
#include "http/gate.hpp"

namespace holdfast::http {

// The routes of brokers and their dead-letter queues. Threads: the loop's.
class BrokersApi {
 public:
  // The desk must outlive it.
  explicit BrokersApi(BrokerDesk& desk) : desk_(desk) {}

  void add_to(Routes& routes);

 private:
  BrokerDesk& desk_;
};

}  // namespace holdfast::http
