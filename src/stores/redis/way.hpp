#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "stores/redis/connection.hpp"

namespace holdfast::stores::redis {

// Where the server is that has the tasks: as the address says, as sentinels say, or where a node of
// a cluster has sent us. Threads: one.
class Way {
 public:
  // All must outlive it.
  Way(const SessionOptions& options, const StopSignal& stop, const Clock& clock)
      : options_(options), stop_(stop), clock_(clock) {}

  // A connection that has been greeted.
  [[nodiscard]] OrTrouble<std::unique_ptr<Connection>> connect();

  // From now on there, until that fails: "host:port", or ":port" of the one who says so. False: it
  // is neither.
  [[nodiscard]] bool follow(std::string_view place, const Address::Host& said_by);

 private:
  [[nodiscard]] OrTrouble<std::unique_ptr<Connection>> connect_to(const Address::Host& host);

  const SessionOptions& options_;
  const StopSignal& stop_;
  const Clock& clock_;
  std::optional<Address::Host> detour_;
};

}  // namespace holdfast::stores::redis
