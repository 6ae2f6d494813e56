#pragma once

#include <functional>
#include <vector>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "config/config.hpp"
#include "engine/carriage.hpp"
#include "ports/loop.hpp"
#include "server/broker_monitor.hpp"

namespace holdfast::server {

// How the queues are carried that a broker carries. Queues at the same broker share its
// connections. `on_gave_up`: a broker could not be connected to, as often as it was to be tried
// (R8). `monitor`, if there is one, has all of them seen. On the loop.
[[nodiscard]] Result<std::vector<engine::Carriage>> carriages_of(
    const config::Config& config, ports::Loop& loop, const Logger& log,
    const std::function<void(const Error&)>& on_gave_up, BrokerMonitor* monitor = nullptr);

// A queue at a broker, with everything else as it is by default: for benchmarks. On the loop.
[[nodiscard]] Result<engine::Carriage> carriage_at(const std::string& url, const std::string& queue,
                                                   ports::Loop& loop);

}  // namespace holdfast::server
