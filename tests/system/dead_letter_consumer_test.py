#!/usr/bin/env python3
"""The dead-letter consumer of the built server, on the embedded store and over a real RabbitMQ. What it
writes to the log is an interface, so it is compared word for word: C3.1 to C3.7, C6.2.

Usage: dead_letter_consumer_test.py HOLDFAST"""

import json
import os
import sys
import unittest

import pika

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import rabbitmq  # noqa: E402
import serve_test  # noqa: E402
import reload_test  # noqa: E402
from serve_test import SystemTest  # noqa: E402
from waiting import eventually  # noqa: E402

# Polls as short as a test wants them; the defaults are asserted below, and in C++ on a fake clock.
FAST = 'dead_poll = "100ms"\ndead_wait = "100ms"\n'
FLAKY = """
[task.flaky]
queue = "relay"
command = ["sh", "-c", "echo network timeout >&2; exit 1"]
retry = { attempts = 3, first = "1ms" }
"""


class Consumed(SystemTest):
    def relay(self, lines, more="", tasks=FLAKY):
        return self.serve(f"[queue.relay]\n{lines}{more}{tasks}")

    def failed(self, server, task):
        """The task, once it is failed."""

        def look():
            info = server.call("GET", f"/v1/tasks/{task}")[1]
            return info["state"] == "failed" and info

        return eventually("a task that is failed", look)

    def said(self, server, phrase):
        """The records of the log whose message is this, once there is one."""

        def look():
            records = [json.loads(line) for line in list(server.log) if line.startswith("{")]
            return [one for one in records if one.get("message") == phrase]

        return eventually(phrase, look)


class DeadLetterConsumerTest(Consumed):
    def test_C3_1_both_consumers_start_together_and_C3_6_stop(self):
        server = self.relay('on_dead = "fail"\n')
        self.said(server, "Starting Main Consumer and DLQ Consumer together")
        started = self.said(server, "DLQ Consumer started")
        self.assertEqual(len(started), 1)
        self.assertEqual(started[0]["queue"], "relay")
        # C3.5: what is the default.
        self.assertEqual((started[0]["poll_interval_ms"], started[0]["wait_ms"]), (10_000, 10_000))
        self.assertEqual(started[0]["batch"], 10)
        self.assertEqual(server.end(), 0)
        self.assertEqual(len(self.said(server, "DLQ Consumer stopped")), 1)

    def test_C3_2_a_dead_letter_is_failed_with_what_it_died_of(self):
        server = self.relay('on_dead = "fail"\n', FAST)
        task = server.submit(type="flaky", payload={"to": "0xab"}, retry_on_failure=True)
        info = self.failed(server, task)
        self.assertEqual(info["last_failure"]["message"],
                         "[DLQ] Message moved to DLQ after 3 retries: network timeout")  # fmt: skip
        self.assertEqual((info["attempts"], info["replays"]), (3, 0))
        self.assertEqual([one["event"] for one in info["history"]], ["error"] * 3 + ["close"])
        processed = self.said(server, f"DLQ message processed: {task} -> failed")
        self.assertEqual((processed[0]["queue"], processed[0]["task"]), ("relay", task))
        self.assertEqual(self.said(server, "Received 1 DLQ messages")[0]["queue"], "relay")  # C6.2
        self.assertEqual(server.call("GET", "/v1/dead?state=dead")[1]["tasks"], [])
        self.assertEqual(server.end(), 0)
        verified = serve_test.subprocess.run(
            [serve_test.HOLDFAST, "verify", serve_test.store_at.url_of(self.folder)], cwd=self.folder, check=False,
            capture_output=True, text=True)  # fmt: skip
        self.assertEqual(verified.returncode, 0, verified.stdout)  # N5

    def test_C3_3_one_round_brings_it_back_once(self):
        server = self.relay('on_dead = "redrive"\n', FAST)
        task = server.submit(type="flaky", retry_on_failure=True)
        plain = server.submit(type="flaky")
        info = self.failed(server, task)
        self.said(server, f"DLQ message processed: {task} -> redriven")
        self.said(server, f"DLQ message processed: {task} -> failed")
        self.assertEqual(info["replays"], 1)
        self.assertEqual([one["event"] for one in info["history"]], ["error"] * 6 + ["close"])
        self.assertIs(info["retry_on_failure"], True)
        other = self.failed(server, plain)
        self.assertEqual(other["replays"], 0)
        self.assertIs(other["retry_on_failure"], False)

    def test_C3_3_no_rounds_say_that_the_retry_is_disabled(self):
        server = self.relay('on_dead = "redrive"\nredrive_rounds = 0\n', FAST)
        task = server.submit(type="flaky", retry_on_failure=True)
        info = self.failed(server, task)
        self.assertEqual(info["replays"], 0)
        warned = self.said(server, "Retry requested but disabled")
        self.assertEqual((warned[0]["level"], warned[0]["task"]), ("warning", task))

    def test_T5_by_default_dead_letters_stay(self):
        server = self.relay(FAST)
        task = server.submit(type="flaky")
        self.assertEqual(server.ended(task)["state"], "dead")
        self.assertEqual(server.end(), 0)
        log = "".join(server.log)
        self.assertNotIn("DLQ Consumer", log)
        server = self.relay('on_dead = "fail"\n', FAST)
        self.failed(server, task)  # what was dead before is looked after, too

    def test_many_and_a_paused_queue(self):
        server = self.relay('on_dead = "fail"\n', FAST)
        tasks = [{"type": "flaky", "attempts": 1} for _ in range(37)]
        status, answers = server.call("POST", "/v1/tasks", tasks)
        self.assertEqual(status, 201)
        server.call("POST", "/v1/queues/relay/pause", {})

        def count(state):
            queues = server.call("GET", "/v1/queues")[1]["queues"]
            return [one["tasks"][state] for one in queues if one["name"] == "relay"][0]

        eventually("none is dead", lambda: count("dead") == 0 and count("running") == 0)
        server.call("POST", "/v1/queues/relay/resume", {})
        for answer in answers:
            self.failed(server, answer["id"])

    def test_a_reload_changes_the_rule(self):
        server = self.relay(FAST)
        task = server.submit(type="flaky")
        self.assertEqual(server.ended(task)["state"], "dead")
        log = reload_test.ReloadTest.reload(self, server, f'[queue.relay]\non_dead = "fail"\n{FAST}{FLAKY}')
        self.assertIn("on_dead", log)
        self.failed(server, task)
        reload_test.ReloadTest.reload(self, server, f"[queue.relay]\n{FAST}{FLAKY}")
        self.said(server, "DLQ Consumer stopped")
        self.assertEqual(server.ended(server.submit(type="flaky"))["state"], "dead")


