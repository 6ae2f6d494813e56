#!/usr/bin/env python3
"""Tests of the test runner: a failure is named, a crash says which case it was in, nothing is counted that did not run."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import gtest_run  # noqa: E402
import results  # noqa: E402
import summary  # noqa: E402
from steps import BUILD, TEST, Count, Lanes, Stage, Step, one_test  # noqa: E402

# Speaks as a GoogleTest program does. Cases are words of CASES: name=behaviour.
PROGRAM = """#!/usr/bin/env python3
import json, os, signal, subprocess, sys, time
cases = [word.split("=") for word in os.environ["CASES"].split()]
if "--gtest_list_tests" in sys.argv:
    suite = ""
    for name, _ in cases:
        if name.split(".")[0] != suite:
            suite = name.split(".")[0]
            print(suite + "."  + ("  # TypeParam = int" if suite == "Typed/0" else ""))
        print("  " + name.split(".")[1] + ("  # GetParam() = 1" if suite == "Typed/0" else ""))
    sys.exit(int(os.environ.get("LIST_CODE", "0")))
chosen = os.environ.get("GTEST_FILTER", "*").split(":")
failed = 0
report = []
print("before all", flush=True)
if os.environ.get("EARLY") == "crash": os.abort()
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
    if how == "exit": os._exit(0)
    if how == "claim_and_exit": print(f"[       OK ] {name} (1 ms)", flush=True); os._exit(0)
    if how == "no_newline": print("no newline", end="", flush=True)
    if how == "quote_run": print("[ RUN      ] Other.case", flush=True)
    if how == "chatter":
        while True: print("still here", flush=True); time.sleep(0.01)
    if how == "close":
        os.close(1); os.close(2); time.sleep(60)
    if how == "hang": time.sleep(60)
    if how == "hang_in_child": subprocess.run(["flock", os.environ["LOCK"], "sleep", "60"])
    if how == "cut_off": os.write(2, bytes([0xff]) + b" is no UTF-8\\ncut off"); os.abort()
    if how == "quote_and_fail": print("[       OK ] Other.case (3 ms)", flush=True); how = "fail"
    if how == "fail": failed += 1
    end = {"fail": "[  FAILED  ]", "skip": "[  SKIPPED ]"}.get(how, "[       OK ]")
    param = ", where GetParam() = 1" if how == "fail" and name.startswith("Typed") else ""
    print(f"{end} {name}{param} (12 ms)", flush=True)
    suite, case = name.split(".")
    failures = {"failures": [{"failure": f"{name} is wrong"}]} if how == "fail" else {}
    report.append({"name": suite, "testsuite": [{"name": case, "status": "RUN", "time": "0.012s",
                   "result": "SKIPPED" if how == "skip" else "COMPLETED", **failures}]})
    if how == "last": os._exit(0)
if "GTEST_OUTPUT" in os.environ:
    with open(os.environ["GTEST_OUTPUT"].split(":", 1)[1], "w") as file:
        json.dump({"testsuites": report}, file)
