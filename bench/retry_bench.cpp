// What a call through a policy costs when nothing fails, beside the bare call and beside the loop
// that one would write by hand; and what a breaker and a budget cost. `make bench` compares them.
#include <expected>
#include <stdexcept>

#include <benchmark/benchmark.h>

#include <holdfast/retry.hpp>

namespace holdfast::retry {
namespace {

using namespace std::chrono_literals;

// Opaque, so that neither the bare call nor the policy's is optimised away.
[[gnu::noinline]] int work(int input) {
  benchmark::DoNotOptimize(input);
  return input + 1;
}

[[gnu::noinline]] std::expected<int, int> expected_work(int input) {
  benchmark::DoNotOptimize(input);
  return input + 1;
}

void bare_call(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(work(1));
}
BENCHMARK(bare_call)->Name("Retry/bare call");

void hand_written_loop(benchmark::State& state) {
  const auto call = [] {
    for (int attempt = 1;; ++attempt) {
      try {
        return work(1);
      } catch (const std::exception&) {
        if (attempt >= 5) throw;
        system_clock().sleep_for(1s * (1 << (attempt - 1)));
      }
    }
  };
  for (auto _ : state)
    benchmark::DoNotOptimize(call());
}
BENCHMARK(hand_written_loop)->Name("Retry/hand-written loop");

void bare_expected(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(expected_work(1));
}
BENCHMARK(bare_expected)->Name("Retry/bare call, std::expected");

void through(benchmark::State& state, const Policy& policy) {
  for (auto _ : state)
    benchmark::DoNotOptimize(policy.call([] { return work(1); }));
}

Policy plain() {
  return Policy().stop(attempts(5)).wait(exponential({.cap = 16s}));
}

void policy_call(benchmark::State& state) {
  through(state, plain());
}
BENCHMARK(policy_call)->Name("Retry/policy");

void policy_with_conditions(benchmark::State& state) {
  through(state, plain()
                     .retry_on<std::runtime_error>()
                     .on_give_up([](const GaveUp&) {})
                     .log_to(Logger(stderr_log())));
}
BENCHMARK(policy_with_conditions)->Name("Retry/policy with conditions, hooks and log");

void policy_expected(benchmark::State& state) {
  const Policy policy = plain();
  for (auto _ : state)
    benchmark::DoNotOptimize(policy.call([] { return expected_work(1); }));
}
BENCHMARK(policy_expected)->Name("Retry/policy, std::expected");

void policy_with_deadline(benchmark::State& state) {
  through(state, plain().stop(elapsed(30s)));
}
BENCHMARK(policy_with_deadline)->Name("Retry/policy with a time limit");

void policy_with_budget(benchmark::State& state) {
  through(state, plain().budget(std::make_shared<RetryBudget>()));
}
BENCHMARK(policy_with_budget)->Name("Retry/policy with a budget");

void policy_with_breaker(benchmark::State& state) {
  through(state, plain().breaker(std::make_shared<Breaker>()));
}
BENCHMARK(policy_with_breaker)->Name("Retry/policy with a breaker");

void breaker_check(benchmark::State& state) {
  Breaker breaker;
  for (auto _ : state)
    benchmark::DoNotOptimize(static_cast<bool>(breaker.try_acquire()));
}
BENCHMARK(breaker_check)->Name("Breaker/check");

void breaker_report(benchmark::State& state) {
  Breaker breaker;
  for (auto _ : state)
    breaker.try_acquire().success();
}
BENCHMARK(breaker_report)->Name("Breaker/check and report");

void breaker_rate(benchmark::State& state) {
  Breaker breaker({.failure_rate = 0.5});
  for (auto _ : state)
    breaker.try_acquire().success();
}
BENCHMARK(breaker_rate)->Name("Breaker/check and report, with a rate window");

void breaker_refusal(benchmark::State& state) {
  Breaker breaker({.open_for = fixed(24h)});
  breaker.force_open();
  for (auto _ : state)
    benchmark::DoNotOptimize(static_cast<bool>(breaker.try_acquire()));
}
BENCHMARK(breaker_refusal)->Name("Breaker/refusal while open");

void clock_read(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(system_clock().now());
}
BENCHMARK(clock_read)->Name("Clock/now");

void rough_clock_read(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(system_clock().rough_now());
}
BENCHMARK(rough_clock_read)->Name("Clock/rough now");

}  // namespace
}  // namespace holdfast::retry
