#pragma once

#include <holdfast/clock.hpp>

#include "cli/io.hpp"

namespace holdfast::cli {

// The demonstration itself, with time and chance from outside. Returns an exit code.
[[nodiscard]] int run_demo(Io& io, bool json, Clock& clock, Random& random);

}  // namespace holdfast::cli
