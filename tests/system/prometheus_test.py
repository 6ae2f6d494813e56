#!/usr/bin/env python3
"""The example for Prometheus: its files are valid, its rules fire when they must, and their thresholds are
those that the server has by default.

Usage: prometheus_test.py HOLDFAST"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

HOLDFAST = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(HERE, "../../examples/prometheus")


def promtool(*arguments, folder):
    done = subprocess.run(["promtool", *arguments], cwd=folder, text=True, capture_output=True, check=False)
    return done.returncode, done.stdout + done.stderr


class PrometheusTest(unittest.TestCase):
    def test_the_files_are_valid(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
            with open(os.path.join(folder, "holdfast-token"), "w", encoding="ascii") as file:
                file.write("a token")
            code, text = promtool("check", "config", "prometheus.yml", folder=folder)
            self.assertEqual(code, 0, text)
            self.assertIn("9 rules found", text)
            code, text = promtool("check", "rules", "holdfast-alerts.yml", folder=folder)
            self.assertEqual(code, 0, text)

    def test_T9_rules_fire_when_they_must(self):
        code, text = promtool("test", "rules", "alerts.test.yml", folder=os.path.join(HERE, "prometheus"))
        self.assertEqual(code, 0, text)

    def test_thresholds_are_those_of_the_server(self):
        with tempfile.TemporaryDirectory() as folder:
            shown = subprocess.run([HOLDFAST, "serve", "--check"], cwd=folder, check=True, text=True,
                                   capture_output=True).stdout  # fmt: skip
        alerts = tomllib.loads(shown)["alerts"]
        self.assertEqual((alerts["over"], alerts["backlog_age"]), ("5m", "10m"))
        with open(os.path.join(EXAMPLE, "holdfast-alerts.yml"), encoding="utf-8") as file:
            rules = file.read()
        self.assertEqual(set(re.findall(r"tasks_\w+_total\[(\w+)\]\)", rules)), {alerts["over"]})
        self.assertIn(f"dead_total[5m])) >= {alerts['dead_letters']}\n", rules)
        self.assertIn(f"> {alerts['retry_rate']}\n", rules)
        self.assertIn(f"> {alerts['timeout_rate']}\n", rules)
        self.assertEqual(rules.count(f">= {alerts['min_tasks']}\n"), 2)
        self.assertIn("> 600\n", rules)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
