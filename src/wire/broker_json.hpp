#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "wire/json_writer.hpp"

// Brokers and their dead-letter queues, as a server shows them. What the broker does not tell is
// not there.
namespace holdfast::wire {

// Messages per second, over the time between two looks.
struct BrokerQueueRates {
  Duration over{};
  double change = 0;               // of the number of messages; less than 0: it shrinks
  std::optional<double> in = {};   // change and out together
  std::optional<double> out = {};  // acknowledged, as the broker counts it

  bool operator==(const BrokerQueueRates&) const = default;
};

struct BrokerDeadLetter {
  std::string exchange = {};
  std::string routing_key = {};

  bool operator==(const BrokerDeadLetter&) const = default;
};

struct BrokerQueue {
  std::string name = {};
  std::string kind = {};
  std::optional<std::uint64_t> ready = {};
  std::optional<std::uint64_t> unacknowledged = {};
  std::optional<std::uint64_t> consumers = {};
  bool is_approximate = true;
  std::optional<std::uint64_t> delivery_limit = {};
  std::optional<BrokerDeadLetter> dead_letter = {};
  std::optional<BrokerQueueRates> rates = {};
  // What the first message says of when it was published (a property that not everybody sets).
  std::optional<WallTime> oldest_published = {};
  std::string recovery = {};  // the id of the one that runs on it; empty: none

  bool operator==(const BrokerQueue&) const = default;
};

struct BrokerInfo {
  std::string name = {};
  std::string url = {};   // without a password
  std::string kind = {};  // rabbitmq, sqs
  std::vector<std::string> patterns = {};
  std::optional<bool> reachable = {};  // nothing: nobody has looked yet
  std::optional<WallTime> since = {};  // it is so
  std::string error = {};
  std::optional<WallTime> looked = {};  // when the queues were last seen
  std::vector<BrokerQueue> queues = {};

  bool operator==(const BrokerInfo&) const = default;
};

struct BrokerList {
  std::vector<BrokerInfo> brokers = {};

  bool operator==(const BrokerList&) const = default;
};

void write(JsonWriter& writer, const BrokerInfo& broker);
// Without the queues of each, but with how many they are.
void write(JsonWriter& writer, const BrokerList& list);
// Fail with corrupt.
[[nodiscard]] Result<BrokerInfo> read_broker(std::string_view json);
[[nodiscard]] Result<BrokerList> read_brokers(std::string_view json);

}  // namespace holdfast::wire
