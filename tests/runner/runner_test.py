#!/usr/bin/env python3
"""Tests of the test runner: a failure is named, a crash says which case it was in, nothing is counted that did not run."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import results  # noqa: E402
import summary  # noqa: E402
from steps import BUILD, TEST, Count, Lanes, Stage, Step, one_test  # noqa: E402

# Speaks as a GoogleTest program does. Cases are words of CASES: name=behaviour.
PROGRAM = """#!/usr/bin/env python3
import os, signal, sys, time
cases = [word.split("=") for word in os.environ["CASES"].split()]
if "--gtest_list_tests" in sys.argv:
    suite = ""
    for name, _ in cases:
        if name.split(".")[0] != suite:
            suite = name.split(".")[0]
            print(suite + "."  + ("  # TypeParam = int" if suite == "Typed/0" else ""))
        print("  " + name.split(".")[1] + ("  # GetParam() = 1" if suite == "Typed/0" else ""))
    sys.exit(0)
chosen = os.environ.get("GTEST_FILTER", "*").split(":")
failed = 0
print("before all", flush=True)
if "PID_FILE" in os.environ:
    with open(os.environ["PID_FILE"] + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(os.environ["PID_FILE"] + ".new", os.environ["PID_FILE"])
for name, how in cases:
    if chosen != ["*"] and name not in chosen:
        continue
    print(f"[ RUN      ] {name}", flush=True)
    print(f"said by {name}", flush=True)
    if how == "crash": os.kill(os.getpid(), signal.SIGSEGV)
    if how == "exit": sys.exit(0)
    if how == "hang": time.sleep(60)
    if how == "fail": failed += 1
    end = {"fail": "[  FAILED  ]", "skip": "[  SKIPPED ]"}.get(how, "[       OK ]")
    param = ", where GetParam() = 1" if how == "fail" and name.startswith("Typed") else ""
    print(f"{end} {name}{param} (12 ms)", flush=True)
if os.environ.get("LATE") == "crash": os.kill(os.getpid(), signal.SIGABRT)
sys.exit(1 if failed else 0)
"""


class GtestRun(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="runner-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.program = os.path.join(self.folder, "some_test")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        os.chmod(self.program, 0o755)

    def run_it(self, cases: str, *options: str, **env: str) -> tuple[int, str, dict[str, str]]:
        """The exit code, what was said, and the outcome of each case."""
        results_folder = os.path.join(self.folder, "results")
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(HERE, "gtest_run.py"), *options, "--", self.program],
            env=os.environ | {"CASES": cases, "HOLDFAST_TEST_RESULTS": results_folder} | env,
            capture_output=True, text=True, check=False, timeout=60)  # fmt: skip
        with open(os.path.join(results_folder, "some_test.json"), encoding="utf-8") as file:
            found = {case["name"]: case["outcome"] for case in json.load(file)["cases"]}
        return done.returncode, done.stdout, found

    def test_cases_that_pass_say_nothing(self) -> None:
        code, said, found = self.run_it("A.one=pass A.two=skip B.one=pass")
        self.assertEqual((code, said), (0, "some_test: 2 passed, 0 failed, 1 skipped\n"))
        self.assertEqual(found, {"A.one": "passed", "A.two": "skipped", "B.one": "passed"})

    def test_a_failed_case_is_named_with_what_it_said(self) -> None:
        code, said, found = self.run_it("A.one=pass A.two=fail Typed/0.three=fail")
        self.assertEqual(code, 1)
        self.assertIn("said by A.two", said)
        self.assertIn("FAILED: A.two (failed)", said)
        self.assertIn("FAILED: Typed/0.three (failed)", said)
        self.assertNotIn("said by A.one", said)
        self.assertEqual(found["A.two"], "failed")

    def test_a_crash_names_its_case_and_the_cases_behind_it_still_run(self) -> None:
        code, said, found = self.run_it("A.one=pass A.two=crash A.three=pass A.four=crash Typed/0.five=fail")
        self.assertEqual(code, 1)
        self.assertIn("--- A.two: crashed\nsaid by A.two\nthe program ended within this case: SIGSEGV", said)
        self.assertEqual(found, {"A.one": "passed", "A.two": "crashed", "A.three": "passed", "A.four": "crashed",
                                 "Typed/0.five": "failed"})  # fmt: skip

    def test_a_program_that_ends_early_has_not_passed(self) -> None:
        code, said, found = self.run_it("A.one=exit A.two=pass")
        self.assertEqual((code, found), (1, {"A.one": "crashed", "A.two": "passed"}))
        self.assertIn("the program ended within this case: exit code 0", said)

    def test_a_hang_is_ended_and_named(self) -> None:
        code, said, found = self.run_it("A.one=hang A.two=pass", "--case-limit", "0.5")
        self.assertEqual((code, found), (1, {"A.one": "hung", "A.two": "passed"}))
        self.assertIn("FAILED: A.one (hung)", said)

    def test_a_crash_behind_the_last_case_is_a_failure(self) -> None:
        code, said, _ = self.run_it("A.one=pass", LATE="crash")
        self.assertEqual(code, 1)
        self.assertIn("the program failed outside of its cases: SIGABRT", said)

    def test_a_crash_behind_the_last_case_is_a_failure_beside_one_that_failed(self) -> None:
        code, said, _ = self.run_it("A.one=fail", LATE="crash")
        self.assertEqual(code, 1)
        self.assertIn("SIGABRT", said)

    def test_a_program_without_cases_is_a_failure(self) -> None:
        code, said, _ = self.run_it("")
        self.assertEqual(code, 1)
        self.assertIn("no case ran", said)

    def test_shards_run_each_case_once(self) -> None:
        cases = "A.one=pass A.two=crash A.three=pass Typed/0.four=pass Typed/0.five=fail"
        found = [self.run_it(cases, "--shard", f"{index}/2")[2] for index in (0, 1)]
        self.assertEqual(sorted([*found[0], *found[1]]), sorted(case.split("=")[0] for case in cases.split()))
        self.assertEqual((found[0] | found[1])["A.two"], "crashed")


    def test_SIGTERM_and_the_death_of_its_parent_end_the_program(self) -> None:
        command = [sys.executable, "-B", os.path.join(HERE, "gtest_run.py"), "--", self.program]
        for parent_dies in (False, True):
            with self.subTest(parent_dies=parent_dies):
                shell = ["sh", "-c", '"$@" & echo $!; wait', "sh", *command] if parent_dies else command
                env = os.environ | {"CASES": "A.one=hang", "PID_FILE": os.path.join(self.folder, f"pid{parent_dies}")}
                process = subprocess.Popen(shell, env=env, stdout=subprocess.DEVNULL)
                wait_until(lambda: os.path.exists(env["PID_FILE"]))
                with open(env["PID_FILE"], encoding="ascii") as file:
                    pid = int(file.read())
                process.send_signal(signal.SIGKILL if parent_dies else signal.SIGTERM)
                self.assertNotEqual(process.wait(30), 0)
                wait_until(lambda: not os.path.exists(f"/proc/{pid}"))


def wait_until(holds) -> None:
    end = time.monotonic() + 60
    while not holds():
        if time.monotonic() > end:
            raise AssertionError("not within 60 s")
        time.sleep(0.01)


class LanesTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="runner-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def step(self, name: str, lane: str, script: str) -> Step:
        return Step(name, lane, ["sh", "-c", script], count=one_test if lane == TEST else None)

    def run_stages(self, *stages: Stage) -> Lanes:
        lanes = Lanes(stages, os.path.join(self.folder, "logs"), lambda line: None)
        lanes.run()
        return lanes

    def test_a_stage_is_tested_once_it_is_built_and_the_next_is_built_meanwhile(self) -> None:
        at = self.folder
        wait = "until [ -e {0} ]; do sleep 0.01; done"
        first = Stage("one", "", [self.step("build", BUILD, f"touch {at}/built"),
                                  self.step("tests", TEST, f"[ -e {at}/built ] && {wait.format(at + '/next')}")])
        second = Stage("two", "", [self.step("build", BUILD, f"touch {at}/next")])
        self.assertIsNone(self.run_stages(first, second).failure)
        self.assertEqual(first.tests().passed, 1)

    def test_the_first_failure_ends_what_runs_beside_it_and_what_is_behind_it(self) -> None:
        at = self.folder
        first = Stage("one", "", [self.step("tests", TEST, "exit 1"), self.step("later", TEST, f"touch {at}/later")])
        second = Stage("two", "", [self.step("build", BUILD, "sleep 60 & wait"),
                                   self.step("tests", TEST, f"touch {at}/never")])
        failure = self.run_stages(first, second).failure
        self.assertEqual((failure.stage, failure.name), ("one", "tests"))
        self.assertEqual(first.tests().failed, 1)
        self.assertFalse(os.path.exists(f"{at}/later") or os.path.exists(f"{at}/never"))
        self.assertLess(second.seconds(BUILD), 30)

    def test_a_failed_build_is_a_failure_and_is_not_tested(self) -> None:
        stage = Stage("one", "", [self.step("build", BUILD, "echo broken; exit 3"),
                                  self.step("tests", TEST, f"touch {self.folder}/never")])
        failure = self.run_stages(stage).failure
        self.assertEqual(failure.name, "build")
        with open(failure.log, encoding="utf-8") as log:
            self.assertEqual(log.read(), "broken\n")
        self.assertFalse(os.path.exists(f"{self.folder}/never"))

    def test_a_stopped_run_ends_what_runs_and_has_not_passed(self) -> None:
        at = self.folder
        stages = [Stage("one", "", [self.step("build", BUILD, f"sleep 60 & echo $! > {at}/pid; touch {at}/runs; wait")]),
                  Stage("two", "", [self.step("tests", TEST, f"touch {at}/never")])]  # fmt: skip
        lanes = Lanes(stages, os.path.join(at, "logs"), lambda line: None)
        passed: list[bool] = []
        run = threading.Thread(target=lambda: passed.append(lanes.run()))
        run.start()
        wait_until(lambda: os.path.exists(f"{at}/runs"))
        lanes.stop()
        run.join(30)
        self.assertEqual(passed, [False])
        with open(f"{at}/pid", encoding="ascii") as file:
            pid = int(file.read())
        wait_until(lambda: not os.path.exists(f"/proc/{pid}"))
        self.assertFalse(os.path.exists(f"{at}/never"))

    def test_what_an_earlier_run_wrote_is_gone_before_a_step_begins(self) -> None:
        file, folder = os.path.join(self.folder, "old.xml"), os.path.join(self.folder, "old")
        os.mkdir(folder)
        open(file, "w", encoding="utf-8").close()
        step = self.step("tests", TEST, f"[ ! -e {file} ] && [ ! -e {folder} ]")
        step.outputs = [file, folder, os.path.join(self.folder, "never-was")]
        self.assertIsNone(self.run_stages(Stage("one", "", [step])).failure)

    def test_a_step_whose_tests_failed_has_failed_whatever_its_exit_code(self) -> None:
        step = Step("tests", TEST, ["true"], count=lambda *_: Count(passed=5, failed=1))
        self.assertIs(self.run_stages(Stage("one", "", [step])).failure, step)


JUNIT = """<testsuite>
  <testcase name="core_test" time="2.5" status="run"><system-out>core_test: 2 passed</system-out></testcase>
  <testcase name="ended_test" time="1" status="fail"><system-out>killed</system-out></testcase>
  <testcase name="cli" time="31.25" status="run"><system-out>..s\nRan 6 tests in 31.2s\n\nOK (skipped=1)</system-out></testcase>
  <testcase name="carried" time="4" status="fail"><system-out>Ran 13 tests in 4s\n\nFAILED (errors=2)</system-out></testcase>
  <testcase name="units_fuzz_corpus" time="0.1" status="run"><system-out/></testcase>
</testsuite>"""  # fmt: skip


class Results(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="runner-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def count(self, junit: str) -> Count:
        step = Step("tests", TEST, [])
        return results.of_ctest(self.write("junit.xml", junit), self.folder)(step, 0)

    def test_cases_count_and_not_processes(self) -> None:
        cases = [{"name": "A.one", "outcome": "passed"}, {"name": "A.two", "outcome": "passed"},
                 {"name": "A.three", "outcome": "crashed"}, {"name": "A.four", "outcome": "skipped"}]  # fmt: skip
        self.write("core_test.json", json.dumps({"name": "core_test", "cases": cases}))
        self.write("ended_test.json", json.dumps({"name": "ended_test", "cases": cases[:1]}))
        found = self.count(JUNIT)
        # core_test 2, ended_test 1, cli 5, carried 11, the corpus 1
        self.assertEqual((found.passed, found.failed, found.skipped), (20, 4, 2))
        self.assertEqual(max(found.slowest), (31.25, "cli"))

    def test_the_table_and_its_json_say_the_same_and_show_growth(self) -> None:
        step = Step("tests", TEST, [], seconds=31.0, result=Count(passed=3, failed=1, slowest=[(30.5, "cli")]))
        stages = [Stage("asan", "", [Step("build", BUILD, [], seconds=60.0), step])]
        told = summary.as_json(stages, 91.2, False)
        self.assertEqual(told["stages"], [{"stage": "asan", "build_seconds": 60, "test_seconds": 31, "tests": 4}])
        self.assertEqual(told["slowest"], [{"seconds": 30.5, "test": "asan: cli"}])
        self.assertEqual((told["passed"], told["seconds"], told["tests"]["failed"]), (False, 91, 1))
        path = os.path.join(self.folder, "summary.json")
        summary.write(path, told)
        table = summary.as_table(stages, 91.2, summary.read(path))
        self.assertRegex(table, r"asan +60 +31 +4   before: +60 +31 +4")
        self.assertIn("30.5 s  asan: cli", table)
        self.write("summary.json", '{"cut off')
        self.assertIsNone(summary.read(path))


if __name__ == "__main__":
    unittest.main()
