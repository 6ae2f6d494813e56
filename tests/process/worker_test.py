#!/usr/bin/env python3
"""Workers as processes of their own: what they do when they are asked to end (T3), and when a file is
taken. Nothing here waits for time to pass: a test goes on when the process has said something.

Usage: worker_test.py WORKER_PROGRAM EXAMPLE_WORKER"""

import os
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM, EXAMPLE = (os.path.abspath(path) for path in sys.argv[1:3])


class WorkerProcess(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-worker-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *command):
        process = subprocess.Popen(command, cwd=self.folder, text=True, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def worker(self, behaviour):
        return self.start(PROGRAM, "sqlite:tasks.db", behaviour)

    def expect_end(self, process, code, last_line):
        said, log = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, log)
        self.assertEqual(said.splitlines()[-1], last_line, log)

    def ask_to_end(self, process, number=signal.SIGTERM):
        """Sends the signal, and waits until it is heard."""
        process.send_signal(number)
        while line := process.stderr.readline():
            if "engine.stopping" in line:
                return
        self.fail("the signal was not heard")

    def check_that_the_task_finishes(self, number):
        process = self.worker("wait")
        self.assertIn("attempt 1", process.stdout.readline())
        self.ask_to_end(process, number)
        process.stdin.write("\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "returned\n")
        self.expect_end(process, 0, "ended succeeded attempts 0")

    def test_T3_SIGTERM_lets_the_running_task_finish(self):
        self.check_that_the_task_finishes(signal.SIGTERM)

    def test_T3_SIGINT_lets_the_running_task_finish(self):
        self.check_that_the_task_finishes(signal.SIGINT)

    def test_T3_a_second_signal_hurries_and_the_task_is_handed_back_at_no_cost(self):
        process = self.worker("obey")
        first = process.stdout.readline()
        self.ask_to_end(process)
        process.send_signal(signal.SIGTERM)
        self.expect_end(process, 3, "ended pending attempts 0")

        process = self.worker("wait")
        second = process.stdout.readline()
        self.assertEqual(first.split()[1], second.split()[1], "the same task (T2)")
        self.assertIn("attempt 1", second)
        self.assertLess(int(first.split()[-1]), int(second.split()[-1]), "its token has grown (N6)")
        process.stdin.write("\n")
        process.stdin.flush()
        process.send_signal(signal.SIGTERM)
        self.expect_end(process, 0, "ended succeeded attempts 0")

    def test_T3_a_handler_that_does_not_return_does_not_keep_the_process(self):
        process = self.worker("ignore")
        process.stdout.readline()
        self.ask_to_end(process)
        process.send_signal(signal.SIGTERM)
        self.expect_end(process, 3, "ended pending attempts 0")

    def test_N8_a_task_whose_process_was_killed_is_run_again_at_once(self):
        process = self.worker("obey")
        first = process.stdout.readline()
        process.kill()
        process.wait()
        process = self.worker("wait")
        second = process.stdout.readline()
        self.assertEqual(first.split()[1], second.split()[1])
        self.assertIn("attempt 2", second)
        process.stdin.write("\n")
        process.stdin.flush()
        process.send_signal(signal.SIGTERM)
        self.expect_end(process, 0, "ended succeeded attempts 0")

    def test_a_file_that_another_process_has_is_refused_by_its_name(self):
        owner = self.worker("obey")
        owner.stdout.readline()
        other = self.worker("obey")
        said, _ = other.communicate(timeout=60)
        self.assertEqual(other.returncode, 1)
        self.assertIn(str(owner.pid), said)

    def test_the_example_tries_again_and_ends_cleanly(self):
        process = self.start(EXAMPLE, "ann@example.org")
        self.assertEqual(process.stdout.readline(), "ann@example.org: sent at attempt 2\n")
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, log)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
