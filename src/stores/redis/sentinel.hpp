#pragma once

#include <memory>

#include "stores/redis/connection.hpp"

namespace holdfast::stores::redis {

// Where the master is, as one sentinel says. It is given little time: there are others.
[[nodiscard]] OrTrouble<Address::Host> ask_sentinel(const Address::Host& sentinel,
                                                    const SessionOptions& options,
                                                    const StopSignal& stop, const Clock& clock);

// Hears of it when the sentinels have made another server the master. The old one may not know for
// seconds, and takes until then what nobody will ever see. Threads: one. Waits for a sentinel's
// greeting, and for nothing else.
class SwitchWatch {
 public:
  // All must outlive it.
  SwitchWatch(const SessionOptions& options, const StopSignal& stop, const Clock& clock)
      : options_(options), stop_(stop), clock_(clock) {}

  // From now on at that one; if it cannot be, nowhere.
  void listen_at(const Address::Host& sentinel);
  [[nodiscard]] bool listens() const noexcept { return connection_ != nullptr; }

  // Whether another has become the master since then.
  [[nodiscard]] bool has_switched();

 private:
  [[nodiscard]] OrTrouble<std::unique_ptr<Connection>> subscribe(const Address::Host& sentinel);

  const SessionOptions& options_;
  const StopSignal& stop_;
  const Clock& clock_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace holdfast::stores::redis
