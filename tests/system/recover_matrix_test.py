#!/usr/bin/env python3
"""P5, P6, V2, V3, V11: `holdfast recover` loses nothing on any queue type, whatever messages died of and however a run
ends, against a real RabbitMQ. A ledger of message ids says where each message is; those that are there twice must be
within what the runs have reported.

One test for each way that a run ends; all kinds of queues at once, each with another kind of death.
HOLDFAST_MATRIX_ROUNDS: how many rounds (1); with 4 or more, every kind of queue has met every kind of death.

Usage: recover_matrix_test.py HOLDFAST"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))

import pika  # noqa: E402
import rabbitmq  # noqa: E402
from dead_letters import wait_until  # noqa: E402

HOLDFAST = os.path.abspath(sys.argv[1])
ROUNDS = int(os.environ.get("HOLDFAST_MATRIX_ROUNDS", "1"))
MESSAGES = 60
QUEUES = {
    "classic": {},
    "quorum": {"x-queue-type": "quorum"},
    "quorum-1": {"x-queue-type": "quorum", "x-delivery-limit": 1},
    "quorum-2": {"x-queue-type": "quorum", "x-delivery-limit": 2},
    "quorum-5": {"x-queue-type": "quorum", "x-delivery-limit": 5},
    "quorum-20": {"x-queue-type": "quorum", "x-delivery-limit": 20},
    "priority": {"x-max-priority": 5},
    "lazy": {"x-queue-mode": "lazy"},
}
# Arguments of the queue that messages die in, and how.
DEATHS = {
    "rejected": {},
    "expired": {"x-message-ttl": 0},
    "maxlen": {"x-max-length": 0},
    "delivery_limit": {"x-queue-type": "quorum", "x-delivery-limit": 0},
}
REFUSED = {"quorum-1"}  # no run can be safe there


class Cell:
    """One dead-letter queue with its messages, and the runs on it."""

    def __init__(self, test, kind, death, name):
        self.test, self.kind, self.death = test, kind, death
        self.work, self.dlq, self.target = f"{name}.work", f"{name}.dlq", f"{name}.target"
        self.ids = [f"{name}.{number}" for number in range(MESSAGES)]
        self.reported = 0
        self.kills = 0
        self.run = None

    def __str__(self):
        return f"{self.kind}, {self.death}"

    def fill(self, channel):
        channel.queue_declare(self.dlq, durable=True, arguments=QUEUES[self.kind])
        channel.queue_declare(self.target, durable=True)
        channel.queue_declare(self.work, durable=True, arguments=DEATHS[self.death] | {
            "x-dead-letter-exchange": "", "x-dead-letter-routing-key": self.dlq})  # fmt: skip
        for number, identity in enumerate(self.ids):
            # The last one needs no death: what comes behind it, confirmed, is on the broker's disk.
            queue = self.dlq if number == MESSAGES - 1 else self.work
            if number == MESSAGES - 1:
                self._die(channel)
            channel.basic_publish("", queue, b"body", pika.BasicProperties(
                message_id=identity, delivery_mode=2, priority=number % 5))  # fmt: skip
        wait_until(lambda: self.count(channel) == MESSAGES)

    def _die(self, channel):
        if self.death in ("rejected", "delivery_limit"):
            for _ in range(MESSAGES - 1):
                found = []
                wait_until(lambda: found.append(channel.basic_get(self.work)[0]) or found[-1])
                channel.basic_nack(found[-1].delivery_tag, requeue=self.death == "delivery_limit")
        wait_until(lambda: self.count(channel) == MESSAGES - 1)

    def count(self, channel, queue=None):
        return channel.queue_declare(queue or self.dlq, passive=True).method.message_count

    def start(self, *arguments):
        self.run = subprocess.Popen(
            [HOLDFAST, "recover", "--from", f"{self.test.broker.vhost_url}/{self.dlq}", "--to", self.target,
             "--management", self.test.broker.management_url, "--json",
             *([] if "--empty" in arguments else ["--empty", "300ms"]), *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
        self.test.addCleanup(self.kill)

    def kill(self):
        if self.run.poll() is None:
            self.run.kill()
            self.kills += 1
        self.run.communicate()

    def end(self, sees_the_end=True):
        """The summary. Not `sees_the_end`: the broker may be away when the run counts what is left."""
        out, err = self.run.communicate(timeout=300)
        self.test.assertIn(self.run.returncode, (0, 3), f"{self}: {out}{err}")
        summary = json.loads(out)
        self.reported += summary["possible_duplicates"]
        gone = summary["recovered"]["total"] + summary["recognised"] + summary["parked"]
        self.test.assertEqual(summary["vanished"], 0, f"{self}: {summary}")
        if not sees_the_end and "still_in_queue" not in summary:
            self.test.assertEqual(self.run.returncode, 3, f"{self}: {summary}")
        elif "found" in summary and summary["interruptions"] == 0:  # P6
            self.test.assertEqual(gone + summary["still_in_queue"], summary["found"] + summary["arrived"], f"{self}: {summary}")
        return summary

    def refused(self):
        out, err = self.run.communicate(timeout=300)
        self.test.assertEqual(self.run.returncode, 1, f"{self}: {out}{err}")
        self.test.assertIn("delivery limit of 1", err, str(self))

    def check(self, channel):
        """Every message is somewhere."""
        time.sleep(0.1)
        if self.kind not in REFUSED:
            self.start()
            summary = self.end()
            self.test.assertEqual(summary["still_in_queue"], 0, f"{self}: {summary}")
            if self.kills:
                self.reported += summary["delivered_before"]
        counts = {}
        for queue in (self.dlq, self.target):
            for identity in self._take(channel, queue):
                counts[identity] = counts.get(identity, 0) + 1
        self.test.assertEqual(set(self.ids) - set(counts), set(), f"{self}: lost")
        twice = sum(counts.values()) - len(counts)
        self.test.assertLessEqual(twice, self.reported, str(self))
        return twice

    @staticmethod
    def _take(channel, queue):
        while True:
            method, properties, _ = channel.basic_get(queue, auto_ack=True)
            if not method:
                return
            yield properties.message_id


class Matrix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.broker = rabbitmq.Broker(management=True)
        cls.addClassCleanup(cls.broker.close)
        cls.broker.start()

    def connect(self):
        parameters = pika.URLParameters(self.broker.url)
        parameters.heartbeat = 0
        connection = pika.BlockingConnection(parameters)
        self.addCleanup(self._close, connection)
        channel = connection.channel()
        channel.confirm_delivery()
        return channel

    @staticmethod
    def _close(connection):
        with contextlib.suppress(pika.exceptions.AMQPError):  # the broker may have closed it
            connection.close()

    def each_round(self, ends, doubts=True):
        """`ends` starts runs on the cells of a round and has them end; returns when they have. Without `doubts` no message may
        be there twice, nor be said to be."""
        name = self._testMethodName.removeprefix("test_")
        ways = sorted(method for method in dir(self) if method.startswith("test_"))
        for number in range(ROUNDS):
            channel = self.connect()
            deaths = list(DEATHS)
            cells = [Cell(self, kind, deaths[(at + number + ways.index(self._testMethodName)) % len(deaths)],
                          f"{name}{number}.{kind}") for at, kind in enumerate(QUEUES)]  # fmt: skip
            for cell in cells:
                cell.fill(channel)
            refused = [cell for cell in cells if cell.kind in REFUSED]
            for cell in refused:
                cell.start()
                cell.refused()
            ends([cell for cell in cells if cell.kind not in REFUSED])
            channel = self.connect()
            twice = sum(cell.check(channel) for cell in cells)
            if not doubts:
                self.assertEqual(sum(cell.reported for cell in cells), 0)
            print(f"  {name}: {len(cells) * MESSAGES} messages, {twice} twice", file=sys.stderr)
            for cell in cells:
                for queue in (cell.work, cell.dlq, cell.target):
                    channel.queue_delete(queue)

    def under_way(self, cells, *arguments, rate="25/s"):
        """Starts runs, and returns when each has brought back a message. At 1/s none of them is at its end then, however
        slow the machine."""
        channel = self.connect()
        before = {cell: cell.count(channel, cell.target) for cell in cells}
        for cell in cells:
            cell.start("--rate", rate, *arguments)
        for cell in cells:
            wait_until(lambda cell=cell: cell.count(channel, cell.target) > before[cell])

    def alarm(self, on):
        self.broker.ctl("set_vm_memory_high_watermark", *(("0.00001",) if on else ("absolute", "2GB")))

    def test_limit(self):
        def ends(cells):
            for _ in range(3):
                for cell in cells:
                    cell.start("--limit", "15")
                for cell in cells:
                    self.assertEqual(cell.end()["ended"], "limit")

        self.each_round(ends, doubts=False)

    def test_total(self):
        def ends(cells):
            for _ in range(4):
                for cell in cells:
                    cell.start("--rate", "5/s", "--total", "1500ms")
                for cell in cells:
                    self.assertEqual(cell.end()["ended"], "total")

        self.each_round(ends, doubts=False)

    def test_idle(self):
        def ends(cells):
            for cell in cells:
                cell.start("--idle", "100ms", "--empty", "60s")
            for cell in cells:
                self.assertIn(cell.end()["ended"], ("idle", "caught up"))

        self.each_round(ends, doubts=False)

    def test_stall(self):
        def ends(cells):
            self.under_way(cells, "--stall", "3s", rate="1/s")
            self.alarm(True)
            self.addCleanup(self.alarm, False)
            self.assertIn("stall", {cell.end()["ended"] for cell in cells})
            for _ in range(3):  # and runs that begin during it
                for cell in cells:
                    cell.start("--stall", "1s")
                for cell in cells:
                    cell.end()
            self.alarm(False)

        self.each_round(ends)

    def test_alarm(self):
        def ends(cells):
            self.under_way(cells, "--stall", "60s")
            self.alarm(True)
            self.addCleanup(self.alarm, False)
            time.sleep(0.5)
            self.alarm(False)
            for cell in cells:
                cell.end()

        self.each_round(ends)

    def test_interrupt(self):
        def ends(cells):
            for _ in range(2):
                self.under_way(cells, rate="1/s")
                for cell in cells:
                    cell.run.send_signal(signal.SIGINT)
                for cell in cells:
                    self.assertEqual(cell.end()["ended"], "asked")

        self.each_round(ends, doubts=False)

    def test_kill(self):
        def ends(cells):
            for window in ("50", "1"):
                self.under_way(cells, "--window", window, rate="1/s")
                for cell in cells:
                    cell.kill()

        self.each_round(ends)

    def test_restart(self):
        def ends(cells):
            self.broker.sync_queues()
            self.under_way(cells, "--stall", "120s")
            self.broker.stop()
            self.broker.start()
            for cell in cells:
                cell.end(sees_the_end=False)

        self.each_round(ends)

    def test_closed_connection(self):
        def ends(cells):
            self.under_way(cells, "--stall", "60s")
            for _ in range(2):
                self.broker.ctl("close_all_connections", "test")
            for cell in cells:
                cell.end()

        self.each_round(ends)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