if os.environ.get("LATE") == "crash": os.kill(os.getpid(), signal.SIGABRT)
if os.environ.get("LATE") == "exit": sys.exit(1)
if os.environ.get("LATE") == "hang": time.sleep(60)
sys.exit(1 if failed else 0)
"""


def assert_released(test: unittest.TestCase, lock: str) -> None:
    """That no process holds the lock any more: a killed one may need a moment."""
    with open(lock, encoding="utf-8") as file:
        for _ in range(200):
            try:
                return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.02)
    test.fail("a process that was to be ended still runs")


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
        name = options[options.index("--name") + 1] if "--name" in options else "some_test"
        results_folder = os.path.join(self.folder, "results")
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(HERE, "gtest_run.py"), *options, "--", self.program],
            env=os.environ | {"CASES": cases, "HOLDFAST_TEST_RESULTS": results_folder} | env,
            capture_output=True, text=True, check=False, timeout=60)  # fmt: skip
        path = os.path.join(results_folder, f"{name}.json")
        if not os.path.exists(path):
            return done.returncode, done.stdout, {}
        with open(path, encoding="utf-8") as file:
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
        code, said, found = self.run_it("A.one=hang A.two=pass", "--case-limit", "3")
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
        self.assertIn("the program has no cases", said)

    def test_shards_run_each_case_once(self) -> None:
        cases = "A.one=pass A.two=crash A.three=pass Typed/0.four=pass Typed/0.five=fail"
        found = [self.run_it(cases, "--shard", f"{index}/2")[2] for index in (0, 1)]
        self.assertEqual(sorted([*found[0], *found[1]]), sorted(case.split("=")[0] for case in cases.split()))
        self.assertEqual((found[0] | found[1])["A.two"], "crashed")

    def test_a_list_of_cases_that_breaks_off_is_a_failure(self) -> None:
        code, said, found = self.run_it("A.one=pass A.two=pass", "--shard", "0/2", LIST_CODE="3")
        self.assertEqual((code, said, found), (1, "", {}))

    def test_a_shard_writes_its_results_under_its_own_name(self) -> None:
        code, said, found = self.run_it("A.one=pass A.two=pass", "--name", "some_test_1", "--shard", "1/2")
        self.assertEqual((code, said, found), (0, "some_test_1: 1 passed, 0 failed\n", {"A.two": "passed"}))

    def test_a_hang_is_ended_with_all_that_it_started(self) -> None:
        lock = os.path.join(self.folder, "lock")
        self.run_it("A.one=hang_in_child", "--case-limit", "2", LOCK=lock)
        assert_released(self, lock)

    def test_a_hang_behind_the_last_case_is_a_failure(self) -> None:
        code, said, _ = self.run_it("A.one=pass", "--case-limit", "2", LATE="hang")
        self.assertEqual(code, 1)
        self.assertIn("the program failed outside of its cases: it hung", said)

    def test_an_exit_code_that_no_case_explains_is_a_failure(self) -> None:
        code, said, found = self.run_it("A.one=pass", LATE="exit")
        self.assertEqual((code, found), (1, {"A.one": "passed", "(outside of a case)": "failed"}))
        self.assertIn("the program failed outside of its cases: exit code 1", said)

    def test_a_failure_before_a_crash_is_counted_once(self) -> None:
        _, _, found = self.run_it("A.one=fail A.two=crash A.three=pass")
        self.assertEqual(found, {"A.one": "failed", "A.two": "crashed", "A.three": "passed"})

    def test_what_a_crash_said_last_is_shown_even_if_it_is_cut_off(self) -> None:
        _, said, found = self.run_it("A.one=cut_off")
        self.assertEqual(found, {"A.one": "crashed"})
        self.assertIn("said by A.one\n\ufffd is no UTF-8\ncut off\nthe program ended within this case: SIGABRT", said)

    def test_a_case_that_prints_the_end_of_another_one_has_not_ended(self) -> None:
        code, _, found = self.run_it("A.one=quote_and_fail")
        self.assertEqual((code, found), (1, {"A.one": "failed"}))

    def test_the_duration_of_a_case_is_in_seconds(self) -> None:
        self.run_it("A.one=pass")
        with open(os.path.join(self.folder, "results", "some_test.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["cases"][0]["seconds"], 0.012)


    def test_a_case_that_did_not_run_is_a_failure(self) -> None:
        for cases in ("A.one=last A.two=pass", "A.one=claim_and_exit A.two=pass"):
            code, said, found = self.run_it(cases)
            self.assertEqual(code, 1, said)
            self.assertEqual(found["A.two"], "passed")  # it was run again
            self.assertIn("the program failed outside of its cases: exit code 0", said)

    def test_what_a_case_prints_does_not_change_what_is_counted(self) -> None:
        code, said, found = self.run_it("A.one=no_newline A.two=quote_run A.three=pass Other.case=pass")
        self.assertEqual((code, set(found.values()), len(found)), (0, {"passed"}, 4), said)

    def test_a_hang_that_talks_and_one_that_has_closed_its_output_are_named(self) -> None:
        for how in ("chatter", "close"):
            code, _, found = self.run_it(f"A.one={how} A.two=pass", "--case-limit", "3")
            self.assertEqual((code, found), (1, {"A.one": "hung", "A.two": "passed"}))

    def test_the_environment_does_not_choose_cases_or_hide_findings_of_sanitizers(self) -> None:
        for name, value in (("GTEST_FILTER", "A.one"), ("GTEST_TOTAL_SHARDS", "2"), ("TESTBRIDGE_TEST_ONLY", "A.one")):
            code, _, found = self.run_it("A.one=pass A.two=pass", **{name: value})
            self.assertEqual((code, len(found)), (0, 2))
        with mock.patch.dict(os.environ, {"TSAN_OPTIONS": "exitcode=0", "ASAN_OPTIONS": "exitcode=0"}):
            env = gtest_run.environment()
        self.assertEqual(env["TSAN_OPTIONS"], "halt_on_error=1")
        self.assertNotIn("ASAN_OPTIONS", env)

    def test_a_program_that_fails_before_its_first_case_is_not_run_for_ever(self) -> None:
        code, said, found = self.run_it("A.one=pass A.two=pass", EARLY="crash")
        self.assertEqual(code, 1)
        self.assertEqual((found["A.one"], found["A.two"]), ("did not run", "did not run"))
        self.assertIn("SIGABRT", said)

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

    def log_of(self, step: Step) -> str:
        with open(step.log, encoding="utf-8") as log:
            return log.read()

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
        self.assertEqual((first.state(), second.state()), ("failed", "stopped"))
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

    def test_progress_says_what_runs_and_how_far_it_is(self) -> None:
        at = self.folder
        wait = f"until [ -e {at}/go ]; do sleep 0.01; done"
        stages = [Stage("one", "", [self.step("build", BUILD, f"echo '[1/9] a'; echo '[7/9] b'; touch {at}/on; {wait}")])]
        lanes = Lanes(stages, os.path.join(at, "logs"), lambda line: None)
        run = threading.Thread(target=lanes.run)
        run.start()
        wait_until(lambda: os.path.exists(f"{at}/on"))
        self.assertRegex(lanes.progress(), r"^   one build \d+ s \[7/9\]$")
        open(f"{at}/go", "w", encoding="utf-8").close()
        run.join()
        self.assertEqual(lanes.progress().strip(), "")

    def test_a_command_that_does_not_exist_is_a_failure(self) -> None:
        for lane in (BUILD, TEST):
            step = Step("gone", lane, ["/no/such/program"])
            lanes = self.run_stages(Stage("one", "", [step, self.step("tests", TEST, "true")]))
            self.assertIs(lanes.failure, step)
            self.assertIn("/no/such/program", step.error)

    def test_results_or_a_log_that_cannot_be_used_are_a_failure(self) -> None:
        step = Step("tests", TEST, ["true"], count=results.of_ctest("/no/such.xml", self.folder))
        self.assertIs(self.run_stages(Stage("one", "", [step])).failure, step)
        os.makedirs(os.path.join(self.folder, "logs", "two.tests.log"))
        step = self.step("tests", TEST, "true")
        self.assertIs(self.run_stages(Stage("two", "", [step])).failure, step)

    def test_a_run_that_was_stopped_before_its_first_step_has_not_passed(self) -> None:
        lanes = Lanes([Stage("one", "", [self.step("tests", TEST, "true")])], self.folder, lambda line: None)
        lanes.stop()
        self.assertFalse(lanes.run())

    def test_a_step_whose_tests_failed_has_failed_whatever_its_exit_code(self) -> None:
        step = Step("tests", TEST, ["true"], count=lambda *_: Count(passed=5, failed=1))
        self.assertIs(self.run_stages(Stage("one", "", [step])).failure, step)

    def test_a_step_that_exits_with_an_error_has_failed_whatever_its_tests_came_to(self) -> None:
        step = Step("tests", TEST, ["false"], count=lambda *_: Count(passed=5))
        self.assertIs(self.run_stages(Stage("one", "", [step])).failure, step)

    def test_a_stage_waits_for_its_own_build(self) -> None:
        first = Stage("one", "", [self.step("build", BUILD, "true"), self.step("tests", TEST, "true")])
        second = Stage("two", "", [self.step("build", BUILD, f"sleep 0.3; touch {self.folder}/built"),
                                   self.step("tests", TEST, f"[ -e {self.folder}/built ]")])
        self.assertIsNone(self.run_stages(first, second).failure)

    def test_the_first_failure_ends_what_the_other_lane_has_started(self) -> None:
        lock = f"{self.folder}/lock"
        first = Stage("one", "", [self.step("tests", TEST, f"until [ -e {lock}.held ]; do sleep 0.01; done; exit 1")])
        script = f"exec 9>{lock}; flock 9; touch {lock}.held; sleep 60 & wait"
        self.run_stages(first, Stage("two", "", [self.step("build", BUILD, script)]))
        assert_released(self, lock)

    def test_stop_ends_the_steps_of_both_lanes(self) -> None:
        began = [f"{self.folder}/{lane}" for lane in (BUILD, TEST)]
        stages = [Stage("one", "", [self.step("tests", TEST, f"touch {began[1]}; sleep 60")]),
                  Stage("two", "", [self.step("build", BUILD, f"touch {began[0]}; sleep 60")])]
        lanes = Lanes(stages, os.path.join(self.folder, "logs"), lambda line: None)
        running = threading.Thread(target=lanes.run, daemon=True)
        running.start()
        while not all(map(os.path.exists, began)):
            time.sleep(0.01)
        lanes.stop()
        running.join(10)
        self.assertFalse(running.is_alive())
        self.assertTrue(lanes.stopped)

    def test_a_step_gets_its_environment_and_a_build_yields_to_tests(self) -> None:
        steps = [Step(lane, lane, ["sh", "-c", 'echo "$GIVEN" $(nice)'], env={"GIVEN": lane}) for lane in (BUILD, TEST)]
        self.run_stages(Stage("one", "", steps))
        niceness = os.nice(0)
        self.assertEqual(self.log_of(steps[0]), f"build {min(19, niceness + 10)}\n")
        self.assertEqual(self.log_of(steps[1]), f"test {niceness}\n")

    def test_each_step_has_a_log_of_its_own_with_its_errors(self) -> None:
        stages = [Stage(name, "", [self.step("some tests", TEST, f"echo {name} >&2")]) for name in ("one", "two")]
        self.run_stages(*stages)
        self.assertEqual([self.log_of(stage.steps[0]) for stage in stages], ["one\n", "two\n"])

    def test_a_command_that_is_one_test_counts_once_with_its_duration(self) -> None:
        for script, passed in (("sleep 0.2", 1), ("sleep 0.2; exit 1", 0)):
            step = self.step("check", TEST, script)
            self.run_stages(Stage("one", "", [step]))
            self.assertEqual((step.result.passed, step.result.failed), (passed, 1 - passed))
            self.assertEqual(step.result.slowest, [(step.seconds, "check")])
            self.assertTrue(0.2 <= step.seconds < 30, step.seconds)


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
        self.assertEqual(found.failures, ["core_test", "ended_test", "carried"])

    def test_what_unittest_says_last_counts_and_not_what_a_test_printed(self) -> None:
        said = "Ran 70 tests in 1s\n\nOK (skipped=9)\nRan 6 tests in 2s\n\nFAILED (failures=2, errors=1)"
        found = self.count(f'<s><testcase name="a" time="1" status="fail"><system-out>{said}</system-out></testcase></s>')
        self.assertEqual((found.passed, found.failed, found.skipped), (3, 3, 0))

    def test_what_ctest_did_not_run_has_failed(self) -> None:
        for status in ("notrun", "disabled"):
            found = self.count(f'<s><testcase name="gone" time="0" status="{status}"/></s>')
            self.assertEqual((found.passed, found.failed), (0, 1))

    def test_the_totals_are_of_all_stages_and_the_slowest_come_first(self) -> None:
        stages = []
        for name, least in (("asan", 0), ("tsan", 8)):
            count = Count(passed=5, failed=1, skipped=2, slowest=[(least + more, "some") for more in range(8)])
            stages.append(Stage(name, "", [Step("tests", TEST, [], result=count)]))
        told = summary.as_json(stages, 1, False)
        self.assertEqual(told["tests"], {"passed": 10, "failed": 2, "skipped": 4})
        self.assertEqual([row["seconds"] for row in told["slowest"]], list(range(15, 5, -1)))
        self.assertRegex(summary.as_table(stages, 1), r"(?m)^together +1 +12$")

    def test_the_table_and_its_json_say_the_same_and_show_growth(self) -> None:
        step = Step("tests", TEST, [], seconds=31.0, result=Count(passed=3, failed=1, slowest=[(30.5, "cli")]))
        stages = [Stage("asan", "", [Step("build", BUILD, [], seconds=60.0), step])]
        told = summary.as_json(stages, 91.2, False)
        self.assertEqual(told["stages"], [{"stage": "asan", "state": "stopped", "build_seconds": 60, "test_seconds": 31, "tests": 4}])
        self.assertEqual(told["slowest"], [{"seconds": 30.5, "test": "asan: cli"}])
        self.assertEqual((told["passed"], told["seconds"], told["tests"]["failed"]), (False, 91, 1))
        path = os.path.join(self.folder, "summary.json")
        summary.write(path, told)
        self.assertIsNone(summary.read(path))  # only a run that passed is worth comparing with
        summary.write(path, told | {"passed": True})
        table = summary.as_table(stages, 91.2, summary.read(path))
        self.assertRegex(table, r"asan +60 +31 +4   stopped   before: +60 +31 +4")
        self.assertIn("30.5 s  asan: cli", table)
        self.write("summary.json", '{"cut off')
        self.assertIsNone(summary.read(path))


if __name__ == "__main__":
    unittest.main()
