#!/usr/bin/env python3
"""Runs the benchmarks and prints each figure that the documentation speaks of beside its target.

All figures come from one run on one machine; what is compared is compared within it. Exits with 1 if a
target is missed. Usage: report.py BENCH_PROGRAM [--json FILE] [benchmark options…]"""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

REPETITIONS = 7


@dataclass
class Figure:
    what: str
    value: Callable[[dict[str, float]], float]  # from median CPU nanoseconds by benchmark name
    unit: str
    target: float | None = None  # at most; at least, where the unit is a rate
    at_least: bool = False

    def verdict(self, value: float) -> str:
        if self.target is None:
            return ""
        good = value >= self.target if self.at_least else value <= self.target
        return "ok" if good else "MISSED"

    def target_text(self) -> str:
        if self.target is None:
            return ""
        return f"{'≥' if self.at_least else '≤'} {self.target:g} {self.unit}"


def over(name: str, base: str) -> Callable[[dict[str, float]], float]:
    return lambda ns: ns[name] - ns[base]


def ratio(name: str, base: str) -> Callable[[dict[str, float]], float]:
    return lambda ns: ns[name] / ns[base]


def of(name: str) -> Callable[[dict[str, float]], float]:
    return lambda ns: ns[name]


BARE = "Retry/bare call"
FIGURES = [
    Figure("bare call", of(BARE), "ns"),
    Figure("hand-written loop, over the bare call", over("Retry/hand-written loop", BARE), "ns"),
    Figure("policy, over the bare call", over("Retry/policy", BARE), "ns", 15),
    Figure("… with conditions, hooks and log",
           over("Retry/policy with conditions, hooks and log", BARE), "ns", 15),
    Figure("… of a std::expected",
           over("Retry/policy, std::expected", "Retry/bare call, std::expected"), "ns", 15),
    Figure("… with a time limit", over("Retry/policy with a time limit", BARE), "ns", 15),
    Figure("    of which reading the clock", of("Clock/rough now"), "ns"),
    Figure("… with a retry budget", over("Retry/policy with a budget", BARE), "ns", 15),
    Figure("… with a circuit breaker", over("Retry/policy with a breaker", BARE), "ns", 15),
    Figure("breaker check", of("Breaker/check"), "ns", 10),
    Figure("breaker check and report", of("Breaker/check and report"), "ns", 10),
    Figure("… with a failure-rate window", of("Breaker/check and report, with a rate window"), "ns"),
    Figure("classification, all presets",
           lambda ns: 1e3 / ns["Classify/all_presets"], "million/s", 1, at_least=True),
    Figure("1,020 rules, over 20 rules", ratio("Classify/1020_rules", "Classify/20_rules"), "×", 1.5),
    Figure("fingerprint of a 140-byte error",
           lambda ns: ns["Fingerprint/typical"] / 1e3, "µs"),
    Figure("std::regex one by one, over one pass",
           ratio("Classify/std_regex_one_by_one", "Classify/all_presets"), "×"),
    *(Figure(f"{what}: 1,000,000 waiting over 1,000",
             ratio(f"Store/{name}/1000000", f"Store/{name}/1000"), "×", 1.3)
      for what, name in (("claim and hand back 100", "claim and hand back"),
                         ("list 100 pending", "list pending"), ("list 100 dead", "list dead"),
                         ("groups", "groups"), ("count", "count"))),
]


def measure(program: str, options: list[str]) -> dict:
    command = [program, f"--benchmark_repetitions={REPETITIONS}", "--benchmark_min_time=0.1",
               "--benchmark_enable_random_interleaving=true", "--benchmark_format=json", *options]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def medians(report: dict) -> dict[str, float]:
    scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    return {
        run["run_name"].split("/min_time")[0].split("/repeats")[0]:
            run["cpu_time"] * scale[run["time_unit"]]
        for run in report["benchmarks"]
        if run.get("aggregate_name") == "median"
    }


def main(arguments: list[str]) -> int:
    program, *options = arguments
    out = None
    if "--json" in options:
        at = options.index("--json")
        out = options[at + 1]
        del options[at : at + 2]
    print(f"measuring, the median of {REPETITIONS} runs each …", file=sys.stderr, flush=True)
    report = measure(program, options)
    if out:
        with open(out, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    found = medians(report)
    missed = 0
    print(f"{'figure':42} {'measured':>16} {'target':>16}")
    for figure in FIGURES:
        try:
            value = figure.value(found)
        except KeyError:
            continue  # filtered out by an option
        verdict = figure.verdict(value)
        missed += verdict == "MISSED"
        measured = f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"
        print(f"{figure.what:42} {measured + ' ' + figure.unit:>16} {figure.target_text():>16} {verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
