#!/usr/bin/env python3
"""`holdfast recover --to-broker` between virtual hosts and real brokers, with trouble on either side.

Usage: recover_to_broker_test.py HOLDFAST"""

import collections
import json
import os
import socket
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))

import pika  # noqa: E402
import rabbitmq  # noqa: E402
import sqs  # noqa: E402
import tcp_proxy  # noqa: E402
from dead_letters import Letters, wait_until  # noqa: E402

HOLDFAST = os.path.abspath(sys.argv[1])
QUICK = ["--empty", "300ms", "--idle", "3s", "--json"]


def closed_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class OtherBrokerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.broker = rabbitmq.Broker(management=True)
        cls.other = rabbitmq.Broker()
        for broker in (cls.broker, cls.other):
            cls.addClassCleanup(broker.close)
            broker.start()

    def setUp(self):
        name = self.id().split(".")[-1]
        self.letters = Letters(self.broker, name)
        self.addCleanup(self.letters.close)
        self.letters.declare()
        self.target = f"{name}.target"
        self.there = Letters(self.other, name)
        self.addCleanup(self.there.close)
        self.there.channel.queue_declare(self.target, durable=True)

    def start(self, *arguments, source=None, to=None):
        run = subprocess.Popen(
            [HOLDFAST, "recover", "--from", self.at(self.letters.url, self.broker, source), "--to-broker",
             self.at(self.other.vhost_url, self.other, to), "--to", self.target, "--management",
             self.broker.management_url, *QUICK, *arguments], text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        self.addCleanup(lambda: run.poll() is None and (run.kill(), run.communicate()))
        return run

    @staticmethod
    def at(url, broker, proxy):
        return url.replace(f":{broker.port}/", f":{proxy.port}/") if proxy else url

    def end_of(self, run, code=0):
        out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, code, out + err)
        return json.loads(out), err

    def ledger(self):
        return collections.Counter(self.there.ids(self.target) + self.letters.ids(self.letters.dlq))

    def check(self, ids, summary):
        counts = self.ledger()
        self.assertEqual(set(counts), set(ids))
        self.assertLessEqual(sum(counts.values()) - len(ids), summary["possible_duplicates"])

    def test_messages_go_to_another_broker(self):
        ids = self.letters.die(20, headers={"tenant": 7})
        summary, _ = self.end_of(self.start())
        self.assertEqual(summary["recovered"]["total"], 20)
        self.assertEqual(summary["to_broker"], f"amqp://127.0.0.1:{self.other.port}/%2F".lower())
        found = self.there.take(self.target)
        self.assertEqual([properties.message_id for properties, _ in found], ids)
        self.assertEqual(found[0][0].headers["tenant"], 7)
        self.assertNotIn("x-death", found[0][0].headers)
        self.assertEqual(self.letters.count(self.letters.dlq), 0)

    def test_messages_go_to_another_virtual_host_into_a_queue_of_the_same_name(self):
        self.broker.manage("PUT", "vhosts/elsewhere")
        self.broker.manage("PUT", "permissions/elsewhere/guest", configure=".*", write=".*", read=".*")
        url = self.broker.url + "elsewhere"
        there = pika.BlockingConnection(pika.URLParameters(url))
        self.addCleanup(there.close)
        there.channel().queue_declare(self.letters.dlq, durable=True)
        self.letters.die(3)
        arguments = [HOLDFAST, "recover", "--from", self.letters.url, "--to", self.letters.dlq, *QUICK]
        done = subprocess.run([*arguments, "--to-broker", self.broker.vhost_url], text=True, capture_output=True)
        self.assertEqual(done.returncode, 2, done.stderr)  # that is the queue itself
        done = subprocess.run([*arguments, "--to-broker", url], text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        channel = there.channel()
        self.assertEqual(channel.queue_declare(self.letters.dlq, passive=True).method.message_count, 3)
        self.assertEqual(self.letters.count(self.letters.dlq), 0)

    def test_targets_are_looked_for_there(self):
        self.letters.die(2)
        self.letters.channel.queue_declare("only.here", durable=True)
        done = subprocess.run(
            [HOLDFAST, "recover", "--from", self.letters.url, "--to-broker", self.other.vhost_url, "--to", "only.here",
             *QUICK], text=True, capture_output=True, timeout=60)  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(f"127.0.0.1:{self.other.port}", done.stderr)
        self.assertEqual(self.letters.count(self.letters.dlq), 2)
        summary, _ = self.end_of(self.start("--dry-run"))
        self.assertEqual((summary["would_recover"], summary["would_fail"]), (2, 0))

    def test_a_broker_that_cannot_be_used_is_an_error_before_anything_is_looked_at(self):
        self.letters.die(2)
        wrong = {
            "a vhost that does not exist": (f"{self.other.url}nowhere", "NOT_ALLOWED"),
            "a wrong password": (self.other.vhost_url.replace("guest:guest@", "guest:planted@"), "ACCESS_REFUSED"),
            "a closed port": (f"amqp://guest:guest@127.0.0.1:{closed_port()}/%2f", "refused"),
        }
        for what, (url, reason) in wrong.items():
            for dry in ([], ["--dry-run"]):
                with self.subTest(what=what, dry=dry):
                    done = subprocess.run(
                        [HOLDFAST, "recover", "--from", self.letters.url, "--to-broker", url, "--to-origin=queue",
                         *QUICK, *dry], text=True, capture_output=True, timeout=20)  # fmt: skip
                    self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                    self.assertEqual(done.stdout, "")
                    self.assertIn(reason, done.stderr)
                    self.assertIn("the broker that messages go to cannot be used", done.stderr)
                    self.assertNotIn("planted", done.stderr)
        first, _, _ = self.letters.channel.basic_get(self.letters.dlq)
        self.assertFalse(first.redelivered)

    def test_a_connection_lost_at_either_side_loses_nothing(self):
        for side, method in (("to", tcp_proxy.PUBLISH), ("source", tcp_proxy.ACK)):
            with tcp_proxy.Proxy((self.other if side == "to" else self.broker).port) as proxy:
                ids = self.letters.die_many(500, prefix=side)
                proxy.rule = tcp_proxy.cut_once_after("client", method, 40)
                summary, _ = self.end_of(self.start("--window", "50", **{side: proxy}))
                self.assertEqual(proxy.cuts, 1, side)
                self.check(ids, summary)

    def test_a_broker_that_takes_nothing_leaves_all_where_it_is(self):
        ids = self.letters.die(30)
        self.other.ctl("set_vm_memory_high_watermark", "absolute", "1MB")
        try:
            wait_until(lambda: "memory" in self.other.ctl("eval", "rabbit_alarm:get_alarms()."))
            summary, _ = self.end_of(self.start("--stall", "2s"), code=3)
        finally:
            self.other.ctl("set_vm_memory_high_watermark", "absolute", "2GB")
        self.assertEqual(summary["ended"], "stall")
        self.assertIn(f"127.0.0.1:{self.other.port}", summary["to_broker"])
        self.check(ids, summary)
        self.end_of(self.start())

    def test_a_quorum_queue_with_a_limit_loses_nothing_while_the_other_broker_takes_nothing(self):
        queue = f"{self.letters.dlq}.quorum"
        self.letters.channel.queue_declare(queue, durable=True, arguments={"x-queue-type": "quorum", "x-delivery-limit": 2})
        ids = [f"q{number}" for number in range(20)]
        for identity in ids:
            self.letters.publish(identity, key=queue)
        self.other.ctl("set_vm_memory_high_watermark", "absolute", "1MB")
        run = [HOLDFAST, "recover", "--from", f"{self.broker.vhost_url}/{queue}", "--to-broker", self.other.vhost_url,
               "--to", self.target, "--management", self.broker.management_url, "--stall", "1s", *QUICK]  # fmt: skip
        try:
            for _ in range(4):
                done = subprocess.run(run, text=True, capture_output=True, timeout=120)
                self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        finally:
            self.other.ctl("set_vm_memory_high_watermark", "absolute", "2GB")
        done = subprocess.run(run, text=True, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(set(self.there.ids(self.target)), set(ids))

    def test_N10_messages_go_to_sqs_and_back(self):
        server = sqs.Server()
        self.addCleanup(server.end)
        for name in ("jobs", "jobs-dlq"):
            server.call("CreateQueue", QueueName=name)
        self.letters.die(5, headers={"tenant": 7})
        credentials = os.environ | {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
        there = ["--from", self.letters.url, "--to-broker", "sqs://us-east-1", "--to", "jobs-dlq"]
        back = ["--from", "sqs://us-east-1/jobs-dlq", "--to-broker", self.other.vhost_url, "--to", self.target]
        for arguments in (there, back):
            done = subprocess.run([HOLDFAST, "recover", *arguments, "--endpoint", server.url, *QUICK], text=True,
                                  capture_output=True, timeout=60, env=credentials)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(json.loads(done.stdout)["recovered"]["total"], 5)
        self.assertEqual(self.there.count(self.target), 5)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
