#!/usr/bin/env python3
"""How long the calls behind the pages of the dashboard take, with a million tasks and 300,000 dead letters in
10,000 groups in an embedded store, which this makes and removes. Exits with 1 if 95 of 100 calls take longer than
their bound. CPU is what the server has spent on one call, on average: it says more where others work beside it.

Usage: bench/pages.py build/release/holdfast build/release/bench/page_store [--tasks 1000000] [--groups 10000]
           [--calls 200] [--bound 50] [--only WORD] [--store FILE] [--json FILE]

With --store, a file that is there is measured as it is, and one that is not is made and kept."""

import argparse
import http.client
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# Nothing is run, and nothing goes while this measures.
CONFIG = """
[http]
listen = "127.0.0.1:0"
[store]
url = "sqlite:{store}"
keep_succeeded = "30d"
keep_canceled = "30d"
"""


class Server:
    """`holdfast serve` on that file, and one connection to it."""

    def __init__(self, holdfast, folder, store):
        config = os.path.join(folder, "holdfast.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(store=store))
        self.process = subprocess.Popen([holdfast, "serve", "--config", config], cwd=folder, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip
        for line in self.process.stderr:
            if '"server.ready"' in line:
                self.port = int(re.search(r"://[^\"]*:(\d+)", line)[1])
                break
        else:
            sys.exit("the server did not start")
        self.connection = self.connect()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def get(self, path):
        """The answer's bytes."""
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            sys.exit(f"{path}: {answer.status} {content.decode()}")
        return content

    def json(self, path):
        return json.loads(self.get(path))

    def memory_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) / 1024

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.connection.close()
        self.process.terminate()
        self.process.wait()
        self.process.stderr.close()


class World:
    """What is in the store, for calls that name some of it."""

    def __init__(self, server):
        self.queues = [queue["name"] for queue in server.json("/v1/queues")["queues"]]
        self.groups = [group["id"] for group in server.json("/v1/dead/groups?limit=1000")["groups"]]
        self.tasks = [task["id"] for state in ("dead", "succeeded", "pending", "running")
                      for task in server.json(f"/v1/tasks?state={state}&limit=100")["tasks"]]  # fmt: skip


@dataclass
class Call:
    """One call of a page. `paths` says what to ask for next, and is told what came of the last one."""

    name: str
    paths: Callable[[World], Iterator[str]]
    opens_stream: bool = False  # measured until its first bytes


def always(path):
    return lambda world: itertools.repeat(path)


def of_each(path, what):
    """The path for one after the other of what the world has: "/v1/tasks/{}"."""
    return lambda world: (path.format(urllib.parse.quote(one)) for one in itertools.cycle(getattr(world, what)))


def pages(path):
    """Page after page, from the first one on when there are no more."""

    def walk(_):
        joined = "&" if "?" in path else "?"
        answer = yield path
        while True:
            cursor = json.loads(answer).get("next")
            answer = yield f"{path}{joined}cursor={urllib.parse.quote(cursor)}" if cursor else path

    return walk


# Every GET behind a page. A new one is one line here.
CALLS = [
    Call("stats", always("/v1/stats")),
    Call("series, an hour", always("/v1/series?span=1h")),
    Call("series, a day", always("/v1/series?span=24h")),
    Call("queues", always("/v1/queues")),
    Call("workers", always("/v1/workers")),
    Call("session", always("/v1/session")),
    Call("tasks: latest", pages("/v1/tasks?limit=50")),
    Call("tasks: pending", pages("/v1/tasks?state=pending&limit=50")),
    Call("tasks: pending of a queue", of_each("/v1/tasks?state=pending&queue={}&limit=50", "queues")),
    Call("tasks: succeeded", pages("/v1/tasks?state=succeeded&limit=50")),
    Call("tasks: running", pages("/v1/tasks?state=running&limit=50")),
    Call("tasks: of a queue", of_each("/v1/tasks?queue={}&limit=50", "queues")),
    Call("tasks: of a type", pages("/v1/tasks?type=type-07.3&limit=50")),
    Call("tasks: of a rare type", pages("/v1/tasks?type=rare&limit=50")),
    Call("tasks: dead, of a rare type", pages("/v1/tasks?state=dead&type=rare&limit=50")),
    Call("tasks: of no type there is", pages("/v1/tasks?type=nothing&limit=50")),
    Call("a task", of_each("/v1/tasks/{}", "tasks")),
    Call("dead: latest", pages("/v1/dead?limit=50")),
    Call("dead: of a queue", of_each("/v1/dead?queue={}&limit=50", "queues")),
    Call("dead: of a group", of_each("/v1/dead?group={}&limit=50", "groups")),
    Call("groups: 100 of them", pages("/v1/dead/groups?limit=100")),
    Call("one group", of_each("/v1/dead/groups/{}", "groups")),
    Call("a query: of a group", of_each("/v1/dead?q=group:{}&limit=50", "groups")),
    Call("a query: by the error", pages("/v1/dead?q=error:refused&limit=50")),
    Call("a query: that nothing matches", pages("/v1/dead?q=payload.none:1&limit=50")),
    Call("count: of a state", always("/v1/tasks/count?q=state:dead")),
    Call("count: of a group", of_each("/v1/tasks/count?q=group:{}", "groups")),
    Call("count: what must be looked at", pages("/v1/tasks/count?q=state:dead+attempts>100")),
    Call("operations", always("/v1/operations?limit=50")),
    Call("audit", always("/v1/audit?limit=50")),
    Call("events: until connected", always("/v1/events"), opens_stream=True),
]


def measured(server, world, call, count):
    """Milliseconds of each call, and the bytes of the longest answer."""
    paths = call.paths(world)
    took, longest = [], 0
    answer = None
    for number in range(count):
        path = paths.send(answer) if number and hasattr(paths, "send") else next(paths)
        began = time.perf_counter()
        answer = opened(server, path) if call.opens_stream else server.get(path)
        took.append((time.perf_counter() - began) * 1000)
        longest = max(longest, len(answer))
    return sorted(took), longest


def opened(server, path):
    connection = server.connect()
    connection.request("GET", path)
    first = connection.getresponse().read1(1000)
    connection.close()
    return first


def share(took, part):
    return took[min(len(took) - 1, int(len(took) * part))]


def measure(server, options):
    world = World(server)
    chosen = [call for call in CALLS if options.only in call.name]
    rows = []
    print(f"{'milliseconds':<30} {'median':>8} {'95 of 100':>10} {'slowest':>8} {'CPU':>7} {'bytes':>9}")
    for call in chosen:
        before = server.cpu_seconds()
        took, longest = measured(server, world, call, options.calls)
        cpu = (server.cpu_seconds() - before) * 1000 / options.calls
        row = {"call": call.name, "p50": share(took, 0.5), "p95": share(took, 0.95), "max": took[-1], "cpu": cpu,
               "bytes": longest}  # fmt: skip
        rows.append(row | {"good": row["p95"] <= options.bound})
        print(f"{call.name:<30} {row['p50']:8.2f} {row['p95']:10.2f} {row['max']:8.2f} {cpu:7.2f} {longest:9,}"
              f"   {'ok' if rows[-1]['good'] else f'MISSED: {options.bound:g}'}", flush=True)  # fmt: skip
    print(f"memory of the server, at most: {server.memory_mb():.0f} MB")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("holdfast")
    parser.add_argument("page_store")
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--bound", type=float, default=50)
    parser.add_argument("--only", default="")
    parser.add_argument("--store")
    parser.add_argument("--json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-pages-", dir="/var/tmp") as folder:
        store = os.path.abspath(options.store) if options.store else os.path.join(folder, "pages.db")
        if not os.path.exists(store):
            began = time.monotonic()
            subprocess.run([options.page_store, store, str(options.tasks), str(options.groups)], check=True)
            size = os.path.getsize(store) / (1 << 20)
            print(f"{options.tasks:,} tasks were made in {time.monotonic() - began:.0f} s: {size:,.0f} MB")
        server = Server(os.path.abspath(options.holdfast), folder, store)
        try:
            rows = measure(server, options)
        finally:
            server.end()
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return 0 if all(row["good"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
