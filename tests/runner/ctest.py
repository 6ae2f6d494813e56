"""The tests of a preset, run by ctest, as a step of a test run."""

import os

import results
from steps import TEST, Step, cores

PYTHON = "/usr/bin/python3"  # the one that Debian's packages are for
HANGS_AFTER_S = 1500  # a test, or a check; by itself ctest waits for ever
_TESTS_AT_ONCE = 3 * cores()  # most wait for servers


def ctest(preset: str, kept: str, name: str = "tests", shares_rabbitmq: bool = False, under: tuple[str, ...] = ()) -> Step:
    """Keeps what its tests came to in the file `kept`.junit.xml and the folder `kept`.cases.

    shares_rabbitmq: one broker for all tests that do not disturb it, instead of one for each.
    under: a command that runs the one behind it."""
    kept = os.path.abspath(kept)
    junit, cases = f"{kept}.junit.xml", f"{kept}.cases"
    command = ["ctest", "--preset", preset, "-j", str(_TESTS_AT_ONCE), "--no-tests=error", "--timeout", str(HANGS_AFTER_S),
               "--output-on-failure", "--no-label-summary", "--output-junit", junit,
               "--test-output-size-passed", "100000", "--test-output-size-failed", "1000000",
               "--test-output-truncation", "head"]  # fmt: skip
    if shares_rabbitmq:
        command = [PYTHON, "-B", "tests/support/rabbitmq.py", "run", "--management", "--", *command]
    could_leave_tests_out = [f"build/{preset}/CTestCustom.cmake", f"build/{preset}/CTestCustom.ctest"]
    return Step(name, TEST, [*under, *command], count=results.of_ctest(junit, cases), env={"HOLDFAST_TEST_RESULTS": cases},
                outputs=[junit, cases, *could_leave_tests_out])  # fmt: skip
