#!/usr/bin/env python3
"""What people try first: `make run` (scripts/run) and `holdfast demo`, each as it is on a terminal's Ctrl-C.

Usage: run_test.py HOLDFAST"""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HOLDFAST = os.path.abspath(sys.argv[1])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def hear_ctrl_c():
    """A shell lets its background jobs ignore SIGINT, and they hand that on; a bash script cannot undo it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Tried(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-run-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *command, **env):
        """A process group of its own, as a terminal gives it."""
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=hear_ctrl_c,
                                   env=os.environ | {"TMPDIR": self.folder} | env)  # fmt: skip
        self.addCleanup(process.stdout.close)
        self.addCleanup(self.kill, process)
        return process

    @staticmethod
    def kill(process):
        """Gently first: the server that it has started is no child of ours."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if process.poll() is None:
                os.killpg(process.pid, number)
                try:
                    process.wait(timeout=60)
                except subprocess.TimeoutExpired:
                    pass

    def read_until(self, process, pattern):
        """The match, in a line that the process prints."""
        lines = []
        for line in process.stdout:
            lines.append(line)
            if found := re.search(pattern, line):
                return found
        self.fail("ended early:\n" + "".join(lines))

    def ctrl_c(self, process):
        os.killpg(process.pid, signal.SIGINT)
        rest = process.stdout.read()
        return process.wait(timeout=60), rest

    def get(self, port, path):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        self.assertEqual(answer.status, 200, text)
        return json.loads(text)

    def test_make_run_feeds_a_server_and_ends_with_a_proof(self):
        with socket.socket() as taken:  # so it looks further
            try:
                taken.bind(("127.0.0.1", 8080))
                taken.listen()
            except OSError:
                pass  # somebody else has it
            run = self.start(os.path.join(ROOT, "scripts/run"), HOLDFAST)
            port = int(self.read_until(run, r"Holdfast serves http://127\.0\.0\.1:(\d+)")[1])
            while "Ctrl-C ends it" not in (line := run.stdout.readline()):
                self.assertLessEqual(len(line.replace(self.folder, "/tmp").rstrip("\n")), 80, line)
            self.assertGreater(port, 8080)
        fates = set()
        while not {("mail.send", "succeeded"), ("price.fetch", "succeeded"), ("invoice.post", "failed"),
                   ("report.render", "dead"), ("photo.convert", "dead"), ("text.count", "pending")} <= fates:  # fmt: skip
            time.sleep(0.1)
            for state in ("succeeded", "failed", "dead", "pending"):
                page = self.get(port, f"/v1/tasks?state={state}&limit=100")
                fates |= {(task["type"], state) for task in page["tasks"]}
        self.assertEqual(len(self.get(port, "/v1/dead/groups")["groups"]), 3)
        code, rest = self.ctrl_c(run)
        self.assertEqual(code, 0, rest)
        self.assertIn("Clean: every task that was accepted is accounted for.", rest)
        self.assertEqual(os.listdir(self.folder), [])

    def test_make_run_says_what_keeps_the_server_from_starting(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            run = self.start(os.path.join(ROOT, "scripts/run"), HOLDFAST, PORT=str(port))
            said = run.stdout.read()
            self.assertEqual(run.wait(timeout=60), 1)
        self.assertIn("the server did not start", said)
        self.assertIn(f"If another program uses port {port}, choose another one", said)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_second_ctrl_c_leaves_the_running_tasks_their_time_and_the_proof(self):
        run = self.start(os.path.join(ROOT, "scripts/run"), HOLDFAST)
        port = int(self.read_until(run, r"Holdfast serves http://127\.0\.0\.1:(\d+)")[1])
        while not self.get(port, "/v1/tasks?state=running&type=report.render&limit=1")["tasks"]:
            time.sleep(0.05)
        os.killpg(run.pid, signal.SIGINT)
        self.read_until(run, "Stopping")
        code, rest = self.ctrl_c(run)
        self.assertEqual(code, 0, rest)
        self.assertIn("Clean: every task that was accepted is accounted for.", rest)
        self.assertEqual(os.listdir(self.folder), [])

    def test_make_run_keeps_the_log_of_a_server_that_ended_by_itself(self):
        run = self.start(os.path.join(ROOT, "scripts/run"), HOLDFAST)
        self.read_until(run, "Ctrl-C ends it")
        with open(f"/proc/{run.pid}/task/{run.pid}/children", encoding="utf-8") as file:
            children = [int(pid) for pid in file.read().split()]
        for pid in children:
            if os.readlink(f"/proc/{pid}/exe") == HOLDFAST:
                os.kill(pid, signal.SIGKILL)
        log = self.read_until(run, r"the server ended by itself\. Its log: (\S+)$")[1]
        self.assertEqual(run.wait(timeout=60), 1)
        with open(log, encoding="utf-8") as file:
            self.assertIn("server.ready", file.read())

    def test_a_demo_that_is_ended_early_still_proves_what_there_is(self):
        demo = self.start(HOLDFAST, "demo")
        self.read_until(demo, r"succeeded [1-9]")
        code, rest = self.ctrl_c(demo)
        self.assertEqual(code, 3, rest)
        self.assertRegex(rest, r"\d+ accepted = .*succeeded")
        self.assertIn("Nothing was lost.", rest)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
