#!/usr/bin/env python3
"""Runs a GoogleTest program whole, as one test of ctest.

Prints what failed cases said, and nothing about those that passed. A crash or a hang is reported with the name of
the case it was in; the cases behind it still run. A case that the program lists and that did not run is a failure. With
HOLDFAST_TEST_RESULTS=FOLDER the outcome and duration of each case are written to FOLDER/NAME.json.

Outcomes are those of GoogleTest's own report (--gtest_output); what the program prints is used only where a crash left
no report.

Usage: gtest_run.py [--name NAME] [--case-limit SECONDS] -- [COMMAND…] PROGRAM
COMMAND, if there is one, runs the program: it may start a server for it."""

import argparse
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
from processes import end_with_parent, kill_with_parent, signal_group  # noqa: E402

CASE_LIMIT_S = 300  # for a case that hangs: the slowest takes a few seconds
OUTPUT_LINES = 1000  # kept of a case, and of what is outside of cases
OUTSIDE = "(outside of a case)"

_BEGIN = re.compile(r"^\[ RUN      \] (\S+)")
_END = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?)(?:,.*)? \((\d+) ms\)$")
_OUTCOMES = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}
_FOREIGN = ("GTEST_", "TESTBRIDGE_", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS")


@dataclass
class Case:
    name: str
    outcome: str  # passed, failed, skipped, crashed, hung, "did not run"
    seconds: float = 0.0
    output: str = ""


@dataclass
class Said:
    """What one process printed, by case."""

    lines: dict[str, list[str]] = field(default_factory=dict)
    ended: dict[str, Case] = field(default_factory=dict)
    current: str = OUTSIDE
    began: float = field(default_factory=time.monotonic)  # the current case, or what is outside of cases

    def add(self, line: str, known: set[str]) -> None:
        if (found := _BEGIN.match(line)) and found[1] in known:
            self._enter(found[1])
        elif (found := _END.match(line)) and found[2] == self.current:
            seconds = int(found[3]) / 1000
            self.ended[self.current] = Case(self.current, _OUTCOMES[found[1]], seconds, self.of(self.current))
            self._enter(OUTSIDE)
        else:
            kept = self.lines.setdefault(self.current, [])
            kept.append(line)
            del kept[:-OUTPUT_LINES]

    def of(self, name: str) -> str:
        return "\n".join(self.lines.get(name, []))

    def all(self) -> str:
        return "\n".join(line for lines in self.lines.values() for line in lines)

    def _enter(self, name: str) -> None:
        self.current, self.began = name, time.monotonic()


def environment(**added: str) -> dict[str, str]:
    """Without what would change which cases run or how a sanitizer ends the program."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    # A data race ends the program within its case, so that the case is known.
    return kept | {"GTEST_COLOR": "no", "TSAN_OPTIONS": "halt_on_error=1"} | added


def how_it_ended(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def list_cases(program: str, limit_s: float) -> list[str]:
    """All cases. A disabled one is among them: GoogleTest does not run it, so it will be a failure."""
    try:
        done = subprocess.run([program, "--gtest_list_tests"], env=environment(), capture_output=True, text=True,
                              errors="replace", check=False, timeout=limit_s, preexec_fn=kill_with_parent)  # fmt: skip
    except subprocess.TimeoutExpired:
        sys.exit(f"{program} --gtest_list_tests: it hung for {limit_s:.0f} s")
    if done.returncode != 0:
        sys.exit(f"{program} --gtest_list_tests: {how_it_ended(done.returncode)}\n{done.stdout}{done.stderr}")
    cases, suite = [], ""
    for line in done.stdout.splitlines():
        words = line.split("#")[0].strip()
        if line.startswith("  ") and suite:
            cases.append(suite + words)
        elif words.endswith("."):
            suite = words
    return cases


def run_process(command: list[str], chosen: list[str], limit_s: float) -> list[Case]:
    """The cases that one process of the program ran. The last one has outcome crashed or hung if it ended early."""
    with tempfile.TemporaryDirectory(prefix="gtest-run-") as folder:
        report_file = os.path.join(folder, "report.json")
        env = environment(GTEST_FILTER=":".join(chosen), GTEST_OUTPUT=f"json:{report_file}")
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True,
                                   preexec_fn=kill_with_parent)  # fmt: skip
        signal.signal(signal.SIGTERM, lambda *_: (signal_group(process, signal.SIGKILL), sys.exit(1)))
        said, hung = listen(process, set(chosen), limit_s)
        code = process.wait()
        reported = read_report(report_file)
    if hung or reported is None:
        why = f"it hung: {limit_s:.0f} s in one case" if hung else how_it_ended(code)
        outcome = "hung" if hung else "crashed"
        text = f"{said.of(said.current)}\nthe program ended within this case: {why}"
        if said.current == OUTSIDE:
            text = f"{said.all()}\nthe program failed outside of its cases: {why}"
        return [*said.ended.values(), Case(said.current, outcome, time.monotonic() - said.began, text)]
    for case in reported:
        case.output = "\n".join(filter(None, (said.of(case.name), case.output)))
    # 1 is GoogleTest's own, for failed cases; anything else is a sanitizer, a signal, an exit handler.
    if code != (1 if any(case.outcome == "failed" for case in reported) else 0):
        text = f"{said.all()}\nthe program failed outside of its cases: {how_it_ended(code)}"
        reported.append(Case(OUTSIDE, "failed", 0.0, text))
    return reported


def listen(process: subprocess.Popen, known: set[str], limit_s: float) -> tuple[Said, bool]:
    """Reads what a program prints until it ends; True if a case took longer than the limit, and the program was
    killed."""
    said = Said()
    for line in lines_of(process.stdout.fileno()):
        if line is not None:
            said.add(line, known)
        if time.monotonic() - said.began > limit_s:
            signal_group(process, signal.SIGKILL)
            return said, True
    process.stdout.close()
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        signal_group(process, signal.SIGKILL)
        return said, True
    return said, False


def lines_of(fd: int) -> Iterator[str | None]:
    """The lines of a file descriptor, and None now and then while nothing comes."""
    parts: list[bytes] = []
    while True:
        if not select.select([fd], [], [], 0.2)[0]:
            yield None
            continue
        read = os.read(fd, 1 << 16)
        if not read:
            break
        parts.append(read)
        if b"\n" in read:
            *whole, left = b"".join(parts).split(b"\n")
            parts = [left]
            for line in whole:
                yield line.decode(errors="replace")
        else:
            yield None
    if parts and parts != [b""]:
        yield b"".join(parts).decode(errors="replace")


def read_report(path: str) -> list[Case] | None:
    """The cases of GoogleTest's report, which it writes when all have run."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            report = json.load(file)
    except (OSError, ValueError):
        return None
    cases = []
    for suite in report.get("testsuites", []):
        for case in suite.get("testsuite", []):
            if case.get("status") != "RUN":
                continue
            failures = case.get("failures", [])
            outcome = "failed" if failures else "skipped" if case.get("result") == "SKIPPED" else "passed"
            text = "\n".join(failure.get("failure", "") for failure in failures)
            cases.append(Case(f"{suite['name']}.{case['name']}", outcome, float(case["time"].rstrip("s")), text))
    return cases


def run_cases(command: list[str], limit_s: float) -> list[Case]:
    chosen = list_cases(command[-1], limit_s)
    # GoogleTest takes two cases of one name, in two files. What became of which could not be told.
    twice = [Case(name, "there twice") for name in sorted(set(chosen)) if chosen.count(name) > 1]
    if twice:
        return twice
    found: dict[str, Case] = {}
    left = chosen
    while left:
        ran = run_process(command, left, limit_s)
        found |= {case.name: case for case in ran}
        rest = [name for name in left if name not in found]
        if len(rest) == len(left):  # it fails before its first case: again would be the same
            break
        left = rest
        if ran[-1].outcome not in ("crashed", "hung"):
            break
    for name in chosen:
        if name not in found:
            found[name] = Case(name, "disabled" if "DISABLED_" in name else "did not run")
    return list(found.values())


def report(name: str, cases: list[Case]) -> int:
    failed = [case for case in cases if case.outcome not in ("passed", "skipped")]
    for case in failed:
        print(f"--- {case.name}: {case.outcome}\n{case.output}")
    for case in failed:
        print(f"FAILED: {case.name} ({case.outcome})")
    passed = sum(case.outcome == "passed" for case in cases)
    skipped = sum(case.outcome == "skipped" for case in cases)
    print(f"{name}: {passed} passed, {len(failed)} failed" + (f", {skipped} skipped" if skipped else ""))
    if not cases:
        print("the program has no cases")
    if folder := os.environ.get("HOLDFAST_TEST_RESULTS"):
        os.makedirs(folder, exist_ok=True)
        told = [asdict(case) | {"output": ""} for case in cases]
        with open(os.path.join(folder, f"{name}.json"), "w", encoding="utf-8") as file:
            json.dump({"name": name, "cases": told}, file)
    return 0 if cases and not failed else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case-limit", type=float, default=CASE_LIMIT_S, help="seconds, for a case that hangs")
    parser.add_argument("--name", default="", help="of the test, if not that of the program")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command[options.command[:1] == ["--"] :]
    if not command:
        parser.error("no program")
    end_with_parent()
    sys.stdout.reconfigure(errors="backslashreplace")
    name = options.name or os.path.basename(command[-1])
    return report(name, run_cases(command, options.case_limit))


if __name__ == "__main__":
    sys.exit(main())
