#!/usr/bin/env python3
"""The worker in 40 lines of examples/pull-worker, with the built server.

Usage: small_worker_test.py HOLDFAST"""

import os
import signal
import subprocess
import sys
import unittest

import serve_test

WORKER = os.path.join(os.path.dirname(__file__), "../../examples/pull-worker/small.py")
CONFIG = '[task.count]\npull = true\nqueue = "texts"\nretry = { attempts = 1 }\n'


class SmallWorkerTest(serve_test.SystemTest):
    def test_it_has_about_40_lines(self):
        with open(WORKER, encoding="utf-8") as file:
            self.assertLessEqual(len(file.readlines()), 45)

    def test_it_works_fails_and_outlives_its_server(self):  # N11
        server = self.serve(CONFIG)
        worker = subprocess.Popen(
            [sys.executable, WORKER], stdout=subprocess.DEVNULL,
            env=os.environ | {"HOLDFAST_SERVER": f"http://127.0.0.1:{server.port}", "HOLDFAST_QUEUE": "texts"})  # fmt: skip
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        done = server.ended(server.submit(type="count", payload={"text": "a b c"}))
        self.assertEqual((done["state"], done["result"]), ("succeeded", {"words": 3}))
        dead = server.ended(server.submit(type="count", payload={"no": "text"}))
        self.assertEqual(dead["state"], "dead")
        self.assertIn("KeyError", dead["last_failure"]["message"])
        port = server.port
        server.end(signal.SIGKILL)
        server = serve_test.Server(self.folder, CONFIG, listen=f"127.0.0.1:{port}")
        self.addCleanup(server.end, signal.SIGKILL)
        self.assertEqual(server.port, port, "".join(server.log))
        self.assertEqual(server.ended(server.submit(type="count", payload={"text": "d"}))["state"], "succeeded")
        self.assertEqual(server.end(), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
