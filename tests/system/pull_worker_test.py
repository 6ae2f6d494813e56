#!/usr/bin/env python3
"""The workers of examples/pull-worker, against the built server: what their README.md says of them (N11).

Usage: pull_worker_test.py HOLDFAST [Python | Shell]"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from serve_test import Server

SHORT = "3"  # seconds of a lease that has to end; long enough for slow machines to extend it
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/pull-worker")
CONFIG = """
[task.t]
queue = "pulled"
pull = true
retry = { attempts = 2, first = "1ms" }
"""
# Does what its payload says, in either language: {"print": …}, {"fail": …}, {"hopeless": …}, {"long": …}; or with
# {"hold": F} makes the file F.began, and ends when F is there.
PYTHON = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
import worker
def work(task, lost):
    told = task["payload"]
    if "fail" in told: raise RuntimeError(told["fail"])
    if "hopeless" in told: raise worker.Hopeless(told["hopeless"])
    if "hold" in told:
        open(told["hold"] + ".began", "w").close()
        while not os.path.exists(told["hold"]):
            time.sleep(0.02)
            if lost.is_set(): open(told["hold"] + ".lost", "w").close()
    if "long" in told: return "x" * (2 << 20)
    return told.get("print")
worker.work = work
worker.main()
"""
SHELL = """
told=$(cat)
get() { printf %s "$told" | jq -re ".$1 // empty"; }
if what=$(get fail); then echo "$what" >&2; exit 1; fi
if what=$(get hopeless); then echo "$what" >&2; exit 65; fi
if what=$(get hold); then
  trap ': >"$what.lost"; exit 1' TERM
  : >"$what.began"
  until [ -e "$what" ] || [ ! -e "$what.began" ]; do sleep 0.02; done
fi
if get long >/dev/null; then head -c 2000000 /dev/zero; exit; fi
get print
"""


