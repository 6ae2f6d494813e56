#!/usr/bin/env python3
"""Dead letters that nobody looks after (N9, T5): announced, written to a file, removed; and none of them lost,
whatever happens in between. On the shortest times that the configuration takes.

Usage: retention_test.py HOLDFAST"""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

from serve_test import HOLDFAST, Server

from waiting import eventually

CONFIG = """
[store]
keep_dead    = "1s"
keep_warning = "2s"
spill        = "spilled"

[task.t]
command = ["sh", "-c", "echo no way >&2; exit 1"]
retry   = { attempts = 1 }
"""


class RetentionTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-retention-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.spilled = os.path.join(self.folder, "spilled")
        os.mkdir(self.spilled)

    def serve(self, config=CONFIG):
        server = Server(self.folder, config)
        self.addCleanup(server.end, signal.SIGKILL)
        self.assertIsNotNone(server.port, "".join(server.log))
        return server

    def files(self):
        return sorted(os.path.join(self.spilled, name) for name in os.listdir(self.spilled)
                      if name.endswith(".jsonl"))  # fmt: skip

    def spilled_tasks(self):
        tasks = []
        for path in self.files():
            with open(path, encoding="utf-8") as file:
                tasks += [json.loads(line) for line in file]
        return tasks

    def dead(self, server, count):
        ids = [server.submit(type="t", payload={"number": number}) for number in range(count)]
        for task in ids:
            while server.call("GET", f"/v1/tasks/{task}")[1].get("state") not in ("dead", None):
                pass
        return ids

    def left(self, server):
        return sum(queue["tasks"]["dead"] for queue in server.call("GET", "/v1/stats")[1]["queues"])

    def metric(self, server, name):
        lines = server.call("GET", "/metrics")[1].splitlines()
        return float(next(line for line in lines if line.startswith(f'{name}{{state="dead"}}')).split()[1])

    def test_dead_letters_are_announced_spilled_and_removed_and_can_be_brought_back(self):
        server = self.serve()
        ids = self.dead(server, 5)
        expiring = eventually("they are announced", lambda: server.call("GET", "/v1/stats")[1]["expiring"])
        self.assertEqual([one["state"] for one in expiring], ["dead"])
        eventually("they are removed", lambda: self.left(server) == 0)
        self.assertEqual(sorted(task["id"] for task in self.spilled_tasks()), sorted(ids))
        for path in self.files():
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            self.assertRegex(os.path.basename(path), r"^dead-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-[0-9a-f]{8}\.jsonl$")
        one = next(task for task in self.spilled_tasks() if task["id"] == ids[3])
        self.assertEqual((one["payload"], one["state"]), ({"number": 3}, "dead"))
        self.assertIn("no way", json.dumps(one["history"]))
        self.assertEqual(self.metric(server, "holdfast_expired_tasks_total"), 5)
        self.assertEqual(self.metric(server, "holdfast_spilled_tasks_total"), 5)
        self.assertEqual(self.metric(server, "holdfast_expiring_tasks"), 0)
        eventually("it is in the log", lambda: "janitor.removed" in "".join(server.log))
        log = "".join(server.log)
        self.assertLess(log.index("janitor.expiring"), log.index("janitor.removed"))
        for path in self.files():
            done = subprocess.run([HOLDFAST, "dead", "import", path, "--server", f"http://127.0.0.1:{server.port}"],
                                  check=False, capture_output=True, text=True)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
        eventually("they came back, and died again", lambda: len(self.spilled_tasks()) == 10)
        again = [task["payload"]["number"] for task in self.spilled_tasks()]
        self.assertEqual(sorted(again), sorted([0, 1, 2, 3, 4] * 2))
        self.assertEqual(server.end(), 0)

    def test_nothing_is_removed_while_the_folder_is_missing(self):
        server = self.serve()
        ids = self.dead(server, 3)
        shutil.rmtree(self.spilled)
        eventually("it cannot be done", lambda: self.metric(server, "holdfast_spill_failures_total") >= 1)
        self.assertEqual(self.left(server), 3)
        self.assertEqual(self.metric(server, "holdfast_expired_tasks_total"), 0)
        eventually("it is in the log", lambda: "janitor.not_spilled" in "".join(server.log))
        os.mkdir(self.spilled)
        eventually("they are removed", lambda: self.left(server) == 0)
        self.assertEqual(sorted(task["id"] for task in self.spilled_tasks()), sorted(ids))
        self.assertEqual(server.end(), 0)

    def test_a_kill_between_the_file_and_the_removal_loses_none(self):
        ids = set()
        for _ in range(3):
            server = self.serve()
            ids |= set(self.dead(server, 40))
            seen = len(self.files())
            eventually("a file is there", lambda seen=seen: len(self.files()) > seen)
            server.end(signal.SIGKILL)
        server = self.serve()
        eventually("they are removed", lambda: self.left(server) == 0)
        self.assertEqual({task["id"] for task in self.spilled_tasks()}, ids)
        self.assertEqual(server.end(), 0)

    def test_a_shorter_time_to_keep_is_announced_first(self):
        server = self.serve(CONFIG.replace('"1s"', '"forever"'))
        self.dead(server, 2)
        self.assertEqual(server.call("GET", "/v1/stats")[1]["expiring"], [])
        self.assertEqual(server.end(), 0)
        server = self.serve(CONFIG.replace('"2s"', '"1h"'))
        expiring = eventually("they are announced", lambda: server.call("GET", "/v1/stats")[1]["expiring"])
        self.assertEqual((expiring[0]["count"], self.left(server)), (2, 2))
        self.assertEqual((server.end(), self.files()), (0, []))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
