#pragma once

#include "config/config.hpp"
#include "config/reading.hpp"

namespace holdfast::config {

// What is wrong with routes between their keys, with others and with the tasks; and what is not
// given because their method says it.
void complete_routes(Reading& reading, Config& config);

}  // namespace holdfast::config
