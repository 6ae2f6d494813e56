#!/usr/bin/env python3
"""The built server over HTTP, with real child processes and a real webhook receiver. Nothing here waits
for time to pass: a test asks until the answer is there, or a call holds until it is.

Usage: serve_test.py HOLDFAST"""

import base64
import hashlib
import hmac
import http.client
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import store_at  # noqa: E402

HOLDFAST = os.path.abspath(sys.argv[1])
SECRET = "whsec_" + base64.b64encode(b"planted-webhook-secret").decode()
TOKEN = "planted-operate-token"


class Receiver(http.server.BaseHTTPRequestHandler):
    """Answers webhooks as `answers` says, and keeps what came."""

    protocol_version = "HTTP/1.1"
    answers = []
    came = []
    paths = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Receiver.came.append((dict(self.headers), body))
        Receiver.paths.append(self.path)
        status, text, headers = Receiver.answers.pop(0) if Receiver.answers else (200, b"thanks", {})
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Server:
    """`holdfast serve`, from its start to its end."""

    def __init__(self, folder, config, env=None, listen="127.0.0.1:0"):
        self.folder = folder
        self.listen = listen
        self.configure(config)
        self.process = subprocess.Popen(
            [HOLDFAST, "serve", "--config", "holdfast.toml"], cwd=folder, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=os.environ | (env or {}))  # fmt: skip
        self.log = []
        self.port = None
        for line in self.process.stderr:
            self.log.append(line)
            if '"server.ready"' in line:
                self.port = int(re.search(r"://[^\"]*:(\d+)", line)[1])
                break
        self.reader = threading.Thread(target=lambda: self.log.extend(self.process.stderr))
        self.reader.start()

    def configure(self, config):
        with open(os.path.join(self.folder, "holdfast.toml"), "w", encoding="utf-8") as file:
            file.write(store_at.configured(self.folder, f'[http]\nlisten = "{self.listen}"\n{config}'))

    def end(self, number=signal.SIGTERM):
        """The exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(timeout=60)
        self.reader.join()
        self.process.stderr.close()
        return code

    def memory_mb(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)

    def call(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = dict(headers or {})
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        is_json = "json" in (answer.getheader("Content-Type") or "")
        return answer.status, json.loads(text) if is_json else text

    def submit(self, headers=None, /, **task):
        status, answer = self.call("POST", "/v1/tasks", task, headers)
        assert status == 201, answer
        return answer["id"]

    def ended(self, task, headers=None):
        """The task, once it has come to an end."""
        while True:
            status, info = self.call("GET", f"/v1/tasks/{task}", headers=headers)
            assert status == 200, info
            if info["state"] in ("succeeded", "failed", "dead", "canceled"):
                return info


class SystemTest(unittest.TestCase):
    """A folder of its own, and servers in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-serve-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def serve(self, config="", env=None):
        server = Server(self.folder, config, env)
        self.addCleanup(server.end, signal.SIGKILL)
        self.assertIsNotNone(server.port, "".join(server.log))
        return server


