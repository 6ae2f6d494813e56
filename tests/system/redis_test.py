#!/usr/bin/env python3
"""What only a store that many share can show: `holdfast worker` and `holdfast serve` as processes of their own
on one Redis, which is stopped, cut off and counted. tests/CMakeLists.txt runs the other system tests on Redis.

Usage: redis_test.py HOLDFAST REMOTE_EXAMPLE [TEST…]"""

import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import serve_test
from serve_test import HOLDFAST, store_at

import redis_server  # noqa: E402, of tests/support
from tcp_proxy import Proxy  # noqa: E402
from waiting import eventually  # noqa: E402

EXAMPLE = os.path.abspath(sys.argv[2])
# Makes a file that says which attempts began, and ends when the file of its payload is there.
HOLD = """
[engine]
lease = "60s"
[task.hold]
command = ["sh", "-c", "read -r go; echo $HOLDFAST_TASK_ID >> began; until [ -e $go ]; do sleep 0.05; done; echo held"]
timeout = "none"
retry = { first = "1ms" }
[queue.default]
concurrency = 8
"""


class Worker:
    """`holdfast worker` on a store, from its start to its end."""

    def __init__(self, folder, config, url, env=None, arguments=("--store",)):
        name = f"worker-{time.monotonic_ns()}.toml"
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(config)
        words = [*arguments, url] if arguments else []
        self.process = subprocess.Popen(
            [HOLDFAST, "worker", "--config", name, *words], cwd=folder, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=os.environ | (env or {}))  # fmt: skip
        self.log = []
        self.is_ready = False
        for line in self.process.stderr:
            self.log.append(line)
            if '"worker.ready"' in line:
                self.is_ready = True
                break
        self.reader = threading.Thread(target=lambda: self.log.extend(self.process.stderr))
        self.reader.start()

    def end(self, number=signal.SIGTERM):
        """The exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait()

    def wait(self):
        code = self.process.wait(timeout=100)
        self.reader.join()
        self.process.stderr.close()
        return code

    def says(self, event):
        return any(f'"{event}"' in line for line in list(self.log))


class RedisTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-redis-", ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.redis = store_at.redis()

    def own_redis(self, **how):
        """One that is not everybody's: to be stopped, or counted."""
        self.redis = redis_server.RedisServer(**({"appendfsync": "always"} | how)).start()
        self.addCleanup(self.redis.stop)
        return self.redis

    def url(self, port=None):
        return f"redis://127.0.0.1:{port or self.redis.port}?space={os.path.basename(self.folder)}"

    def work(self, config=HOLD, url=None, **how):
        worker = Worker(self.folder, config, url or self.url(), **how)
        self.addCleanup(worker.end, signal.SIGKILL)
        self.assertTrue(worker.is_ready, "".join(worker.log))
        return worker

    def serve(self, config=""):
        server = serve_test.Server(self.folder, f'[store]\nurl = "{self.url()}"\n{config}')
        self.addCleanup(server.end, signal.SIGKILL)
        self.assertIsNotNone(server.port, "".join(server.log))
        return server

    def run_cli(self, *words, code=0, url=None, stdin=""):
        env = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")}
        done = subprocess.run([HOLDFAST, *words], cwd=self.folder, input=stdin, text=True, timeout=100,
                              capture_output=True, check=False,
                              env=env | {"HOLDFAST_STORE": url or self.url()})  # fmt: skip
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def path(self, name):
        return os.path.join(self.folder, name)

    def hold(self, count, go="go"):
        """The ids of so many tasks that run until release(go)."""
        payload = f"{self.path(go)}\n"
        return [self.run_cli("submit", "hold", "--payload", "-", stdin=payload).strip() for _ in range(count)]

    def release(self, go="go"):
        with open(self.path(go), "w", encoding="utf-8"):
            pass

    def began(self):
        """The ids of tasks whose attempts began, in their order."""
        if not os.path.exists(self.path("began")):
            return []
        with open(self.path("began"), encoding="utf-8") as file:
            return file.read().split()

    def show(self, task):
        return json.loads(self.run_cli("tasks", "show", task, "--json"))

    def ended(self, task):
        def look():
            info = self.show(task)
            return info["state"] in ("succeeded", "failed", "dead", "canceled") and info

        return eventually(f"the end of {task}", look)

    def verify(self):
        self.assertIn("Clean", self.run_cli("verify"))  # N5

    def test_N8_what_a_killed_worker_had_is_run_by_another_within_seconds(self):
        # Two who look for what others left, and one of them is killed later: none has a task twice.
        others = [self.work() for _ in range(2)]
        for worker in others:
            worker.process.send_signal(signal.SIGSTOP)  # so that the third has them all
        doomed = self.work()
        tasks = self.hold(6)
        eventually("all began", lambda: len(self.began()) == 6)
        for worker in others:
            worker.process.send_signal(signal.SIGCONT)
        self.addCleanup(self.release)  # for what the killed one has left running
        doomed.process.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        eventually("all began anew", lambda: len(self.began()) == 12)
        took = time.monotonic() - killed
        print(f"killed with a lease of 60 s: begun by others after {took:.1f} s", file=sys.stderr)
        self.assertLess(took, 40)
        self.release()
        for task in tasks:
            info = self.ended(task)
            self.assertEqual((info["state"], info["crashes"], info["attempts"]), ("succeeded", 1, 0), info)
        self.assertEqual(sorted(self.began()), sorted(tasks * 2))
        self.assertEqual([worker.end() for worker in others], [0, 0])
        self.verify()

    def test_N8_a_worker_that_is_cut_off_keeps_its_tasks_if_it_is_back_in_time_and_else_loses_them(self):
        other = self.work()
        with Proxy(self.redis.port, frames=False) as proxy:
            worker = self.work(url=self.url(proxy.port))

            def run_by_worker(go):
                other.process.send_signal(signal.SIGSTOP)  # a word to it is lost: the worker finds it all the same
                (task,) = self.hold(1, go)
                eventually("it began", lambda: task in self.began())
                other.process.send_signal(signal.SIGCONT)
                return task

            task = run_by_worker("first")
            time.sleep(10)  # by now the other may say who is gone
            for _ in range(2):
                proxy.refuse()
                proxy.cut_all()
                time.sleep(1)
                proxy.refuse(False)
                time.sleep(3)
            self.assertEqual(self.began(), [task])
            self.release("first")
            info = self.ended(task)
            self.assertEqual((info["state"], info["crashes"], len(info["history"])), ("succeeded", 0, 1), info)

            task = run_by_worker("second")
            proxy.refuse()
            proxy.cut_all()
            eventually("the other has it", lambda: self.began().count(task) == 2)
            proxy.refuse(False)
            self.release("second")  # both end it, and only one of them counts (N6)
            info = self.ended(task)
            self.assertEqual((info["state"], info["crashes"], len(info["history"])), ("succeeded", 1, 2), info)
            self.assertEqual(worker.end(), 0)
        self.assertEqual(other.end(), 0)
        self.verify()

    def test_a_task_is_begun_within_milliseconds_of_its_submit(self):
        server = self.serve()  # has no handlers: it only hands in
        worker = self.work('[task.now]\ncommand = ["date", "+%s%N"]\n[task.warm]\ncommand = ["true"]\n')
        server.ended(server.submit(type="warm"))
        waits = []
        for _ in range(50):
            before = time.time_ns()
            done = server.ended(server.submit(type="now"))
            waits.append((int(done["result_text"]) - before) / 1e6)
        print(f"submit to begun, ms: median {statistics.median(waits):.1f}, most {max(waits):.1f}", file=sys.stderr)
        self.assertLess(statistics.median(waits), 100)
        # What is due later is begun when it is due, whoever has seen it first.
        before = time.time_ns()
        done = server.ended(server.submit(type="now", delay="500ms"))
        late = (int(done["result_text"]) - before) / 1e6
        self.assertGreater(late, 450)
        self.assertLess(late, 2000)
        self.assertEqual((worker.end(), server.end()), (0, 0))

    def test_a_queue_that_goes_on_or_has_room_again_wakes_who_waits(self):
        first = self.work(HOLD + "limit = 1\n")
        second = self.work(HOLD + "limit = 1\n")
        tasks = self.hold(3)
        eventually("one began", self.began)
        self.run_cli("queues", "pause", "default")
        self.release()
        self.ended(self.began()[0])
        time.sleep(1)
        self.assertEqual(len(self.began()), 1)
        self.run_cli("queues", "resume", "default")
        before = time.monotonic()
        for task in tasks:
            self.assertEqual(self.ended(task)["state"], "succeeded")
        self.assertLess(time.monotonic() - before, 20)  # nobody waits for the 30 s of a look
        self.assertEqual((first.end(), second.end()), (0, 0))

    def commands(self, seconds):
        """What clients send to the server in so long: (time, who, command)."""
        found = []
        with socket.create_connection(("127.0.0.1", self.redis.port), timeout=1) as connection:
            connection.sendall(b"MONITOR\r\n")
            end = time.monotonic() + seconds
            rest = b""
            while time.monotonic() < end:
                try:
                    rest += connection.recv(1 << 16)
                except TimeoutError:
                    continue
                *lines, rest = rest.split(b"\r\n")
                for line in lines:
                    told = re.match(rb'\+(\d+\.\d+) \[\d+ (\S+)\] "([^"]+)"', line)
                    if told and told[2] != b"lua":  # that is what a script does
                        found.append((float(told[1]), told[2].decode(), told[3].decode()))
        return found

    def test_an_idle_worker_sends_at_most_one_command_a_second(self):
        self.own_redis()
        workers = 3
        config = '[task.a]\ncommand = ["true"]\nqueue = "a"\n[task.b]\ncommand = ["true"]\nqueue = "b"\n' + HOLD
        for _ in range(workers):
            self.work(config)
        self.run_cli("submit", "a", "--wait=60s", "--payload", "")
        time.sleep(3)  # what a start costs
        seconds = 30  # what is done once a minute, src/engine/patrol_test.cpp counts too
        seen = self.commands(seconds)
        for begin in range(0, len(seen)):
            window = [one for one in seen[begin:] if one[0] < seen[begin][0] + 10]
            self.assertLessEqual(len(window), 10 * workers, window)
        print(f"{len(seen) / seconds / workers:.2f} commands a second for each idle worker", file=sys.stderr)
        self.assertGreater(len(seen), seconds * workers / 10)  # it was looked at the right server

    def test_a_worker_that_sends_no_request_does_without_libcurl(self):
        def mapped(worker):
            with open(f"/proc/{worker.process.pid}/maps", encoding="utf-8") as file:
                return file.read()

        worker = self.work('[task.a]\ncommand = ["true"]\n')
        self.run_cli("submit", "a", "--wait=60s", "--payload", "")
        self.assertIn("libhiredis", mapped(worker))  # it is looked at the right place
        for library in ("libcurl", "libgnutls", "libldap"):
            self.assertNotIn(library, mapped(worker))
        # One that may send some has it before the first.
        worker = self.work('[task.b]\nwebhook = "http://127.0.0.1:9/"\n[webhook]\nallow = ["127.0.0.1"]\n')
        self.assertIn("libcurl", mapped(worker))

    def test_T10_nothing_is_lost_while_the_store_is_away(self):
        redis = self.own_redis()
        server = self.serve()
        worker = self.work()
        tasks = self.hold(5)
        eventually("all began", lambda: len(self.began()) == 5)
        redis.kill()
        status, problem = server.call("POST", "/v1/tasks", {"type": "hold", "payload": "x"})
        self.assertEqual((status, problem["status"]), (503, 503), problem)
        self.assertRegex(problem["detail"], "Redis|refused|connect")
        self.assertEqual(server.call("GET", f"/v1/tasks/{tasks[0]}")[0], 503)
        self.assertEqual(server.call("GET", "/healthz")[0], 200)
        self.release()  # they end while nobody can be told
        eventually("it is said", lambda: worker.says("store.unavailable") or worker.says("store.retry"))
        self.assertIsNone(worker.process.poll())
        redis.start()
        for task in tasks:
            info = server.ended(task)
            self.assertEqual((info["state"], info["crashes"], len(info["history"])), ("succeeded", 0, 1), info)
        self.assertEqual(sorted(self.began()), sorted(tasks))
        later = server.submit(type="hold", payload_text=f"{self.path('go')}\n")
        self.assertEqual(server.ended(later)["state"], "succeeded")
        self.assertEqual((worker.end(), server.end()), (0, 0))
        self.verify()

    def test_T10_a_worker_waits_for_a_store_that_is_not_there_yet(self):
        redis = self.own_redis()
        redis.kill()
        workers = []
        starting = threading.Thread(target=lambda: workers.append(Worker(self.folder, HOLD, self.url())))
        starting.start()
        time.sleep(1)
        redis.start()
        starting.join()
        (worker,) = workers
        self.addCleanup(worker.end, signal.SIGKILL)
        self.assertTrue(worker.is_ready, "".join(worker.log))
        (task,) = self.hold(1)
        self.release()
        self.assertEqual(self.ended(task)["state"], "succeeded")
        self.assertEqual(worker.end(), 0)

    def test_T3_what_runs_ends_or_is_handed_back_at_no_cost(self):
        worker = self.work()
        (task,) = self.hold(1)
        eventually("it began", self.began)
        worker.process.send_signal(signal.SIGTERM)
        eventually("it stops", lambda: worker.says("engine.stopping"))
        waiting = self.hold(1)[0]  # nobody claims it any more
        self.release()
        self.assertEqual(worker.wait(), 0)
        self.assertEqual(self.show(task)["state"], "succeeded")
        self.assertEqual(self.show(waiting)["state"], "pending")

        worker = self.work('[shutdown]\ngrace = "100ms"\n' + HOLD)
        self.ended(waiting)
        (task,) = self.hold(1, "later")
        eventually("it began", lambda: self.began()[-1] == task)
        self.assertEqual(worker.end(), 3, "".join(worker.log))
        info = self.show(task)
        self.assertEqual((info["state"], info["attempts"], info["crashes"]), ("pending", 0, 0), info)
        worker = self.work()
        self.release("later")
        self.assertEqual(self.ended(task)["state"], "succeeded")
        self.assertEqual(worker.end(), 0)
        self.verify()

    def test_servers_and_workers_share_one_store(self):
        servers = [self.serve('[task.a]\ncommand = ["echo", "a"]\nqueue = "a"\n'),
                   self.serve('[task.b]\ncommand = ["echo", "b"]\nqueue = "b"\n')]  # fmt: skip
        worker = self.work('[task.c]\ncommand = ["echo", "c"]\nqueue = "c"\n')
        for server in servers:
            for name in "abc":
                done = server.ended(server.submit(type=name, queue=name))
                self.assertEqual(done["result_text"], name + "\n")
        program = subprocess.Popen([EXAMPLE, "ann@example.org"], text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env=os.environ | {"TASKS": self.url()})  # fmt: skip
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "ann@example.org: sent at attempt 2\n")  # N11, by its URL alone
        program.send_signal(signal.SIGTERM)
        self.assertEqual(program.wait(timeout=60), 0)
        self.assertEqual([one.end() for one in (*servers, worker)], [0, 0, 0])
        self.verify()

    def test_what_could_lose_tasks_is_said_at_the_start(self):
        self.own_redis(appendfsync=None, settings={"maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"})
        worker = self.work()
        told = [json.loads(line) for line in worker.log if '"store.setting"' in line]
        self.assertEqual({(one["level"], one["setting"]) for one in told},
                         {("warning", "appendonly"), ("warning", "maxmemory-policy")})  # fmt: skip
        self.assertEqual(worker.end(), 0)
        with redis_server.RedisServer(settings={"replicaof": f"127.0.0.1 {self.redis.port}"}) as replica:
            refused = Worker(self.folder, HOLD, self.url(replica.port))
            self.assertEqual(refused.end(), 1)
            self.assertIn("replica", "".join(refused.log))
            self.assertIn(str(self.redis.port), "".join(refused.log))

    def test_a_password_is_never_said(self):
        redis = self.own_redis()
        redis.ask("ACL", "SETUSER", "ann", "on", ">planted-password", "~*", "&*", "+@all")
        redis.ask("ACL", "SETUSER", "default", "off")
        url = f"redis://ann:planted-password@127.0.0.1:{redis.port}?space=secret"
        config = '[store]\nurl = "env:STORE"\n[log]\nlevel = "debug"\n[shutdown]\ngrace = "1s"\n' + HOLD
        worker = self.work(config, url, env={"STORE": url}, arguments=())
        task = self.run_cli("submit", "hold", "--payload", "-", stdin=f"{self.path('go')}\n", url=url).strip()
        eventually("it began", self.began)
        redis.kill()
        said = [self.run_cli("tasks", "show", task, code=1, url=url)]
        eventually("it is said", lambda: worker.says("store.unavailable") or worker.says("store.retry"))
        self.release()
        worker.end()
        said += worker.log
        self.assertNotIn("planted", "".join(said))
        self.assertIn(f"ann@127.0.0.1:{redis.port}", "".join(said))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
