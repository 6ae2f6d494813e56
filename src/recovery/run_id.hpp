#pragma once

#include <string>

#include <holdfast/clock.hpp>
#include <holdfast/time.hpp>

namespace holdfast::recovery {

// "20261116T031245Z-9f3a1c2b": when, and which of those that began then. It stands on every copy,
// so it is short.
[[nodiscard]] std::string run_id(WallTime now, Random& random);

}  // namespace holdfast::recovery
