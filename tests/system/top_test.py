#!/usr/bin/env python3
"""`holdfast top` in a real terminal (tmux), beside a server at work: what it shows, what its keys do, and that
the terminal is as it was afterwards, however it ended.

Usage: top_test.py HOLDFAST"""

import http.server
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from serve_test import HOLDFAST, Server

import store_at
from waiting import eventually

CONFIG = """
[queue.mail]
pull = true

[queue.reports]
pull = true

[task.bad]
queue   = "broken"
command = ["sh", "-c", "test -e mended || { echo connection refused >&2; exit 1; }"]
retry   = { attempts = 1 }
"""


class Screen:
    """A terminal with a shell in it."""

    def __init__(self, folder, columns=80, rows=24):
        self.socket = os.path.join(folder, "tmux")
        environment = {name: value for name, value in os.environ.items() if name not in ("TMUX", "NO_COLOR")}
        subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", "new-session", "-d", "-x", str(columns),
                        "-y", str(rows), "-c", folder, "env", "PS1=shell$ ", "ENV=", "sh"],
                       check=True, env=environment | {"LC_ALL": "C.UTF-8"})  # fmt: skip

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], check=True, capture_output=True,
                              text=True).stdout  # fmt: skip

    def end(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False, capture_output=True)

    def text(self):
        return self.tmux("capture-pane", "-p")

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def command(self, line):
        self.keys(line, "Enter")

    def shows(self, pattern):
        try:
            return eventually(pattern, lambda: re.search(pattern, self.text()), seconds=60)
        except AssertionError as error:
            raise AssertionError(f"{error}; it shows:\n{self.text()}") from None

    def modes(self):
        """Whether another screen is shown, and a cursor."""
        return self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").strip()


class Stub(http.server.BaseHTTPRequestHandler):
    """A server that knows operations, and takes none away."""

    group = {"id": "92ab5f0c11d3e844", "state": "dead", "count": 119762, "first_seen": "2026-11-16T03:00:00Z",
             "last_seen": "2026-11-16T04:00:00Z", "example": "connection refused",
             "trend": [0] * 22 + [8, 4]}  # fmt: skip
    running = {"id": "01J", "action": "replay", "state": "running", "query": "queue:mail",
               "progress": {"done": 50, "refused": 0, "succeeded": 45, "failed": 5, "total": 200}}  # fmt: skip
    answers = {
        "/v1/queues": {"queues": []},
        "/v1/stats": {"version": "9", "uptime_seconds": 5,
                      "queues": [{"name": "mail", "paused": False, "tasks": {"pending": 1}}]},
        "/v1/dead/groups": {"groups": [group]},
        "/v1/operations": {"operations": [running]},
    }  # fmt: skip
    asked = []

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        self.answer(200, self.answers[self.path.partition("?")[0]])

    def do_POST(self):
        Stub.asked.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
        self.answer(201, self.running)

    def log_message(self, *_):
        pass


class OperationsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-top-")
        self.addCleanup(folder.cleanup)
        self.stub = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
        threading.Thread(target=self.stub.serve_forever).start()
        self.addCleanup(self.stub.server_close)
        self.addCleanup(self.stub.shutdown)
        self.screen = Screen(folder.name)
        self.addCleanup(self.screen.end)
        self.screen.shows(r"shell\$")
        self.screen.command(f"{shlex.quote(HOLDFAST)} top --server http://127.0.0.1:{self.stub.server_port}")

    def test_operations_are_shown_and_a_replay_is_one(self):
        screen = self.screen
        screen.shows(r"replay +running +▕██▌ +▏ +25% +50/200 +✓ 45 +✗ 5 +queue:mail")
        screen.shows(r"119,762 ██████ dead .*▁█▅ +connection refused")
        screen.keys("Tab", "R")
        screen.shows(r"canary: on \(1 first, then 10, then the rest\)")
        screen.keys("y")
        screen.shows("has begun")
        screen.keys("R", "c")
        screen.shows(r"canary: off")
        screen.keys("y")
        eventually("it was asked twice", lambda: len(Stub.asked) == 2)
        query = "group:92ab5f0c11d3e844 state:dead"
        wanted = [("/v1/operations", {"action": "replay", "query": query, "canary": canary, "start": True})
                  for canary in (True, False)]  # fmt: skip
        self.assertEqual(Stub.asked, wanted)


class TopTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-top-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.server = self.serve()
        for number in range(12):
            self.server.submit(type="send", queue="mail", payload={"number": number})
        self.server.submit(type="render", queue="reports")
        for _ in range(3):
            self.server.ended(self.server.submit(type="bad"))

    def serve(self, listen="127.0.0.1:0"):
        server = Server(self.folder, CONFIG, listen=listen)
        self.addCleanup(server.end, signal.SIGKILL)
        self.assertIsNotNone(server.port, "".join(server.log))
        return server

    @property
    def line(self):
        return f"{shlex.quote(HOLDFAST)} top --every 200ms --server http://127.0.0.1:{self.server.port}"

    def top(self, columns=80, rows=24, line=None):
        screen = Screen(self.folder, columns, rows)
        self.addCleanup(screen.end)
        screen.shows(r"shell\$")
        screen.command(line or self.line)
        screen.shows(r"▸ \w+")
        return screen

    def run_top(self, *words):
        return subprocess.run([HOLDFAST, "top", "--server", f"http://127.0.0.1:{self.server.port}", *words],
                              check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)  # fmt: skip

    def paused(self, name):
        _, answer = self.server.call("GET", "/v1/queues")
        return next(queue["paused"] for queue in answer["queues"] if queue["name"] == name)

    def test_a_queue_is_paused_and_resumed_by_a_key(self):
        screen = self.top()
        screen.keys("j")
        screen.shows(r"▸ mail +█+ +12 ")
        screen.keys("p")
        eventually("it is paused", lambda: self.paused("mail"))
        screen.shows(r"▸ mail +paused")
        screen.shows("mail is paused")
        self.assertFalse(self.paused("reports"))
        screen.keys("r")
        eventually("it is resumed", lambda: not self.paused("mail"))
        screen.shows(r"▸ mail +█")

    def test_a_group_is_replayed_when_somebody_agrees(self):
        screen = self.top()
        screen.keys("Tab")
        screen.shows(r"▸ +3 .*connection refused")
        screen.keys("R")
        screen.shows("Replay 3 dead tasks of group [0-9a-f]{16}")
        screen.keys("n")
        screen.shows("Nothing was replayed")
        self.assertEqual(len(self.server.call("GET", "/v1/dead")[1]["tasks"]), 3)
        open(os.path.join(self.folder, "mended"), "w", encoding="ascii").close()
        screen.keys("R")
        screen.shows("Replay 3 dead tasks")
        screen.keys("y")
        eventually("they are back", lambda: not self.server.call("GET", "/v1/dead")[1]["tasks"])
        screen.shows("Nothing is dead or failed")

    def test_a_filter_a_sort_and_help(self):
        screen = self.top()
        screen.keys("/", "rep")
        screen.shows(r"QUEUES 1 of 3")
        screen.keys("Enter")
        eventually("no other queue", lambda: " mail " not in screen.text())
        screen.keys("Escape")
        screen.shows(r" mail ")
        screen.keys("s")
        screen.shows("by waiting")
        screen.keys("?")
        screen.shows("any key goes back")
        screen.keys("x")
        screen.shows("QUEUES 3")

    def test_it_follows_the_size_of_the_terminal(self):
        screen = self.top()
        self.assertNotIn("RETRYING", screen.text())
        screen.tmux("resize-window", "-x", "120", "-y", "40")
        screen.shows("RETRYING")
        # The terminal may be looked at in the middle of a frame.
        eventually("40 lines", lambda: len(screen.text().rstrip("\n").split("\n")) == 40)
        screen.tmux("resize-window", "-x", "60", "-y", "12")
        eventually("a narrow table", lambda: "RETRYING" not in screen.text() and "q quit" in screen.text())

    def test_the_terminal_is_as_it_was_however_it_ends(self):
        screen = Screen(self.folder)
        self.addCleanup(screen.end)
        screen.shows(r"shell\$")

        def settings():
            screen.command("clear; stty -a; echo END")
            screen.shows("\nEND")
            return screen.text()

        before = settings()
        name = f"top --every 200ms --server http://127.0.0.1:{self.server.port}"
        for ending in ("q", "C-c", "TERM", "HUP", "SEGV"):
            screen.command("clear; " + self.line)
            screen.shows(r"▸ \w+")
            self.assertEqual(screen.modes(), "1 0")
            if ending in ("q", "C-c"):
                screen.keys(ending)
            else:
                pids = subprocess.run(["pgrep", "-f", f"{HOLDFAST} {name}"], check=False, capture_output=True, text=True)
                for pid in pids.stdout.split():
                    os.kill(int(pid), getattr(signal, "SIG" + ending))
            eventually(f"the screen is given back after {ending}", lambda: screen.modes() == "0 1")
            self.assertEqual(settings(), before, ending)

    def test_it_goes_to_the_background_and_comes_back(self):
        screen = self.top()
        screen.keys("C-z")
        eventually("the screen is given back", lambda: screen.modes() == "0 1")
        screen.command("echo in the shell; fg")
        screen.shows(r"▸ \w+")
        self.assertEqual(screen.modes(), "1 0")
        screen.keys("q")
        screen.shows("in the shell")

    def test_a_server_that_goes_away_is_missed_and_found_again(self):
        screen = self.top()
        port = self.server.port
        self.assertEqual(self.server.end(), 0)
        screen.shows("✗ .*127.0.0.1")
        self.server = self.serve(f"127.0.0.1:{port}")
        eventually("it is there again", lambda: "✗" not in screen.text())
        screen.keys("q")

    def test_one_look_is_text_or_json(self):
        for words in (["--once"], []):  # nobody is at a terminal
            shown = self.run_top(*words)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertIn("QUEUES 3", shown.stdout)
            self.assertRegex(shown.stdout, r"mail +█+ +12 ")
            self.assertNotIn("\x1b", shown.stdout)
            self.assertLessEqual(max(map(len, shown.stdout.split("\n"))), 80)
        told = json.loads(self.run_top("--json").stdout)
        self.assertEqual([queue["name"] for queue in told["queues"]], ["broken", "mail", "reports"])
        self.assertEqual(told["groups"][0]["count"], 3)
        refused = self.run_top("--every", "1ns")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--every", refused.stderr)

    @store_at.about_the_file
    def test_a_file_without_a_server_is_looked_into_and_left_free(self):
        self.assertEqual(self.server.end(), 0)
        line = f"{shlex.quote(HOLDFAST)} top --every 200ms"
        screen = self.top(line=line)
        screen.shows("No server was asked")
        screen.shows(r" mail +█+ +12 ")
        self.server = self.serve()
        screen.shows("per second")
        screen.shows(f"127.0.0.1:{self.server.port}")
        screen.keys("q")

    def test_nobody_there_is_said_on_the_usual_screen(self):
        self.assertEqual(self.server.end(), 0)
        shown = self.run_top()
        self.assertEqual((shown.returncode, shown.stdout), (1, ""))
        self.assertIn("holdfast top:", shown.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
