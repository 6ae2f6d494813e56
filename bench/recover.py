#!/usr/bin/env python3
"""How fast a dead-letter queue comes back (V12): `holdfast recover`, RabbitMQ's shovel, and one message at a
time, beside each other on one broker, which this starts and ends. Messages of two shapes: with the headers of their
death, and with one plain header only. Beside them, what could be reached at most: a bare loop on librabbitmq that checks
nothing, as it is and with the one header that a recovered message has (build/release/bench/bare_recovery).

Usage: bench/recover.py build/release/holdfast [--messages 119762] [--one-by-one 5000] [--window N …] [--rounds 5]
                        [--shape deaths|plain …]"""

import argparse
import base64
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/support"))

import pika  # noqa: E402
import rabbitmq  # noqa: E402
from dead_letters import Letters  # noqa: E402

BODY = b"x" * 500
TARGET = "bench.target"


class Bench:
    def __init__(self, holdfast, broker):
        self.holdfast = holdfast
        self.broker = broker
        self.shape = "deaths"
        self.letters = Letters(broker, "bench")
        self.letters.declare(TARGET)

    def fill(self, count):
        # New ones, so that all begin alike.
        for queue in (TARGET, self.letters.dlq):
            self.letters.channel.queue_delete(queue)
        self.letters.declare(TARGET)
        if self.shape == "deaths":
            self.letters.die_many(count, BODY)
        else:
            self.publish(count)
        time.sleep(3)  # until the broker has written all of it, and rests

    def publish(self, count):
        for number in range(count - 1):
            self.letters.publish(f"m{number}", BODY, key=self.letters.dlq, headers={"MessageType": "Scan"})
        channel = self.letters.connection.channel()
        channel.confirm_delivery()  # of the last one, behind all others
        channel.basic_publish("", self.letters.dlq, BODY, pika.BasicProperties(
            message_id=f"m{count - 1}", delivery_mode=2, headers={"MessageType": "Scan"}))  # fmt: skip
        channel.close()

    def until_moved(self, count, each=lambda moved: None):
        """Seconds until all of them are in the target, and none is left where they were."""
        began = time.monotonic()
        while True:
            moved = self.letters.count(TARGET)
            each(moved)
            if moved >= count and self.letters.count(self.letters.dlq) == 0:
                return time.monotonic() - began
            time.sleep(0.01)

    def recover(self, count, *options):
        self.fill(count)
        run = subprocess.Popen([self.holdfast, "recover", "--from", self.letters.url, "--to", TARGET, "--json",
                                "--empty", "200ms", "--total", "1h", *options],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
        memory = {}

        def look(moved):
            for part in (0.25, 0.5, 0.95):
                if moved >= part * count and part not in memory:
                    memory[part] = resident_mb(run.pid)

        seconds = self.until_moved(count, look)
        out, _ = run.communicate()
        summary = json.loads(out)
        assert summary["recovered"]["total"] == count, summary
        return said({"rate": count / seconds, "memory": memory, "own": summary["per_s"]})

    def bare(self, count, *options):
        self.fill(count)
        program = os.path.join(os.path.dirname(self.holdfast), "bench", "bare_recovery")
        run = subprocess.Popen([program, str(self.broker.port), self.letters.dlq, TARGET, str(count), "--mandatory",
                                *options])  # fmt: skip
        seconds = self.until_moved(count)
        assert run.wait() == 0
        return said({"rate": count / seconds})

    def shovel(self, count, prefetch):
        self.fill(count)
        value = {"src-protocol": "amqp091", "src-uri": self.broker.url + "%2f", "src-queue": self.letters.dlq,
                 "src-prefetch-count": prefetch, "src-delete-after": "never", "dest-protocol": "amqp091",
                 "dest-uri": self.broker.url + "%2f", "dest-queue": TARGET, "ack-mode": "on-confirm"}  # fmt: skip
        self.call("PUT", {"value": value})
        seconds = self.until_moved(count)
        self.call("DELETE")
        return said({"rate": count / seconds})

    def call(self, method, body=None):
        request = urllib.request.Request(
            f"{self.broker.management_url}/api/parameters/shovel/%2f/bench", method=method,
            data=json.dumps(body).encode() if body else None,
            headers={"Authorization": "Basic " + base64.b64encode(b"guest:guest").decode(),
                     "Content-Type": "application/json"})  # fmt: skip
        urllib.request.urlopen(request, timeout=60).close()

    def by_pika(self, count):
        """As seed programs do it: get, publish, wait for the confirm, acknowledge."""
        self.fill(count)
        done = threading.Event()

        def work():
            connection = pika.BlockingConnection(pika.URLParameters(self.broker.url))
            channel = connection.channel()
            channel.confirm_delivery()
            channel.basic_qos(prefetch_count=1)
            moved = 0
            for method, properties, body in channel.consume(self.letters.dlq):
                channel.basic_publish("", TARGET, body, properties, mandatory=True)
                channel.basic_ack(method.delivery_tag)
                moved += 1
                if moved == count:
                    break
            channel.cancel()
            connection.close()
            done.set()

        began = time.monotonic()
        worker = threading.Thread(target=work)
        worker.start()
        done.wait()
        seconds = time.monotonic() - began
        worker.join()
        return said({"rate": count / seconds})


def said(row):
    print("  ", row, file=sys.stderr, flush=True)
    return row


def resident_mb(pid):
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, IndexError):
        return 0


