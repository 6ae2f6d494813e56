#!/usr/bin/env python3
"""examples/taskqueue: what its README.md tells a reader to type, against a real redis-server, and what he sees.
Only ports are others, and waits are shorter. T1, T4, T5, T7, T9 on Redis.

Every line of a console block that begins with `$ ` is run by a shell in a copy of the example; the lines below it
must be what it prints. `…` stands for anything, and on a line of its own for any lines; columns may be of other
widths.

Usage: taskqueue_test.py HOLDFAST"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
import unittest
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from rabbitmq import free_ports  # noqa: E402
from redis_server import RedisServer  # noqa: E402
from waiting import eventually  # noqa: E402

HOLDFAST = os.path.abspath(sys.argv[1])
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "taskqueue")
SHORTER = ('first = "1s"', 'first = "20ms"')
MORE_OFTEN = ('every        = "10s"', 'every        = "1s"')


def console_blocks(text):
    """[(command, [line that it prints …]) …] of every ```console block."""
    steps = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], []))
            else:
                steps[-1][1].append(line)
    return steps


def pattern_of(wanted):
    lines = []
    for line in wanted:
        if line == "…":
            lines.append(r"(?:[^\n]*\n)*?")
            continue
        words = r"\s+".join(re.escape(word).replace("…", r"[^\n]*") for word in line.split())
        lines.append(words + r"[^\S\n]*\n")
    return "".join(lines)


class TaskqueueTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-taskqueue-")
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "taskqueue")
        shutil.copytree(EXAMPLE, self.folder)
        self.redis = RedisServer(appendfsync="always")
        self.addCleanup(self.redis.stop)
        self.redis.start()
        self.port = free_ports(1)[0]
        self.ports = (("127.0.0.1:6379", f"127.0.0.1:{self.redis.port}"), (":8080", f":{self.port}"))
        path = os.path.join(self.folder, "holdfast.toml")
        with open(path, encoding="utf-8") as file:
            config = file.read()
        for shipped, here in (*self.ports, SHORTER, MORE_OFTEN):
            self.assertIn(shipped, config)
            config = config.replace(shipped, here)
        with open(path, "w", encoding="utf-8") as file:
            file.write(config)
        os.mkdir(os.path.join(folder.name, "bin"))
        os.symlink(HOLDFAST, os.path.join(folder.name, "bin", "holdfast"))
        self.env = {**os.environ, "PATH": f"{folder.name}/bin:{os.environ['PATH']}"}

    def start(self, *words):
        log = open(os.path.join(self.folder, f"{words[0]}.log"), "w", encoding="utf-8")
        self.addCleanup(log.close)
        process = subprocess.Popen([HOLDFAST, *words], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log)  # fmt: skip
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def log_of(self, name):
        with open(os.path.join(self.folder, f"{name}.log"), encoding="utf-8") as file:
            return file.read()

    def call(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return answer.read().decode()

    def answers(self):
        try:
            return "ready" in self.call("/readyz")
        except OSError:
            return False

    def run_step(self, command):
        for shipped, here in self.ports:
            command = command.replace(shipped, here)
        ran = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                             check=False)  # fmt: skip
        return ran.stdout.splitlines()

    def assert_printed(self, command, wanted, printed):
        told = "\n".join(["", f"$ {command}", *printed, "--- wanted:", *wanted])
        text = "".join(line + "\n" for line in printed)
        self.assertIsNotNone(re.fullmatch(pattern_of(wanted), text), told)

    def test_as_its_readme_says(self):
        with open(os.path.join(EXAMPLE, "README.md"), encoding="utf-8") as file:
            steps = console_blocks(file.read())
        self.assertGreater(len(steps), 8)
        server = None
        worker = None
        for command, wanted in steps:
            with self.subTest(command):
                if command.startswith("redis-server"):
                    continue  # ours runs
                if command == "holdfast serve --config holdfast.toml &":
                    server = self.start("serve", "--config", "holdfast.toml")
                    eventually("the server answers", self.answers)
                elif command == "holdfast worker --config holdfast.toml &":
                    worker = self.start("worker", "--config", "holdfast.toml")
                    eventually("the worker hears signals", lambda: "worker.ready" in self.log_of("worker"))
                elif command.startswith("export "):
                    name, value = command.removeprefix("export ").split("=", 1)
                    self.env[name] = value.replace(":8080", f":{self.port}")
                elif "/v1/stats" in command:
                    # Alerts are looked for every so often.
                    eventually(command, lambda: "dead letters: 2" in self.call("/v1/stats"))
                    self.assert_printed(command, wanted, self.run_step(command))
                else:
                    self.assert_printed(command, wanted, self.run_step(command))
        self.assertIsNotNone(worker)
        for process in (worker, server):
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=120), 0)

    def test_results_are_kept_for_a_day_and_dead_letters_for_ever(self):  # T7, N9
        printed = self.run_step("holdfast serve --config holdfast.toml --check")
        self.assertIn('keep_succeeded = "1d"', printed)
        self.assertIn('keep_dead = "forever"', printed)

    def test_the_usual_retries_timeouts_and_thresholds_are_written_out(self):  # T1, T4, T9
        with open(os.path.join(EXAMPLE, "holdfast.toml"), "rb") as file:
            shipped = tomllib.load(file)
        for name in ("email.send", "image.resize"):
            task = shipped["task"][name]
            self.assertEqual(task["retry"], {"attempts": 4, "first": "1s", "factor": 2, "cap": "5m"})
            self.assertEqual(task["timeout"], "30s")
        self.assertEqual(shipped["shutdown"]["grace"], "30s")
        for threshold in ("dead_letters", "retry_rate", "timeout_rate"):
            self.assertGreater(shipped["alerts"][threshold], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
