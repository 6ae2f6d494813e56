#include "cli/bench_part.hpp"

#include <ostream>
#include <string>

#include <fmt/format.h>

#include "io/apart.hpp"

namespace holdfast::cli {

std::optional<std::vector<double>> measure_apart(
    const std::function<Result<std::vector<double>>()>& measure, Io& io,
    const io::HeldSignals& signals) {
  auto numbers = io::run_apart(measure, &signals);
  if (io.err_is_terminal) io.err << "\r\x1b[K" << std::flush;
  if (numbers) return *std::move(numbers);
  if (numbers.error().code != ErrorCode::canceled) say_bench_failed(io, numbers.error().message);
  return std::nullopt;
}

std::function<void(double)> progress_of(std::string_view name, Io& io) {
  if (!io.err_is_terminal) return {};
  return [&err = io.err, name = std::string(name)](double part) {
    err << fmt::format("\r{:<12} {:>3.0f} %", name, part * 100) << std::flush;
  };
}

void say_bench_failed(Io& io, std::string_view message) {
  io.err << fmt::format("holdfast bench: {}\n", message);
}

}  // namespace holdfast::cli
