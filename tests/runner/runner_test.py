#!/usr/bin/env python3
"""Tests of the test runner: the order of steps, what a failure or a stop ends, and what is counted."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import results  # noqa: E402
import summary  # noqa: E402
from steps import BUILD, TEST, Count, Lanes, Stage, Step, cores, one_test  # noqa: E402
from eventually import assert_released, wait_until  # noqa: E402
import processes  # noqa: E402  (in tests/support, where steps.py looks)


class LanesTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="runner-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.said: list[str] = []

    def step(self, name: str, lane: str, script: str) -> Step:
        return Step(name, lane, ["sh", "-c", script], count=one_test if lane == TEST else None)

    def log_of(self, step: Step) -> str:
        with open(step.log, encoding="utf-8") as log:
            return log.read()

    def run_stages(self, *stages: Stage) -> Lanes:
        lanes = Lanes(stages, os.path.join(self.folder, "logs"), self.said.append)
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

    def test_a_stage_that_was_built_but_not_tested_says_so(self) -> None:
        first = Stage("one", "", [self.step("tests", TEST, f"until [ -e {self.folder}/built ]; do sleep 0.01; done; exit 1")])
        second = Stage("two", "", [self.step("build", BUILD, "true"), self.step("tests", TEST, "true")])
        third = Stage("three", "", [self.step("build", BUILD, f"setsid sleep 60 & touch {self.folder}/built; wait"),
                                    self.step("tests", TEST, "true")])
        self.run_stages(first, second, third)
        self.assertEqual([stage.state() for stage in (first, second, third)], ["failed", "built, not tested", "stopped"])
        self.assertFalse(any("left these running" in line for line in self.said))

    def test_a_stage_that_was_not_begun_says_so(self) -> None:
        stages = [Stage("one", "", [self.step("build", BUILD, "exit 1")]),
                  Stage("two", "", [self.step("build", BUILD, "true"), self.step("tests", TEST, "true")])]  # fmt: skip
        self.run_stages(*stages)
        self.assertEqual([stage.state() for stage in stages], ["failed", "not run"])
        self.assertRegex(summary.as_table(stages, 1), r"(?m)^two +0 +0 +0   not run$")

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

    def test_a_step_that_was_stopped_has_not_failed(self) -> None:
        stage = Stage("one", "", [self.step("tests", TEST, f"touch {self.folder}/runs; sleep 60")])
        lanes = Lanes([stage], os.path.join(self.folder, "logs"), lambda line: None)
        run = threading.Thread(target=lanes.run)
        run.start()
        wait_until(lambda: os.path.exists(f"{self.folder}/runs"))
        lanes.stop()
        run.join(30)
        self.assertEqual((lanes.failure, stage.state(), stage.tests()), (None, "stopped", Count()))

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
        stages = [Stage("one", "", [self.step("build", BUILD, f"echo '[1/9] a'; echo '[7/9] b'; {wait}")])]
        lanes = Lanes(stages, os.path.join(at, "logs"), lambda line: None)
        run = threading.Thread(target=lanes.run, daemon=True)
        self.addCleanup(lanes.stop)
        run.start()
        wait_until(lambda: "[7/9]" in lanes.progress())
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

    def test_what_a_step_has_left_running_is_killed_whatever_became_of_it(self) -> None:
        for code in (0, 1):
            with self.subTest(code):
                lock = os.path.join(self.folder, f"lock{code}")
                step = Step("tests", TEST, ["sh", "-c", 'setsid sh -c "trap : TERM; exec flock $0 sleep 60" "$0" & '
                                            f'until [ -e "$0" ]; do sleep 0.01; done; exit {code}', lock], count=one_test)  # fmt: skip
                said: list[str] = []
                Lanes([Stage("one", "", [step])], os.path.join(self.folder, "logs"), said.append).run()
                assert_released(self, lock)
                self.assertIn("left these running, which were killed: ", said[0])

    def test_the_end_of_a_step_does_not_kill_what_a_later_one_runs(self) -> None:
        steps = [self.step(f"step {n}", TEST, "echo $HOLDFAST_TEST_STEP") for n in range(11)]  # 1 begins 10 and 11
        self.run_stages(Stage("one", "", steps))
        marks = [self.log_of(step).strip() for step in steps]
        self.assertTrue(all(marks))
        self.assertEqual([(a, b) for a in marks for b in marks if a != b and b.startswith(a)], [])

    def test_a_lane_that_breaks_ends_the_other_one(self) -> None:
        def refuse(line: str) -> None:
            raise OSError("nobody reads this")

        steps = [self.step("build", BUILD, "true"), self.step("tests", TEST, "true")]
        lanes = Lanes([Stage("one", "", steps)], os.path.join(self.folder, "logs"), refuse)
        with mock.patch("threading.excepthook"):
            self.assertFalse(lanes.run())

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

    def test_a_step_that_ignores_SIGTERM_is_killed(self) -> None:
        lock = f"{self.folder}/lock"
        script = f"trap '' TERM; exec 9>{lock}; flock 9; touch {lock}.held; sleep 60"
        lanes = Lanes([Stage("one", "", [self.step("tests", TEST, script)])], os.path.join(self.folder, "logs"), print)
        running = threading.Thread(target=lanes.run, daemon=True)
        with mock.patch("steps._END_WITHIN_S", 0.2):
            running.start()
            wait_until(lambda: os.path.exists(f"{lock}.held"))
            lanes.stop()
            running.join(20)  # still patched: the lane itself ends a step that it had only just started
        self.assertFalse(running.is_alive())
        assert_released(self, lock)

    def test_the_environment_of_a_step_goes_before_that_of_the_run(self) -> None:
        step = Step("tests", TEST, ["sh", "-c", 'echo "$GIVEN"'], env={"GIVEN": "to the step"})
        with mock.patch.dict(os.environ, {"GIVEN": "to the run"}):
            self.run_stages(Stage("one", "", [step]))
        self.assertEqual(self.log_of(step), "to the step\n")

    def test_steps_of_both_lanes_end_with_a_run_that_is_killed(self) -> None:
        program = ("import sys; sys.path.insert(0, sys.argv[1]); from steps import *\n"
                   "step = Step('step', sys.argv[2], ['sh', '-c', 'echo $$; exec sleep 90'])\n"
                   "Lanes([Stage('one', '', [step])], sys.argv[3], print).run()")  # fmt: skip
        for lane in (BUILD, TEST):
            with self.subTest(lane):
                logs = os.path.join(self.folder, lane)
                log = os.path.join(logs, "one.step.log")
                process = subprocess.Popen([sys.executable, "-B", "-c", program, HERE, lane, logs])
                wait_until(lambda: os.path.exists(log) and os.path.getsize(log))
                with open(log, encoding="ascii") as file:
                    pid = int(file.read())
                process.kill()
                process.wait()
                wait_until(lambda: not os.path.exists(f"/proc/{pid}"))

    def test_a_step_that_is_just_being_started_is_stopped_too(self) -> None:
        lanes = Lanes([Stage("one", "", [self.step("tests", TEST, "sleep 40")])], os.path.join(self.folder, "logs"), print)
        start = subprocess.Popen

        def start_and_stop(*arguments, **options) -> subprocess.Popen:
            process = start(*arguments, **options)
            lanes.stop()  # as a signal handler may, before the process is known
            return process

        began = time.monotonic()
        with mock.patch("steps.subprocess.Popen", start_and_stop):
            self.assertFalse(lanes.run())
        self.assertLess(time.monotonic() - began, 30)


JUNIT = """<testsuite>
  <testcase name="core_test" time="2.5" status="run"><system-out>core_test: 2 passed</system-out></testcase>
  <testcase name="ended_test" time="1" status="fail"><system-out>killed</system-out></testcase>
  <testcase name="cli" time="31.25" status="run"><system-out>..s\nRan 6 tests in 31.2s\n\nOK (skipped=1)</system-out></testcase>
  <testcase name="carried" time="4" status="fail"><system-out>Ran 13 tests in 4s\n\nFAILED (errors=2)</system-out></testcase>
  <testcase name="units_fuzz_corpus" time="0.1" status="run"><system-out/></testcase>
