#!/usr/bin/env python3
"""Tasks over SQS, and dead letters brought back from it, with the built program and fauxqs.

Usage: sqs_test.py HOLDFAST"""

import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import serve_test  # noqa: E402
from serve_test import SystemTest  # noqa: E402
from sqs_server import KEYS, REGION, SqsServer  # noqa: E402
from waiting import eventually  # noqa: E402

RETRY = 'retry = { attempts = 3, first = "100ms", cap = "100ms" }\n'
FAST = 'publish = { attempts = 3, first = "20ms" }\nconnect = { attempts = 1000, wait = "100ms" }\n'


class SqsTest(SystemTest):
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

    def serve(self, command, queue_lines="broker_create = true\n", task_lines=RETRY):
        return SystemTest.serve(
            self,
            f'[queue.jobs]\nbroker = "sqs://{REGION}/{self.queue}"\nbroker_endpoint = "{self.sqs.url}"\n'
            f'{FAST}{queue_lines}\n[task.job]\nqueue = "jobs"\ncommand = {json.dumps(command)}\n{task_lines}',
            env=KEYS)  # fmt: skip

    def recover(self, *options, code=0):
        run = subprocess.run(
            [serve_test.HOLDFAST, "recover", "--from", f"sqs://{REGION}/{self.dead}", "--endpoint", self.sqs.url,
             "--json", "--empty", "1s", "--idle", "2s", *options],
            env=os.environ | KEYS, capture_output=True, text=True, timeout=120)  # fmt: skip
        self.assertEqual(run.returncode, code, run.stderr + run.stdout)
        return json.loads(run.stdout)

    def test_a_task_goes_by_sqs_and_leaves_nothing_there(self):
        server = self.serve(["cat"])
        task = server.submit(type="job", payload={"a": 1})
        info = server.ended(task)
        self.assertEqual((info["state"], info["result"]), ("succeeded", {"a": 1}))
        eventually("deleted", lambda: self.sqs.count(self.queue) == 0)
        self.assertEqual(server.end(), 0)

    def test_queues_are_made_with_their_redrive_policy(self):
        server = self.serve(["true"])
        server.ended(server.submit(type="job"))
        policy = json.loads(self.sqs.attributes(self.queue)["RedrivePolicy"])
        self.assertEqual(policy["deadLetterTargetArn"], self.sqs.attributes(self.dead)["QueueArn"])
        self.assertEqual(int(policy["maxReceiveCount"]), 3)
        self.assertEqual(int(self.sqs.attributes(self.dead)["MessageRetentionPeriod"]), 14 * 24 * 3600)
        server.end()

    def test_three_failures_and_it_is_in_the_dead_letter_queue(self):
        server = self.serve(["sh", "-c", "echo scanner is broken >&2; exit 1"])
        task = server.submit(type="job", payload={"n": 7})
        info = server.ended(task)
        self.assertEqual((info["state"], info["attempts"]), ("dead", 3))
        eventually("a dead letter", lambda: self.sqs.count(self.dead) == 1)
        eventually("and nothing else", lambda: self.sqs.count(self.queue) == 0)
        [letter] = self.sqs.take(self.dead)
        self.assertEqual(json.loads(letter["Body"]), {"n": 7})
        server.end()

    def test_messages_of_others_become_tasks(self):
        server = self.serve(["cat"])
        server.ended(server.submit(type="job"))
        self.sqs.send(self.queue, '{"from": "elsewhere"}')

        def adopted():
            tasks = server.call("GET", "/v1/tasks?state=succeeded")[1]["tasks"]
            return [one for one in tasks if server.call("GET", f"/v1/tasks/{one['id']}")[1].get("result")
                    == {"from": "elsewhere"}]  # fmt: skip

        eventually("it was run", adopted)
        eventually("deleted", lambda: self.sqs.count(self.queue) == 0)
        server.end()

    def test_what_is_amiss_with_queues_is_said_at_the_start(self):
        self.sqs.make(self.queue)
        self.sqs.make(self.dead, MessageRetentionPeriod="3600")
        server = self.serve(["true"], "")
        server.ended(server.submit(type="job"))
        server.end()
        self.assertIn("redrive policy: set deadLetterTargetArn", "".join(server.log))
        self.assertIn("set the MessageRetentionPeriod", "".join(server.log))

    def test_a_killed_server_loses_nothing(self):
        done = os.path.join(self.folder, "done")
        command = ["sh", "-c", f'printf "%s\\n" "$(cat)" >> {done}']  # in one write: many do it at once
        # SQS itself would give up what three servers had at hand when they were killed.
        queue = 'broker_create = true\nvisibility = "2s"\nmax_receives = 100\n'
        tasks = 100
        server = self.serve(command, queue)
        for number in range(tasks):
            server.submit(type="job", payload=number, key=f"k{number}")
            if number % 30 == 15:
                server.end(9)
                server = self.serve(command, queue)

        def all_done():
            with open(done, encoding="utf-8") as file:
                return set(range(tasks)) <= {int(line) for line in file.read().split()}

        eventually("all were run", all_done, 120)
        eventually("and are gone", lambda: self.sqs.count(self.queue) == 0, 120)
        server.end()

    def test_recover_brings_back_what_sqs_has_given_up(self):
        target = self.queue
        self.sqs.make(self.dead)
        self.sqs.make(target, self.dead, receives=1)
        bodies = {f"m{number}" for number in range(25)}
        for body in bodies:
            self.sqs.send(target, body, MessageAttributes={"MessageType": {"DataType": "String", "StringValue": "Scan"}})
        while self.sqs.count(self.dead) < len(bodies):  # received, and never deleted
            self.sqs.receive(target, VisibilityTimeout=0)
        plan = self.recover("--to", target, "--dry-run")
        self.assertEqual(sum(row["count"] for row in plan["plan"]), len(bodies))
        self.assertEqual(self.sqs.count(self.dead), len(bodies))
        summary = self.recover("--to", target)
        self.assertEqual(summary["recovered"]["by_target"], {target: len(bodies)})
        self.assertEqual(self.sqs.count(self.dead), 0)
        back = self.sqs.take(target)
        self.assertEqual({message["Body"] for message in back}, bodies)
        self.assertEqual({message["MessageAttributes"]["MessageType"]["StringValue"] for message in back}, {"Scan"})

    def test_recover_keeps_groups_and_is_not_deduplicated(self):
        # Trap 8: the same deduplication id within five minutes would be taken and not be delivered.
        self.dead = "back-dlq.fifo"
        self.sqs.make(self.dead)
        self.sqs.make("back.fifo")
        for number in range(12):
            more = {"MessageGroupId": f"g{number % 3}", "MessageDeduplicationId": f"d{number}"}
            self.sqs.send("back.fifo", str(number), **more)
            self.sqs.send(self.dead, str(number), **more)
        self.assertEqual(len(self.sqs.take("back.fifo")), 12)  # worked on a moment ago, with the same ids
        summary = self.recover("--to", "back.fifo")
        self.assertEqual(summary["recovered"]["total"], 12)
        groups = {}
        for message in self.sqs.take("back.fifo"):
            groups.setdefault(message["Attributes"]["MessageGroupId"], []).append(int(message["Body"]))
        self.assertEqual(groups, {"g0": [0, 3, 6, 9], "g1": [1, 4, 7, 10], "g2": [2, 5, 8, 11]})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
