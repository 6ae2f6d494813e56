#!/usr/bin/env python3
"""The command line and C++ programs against the built server.

Usage: cli_test.py HOLDFAST EXAMPLE_WORKER REMOTE_EXAMPLE"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from serve_test import HOLDFAST, Server, store_at

EXAMPLE, REMOTE = (os.path.abspath(path) for path in sys.argv[2:4])
TOKEN = "planted-command-line-token"
CONFIG = """
[task.echo]
command = ["cat"]
[task.bad]
command = ["sh", "-c", "if test -e mended; then cat; else echo disk 7 on fire >&2; exit 75; fi"]
retry = { attempts = 1 }
[queue.pulled]
pull = true
"""


class CliTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")}
        if store_at.ON_REDIS:
            self.env["HOLDFAST_STORE"] = store_at.url_of(self.folder)

    def serve(self, config=CONFIG, env=None):
        server = Server(self.folder, config, env)
        self.addCleanup(server.end, signal.SIGKILL)
        self.assertIsNotNone(server.port, "".join(server.log))
        return server

    def run_cli(self, *words, code=0, stdin="", env=None):
        done = subprocess.run([HOLDFAST, *words], cwd=self.folder, input=stdin, text=True, timeout=100,
                              capture_output=True, env=self.env | (env or {}), check=False)  # fmt: skip
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def lines(self, *words, **more):
        return [json.loads(line) for line in self.run_cli(*words, "--json", **more).stdout.splitlines()]

    def test_the_verbs_find_their_tasks_with_a_server_and_without(self):
        before = self.run_cli("submit", "echo", "--payload", "handed in before").stdout.strip()
        server = self.serve()
        self.assertEqual(server.ended(before)["result_text"], "handed in before")
        done = self.run_cli("submit", "echo", "--payload", "-", "--wait=60s", stdin="hello\n")
        self.assertEqual(done.stdout, "hello\n")
        self.assertIn("succeeded", self.run_cli("tasks", "ls").stdout)
        self.run_cli("queues", "pause", "default")
        queues = {queue["name"]: queue for queue in self.lines("queues", "ls")}
        self.assertTrue(queues["default"]["paused"])
        self.run_cli("queues", "resume", "default")
        self.run_cli("queues", "limit", "default", "2")
        self.assertEqual(self.lines("queues", "ls")[0]["concurrency"], 2)
        self.assertEqual(server.end(), 0)
        self.assertEqual(self.lines("queues", "ls")[0]["concurrency"], 2)  # from the store itself

    def test_T5_dead_letters_are_brought_back_when_the_cause_is_gone(self):
        server = self.serve()
        payloads = "".join(f"payload {i}\n" for i in range(700))
        done = self.run_cli("submit", "bad", "--lines", "-", stdin=payloads)
        self.assertEqual(done.stdout, "Accepted 700, refused 0.\n")
        while server.call("GET", "/v1/queues")[1]["queues"][0]["tasks"]["dead"] < 700:
            pass
        (group,) = self.lines("dead", "groups")
        self.assertEqual(group["count"], 700)
        first = self.lines("dead", "ls", "--limit", "1")[0]["id"]
        self.assertIn("disk 7 on fire", self.run_cli("dead", "show", first).stdout)
        self.run_cli("dead", "export", "dead.jsonl", "--all")
        with open(os.path.join(self.folder, "dead.jsonl"), encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 700)
        self.run_cli("dead", "replay", "--all", code=2)
        with open(os.path.join(self.folder, "mended"), "w", encoding="utf-8"):
            pass
        self.run_cli("dead", "replay", first)
        done = self.run_cli("dead", "replay", "--group", group["id"], "--yes")
        self.assertEqual(done.stdout, "Brought back 699.\n")
        self.run_cli("dead", "replay", first, code=3)
        while server.call("GET", "/v1/queues")[1]["queues"][0]["tasks"]["succeeded"] < 700:
            pass
        self.assertEqual(server.end(), 0)

    @store_at.about_the_file  # the server is found by it
    def test_a_token_is_asked_for_and_never_shown(self):
        config = '[token.ann]\nrole = "operate"\nsecret = "env:ANN"\n' + CONFIG
        server = self.serve(config, {"ANN": TOKEN})
        without = self.run_cli("queues", "ls", code=1)
        self.assertIn("wants a token", without.stderr)
        self.assertIn("HOLDFAST_API_TOKEN", without.stderr)
        wrong = self.run_cli("queues", "ls", code=1, env={"HOLDFAST_API_TOKEN": TOKEN + "x"})
        self.assertIn("does not know the token", wrong.stderr)
        self.run_cli("queues", "ls", env={"HOLDFAST_API_TOKEN": TOKEN})
        url = f"http://{TOKEN}@127.0.0.1:{server.port}"
        in_url = self.run_cli("queues", "ls", "--server", url, code=1)
        far = self.run_cli("queues", "ls", "--server", "http://192.0.2.1", code=1,
                           env={"HOLDFAST_API_TOKEN": TOKEN})  # fmt: skip
        self.assertIn("--token-in-the-clear", far.stderr)
        server.end()
        for said in (without, wrong, in_url, far):
            self.assertNotIn(TOKEN, said.stdout + said.stderr)
        self.assertNotIn(TOKEN, "".join(server.log))

    @store_at.about_the_file
    def test_an_owner_that_is_no_server_is_named(self):
        worker = subprocess.Popen([EXAMPLE, "ann@example.org"], cwd=self.folder, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(worker.communicate)
        self.addCleanup(worker.kill)
        worker.stdout.readline()
        done = self.run_cli("queues", "ls", "--store", "sqlite:tasks.db", code=1)
        self.assertIn(f"process {worker.pid}, which is no server", done.stderr)

    def test_N11_the_example_works_for_a_server_by_its_url_alone(self):
        server = self.serve("[queue.default]\npull = true\n")
        url = f"http://127.0.0.1:{server.port}"
        worker = subprocess.Popen([REMOTE, "ann@example.org", "bob@example.org"], cwd=self.folder, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=self.env | {"TASKS": url})  # fmt: skip
        self.addCleanup(worker.communicate)
        self.addCleanup(worker.kill)
        said = {worker.stdout.readline() for _ in range(2)}
        self.assertEqual(said, {f"{name}@example.org: sent at attempt 2\n" for name in ("ann", "bob")})
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(timeout=60), 0)
        tasks = self.lines("tasks", "ls", "--type", "mail.send")
        self.assertEqual([task["state"] for task in tasks], ["succeeded", "succeeded"])
        self.assertEqual(server.end(), 0)

    def test_a_worker_elsewhere_runs_commands_of_its_own_configuration(self):
        server = self.serve('[task.echo]\npull = true\n[queue.default]\npull = true\n')
        with open(os.path.join(self.folder, "worker.toml"), "w", encoding="utf-8") as file:
            file.write('[task.echo]\ncommand = ["cat"]\n[task.hopeless]\n'
                       'command = ["sh", "-c", "echo bad data >&2; exit 65"]\n')  # fmt: skip
        worker = subprocess.Popen([HOLDFAST, "worker", "--server", f"http://127.0.0.1:{server.port}",
                                   "--config", "worker.toml"], cwd=self.folder, text=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.env)  # fmt: skip
        self.addCleanup(worker.communicate)
        self.addCleanup(worker.kill)
        done = self.run_cli("submit", "echo", "--payload", "hello", "--wait=60s")
        self.assertEqual(done.stdout, "hello\n")
        given_up = server.ended(server.submit(type="hopeless"))
        self.assertEqual((given_up["state"], given_up["attempts"]), ("failed", 1))
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(timeout=60), 0)
        self.assertEqual(server.end(), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
