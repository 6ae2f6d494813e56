#pragma once

#include <cstddef>
#include <set>

#include "ports/broker.hpp"

namespace holdfast::brokers::rabbitmq {

// The addresses whose messages reach a queue, as far as is known: one has been confirmed and not
// returned. A message to such an address needs no number of its own.
class ProvenRoutes {
 public:
  [[nodiscard]] bool is_proven(const ports::Address& to) const { return proven_.contains(to); }

  // A message to it was confirmed, and not returned.
  void prove(const ports::Address& to);
  // A message to it was returned although it was proven: it is never proven again, since what
  // decides there may be more than the address (an exchange that looks at headers).
  void distrust(const ports::Address& to);
  // What was proven may not hold any more.
  void forget_proven() { proven_.clear(); }

  static constexpr std::size_t kMost = 1024;  // of either set

 private:
  std::set<ports::Address> proven_;
  std::set<ports::Address> distrusted_;
};

}  // namespace holdfast::brokers::rabbitmq