class Pulling:
    """The cases, for a worker that command() starts. Nothing waits for time but for the end of a short lease."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-pull-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.port = 0

    def serve(self, config=CONFIG, env=None, **how):
        server = Server(self.folder, config, env, **how)
        self.addCleanup(server.end, signal.SIGKILL)
        self.assertIsNotNone(server.port, "".join(server.log))
        self.port = server.port
        return server

    def work(self, **env):
        url = f"http://127.0.0.1:{self.port}"
        with open(os.path.join(self.folder, "worker.log"), "a", encoding="utf-8") as log:
            ours = {"HOLDFAST_SERVER": url, "HOLDFAST_QUEUE": "pulled", "HOLDFAST_LEASE": "60"}
            worker = subprocess.Popen(self.command(), stdout=log, stderr=log, start_new_session=True,
                                      env=os.environ | ours | env)  # fmt: skip
        self.addCleanup(self.kill, worker)
        return worker

    @staticmethod
    def kill(worker):
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()

    def end(self, worker):
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(timeout=60), 0, self.log())

    def log(self):
        with open(os.path.join(self.folder, "worker.log"), encoding="utf-8") as file:
            return file.read()

    def path(self, name):
        return os.path.join(self.folder, name)

    def until_there(self, name):
        while not os.path.exists(self.path(name)):
            time.sleep(0.01)

    def release(self, name):
        with open(self.path(name), "w", encoding="utf-8"):
            pass

    def submit(self, server, payload, **fields):
        return server.submit(type="t", queue="pulled", payload=payload, **fields)

    def test_success_failure_retry_and_giving_up(self):  # T1
        server = self.serve()
        worker = self.work()
        done = server.ended(self.submit(server, {"print": "zwölf \"Grüße\""}))
        self.assertEqual((done["state"], self.text_of(done)), ("succeeded", 'zwölf "Grüße"'))
        dead = server.ended(self.submit(server, {"fail": "connection reset by peer"}))
        self.assertEqual((dead["state"], dead["attempts"]), ("dead", 2))
        self.assertIn("connection reset by peer", dead["last_failure"]["message"])
        given_up = server.ended(self.submit(server, {"hopeless": "no such customer"}))
        self.assertEqual((given_up["state"], given_up["attempts"]), ("failed", 1))
        self.end(worker)
        self.assertEqual(server.end(), 0)

    def test_a_result_that_the_server_refuses_is_given_up_and_not_tried_for_ever(self):
        server = self.serve("max_body = \"1MiB\"\n" + CONFIG)
        self.work()
        task = self.submit(server, {"long": True})
        given_up = server.ended(task)
        self.assertEqual((given_up["state"], given_up["crashes"]), ("failed", 0), given_up)

    def test_long_work_is_extended_and_sigterm_finishes_it(self):  # T3
        server = self.serve()
        worker = self.work(HOLDFAST_LEASE=SHORT)
        task = self.submit(server, {"hold": self.path("go"), "print": "held"})
        self.until_there("go.began")
        # In twice as long as the lease, nobody else gets it.
        _, other = server.call("POST", "/v1/claims", {"queue": "pulled", "wait": "6s"})
        self.assertEqual(other["claims"], [])
        worker.send_signal(signal.SIGTERM)
        self.release("go")
        self.assertEqual(worker.wait(timeout=60), 0)
        _, done = server.call("GET", f"/v1/tasks/{task}")
        self.assertEqual((done["state"], done["crashes"]), ("succeeded", 0), done)

    def test_N6_a_lost_lease_is_noticed_and_nothing_is_settled(self):
        server = self.serve()
        worker = self.work(HOLDFAST_LEASE=SHORT)
        task = self.submit(server, {"hold": self.path("go"), "print": "first"})
        self.until_there("go.began")
        os.killpg(worker.pid, signal.SIGSTOP)  # away for longer than its lease
        while True:
            _, other = server.call("POST", "/v1/claims", {"queue": "pulled", "wait": "10s", "lease": "60s"})
            if other["claims"]:
                break
        os.killpg(worker.pid, signal.SIGCONT)
        self.until_there("go.lost")
        self.release("go")
        while "not settled" not in self.log():
            time.sleep(0.01)
        token = other["claims"][0]["token"]
        status, _ = server.call("POST", f"/v1/claims/{task}/complete", {"token": token, "result": "second"})
        self.assertEqual(status, 200)
        self.assertEqual(server.ended(task)["result"], "second")
        again = self.submit(server, {"print": "next"})  # and it goes on
        self.assertEqual(self.text_of(server.ended(again)), "next")

    def test_T11_a_killed_worker_leaves_its_task_to_the_next(self):
        server = self.serve()
        task = self.submit(server, {"hold": self.path("go"), "print": "done"})
        worker = self.work(HOLDFAST_LEASE=SHORT)
        self.until_there("go.began")
        self.kill(worker)
        self.release("go")
        self.work()
        done = server.ended(task)
        self.assertEqual((done["state"], done["crashes"], done["attempts"]), ("succeeded", 1, 0), done)

    def test_T10_it_is_patient_with_a_server_that_is_away(self):
        server = self.serve()
        worker = self.work()
        task = self.submit(server, {"hold": self.path("go"), "print": "done"})
        self.until_there("go.began")
        server.end(signal.SIGKILL)
        self.release("go")
        while "127.0.0.1" not in self.log():  # it says that nobody answers
            time.sleep(0.01)
        self.assertIsNone(worker.poll())
        server = self.serve(listen=f"127.0.0.1:{self.port}")
        done = server.ended(task)
        self.assertEqual((done["state"], done["crashes"]), ("succeeded", 0), done)

    def test_it_works_with_a_token_only_where_there_are_tokens(self):
        token = "planted-operate-token"
        server = self.serve(CONFIG + '[token.w]\nrole = "operate"\nsecret = "env:W"\n', {"W": token})
        self.assertEqual(self.work(HOLDFAST_API_TOKEN="x" * 20).wait(timeout=60), 1)  # and it says why:
        self.assertIn("401", self.log())
        self.work(HOLDFAST_API_TOKEN=token)
        own = {"Authorization": "Bearer " + token}
        task = {"type": "t", "queue": "pulled", "payload": {"print": "x"}}
        status, task = server.call("POST", "/v1/tasks", task, own)
        self.assertEqual(status, 201)
        while server.call("GET", f"/v1/tasks/{task['id']}", headers=own)[1]["state"] != "succeeded":
            time.sleep(0.01)
        self.assertNotIn(token, self.log())


class Python(Pulling, unittest.TestCase):
    def command(self):
        return [sys.executable, "-B", "-c", PYTHON, EXAMPLES]

    @staticmethod
    def text_of(done):
        return done["result"]

    def test_a_result_that_is_no_json_is_a_failure_of_the_task(self):
        self.command = lambda: [sys.executable, "-B", "-c", PYTHON.replace("told.get(\"print\")", "{1, 2}"), EXAMPLES]
        server = self.serve()
        self.work()
        dead = server.ended(self.submit(server, {}))
        self.assertEqual(dead["state"], "dead")
        self.assertIn("TypeError", dead["last_failure"]["message"])

    def test_the_example_as_it_stands(self):
        self.command = lambda: [os.path.join(EXAMPLES, "worker.py")]
        server = self.serve()
        self.work(PYTHONDONTWRITEBYTECODE="1")
        done = server.ended(self.submit(server, {"text": "to hold fast"}))
        self.assertEqual(done["result"], {"words": 3})
        self.assertEqual(server.ended(self.submit(server, {"no": "text"}))["state"], "failed")


class Shell(Pulling, unittest.TestCase):
    def command(self):
        return [os.path.join(EXAMPLES, "worker.sh"), "sh", "-c", SHELL]

    @staticmethod
    def text_of(done):
        return done["result_text"].rstrip("\n")

    def test_payloads_and_results_arrive_byte_for_byte(self):
        self.command = lambda: [os.path.join(EXAMPLES, "worker.sh"), "cat"]
        server = self.serve()
        self.work()
        payloads = {"payload_text": "two\nlines\n", "payload_base64": "AP/+gA==", "payload": [1, "ü", None]}
        for name, value in payloads.items():
            done = server.ended(server.submit(type="t", queue="pulled", **{name: value}))
            self.assertEqual(done[name.replace("payload", "result")], value)

    def test_the_example_of_its_page(self):
        program = '{words: (.text | split(" ") | length)}'
        self.command = lambda: [os.path.join(EXAMPLES, "worker.sh"), "jq", "-jc", program]
        server = self.serve()
        self.work()
        self.assertEqual(server.ended(self.submit(server, {"text": "to hold fast"}))["result"], {"words": 3})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
