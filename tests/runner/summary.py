"""The table at the end of a test run, and the same as JSON."""

import json
import os
import subprocess
from datetime import UTC, datetime

from steps import BUILD, TEST, Count, Stage, cores

SLOWEST = 10


def as_json(stages: list[Stage], seconds: float, passed: bool) -> dict:
    total = _total(stages)
    return {
        "passed": passed,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "cores": cores(),
        "seconds": round(seconds),
        "tests": {"passed": total.passed, "failed": total.failed, "skipped": total.skipped},
        "stages": [
            {
                "stage": stage.name,
                "state": stage.state(),
                "build_seconds": round(stage.seconds(BUILD)),
                "test_seconds": round(stage.seconds(TEST)),
                "tests": stage.tests().passed + stage.tests().failed,
            }
            for stage in stages
        ],
        "slowest": [{"seconds": round(s, 1), "test": name} for s, name in slowest(stages)],
    }


def _commit() -> str:
    """The commit of this folder, with "+" if files differ from it; empty if git does not know it."""
    git = ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def slowest(stages: list[Stage]) -> list[tuple[float, str]]:
    found = [(s, f"{stage.name}: {name}") for stage in stages for s, name in stage.tests().slowest]
    return sorted(found, reverse=True)[:SLOWEST]


def as_table(stages: list[Stage], seconds: float, before: dict | None = None, heading: str = "stage",
             overlapping: bool = False) -> str:  # fmt: skip
    """Lines for people. `before` is the JSON of an earlier run that passed, to show growth."""
    earlier = {row["stage"]: row for row in (before or {}).get("stages", [])}
    lines = [f"{heading:<10} {'build s':>8} {'test s':>8} {'tests':>7}"]
    if before:
        lines[0] += "   the last run that passed"
    for stage in stages:
        tests = stage.tests()
        line = f"{stage.name:<10} {stage.seconds(BUILD):8.0f} {stage.seconds(TEST):8.0f} {tests.passed + tests.failed:7}"
        old = earlier.get(stage.name)
        if old:
            line += f"   {old['build_seconds']:8} {old['test_seconds']:8} {old['tests']:7}"
        if stage.state() != "passed":
            line += f"   {stage.state()}"
        lines.append(line)
    total = _total(stages)
    lines.append(f"{'tests':<10} {'':8} {'':8} {total.passed + total.failed:7}"
                 + (f"   {'':8} {'':8} {before['tests']['passed']:7}" if before else ""))  # fmt: skip
    lines.append(f"{'elapsed':<10} {seconds:8.0f}" + (f"{'':20}{before['seconds']:8}" if before else ""))
    if overlapping and len(stages) > 1:
        lines.append("(a stage is built while the one before it is tested)")
    lines += ["", "the slowest tests:", *(f"{s:8.1f} s  {name}" for s, name in slowest(stages))]
    return "\n".join(lines)


def _total(stages: list[Stage]) -> Count:
    total = Count()
    for stage in stages:
        total.add(stage.tests())
    return total


def read(path: str) -> dict | None:
    if not os.path.exists(path):
        return None
    try:
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
            figures = [(row["stage"], row["build_seconds"], row["test_seconds"], row["tests"]) for row in told["stages"]]
            return told if told["passed"] and figures and told["seconds"] >= 0 and told["tests"]["passed"] >= 0 else None
    except (ValueError, KeyError, TypeError, OSError):
        return None  # of another version, or cut off


def write(path: str, told: dict) -> None:
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(told, file, indent=2)
        file.write("\n")
    os.replace(f"{path}.new", path)
