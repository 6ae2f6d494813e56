#pragma once

#include "stores/redis/connection.hpp"

namespace holdfast::stores::redis {

// Where the master is, as one sentinel says. It is given little time: there are others.
[[nodiscard]] OrTrouble<Address::Host> ask_sentinel(const Address::Host& sentinel,
                                                    const SessionOptions& options,
                                                    const StopSignal& stop, const Clock& clock);

}  // namespace holdfast::stores::redis
