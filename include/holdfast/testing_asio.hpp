#pragma once

#include <holdfast/retry_asio.hpp>
#include <holdfast/testing.hpp>

namespace holdfast::testing {

// A sleep for retry::co_call that moves a jumping FakeClock and never suspends.
inline boost::asio::awaitable<bool> fake_sleep(SteadyTime until, Clock& clock,
                                               const std::vector<std::stop_token>& stop) {
  for (const auto& token : stop) {
    if (token.stop_requested()) co_return false;
  }
  co_return clock.sleep_until(until, {});
}

}  // namespace holdfast::testing
