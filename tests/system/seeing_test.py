#!/usr/bin/env python3
"""The built server, watched: metrics, statistics, events, alerts and logs, as others would read them.

Usage: seeing_test.py HOLDFAST"""

import base64
import hashlib
import hmac
import http.client
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

import serve_test
from serve_test import HOLDFAST, store_at

TASKS = """
[task.good]
command = ["true"]
[task.hopeless]
command = ["sh", "-c", "echo bad data >&2; exit 65"]
[task.flaky]
command = ["sh", "-c", "echo try later >&2; exit 75"]
retry = { attempts = 2, first = "1ms" }
[task.slow]
command = ["sleep", "60"]
timeout = "50ms"
retry = { attempts = 1 }
[task.pulled]
queue = "pulled"
pull = true
"""


class Events:
    """A reader of /v1/events."""

    def __init__(self, server, query="", last=None, headers=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        headers = dict(headers or {})
        if last is not None:
            headers["Last-Event-ID"] = last
        self.connection.request("GET", "/v1/events" + query, headers=headers)
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.read()
        self.last = last

    def next(self):
        """(kind, data) of the next event; None: the stream has ended."""
        event = {}
        for line in self.answer:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                event[name] = value
            if name == "id":
                self.last = value
            if not name and "data" in event:
                return event["event"], json.loads(event["data"])
        return None

    def close(self):
        self.answer.close()
        self.connection.close()


class SeeingTest(serve_test.SystemTest):
    def read_events(self, *arguments, **more):
        events = Events(*arguments, **more)
        self.addCleanup(events.close)
        return events

    def test_T9_metrics_are_what_prometheus_reads(self):
        server = self.serve(TASKS)
        for kind in ("good", "hopeless", "flaky", "slow"):
            server.ended(server.submit(type=kind))
        server.submit(type="nobody \"knows\"\n{this}", queue="pulled")
        status, text = server.call("GET", "/metrics")
        self.assertEqual(status, 200)
        promtool = shutil.which("promtool")
        self.assertIsNotNone(promtool, "the package prometheus has it")
        checked = subprocess.run([promtool, "check", "metrics"], input=text, text=True,
                                 capture_output=True, check=False)  # fmt: skip
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))

        def of(kind, name, more=""):
            return f'holdfast_{name}{{queue="default",type="{kind}"{more}}} 1\n'

        for line in (
            of("good", "tasks_succeeded_total"),
            of("good", "task_run_seconds_count"),
            of("good", "task_wait_seconds_count"),
            of("hopeless", "tasks_failed_total"),
            of("flaky", "tasks_retried_total"),
            of("flaky", "tasks_dead_total", ',reason="out_of_attempts"'),
            of("slow", "tasks_timed_out_total"),
            'holdfast_queue_tasks{queue="default",state="dead"} 2\n',
            'holdfast_queue_tasks{queue="pulled",state="pending"} 1\n',
            'holdfast_http_requests_total{method="POST",route="/v1/tasks",status="201"} 5\n',
            "holdfast_http_connections ",
            'holdfast_build_info{version="',
        ):
            self.assertIn(line, text)
        self.assertEqual(server.end(), 0)

    def test_statistics_for_dashboards(self):
        server = self.serve(TASKS)
        server.ended(server.submit(type="good"))
        status, stats = server.call("GET", "/v1/stats")
        self.assertEqual(status, 200)
        queue = next(one for one in stats["queues"] if one["name"] == "default")
        self.assertEqual(queue["tasks"]["succeeded"], 1)
        self.assertGreater(queue["rates"]["15m"]["succeeded"], 0)
        self.assertEqual((stats["store"]["kind"], stats["alerts"], stats["breakers"]), (store_at.url_of(self.folder).split(":")[0], [], []))

    def test_events_are_told_and_resumed(self):
        server = self.serve("[events]\nkeep = 20\n" + TASKS)
        events = self.read_events(server, "?type=good")
        task = server.submit(type="good")
        server.submit(type="pulled", queue="pulled")
        told = [events.next() for _ in range(3)]
        self.assertEqual([(kind, data["id"], data["to"]) for kind, data in told],
                         [("task", task, "pending"), ("task", task, "running"), ("task", task, "succeeded")])  # fmt: skip
        events.close()
        server.call("POST", "/v1/queues/pulled/pause")
        again = self.read_events(server, last=events.last)
        kinds = [again.next()[0] for _ in range(1)]
        while kinds[-1] != "queue":  # a task of another type came first
            kinds.append(again.next()[0])
        server.submit(type="good")
        # Too long ago, and of another life.
        for _ in range(30):
            server.ended(server.submit(type="good"))
        late = self.read_events(server, last=events.last)
        self.assertEqual(late.next()[0], "reset")
        server.submit(type="pulled", queue="pulled")
        self.assertEqual(late.next()[0], "task")
        # A server that stops ends its streams.
        server.process.send_signal(signal.SIGTERM)
        while late.next():
            pass
        self.assertEqual(server.end(), 0)
        server = self.serve(TASKS)
        self.assertEqual(self.read_events(server, last=late.last).next()[0], "reset")

    def test_a_reader_that_is_slow_is_cut_off_and_costs_nothing(self):
        # What AddressSanitizer keeps of freed memory is not ours.
        server = self.serve("[events]\nkeep = 1000\n" + TASKS, {"ASAN_OPTIONS": "quarantine_size_mb=1"})
        slow = self.read_events(server)
        tasks = [{"type": "x" * 200, "queue": "pulled"}] * 1000
        self.assertEqual(server.call("POST", "/v1/tasks", tasks)[0], 201)
        before = server.memory_mb()
        for _ in range(40):  # more than the sockets between us hold
            self.assertEqual(server.call("POST", "/v1/tasks", tasks)[0], 201)
        told = 0
        try:
            while slow.next():
                told += 1
        except http.client.IncompleteRead:
            pass  # nothing could be written to it for half a minute: then it is cut off in the middle
        self.assertLess(told, 41_000)
        self.assertLess(server.memory_mb() - before, 30)
        self.assertEqual(self.read_events(server, last=slow.last).next()[0], "reset")

    def test_events_and_metrics_need_a_token_that_may_read(self):
        config = '[token.{0}]\nrole = "{0}"\nsecret = "env:{0}"\n'
        tokens = {"read": "planted-read-token", "submit": "planted-submit-token"}
        server = self.serve("".join(config.format(role) for role in tokens) + TASKS, tokens)
        for path in ("/metrics", "/v1/stats", "/v1/events"):
            self.assertEqual(server.call("GET", path)[0], 401)
            own = {"Authorization": "Bearer " + tokens["submit"]}
            self.assertEqual(server.call("GET", path, headers=own)[0], 403)
        own = {"Authorization": "Bearer " + tokens["read"]}
        text = server.call("GET", "/metrics", headers=own)[1] + json.dumps(server.call("GET", "/v1/stats", headers=own)[1])
        self.assertIn("holdfast_build_info", text)
        self.read_events(server, headers=own)
        self.assertNotIn("planted", text + "".join(server.log))

    def test_T9_alerts_go_to_a_webhook_signed_and_again_until_they_are_taken(self):
        serve_test.Receiver.came = []
        serve_test.Receiver.answers = [(503, b"planted-answer", {})]
        receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve_test.Receiver)
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        self.addCleanup(receiver.server_close)
        self.addCleanup(receiver.shutdown)
        url = f"http://127.0.0.1:{receiver.server_address[1]}/planted-path"
        server = self.serve("""[webhook]
allow = ["loopback"]
[alerts]
webhook = "env:ALERT_URL"
secret = "env:ALERT_SECRET"
every = "1s"
over = "4s"
""" + TASKS, {"ALERT_URL": url, "ALERT_SECRET": serve_test.SECRET})  # fmt: skip
        events = self.read_events(server, "?state=canceled")
        server.ended(server.submit(type="flaky"))
        kind, told = events.next()
        self.assertEqual((kind, told["alert"], told["state"], told["value"]), ("alert", "dead_letters", "firing", 1))
        self.assertIn("dead_letters", {one["alert"] for one in server.call("GET", "/v1/stats")[1]["alerts"]})
        self.assertIn('holdfast_alert_firing{alert="dead_letters"} 1\n', server.call("GET", "/metrics")[1])
        kind, over = events.next()
        self.assertEqual((over["alert"], over["state"]), ("dead_letters", "resolved"))
        while len(serve_test.Receiver.came) < 3:
            time.sleep(0.01)
        (first, _), (headers, body), (_, last) = serve_test.Receiver.came
        self.assertEqual(headers["webhook-id"], first["webhook-id"])
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        key = base64.b64decode(serve_test.SECRET.removeprefix("whsec_"))
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        self.assertEqual(headers["webhook-signature"], "v1," + expected)
        self.assertEqual(json.loads(body)["data"], told)
        self.assertEqual(json.loads(last)["data"], over)
        self.assertEqual(server.end(), 0)
        log = "".join(server.log)
        self.assertIn("alert.firing", log)
        for secret in ("planted-path", serve_test.SECRET):
            self.assertNotIn(secret, log)

    def test_a_receiver_that_is_gone_is_logged_and_hurts_nobody(self):
        server = self.serve("""[alerts]
webhook = "http://127.0.0.1:9/planted"
every = "1s"
over = "4s"
""" + TASKS)  # fmt: skip
        while not any("alert.not_sent" in line for line in server.log):
            self.assertIsNone(server.process.poll())
            # Both, until it is seen: one that failed is soon outweighed, or older than what is looked at.
            server.ended(server.submit(type="flaky"))
            self.assertEqual(server.ended(server.submit(type="good"))["state"], "succeeded")
        self.assertEqual(server.end(), 0)

    def test_a_port_that_is_taken_is_said_before_anything_runs(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        touch = '[task.touch]\ncommand = ["touch", "ran"]\n'
        server = self.serve('[task.touch]\npull = true\n')
        server.submit(type="touch")
        self.assertEqual(server.end(), 0)
        server = serve_test.Server(self.folder, touch, listen=f"127.0.0.1:{taken.getsockname()[1]}")
        self.assertIsNone(server.port)
        self.assertEqual(server.end(), 1)
        self.assertIn("Address already in use", "".join(server.log))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "ran")))

    def test_log_format_and_level(self):
        server = self.serve('[log]\nlevel = "debug"\nformat = "json"\n')
        self.assertEqual(server.end(), 0)
        for line in server.log:
            json.loads(line)
        with open(os.path.join(self.folder, "text.toml"), "w", encoding="utf-8") as file:
            file.write('[http]\nlisten = "127.0.0.1:0"\n[log]\nformat = "text"\n')
        process = subprocess.Popen([HOLDFAST, "serve", "--config", "text.toml"], cwd=self.folder,
                                   stderr=subprocess.PIPE, text=True)  # fmt: skip
        lines = []
        for line in process.stderr:
            lines.append(line)
            if "server.ready" in line or "tasks are accepted" in line:
                break
        process.send_signal(signal.SIGTERM)
        lines += process.stderr.readlines()
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertFalse(any(line.startswith("{") for line in lines), lines)
        self.assertIn("info", lines[0].lower())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
