"""Reads what ctest and the GoogleTest runner wrote about a run."""

import json
import os
import re
import xml.etree.ElementTree as ElementTree

from steps import Count, Step

_UNITTEST = re.compile(r"^Ran (\d+) tests? in ", re.M)
_UNITTEST_SKIPPED = re.compile(r"\bskipped=(\d+)")
_UNITTEST_FAILED = re.compile(r"(?<!expected )\b(?:failures|errors)=(\d+)")


def of_ctest(junit: str, results: str):
    """A Step.count for a run of ctest with --output-junit JUNIT and HOLDFAST_TEST_RESULTS=RESULTS. A GoogleTest
    program or a Python script counts by its cases."""

    def count(step: Step, code: int) -> Count:
        del step, code
        total = Count()
        if not list(ElementTree.parse(junit).getroot().iter("testcase")):
            raise ValueError(f"{junit}: ctest reports no test")
        for test in ElementTree.parse(junit).getroot().iter("testcase"):
            entry = _of_entry(test, results)
            if not entry.passed and not entry.failed:  # nothing of it ran
                entry.failed = 1
            if entry.failed:
                entry.failures.append(test.get("name", ""))
            total.add(entry)
        return total

    return count


def _of_entry(test: ElementTree.Element, results: str) -> Count:
    name, seconds = test.get("name", ""), float(test.get("time", "0"))
    failed = test.get("status") != "run"  # fail, notrun (its program is missing) or disabled
    file = os.path.join(results, f"{name}.json")
    count = Count(slowest=[(seconds, name)])
    if os.path.exists(file):
        with open(file, encoding="utf-8") as text:
            cases = json.load(text)["cases"]
        outcomes = [case["outcome"] for case in cases]
        count.passed, count.skipped = outcomes.count("passed"), outcomes.count("skipped")
        count.failed = len(outcomes) - count.passed - count.skipped
        if failed and not count.failed:  # ended from outside
            count.failed = 1
        return count
    _add_unittest(count, test.findtext("system-out") or "", failed)
    return count


def _add_unittest(count: Count, said: str, failed: bool) -> None:
    """What a script of unittest has printed; one of another kind is one case."""
    summaries = list(_UNITTEST.finditer(said))
    ran = int(summaries[-1][1]) if summaries else 1
    end = said[summaries[-1].end() :] if summaries else ""  # what unittest says last; not what a test has printed
    count.skipped = sum(int(found) for found in _UNITTEST_SKIPPED.findall(end))
    count.failed = max(sum(int(found) for found in _UNITTEST_FAILED.findall(end)), 1) if failed else 0
    count.passed = max(0, ran - count.skipped - count.failed)
