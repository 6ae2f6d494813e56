#!/usr/bin/env python3
"""N2 with the built server: a replay of many that is killed on its way, again and again, goes on in the next life,
brings back every dead letter once, and counts right. And what somebody sees who watches it from a terminal.

Usage: operations_test.py HOLDFAST"""

import os
import signal
import subprocess
import sys
import unittest

from serve_test import HOLDFAST, SystemTest, store_at

from waiting import eventually

TASKS = 300
CONFIG = """
[task.bad]
command = ["sh", "-c", "[ -e mended ] || { echo disk on fire >&2; exit 1; }"]
retry   = { attempts = 1 }
[queue.default]
concurrency = 4
"""


class OperationsTest(SystemTest):
    def serve_dead(self):
        """A server with dead letters whose cause is gone, and their ids."""
        server = self.serve(CONFIG)
        answer = server.call("POST", "/v1/tasks", [{"type": "bad"}] * TASKS)[1]
        eventually("all are dead", lambda: self.states(server)["dead"] == TASKS)
        with open(os.path.join(self.folder, "mended"), "w", encoding="utf-8"):
            pass
        return server, [task["id"] for task in answer]

    def states(self, server):
        return server.call("GET", "/v1/queues")[1]["queues"][0]["tasks"]

    def others(self, server, ids):
        """The tasks that have not succeeded."""
        tasks = [server.call("GET", f"/v1/tasks/{task}")[1] for task in ids]
        return [task for task in tasks if task["state"] != "succeeded"]

    def test_N2_a_replay_goes_on_after_each_kill_and_brings_back_each_task_once(self):
        server, ids = self.serve_dead()
        wish = {"query": "state:dead", "rate": 60, "start": True, "reason": "the disk is new"}
        status, begun = server.call("POST", "/v1/operations", wish)
        self.assertEqual(status, 201, begun)
        path = f"/v1/operations/{begun['id']}"
        # On a shared store another life waits until it is sure that nobody has it: half a minute.
        for kill in range(1 if store_at.ON_REDIS else 3):
            wanted = 60 * (kill + 1)
            eventually("it is on its way", lambda wanted=wanted: self.progress(server, path)["done"] >= wanted)
            server.end(signal.SIGKILL)
            server = self.serve(CONFIG)
        done = eventually("it is done", lambda: self.ended(server, path))
        self.assertEqual((done["state"], done["progress"]["done"], done["progress"]["refused"]), ("done", TASKS, 0))
        eventually("all have succeeded", lambda: self.states(server)["succeeded"] == TASKS,
                   otherwise=lambda: self.others(server, ids))
        for task in ids:
            history = server.call("GET", f"/v1/tasks/{task}")[1]["history"]
            replays = [past for past in history if past["event"] == "replay"]
            self.assertEqual([past["owner"] for past in replays],
                             [f"local, operation {begun['id']}: the disk is new"])  # fmt: skip
        audit = server.call("GET", "/v1/audit")[1]["entries"]
        told = [(entry["action"], entry["count"]) for entry in audit if entry.get("operation") == begun["id"]]
        self.assertEqual(told, [("replay", TASKS), ("operation.start", 0)])
        self.assertEqual(server.end(), 0)

    def progress(self, server, path):
        return server.call("GET", path)[1]["progress"]

    def ended(self, server, path):
        operation = server.call("GET", path)[1]
        return operation if operation["state"] in ("done", "failed", "canceled") else None

    def test_N2_who_watches_is_told_how_to_find_it_again(self):
        server, _ = self.serve_dead()
        words = ["dead", "replay", "--all", "--yes", "--rate", "20", "--server", f"http://127.0.0.1:{server.port}"]
        watching = subprocess.Popen([HOLDFAST, *words], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        operation = eventually("it runs", lambda: next(
            (one for one in server.call("GET", "/v1/operations")[1]["operations"] if one["progress"]["done"] > 0), None))  # fmt: skip
        server.end(signal.SIGKILL)
        out, error = watching.communicate(timeout=100)
        self.assertNotEqual(watching.returncode, 0, out)
        self.assertIn(f"holdfast operations show {operation['id']}", error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
