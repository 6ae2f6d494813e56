#!/usr/bin/env python3
"""Measures Holdfast beside BullMQ, bee-queue and Sidekiq on one Redis, which this starts and ends: once with its
file synced every second, once with every write. phases.py says what is measured.

They take turns, part by part, each on a Redis of its own that is new: a machine that slows down slows them all
down. First the concurrency is found with which each of them does best, then come the rounds; the table has the
medians. Our ratio is compared within each round.

Usage: bench/peers/run.py build/release/holdfast [--rounds 3] [--tasks N] [--fsync everysec always]
                          [--folder DIR] [--json FILE] [--check] [--quick]"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests/support"))

import table  # noqa: E402
from phases import PARTS, Failed, PeerRun, Sizes, TooSlow, peers  # noqa: E402
from redis_server import RedisServer  # noqa: E402

# Of each part that depends on it, the figure that says which concurrency is best.
TUNED_BY = {"process": "process_per_s", "end_to_end": "end_to_end_per_s", "failing": "failing_per_s",
            "latency": "p99_ms"}  # fmt: skip
QUICK = Sizes(waiting=200, tasks=200, failing=20, steady=0.2, batch=50, rest=0.1)


class HoldfastRun:
    """`holdfast bench --store` in the place of a peer."""

    # As it calls the parts.
    NAMES = {"enqueue": "enqueue", "process": "process", "end_to_end": "throughput", "latency": "latency",
             "failing": "failures", "idle": "memory"}  # fmt: skip

    def __init__(self, program, redis, sizes):
        self.program = program
        self.redis = redis
        self.sizes = sizes

    def measure(self, part, concurrency):
        sizes = self.sizes
        tasks = sizes.waiting if part == "enqueue" else sizes.tasks
        command = [self.program, "bench", self.NAMES[part], "--store", self.redis.url, "--json",
                   "--tasks", tasks, "--failing", sizes.failing, "--batch", sizes.batch,
                   "--payload", sizes.payload, "--rate", sizes.rate, "--seconds", sizes.steady,
                   "--concurrency", concurrency, "--folder", self.redis.folder]  # fmt: skip
        ran = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=sizes.seconds + 120, check=False)  # fmt: skip
        if ran.returncode != 0:
            raise Failed(f"{' '.join(ran.args)}\n{ran.stderr}")
        return {key: figure["value"] for key, figure in json.loads(ran.stdout)["figures"].items()}


class Systems:
    """The four of them, each with the concurrencies to try, on servers with this setting."""

    def __init__(self, program, fsync, folder):
        self.fsync = fsync
        self.folder = folder
        self.runs = {table.OURS: lambda redis, sizes: HoldfastRun(program, redis, sizes)}
        self.concurrencies = {table.OURS: (50, 200, 1000)}
        for peer in peers():
            self.runs[peer.name] = lambda redis, sizes, peer=peer: PeerRun(peer, redis, sizes)
            self.concurrencies[peer.name] = peer.concurrencies

    def measure(self, name, part, concurrency, sizes):
        with tempfile.TemporaryDirectory(prefix="redis-", dir=self.folder) as folder:
            with RedisServer(self.fsync, folder=folder) as redis:
                return self.runs[name](redis, sizes).measure(part, concurrency)

    def tuned(self, sizes, say):
        """The best concurrency of each, by part: found with fewer tasks."""
        few = Sizes(**{**vars(sizes), "tasks": sizes.tasks // 4, "failing": sizes.failing // 4,
                       "steady": sizes.steady / 2})  # fmt: skip
        found = {}
        for name, concurrencies in self.concurrencies.items():
            found[name] = {}
            for part, key in TUNED_BY.items():
                say(f"{self.fsync}: tuning {name}, {part}")
                sign = -1 if key.endswith("_ms") else 1
                found[name][part] = max(
                    concurrencies,
                    key=lambda each: sign * self.measured(name, part, each, few).get(key, sign * -1e9),  # noqa: B023
                )
        return found

    def measured(self, name, part, concurrency, sizes):
        """Nothing of one that was too slow to tell."""
        try:
            return self.measure(name, part, concurrency, sizes)
        except TooSlow:
            return {}

    def untuned(self):
        return {name: {part: 10 for part in TUNED_BY} for name in self.concurrencies}

    def round(self, concurrency, sizes, say):
        """Figures by their keys, by system."""
        found = {name: {} for name in self.runs}
        for part in PARTS:
            for name in self.runs:
                say(f"{self.fsync}: {part}, {name}")
                # Memory is that of the worker that is fastest.
                at = concurrency[name].get(part, concurrency[name]["process"])
                found[name].update(self.measured(name, part, at, sizes))
        return found


def versions(program):
    def first_line(*command):
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split("\n")[0]

    with open(os.path.join(ROOT, "package.json"), encoding="utf-8") as file:
        packages = json.load(file)["devDependencies"]
    return {
        "holdfast": first_line(program, "--version"),
        "redis": first_line("redis-server", "--version"),
        "node": first_line("node", "--version"),
        "ruby": first_line("/usr/bin/ruby", "--version"),
        "sidekiq": first_line("dpkg-query", "-W", "-f", "${Version}", "ruby-sidekiq"),
        **{name: packages[name] for name in ("bullmq", "bee-queue", "ioredis")},
    }


def say_to_terminal(text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(description="Holdfast beside its peers on one Redis")
    parser.add_argument("program", help="the release build of holdfast")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=Sizes.tasks)
    parser.add_argument("--failing", type=int, default=Sizes.failing)
    parser.add_argument("--fsync", nargs="+", choices=("everysec", "always"), default=["everysec", "always"])
    parser.add_argument("--folder", help="for the files of Redis: on the disk to measure (default: build)")
    parser.add_argument("--json", help="write everything that was measured here")
    parser.add_argument("--check", action="store_true", help="end with 1 if a target is missed")
    parser.add_argument("--quick", action="store_true", help="only see that all of it works; no figure says much")
    return parser.parse_args()


def main():
    asked = arguments()
    folder = asked.folder or os.path.join(ROOT, "build")
    os.makedirs(folder, exist_ok=True)
    sizes = QUICK if asked.quick else Sizes(tasks=asked.tasks, failing=asked.failing)
    program = os.path.abspath(asked.program)
    report = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "sizes": vars(sizes),
              "versions": versions(program), "fsync": {}}  # fmt: skip
    missed = False
    for fsync in asked.fsync:
        systems = Systems(program, fsync, folder)
        concurrency = systems.untuned() if asked.quick else systems.tuned(sizes, say_to_terminal)
        rounds = [systems.round(concurrency, sizes, lambda text, n=n: say_to_terminal(f"round {n + 1}, {text}"))
                  for n in range(1 if asked.quick else asked.rounds)]  # fmt: skip
        say_to_terminal("")
        report["fsync"][fsync] = {"concurrency": concurrency, "rounds": rounds}
        print(f"AOF {fsync}, {len(rounds)} rounds")
        print("\n".join(table.lines(rounds)), end="\n\n", flush=True)
        missed = missed or bool(table.missed(rounds))
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    return 1 if missed and asked.check else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"bench/peers: {failed}")
