#!/usr/bin/env python3
"""Tests of scripts/test and scripts/test-long, with stand-ins for the tools they call: what runs, in which order, what is
reported, and that nothing passes that did not run."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "support")]

import processes  # noqa: E402
from scratch import Scratch  # noqa: E402
from script_tree import Tree  # noqa: E402

STAGES = ["rules", "asan", "release", "tsan", "gcc"]

# As ctest does: a report of one program with two cases, the second of which fails if FAIL says so.
CTEST = """
import json
arguments = sys.argv[1:]
junit = arguments[arguments.index("--output-junit") + 1] if "--output-junit" in arguments else ""
if junit:
    with open(junit, "w") as file:
        file.write('<testsuite><testcase name="core_test" time="1.5" status="%s"/></testsuite>'
                   % ("fail" if failed else "run"))
    with open("temporary", "w") as file:
        file.write(os.environ.get("TMPDIR", "") + "|" + str(os.path.isdir(os.environ.get("TMPDIR", ""))))
    folder = os.environ["HOLDFAST_TEST_RESULTS"]
    os.makedirs(folder)
    cases = [{"name": "A.one", "outcome": "passed"}, {"name": "A.two", "outcome": "failed" if failed else "passed"}]
    with open(folder + "/core_test.json", "w") as file:
        json.dump({"name": "core_test", "cases": cases}, file)
"""
# As ctest does if it finds no tests.
NO_TESTS = """
with open(sys.argv[sys.argv.index("--output-junit") + 1], "w") as file:
    file.write("<testsuite/>")
failed = "--no-tests=error" in sys.argv
"""
RUN_BEHIND_DASHES = """
import subprocess
failed = subprocess.run(sys.argv[sys.argv.index("--") + 1:]).returncode != 0
"""
RUNNER = ("tests/runner/steps.py", "tests/runner/ctest.py", "tests/runner/results.py", "tests/runner/summary.py",
          "tests/runner/scratch.py", "tests/support/processes.py")  # fmt: skip


def hear_signals() -> None:
    """As in a terminal: nohup and jobs in the background ignore some."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class ScriptsTree(Tree):
    def temporary(self) -> tuple[str, bool]:
        """TMPDIR as a test saw it, and whether it was there."""
        with open(self.at("temporary"), encoding="utf-8") as file:
            path, there = file.read().split("|")
        return path, there == "True"

    def check_temporary_files(self, *command: str) -> None:
        with mock.patch.dict(os.environ):
            os.environ.pop("TMPDIR", None)  # of the run that this is part of
            in_memory = Scratch()
        self.addCleanup(in_memory.remove)
        for fails in ("", "ctest"):
            with self.subTest(fails):
                self.run_script(*command, FAIL=fails)
                path, there = self.temporary()
                self.assertEqual((path.startswith("/dev/shm/holdfast-test-"), there), (in_memory.path is not None,) * 2)
                self.assertFalse(os.path.exists(path))


