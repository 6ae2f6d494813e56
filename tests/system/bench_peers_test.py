#!/usr/bin/env python3
"""`make bench-peers`: that every program of it runs and its table has every row. No time is asserted.

Usage: bench_peers_test.py HOLDFAST"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PEERS = os.path.join(ROOT, "bench/peers")
sys.path.insert(0, PEERS)

import run  # noqa: E402
import table  # noqa: E402

HOLDFAST = sys.argv.pop(1) if len(sys.argv) > 1 else None


def figures(**of_system):
    """One round in which every system has 100 of everything, but for what is said."""
    base = {row.key: 100.0 for row in table.ROWS}
    return {name: {**base, **of_system.get(name.replace("-", "_"), {})} for name in table.SYSTEMS}


def line_of(rounds, what):
    return next(line for line in table.lines(rounds) if line.startswith(what))


class Table(unittest.TestCase):
    def test_has_a_row_for_each_figure_and_fits_100_columns(self):
        rounds = [figures(holdfast={"process_per_s": 123456.0, "max_ms": 12345.0})]
        lines = list(table.lines(rounds))
        self.assertEqual(len(lines), 1 + len(table.ROWS))
        for line in lines:
            self.assertLessEqual(len(line), 100, line)
        for name in table.SYSTEMS:
            self.assertIn(name, lines[0])

    def test_compares_with_the_best_of_the_others(self):
        rounds = [figures(holdfast={"end_to_end_per_s": 300.0}, bee_queue={"end_to_end_per_s": 150.0})]
        line = line_of(rounds, "end to end")
        self.assertIn(" 2.00 ", line)
        self.assertTrue(line.endswith("≥ 1.50 met"), line)

    def test_of_what_should_be_small_the_best_is_the_smallest(self):
        rounds = [figures(holdfast={"peak_mb": 30.0}, sidekiq={"peak_mb": 60.0})]
        line = line_of(rounds, "… of one at work")
        self.assertIn(" 0.50 ", line)
        self.assertTrue(line.endswith("≤ 0.33 MISSED"), line)

    def test_a_latency_is_compared_with_that_of_bullmq(self):
        rounds = [figures(holdfast={"p99_ms": 5.0}, bullmq={"p99_ms": 5.0}, sidekiq={"p99_ms": 1.0})]
        line = line_of(rounds, "at 1,000/s: 99 of 100")
        self.assertTrue(line.endswith("≤ 1.00 bullmq met"), line)
        rounds[0]["holdfast"]["p99_ms"] = 5.1
        self.assertTrue(line_of(rounds, "at 1,000/s: 99 of 100").endswith("MISSED"))

    def test_memory_of_a_task_has_a_limit_of_its_own(self):
        line = line_of([figures(holdfast={"task_bytes": 700.0})], "Redis memory of a task")
        self.assertTrue(line.endswith("≤ 700 met"), line)
        line = line_of([figures(holdfast={"task_bytes": 701.0})], "Redis memory of a task")
        self.assertTrue(line.endswith("≤ 700 MISSED"), line)

    def test_gives_medians_and_compares_within_each_round(self):
        # The machine was ten times as fast in the second round.
        rounds = [
            figures(holdfast={"end_to_end_per_s": ours}, bullmq={"end_to_end_per_s": theirs},
                    bee_queue={"end_to_end_per_s": 1.0}, sidekiq={"end_to_end_per_s": 1.0})
            for ours, theirs in ((200, 100), (2000, 1000), (300, 100))
        ]  # fmt: skip
        line = line_of(rounds, "end to end").split()
        self.assertEqual(line[4:6], ["300", "100"])
        self.assertEqual(line[8], "2.00")

    def test_says_what_is_missed(self):
        good = {"end_to_end_per_s": 150.0, "failing_per_s": 300.0, "peak_mb": 33.0}
        self.assertEqual(table.missed([figures(holdfast=good)]), [])
        good["failing_per_s"] = 299.0
        self.assertEqual(table.missed([figures(holdfast=good)]), ["fail 3 times until dead, tasks/s"])

    def test_leaves_out_what_was_not_measured(self):
        rounds = [figures()]
        del rounds[0]["holdfast"]["p50_ms"]
        self.assertIn(" - ", line_of(rounds, "at 1,000/s: median"))


class Turns(unittest.TestCase):
    def test_one_that_is_too_slow_to_tell_has_no_figure_and_keeps_no_other_from_its_own(self):
        systems = run.Systems(HOLDFAST, "always", "")

        def measure(name, part, concurrency, sizes):
            if name == "bullmq":
                raise run.TooSlow(name)
            return {run.TUNED_BY.get(part, part): float(concurrency)}

        systems.measure = measure
        tuned = systems.tuned(run.QUICK, lambda text: None)
        self.assertEqual(tuned["bee-queue"]["failing"], max(systems.concurrencies["bee-queue"]))
        self.assertEqual(tuned["bee-queue"]["latency"], min(systems.concurrencies["bee-queue"]))
        found = systems.round(tuned, run.QUICK, lambda text: None)
        self.assertEqual(found["bullmq"], {})
        self.assertIn("failing_per_s", found["sidekiq"])


class Quick(unittest.TestCase):
    def test_every_peer_runs_and_every_row_has_its_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "report.json")
            ran = subprocess.run(
                [sys.executable, "-B", os.path.join(PEERS, "run.py"), HOLDFAST, "--quick", "--folder", folder,
                 "--json", out], capture_output=True, text=True, timeout=280, check=False)  # fmt: skip
            self.assertEqual(ran.returncode, 0, ran.stderr)
            with open(out, encoding="utf-8") as file:
                report = json.load(file)
            self.assertEqual(os.listdir(folder), ["report.json"])  # nothing of Redis is left
        for fsync in ("everysec", "always"):
            self.assertIn(f"AOF {fsync}", ran.stdout)
            found = report["fsync"][fsync]["rounds"][0]
            for name in table.SYSTEMS:
                for row in table.ROWS:
                    self.assertGreater(found[name][row.key], 0, f"{name} {row.key}")
        self.assertEqual(len(ran.stdout.split("\n\n")), 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