class ServeTest(SystemTest):
    def test_T3_more_signals_do_not_spoil_a_clean_end(self):
        server = self.serve()
        while server.process.poll() is None:  # until its very last step
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.001)
        self.assertEqual(server.end(), 0, "".join(server.log))

    def test_commands_run_retry_and_give_up(self):  # T1, T4, C1
        server = self.serve("""
[task.echo]
command = ["cat"]
[task.hopeless]
command = ["sh", "-c", "echo bad data >&2; exit 65"]
[task.flaky]
command = ["sh", "-c", "echo try later >&2; exit 75"]
retry = { attempts = 2, first = "1ms" }
[task.slow]
command = ["sleep", "60"]
timeout = "50ms"
retry = { attempts = 1 }
""")
        done = server.ended(server.submit(type="echo", payload={"n": 1}))
        self.assertEqual((done["state"], done["result"]), ("succeeded", {"n": 1}))
        given_up = server.ended(server.submit(type="hopeless"))
        self.assertEqual((given_up["state"], given_up["attempts"]), ("failed", 1))
        dead = server.ended(server.submit(type="flaky"))
        self.assertEqual((dead["state"], dead["attempts"]), ("dead", 2))
        timed_out = server.ended(server.submit(type="slow"))
        self.assertEqual(timed_out["last_failure"]["kind"], "timeout")
        _, groups = server.call("GET", "/v1/dead/groups")
        self.assertEqual({group["state"] for group in groups["groups"]}, {"dead", "failed"})
        self.assertEqual(server.end(), 0)

    def test_webhooks_are_signed_retried_and_kept_from_private_addresses(self):
        receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        self.addCleanup(receiver.server_close)
        self.addCleanup(receiver.shutdown)
        url = f"http://127.0.0.1:{receiver.server_address[1]}/hook"
        hook = f'[task.hook]\nwebhook = "{url}"\nsecret = "env:HOOK_SECRET"\nretry = {{ first = "1ms" }}\n'
        env = {"HOOK_SECRET": SECRET}
        server = self.serve(hook, env)
        refused = server.ended(server.submit(type="hook", payload=1))
        self.assertEqual(refused["state"], "failed", refused)
        self.assertEqual(Receiver.came, [])
        server.end()

        Receiver.answers = [(503, b"busy", {}), (200, b'{"seen": true}', {})]
        server = self.serve('[webhook]\nallow = ["loopback"]\n' + hook, env)
        done = server.ended(server.submit(type="hook", payload={"to": "ann"}))
        self.assertEqual((done["state"], done["result"], done["attempts"]), ("succeeded", {"seen": True}, 1))
        headers, body = Receiver.came[-1]
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        expected = base64.b64encode(hmac.new(b"planted-webhook-secret", signed, hashlib.sha256).digest())
        self.assertEqual(headers["webhook-signature"], "v1," + expected.decode())
        self.assertEqual(headers["webhook-id"], done["id"])
        self.assertEqual(server.end(), 0)
        self.assertNotIn("planted-webhook-secret", "".join(server.log))
        self.assertNotIn(SECRET, "".join(server.log))

    def test_tokens_are_needed_and_never_shown(self):
        config = '[token.ann]\nrole = "operate"\nsecret = "env:ANN"\n[task.t]\npull = true\n'
        server = self.serve(config, {"ANN": TOKEN})
        self.assertEqual(server.call("GET", "/v1/queues")[0], 401)
        self.assertEqual(server.call("GET", "/v1/queues", headers={"Authorization": "Bearer no"})[0], 401)
        own = {"Authorization": "Bearer " + TOKEN}
        status, answer = server.call("GET", "/v1/queues", headers=own)
        self.assertEqual(status, 200, answer)
        self.assertEqual(server.call("GET", "/healthz")[0], 200)
        with open(f"/proc/{server.process.pid}/cmdline", "rb") as file:
            self.assertNotIn(TOKEN.encode(), file.read())
        self.assertEqual(server.end(), 0)
        self.assertNotIn(TOKEN, "".join(server.log))
        check = subprocess.run([HOLDFAST, "serve", "--config", "holdfast.toml", "--check"], text=True,
                               cwd=self.folder, env=os.environ | {"ANN": TOKEN}, capture_output=True,
                               check=True)  # fmt: skip
        self.assertNotIn(TOKEN, check.stdout + check.stderr)

    def test_N8_a_worker_elsewhere_keeps_its_claim_over_a_kill_of_the_server(self):
        config = '[task.t]\npull = true\nqueue = "pulled"\n'
        server = self.serve(config)
        task = server.submit(type="t", queue="pulled", payload=[1])
        _, answer = server.call("POST", "/v1/claims", {"queue": "pulled", "worker": "far", "lease": "60s"})
        claim = answer["claims"][0]
        self.assertEqual(claim["payload"], [1])
        server.end(signal.SIGKILL)
        server = self.serve(config)
        status, answer = server.call(
            "POST", f"/v1/claims/{task}/complete", {"token": claim["token"], "result": "late"})  # fmt: skip
        self.assertEqual((status, answer["state"]), (200, "succeeded"))
        self.assertEqual(server.end(), 0)

    def test_nothing_that_was_answered_is_lost_by_a_kill(self):  # N5
        server = self.serve("[task.t]\npull = true\n")
        answered = []

        def produce():
            try:
                while True:
                    status, answer = server.call("POST", "/v1/tasks", [{"type": "t"}] * 10)
                    answered.extend(one["id"] for one in answer)
            except (OSError, http.client.HTTPException):
                pass

        producers = [threading.Thread(target=produce) for _ in range(4)]
        for producer in producers:
            producer.start()
        while len(answered) < 500:
            pass
        server.end(signal.SIGKILL)
        for producer in producers:
            producer.join()
        server = self.serve("[task.t]\npull = true\n")
        for task in answered:
            self.assertEqual(server.call("GET", f"/v1/tasks/{task}")[0], 200)
        self.assertEqual(server.end(), 0)
        verify = subprocess.run([HOLDFAST, "verify", store_at.url_of(self.folder)], cwd=self.folder, check=False,
                                capture_output=True, text=True)  # fmt: skip
        self.assertEqual(verify.returncode, 0, verify.stdout + verify.stderr)

    def test_what_is_wrong_is_said_before_anything_starts(self):
        path = os.path.join(self.folder, "bad.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write('[http]\nlisten = "0.0.0.0:80"\nlisen = 1\n')
        done = subprocess.run([HOLDFAST, "serve", "--config", path], capture_output=True, text=True,
                              check=False, cwd=self.folder)  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertIn('bad.toml:3', done.stderr)
        self.assertIn('did you mean "listen"?', done.stderr)
        self.assertIn("token", done.stderr)
        self.assertEqual(os.listdir(self.folder), ["bad.toml"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
