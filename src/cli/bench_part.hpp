#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

#include "cli/io.hpp"
#include "io/held_signals.hpp"

namespace holdfast::cli {

// Makes one measurement in a process of its own. Nothing: it could not be made, which is said,
// unless a signal has ended it.
[[nodiscard]] std::optional<std::vector<double>> measure_apart(
    const std::function<Result<std::vector<double>>()>& measure, Io& io,
    const io::HeldSignals& signals);

// What tells the terminal of its progress, from 0 to 1; nothing where there is none.
[[nodiscard]] std::function<void(double)> progress_of(std::string_view name, Io& io);

// That something could not be measured.
void say_bench_failed(Io& io, std::string_view message);

}  // namespace holdfast::cli
