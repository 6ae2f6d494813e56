#!/usr/bin/env python3
"""The crash torture through HTTP: clients hand in, workers pull, commands run, and the server is killed
again and again. Whatever it has answered must hold: a task that was accepted is there, a key stands for one
task for ever, what was completed stays completed, and the file is clean.

It takes about 20 seconds; HOLDFAST_TORTURE_SECONDS=600 makes it longer, HOLDFAST_TORTURE_SEED=… another. With
--planted the server is one that answers before it commits, and must be found out.

Usage: http_torture_test.py HOLDFAST [--planted]"""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from serve_test import HOLDFAST, Server, store_at

SECONDS = float(os.environ.get("HOLDFAST_TORTURE_SECONDS", "15"))
SEED = int(os.environ.get("HOLDFAST_TORTURE_SEED", "0")) or random.randrange(1, 1 << 32)
PLANTED = "--planted" in sys.argv
PRODUCERS = 4
WORKERS = 3
MOST_KEYS = 4000  # of each producer; then it asks for those it has
CONFIG = """
[task.pulled]
pull = true
queue = "pulled"
[task.echo]
command = ["cat"]
queue = "commands"
[task.flaky]
command = ["sh", "-c", "exit 75"]
queue = "commands"
retry = { attempts = 2, first = "1ms" }
"""


class World:
    """What clients know of the server, and what they have found wrong with it."""

    def __init__(self):
        self.port = None  # changes with every life
        self.is_over = False
        self.does_not_start = False  # the server: nobody will be answered any more
        self.breaches = []
        self.lock = threading.Lock()
        self.ids = {}  # by key, as the server has answered
        self.results = {}  # by id: completions that the server has answered as done
        self.again = 0  # keys that were handed in again and were known

    def breach(self, text):
        with self.lock:
            self.breaches.append(text)

    def learn(self, key, answer):
        """What a key was answered with."""
        with self.lock:
            known = self.ids.setdefault(key, answer["id"])
            self.again += answer["existed"]
        if known != answer["id"]:
            self.breach(f"key {key} was task {known}, and is {answer['id']} now")


class Caller:
    """One client with a connection of its own, which goes with every life of the server."""

    def __init__(self, world):
        self.world = world
        self.connection = None
        self.port = None

    def call(self, method, path, body=None):
        """The status and the answer; nothing if none came, which says nothing."""
        try:
            if self.connection is None or self.port != self.world.port:
                self.close()
                self.port = self.world.port
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            text = None if body is None else json.dumps(body)
            self.connection.request(method, path, text, {"Content-Type": "application/json"})
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            self.close()
            time.sleep(0.01)  # nobody is there at the moment
            return None

    def insist(self, method, path, body):
        """Asks until it is answered, as one should who has a key or a token."""
        while True:
            answer = self.call(method, path, body)
            if answer is not None and answer[0] != 503:
                return answer
            if self.world.does_not_start:
                sys.exit()  # this thread alone

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


def task_of(key):
    """The task that a key stands for: always the same one."""
    kind = ("pulled", "pulled", "pulled", "pulled", "echo", "flaky")[sum(key.encode()) % 6]
    return {"type": kind, "key": key, "payload": {"of": key}}


def produce(world, name, chance):
    caller = Caller(world)
    keys = []
    while not world.is_over:
        count = chance.choice((0, 0, 1, 2, 10, 25))  # 0: one task without an array
        asked = []
        for _ in range(max(count, 1)):
            if keys and (len(keys) >= MOST_KEYS or chance.random() < 0.2):
                asked.append(chance.choice(keys))
            else:
                asked.append(f"{name}-{len(keys)}")
                keys.append(asked[-1])
        tasks = [task_of(key) for key in asked]
        status, answer = caller.insist("POST", "/v1/tasks", tasks if count else tasks[0])
        if status not in (200, 201):
            world.breach(f"{status} to {asked}: {answer}")
            continue
        for key, one in zip(asked, answer if count else [answer]):
            world.learn(key, one)
    caller.close()


