#!/usr/bin/env python3
"""What the built server keeps with tasks and queues, and what it says when it cannot: limits, deadlines,
traces, a file of an older schema, a disk without room.

Usage: keeping_test.py HOLDFAST"""

import datetime
import http.client
import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from serve_test import HOLDFAST, Server

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACE = f"00-{TRACE_ID}-00f067aa0ba902b7-01"
OLD_FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/stores/sqlite")
# What ended in them ended long ago.
KEEP = '[store]\nkeep_succeeded = "forever"\nkeep_canceled = "forever"\n'


class KeepingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-keeping-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def serve(self, config=""):
        server = Server(self.folder, config)
        self.addCleanup(server.end, signal.SIGKILL)
        self.assertIsNotNone(server.port, "".join(server.log))
        return server

    def run_verb(self, *words):
        return subprocess.run([HOLDFAST, *words], cwd=self.folder, check=False, capture_output=True,
                              text=True)  # fmt: skip

    def test_a_full_queue_says_when_to_ask_again(self):
        server = self.serve("[queue.q]\npull = true\nbacklog = 2\n")
        first = server.submit(type="t", queue="q", key="k")
        server.submit(type="t", queue="q")
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("POST", "/v1/tasks", '{"type": "t", "queue": "q"}',
                           {"Content-Type": "application/json"})  # fmt: skip
        refused = connection.getresponse()
        self.assertEqual(refused.status, 429)
        self.assertGreater(int(refused.getheader("Retry-After")), 0)
        self.assertEqual(json.loads(refused.read())["type"], "urn:holdfast:overloaded")
        connection.close()
        status, again = server.call("POST", "/v1/tasks", {"type": "t", "queue": "q", "key": "k"})
        self.assertEqual((status, again["id"]), (200, first))
        status, some = server.call("POST", "/v1/tasks", [{"type": "t"}, {"type": "t", "queue": "q"}])
        self.assertEqual((status, some[1]["problem"]["status"]), (207, 429))
        self.assertEqual(server.end(), 0)
        self.assertNotIn("no effect", "".join(server.log))
        # The configuration says it, not what was kept before: with a table and without.
        for config in ("[queue.q]\npull = true\n", "[queue.q]\npull = true\nbacklog = 3\n", ""):
            server = self.serve(config)
            status, _ = server.call("POST", "/v1/tasks", {"type": "t", "queue": "q"})
            self.assertEqual(status, 429 if "backlog" in config else 201)
            self.assertEqual(server.end(), 0)

    def test_a_task_has_the_deadline_and_the_queue_of_its_type(self):
        server = self.serve('[task.t]\npull = true\nqueue = "pulled"\ndeadline = "1h"\n')
        _, kept = server.call("GET", "/v1/tasks/" + server.submit(type="t"))
        created, deadline = (datetime.datetime.fromisoformat(kept[name].replace("Z", "+00:00"))
                             for name in ("created", "deadline"))  # fmt: skip
        self.assertEqual(deadline - created, datetime.timedelta(hours=1))
        self.assertEqual(kept["queue"], "pulled")
        _, own = server.call("GET", "/v1/tasks/" + server.submit(type="t", deadline="2040-01-01T00:00:00Z"))
        self.assertTrue(own["deadline"].startswith("2040-01-01T00:00:00"), own)
        self.assertEqual(server.end(), 0)
        self.assertNotIn("no effect", "".join(server.log))

    def test_a_trace_goes_all_the_way(self):
        server = self.serve("""
[task.show]
command = ["sh", "-c", "echo ${TRACEPARENT-none}"]
[task.hopeless]
command = ["sh", "-c", "exit 65"]
""")
        done = server.ended(server.submit(type="show", trace=TRACE))
        self.assertEqual((done["result_text"], done["trace"]), (TRACE + "\n", TRACE))
        self.assertEqual(server.ended(server.submit(type="show"))["result_text"], "none\n")
        _, accepted = server.call("POST", "/v1/tasks", {"type": "hopeless"}, {"traceparent": TRACE})
        self.assertEqual(server.ended(accepted["id"])["trace"], TRACE)
        self.assertEqual(server.call("POST", "/v1/tasks", {"type": "show", "trace": "00-1"})[0], 400)
        self.assertEqual(server.end(), 0)
        failed = [json.loads(line) for line in server.log if '"task.failed"' in line]
        self.assertEqual([line["trace"] for line in failed], [TRACE_ID])

    def plant(self, schema):
        """A file as an older version has left it."""
        with open(f"{OLD_FILES}/schema_{schema}_testing.hpp", encoding="utf-8") as file:
            sql = re.search(r'R"sql\((.*)\)sql"', file.read(), re.S)[1]
        database = sqlite3.connect(os.path.join(self.folder, "holdfast.db"))
        database.executescript(sql)
        database.close()

    def test_C2_1_every_row_of_an_older_file_has_retry_on_failure_false(self):
        self.plant(3)
        server = self.serve(KEEP + "[queue.new]\npull = true\n")
        for old, state in (("01a1e4a0-7e4d-7084-962e-fe502c7381eb", "succeeded"),
                           ("01a1e4a0-7e5b-74a7-ab19-eef4f05f9932", "dead")):  # fmt: skip
            status, task = server.call("GET", f"/v1/tasks/{old}")
            self.assertEqual((status, task["state"]), (200, state))
            self.assertIs(task["retry_on_failure"], False)
        asked = server.submit(type="t", queue="new", retry_on_failure=True)
        self.assertIs(server.call("GET", f"/v1/tasks/{asked}")[1]["retry_on_failure"], True)
        self.assertEqual(server.end(), 0)
        database = sqlite3.connect(os.path.join(self.folder, "holdfast.db"))
        rows = "select count(*), sum(retry_on_failure is null), sum(retry_on_failure) from task"
        self.assertEqual(database.execute(rows).fetchone(), (9, 0, 1))
        database.close()
        after = self.run_verb("verify", "holdfast.db")
        self.assertEqual(after.returncode, 0, after.stderr)
        self.assertIn("(schema 5)", after.stdout)

    def test_a_file_of_the_first_schema_is_served_as_the_newest(self):
        self.plant(1)
        before = self.run_verb("verify", "holdfast.db")
        self.assertEqual(before.returncode, 0, before.stderr)
        self.assertIn("(schema 1)", before.stdout)
        server = self.serve(KEEP + "[queue.slow]\npull = true\n")
        _, old = server.call("GET", "/v1/tasks/01a1e2f8-6c20-77ae-b048-7feba9e6e0ec")
        self.assertEqual((old["state"], old["payload"]), ("succeeded", {"to": "ann"}))
        new = server.submit(type="t", queue="slow", trace=TRACE)
        self.assertEqual(server.call("GET", f"/v1/tasks/{new}")[1]["trace"], TRACE)
        self.assertEqual(server.end(), 0)
        self.assertIn("store.migrated", "".join(server.log))
        after = self.run_verb("verify", "holdfast.db")
        self.assertEqual(after.returncode, 0, after.stderr)
        self.assertIn("(schema 5)", after.stdout)
        self.assertIn("nothing to do", self.run_verb("migrate").stdout)

    def test_without_room_nothing_is_accepted_and_nothing_lost_until_there_is_room(self):
        server = self.serve("[queue.q]\npull = true\n")

        def allow(size):
            unlimited = resource.RLIM_INFINITY
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size or unlimited, unlimited))

        kept = [server.submit(type="t", queue="q") for _ in range(3)]
        # As a quota: what the server writes may grow no further than this.
        allow(os.path.getsize(os.path.join(self.folder, "holdfast.db-wal")) + 100_000)
        refused = None
        while refused is None:
            status, answer = server.call("POST", "/v1/tasks", {"type": "t", "queue": "q", "payload": "x" * 20_000})
            if status == 201:
                kept.append(answer["id"])
            else:
                refused = status, answer["type"]
        self.assertEqual(refused, (507, "urn:holdfast:exhausted"))
        status, answer = server.call("POST", "/v1/tasks", [{"type": "t", "queue": "q", "payload": "x" * 99_000}] * 2)
        self.assertEqual(status, 507, answer)
        for task in kept:
            self.assertEqual(server.call("GET", f"/v1/tasks/{task}")[0], 200)
        allow(None)
        kept.append(server.submit(type="t", queue="q"))
        _, queues = server.call("GET", "/v1/queues")
        counted = {queue["name"]: queue["tasks"]["pending"] for queue in queues["queues"]}
        self.assertEqual(counted, {"q": len(kept)})
        self.assertEqual(server.end(), 0)
        self.assertEqual(self.run_verb("verify", "holdfast.db").returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
