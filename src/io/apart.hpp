#pragma once

#include <functional>
#include <vector>

#include <holdfast/result.hpp>

#include "io/held_signals.hpp"

namespace holdfast::io {

// Runs `work` in a process of its own, which ends with it, and gives back the numbers that it
// returned: for measurements that must not see what others have left in memory. To be called
// before this process has started a thread. One that dies says so as an error. When a signal comes
// that is held, the work is ended, and the answer is canceled.
[[nodiscard]] Result<std::vector<double>> run_apart(
    const std::function<Result<std::vector<double>>()>& work, const HeldSignals* held = nullptr);

}  // namespace holdfast::io
