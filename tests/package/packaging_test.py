#!/usr/bin/env python3
"""The unit of systemd and the configuration that the Debian package ships, without a package: what they say
holds for the program as it is built here. Usage: packaging_test.py HOLDFAST"""

import configparser
import os
import re
import subprocess
import sys
import tempfile
import unittest

HOLDFAST = os.path.abspath(sys.argv[1])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
UNIT = os.path.join(ROOT, "packaging/systemd/holdfast.service")
CONFIG = os.path.join(ROOT, "packaging/holdfast.toml")
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def seconds(text):
    return sum(float(number) * UNITS[unit] for number, unit in re.findall(r"([\d.]+)(ms|[smh])", text))


def check(config):
    """What --check says of a configuration."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(config)
        file.flush()
        return subprocess.run([HOLDFAST, "serve", "--config", file.name, "--check"], text=True, check=False,
                              capture_output=True)  # fmt: skip


def analyze(*arguments):
    """systemd-analyze over the unit; its program need not be installed here."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "holdfast.service")
        with open(path, "w", encoding="utf-8") as file:
            file.write(read(UNIT).replace("/usr/bin/holdfast", HOLDFAST))
        return subprocess.run(["systemd-analyze", "--no-pager", *arguments, path], text=True, check=False,
                              capture_output=True)  # fmt: skip


class Packaging(unittest.TestCase):
    def setUp(self):
        self.unit = configparser.RawConfigParser(strict=False, delimiters="=", interpolation=None)
        self.unit.optionxform = str
        self.unit.read(UNIT)

    def test_the_shipped_configuration_is_good(self):
        done = check(read(CONFIG))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"sqlite:/var/lib/holdfast/tasks.db"', done.stdout)

    def test_its_examples_are_good_too(self):
        text = re.sub(r"^#(\[|\w+ *= )", r"\1", read(CONFIG), flags=re.M)
        done = check(text.replace("/usr/local/bin/make-report", "/bin/true"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("report.make", "order.paid", "video.encode"):
            self.assertIn(f'[task."{name}"]', done.stdout)

    def test_systemd_finds_nothing_wrong_with_the_unit(self):
        done = analyze("verify", "--man=no")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_its_exposure_is_what_the_page_says(self):
        done = analyze("security", "--offline=true")
        level = re.search(r"exposure level for holdfast.service: ([\d.]+)", done.stdout)
        self.assertIsNotNone(level, done.stdout + done.stderr)
        said = re.search(r"exposure level .*: ([\d.]+) OK", read(os.path.join(ROOT, "docs/packaging.md")))
        self.assertEqual(level[1], said[1])

    def test_T3_it_waits_longer_than_a_shutdown_may_take(self):
        held = check(read(CONFIG)).stdout
        grace = re.search(r'^grace += "(.*)"', held, re.M)[1]
        stop_grace = re.search(r'^stop_grace += "(.*)"', held, re.M)[1]
        self.assertGreater(seconds(self.unit["Service"]["TimeoutStopSec"]), seconds(grace) + seconds(stop_grace) + 10)
        self.assertEqual(self.unit["Service"]["KillMode"], "mixed")  # or its commands would get the SIGTERM

    def test_it_has_files_for_all_connections(self):
        held = check(read(CONFIG)).stdout
        connections = int(re.search(r"^max_connections += (\d+)", held, re.M)[1])
        wanted = connections + 4096  # webhooks: no engine has more tasks at hand
        self.assertGreater(int(self.unit["Service"]["LimitNOFILE"]), 2 * wanted)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