def work(world, name, chance):
    caller = Caller(world)
    while not world.is_over:
        answer = caller.call("POST", "/v1/claims",
                             {"queue": "pulled", "max": 5, "wait": "200ms", "lease": "3s", "worker": name})  # fmt: skip
        if answer is None or answer[0] != 200:
            continue
        for claim in answer[1]["claims"]:
            path = f"/v1/claims/{claim['id']}"
            token = claim["token"]
            if chance.random() < 0.1:
                continue  # as if it had died: the lease ends
            if chance.random() < 0.1:
                caller.insist("POST", path + "/extend", {"token": token, "lease": "3s"})
            if chance.random() < 0.1:
                caller.insist("POST", path + "/fail", {"token": token, "message": "try again", "retry_after": 0})
                continue
            result = {"worker": name, "token": token}
            status, done = caller.insist("POST", path + "/complete", {"token": token, "result": result})
            if status == 200 and done["state"] == "succeeded":
                with world.lock:
                    world.results[claim["id"]] = result
            elif status != 409:
                world.breach(f"{status} to a completion of {claim['id']}: {done}")
    caller.close()


class HttpTorture(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-http-torture-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.world = World()
        self.server = None

    def start(self):
        self.server = Server(self.folder, CONFIG)
        self.world.does_not_start = self.server.port is None
        self.assertIsNotNone(self.server.port, "".join(self.server.log))
        self.world.port = self.server.port

    def test_what_was_answered_holds_over_any_number_of_kills(self):  # N5, N6, N8, N12
        print(f"seed {SEED}, {SECONDS:g} s", flush=True)
        chance = random.Random(SEED)
        self.start()
        self.addCleanup(lambda: self.server.end(signal.SIGKILL))
        threads = [threading.Thread(target=produce, args=(self.world, f"p{n}", random.Random(SEED + n)))
                   for n in range(PRODUCERS)]  # fmt: skip
        threads += [threading.Thread(target=work, args=(self.world, f"w{n}", random.Random(SEED - 1 - n)))
                    for n in range(WORKERS)]  # fmt: skip
        for thread in threads:
            thread.start()
        kills = 0
        try:
            end = time.monotonic() + SECONDS
            while time.monotonic() < end and not (PLANTED and self.world.breaches):
                time.sleep(chance.uniform(0.05, 1.5))
                self.server.end(signal.SIGKILL)
                kills += 1
                self.start()
        finally:
            self.world.is_over = True
            for thread in threads:
                thread.join()
        print(f"{kills} kills, {len(self.world.ids)} keys answered, {self.world.again} times known, "
              f"{len(self.world.results)} completions", flush=True)  # fmt: skip
        if PLANTED:
            self.assertNotEqual(self.world.breaches, [])
            return
        self.assertGreater(kills, 2)
        self.assertGreater(len(self.world.ids), 100)
        self.assertGreater(self.world.again, 10)
        self.assertGreater(len(self.world.results), 10)
        self.look()
        self.assertEqual(self.world.breaches, [])

    def look(self):
        """At everything, in a last life that nobody disturbs."""
        caller = Caller(self.world)
        there = self.listed(caller)
        for key, task in self.world.ids.items():
            if task not in there:
                self.world.breach(f"key {key}, task {task}: accepted, and not there")
        keys = list(self.world.ids)
        for begin in range(0, len(keys), 500):
            part = keys[begin : begin + 500]
            status, answers = caller.call("POST", "/v1/tasks", [task_of(key) for key in part])
            self.assertEqual(status, 201, answers)
            for key, one in zip(part, answers):
                self.world.learn(key, one)
                if not one["existed"]:
                    self.world.breach(f"key {key} was forgotten")
        for task, result in self.world.results.items():
            _, kept = caller.call("GET", f"/v1/tasks/{task}")
            if (kept["state"], kept.get("result")) != ("succeeded", result):
                self.world.breach(f"task {task} was completed with {result}, and is {kept}")
        caller.close()
        self.server.end()  # 3 if a command was cut short
        verify = subprocess.run([HOLDFAST, "verify", store_at.url_of(self.folder), "--json"], cwd=self.folder, check=False,
                                capture_output=True, text=True)  # fmt: skip
        self.assertEqual(verify.returncode, 0, verify.stdout + verify.stderr)
        self.assertEqual(json.loads(verify.stdout)["accepted"], len(there))

    def listed(self, caller):
        """The state of each task, by its id."""
        there = {}
        cursor = ""
        while True:
            status, page = caller.call("GET", f"/v1/tasks?limit=1000&cursor={cursor}")
            self.assertEqual(status, 200, page)
            for task in page["tasks"]:
                if task["id"] in there:
                    self.world.breach(f"task {task['id']} is on two pages")
                there[task["id"]] = task["state"]
            cursor = page.get("next", "")
            if not cursor:
                return there


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
