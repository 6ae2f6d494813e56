#pragma once

#include "config/config.hpp"
#include "config/reading.hpp"

namespace holdfast::config {

// What is wrong between keys, and what one key gives to another: a queue for each task, the host
// of a webhook as its dependency, the folder of the file for the store's default.
void complete(Reading& reading, Config& config);

}  // namespace holdfast::config