def measured(bench, options):
    """The rows of every round, by what was measured."""
    work = {}
    for window in options.window or [None]:
        arguments = ["--window", str(window)] if window else []
        name = "holdfast recover" + (f", window {window}" if window else "")
        work[name] = lambda arguments=arguments: bench.recover(options.messages, *arguments)
    work["shovel, on-confirm, prefetch 1,000"] = lambda: bench.shovel(options.messages, 1000)
    work["bare loop"] = lambda: bench.bare(options.messages)
    work["bare loop, one header added"] = lambda: bench.bare(options.messages, "--headers", "1")
    if options.one_by_one > 0:
        work["holdfast recover, window 1"] = lambda: bench.recover(options.one_by_one, "--window", "1")
        work["pika, one at a time"] = lambda: bench.by_pika(options.one_by_one)
    seen = {name: [] for name in work}
    for _ in range(options.rounds):  # in turn, so that whatever else the machine does hits all of them
        for name, measure in work.items():
            print(name, file=sys.stderr, flush=True)
            seen[name].append(measure())
    return seen


def median(values, key=None):
    return sorted(values, key=key)[len(values) // 2]


def show(shape, options, seen):
    first = next(iter(seen.values()))
    rows = [(name, median(all_, key=lambda row: row["rate"]),
             median([mine["rate"] / row["rate"] for mine, row in zip(first, all_, strict=True)]))
            for name, all_ in seen.items()]  # fmt: skip
    one_by_one = f"; {options.one_by_one:,} where it is one at a time" if options.one_by_one > 0 else ""
    print(f"{options.messages:,} persistent messages of {len(BODY)} bytes, {shape}{one_by_one}")
    print(f"{'':36} {'messages/s':>11} {'ratio':>7}   memory at 1/4, 1/2 and the end")
    for name, row, ratio in rows:
        memory = ", ".join(f"{row['memory'][part]:.1f}" for part in sorted(row.get("memory", {})))
        print(f"{name:36} {row['rate']:>11,.0f} {ratio:>6.2f}x   {memory + ' MB' if memory else ''}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("holdfast")
    parser.add_argument("--messages", type=int, default=119762)
    parser.add_argument("--one-by-one", type=int, default=5000, help="messages of those that go one at a time")
    parser.add_argument("--window", type=int, action="append", help="of holdfast recover; more than one: compare")
    parser.add_argument("--rounds", type=int, default=5, help="of all, in turn; the medians are shown")
    parser.add_argument("--shape", action="append", choices=("deaths", "plain"), help="of messages (both)")
    options = parser.parse_args()
    with rabbitmq.Broker(shovel=True) as broker:
        bench = Bench(os.path.abspath(options.holdfast), broker)
        for shape in options.shape or ["deaths", "plain"]:
            bench.shape = shape
            show(shape, options, measured(bench, options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
