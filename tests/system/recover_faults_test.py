#!/usr/bin/env python3
"""V11, V12: `holdfast recover` while everything goes wrong around it, against a real RabbitMQ. A ledger of
message ids, before and after, says that nothing was lost; what is there twice is counted.

Usage: recover_faults_test.py HOLDFAST"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))

import rabbitmq  # noqa: E402
import tcp_proxy  # noqa: E402
from dead_letters import Letters, wait_until  # noqa: E402

HOLDFAST = os.path.abspath(sys.argv[1])
SEED = int(os.environ.get("HOLDFAST_SEED", "1"))


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.broker = rabbitmq.Broker()
        cls.addClassCleanup(cls.broker.close)
        cls.broker.start()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-recover-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.letters = Letters(self.broker, self.id().split(".")[-1])
        self.addCleanup(lambda: self.letters.close())
        self.target = f"{self.letters.name}.target"
        self.letters.declare(self.target)
        self.random = random.Random(SEED)

    def start(self, *arguments, port=None):
        url = self.letters.url if port is None else self.letters.url.replace(f":{self.broker.port}/", f":{port}/")
        run = subprocess.Popen([HOLDFAST, "recover", "--from", url, "--to", self.target, "--json",
                                "--empty", "300ms", "--idle", "5s", *arguments],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        self.addCleanup(self.kill, run)
        return run

    def kill(self, run):
        if run.poll() is None:
            run.kill()
        run.communicate()

    def end_of(self, run, code=0):
        out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, code, out.decode() + err.decode())
        return json.loads(out)

    def check(self, ids, queues=None, most_twice=None):
        """Every message is somewhere; how many are there more than once."""
        counts = self.letters.ledger(*(queues or (self.target, self.letters.dlq)))
        self.assertEqual(set(counts), set(ids))
        twice = sum(count - 1 for count in counts.values())
        if most_twice is not None:
            self.assertLessEqual(twice, most_twice)
        print(f"  {self._testMethodName}: {len(ids)} messages, {twice} more than once", file=sys.stderr)
        return twice

    def progress(self, count):
        wait_until(lambda: self.letters.count(self.target) >= count)

    def test_killed_at_random_points_again_and_again(self):
        ids = self.letters.die_many(2500)
        kills = 0
        while self.letters.count(self.letters.dlq) > 0 and kills < 25:
            run = self.start("--window", "200")
            began = self.letters.count(self.target)
            goal = began + self.random.randrange(1, 300)
            until = time.monotonic() + 10
            while run.poll() is None and self.letters.count(self.target) < goal and time.monotonic() < until:
                time.sleep(self.random.random() * 0.003)
            kills += run.poll() is None
            self.kill(run)
            # The broker notices at once, but not before it does.
            time.sleep(0.02)
        self.end_of(self.start())
        self.assertGreater(kills, 5)
        self.check(ids, most_twice=kills * 200)
        print(f"  {kills} kills", file=sys.stderr)

    def test_killed_before_its_acknowledgements_arrive_a_journal_knows_its_copies(self):
        ids = self.letters.die(100)
        journal = os.path.join(self.folder, "journal.jsonl")

        def noted():
            with open(journal, "a+", encoding="utf-8") as file:
                file.seek(0)
                return sum('"recovered"' in line for line in file)

        with tcp_proxy.Proxy(self.broker.port) as proxy:
            proxy.swallows = ("client", tcp_proxy.ACK)
            run = self.start("--journal", journal, port=proxy.port)
            wait_until(lambda: noted() == 100)
            self.kill(run)
            proxy.swallows = None
            wait_until(lambda: self.letters.count(self.letters.dlq) == 100)
            self.assertEqual(self.letters.count(self.target), 100)  # all of them are there twice
            summary = self.end_of(self.start("--journal", journal, port=proxy.port))
        self.assertEqual((summary["recognised"], summary["recovered"]["total"]), (100, 0))
        self.check(ids, most_twice=0)

    def test_the_connection_is_cut_at_every_frame_of_a_publish(self):
        with tcp_proxy.Proxy(self.broker.port) as proxy:
            for side, method, boundaries in (("client", tcp_proxy.PUBLISH, 10), ("server", tcp_proxy.ACK, 3),
                                             ("server", tcp_proxy.DELIVER, 5), ("client", tcp_proxy.ACK, 2)):  # fmt: skip
                for boundary in range(boundaries):
                    ids = self.letters.die(3, prefix=f"{side}{method[1]}.{boundary}.")
                    proxy.rule = tcp_proxy.cut_once_after(side, method, boundary)
                    cuts = proxy.cuts
                    summary = self.end_of(self.start("--window", "3", port=proxy.port))
                    counts = self.letters.ledger(self.target, self.letters.dlq)
                    self.assertEqual(set(counts), set(ids), (side, method, boundary, summary))
                    twice = sum(count - 1 for count in counts.values())
                    self.assertLessEqual(twice, summary["possible_duplicates"], (side, method, boundary, summary))
                    self.assertEqual(summary["recovered"]["total"], 3, (side, method, boundary, summary))
                    if boundary == 0:
                        self.assertGreater(proxy.cuts, cuts)

    def test_cut_at_random_under_load(self):
        ids = self.letters.die_many(2500)
        with tcp_proxy.Proxy(self.broker.port) as proxy:
            run = self.start("--window", "100", port=proxy.port)
            goal = 0
            while run.poll() is None and proxy.cuts < 12 and goal < 2200:
                goal += self.random.randrange(100, 400)
                while run.poll() is None and self.letters.count(self.target) < goal:
                    time.sleep(0.002)
                proxy.cut_all()
            summary = self.end_of(run)
            self.assertGreater(summary["interruptions"], 0)
            twice = self.check(ids)
            self.assertLessEqual(twice, summary["possible_duplicates"])

    def test_the_broker_is_restarted_and_killed_mid_run(self):
        for end in (self.broker.stop, self.broker.kill):
            ids = self.letters.die_many(4000, body=b"x" * 500)
            run = self.start("--window", "100", "--rate", "1500/s", "--stall", "90s")
            self.progress(500)
            end()
            self.broker.start()
            self.letters.connect()
            summary = self.end_of(run)
            self.assertEqual(summary["ended"], "empty")
            self.assertGreaterEqual(summary["interruptions"], 1)
            self.check(ids, most_twice=1000)

    def test_a_broker_that_stays_away_ends_it(self):
        ids = self.letters.die_many(1000)
        with tcp_proxy.Proxy(self.broker.port) as proxy:
            run = self.start("--rate", "300/s", "--stall", "2s", port=proxy.port)
            self.progress(50)
            proxy.refuse()
            proxy.cut_all()
            out, _ = run.communicate(timeout=60)
            self.assertIn(run.returncode, (1, 3))
            self.assertIn(json.loads(out)["ended"], ("stall", "failed"))
        self.check(ids)

    def test_the_target_is_deleted_mid_run(self):
        self.letters.die_many(3000)
        run = self.start("--window", "50", "--rate", "1500/s")
        self.progress(300)
        self.letters.channel.queue_delete(self.target)
        summary = self.end_of(run, code=3)
        self.assertGreater(summary["failed"]["total"], 0)
        # What went with the queue was confirmed before; whoever deletes a queue deletes its messages.
        kept = self.letters.ids(self.letters.dlq)
        self.assertEqual(len(set(kept)), summary["failed"]["total"])
        self.assertEqual(summary["recovered"]["total"] + len(kept), 3000)

    def test_the_dead_letter_queue_is_deleted_mid_run(self):
        self.letters.die_many(60)
        run = self.start("--rate", "10/s")
        self.progress(10)
        self.letters.channel.queue_delete(self.letters.dlq)
        summary = self.end_of(run, code=1)
        copied = self.letters.count(self.target)
        self.assertEqual((summary["ended"], summary["possible_duplicates"]), ("failed", 0), summary)
        self.assertIn("was deleted", summary["error"])
        self.assertEqual(summary["recovered"]["total"], copied)
        self.assertEqual(summary["vanished"], 60 - copied)

    def test_a_memory_alarm_makes_it_wait(self):
        ids = self.letters.die_many(3000)
        run = self.start("--window", "50", "--rate", "300/s", "--stall", "60s")
        self.progress(300)
        self.addCleanup(self.broker.ctl, "set_vm_memory_high_watermark", "absolute", "2GB")
        run.send_signal(signal.SIGSTOP)  # or it may be done before the alarm is on: rabbitmqctl takes seconds
        self.broker.ctl("set_vm_memory_high_watermark", "0.00001")
        run.send_signal(signal.SIGCONT)
        before = self.letters.count(self.target)
        time.sleep(1)  # that is what is looked at: it neither goes on nor ends
        self.assertIsNone(run.poll())
        self.assertLess(self.letters.count(self.target) - before, 250)
        self.broker.ctl("set_vm_memory_high_watermark", "absolute", "2GB")
        summary = self.end_of(run)
        self.assertEqual(summary["recovered"]["total"], 3000)
        self.check(ids, most_twice=summary["possible_duplicates"])

    def test_an_alarm_that_stays_ends_it(self):
        ids = self.letters.die_many(500)
        self.broker.ctl("set_vm_memory_high_watermark", "0.00001")
        try:
            summary = self.end_of(self.start("--stall", "2s"), code=3)
            self.assertEqual(summary["ended"], "stall")
        finally:
            self.broker.ctl("set_vm_memory_high_watermark", "absolute", "2GB")
        self.end_of(self.start())
        self.check(ids, most_twice=500)

    def test_a_host_that_is_closed_or_lost_is_followed_by_the_next(self):
        ids = self.letters.die_many(2000)
        with tcp_proxy.Proxy(self.broker.port) as proxy:
            url = self.letters.url.replace(
                f"127.0.0.1:{self.broker.port}", f"127.0.0.1:1,127.0.0.1:{proxy.port},127.0.0.1:{self.broker.port}")
            run = subprocess.Popen([HOLDFAST, "recover", "--from", url, "--to", self.target, "--json",
                                    "--empty", "300ms", "--rate", "2000/s"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
            self.addCleanup(self.kill, run)
            self.progress(200)
            proxy.refuse()
            proxy.cut_all()
            summary = self.end_of(run)
        self.assertGreaterEqual(summary["interruptions"], 1, summary)
        self.check(ids, most_twice=summary["possible_duplicates"])

    def test_held_messages_outlive_the_consumer_timeout(self):
        self.broker.ctl("eval", "application:set_env(rabbit, consumer_timeout, 1500), "
                        "application:set_env(rabbit, channel_tick_interval, 500).")  # fmt: skip
        try:
            ids = self.letters.die(100, headers={"MessageType": "unknown"})
            ids += self.letters.die(40, prefix="known", headers={"MessageType": "A"})
            path = os.path.join(self.folder, "map.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(f'[map]\nA = "{self.target}"\n')
            done = subprocess.run([HOLDFAST, "recover", "--from", self.letters.url, "--map", path, "--json",
                                   "--empty", "300ms", "--rate", "10/s"], capture_output=True, timeout=100)  # fmt: skip
            summary = json.loads(done.stdout)
            self.assertGreaterEqual(summary["interruptions"], 1, summary)
            self.assertEqual(summary["skipped"]["total"], 100, summary)  # counted once
            self.check(ids, most_twice=0)
        finally:
            self.broker.ctl("eval", "application:set_env(rabbit, consumer_timeout, 1800000).")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
