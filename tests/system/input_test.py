#!/usr/bin/env python3
"""Inputs of tasks: the built server fetches objects from s3rver and fauxqs, and its commands read them (R3, R4).

Usage: input_test.py HOLDFAST"""

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from serve_test import HOLDFAST, SystemTest, store_at

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from s3_servers import ACCESS_KEY, SECRET_KEY, S3Server  # noqa: E402

ENV = {"KEY_ID": ACCESS_KEY, "KEY": SECRET_KEY}
KEYS = ["plain.txt", "a folder/with space.txt", "plus+and~tilde", "über/日本.txt", "100%/#?&=.bin"]


def nobody_listens():
    """A URL that was free a moment ago."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


class SlowServer:
    """Sends the beginning of an object, and never the rest."""

    def __init__(self):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        self.asked = threading.Event()
        self.left = threading.Event()  # the client has closed the connection
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nthe beginning")
                self.asked.set()
                while connection.recv(65536):
                    pass
                self.left.set()

    def end(self):
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()


class InputTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.inputs = os.path.join(self.folder, "inputs")
        os.mkdir(self.inputs)

    def s3(self, kind="s3rver", port=0):
        server = S3Server(kind, os.path.join(self.folder, "objects"), port)
        self.addCleanup(server.end)
        return server

    def config(self, url, command="""'cat "$HOLDFAST_INPUT"'""", more="", task=""):
        return f"""
