#!/usr/bin/env python3
"""examples/relayer from end to end: HTTP, SQS (fauxqs), the webhook to the stand-in relayer, the dead-letter
consumer, and the status by HTTP (C4.1, C4.2, C5.3), also while the server is killed and SQS is away.

Usage: relayer_sqs_test.py HOLDFAST"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import relayer  # noqa: E402
import serve_test  # noqa: E402
from serve_test import SystemTest  # noqa: E402
from sqs_server import KEYS, SqsServer  # noqa: E402
from tcp_proxy import Proxy  # noqa: E402
from waiting import eventually  # noqa: E402

# Short, so that nothing waits for a real backoff; the defaults are asserted in C++.
QUICK = 'dead_poll = "200ms"\nconnect = { attempts = 1000, wait = "100ms" }\nvisibility = "2s"\n'
TASKS_AND_KILLS = int(os.environ.get("HOLDFAST_TEST_TASKS", "2000"))
ENDS = ("succeeded", "failed")  # nothing stays dead


class RelayerSqsTest(SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.sqs = SqsServer()

    @classmethod
    def tearDownClass(cls):
        cls.sqs.end()

    def setUp(self):
        super().setUp()
        self.queue = self.id().split(".")[-1][:60]
        self.dead = self.queue + "-dlq"
        self.relayer = relayer.Relayer()
        self.addCleanup(self.relayer.end)

    def start(self, sqs=None, more="", **changes):
        self.server = self.serve(
            relayer.config(self.relayer, sqs=sqs or self.sqs.url, queue=self.queue, more=QUICK + more, **changes),
            env=KEYS)  # fmt: skip
        return relayer.Client(self.server)

    def nothing_is_left(self):
        for queue in (self.queue, self.dead):
            eventually(f"{queue} is empty", lambda queue=queue: self.sqs.count(queue) == 0, 120)

    def said(self, phrase):
        return eventually(phrase, lambda: [line for line in list(self.server.log) if phrase in line])

    def test_C4_1_C3_2_the_whole_retryable_path(self):
        client = self.start()
        task = client.relay("fail 504 network timeout")
        ended = client.ended(task, ENDS)
        self.assertEqual((ended["status"], ended["attempts"]), ("failed", 3))
        self.assertIn("[DLQ] Message moved to DLQ after 3 retries", ended["error_message"])
        self.assertIn("network timeout", ended["error_message"])
        self.assertEqual(self.relayer.requests()[task], 3)
        self.nothing_is_left()
        for phrase in ("Starting Main Consumer and DLQ Consumer together", "DLQ Consumer started",  # C3.1
                       "[RETRYABLE] Pattern match", "Received 1 DLQ messages",
                       f"DLQ message processed: {task} -> failed"):  # fmt: skip
            self.said(phrase)
        self.assertEqual(self.server.end(), 0)
        self.said("DLQ Consumer stopped")  # C3.6

    def test_C4_2_the_whole_non_retryable_path(self):
        client = self.start()
        task = client.relay("fail 500 insufficient funds for gas")
        ended = client.ended(task, ENDS)
        self.assertEqual((ended["status"], ended["attempts"]), ("failed", 1))
        self.assertIn("[NON_RETRYABLE]", ended["error_message"])
        self.said("[NON_RETRYABLE] Pattern match")
        self.assertEqual(self.relayer.requests()[task], 1)
        self.nothing_is_left()
        self.assertFalse([line for line in self.server.log if "DLQ messages" in line])

    def test_C3_3_what_asks_for_it_is_brought_back_once_and_then_given_up(self):
        client = self.start()
        lost, saved = client.relay("fail 503 busy", retryOnFailure=True), client.relay("fail*4 503 busy", retryOnFailure=True)
        self.assertEqual(client.ended(lost, ENDS)["status"], "failed")
        self.assertEqual(client.ended(saved, ENDS)["status"], "succeeded")
        self.assertEqual(self.relayer.requests(), {lost: 6, saved: 5})
        self.said(f"DLQ message processed: {lost} -> redriven")
        self.said(f"DLQ message processed: {lost} -> failed")
        self.nothing_is_left()

    def test_C3_4_a_dead_letter_that_nobody_knows_is_deleted(self):
        client = self.start()
        client.ended(client.relay())
        # As another life of the server has left it, whose records are gone.
        unknown = "01900000-0000-7000-8000-000000000000"
        task = client.relay("fail 503 busy")
        client.ended(task, ENDS)
        self.sqs.send(self.dead, "{}", MessageAttributes={
            "x-holdfast-task": {"DataType": "String", "StringValue": unknown}})  # fmt: skip
        self.said(f"Transaction not found: {unknown}, deleting DLQ message")
        self.sqs.send(self.dead, "{}", MessageAttributes={
            "x-holdfast-task": {"DataType": "String", "StringValue": task}})  # fmt: skip
        self.said(f"Transaction already failed: {task}, deleting duplicate DLQ message")  # C3.7
        self.nothing_is_left()

    def test_C5_3_a_hundred_mixed_transactions_all_have_an_end(self):
        client = self.start()
        self.check_all(client, {client.relay(words, retryOnFailure=number % 2 == 0): words
                                for number in range(100) for words in [self.mixed(number)]})  # fmt: skip

    @staticmethod
    def mixed(number):
        return ("", "fail 500 insufficient funds", "fail*1 503 busy", "fail 400 bad", "fail*2 504 network timeout",
                "fail 503 busy", "fail*4 502 bad gateway", "", "fail 500 execution reverted", "")[number % 10]  # fmt: skip

    def check_all(self, client, sent, seconds=120):
        ends = {}

        def all_ended():
            for task in sent.keys() - ends.keys():
                answer = client.status(task)
                if answer["status"] not in ENDS:
                    return False
                ends[task] = answer["status"]
            return True

        eventually("all have an end", all_ended, seconds)
        relayed = self.relayer.sent()
        for task, words in sent.items():
            if not words.startswith("fail ") and not words.startswith("fail*4"):
                self.assertEqual(ends[task], "succeeded", words)
            if words.startswith("fail "):
                self.assertEqual(ends[task], "failed", words)
            self.assertEqual(ends[task] == "succeeded", task in relayed, words)
        self.nothing_is_left()

    def test_thousands_of_tasks_and_kills(self):
        """Every one has a final status, the dead-letter queue is empty, and the ledger agrees. The test run takes
        fewer; scripts/test-long takes them all."""
        total, kills = TASKS_AND_KILLS, 4
        # SQS itself would give up what three servers had at hand when they were killed, and so fail some.
        client = self.start(more="max_receives = 100\n")
        sent, dice = {}, random.Random(17)
        kill_at = {total * (number + 1) // (kills + 1) for number in range(kills)}
        for start in range(0, total, 100):
            batch = [self.mixed(dice.randrange(10)) for _ in range(100)]
            tasks = [{"type": "relay.direct", "queue": "relay", "key": f"k{start + number}",
                      "payload": {"to": relayer.TO, "data": relayer.says(words), "value": "0"},
                      "retry_on_failure": dice.random() < 0.5} for number, words in enumerate(batch)]  # fmt: skip
            status, answer = self.server.call("POST", "/v1/tasks", tasks)
            self.assertIn(status, (200, 201), answer)
            for words, one in zip(batch, answer):
                sent[one["id"]] = words
            if start + 100 in kill_at:
                self.server.end(signal.SIGKILL)
                client = self.start(more="max_receives = 100\n")
        self.assertEqual(len(sent), total)
        self.check_all(client, sent, 600)
        self.assertEqual(self.server.end(), 0)
        verify = subprocess.run([serve_test.HOLDFAST, "verify", serve_test.store_at.url_of(self.folder, "relayer.db"),
                                 "--json"], cwd=self.folder, capture_output=True, text=True, timeout=300)  # fmt: skip
        self.assertEqual(verify.returncode, 0, verify.stdout + verify.stderr)

    def test_sqs_away_and_back(self):
        with Proxy(self.sqs.port, frames=False) as proxy:
            client = self.start(sqs=f"http://127.0.0.1:{proxy.port}", more='publish = { attempts = 2, first = "20ms" }\n')
            client.ended(client.relay())
            proxy.refuse(True)
            proxy.cut_all()
            status, problem = client.post(idempotencyKey="while-away")
            self.assertEqual((status, problem["status"]), (503, 503), problem)
            proxy.refuse(False)
            status, answer = client.post(idempotencyKey="while-away")
            self.assertIn(status, (200, 201), answer)
            self.assertEqual(client.ended(answer["id"])["status"], "succeeded")
            self.assertEqual(self.relayer.requests()[answer["id"]], 1)
            self.nothing_is_left()

    def test_a_task_longer_than_the_visibility_is_run_once(self):
        client = self.start()
        task = client.relay("hang")
        eventually("it was begun", lambda: self.relayer.requests().get(task))
        until = time.monotonic() + 5  # its visibility of 2 s is extended meanwhile
        while time.monotonic() < until:
            self.assertEqual(self.relayer.requests()[task], 1)
            threading.Event().wait(0.2)
        self.server.end(signal.SIGKILL)  # mid-task
        self.relayer.script({"status": 200, "error": json.dumps({"hash": "0x1"})})
        client = self.start()
        self.assertEqual(client.ended(task)["status"], "succeeded")
        self.assertEqual(self.relayer.requests()[task], 2)
        self.nothing_is_left()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
