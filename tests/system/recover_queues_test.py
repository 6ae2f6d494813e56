#!/usr/bin/env python3
"""`holdfast recover` of several queues in one command, against a real RabbitMQ and SQS.

Usage: recover_queues_test.py HOLDFAST"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))

import rabbitmq  # noqa: E402
import sqs  # noqa: E402
from dead_letters import Letters, wait_until  # noqa: E402
from serve_test import HOLDFAST  # noqa: E402

QUICK = ["--empty", "300ms", "--idle", "3s"]  # nobody else fills these queues


class Queues(Letters):
    """Three dead-letter queues beside each other, named after one test."""

    def __init__(self, broker, name):
        super().__init__(broker, name)
        self.dlqs = [f"{name}.{part}.dlq" for part in "abc"]
        self.target = f"{name}.target"

    def fill(self, *counts):
        self.channel.queue_declare(self.target, durable=True)
        for queue, count in zip(self.dlqs, counts):
            self.channel.queue_declare(queue, durable=True)
            for number in range(count):
                self.publish(f"{queue}-{number}", key=queue)
            wait_until(lambda: self.count(queue) == count)

    def url_of(self, queue):
        return f"{self.broker.vhost_url}/{queue}"

    @property
    def pattern(self):
        return self.url_of(f"{self.name}.*.dlq")


class RecoverQueuesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.broker = rabbitmq.shared(management=True)
        cls.addClassCleanup(cls.broker.close)
        cls.broker.start()

    def setUp(self):
        self.queues = Queues(self.broker, self.id().split(".")[-1][5:35])
        self.addCleanup(self.queues.close)

    def recover(self, *arguments, code=0):
        done = subprocess.run(
            [HOLDFAST, "recover", *arguments, *QUICK, "--management", self.broker.management_url], text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=120)  # fmt: skip
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def summary(self, *arguments, code=0):
        return json.loads(self.recover(*arguments, "--json", code=code).stdout)

    def listed(self, *names):
        """Returns when the management API knows these queues."""
        known = lambda: {queue["name"] for queue in self.broker.manage("GET", f"queues/{self.broker.quoted_vhost}")}  # noqa: E731
        wait_until(lambda: known() >= set(names))

    def test_a_pattern_recovers_every_queue_that_it_matches(self):
        self.queues.fill(3, 0, 5)
        self.listed(*self.queues.dlqs)
        done = self.recover("--from", self.queues.pattern, "--to", self.queues.target)
        self.assertIn("Queues to recover: 3", done.stderr)
        self.assertLess(done.stderr.index(self.queues.dlqs[2]), done.stderr.index("Found 3 messages"))
        for queue in self.queues.dlqs:
            self.assertIn(f"/{queue}", done.stderr)
            self.assertEqual(self.queues.count(queue), 0)
        self.assertIn("TOTAL OF 3 QUEUES", done.stdout)
        self.assertIn("8  recovered", done.stdout.split("TOTAL")[1])
        self.assertEqual(self.queues.count(self.queues.target), 8)

    def test_several_queues_have_each_its_section_and_totals(self):
        self.queues.fill(2, 4)
        urls = [one for queue in self.queues.dlqs[:2] for one in ("--from", self.queues.url_of(queue))]
        plan = self.summary(*urls, "--to", self.queues.target, "--dry-run")
        self.assertEqual([one["would_recover"] for one in plan["queues"]], [2, 4])
        self.assertEqual((plan["total"]["would_recover"], plan["total"]["recovered"]), (6, 0))
        summary = self.summary(*urls, *urls, "--to", self.queues.target)  # each once
        self.assertEqual([one["queue"] for one in summary["queues"]], self.queues.dlqs[:2])
        self.assertEqual([one["recovered"]["total"] for one in summary["queues"]], [2, 4])
        self.assertEqual((summary["total"]["queues"], summary["total"]["recovered"]), (2, 6))

    def test_what_fails_at_one_queue_does_not_stop_the_others(self):
        self.queues.fill(2, 0, 3)
        gone = self.queues.url_of("no.such.dlq")
        urls = ["--from", self.queues.url_of(self.queues.dlqs[0]), "--from", gone,
                "--from", self.queues.url_of(self.queues.dlqs[2])]  # fmt: skip
        done = self.recover(*urls, "--to", self.queues.target, code=1)
        self.assertIn("Failed: ", done.stdout)
        self.assertIn("no.such.dlq", done.stdout)
        self.assertEqual(self.queues.count(self.queues.target), 5)
        # What is kept is the better of two ends.
        self.queues.fill(1)
        self.queues.publish("x", key=self.queues.dlqs[2])
        summary = self.summary(*urls[:2], *urls[4:], "--to-origin", code=3)
        self.assertEqual((summary["total"]["skipped"], summary["total"]["still_in_queues"]), (2, 2))

    def test_a_pattern_that_matches_nothing_says_what_there_is(self):
        self.queues.fill(1, 1)
        self.listed(*self.queues.dlqs[:2])
        done = self.recover("--from", self.queues.url_of(f"{self.queues.name}.a.dql*"), "--to", self.queues.target,
                            code=1)  # fmt: skip
        self.assertIn("no queue matches", done.stderr)
        self.assertIn(f'the nearest: "{self.queues.dlqs[0]}"', done.stderr)
        self.assertEqual(self.queues.count(self.queues.dlqs[0]), 1)

    def test_a_limit_is_that_of_all_queues_together(self):
        self.queues.fill(3, 3, 3)
        self.listed(*self.queues.dlqs)
        summary = self.summary("--from", self.queues.pattern, "--to", self.queues.target, "--limit", "4")
        self.assertEqual([one["recovered"]["total"] for one in summary["queues"]], [3, 1])
        self.assertEqual([one["from"] for one in summary["total"]["not_begun"]],
                         [self.place(self.queues.dlqs[2])])  # fmt: skip
        self.assertEqual([self.queues.count(queue) for queue in self.queues.dlqs], [0, 2, 3])

    def test_total_is_that_of_all_queues_together(self):
        self.queues.fill(30, 30)
        self.listed(*self.queues.dlqs[:2])
        summary = self.summary("--from", self.queues.pattern, "--to", self.queues.target, "--rate", "10/s",
                               "--total", "1s", code=3)  # fmt: skip
        self.assertEqual([one["ended"] for one in summary["queues"]], ["total"])
        self.assertEqual([one["why"] for one in summary["total"]["not_begun"]], ["its time is over (--total)"])
        self.assertEqual(self.queues.count(self.queues.dlqs[1]), 30)

    def place(self, queue):
        return f"amqp://127.0.0.1:{self.broker.url.split(':')[3].split('/')[0]}/{self.broker.quoted_vhost}/{queue}"

    def test_a_queue_that_messages_go_to_is_no_source(self):
        self.queues.fill(2, 3)
        [source, target] = self.queues.dlqs[:2]
        self.listed(source, target)
        done = self.recover("--from", self.queues.pattern, "--to", target)
        self.assertIn(f"Left out: {self.place(target)} (messages go there)", done.stderr)
        self.assertEqual([self.queues.count(source), self.queues.count(target)], [0, 5])
        done = self.recover("--from", self.queues.url_of(source), "--from", self.queues.url_of(target), "--to", target,
                            code=2)  # fmt: skip
        self.assertIn("circle", done.stderr)
        self.assertEqual(self.queues.count(target), 5)

    def test_a_message_whose_origin_is_recovered_too_is_kept(self):
        # It dies in the first queue, into the second: --to-origin would send it back to the first.
        [first, second] = self.queues.dlqs[:2]
        self.queues.channel.queue_declare(second, durable=True)
        self.queues.channel.queue_declare(first, durable=True, arguments={
            "x-message-ttl": 0, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": second})  # fmt: skip
        self.queues.publish("round", key=first)
        wait_until(lambda: self.queues.count(second) == 1)
        self.listed(first, second)
        summary = self.summary("--from", self.queues.pattern, "--to-origin=queue", code=3)
        self.assertEqual(summary["queues"][1]["skipped"]["by_reason"], {f"its target {first} is recovered, too": 1})
        self.assertEqual(self.queues.ids(second), ["round"])

    def test_a_name_with_a_star_is_reached(self):
        starred = f"{self.queues.name}.*.dlq"
        self.queues.fill(1)
        self.queues.channel.queue_declare(starred, durable=True)
        for number in range(2):
            self.queues.publish(f"s{number}", key=starred)
        self.listed(starred, self.queues.dlqs[0])
        self.recover("--from", self.queues.pattern, "--to", self.queues.target, "--limit", "1")
        self.assertEqual((self.queues.count(starred), self.queues.count(self.queues.dlqs[0])), (1, 1))
        self.recover("--from", self.queues.pattern.replace("*", "%2A"), "--to", self.queues.target)
        self.assertEqual((self.queues.count(starred), self.queues.count(self.queues.dlqs[0])), (0, 1))

    def test_one_journal_serves_all_queues(self):
        self.queues.fill(2, 2)
        self.listed(*self.queues.dlqs[:2])
        with tempfile.TemporaryDirectory(prefix="holdfast-recover-") as folder:
            path = os.path.join(folder, "journal.jsonl")
            for _ in range(2):
                self.recover("--from", self.queues.pattern, "--to", self.queues.target, "--journal", path)
            with open(path, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
        begun = [line["queue"] for line in lines if line["event"] == "begin"]
        self.assertEqual(begun, [self.place(queue) for queue in self.queues.dlqs[:2]])
        self.assertEqual(len([line for line in lines if line["event"] == "recovered"]), 4)

    def test_who_may_not_list_queues_is_told_what_is_missing(self):
        done = self.recover("--from", self.queues.pattern.replace("guest:guest", "guest:planted"), "--to", "x", code=1)
        for words in (self.broker.management_url, "guest", "the tag management"):
            self.assertIn(words, done.stderr)
        self.assertNotIn("planted", done.stdout + done.stderr)

    def test_an_api_that_is_not_there_is_said_how_to_name(self):
        done = subprocess.run(
            [HOLDFAST, "recover", "--from", self.queues.pattern, "--to", "x", "--management", "http://127.0.0.1:1"],
            text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("http://127.0.0.1:1/api/queues", done.stderr)
        self.assertIn("The option --management says where the API is", done.stderr)

    def test_N10_queues_at_sqs_are_recovered_by_a_pattern(self):
        server = sqs.Server()
        self.addCleanup(server.end)
        urls = {name: server.call("CreateQueue", QueueName=name)["QueueUrl"]
                for name in ("orders-dlq", "mails-dlq", "target")}  # fmt: skip
        for name in ("orders-dlq", "mails-dlq"):
            server.call("SendMessage", QueueUrl=urls[name], MessageBody=name)
        done = subprocess.run(
            [HOLDFAST, "recover", "--from", "sqs://us-east-1/*-dlq", "--endpoint", server.url, "--to", "target",
             "--json", *QUICK], text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
            env=os.environ | {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        summary = json.loads(done.stdout)
        self.assertEqual([one["queue"] for one in summary["queues"]], ["mails-dlq", "orders-dlq"])
        self.assertEqual(summary["total"]["recovered"], 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
