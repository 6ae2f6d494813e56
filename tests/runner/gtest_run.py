#!/usr/bin/env python3
"""Runs a GoogleTest program whole, or one shard of it, as one test of ctest.

Prints what failed cases said, and nothing about those that passed. A crash or a hang is reported with the name of
the case it was in; the cases behind it still run. With HOLDFAST_TEST_RESULTS=FOLDER the outcome and duration of each
case are written to FOLDER/NAME.json.

Usage: gtest_run.py [--shard I/N] [--case-limit SECONDS] PROGRAM [ARGUMENT…]
       gtest_run.py -- COMMAND… PROGRAM [ARGUMENT…]      a command that runs the program, and hands its output on"""

import argparse
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field

from processes import end_with_parent, signal_group

CASE_LIMIT_S = 300  # for a case that hangs: the slowest takes a few seconds

_BEGIN = re.compile(r"^\[ RUN      \] (\S+)")
_END = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?)(?:,.*)? \((\d+) ms\)$")
_OUTCOMES = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}


@dataclass
class Case:
    name: str
    outcome: str  # passed, failed, skipped, crashed, hung
    seconds: float
    output: str = ""


@dataclass
class Run:
    """What one or more processes of a program have told so far."""

    cases: list[Case] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)  # lines that belong to no case

    def names(self) -> list[str]:
        return [case.name for case in self.cases]

    def count(self, *outcomes: str) -> int:
        return sum(case.outcome in outcomes for case in self.cases)

    def failed(self) -> list[Case]:
        return [case for case in self.cases if case.outcome not in ("passed", "skipped")]


def how_it_ended(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def run_process(command: list[str], chosen: list[str] | None, limit_s: float, run: Run) -> bool:
    """Runs the program with the chosen cases (None: all) and adds them to `run`. False if it ended within a case."""
    env = os.environ | {"GTEST_COLOR": "no"}
    if chosen is not None:
        env["GTEST_FILTER"] = ":".join(chosen)
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=end_with_parent)  # fmt: skip
    assert process.stdout
    signal.signal(signal.SIGTERM, lambda *_: (signal_group(process, signal.SIGKILL), sys.exit(1)))
    lines = _lines_until(process.stdout.fileno(), limit_s)
    name, began, said = "", time.monotonic(), list[str]()
    hung, earlier = False, len(run.cases)
    for line in lines:
        if line is None:
            hung = True
            signal_group(process, signal.SIGKILL)
            break
        if found := _BEGIN.match(line):
            name, began, said = found[1], time.monotonic(), []
        elif name and (found := _END.match(line)) and found[2] == name:
            outcome = _OUTCOMES[found[1]]
            run.cases.append(Case(name, outcome, int(found[3]) / 1000, "\n".join(said)))
            name = ""
        else:
            (said if name else run.outside).append(line)
    process.stdout.close()
    code = process.wait()
    if name:
        why = f"no output for {limit_s:.0f} s" if hung else how_it_ended(code)
        said.append(f"the program ended within this case: {why}")
        outcome = "hung" if hung else "crashed"
        run.cases.append(Case(name, outcome, time.monotonic() - began, "\n".join(said)))
        return False
    failed = any(case.outcome == "failed" for case in run.cases[earlier:])
    if hung or code not in (0, 1) or failed != (code == 1):  # 1 is GoogleTest's own, for failed cases
        why = f"no output for {limit_s:.0f} s" if hung else how_it_ended(code)
        output = "\n".join([*run.outside[-100:], f"the program failed outside of its cases: {why}"])
        run.cases.append(Case("(outside of a case)", "crashed", time.monotonic() - began, output))
    return True


def _lines_until(fd: int, limit_s: float):
    """The lines of a file descriptor; None if nothing came for so long."""
    left = b""
    while True:
        if not select.select([fd], [], [], limit_s)[0]:
            yield None
            return
        read = os.read(fd, 1 << 16)
        if not read:
            break
        *whole, left = (left + read).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace")
    if left:
        yield left.decode(errors="replace")


def list_cases(command: list[str]) -> list[str]:
    done = subprocess.run([*command, "--gtest_list_tests"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[-1]} --gtest_list_tests: {how_it_ended(done.returncode)}\n{done.stdout}{done.stderr}")
    cases, suite = [], ""
    for line in done.stdout.splitlines():
        words = line.split("#")[0].strip()
        if line.startswith("  ") and suite:
            cases.append(suite + words)
        elif words.endswith("."):
            suite = words
    return cases


def run_cases(command: list[str], shard: tuple[int, int], limit_s: float) -> Run:
    run = Run()
    index, count = shard
    chosen = list_cases(command)[index::count] if count > 1 else None
    while not run_process(command, chosen, limit_s, run):
        if chosen is None:
            chosen = list_cases(command)
        done = set(run.names())
        chosen = [name for name in chosen if name not in done]
        if not chosen:
            break
    return run


def report(name: str, run: Run) -> int:
    for case in run.failed():
        print(f"--- {case.name}: {case.outcome}\n{case.output}")
    passed, skipped = run.count("passed"), run.count("skipped")
    for case in run.failed():
        print(f"FAILED: {case.name} ({case.outcome})")
    print(f"{name}: {passed} passed, {len(run.failed())} failed" + (f", {skipped} skipped" if skipped else ""))
    if not run.cases:
        print("no case ran:", *run.outside[-50:], sep="\n")
    if folder := os.environ.get("HOLDFAST_TEST_RESULTS"):
        os.makedirs(folder, exist_ok=True)
        told = [asdict(case) | {"output": ""} for case in run.cases]
        with open(os.path.join(folder, f"{name}.json"), "w", encoding="utf-8") as file:
            json.dump({"name": name, "cases": told}, file)
    return 0 if run.cases and not run.failed() else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard", default="0/1", help="I/N: the I-th of N parts, from 0")
    parser.add_argument("--case-limit", type=float, default=CASE_LIMIT_S, help="seconds without output in a case")
    parser.add_argument("--name", default="", help="of the test, if not that of the program")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    end_with_parent()
    command = options.command[options.command[:1] == ["--"] :]
    if not command:
        parser.error("no program")
    index, count = map(int, options.shard.split("/"))
    name = options.name or os.path.basename(command[-1])
    return report(name, run_cases(command, (index, count), options.case_limit))


if __name__ == "__main__":
    sys.exit(main())