class Test(ScriptsTree):
    COPIED = ("scripts/test", *RUNNER)
    TOOLS = ("bin/cmake", "scripts/coverage", "tests/tidy/tidy.py", "tests/runner/used_files.py",
             "node_modules/.bin/tsc", "node_modules/.bin/prettier", "tests/install/check", "tests/package/check")
    SUMMARY = "build/test-run/summary.json"
    LAST_PASSED = "build/test-run/last-passed.json"

    def setUp(self) -> None:
        super().setUp()
        self.stand_in("bin/ctest", CTEST)
        self.stand_in("tests/support/rabbitmq.py", RUN_BEHIND_DASHES)

    def summary(self) -> dict:
        with open(self.at(self.SUMMARY), encoding="utf-8") as file:
            return json.load(file)

    def test_runs_every_stage_once_it_is_built(self) -> None:
        code, said = self.run_script("test")
        self.assertEqual(code, 0, said)
        calls = self.calls()
        for preset in ("asan", "release", "tsan", "gcc"):
            configured = calls.index(f"cmake --preset {preset} -B build/{preset}")
            built = next(n for n, call in enumerate(calls) if call.startswith(f"cmake --build build/{preset} "))
            self.assertLess(configured, built)
            if preset != "release":
                tested = next(n for n, call in enumerate(calls) if call.startswith(f"ctest --preset {preset} "))
                self.assertLess(built, tested)
        ran = {call.split()[0] for call in calls}
        self.assertEqual(ran, {"cmake", "ctest", "coverage", "tidy.py", "used_files.py", "tsc", "prettier", "check",
                               "rabbitmq.py"})  # fmt: skip
        self.assertEqual([call for call in calls if call.startswith("check")], ["check build/release"] * 2)
        self.assertIn("coverage --gates", calls)
        self.assertTrue(any("--target threads_tests" in call for call in calls))

    def test_ends_with_the_count_of_tests_and_a_summary(self) -> None:
        code, said = self.run_script("test")
        checks = 3 + 2 + 2  # rules, asan, release
        self.assertEqual(said.splitlines()[-1], f"{checks + 3 * 2} passed, 0 failed")
        self.assertIn("all stages passed in", said)
        told = self.summary()
        self.assertEqual((code, told["passed"], [row["stage"] for row in told["stages"]]), (0, True, STAGES))
        self.assertEqual(told["tests"], {"passed": checks + 6, "failed": 0, "skipped": 0})

    def test_what_was_skipped_is_said(self) -> None:
        self.stand_in("bin/ctest", CTEST.replace('"failed" if failed else "passed"', '"skipped"'))
        code, said = self.run_script("test", "tsan")
        self.assertEqual((code, said.splitlines()[-1]), (0, "1 passed, 0 failed, 1 skipped"))
        self.assertRegex(said, r"(?m)^   tsan     tests .* 1 passed, 1 skipped$")

    def test_names_a_failed_test_and_how_to_run_it_again(self) -> None:
        code, said = self.run_script("test", FAIL="ctest --preset tsan")
        self.assertEqual(code, 1)
        self.assertIn("core_test", said)
        self.assertIn("again: cmake --build build/tsan --target threads_tests && ctest --preset tsan -R '^core_test$' "
                      "--output-on-failure", said)  # fmt: skip
        self.assertRegex(said.splitlines()[-1], r"^\d+ passed, 1 failed$")
        self.assertNotIn("all stages passed", said)
        self.assertFalse(self.summary()["passed"])

    def test_says_how_to_run_a_failed_check_again(self) -> None:
        _, said = self.run_script("test", "rules", FAIL="tidy.py")
        self.assertIn("again: /usr/bin/python3 -B tests/tidy/tidy.py", said)

    def test_any_step_that_fails_fails_the_run(self) -> None:
        for step in ("tidy.py", "used_files.py", "tsc", "prettier", "cmake --preset gcc",
                     "cmake --build build/gcc", "coverage", "check", "ctest --preset gcc"):  # fmt: skip
            with self.subTest(step):
                code, said = self.run_script("test", FAIL=step)
                self.assertEqual(code, 1)
                self.assertRegex(said.splitlines()[-1], r"^\d+ passed, [1-9]\d* failed")

    def test_temporary_files_are_in_memory_and_gone_at_the_end(self) -> None:
        self.check_temporary_files("test", "tsan")

    def test_TMPDIR_of_the_user_is_used_and_kept(self) -> None:
        self.run_script("test", "tsan", TMPDIR=self.root)
        self.assertEqual(self.temporary(), (self.root, True))
        self.assertTrue(os.path.exists(self.root))

    def test_variables_of_the_user_do_not_reach_tests(self) -> None:
        self.stand_in("bin/ctest", CTEST + """
with open("variables", "w") as file:
    file.write(" ".join(sorted(os.environ)))
""")
        foreign = ["HOLDFAST_TEST_STORE", "HOLDFAST_REGENERATE", "ASAN_OPTIONS", "TSAN_OPTIONS", "RC_PARAMS", "NODE_OPTIONS",
                   "UBSAN_OPTIONS", "LSAN_OPTIONS", "TESTBRIDGE_TEST_ONLY", "LLVM_PROFILE_FILE", "CFLAGS", "CPPFLAGS",
                   "LDFLAGS", "MAKEFLAGS", "MFLAGS", "GTEST_FILTER", "PYTHONOPTIMIZE", "CXXFLAGS", "CTEST_PARALLEL_LEVEL", "NODE_TEST_CONTEXT",
                   "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]  # fmt: skip
        self.run_script("test", "tsan", CCACHE_DISABLE="1", **{name: "1" for name in foreign})
        with open(self.at("variables"), encoding="utf-8") as file:
            seen = file.read().split()
        self.assertEqual([name for name in foreign if name in seen], [])
        self.assertTrue({"PATH", "CCACHE_DISABLE", "HOLDFAST_TEST_RESULTS"} <= set(seen))

    def test_a_test_that_hangs_is_ended_by_ctest(self) -> None:
        self.run_script("test", "tsan", "gcc")
        calls = [call for call in self.calls() if call.startswith("ctest")]
        self.assertEqual([" --timeout 1500 " in call for call in calls], [True, True])

    def test_a_list_of_tests_to_ignore_is_removed(self) -> None:
        for ending in ("cmake", "ctest"):
            self.write(f"build/tsan/CTestCustom.{ending}", "")
        self.run_script("test", "tsan")
        for ending in ("cmake", "ctest"):
            self.assertFalse(os.path.exists(self.at(f"build/tsan/CTestCustom.{ending}")))

    def test_a_failure_is_one_if_whoever_started_it_ignores_the_end_of_children(self) -> None:
        for fails in ("tidy.py", "prettier", "cmake --build"):
            with self.subTest(fails):
                done = subprocess.run([self.at("scripts/test"), "rules", "tsan"], env=self.environment(FAIL=fails),
                                      cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                      preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))  # fmt: skip
                self.assertEqual(done.returncode, 1)

    def test_a_check_that_hangs_is_ended_and_named(self) -> None:
        with open(self.at("tests/runner/ctest.py"), encoding="utf-8") as file:
            text = file.read()
        self.write("tests/runner/ctest.py", text.replace("HANGS_AFTER_S = 1500", "HANGS_AFTER_S = 1"))
        code, said = self.run_script("test", "rules", WAIT="tsc")
        self.assertEqual(code, 1)
        self.assertIn("did not end within 1 s", said)
        self.assertIn("again: node_modules/.bin/tsc -p web", said)

    def test_a_stage_that_is_named_twice_runs_once_and_is_no_whole_run(self) -> None:
        code, said = self.run_script("test", *["rules"] * len(STAGES))
        self.assertEqual((code, said.splitlines()[-1]), (0, "3 passed, 0 failed"))
        self.assertFalse(os.path.exists(self.at(self.SUMMARY)))

    def test_growth_is_shown_beside_the_last_run_that_passed(self) -> None:
        self.run_script("test")
        self.run_script("test", FAIL="ctest --preset gcc")
        self.assertIn("the last run that passed", self.run_script("test")[1])

    def test_goes_on_when_nobody_reads_what_it_says(self) -> None:
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([self.at("scripts/test"), "tsan"], env=self.environment(), stdout=write, check=False, timeout=60)
        os.close(write)
        self.assertEqual(done.returncode, 0)

    def test_what_a_killed_run_left_is_ended_by_the_next(self) -> None:
        process = self.start("rules", WAIT="tidy.py", CALLS=self.calls_file)
        self.wait_for_call("tidy.py")
        process.kill()
        process.wait()
        left = subprocess.Popen(["sleep", "60"], env={"HOLDFAST_TEST_STEP": f"{self.root}#{process.pid}-1;"})
        self.addCleanup(left.kill)
        self.assertEqual(self.run_script("test", "tsan")[0], 0)
        self.assertEqual(left.wait(timeout=60), -signal.SIGKILL)

    def test_one_stage_alone_leaves_the_summary_of_whole_runs(self) -> None:
        self.run_script("test")
        before = self.summary()
        code, said = self.run_script("test", "tsan", FAIL="ctest")
        self.assertEqual((code, self.summary()), (1, before))
        code, said = self.run_script("test", "rules")
        self.assertEqual((code, self.summary(), said.splitlines()[-1]), (0, before, "3 passed, 0 failed"))

    def test_an_unknown_stage_is_a_usage_error_and_runs_nothing(self) -> None:
        code, said = self.run_script("test", "rules", "tasn")
        self.assertEqual((code, self.calls()), (2, []))
        self.assertIn("no stage 'tasn'; there are: rules asan release tsan gcc", said)

    def test_help_runs_nothing(self) -> None:
        code, said = self.run_script("test", "--help")
        self.assertEqual((code, self.calls()), (0, []))
        self.assertIn("Usage: scripts/test", said)

    def start(self, *arguments: str, **env: str) -> subprocess.Popen:
        process = subprocess.Popen([self.at("scripts/test"), *arguments], env=self.environment(**env), cwd=self.root,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, preexec_fn=hear_signals)  # fmt: skip
        self.addCleanup(process.communicate)
        self.addCleanup(process.terminate)
        return process

    def test_a_second_run_in_the_same_tree_is_refused(self) -> None:
        self.start("rules", WAIT="tidy.py")
        self.wait_for_call("tidy.py")
        code, said = self.run_script("test", "tsan")
        self.assertEqual(code, 2)
        self.assertIn("another test run is going on", said)
        self.assertFalse(any(call.startswith("ctest") for call in self.calls()))

    def test_a_run_that_is_stopped_has_not_passed_and_writes_no_summary(self) -> None:
        process = self.start(WAIT="tidy.py")
        self.wait_for_call("tidy.py")
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn("STOPPED in", said)
        self.assertEqual(said.splitlines()[-1], "0 passed, 0 failed, stopped before the end")
        self.assertFalse(os.path.exists(self.at(self.SUMMARY)))

    def test_a_tool_that_is_missing_says_how_to_install_it(self) -> None:
        os.unlink(self.at("node_modules/.bin/tsc"))
        code, said = self.run_script("test", "rules")
        self.assertEqual(code, 1)
        self.assertIn("cannot run node_modules/.bin/tsc: no such file. To install what is missing: make deps", said)

    def test_every_signal_that_ends_a_session_stops_the_run(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                process = self.start("rules", WAIT="tidy.py")
                self.wait_for_call("tidy.py")
                process.send_signal(number)
                said, _ = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 1)
                self.assertIn("STOPPED in", said)
                os.unlink(self.calls_file)

    def test_a_signal_that_whoever_started_it_ignores_is_ignored(self) -> None:
        process = subprocess.Popen(["nohup", self.at("scripts/test"), "rules"], env=self.environment(WAIT="tidy.py"),
                                   cwd=self.root, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        self.wait_for_call("tidy.py")
        process.send_signal(signal.SIGHUP)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(1)

    def test_a_run_that_is_refused_leaves_what_the_other_has_started(self) -> None:
        process = self.start("rules", WAIT="tidy.py")
        self.wait_for_call("tidy.py")
        self.assertEqual(self.run_script("test", "tsan")[0], 2)
        self.assertIsNone(process.poll())
        self.assertEqual(len(processes.marked(f"HOLDFAST_TEST_STEP={self.root}#")), 1)

    def test_the_table_compares_a_whole_run_with_the_one_before(self) -> None:
        self.run_script("test")
        self.write(self.LAST_PASSED, json.dumps(self.summary() | {"seconds": 98765}))
        _, said = self.run_script("test", "rules")
        self.assertNotIn("the last run that passed", said)
        _, said = self.run_script("test")
        self.assertRegex(said, r"(?m)^elapsed .* 98765$")
        self.assertLess(self.summary()["seconds"], 98765)

    def test_results_of_an_earlier_run_are_not_read(self) -> None:
        self.run_script("test", "tsan")
        self.stand_in("bin/ctest", "pass")  # succeeds, but writes nothing
        code, said = self.run_script("test", "tsan")
        self.assertEqual((code, said.splitlines()[-1]), (1, "0 passed, 1 failed"))

    def test_a_stage_without_any_tests_has_failed(self) -> None:
        self.stand_in("bin/ctest", NO_TESTS)
        for stage in ("asan", "tsan", "gcc"):
            with self.subTest(stage):
                self.assertEqual(self.run_script("test", stage)[0], 1)

    def test_a_failure_shows_the_end_of_its_log_and_all_cases_that_failed(self) -> None:
        self.stand_in("node_modules/.bin/tsc", "print('FAILED: A.one', *range(300), sep='\\n')\nfailed = True")
        lines = self.run_script("test", "rules")[1].splitlines()
        for line, shown in (("FAILED: A.one", 1), ("99", 0), ("100", 1), ("299", 1)):
            self.assertEqual(lines.count(line), shown, line)

    def test_a_build_that_fails_counts_as_a_failure(self) -> None:
        for step in ("cmake --preset", "cmake --build"):  # while no test runs beside it
            code, said = self.run_script("test", "tsan", FAIL=step)
            self.assertEqual((code, said.splitlines()[-1]), (1, "0 passed, 1 failed"))


class ScratchTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="scratch-test-")
        self.addCleanup(folder.cleanup)
        self.memory = folder.name
        self.system = mock.Mock(f_bavail=1 << 20, f_frsize=4096, f_flag=0)  # 4 GiB
        without = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
        for patched in (mock.patch("os.statvfs", return_value=self.system), mock.patch.dict(os.environ, without, clear=True)):
            self.addCleanup(patched.stop)
            patched.start()

    def test_removes_what_a_run_has_left_and_nothing_else(self) -> None:
        used = Scratch(self.memory)
        left = os.path.join(self.memory, "holdfast-test-left")
        os.makedirs(os.path.join(left, "locked"))
        os.chmod(os.path.join(left, "locked"), 0o500)
        other = os.path.join(self.memory, "other")
        os.mkdir(other)
        os.symlink(other, os.path.join(self.memory, "holdfast-test-link"))
        mine = Scratch(self.memory)
        self.assertEqual(set(os.listdir(self.memory)),
                         {os.path.basename(used.path), os.path.basename(mine.path), "other", "holdfast-test-link"})
        for one in (used, mine):
            one.remove()
        self.assertEqual(set(os.listdir(self.memory)), {"other", "holdfast-test-link"})

    def test_removes_folders_that_nobody_may_change(self) -> None:
        program = ("import os, sys; sys.path.insert(0, sys.argv[1]); from scratch import Scratch\n"
                   "if os.getuid() == 0:\n"  # which may change it all the same
                   "    os.setgroups([]), os.setgid(65534), os.setuid(65534)  # only now: this tree may be closed to others\n"
                   "scratch = Scratch(sys.argv[2]); os.makedirs(f'{scratch.path}/one/two')\n"
                   "open(f'{scratch.path}/one/file', 'w').close(); os.chmod(f'{scratch.path}/one', 0o500)\n"
                   "os.chmod(f'{scratch.path}/one/two', 0); scratch.remove()")  # fmt: skip
        os.chmod(self.memory, 0o777)
        for run in range(2):  # the second one also finds what the first one may have left
            done = subprocess.run([sys.executable, "-B", "-c", program, HERE, self.memory],
                                  capture_output=True, text=True, check=False, timeout=60)  # fmt: skip
            self.assertEqual((done.returncode, done.stderr, os.listdir(self.memory)), (0, "", []), run)

    def test_leaves_folders_of_other_users_alone(self) -> None:
        left = os.path.join(self.memory, "holdfast-test-left")
        os.mkdir(left)
        with mock.patch("os.getuid", return_value=os.getuid() + 1):
            Scratch(self.memory).remove()
        self.assertTrue(os.path.exists(left))

    def test_memory_that_is_small_or_missing_or_cannot_hold_programs_is_not_used(self) -> None:
        self.system.f_bavail -= 1
        self.assertIsNone(Scratch(self.memory).path)
        self.system.f_bavail += 1
        self.system.f_flag = os.ST_NOEXEC
        self.assertIsNone(Scratch(self.memory).path)
        self.system.f_flag = 0
        self.assertIsNone(Scratch(os.path.join(self.memory, "no-such-folder")).path)
        enough = Scratch(self.memory)
        self.assertEqual(os.stat(enough.path).st_mode & 0o777, 0o755)
        enough.remove()

    def test_what_an_earlier_run_left_is_gone_when_memory_is_short_too(self) -> None:
        os.mkdir(os.path.join(self.memory, "holdfast-test-left"))
        self.system.f_bavail -= 1  # perhaps because of what it left
        self.assertIsNone(Scratch(self.memory).path)
        self.assertEqual(os.listdir(self.memory), [])


