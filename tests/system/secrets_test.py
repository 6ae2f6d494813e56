#!/usr/bin/env python3
"""Secrets are planted wherever a configuration or a caller can put one, and looked for wherever the server says
something: its log at its most talkative, every answer, metrics, events, its arguments, and the environment of
the programs that it starts.

Usage: secrets_test.py HOLDFAST"""

import http.server
import os
import socket
import subprocess
import sys
import threading
import unittest

import serve_test

PLANTED = {
    "TOKEN": "planted-token-of-ann",
    "URL": "planted-path-of-a-webhook",
    "HEADER": "planted-header-of-a-webhook",
    "SIGN": "planted-signing-secret-of-a-webhook",
    "ALERT_URL": "planted-path-of-the-alerts",
    "ALERT_SIGN": "planted-signing-secret-of-the-alerts",
    "STORE": "planted-password-of-the-store",
}
FILE_TOKEN = "planted-token-in-a-file"
WRONG = "planted-token-that-is-wrong"
ANN = {"Authorization": "Bearer " + PLANTED["TOKEN"]}


class SecretsTest(serve_test.SystemTest):
    def test_nothing_that_is_planted_is_ever_said(self):
        serve_test.Receiver.came = []
        serve_test.Receiver.answers = [(200, b"fine", {}), (503, b"no", {})]
        receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve_test.Receiver)
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        self.addCleanup(receiver.server_close)
        self.addCleanup(receiver.shutdown)
        port = receiver.server_address[1]
        path = os.path.join(self.folder, "token")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(FILE_TOKEN)
        env = dict(PLANTED)
        env["URL"] = f"http://127.0.0.1:{port}/{PLANTED['URL']}"
        env["ALERT_URL"] = f"http://127.0.0.1:{port}/{PLANTED['ALERT_URL']}"
        env["STORE"] = "sqlite:holdfast.db"
        if serve_test.store_at.ON_REDIS:
            redis = serve_test.store_at.redis()
            redis.ask("ACL", "SETUSER", "ann", "on", ">" + PLANTED["STORE"], "~*", "&*", "+@all")
            env["STORE"] = f"redis://ann:{PLANTED['STORE']}@127.0.0.1:{redis.port}?space=secrets"
        server = self.serve(f"""
[log]
level = "debug"
[store]
url = "env:STORE"
[token.ann]
role = "operate"
secret = "env:TOKEN"
[token.file]
role = "read"
secret = "file:{path}"
[webhook]
allow = ["loopback"]
[task.hook]
webhook = "env:URL"
secret = "env:SIGN"
headers = {{ Authorization = "env:HEADER" }}
retry = {{ attempts = 1 }}
[task.env]
command = ["env"]
[alerts]
webhook = "env:ALERT_URL"
secret = "env:ALERT_SIGN"
every = "1s"
over = "4s"
""", env)  # fmt: skip
        said = []

        def call(*arguments, headers=None):
            status, answer = server.call(*arguments, headers=headers or ANN)
            said.append(str(answer))
            return status, answer

        events = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        self.addCleanup(events.close)
        events.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: " + ANN["Authorization"].encode() + b"\r\n\r\n")  # fmt: skip
        done = server.ended(server.submit(ANN, type="hook", payload=1), ANN)
        failed = server.ended(server.submit(ANN, type="hook", payload=2), ANN)
        self.assertEqual((done["state"], failed["state"]), ("succeeded", "dead"))
        printed = server.ended(server.submit(ANN, type="env"), ANN)
        said += [str(done), str(failed), str(printed)]
        while not any(PLANTED["ALERT_URL"] in path for path in serve_test.Receiver.paths):
            pass
        for target in ("/v1/tasks", "/v1/dead", "/v1/dead/groups", "/v1/queues", "/v1/stats", "/metrics"):
            self.assertEqual(call("GET", target)[0], 200)
            self.assertEqual(call("GET", target, None, headers={"Authorization": "Bearer " + WRONG})[0], 401)
        self.assertEqual(call("GET", "/v1/queues?token=" + PLANTED["TOKEN"])[0], 400)
        call("POST", "/v1/tasks", {"type": "hook", "typ": 1})
        said.append(events.recv(1 << 20).decode())
        self.assertIn("text/event-stream", said[-1])
        with open(f"/proc/{server.process.pid}/cmdline", encoding="utf-8") as file:
            said.append(file.read())
        check = subprocess.run([serve_test.HOLDFAST, "serve", "--config", "holdfast.toml", "--check"], text=True,
                               cwd=self.folder, env=os.environ | env, capture_output=True, check=True)  # fmt: skip
        said += [check.stdout, check.stderr]
        self.assertEqual(server.end(), 0)
        everything = "\n".join(said + server.log)
        for secret in [*PLANTED.values(), FILE_TOKEN, WRONG]:
            self.assertNotIn(secret, everything)
        self.assertIn('"debug"', everything)  # it was talkative


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
