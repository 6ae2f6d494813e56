#!/usr/bin/env python3
"""Tests of gtest_run.py: a failure is named, a crash says which case it was in, nothing is counted that did not run."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import gtest_run  # noqa: E402
from eventually import assert_released, wait_until  # noqa: E402

# Speaks as a GoogleTest program does. Cases are words of CASES: name=behaviour.
LIMIT_S = "15"  # of a case that hangs; long enough for a program to start on a busy machine
PROGRAM = """#!/usr/bin/env python3
import json, os, signal, subprocess, sys, time
cases = [word.split("=") for word in os.environ["CASES"].split()]
if "--gtest_list_tests" in sys.argv:
    if os.environ.get("LIST") == "hang": time.sleep(60)
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
    if chosen != ["*"] and name not in chosen or how == "disabled":
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
        code, said, found = self.run_it("A.one=hang A.two=pass", "--case-limit", LIMIT_S)
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

    def test_a_list_of_cases_that_breaks_off_is_a_failure(self) -> None:
        code, said, found = self.run_it("A.one=pass A.two=pass", LIST_CODE="3")
        self.assertEqual((code, said, found), (1, "", {}))

    def test_two_cases_of_one_name_are_a_failure(self) -> None:
        code, said, _ = self.run_it("A.one=fail A.two=pass A.one=pass")
        self.assertEqual(code, 1)
        self.assertIn("FAILED: A.one (there twice)", said)

    def test_a_disabled_case_is_a_failure_and_one_that_only_has_the_word_in_its_name_runs(self) -> None:
        code, said, found = self.run_it("A.DISABLED_one=disabled A.says_DISABLED_too=pass")
        self.assertEqual((code, found), (1, {"A.DISABLED_one": "disabled", "A.says_DISABLED_too": "passed"}))

    def test_a_list_of_cases_that_hangs_is_a_failure(self) -> None:
        code, said, found = self.run_it("A.one=pass", "--case-limit", "3", LIST="hang")
        self.assertEqual((code, found), (1, {}))

    def test_results_are_written_under_the_given_name(self) -> None:
        code, said, found = self.run_it("A.one=pass", "--name", "some_test_on_redis")
        self.assertEqual((code, said, found), (0, "some_test_on_redis: 1 passed, 0 failed\n", {"A.one": "passed"}))

    def test_a_hang_is_ended_with_all_that_it_started(self) -> None:
        lock = os.path.join(self.folder, "lock")
        self.run_it("A.one=hang_in_child", "--case-limit", LIMIT_S, LOCK=lock)
        assert_released(self, lock)

    def test_a_hang_behind_the_last_case_is_a_failure(self) -> None:
        code, said, _ = self.run_it("A.one=pass", "--case-limit", LIMIT_S, LATE="hang")
        self.assertEqual(code, 1)
        self.assertIn("the program failed outside of its cases: it hung", said)

    def test_an_exit_code_that_no_case_explains_is_a_failure(self) -> None:
        code, said, found = self.run_it("A.one=pass", LATE="exit")
        self.assertEqual((code, found), (1, {"A.one": "passed", "(outside of a case)": "failed"}))
        self.assertIn("the program failed outside of its cases: exit code 1", said)

    def test_a_failure_before_a_crash_is_counted_once(self) -> None:
        _, said, found = self.run_it("A.one=fail A.two=crash A.three=pass")
        self.assertIn("--- A.one: failed\nsaid by A.one\n", said)
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
            code, _, found = self.run_it(f"A.one={how} A.two=pass", "--case-limit", LIMIT_S)
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

    def test_of_a_case_that_says_much_the_end_is_kept(self) -> None:
        said, most = gtest_run.Said(), gtest_run.OUTPUT_LINES
        for line in ("[ RUN      ] A.one", *map(str, range(most + 5))):
            said.add(line, {"A.one"})
        self.assertEqual(said.of("A.one").split("\n"), [str(n) for n in range(5, most + 5)])

    def test_SIGTERM_ends_all_that_the_program_has_started(self) -> None:
        lock = os.path.join(self.folder, "lock")

        def held() -> bool:
            with open(lock, "a", encoding="utf-8") as file:
                try:
                    return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB) is not None
                except BlockingIOError:
                    return True

        process = subprocess.Popen([sys.executable, "-B", os.path.join(HERE, "gtest_run.py"), "--", self.program],
                                   env=os.environ | {"CASES": "A.one=hang_in_child", "LOCK": lock},
                                   stdout=subprocess.DEVNULL)  # fmt: skip
        wait_until(held)
        process.terminate()
        self.assertNotEqual(process.wait(30), 0)
        assert_released(self, lock)

    def test_a_case_that_is_reported_as_not_run_has_no_outcome(self) -> None:
        cases = [{"name": name, "status": status, "result": "COMPLETED", "time": "0s"}
                 for name, status in (("one", "RUN"), ("two", "NOTRUN"))]  # fmt: skip
        path = os.path.join(self.folder, "report.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"testsuites": [{"name": "A", "testsuite": cases}]}, file)
        self.assertEqual([case.name for case in gtest_run.read_report(path)], ["A.one"])

    def test_a_crash_behind_the_quoted_end_of_another_case_is_in_its_own_case(self) -> None:
        said = gtest_run.Said()
        for line in ("[ RUN      ] A.one", "[       OK ] Other.case (3 ms)"):
            said.add(line, {"A.one", "Other.case"})
        self.assertEqual((said.current, said.ended), ("A.one", {}))


if __name__ == "__main__":
    unittest.main()
