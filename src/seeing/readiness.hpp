#pragma once

#include <optional>
#include <string>
#include <vector>

#include <holdfast/time.hpp>

#include "seeing/broker_states.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::seeing {

// A broker that cannot be used, for people: since when and why, what waits for it, and what works
// all the same.
struct BrokerProblem {
  std::string place = {};
  WallTime since{};
  std::string text = {};
};

// Nothing: it can be used, or nobody has tried yet.
[[nodiscard]] std::optional<BrokerProblem> problem_of(const BrokerSeen& broker);

struct Readiness {
  // Tasks are accepted, and kept until they are done: those of some queue at least.
  bool accepts = true;
  std::vector<BrokerProblem> problems = {};
};

// {"status":"degraded","problems":[…]}, or "ready" without any.
void write(wire::JsonWriter& writer, const Readiness& readiness);

// `has_own_queues`: there are queues that no broker carries.
[[nodiscard]] Readiness readiness_of(const BrokerStates& brokers, bool has_own_queues);

}  // namespace holdfast::seeing
