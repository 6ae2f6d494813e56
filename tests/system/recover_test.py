#!/usr/bin/env python3
"""`holdfast recover` against a real RabbitMQ, with dead letters that clients of others have made.

Usage: recover_test.py HOLDFAST"""

import base64
import http.server
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))

import pika  # noqa: E402
import rabbitmq  # noqa: E402
from dead_letters import Letters, amqp_publish  # noqa: E402
import serve_test  # noqa: E402
from serve_test import HOLDFAST, Server  # noqa: E402

EXAMPLE = os.path.join(HERE, "../../examples/imageviewer/map.toml")
QUICK = ["--empty", "300ms", "--idle", "3s"]  # nobody else fills these queues


def recover(*arguments, env=None, cwd=None):
    return subprocess.run([HOLDFAST, "recover", *arguments], env=os.environ | (env or {}), text=True, cwd=cwd,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120)  # fmt: skip


class RecoverTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.broker = rabbitmq.shared(management=True)
        cls.addClassCleanup(cls.broker.close)
        cls.broker.start()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-recover-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.letters = Letters(self.broker, self.id().split(".")[-1])
        self.addCleanup(self.letters.close)
        self.target = f"{self.letters.name}.target"

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o600)
        return path

    def recover(self, *arguments, code=0, **more):
        """The summary."""
        # Where quorum queues are asked about; but not of SQS.
        management = [] if "--endpoint" in arguments else ["--management", self.broker.management_url]
        done = recover("--from", self.letters.url, *arguments, *QUICK, *management, "--json", **more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    # V7, V9
    def test_V7_V9_the_image_viewers_queue_comes_back_by_type(self):
        types = {"CollectionScan": "collection.scan", "ThumbnailGeneration": "thumbnail.generation",
                 "CacheGeneration": "cache.generation", "ImageProcessing": "image.processing",
                 "BulkOperation": "bulk.operation", "LibraryScan": "library_scan_queue",
                 "CollectionCreation": "collection.creation"}  # fmt: skip
        self.letters.declare(*types.values())
        for number, name in enumerate(types):
            self.letters.publish(f"t{number}", headers={"MessageType": name})
        self.letters.publish("unknown", headers={"MessageType": "SomethingElse"})
        self.letters.reject_all(8)
        # One that has no header, and died in a queue of the map: its routing key says what it is (V6).
        self.letters.channel.queue_declare("image.processing.dead", durable=True)
        self.letters.channel.basic_publish("", "image.processing", b"", pika.BasicProperties(message_id="key"))
        done = recover("--from", self.letters.url, "--map", EXAMPLE, *QUICK)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("Found 8 messages in DLQ. Starting recovery...", done.stderr)
        self.assertIn('message "unknown" is kept: the map has no type "SomethingElse"', done.stderr)
        for line in ("7  recovered", "1  collection.scan", "1  library_scan_queue", "0  failed",
                     "1  skipped", "1  still in"):  # fmt: skip
            self.assertIn(line, done.stdout)
        for line in (done.stdout + done.stderr).splitlines():
            self.assertLessEqual(len(line), 100, line)
        self.assertEqual(self.letters.ids("collection.scan"), ["t0"])
        self.assertEqual(self.letters.ids("library_scan_queue"), ["t5"])
        self.assertEqual(self.letters.ids(self.letters.dlq), ["unknown"])

    def test_V8_a_copy_is_what_was_sent_without_its_deaths(self):
        self.letters.declare(self.target)
        sent = {"content_type": "application/json", "content_encoding": "utf-8", "priority": 3,
                "correlation_id": "c", "reply_to": "r", "timestamp": 1700000000, "type": "t", "app_id": "a"}  # fmt: skip
        headers = {"tenant": 7, "big": 1 << 40, "flag": True, "nested": {"list": [1, "two", None]}, "bytes": b"\0\1"}
        self.letters.publish("one", b'{"a": 1}', headers=headers, **sent)
        self.letters.reject_all(1)
        summary = self.recover("--to", self.target)
        self.assertEqual(summary["recovered"]["by_target"], {self.target: 1})
        [(properties, body)] = self.letters.take(self.target)
        self.assertEqual(body, b'{"a": 1}')
        for name, value in sent.items():
            self.assertEqual(getattr(properties, name), value, name)
        self.assertEqual(properties.delivery_mode, 2)
        got = properties.headers
        self.assertEqual({name: got[name] for name in headers}, headers)
        self.assertFalse([name for name in got if name.startswith(("x-death", "x-first", "x-last"))])
        self.assertEqual(got["x-holdfast-recovered"], f"1, {summary['run']}, rejected in {self.letters.work}")

    def test_V5_odd_messages_come_back_too(self):
        copied = f"{self.letters.name}.copied"
        self.letters.declare(self.target, copied)
        large = os.urandom(1 << 20)
        self.letters.publish("empty", b"")
        self.letters.publish("large", large)
        self.letters.publish("user", user_id="guest")
        self.letters.publish("deep", headers={"a": {"b": {"c": [{"d": 1}] * 50}}, "x" * 200: "long"})
        self.letters.channel.basic_publish("", self.letters.work, b"bare")  # no property at all
        self.letters.reject_all(5)
        # These come without dying: what they say of it is not what a broker writes.
        for identity, value in (("text", "x"), ("number", 7), ("list", [1, {"queue": 5}]), ("table", {})):
            self.letters.publish(identity, key=self.letters.dlq, headers={"x-death": value})
        self.letters.publish("carbon", key=self.letters.dlq, headers={"CC": [copied]})
        self.letters.take(copied)
        self.letters.publish("expires", key=self.letters.dlq, expiration="600000")
        summary = self.recover("--to", self.target)
        self.assertEqual(summary["recovered"]["total"], 11)
        self.assertEqual(summary["transient"], 1)
        found = {properties.message_id: (properties, body) for properties, body in self.letters.take(self.target)}
        self.assertEqual(set(found), {"empty", "large", "user", "carbon", "deep", None, "text", "number", "list",
                                      "table", "expires"})  # fmt: skip
        self.assertEqual(found["large"][1], large)
        self.assertEqual(found["empty"][1], b"")
        self.assertEqual(found[None][1], b"bare")
        self.assertEqual(found["user"][0].user_id, "guest")  # it is ours
        self.assertEqual(found["carbon"][0].headers["x-holdfast-cc"], [copied])
        self.assertNotIn("CC", found["carbon"][0].headers)
        self.assertEqual(self.letters.count(copied), 0)  # not sent there once more
        self.assertIsNone(found["expires"][0].expiration)
        self.assertEqual(found["expires"][0].headers["x-holdfast-expiration"], "600000")

    def test_a_foreign_user_id_is_no_reason_to_be_refused(self):
        name = f"bob-{os.getpid()}"  # users are of the whole broker, which others may share
        self.broker.ctl("add_user", name, "secret-of-bob")
        self.broker.ctl("set_permissions", "-p", self.broker.vhost, name, ".*", ".*", ".*")
        self.letters.declare(self.target)
        url = self.broker.url.replace("guest:guest", f"{name}:secret-of-bob")
        bob = pika.BlockingConnection(pika.URLParameters(url))
        bob.channel().basic_publish("", self.letters.work, b"x",
                                    pika.BasicProperties(user_id=name, message_id="of bob"))  # fmt: skip
        bob.close()
        self.letters.reject_all(1)
        self.recover("--to", self.target)
        [(properties, _)] = self.letters.take(self.target)
        self.assertIsNone(properties.user_id)
        self.assertEqual(properties.headers["x-holdfast-user-id"], name)

    def test_to_origin_goes_where_the_first_death_was(self):
        exchange = f"{self.letters.name}.exchange"
        others = f"{self.letters.name}.others"
        self.letters.declare(others)
        self.letters.channel.exchange_declare(exchange, "topic", durable=True)
        for queue in (self.letters.work, others):
            self.letters.channel.queue_bind(queue, exchange, "order.*")
        self.letters.publish("one", exchange=exchange, key="order.new")
        self.letters.reject_all(1)
        self.letters.take(others)
        self.recover("--to-origin")
        [(properties, _)] = self.letters.take(others)  # every queue bound there gets it again
        self.assertEqual(properties.message_id, "one")
        self.assertEqual(self.letters.count(self.letters.work), 1)
        self.letters.reject_all(1)
        self.recover("--to-origin=queue")
        self.assertEqual(self.letters.count(others), 0)
        [(properties, _)] = self.letters.take(self.letters.work)
        self.assertTrue(properties.headers["x-holdfast-recovered"].startswith("2, "))
        # What never died has no origin.
        self.letters.publish("born here", key=self.letters.dlq)
        summary = self.recover("--to-origin", code=3)
        self.assertEqual(summary["skipped"]["total"], 1)
        self.assertEqual(self.letters.ids(self.letters.dlq), ["born here"])

    def test_trap_3_what_no_queue_takes_is_kept(self):
        self.letters.declare(self.target)
        self.letters.die(5, headers={"MessageType": "A"})
        self.letters.die(2, prefix="b", headers={"MessageType": "B"})
        path = self.file("map.toml", f'[map]\nA = "no.such.queue"\nB = "{self.target}"\n')
        summary = self.recover("--map", path, code=3)
        self.assertEqual(summary["failed"]["by_target"], {"no.such.queue": 5})
        self.assertEqual(summary["still_in_queue"], 5)
        self.assertEqual(self.letters.ids(self.target), ["b0", "b1"])
        self.assertEqual(self.letters.ids(self.letters.dlq), ["m0", "m1", "m2", "m3", "m4"])
        # An exchange that there is not closes the channel of whoever publishes to it.
        self.letters.die(2, headers={"MessageType": "A"})
        self.letters.die(1, prefix="b", headers={"MessageType": "B"})
        path = self.file("map.toml",
                         f'[map]\nA = {{ exchange = "no.such", routing_key = "x" }}\nB = "{self.target}"\n')  # fmt: skip
        summary = self.recover("--map", path, code=3)
        self.assertEqual(summary["failed"]["total"], 2)
        self.assertEqual(self.letters.ids(self.target), ["b0"])

    def test_a_full_target_keeps_what_it_refuses(self):
        self.letters.declare()
        self.letters.channel.queue_declare(self.target, durable=True, arguments={
            "x-max-length": 3, "x-overflow": "reject-publish"})  # fmt: skip
        self.letters.die(10)
        summary = self.recover("--to", self.target, "--window", "1", code=3)
        self.assertEqual(summary["recovered"]["total"] + summary["failed"]["total"], 10)
        self.assertGreaterEqual(summary["failed"]["total"], 5)
        self.assertEqual(len(self.letters.ledger(self.target, self.letters.dlq)), 10)

    def test_fails_where_there_is_nothing_to_work_with(self):
        self.letters.declare(self.target)
        for arguments, code, words in (
            (["--from", self.letters.url + "x", "--to", self.target], 1, "dlqx"),
            (["--from", self.letters.url, "--to", "no.such"], 1, "no.such"),
            (["--from", self.letters.url, "--to", self.target, "--park", "no.park"], 1, "no.park"),
            (["--from", "amqp://guest:planted@127.0.0.1:1/%2f/q", "--to", "x"], 1, ""),
            (["--from", self.letters.url.replace("guest:guest", "guest:planted"), "--to", "x"], 1, ""),
            (["--from", "amqp://guest:planted@127.0.0.1/", "--to", "x"], 2, "queue"),
            (["--from", "http://planted/x", "--to", "x"], 2, "amqp"),
            (["--from", "env:NO_SUCH_VARIABLE", "--to", "x"], 2, "NO_SUCH_VARIABLE"),
            (["--from", self.letters.url], 2, "--map"),
            (["--from", self.letters.url, "--to", "x", "--to-origin"], 2, "--map"),
            (["--from", self.letters.url, "--to", "x", "--filter", "tipe=1"], 2, 'did you mean "type"'),
            (["--from", self.letters.url, "--to", "x", "--rate", "fast"], 2, "rate"),
            (["--from", self.letters.url, "--map", "/no/such/map"], 1, "/no/such/map"),
        ):
            done = recover(*arguments, *QUICK)
            self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
            self.assertIn(words, done.stderr)
            self.assertNotIn("planted", done.stdout + done.stderr, arguments)

    def test_the_url_may_be_kept_from_the_command_line(self):
        self.letters.declare(self.target)
        self.letters.die(1)
        path = self.file("url", self.letters.url + "\n")
        done = recover("--from", f"file:{path}", "--to", self.target, *QUICK)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.letters.die(1)
        done = recover("--from", "env:DLQ", "--to", self.target, *QUICK, env={"DLQ": self.letters.url})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.letters.count(self.target), 2)

    def test_dry_run_leaves_the_queue_as_it_was(self):
        self.letters.declare(self.target)
        self.letters.die(20, headers={"MessageType": "A"})
        self.letters.die(3, prefix="b", headers={"MessageType": "B"})
        self.letters.die(2, prefix="c")
        before = [(properties.message_id, properties.headers, body)
                  for properties, body in self.letters.look(self.letters.dlq)]  # fmt: skip
        path = self.file("map.toml", f'[map]\nA = "{self.target}"\nB = "gone.queue"\n')
        done = recover("--from", self.letters.url, "--map", path, "--dry-run", *QUICK)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("gone.queue (no such queue!)", done.stdout)
        self.assertIn("died of rejected; for example m0", done.stdout)
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)
        summary = self.recover("--map", path, "--dry-run", code=3)
        self.assertEqual((summary["would_recover"], summary["would_fail"]), (20, 3))
        self.assertEqual([(row["type"], row["count"], row["action"]) for row in summary["plan"]],
                         [("A", 20, "recover"), ("B", 3, "recover"), (self.letters.work, 2, "keep")])  # fmt: skip
        after = [(properties.message_id, properties.headers, body)
                 for properties, body in self.letters.look(self.letters.dlq)]  # fmt: skip
        self.assertEqual(before, after)
        self.assertEqual(self.letters.count(self.target), 0)

    def test_park_puts_what_is_kept_where_people_look(self):
        review = f"{self.letters.name}.review"
        self.letters.declare(self.target, review)
        self.letters.die(2, headers={"MessageType": "A"})
        self.letters.die(3, prefix="b", headers={"MessageType": "B"})
        path = self.file("map.toml", f'[map]\nA = "{self.target}"\n')
        summary = self.recover("--map", path, "--park", review, code=3)
        self.assertEqual((summary["parked"], summary["still_in_queue"]), (3, 0))
        for properties, _ in self.letters.take(review):
            self.assertEqual(properties.headers["x-holdfast-kept-because"], 'the map has no type "B"')
            self.assertEqual(properties.headers["x-death"][0]["reason"], "rejected")

    def test_filters_limit_and_rate(self):
        self.letters.declare(self.target)
        self.letters.die(6, body=b'{"customer": {"id": 7}}', headers={"shop": "a"})
        self.letters.die(4, prefix="b", body=b'{"customer": {"id": 8}}', headers={"shop": "b"})
        summary = self.recover("--to", self.target, "--filter", "json.customer.id=8", "--filter", "header.shop=b",
                               "--filter", "age<1h", "--limit", "3")  # fmt: skip
        self.assertEqual(summary["ended"], "limit")
        self.assertEqual(summary["recovered"]["total"], 3)
        self.assertEqual(self.letters.ids(self.target), ["b0", "b1", "b2"])
        summary = self.recover("--to", self.target, "--filter", "header.shop=b")
        self.assertEqual((summary["recovered"]["total"], summary["not_chosen"]), (1, 6))
        began = time.monotonic()
        self.recover("--to", self.target, "--rate", "5/s")
        self.assertGreater(time.monotonic() - began, 0.8)
        self.assertEqual(self.letters.ids(self.target), ["b3", "m0", "m1", "m2", "m3", "m4", "m5"])

    def test_V4_one_at_a_time_and_many_at_once_keep_the_order(self):
        self.letters.declare(self.target)
        for window in ("1", "7", "1000"):
            ids = self.letters.die_many(300, prefix=f"w{window}.")
            self.recover("--to", self.target, "--window", window)
            self.assertEqual(self.letters.ids(self.target), ids)

    def test_V3_run_twice_is_run_once(self):
        self.letters.declare(self.target)
        ids = self.letters.die(20)
        for recovered in (20, 0):
            self.assertEqual(self.recover("--to", self.target)["recovered"]["total"], recovered)
        self.assertEqual(self.letters.ids(self.target), ids)

    def test_V3_two_at_once_lose_and_repeat_nothing(self):
        self.letters.declare(self.target)
        ids = self.letters.die_many(3000)
        both = [subprocess.Popen([HOLDFAST, "recover", "--from", self.letters.url, "--to", self.target, "--json",
                                  "--window", "50", *QUICK],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(2)]  # fmt: skip
        summaries = [json.loads(one.communicate(timeout=100)[0]) for one in both]
        self.assertEqual(sum(one["recovered"]["total"] for one in summaries), 3000)
        self.assertTrue(all(one["recovered"]["total"] > 0 for one in summaries), summaries)
        self.assertEqual(self.letters.ledger(self.target), dict.fromkeys(ids, 1))

    def test_N3_what_dies_again_and_again_is_kept(self):
        self.letters.declare()
        self.letters.die(2)
        for round_ in (1, 2, 3):
            self.recover("--to-origin=queue", "--filter", f"recoveries={round_ - 1}")
            self.letters.reject_all(2)
        summary = self.recover("--to-origin=queue", code=3)
        self.assertEqual(summary["skipped"]["by_reason"], {"brought back 3 times already": 2})
        self.assertEqual(self.letters.count(self.letters.dlq), 2)

    def test_trap_2_a_quorum_queue_with_a_delivery_limit_drops_nothing(self):
        self.letters.declare(self.target, dlq_arguments={"x-queue-type": "quorum", "x-delivery-limit": 4})
        ids = self.letters.die(10, headers={"MessageType": "unknown to all"})
        path = self.file("map.toml", f'[map]\nA = "{self.target}"\n')
        renewed = 0
        for _ in range(8):  # each hands them back once: without care the fifth would be the end of them
            summary = self.recover("--map", path, "--renew-at", "3", code=3)
            self.assertEqual(summary["skipped"]["total"], 10, summary)
            self.assertEqual(summary["still_in_queue"], 10, summary)
            renewed += summary["renewed"]
        self.assertGreaterEqual(renewed, 10)
        for _ in range(8):
            summary = self.recover("--map", path, "--renew-at", "3", "--dry-run")
            self.assertEqual(summary["still_in_queue"], 10, summary)
        summary = self.recover("--to", self.target)
        self.assertEqual(sorted(self.letters.ids(self.target)), sorted(ids))

    def test_the_journal_has_each_fate_and_is_gone_on_with(self):
        self.letters.declare(self.target)
        self.letters.die(3, headers={"MessageType": "A"})
        self.letters.die(1, prefix="b", headers={"MessageType": "B"})
        path = self.file("map.toml", f'[map]\nA = "{self.target}"\n')
        journal = os.path.join(self.folder, "journal.jsonl")
        summary = self.recover("--map", path, "--journal", journal, code=3)
        with open(journal, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        sending = [line for line in lines if line["event"] == "sending"]
        lines = [line for line in lines if line["event"] != "sending"]
        self.assertEqual({line["key"] for line in sending},
                         {line["key"] for line in lines if line["event"] == "recovered"})  # fmt: skip
        self.assertEqual([line["event"] for line in lines],
                         ["begin", *["recovered"] * 3, "kept", "end"] if lines[4]["event"] == "kept"
                         else ["begin", "kept", *["recovered"] * 3, "end"])  # fmt: skip
        self.assertEqual({line["run"] for line in lines}, {summary["run"]})
        self.assertTrue(lines[-1]["clean"])
        self.assertEqual(os.stat(journal).st_mode & 0o777, 0o600)
        # A run that died after a copy was confirmed, and before its original was gone, leaves this.
        with open(journal, "a", encoding="utf-8") as file:
            file.write('{"time":"2026-01-01T00:00:00Z","run":"torn","event":"beg')
        self.recover("--map", path, "--journal", journal, code=3)
        with open(journal, encoding="utf-8") as file:
            self.assertEqual(sum(line.startswith('{"time"') for line in file), len(sending) + len(lines) + 1 + 3)

    def test_messages_of_other_producers(self):
        self.letters.declare(self.target)
        amqp_publish(self.broker, self.letters.work, b"from C", "-C", "text/plain")
        body = {"properties": {"delivery_mode": 2, "headers": {"MessageType": "M"}}, "routing_key": self.letters.work,
                "payload": "from the management page", "payload_encoding": "string"}  # fmt: skip
        request = urllib.request.Request(
            f"{self.broker.management_url}/api/exchanges/{self.broker.quoted_vhost}/amq.default/publish",
            json.dumps(body).encode(),
            {"Authorization": "Basic " + base64.b64encode(b"guest:guest").decode(),
             "Content-Type": "application/json"})  # fmt: skip
        with urllib.request.urlopen(request, timeout=60) as answer:
            self.assertTrue(json.load(answer)["routed"])
        self.letters.reject_all(2)
        self.recover("--to", self.target)
        self.assertEqual([body for _, body in self.letters.take(self.target)], [b"from C", b"from the management page"])

    def test_a_signal_lets_what_is_under_way_end(self):
        self.letters.declare(self.target)
        self.letters.die(30)
        run = subprocess.Popen([HOLDFAST, "recover", "--from", self.letters.url, "--to", self.target, "--rate", "5/s",
                                "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
        while self.letters.count(self.target) < 2:
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        summary = json.loads(run.communicate(timeout=60)[0])
        self.assertEqual(run.returncode, 3)
        self.assertEqual(summary["ended"], "asked")
        self.assertEqual(len(self.letters.ledger(self.target, self.letters.dlq)), 30)

    def test_V10_a_queue_that_others_fill_ends_it_too(self):
        self.letters.declare(self.target)
        self.letters.die(10)
        run = subprocess.Popen([HOLDFAST, "recover", "--from", self.letters.url, "--to", self.target, "--json",
                                "--idle", "1s"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
        number = 0
        while run.poll() is None and number < 2000:
            self.letters.publish(f"new{number}", key=self.letters.dlq)
            number += 1
            time.sleep(0.05)
        self.assertEqual(json.loads(run.communicate(timeout=60)[0])["ended"], "caught_up")
        self.assertEqual(len(self.letters.ledger(self.target, self.letters.dlq)), 10 + number)

    def test_serve_recovers_on_start_and_on_schedule(self):
        self.letters.declare(self.target)
        self.letters.die(5)
        config = f"""
[recover.dead]
from = "env:DLQ"
to = "{self.target}"
on_start = true
every = "1s"
empty = "100ms"
[recover.missing]
from = "{self.letters.url}x"
to_origin = "queue"
every = "1s"
"""
        server = Server(self.folder, config, {"DLQ": self.letters.url})
        self.addCleanup(server.end, signal.SIGKILL)
        self.assertIsNotNone(server.port, "".join(server.log))
        self.wait_for(lambda: self.letters.count(self.target) == 5, server.log)
        self.letters.die(5, prefix="later", waits=False)
        self.wait_for(lambda: self.letters.count(self.target) == 10, server.log)
        # It is read again while it runs; what fails does no harm.
        server.configure(config.replace("every = \"1s\"\nempty", "every = \"2s\"\nempty"))
        server.process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: any('"config.reloaded"' in line for line in server.log), server.log)
        self.letters.die(5, prefix="reloaded", waits=False)
        self.wait_for(lambda: self.letters.count(self.target) == 15, server.log)
        self.wait_for(lambda: any('"recover.failed"' in line and '"missing"' in line for line in server.log), server.log)
        self.assertEqual(server.end(), 0)
        log = "".join(server.log)
        self.assertIn('"recover.done"', log)
        self.assertNotIn("guest:guest", log)

    def test_T9_the_end_of_a_scheduled_recovery_is_told(self):
        serve_test.Receiver.came = []
        serve_test.Receiver.answers = [(503, b"not now", {})]
        receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve_test.Receiver)
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        self.addCleanup(receiver.server_close)
        self.addCleanup(receiver.shutdown)
        empty = f"{self.letters.name}.nothing"
        self.letters.declare(empty)
        self.letters.die(3)
        self.letters.publish("stranger", key=self.letters.dlq)  # it has not died: nobody knows where it belongs
        server = Server(self.folder, f"""
[webhook]
allow = ["loopback"]
[alerts]
webhook = "env:ALERT_URL"
secret = "env:ALERT_SECRET"
[recover.night]
from = "env:DLQ"
to_origin = "queue"
every = "1h"
on_start = true
empty = "100ms"
[recover.each]
from = "{self.broker.vhost_url}/{empty}"
to_origin = "queue"
on_start = true
notify = "always"
[recover.well]
from = "{self.broker.vhost_url}/{empty}"
to_origin = "queue"
on_start = true
[recover.silent]
from = "{self.letters.url}x"
to_origin = "queue"
on_start = true
notify = "never"
""", {"DLQ": self.letters.url, "ALERT_SECRET": serve_test.SECRET,
      "ALERT_URL": f"http://127.0.0.1:{receiver.server_address[1]}/planted-path"})  # fmt: skip
        self.addCleanup(server.end, signal.SIGKILL)
        self.assertIsNotNone(server.port, "".join(server.log))

        def told():
            """By the name of the recovery. The first message comes twice, since it was not taken."""
            return {json.loads(body)["data"]["recovery"]: (headers, json.loads(body))
                    for headers, body in serve_test.Receiver.came}  # fmt: skip

        self.wait_for(lambda: len(serve_test.Receiver.came) == 3 and len(told()) == 2, server.log)
        headers, message = told()["night"]
        data = message["data"]
        self.assertTrue(headers["webhook-signature"].startswith("v1,"))
        self.assertEqual((message["type"], data["queue"], data["ended"], data["all_done"]),
                         ("holdfast.recovery", self.letters.dlq, "empty", False))  # fmt: skip
        self.assertEqual([data[key] for key in ("found", "recovered", "failed", "skipped", "left")], [4, 3, 0, 1, 1])
        self.assertRegex(data["run"], r"^20\d{6}T\d{6}Z-")
        self.assertIn("3 recovered, 0 failed, 1 skipped, 1 left", data["text"])
        self.assertEqual((told()["each"][1]["data"]["ended"], told()["each"][1]["data"]["recovered"]), ("empty", 0))
        self.wait_for(lambda: any('"recover.failed"' in line and '"silent"' in line for line in server.log), server.log)
        self.assertEqual(server.end(), 0)
        self.assertEqual(set(told()), {"night", "each"})
        everything = "".join(server.log) + json.dumps([body.decode() for _, body in serve_test.Receiver.came])
        for secret in ("planted-path", serve_test.SECRET, "guest"):
            self.assertNotIn(secret, everything)

    def test_the_audit_knows_of_scheduled_recoveries(self):
        slow_dlq, slow_target = f"{self.letters.name}.slow", f"{self.target}.slow"
        self.letters.declare(self.target, slow_dlq, slow_target)
        self.letters.die(3)
        self.letters.publish("stranger", key=self.letters.dlq)
        for number in range(30):
            self.letters.publish(f"slow{number}", key=slow_dlq)
        server = Server(self.folder, f"""
[recover.night]
from = "env:DLQ"
to_origin = "queue"
on_start = true
empty = "100ms"
[recover.nothing]
from = "{self.broker.vhost_url}/{self.target}"
to_origin = "queue"
on_start = true
empty = "100ms"
[recover.slow]
from = "{self.broker.vhost_url}/{slow_dlq}"
to = "{slow_target}"
rate = 2
on_start = true
""", {"DLQ": self.letters.url})  # fmt: skip
        self.addCleanup(server.end, signal.SIGKILL)
        self.assertIsNotNone(server.port, "".join(server.log))

        def audit(who, at):
            return [one for one in at.call("GET", "/v1/audit")[1]["entries"] if one["who"] == who]

        self.wait_for(lambda: len(audit("schedule night", server)) == 2, server.log)
        end, start = audit("schedule night", server)  # the latest first
        what = f"dead-letter queue {self.letters.dlq} at "
        self.assertTrue(start["what"].startswith(what) and end["what"] == start["what"], start)
        self.assertEqual((start["action"], start["count"]), ("recover.start", 4))
        self.assertEqual((end["action"], end["count"], end["refused"]), ("recover", 3, 1))
        self.assertRegex(end["reason"], r"^run 20\S+: every message was handled; 3 recovered, 0 failed, 1 skipped, 1 left$")
        shown = subprocess.run([HOLDFAST, "audit", "--server", f"http://127.0.0.1:{server.port}"], text=True,
                               capture_output=True, check=True).stdout  # fmt: skip
        self.assertRegex(shown, r"schedule night +recover +3 +dead-letter queue ")
        self.assertNotIn("guest", json.dumps(server.call("GET", "/v1/audit")[1]))
        self.wait_for(lambda: audit("schedule slow", server), server.log)
        # A server that ends has its runs end, and says so.
        self.assertEqual(server.end(), 0)
        again = Server(self.folder, "")
        self.addCleanup(again.end, signal.SIGKILL)
        end, start = audit("schedule slow", again)
        self.assertEqual((start["count"], end["action"]), (30, "recover"))
        self.assertIn("it was asked to end", end["reason"])
        self.assertLess(end["count"], 30)
        self.assertEqual(audit("schedule nothing", again), [])

    def wait_for(self, what, log=()):
        until = time.monotonic() + 60
        while not what():
            self.assertLess(time.monotonic(), until, "".join(log))
            time.sleep(0.02)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
