#!/usr/bin/env python3
"""SIGHUP: what of a configuration can change while the server runs, and what cannot.

Usage: reload_test.py HOLDFAST"""

import os
import signal
import socket
import sys
import unittest

import serve_test
from serve_test import Server

OPERATE = {"Authorization": "Bearer operate-operate-operate"}
OTHER = {"Authorization": "Bearer another-another-another"}


class ReloadTest(serve_test.SystemTest):
    def reload(self, server, config, event="config.reloaded"):
        """What the log says, up to `event`."""
        told = len(server.log)
        server.configure(config)
        server.process.send_signal(signal.SIGHUP)
        while not any(f'"{event}"' in line for line in server.log[told:]):
            self.assertIsNone(server.process.poll())
        return "".join(server.log[told:])

    def test_tasks_queues_and_tokens_change_while_it_runs(self):
        old = """
[token.ann]
role = "operate"
secret = "env:FIRST"
[task.echo]
command = ["echo", "old"]
[task.gone]
command = ["true"]
retry = { attempts = 1 }
[queue.default]
concurrency = 2
"""
        env = {"FIRST": "operate-operate-operate", "SECOND": "another-another-another"}
        server = self.serve(old, env)
        first = server.ended(server.submit(OPERATE, type="echo"), OPERATE)
        self.assertEqual(first["result_text"], "old\n")
        log = self.reload(server, """
[token.ann]
role = "operate"
secret = "env:SECOND"
[task.echo]
command = ["echo", "new"]
[task.more]
command = ["cat"]
queue = "wide"
[queue.default]
concurrency = 3
limit = 7
[log]
level = "warning"
""")
        self.assertIn("queue.default.concurrency: 2 -> 3", log)
        self.assertIn("task.more: added", log)
        self.assertIn("task.gone: removed", log)
        self.assertNotIn("another-another", log)
        self.assertEqual(server.call("GET", "/v1/queues", headers=OPERATE)[0], 401)
        second = server.ended(server.submit(OTHER, type="echo"), OTHER)
        self.assertEqual(second["result_text"], "new\n")
        more = server.ended(server.submit(OTHER, type="more", queue="wide", payload=[1]), OTHER)
        self.assertEqual(more["result"], [1])
        unknown = server.ended(server.submit(OTHER, type="gone", attempts=1), OTHER)
        self.assertIn("no handler", unknown["last_failure"]["message"])
        _, queues = server.call("GET", "/v1/queues", headers=OTHER)
        limits = {queue["name"]: queue["concurrency"] for queue in queues["queues"]}
        self.assertEqual(limits["default"], 7)
        self.assertEqual(server.end(), 0)
        self.assertNotIn('"engine.stopping"', "".join(server.log))  # below the new level

    def test_a_mistake_changes_nothing(self):
        server = self.serve('[task.echo]\ncommand = ["echo", "old"]\n')
        log = self.reload(server, "[task.echo]\ncomand = []\n", "config.refused")
        self.assertIn("did you mean", log)
        self.assertIn("holdfast.toml:", log)
        self.assertEqual(server.ended(server.submit(type="echo"))["result_text"], "old\n")
        # Found only when the handlers are made.
        with open(os.path.join(self.folder, "rules.toml"), "w", encoding="utf-8") as file:
            file.write('[[rule]]\nname = "x"\nmatch = "("\nverdict = "retry"\n')
        log = self.reload(server, '[task.echo]\ncommand = ["echo", "new"]\nrules = "rules.toml"\n',
                          "config.refused")  # fmt: skip
        self.assertEqual(server.ended(server.submit(type="echo"))["result_text"], "old\n")
        self.assertEqual(server.end(), 0)

    def test_tokens_do_not_go_while_others_can_reach_the_port(self):
        old = """insecure = true
[token.ann]
role = "operate"
secret = "env:FIRST"
"""
        server = Server(self.folder, old, {"FIRST": "operate-operate-operate"}, listen="0.0.0.0:0")
        self.addCleanup(server.end, signal.SIGKILL)
        self.assertIsNotNone(server.port, "".join(server.log))
        server.listen = "127.0.0.1:0"
        log = self.reload(server, "", "config.refused")
        self.assertIn("only loopback", log)
        self.assertEqual(server.call("GET", "/v1/queues")[0], 401)
        self.assertEqual(server.call("GET", "/v1/queues", headers=OPERATE)[0], 200)
        self.assertEqual(server.end(), 0)

    def test_a_token_that_is_gone_reads_no_more(self):
        def tokens(name):
            return f'[token.{name}]\nrole = "operate"\nsecret = "env:{name}"\n'

        server = self.serve(tokens("FIRST"), {"FIRST": "operate-operate-operate", "SECOND": OTHER["Authorization"][7:]})
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as reader:
            reader.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: " + OPERATE["Authorization"].encode() + b"\r\n\r\n")
            self.assertIn(b"200 OK", reader.recv(1000))
            self.reload(server, tokens("SECOND"))
            while reader.recv(1000):  # until it has been closed, or it is cut off here
                pass
        self.assertEqual(server.end(), 0)

    def test_a_limit_that_somebody_has_set_stays_unless_the_file_changes_it(self):
        server = self.serve("[queue.a]\nlimit = 5\n[queue.b]\nbacklog = 1\n")

        def limits():
            _, queues = server.call("GET", "/v1/queues")
            return {queue["name"]: (queue["concurrency"], queue.get("backlog", 0)) for queue in queues["queues"]}

        server.call("POST", "/v1/queues/a/limit", {"concurrency": 2})
        self.reload(server, "[queue.a]\nlimit = 5\n[queue.c]\nlimit = 3\n")
        found = limits()
        self.assertEqual((found["a"], found["c"]), ((2, 0), (3, 0)))
        self.assertEqual(found.get("b", (0, 0)), (0, 0))
        self.assertEqual(server.end(), 0)

    def test_what_needs_a_restart_is_said_and_stays(self):
        server = self.serve("")
        log = self.reload(server, "max_payload = 100\n[engine]\nlease = \"1m\"\n")
        self.assertIn("http.max_payload", log)
        self.assertIn("engine.lease", log)
        self.assertIn("after a restart", log)
        status, _ = server.call("POST", "/v1/tasks", {"type": "t", "payload_text": "x" * 200})
        self.assertEqual(status, 201)
        self.assertEqual(server.end(), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