class TestLong(ScriptsTree):
    COPIED = ("scripts/test-long", *RUNNER)
    TOOLS = ("bin/cmake", "bin/ctest", "scripts/lint", "scripts/fuzz", "tests/tidy/tidy.py", "tests/torture/torture.py",
             "tests/torture/redis_torture.py", "tests/system/http_torture_test.py", "tests/system/relayer_sqs_test.py",
             "tests/system/recover_matrix_test.py", "tests/system/rabbitmq_cluster_test.py",
             "build/long-simulation/tests/simulation/simulate")  # fmt: skip
    PARTS = ["per-file", "headers", "lint", "simulation", "torture", "recovery", "cluster", "repeat", "fuzz"]

    def setUp(self) -> None:
        super().setUp()
        self.stand_in("bin/ctest", CTEST)
        self.stand_in("tests/support/rabbitmq.py", RUN_BEHIND_DASHES)
        for name in ("amqp", "http"):
            self.write(f"tests/fuzz/{name}_fuzz.cpp", "")

    def test_the_list_names_each_part_with_its_duration_and_runs_nothing(self) -> None:
        code, said = self.run_script("test-long", "--list")
        self.assertEqual((code, self.calls()), (0, []))
        self.assertEqual([line.split()[0] for line in said.splitlines()], self.PARTS)
        for line in said.splitlines():
            self.assertRegex(line, r"\d+ (min|h)")

    def test_runs_every_part(self) -> None:
        code, said = self.run_script("test-long")
        self.assertEqual(code, 0, said)
        self.assertEqual(said.splitlines()[-1], "9 passed, 0 failed")
        calls = self.calls()
        for preset in ("dev", "tsan", "release", "gcc", "coverage"):
            self.assertIn(f"cmake --preset {preset} -B build/per-file/{preset} -DCMAKE_UNITY_BUILD=OFF", calls)
            self.assertTrue(any(call.startswith(f"cmake --build build/per-file/{preset} ") for call in calls))
        self.assertIn("tidy.py --every-header-alone", calls)
        self.assertIn("lint", calls)
        for store in ("torture.py", "redis_torture.py", "http_torture_test.py", "relayer_sqs_test.py", "recover_matrix_test.py",
                      "rabbitmq_cluster_test.py"):  # fmt: skip
            self.assertTrue(any(call.startswith(store) for call in calls), store)
        for name in ("amqp", "http"):
            self.assertIn(f"fuzz {name} 3600", calls)
        seeds = [call.split()[2] for call in calls if call.startswith("simulate")]
        self.assertEqual(sum(int(s.split("..")[1]) - int(s.split("..")[0]) + 1 for s in seeds), 100_000)

    def test_a_part_that_fails_does_not_stop_the_others_but_fails_the_run(self) -> None:
        for fails in ("lint", "simulate", "fuzz http", "redis_torture.py", "cmake --build build/per-file/gcc"):
            with self.subTest(fails):
                code, said = self.run_script("test-long", FAIL=fails)
                self.assertEqual((code, said.splitlines()[-1]), (1, "8 passed, 1 failed"))
                self.assertRegex(said, r"Failed: [a-z-]+\. Its logs: build/test-long/")
                with open(self.at("build/test-long/summary.json"), encoding="utf-8") as file:
                    self.assertFalse(json.load(file)["passed"])

    def test_every_torture_takes_as_long_as_said(self) -> None:
        for name in ("http_torture_test.py", "relayer_sqs_test.py"):
            self.stand_in(f"tests/system/{name}", f"""
with open("given-{name}", "w") as file:
    file.write(" ".join(os.environ.get("HOLDFAST_" + name, "") for name in ("TORTURE_SECONDS", "TEST_TASKS")))
""")
        self.run_script("test-long", "torture")
        for name, given in (("http_torture_test.py", "900 "), ("relayer_sqs_test.py", " 10000")):
            with open(self.at(f"given-{name}"), encoding="utf-8") as file:
                self.assertEqual(file.read(), given)
        for name in ("torture.py", "redis_torture.py"):
            self.assertIn(f"{name} build/release/tests/torture --rounds 300 --seconds 900", self.calls())

    def test_names_what_failed_and_its_log(self) -> None:
        said = self.run_script("test-long", "torture", "lint", FAIL="redis_torture.py")[1]
        self.assertRegex(said, r"(?m)^   torture  Redis +FAILED: build/test-long/torture\.Redis\.log$")

    def test_what_a_killed_run_left_is_ended_by_the_next(self) -> None:
        left = subprocess.Popen(["sleep", "60"], env={"HOLDFAST_TEST_STEP": f"{self.root}#1-1;"})
        self.addCleanup(left.kill)
        self.assertEqual(self.run_script("test-long", "lint")[0], 0)
        self.assertEqual(left.wait(timeout=30), -signal.SIGKILL)

    def test_histories_are_as_many_as_said_on_any_number_of_cores(self) -> None:
        with open(self.at("scripts/test-long"), encoding="utf-8") as file:
            text = file.read()
        self.write("scripts/test-long", text.replace("CORES = cores()", "CORES = 6"))
        os.chmod(self.at("scripts/test-long"), 0o755)
        self.run_script("test-long", "simulation")
        seeds = [call.split()[2].split("..") for call in self.calls() if call.startswith("simulate")]
        self.assertEqual((len(seeds), sum(int(end) - int(begin) + 1 for begin, end in seeds)), (6, 100_000))

    def test_a_part_that_is_named_twice_runs_once(self) -> None:
        code, said = self.run_script("test-long", "lint", "lint")
        self.assertEqual((code, said.splitlines()[-1], self.calls()), (0, "1 passed, 0 failed", ["lint"]))

    def test_a_second_run_in_the_same_tree_is_refused(self) -> None:
        process = subprocess.Popen([self.at("scripts/test-long"), "lint"], env=self.environment(WAIT="lint"),
                                   cwd=self.root, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        self.wait_for_call("lint")
        code, said = self.run_script("test-long", "headers")
        self.assertEqual(code, 2)
        self.assertIn("another test run is going on", said)

    def test_fuzzing_for_no_time_is_a_usage_error(self) -> None:
        self.assertEqual(self.run_script("test-long", "--fuzz-seconds", "0", "fuzz")[0], 2)

    def test_runs_only_the_parts_that_are_named(self) -> None:
        code, said = self.run_script("test-long", "--fuzz-seconds", "7", "fuzz")
        self.assertEqual((code, said.splitlines()[-1]), (0, "1 passed, 0 failed"))
        self.assertEqual(sorted(call for call in self.calls() if call.startswith("fuzz")), ["fuzz amqp 7", "fuzz http 7"])
        self.assertFalse(any(call.startswith("lint") for call in self.calls()))

    def test_an_unknown_part_is_a_usage_error_and_runs_nothing(self) -> None:
        code, said = self.run_script("test-long", "lint", "fuzzz")
        self.assertEqual((code, self.calls()), (2, []))
        self.assertIn("no part 'fuzzz'", said)

    def test_a_signal_stops_the_part_that_runs_and_those_behind_it(self) -> None:
        process = subprocess.Popen([self.at("scripts/test-long"), "headers", "lint"], cwd=self.root,
                                   env=self.environment(WAIT="tidy.py"), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
        self.addCleanup(process.communicate)
        self.addCleanup(process.terminate)
        self.wait_for_call("tidy.py")
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
        self.assertEqual((process.returncode, said.splitlines()[-1]), (1, "0 passed, 0 failed, 2 not finished"))
        self.assertIn("\nSTOPPED\n", said)
        self.assertNotIn("lint", self.calls())
        with open(self.at("build/test-long/summary.json"), encoding="utf-8") as file:
            self.assertFalse(json.load(file)["passed"])

    def test_the_tests_are_repeated_and_what_keeps_the_cores_busy_ends_with_them(self) -> None:
        code, said = self.run_script("test-long", "repeat")
        self.assertEqual((code, said.splitlines()[-1]), (0, "1 passed, 0 failed"))
        calls = [call for call in self.calls() if call.startswith("ctest --preset asan")]
        self.assertEqual(len(calls), 5)
        self.assertEqual(said.count("beside other work"), 2, said)
        self.assertRegex(said, r"(?m)^repeat +\d+ +\d+ +10$")  # tests: five times two
        self.assertNotIn("left these running", said)

    def test_temporary_files_of_repeated_tests_are_in_memory_too(self) -> None:
        self.check_temporary_files("test-long", "repeat")

    def test_a_test_that_fails_when_repeated_is_named(self) -> None:
        code, said = self.run_script("test-long", "repeat", FAIL="ctest")
        self.assertEqual((code, said.splitlines()[-1]), (1, "0 passed, 1 failed"))
        self.assertRegex(said, r"FAILED: build/test-long/repeat\.run_1\.log\n +core_test\n")

    def test_no_history_is_simulated_twice_or_left_out(self) -> None:
        self.run_script("test-long", "simulation")
        called = [call.split()[2].split("..") for call in self.calls() if call.startswith("simulate")]
        ranges = sorted((int(first), int(last)) for first, last in called)
        self.assertEqual([first for first, _ in ranges], [1, *(last + 1 for _, last in ranges[:-1])])

    def test_what_was_built_file_by_file_is_tested(self) -> None:
        code, said = self.run_script("test-long", "per-file", FAIL="ctest --test-dir build/per-file/dev --no-tests=error")
        self.assertEqual((code, said.splitlines()[-1]), (1, "0 passed, 1 failed"))
        self.assertIn(" --timeout 1500 ", self.calls()[-1])


if __name__ == "__main__":
    unittest.main()
