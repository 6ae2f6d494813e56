"""The table at the end of a test run, and the same as JSON."""

import json
import os

from steps import BUILD, TEST, Count, Stage

SLOWEST = 10


def as_json(stages: list[Stage], seconds: float, passed: bool) -> dict:
    total = _total(stages)
    return {
        "passed": passed,
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


def slowest(stages: list[Stage]) -> list[tuple[float, str]]:
    found = [(s, f"{stage.name}: {name}") for stage in stages for s, name in stage.tests().slowest]
    return sorted(found, reverse=True)[:SLOWEST]


def as_table(stages: list[Stage], seconds: float, before: dict | None = None) -> str:
    """Lines for people. `before` is the JSON of an earlier run that passed, to show growth."""
    earlier = {row["stage"]: row for row in (before or {}).get("stages", [])}
    lines = [f"{'stage':<10} {'build s':>8} {'test s':>8} {'tests':>7}"]
    for stage in stages:
        tests = stage.tests()
        line = f"{stage.name:<10} {stage.seconds(BUILD):8.0f} {stage.seconds(TEST):8.0f} {tests.passed + tests.failed:7}"
        if stage.state() != "passed":
            line += f"   {stage.state()}"
        old = earlier.get(stage.name)
        if old:
            line += f"   before: {old['build_seconds']:>5} {old['test_seconds']:>5} {old['tests']:>6}"
        lines.append(line)
    total = _total(stages)
    lines.append(f"{'together':<10} {seconds:17.0f} {total.passed + total.failed:7}"
                 + (f"   before: {before['seconds']:>11}" if before else ""))  # fmt: skip
    if len(stages) > 1:
        lines.append("(a stage may be built while an earlier one is tested)")
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
            return told if told["passed"] and figures and told["seconds"] >= 0 else None
    except (ValueError, KeyError, TypeError, OSError):
        return None  # of another version, or cut off


def write(path: str, told: dict) -> None:
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(told, file, indent=2)
        file.write("\n")
    os.replace(f"{path}.new", path)