</testsuite>"""  # fmt: skip


class Results(unittest.TestCase):
    TOLD = {"passed": True, "seconds": 1, "tests": {"passed": 3},
            "stages": [{"stage": "one", "build_seconds": 1, "test_seconds": 2, "tests": 3}]}  # fmt: skip

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

    def test_a_script_of_which_nothing_ran_has_failed(self) -> None:
        for said, skipped in (("Ran 0 tests in 0s\n\nOK", 0), ("Ran 2 tests in 0s\n\nOK (skipped=2)", 2)):
            found = self.count(f'<s><testcase name="a" time="1" status="run"><system-out>{said}</system-out></testcase></s>')
            self.assertEqual((found.passed, found.failed, found.skipped, found.failures), (0, 1, skipped, ["a"]))
        self.write("core_test.json", json.dumps({"cases": [{"name": "A.one", "outcome": "skipped"}]}))
        found = self.count('<s><testcase name="core_test" time="1" status="run"/></s>')
        self.assertEqual((found.passed, found.failed, found.failures), (0, 1, ["core_test"]))

    def test_failures_that_were_expected_are_none(self) -> None:
        said = "Ran 10 tests in 2s\n\nFAILED (failures=1, expected failures=4)"
        found = self.count(f'<s><testcase name="a" time="1" status="fail"><system-out>{said}</system-out></testcase></s>')
        self.assertEqual((found.passed, found.failed), (9, 1))

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
        table = summary.as_table(stages, 1, overlapping=True)
        self.assertRegex(table, r"(?m)^tests +12$")
        self.assertRegex(table, r"(?m)^elapsed +1$")
        self.assertIn("a stage is built while", table)
        self.assertNotIn("a stage is built while", summary.as_table(stages, 1))
        self.assertRegex(summary.as_table(stages, 1, heading="part"), r"^part +build s")

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
        self.assertRegex(table, r"(?m)^asan +60 +31 +4 +60 +31 +4   stopped$")
        self.assertRegex(table, r"(?m)^elapsed +91 +91$")
        self.assertEqual(told["cores"], cores())
        self.assertIn("30.5 s  asan: cli", table)
        self.write("summary.json", '{"cut off')
        self.assertIsNone(summary.read(path))

    def test_an_error_outside_of_its_cases_takes_no_case_of_another_script_away(self) -> None:
        said = "Ran 0 tests in 0s\n\nFAILED (errors=1)"  # of setUpClass
        found = self.count(f'<s><testcase name="a" time="1" status="fail"><system-out>{said}</system-out></testcase></s>')
        self.assertEqual((found.passed, found.failed), (0, 1))

    def test_a_summary_that_cannot_be_written_leaves_the_one_before(self) -> None:
        path, told = os.path.join(self.folder, "summary.json"), dict(self.TOLD)
        summary.write(path, told)
        with self.assertRaises(TypeError):
            summary.write(path, told | {"slowest": object()})
        self.assertEqual(summary.read(path), told)


class Processes(unittest.TestCase):
    def test_a_server_is_killed_with_the_test_that_started_it(self) -> None:
        program = ("import subprocess, sys; sys.path.insert(0, sys.argv[1]); from processes import kill_with_parent\n"
                   "subprocess.run(['sh', '-c', 'trap \"\" TERM; echo $$; exec sleep 90'], preexec_fn=kill_with_parent)")
        support = os.path.join(os.path.dirname(HERE), "support")
        with subprocess.Popen([sys.executable, "-B", "-c", program, support], stdout=subprocess.PIPE) as process:
            pid = int(process.stdout.readline())
            process.kill()
        wait_until(lambda: not os.path.exists(f"/proc/{pid}"))

    def test_what_is_started_while_others_are_killed_is_killed_too(self) -> None:
        others = [subprocess.Popen(["sleep", "60"]) for _ in range(3)]
        first, second, third = (other.pid for other in others)
        looks = [[first], [first, second], [second, third], [third]]  # the last one: killed, and not gone yet
        with mock.patch("processes.marked", side_effect=looks):
            self.assertEqual(len(processes.kill_marked("some mark")), 3)
        for other in others:
            self.assertEqual(other.wait(10), -9)


if __name__ == "__main__":
    unittest.main()