class OverRabbitMq(Consumed):
    """The same, of a queue that RabbitMQ carries."""

    @classmethod
    def setUpClass(cls):
        cls.broker = rabbitmq.shared()
        cls.broker.start()

    @classmethod
    def tearDownClass(cls):
        cls.broker.close()

    def setUp(self):
        super().setUp()
        self.queue = "relay." + self.id().split(".")[-1]
        self.dead = self.queue + ".dlq"
        connection = pika.BlockingConnection(pika.URLParameters(self.broker.url))
        self.addCleanup(lambda: connection.is_open and connection.close())
        self.channel = connection.channel()

    def carried(self, lines):
        tasks = FLAKY.replace('"relay"', f'"{self.queue}"')
        connect = 'connect = { attempts = 1000, wait = "100ms" }\n'
        return self.serve(
            f'[queue."{self.queue}"]\nbroker = "{self.broker.url}"\n{connect}{lines}{FAST}{tasks}')

    def empty(self, queue):
        """Nothing is in it, and nothing is handed out."""
        self.channel.queue_declare(queue, passive=True)
        return self.channel.queue_declare(queue, passive=True).method.message_count == 0

    def test_C3_2_its_message_is_deleted(self):
        server = self.carried('on_dead = "fail"\n')
        task = server.submit(type="flaky", payload={"to": "0xab"})
        info = self.failed(server, task)
        self.assertEqual(info["last_failure"]["message"],
                         "[DLQ] Message moved to DLQ after 3 retries: network timeout")  # fmt: skip
        self.said(server, f"DLQ message processed: {task} -> failed")
        self.assertEqual(server.end(), 0)
        self.assertEqual(len(self.said(server, "DLQ Consumer stopped")), 1)
        self.assertTrue(self.empty(self.dead) and self.empty(self.queue))

    def test_C3_3_one_that_asks_for_it_comes_back_by_the_broker(self):
        server = self.carried('on_dead = "redrive"\n')
        task = server.submit(type="flaky", retry_on_failure=True)
        info = self.failed(server, task)
        self.assertEqual((info["replays"], info["attempts"]), (1, 3))
        self.said(server, f"DLQ message processed: {task} -> redriven")
        self.assertEqual(server.end(), 0)
        self.assertTrue(self.empty(self.dead) and self.empty(self.queue))

    def test_C3_4_C3_7_and_what_is_not_ours(self):
        server = self.carried('on_dead = "fail"\n')
        task = server.submit(type="flaky")
        self.failed(server, task)
        unknown = "01912d68-783e-7a03-8467-5661c1243ad4"
        for headers in ({"x-holdfast-task": unknown}, {"x-holdfast-task": task}, {}, {}):
            self.channel.basic_publish("", self.dead, b"{}", pika.BasicProperties(headers=headers))
        self.said(server, f"Transaction not found: {unknown}, deleting DLQ message")
        self.said(server, f"Transaction already failed: {task}, deleting duplicate DLQ message")
        self.said(server, "a DLQ message that names no task is kept")
        self.assertEqual(server.end(), 0)
        kept = eventually("handed back", lambda: not self.empty(self.dead))
        self.assertTrue(kept)
        self.assertEqual(self.channel.queue_declare(self.dead, passive=True).method.message_count, 2)

    def test_a_kill_between_loses_nothing(self):
        server = self.carried('on_dead = "fail"\n')
        tasks = [server.submit(type="flaky") for _ in range(30)]
        eventually("the first is failed", lambda: any(
            server.call("GET", f"/v1/tasks/{task}")[1]["state"] == "failed" for task in tasks))  # fmt: skip
        server.end(9)
        server = self.carried('on_dead = "fail"\n')
        for task in tasks:
            info = self.failed(server, task)
            self.assertIn("[DLQ] Message moved to DLQ after", info["last_failure"]["message"])
        eventually("the dead-letter queue is empty", lambda: self.empty(self.dead))
        self.assertEqual(server.end(), 0)
        self.assertTrue(self.empty(self.dead) and self.empty(self.queue))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
