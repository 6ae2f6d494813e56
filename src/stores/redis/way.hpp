#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "stores/redis/connection.hpp"
#include "stores/redis/sentinel.hpp"

namespace holdfast::stores::redis {

// Where the server is that has the tasks: as the address says, as sentinels say, or where a node of
// a cluster has sent us. Threads: one.
class Way {
 public:
  // All must outlive it.
  Way(const SessionOptions& options, const StopSignal& stop, const Clock& clock);

  // A connection that has been greeted.
  [[nodiscard]] OrTrouble<std::unique_ptr<Connection>> connect();
  // The same, to the node of a cluster that has this key; where there is no cluster, as above.
  [[nodiscard]] OrTrouble<std::unique_ptr<Connection>> connect_to_owner_of(std::string_view key);

  // Whether the sentinels have made another the master than this one. Costs next to nothing, and
  // may be asked all the time.
  [[nodiscard]] bool leads_elsewhere(const Address::Host& master);

  // From now on there, until that fails: "host:port", or ":port" of the one who says so. False: it
  // is neither.
  [[nodiscard]] bool follow(std::string_view place, const Address::Host& said_by);

 private:
  [[nodiscard]] OrTrouble<std::unique_ptr<Connection>> connect_to(const Address::Host& host);
  [[nodiscard]] OrTrouble<std::unique_ptr<Connection>> connect_to_master();
  [[nodiscard]] OrTrouble<Address::Host> ask_sentinels();

  const SessionOptions& options_;
  const StopSignal& stop_;
  const Clock& clock_;
  std::vector<Address::Host> sentinels_;  // the one that knew it last is the first
  std::optional<Address::Host> detour_;
  SwitchWatch watch_;
  SteadyTime look_at_{};   // what the watch has heard
  SteadyTime watch_at_{};  // another sentinel, should the watch be lost
};

// "host:port", where the host may be an IPv6 address without brackets.
[[nodiscard]] std::optional<Address::Host> host_of_place(std::string_view place);

}  // namespace holdfast::stores::redis
