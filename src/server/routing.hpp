#pragma once

#include <vector>

#include <holdfast/result.hpp>

#include "config/config.hpp"
#include "http/mapped_route.hpp"

namespace holdfast::server {

[[nodiscard]] http::Role role_of(config::Role role);

// The routes that a configuration adds to the API.
[[nodiscard]] Result<std::vector<http::MappedRoute>> routes_of(const config::Config& config);

}  // namespace holdfast::server
