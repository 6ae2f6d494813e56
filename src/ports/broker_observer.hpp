#pragma once

#include <cstdint>

#include <holdfast/result.hpp>

namespace holdfast::ports {

// Which of a broker's connections: they come and go by themselves. Where there is but one way to a
// broker, it is `consume`.
enum class BrokerWay : std::uint8_t { consume, publish };

// Hears how the connections to one broker fare, for metrics and the like. Called on the loop of
// whoever opened the broker, never from within a call to it; none may block, throw, or call it.
class BrokerObserver {
 public:
  virtual ~BrokerObserver() = default;

  virtual void connected(BrokerWay way) noexcept = 0;
  // A connection is lost, or, where `was_up` is not so, an attempt to make one has failed.
  virtual void disconnected(BrokerWay way, const Error& why, bool was_up) noexcept = 0;
  // The broker takes no messages for now, being short of memory or disk; or takes them again.
  virtual void blocked(bool is_blocked) noexcept = 0;
};

}  // namespace holdfast::ports