[inputs]
folder = "inputs"
[task.read]
command = ["sh", "-c", {command}]
{task}
input = {{ s3 = "{url}", bucket = "{{bucket}}", key = "{{object}}", access_key = "env:KEY_ID", secret_key = "env:KEY"{more} }}
"""

    def records(self, server, event):
        return [record for line in server.log if (record := json.loads(line))["event"] == event]

    def files(self):
        return [os.path.join(path, name) for path, _, names in os.walk(self.inputs) for name in names]

    def wait_for(self, condition):
        while not condition():
            time.sleep(0.01)

    def test_R3_objects_reach_commands_as_files(self):
        for kind in ("s3rver", "fauxqs"):
            with self.subTest(kind):
                s3 = self.s3(kind)
                client = s3.client
                client.create_bucket(Bucket="uploads")
                for key in KEYS:
                    client.put_object(Bucket="uploads", Key=key, Body=f"content of {key}".encode())
                server = self.serve(self.config(s3.url, more=', sha256 = "{digest}"'), ENV)
                for key in KEYS:
                    content = f"content of {key}"
                    digest = hashlib.sha256(content.encode()).hexdigest()
                    payload = {"bucket": "uploads", "object": key, "digest": digest}
                    done = server.ended(server.submit(type="read", payload=payload))
                    self.assertEqual((done["state"], done.get("result_text")), ("succeeded", content), done)
                self.wait_for(lambda: not self.files())
                self.assertEqual(server.end(), 0)
                self.assertEqual(os.listdir(self.inputs), [])

    def test_a_large_object_comes_whole_and_a_larger_one_not_at_all(self):
        s3 = self.s3()
        client = s3.client
        client.create_bucket(Bucket="uploads")
        content = os.urandom(1 << 20) * 8
        client.put_object(Bucket="uploads", Key="fits", Body=content)
        client.put_object(Bucket="uploads", Key="too large", Body=content + b"x")
        hash_it = """'sha256sum <"$HOLDFAST_INPUT"; stat -c %a "$HOLDFAST_INPUT" "$(dirname "$HOLDFAST_INPUT")"'"""
        server = self.serve(self.config(s3.url, command=hash_it, more=', largest = "8MiB"'), ENV)
        done = server.ended(server.submit(type="read", payload={"bucket": "uploads", "object": "fits"}))
        self.assertEqual(done["result_text"], f"{hashlib.sha256(content).hexdigest()}  -\n600\n700\n")
        refused = server.ended(server.submit(type="read", payload={"bucket": "uploads", "object": "too large"}))
        self.assertEqual((refused["state"], refused["attempts"]), ("failed", 1))
        self.assertIn("the object is larger than 8MiB", refused["last_failure"]["message"])
        self.assertEqual(server.end(), 0)

    def test_what_cannot_recover_fails_at_once(self):
        for kind in ("s3rver", "fauxqs"):
            with self.subTest(kind):
                s3 = self.s3(kind)
                s3.client.create_bucket(Bucket="uploads")
                server = self.serve(self.config(s3.url), ENV)
                for payload, words in [
                    ({"bucket": "uploads", "object": "missing"}, "HTTP 404: NoSuchKey: "),
                    ({"bucket": "nowhere", "object": "missing"}, "HTTP 404: NoSuchBucket: "),
                    ({"bucket": "uploads"}, 'the payload has no field "object"'),
                    ({"bucket": "uploads", "object": "../x"}, "may lead elsewhere"),
                ]:
                    failed = server.ended(server.submit(type="read", payload=payload))
                    self.assertEqual((failed["state"], failed["attempts"]), ("failed", 1), failed)
                    self.assertIn(words, failed["last_failure"]["message"])
                self.assertEqual(server.end(), 0)
                self.assertEqual(self.records(server, "retry.wait"), [])
                self.assertEqual(len(self.records(server, "input.failed")), 4)

    def test_secrets_are_never_shown(self):
        s3 = self.s3()
        s3.client.create_bucket(Bucket="uploads")
        environment = """'env; cat /proc/$PPID/cmdline | tr "\\\\0" " "; exit 1'"""
        config = '[log]\nlevel = "debug"\n' + self.config(
            s3.url, command=environment, more=', session_token = "env:SESSION"', task="retry = { attempts = 1 }")
        planted = {"KEY_ID": "planted-id", "KEY": "planted-key", "SESSION": "planted-session"}
        server = self.serve(config, planted)
        s3.client.put_object(Bucket="uploads", Key="there", Body=b"x")
        shown = [server.ended(server.submit(type="read", payload={"bucket": "uploads", "object": key}))
                 for key in ("there", "missing")]  # fmt: skip
        self.assertEqual(server.end(), 0)
        check = subprocess.run([HOLDFAST, "serve", "--config", "holdfast.toml", "--check"], text=True,
                               cwd=self.folder, env=os.environ | planted, capture_output=True, check=True)  # fmt: skip
        everything = "".join(server.log) + json.dumps(shown) + check.stdout + check.stderr
        self.assertNotIn("planted", everything)

    def test_R3_a_server_that_is_away_is_asked_again_and_each_retry_logged(self):
        s3 = self.s3()
        client = s3.client
        client.create_bucket(Bucket="uploads")
        client.put_object(Bucket="uploads", Key="a", Body=b"here")
        s3.end()
        more = ', retry = { attempts = 1000, first = "20ms", cap = "50ms" }'
        server = self.serve(self.config(s3.url, more=more), ENV)
        task = server.submit(type="read", payload={"bucket": "uploads", "object": "a"})
        self.wait_for(lambda: len(self.records(server, "retry.wait")) >= 2)
        self.s3(port=s3.port)
        done = server.ended(task)
        self.assertEqual((done["state"], done["result_text"], done["attempts"]), ("succeeded", "here", 0), done)
        self.assertEqual(server.end(), 0)
        retry = self.records(server, "retry.wait")[0]
        self.assertEqual((retry["operation"], retry["attempt"], retry["task"]), ("fetch input", 1, task))
        self.assertIn("Connection refused", retry["error"])
        self.assertEqual(len(self.records(server, "retry.recovered")), 1)

    def test_R4_the_last_attempt_fails_the_task_with_one_record(self):
        url = nobody_listens()
        config = self.config(url, more=', retry = { first = "1ms" }', task="retry = { attempts = 9 }")
        server = self.serve(config, ENV)
        task = server.submit(type="read", payload={"bucket": "uploads", "object": "a"})
        failed = server.ended(task)
        self.assertEqual((failed["state"], failed["attempts"]), ("failed", 1), failed)
        self.assertEqual(server.end(), 0)
        self.assertEqual(len(self.records(server, "retry.wait")), 2)
        errors = [record for line in server.log if (record := json.loads(line))["level"] == "error"]
        self.assertEqual(len(errors), 1, errors)
        context = {"event": "input.failed", "task": task, "bucket": "uploads", "key": "a", "endpoint": url,
                   "attempts": 3, "error": "could not connect: Connection refused"}  # fmt: skip
        self.assertEqual(errors[0] | context, errors[0])

    def test_the_tasks_own_policy_holds_where_that_is_asked_for(self):
        more = ', on_failure = "retry", retry = { attempts = 1 }'
        config = self.config(nobody_listens(), more=more, task='retry = { attempts = 2, first = "1ms" }')
        server = self.serve(config, ENV)
        dead = server.ended(server.submit(type="read", payload={"bucket": "uploads", "object": "a"}))
        self.assertEqual((dead["state"], dead["attempts"]), ("dead", 2), dead)
        self.assertEqual(server.end(), 0)
        self.assertEqual(len(self.records(server, "input.failed")), 2)

    def test_a_shutdown_ends_a_download_and_spends_nothing(self):
        slow = SlowServer()
        self.addCleanup(slow.end)
        server = self.serve(self.config(slow.url), ENV)
        task = server.submit(type="read", payload={"bucket": "uploads", "object": "a"})
        slow.asked.wait()
        self.assertEqual(server.end(), 0)
        self.assertTrue(slow.left.wait(60))
        self.assertEqual(os.listdir(self.inputs), [])
        show = subprocess.run([HOLDFAST, "tasks", "show", task, "--store", store_at.url_of(self.folder), "--json"],
                              cwd=self.folder, capture_output=True, text=True, check=True)  # fmt: skip
        info = json.loads(show.stdout)
        self.assertEqual((info["state"], info["attempts"]), ("pending", 0), info)

    def test_a_cancel_ends_a_download_at_once(self):
        slow = SlowServer()
        self.addCleanup(slow.end)
        server = self.serve(self.config(slow.url), ENV)
        task = server.submit(type="read", payload={"bucket": "uploads", "object": "a"})
        slow.asked.wait()
        self.assertEqual(server.call("POST", f"/v1/tasks/{task}/cancel")[0], 200)
        self.assertTrue(slow.left.wait(60))
        self.assertEqual(server.ended(task)["state"], "canceled")
        self.wait_for(lambda: not self.files())
        self.assertEqual(server.end(), 0)

    def test_a_timeout_of_the_task_begins_when_the_input_is_there(self):
        slow = SlowServer()
        self.addCleanup(slow.end)
        more = ', timeout = "1s", retry = { attempts = 1 }'
        server = self.serve(self.config(slow.url, more=more, task='timeout = "100ms"'), ENV)
        failed = server.ended(server.submit(type="read", payload={"bucket": "uploads", "object": "a"}))
        self.assertEqual(failed["state"], "failed")
        self.assertIn("cannot fetch the input s3://uploads/a: timed out after the request was sent",
                      failed["last_failure"]["message"])  # fmt: skip
        self.assertEqual(server.end(), 0)

    def test_files_are_gone_after_timeouts_and_kills(self):
        s3 = self.s3()
        client = s3.client
        client.create_bucket(Bucket="uploads")
        client.put_object(Bucket="uploads", Key="a", Body=b"x")
        sleeping = "'touch began; exec sleep 600'"
        payload = {"bucket": "uploads", "object": "a"}
        timing_out = self.config(s3.url, command=sleeping, task='timeout = "50ms"\nretry = { attempts = 1 }')
        server = self.serve(timing_out, ENV)
        self.assertEqual(server.ended(server.submit(type="read", payload=payload))["state"], "dead")
        self.wait_for(lambda: not self.files())
        server.end()

        began = os.path.join(self.folder, "began")
        os.remove(began)
        server = self.serve(self.config(s3.url, command=sleeping), ENV)
        task = server.submit(type="read", payload=payload)
        self.wait_for(lambda: os.path.exists(began))
        self.assertEqual(len(self.files()), 1)
        server.end(signal.SIGKILL)
        self.assertEqual(len(self.files()), 1)
        server = self.serve(self.config(s3.url, command="'cat $HOLDFAST_INPUT'"), ENV)
        self.assertEqual(server.ended(task)["result_text"], "x")  # one crash more, but done
        self.wait_for(lambda: not self.files())
        self.assertEqual(len(os.listdir(self.inputs)), 1)  # that of the living
        self.assertEqual(server.end(), 0)
        self.assertEqual(os.listdir(self.inputs), [])

    def test_the_scanner_of_the_example_finds_what_it_knows(self):
        example = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/malscan")
        good = {"S3_ACCESS_KEY": "a", "S3_SECRET_KEY": "b"}
        subprocess.run([HOLDFAST, "serve", "--config", os.path.join(example, "holdfast.toml"), "--check"],
                       env=os.environ | good, check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        s3 = self.s3()
        s3.client.create_bucket(Bucket="uploads")
        eicar = rb"X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR-STANDARD-" + b"ANTIVIRUS-TEST-FILE!$H+H*"
        for key, body in [("clean", b"a report"), ("infected", eicar), ("busy", b"HOLDFAST-TEST-SCANNER-IS-BUSY")]:
            s3.client.put_object(Bucket="uploads", Key=key, Body=body)
        task = 'retry = { attempts = 2, first = "1ms" }'
        command = f"'exec {os.path.abspath(example)}/scan'"
        server = self.serve(self.config(s3.url, command=command, task=task), ENV)
        ended = {key: server.ended(server.submit(type="read", payload={"bucket": "uploads", "object": key}))
                 for key in ("clean", "infected", "busy")}  # fmt: skip
        self.assertEqual(ended["clean"].get("result", {}).get("verdict"), "clean", ended["clean"])
        self.assertEqual(ended["infected"]["result"],
                         {"verdict": "infected", "signature": "EICAR-Test-File", "size": len(eicar),
                          "sha256": hashlib.sha256(eicar).hexdigest()})  # fmt: skip
        self.assertEqual((ended["busy"]["state"], ended["busy"]["attempts"]), ("dead", 2))
        self.assertEqual(server.end(), 0)

    def test_workers_elsewhere_fetch_inputs_too(self):
        s3 = self.s3()
        client = s3.client
        client.create_bucket(Bucket="uploads")
        client.put_object(Bucket="uploads", Key="a", Body=b"far away")
        server = self.serve("[task.read]\npull = true\n")
        with open(os.path.join(self.folder, "worker.toml"), "w", encoding="utf-8") as file:
            file.write(self.config(s3.url))
        worker = subprocess.Popen(
            [HOLDFAST, "worker", "--config", "worker.toml", "--server", f"http://127.0.0.1:{server.port}"],
            cwd=self.folder, env=os.environ | ENV, stderr=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        task = server.submit(type="read", payload={"bucket": "uploads", "object": "a"})
        self.assertEqual(server.ended(task)["result_text"], "far away")
        failed = server.ended(server.submit(type="read", payload={"bucket": "uploads", "object": "b"}))
        self.assertEqual((failed["state"], failed["attempts"]), ("failed", 1), failed)
        worker.terminate()
        self.assertEqual(worker.wait(60), 0)
        self.assertEqual(os.listdir(self.inputs), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
