#pragma once

#include <holdfast/retry_asio.hpp>
#include <holdfast/testing.hpp>

namespace holdfast::testing {

// A sleep for retry::co_call that moves a jumping FakeClock and never suspends.
inline boost::asio::awaitable<bool> fake_sleep(SteadyTime until, Clock& clock,
                                               const std::vector<std::stop_token>& stop) {
  co_return clock.sleep_until(until, stop.empty() ? std::stop_token() : stop.front());
}

}  // namespace holdfast::testing
