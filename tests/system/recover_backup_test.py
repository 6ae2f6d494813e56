#!/usr/bin/env python3
"""`holdfast recover` with a backup of what leaves the queue, and its restore, against a real RabbitMQ.

Usage: recover_backup_test.py HOLDFAST"""

import datetime
import decimal
import json
import os
import pty
import resource
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))

import rabbitmq  # noqa: E402
from dead_letters import Letters, wait_until  # noqa: E402

HOLDFAST = os.path.abspath(sys.argv[1])
PROPERTIES = ("content_type", "content_encoding", "delivery_mode", "priority", "correlation_id", "reply_to", "message_id",
              "timestamp", "type", "app_id")  # fmt: skip
HEADERS = {"MessageType": "Scan", "big": (1 << 53) + 1, "low": -(1 << 63), "yes": True, "none": None,
           "price": decimal.Decimal("12.50"), "when": datetime.datetime(2026, 11, 16, 3, 12, 45),
           "table": {"list": [1, "two", None, {"deep": [False]}]}, "bytes": b"\0\xff\1", "": "no name"}  # fmt: skip


class BackupCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.broker = rabbitmq.shared(management=True)
        cls.addClassCleanup(cls.broker.close)
        cls.broker.start()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-backup-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.backup = self.path("backup.jsonl")
        self.letters = Letters(self.broker, self.id().split(".")[-1])
        self.addCleanup(lambda: self.letters.close())
        self.target = f"{self.letters.name}.target"
        self.letters.declare(self.target)

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, *arguments):
        source = [] if "--from" in arguments else ["--from", self.letters.url]
        return [HOLDFAST, "recover", *source, "--empty", "300ms", "--idle", "3s", "--management",
                self.broker.management_url, "--json", *arguments]  # fmt: skip

    def run_recover(self, *arguments, **more):
        return subprocess.run(self.command(*arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, **more)  # fmt: skip

    def recover(self, *arguments, code=0):
        done = self.run_recover(*arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def restore(self, *arguments, **more):
        return self.recover("--from", f"backup:{self.backup}", "--to-broker", self.broker.vhost_url, *arguments, **more)

    def start(self, *arguments):
        run = subprocess.Popen(self.command(*arguments), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(lambda: run.poll() is None and run.kill())
        return run

    def kill(self, run):
        run.kill()
        run.wait()
        # What the broker has not heard of yet comes back when it notices.
        wait_until(lambda: self.letters.channel.queue_declare(self.letters.dlq, passive=True).method.consumer_count == 0)

    def lines(self):
        with open(self.backup, "rb") as file:
            return file.read().splitlines(keepends=True)

    def stored(self):
        """The ids of the messages in the backup."""
        entries = [json.loads(line) for line in self.lines() if line.endswith(b"}\n")]
        return [entry["properties"].get("message_id") for entry in entries if "body" in entry]


class BackupTest(BackupCase):
    # V8
    def test_V8_a_message_comes_back_as_it_was(self):
        sent = dict(content_type="text/plain", content_encoding="utf-8", priority=7, correlation_id="c", reply_to="r",
                    timestamp=1_893_450_000, type="t", app_id="a")  # fmt: skip
        bodies = {"plain": b'{"a": 1}\n', "empty": b"", "bytes": bytes(range(256)), "large": os.urandom(1 << 20)}
        for identity, body in bodies.items():
            self.letters.publish(identity, body, headers=HEADERS, **sent)
        self.letters.reject_all(len(bodies))
        wait_until(lambda: self.letters.count(self.letters.dlq) == len(bodies))
        before = {properties.message_id: properties for properties, _ in self.letters.look(self.letters.dlq)}
        self.recover("--to", self.target, "--backup", self.backup)
        self.assertEqual(os.stat(self.backup).st_mode & 0o777, 0o600)
        self.assertEqual(sorted(self.stored()), sorted(bodies))
        self.letters.take(self.target)
        # To where it was, with its deaths.
        summary = self.restore("--park", self.letters.dlq)
        self.assertEqual(summary["parked"], 4, summary)
        found = {properties.message_id: (properties, body) for properties, body in self.letters.take(self.letters.dlq)}
        self.assertEqual({identity: body for identity, (_, body) in found.items()}, bodies)
        for identity, (properties, _) in found.items():
            for name in PROPERTIES:
                self.assertEqual(getattr(properties, name), getattr(before[identity], name), name)
            was = before[identity].headers
            self.assertEqual({name: properties.headers[name] for name in was}, was)
        # And to work, by the death that is in the backup.
        self.assertEqual(self.restore("--to-origin=queue", "--filter", "id=plain or id=empty")["not_chosen"], 2)
        self.assertEqual(sorted(self.letters.ids(self.letters.work)), ["empty", "plain"])

    # V1, V2: not one message is out of the queue that is not in the file.
    def test_V2_a_full_disk_ends_the_run_and_loses_nothing(self):
        ids = self.letters.die_many(400, body=b"x" * 1000)

        def little_room():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        done = self.run_recover("--to", self.target, "--window", "20", "--backup", self.backup, preexec_fn=little_room,
                                restore_signals=False)  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(self.backup, done.stderr)
        self.assertIn("No message was taken from its queue that is not in the backup", done.stderr)
        moved = self.letters.ids(self.target)
        self.assertTrue(moved)
        self.assertTrue(set(moved) <= set(self.stored()))
        self.assertEqual(sorted(moved + self.letters.look_ids(self.letters.dlq)), sorted(ids))
        self.assertTrue(self.lines()[-1].endswith(b"}\n"))  # no torn line is left
        self.recover("--to", self.target, "--backup", self.backup)
        self.assertEqual(set(self.stored()), set(ids))

    # V1, V2
    def test_V2_killed_at_any_time_what_is_gone_is_in_the_file(self):
        ids = set(self.letters.die_many(2000))
        for wait in (0.02, 0.05, 0.1):
            before = self.letters.count(self.target)
            run = self.start("--to", self.target, "--window", "50", "--rate", "300/s", "--backup", self.backup)
            # More than the window: the broker has taken the first acknowledgements.
            wait_until(lambda before=before: self.letters.count(self.target) > before + 60)
            time.sleep(wait)
            self.kill(run)
        left = set(self.letters.look_ids(self.letters.dlq))
        self.assertTrue(left and left < ids, "nothing was recovered, or everything")
        stored = set(self.stored())
        self.assertTrue(ids - left <= stored)
        # A line that the last run has not finished.
        with open(self.backup, "ab") as file:
            file.write(self.lines()[1][:-40])
        done = self.run_recover("--from", f"backup:{self.backup}", "--to-broker", self.broker.vhost_url, "--dry-run", "--to",
                                self.target)  # fmt: skip
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(f"line {len(self.lines())} of {self.backup}: the file ends in the middle of it", done.stderr)
        # The next one removes it, and goes on.
        self.recover("--to", self.target, "--backup", self.backup)
        self.assertEqual(set(self.stored()), ids)
        self.assertTrue(ids <= set(self.letters.ids(self.target)))

    def fill_backup(self, count):
        ids = self.letters.die_many(count)
        self.recover("--to", self.target, "--backup", self.backup)
        self.letters.channel.queue_purge(self.target)
        return ids

    def test_a_damaged_line_is_named_and_the_others_are_restored(self):
        ids = self.fill_backup(20)
        lines = self.lines()
        lines[7] = lines[7].replace(b"body", b"bodY", 1)
        with open(self.backup, "wb") as file:
            file.writelines([*lines, lines[1][:-40]])
        done = self.run_recover("--from", f"backup:{self.backup}", "--to-broker", self.broker.vhost_url, "--to", self.target)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(f"line 8 of {self.backup}: its checksum does not match", done.stderr)
        self.assertIn(f"line 22 of {self.backup}: the file ends in the middle of it", done.stderr)
        summary = json.loads(done.stdout)
        self.assertEqual((summary["found"], summary["recovered"]["total"], summary["skipped"]["total"]), (21, 19, 2), summary)
        self.assertEqual(len(set(self.letters.ids(self.target))), len(ids) - 1)

    # V2
    def test_V2_a_repaired_backup_is_restored_whole_by_its_journal(self):
        ids = self.fill_backup(8)
        with open(self.backup, "rb") as file:
            good = file.read()
        damaged = bytearray(good)
        damaged[5] ^= 1  # of the line of the run
        damaged[len(b"".join(self.lines()[:3])) - 1] ^= 0x20  # a newline
        asked = ["--to", self.target, "--journal", self.path("restore.jsonl")]
        with open(self.backup, "wb") as file:
            file.write(damaged)
        self.assertEqual(self.restore(*asked, code=3)["recovered"]["total"], 6)
        with open(self.backup, "wb") as file:
            file.write(good)
        summary = self.restore(*asked)
        self.assertEqual((summary["recognised"], summary["recovered"]["total"]), (6, 2), summary)
        self.assertEqual(sorted(self.letters.ids(self.target)), sorted(ids))

    # V2
    def test_V2_a_backup_that_is_removed_ends_the_run(self):
        self.letters.die_many(400)
        run = self.start("--discard", "--yes", "--backup", self.backup, "--window", "10", "--rate", "100/s")
        wait_until(lambda: os.path.exists(self.backup) and os.path.getsize(self.backup) > 3000)
        os.unlink(self.backup)
        self.assertEqual(run.wait(60), 1)
        self.assertGreater(self.letters.count(self.letters.dlq), 200)

    # V2
    def test_V2_a_killed_restore_is_resumed_by_its_journal(self):
        ids = self.fill_backup(800)
        journal = self.path("restore.jsonl")
        asked = ["--from", f"backup:{self.backup}", "--to-broker", self.broker.vhost_url, "--to", self.target, "--journal",
                 journal, "--window", "40"]  # fmt: skip
        for _ in range(2):
            before = self.letters.count(self.target)
            run = self.start(*asked, "--rate", "400/s")
            wait_until(lambda: self.letters.count(self.target) > before + 20 or run.poll() is not None)
            run.kill()
            run.wait()
        summary = self.recover(*asked)
        self.assertGreater(summary["recognised"], 0, summary)
        ledger = self.letters.ledger(self.target)
        self.assertEqual(set(ledger), set(ids))
        # Each kill, and what was under way with it; of the last run, what it has said.
        self.assertLessEqual(sum(ledger.values()) - len(ids), 80 + summary["possible_duplicates"])
        self.assertEqual(self.recover(*asked)["recognised"], 800)
        self.assertEqual(self.letters.count(self.target), 0)

    def test_filters_limits_and_a_dry_run_are_those_of_every_recovery(self):
        self.fill_backup(10)
        summary = self.restore("--to", self.target, "--dry-run")
        self.assertEqual((summary["would_recover"], summary["still_in_queue"]), (10, 10), summary)
        self.assertEqual(self.letters.count(self.target), 0)
        summary = self.restore("--to", self.target, "--filter", "id=m3 or id=~^m[78]$", "--limit", "2", "--rate", "50/s")
        self.assertEqual(summary["recovered"]["total"], 2, summary)
        self.assertEqual(self.letters.ids(self.target), ["m3", "m7"])
        summary = self.restore("--to", "nowhere-at-all", code=1)
        self.assertIn("nowhere-at-all", summary["error"])

    # V2
    def test_V2_discarded_messages_are_in_the_backup(self):
        ids = self.letters.die(6)
        chosen = ["--filter", "id=m1 or id=~^m[45]$"]
        for arguments, text in (
            (["--discard"], "--no-backup"),
            (["--discard", "--backup", self.backup], "say --yes"),
            (["--discard", "--yes"], "--no-backup"),
            (["--discard", "--yes", "--no-backup", "--backup", self.backup], "not both"),
            (["--discard", "--yes", "--no-backup", "--to", self.target], "nowhere"),
            (["--discard", "--yes", "--no-backup", "--to-broker", self.broker.vhost_url], "nowhere"),
            (["--discard", "--yes", "--no-backup", "--park", self.target], "nowhere"),
            (["--to", self.target, "--yes"], "goes with --discard"),
        ):
            with self.subTest(arguments):
                done = self.run_recover(*arguments)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(text, done.stderr)
        summary = self.recover("--discard", "--dry-run", *chosen)
        self.assertEqual((summary["would_discard"], summary["not_chosen"], summary["still_in_queue"]), (3, 3, 6), summary)
        summary = self.recover("--discard", "--yes", "--backup", self.backup, *chosen)
        self.assertEqual((summary["discarded"], summary["not_chosen"], summary["still_in_queue"]), (3, 3, 3), summary)
        self.assertEqual(self.stored(), ["m1", "m4", "m5"])
        self.assertEqual(self.letters.look_ids(self.letters.dlq), ["m0", "m2", "m3"])
        self.restore("--park", self.letters.dlq)
        self.assertEqual(sorted(self.letters.look_ids(self.letters.dlq)), ids)
        self.assertEqual(self.recover("--discard", "--yes", "--no-backup")["discarded"], 6)
        self.assertEqual(self.letters.count(self.letters.dlq), 0)

    def test_a_discard_from_several_queues_has_one_limit(self):
        other = Letters(self.broker, f"{self.letters.name}-other")
        self.addCleanup(lambda: other.close())
        other.declare()
        asked = ["--from", self.letters.url, "--from", other.url, "--discard", "--yes", "--backup", self.backup]
        ids = self.letters.die(3) + other.die(3, prefix="n")
        total = self.recover(*asked, "--limit", "4")["total"]
        self.assertEqual((total["discarded"], total["still_in_queues"]), (4, 2), total)
        self.assertEqual(self.recover(*asked)["total"]["discarded"], 2)
        self.assertEqual(sorted(self.stored()), sorted(ids))

    def test_a_discard_asks_for_the_name_of_the_queue(self):
        self.letters.die(2)
        for typed, code, left in (("y\n", 1, 2), (f"{self.letters.dlq}\n", 0, 0)):
            ours, theirs = pty.openpty()
            run = subprocess.Popen(self.command("--discard", "--backup", self.backup), stdin=theirs,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
            os.write(ours, typed.encode())
            out, err = run.communicate(timeout=60)
            os.close(ours)
            os.close(theirs)
            self.assertEqual(run.returncode, code, out + err)
            self.assertIn("Type its name to go on", err)
            self.assertEqual(self.letters.count(self.letters.dlq), left)

    def begin_canary(self, kind, arguments):
        letters = Letters(self.broker, f"{self.letters.name}-{kind}")
        self.addCleanup(lambda: letters.close())
        letters.declare(dlq_arguments=arguments)
        return letters, letters.die(12)

    # N3: all of them at once, since what takes time is to wait.
    def test_N3_a_canary_stops_what_would_only_die_again(self):
        quorum = {"x-queue-type": "quorum", "x-delivery-limit": 3}
        begun = []
        for kind, arguments, dies, arrives in (
            ("good", None, 0, []),
            ("bad", None, 2, []),
            ("quorum", quorum, 1, []),
            ("quorum-good", quorum, 0, ["new"]),
        ):
            begun.append((kind, *self.begin_canary(kind, arguments), dies, arrives))
        runs = [subprocess.Popen(self.command("--from", letters.url, "--to", letters.work, "--canary", "3",
                                              "--canary-wait", "6s"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True) for _, letters, *_ in begun]  # fmt: skip
        for _, letters, _, dies, arrives in begun:
            wait_until(lambda letters=letters: letters.count(letters.work) == 3)
            letters.reject_all(dies)
            for identity in arrives:
                letters.publish(identity, key=letters.dlq)
        for run, (kind, letters, ids, dies, arrives) in zip(runs, begun, strict=True):
            with self.subTest(kind):
                self.check_canary(run, letters, ids + arrives, dies)

    def check_canary(self, run, letters, ids, dies):
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 3 if dies else 0, out + err)
        summary = json.loads(out)
        self.assertEqual(summary["recovered"]["total"], 3 if dies else len(ids), summary)
        self.assertEqual(summary["canary"]["came_back"]["total"], dies, summary)
        if dies:
            self.assertEqual(summary["ended"], "canary")
            self.assertIn(f"{dies} of 3 messages came back to the queue: {dies} rejected", summary["canary"]["stopped_by"])
        ledger = letters.ledger(letters.dlq, letters.work)
        self.assertEqual(sorted(ledger), sorted(ids))
        self.assertEqual(set(ledger.values()), {1})

    def test_what_makes_no_sense_is_refused_and_nothing_is_touched(self):
        self.letters.die(3)
        other = self.path("notes.txt")
        with open(other, "w", encoding="utf-8") as file:
            file.write('{"time":"not a backup"}\n')
        journal = self.path("journal.jsonl")
        self.recover("--to", self.target, "--limit", "1", "--journal", journal)
        to, broker = ["--to", self.target], ["--to-broker", self.broker.vhost_url]
        for arguments, code, text in (
            ([*to, "--backup", other], 1, "not a backup of messages"),
            ([*to, "--backup", journal], 1, "not a backup of messages"),
            ([*to, "--backup", self.folder], 1, "directory"),
            ([*to, "--backup", self.backup, "--journal", self.backup], 2, "name the same file"),
            ([*to, "--backup", "/dev/null"], 1, "regular file"),
            ([*to, "--backup", self.path("no/such/folder")], 1, "No such file"),
            ([*to, "--backup", self.backup, "--dry-run"], 2, "nothing leaves the queue"),
            ([*to, "--canary", "3", "--dry-run"], 2, "--canary has no meaning"),
            (["--park", self.target, "--canary", "3"], 2, "go back to work"),
            ([*to, "--from", f"backup:{other}"], 2, "to which broker"),
            ([*to, *broker, "--from", f"backup:{other}"], 1, "not a backup of messages"),
            ([*to, *broker, "--from", f"backup:{self.backup}"], 1, "No such file"),
            ([*to, *broker, "--from", "backup:"], 2, "names no file"),
            ([*to, *broker, "--from", f"backup:{other}", "--backup", self.backup], 2, "stays as it is"),
        ):
            with self.subTest(arguments):
                done = self.run_recover(*arguments)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.assertIn(text, done.stderr)
        with open(other, encoding="utf-8") as file:
            self.assertEqual(file.read(), '{"time":"not a backup"}\n')
        self.assertEqual(self.letters.count(self.letters.dlq), 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
