// What it costs to tell which group a failure belongs to (N1), for a typical error and for texts
// made to be slow.
#include <string>

#include <benchmark/benchmark.h>

#include "core/fingerprint.hpp"

namespace holdfast {
namespace {

void typical(benchmark::State& state) {
  const std::string text =
      "Get \"https://api.example.com/v2/orders/8841\": dial tcp 10.4.17.201:443: i/o timeout after "
      "30.2s (request 9f3b7c51-22aa-4a11-9a3c-0f5e7d2c1b90)";
  for (auto _ : state) {
    benchmark::DoNotOptimize(fingerprint(text));
  }
}
BENCHMARK(typical)->Name("Fingerprint/typical");

// Each of these characters may begin something that the rest of the text would have to end.
void slowest(benchmark::State& state) {
  const std::string text(4096, static_cast<char>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(fingerprint(text));
  }
}
BENCHMARK(slowest)
    ->Name("Fingerprint/4 KiB of one character")
    ->Arg('[')
    ->Arg('"')
    ->Arg('\'')
    ->Arg('(')
    ->Arg('/')
    ->Arg(':')
    ->Arg('.')
    ->Arg('1')
    ->Arg('a')
    ->Arg('<')
    ->Arg('@')
    ->Arg('-');

}  // namespace
}  // namespace holdfast
