#!/usr/bin/env python3
"""Writes cmake/worker.order anew: the functions that a worker on Redis calls, as the linker is to place them, one
beside the other (docs/decisions/0019). Needs valgrind, redis-server and a release.

Usage: order.py [HOLDFAST]

The linker passes over a name that is no more, and a function that the list does not name stands where it would
without: an old list costs memory, and nothing else. Write it anew when `holdfast bench process` shows that it does."""

import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests/support"))
from redis_server import RedisServer  # noqa: E402

HOLDFAST = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "../build/release/holdfast"))
ORDER = os.path.join(HERE, "../cmake/worker.order")
CONFIG = '[task.fine]\ncommand = ["true"]\n[task.bad]\ncommand = ["false"]\nretry = { attempts = 2, first = "1ms" }\n'
WORK_S = 20  # valgrind makes it some fifty times as slow


def called_in(folder, redis):
    """Runs a worker at its commands, and one of the benchmark; both write what they called to `folder`."""
    watch = ["valgrind", "--tool=callgrind", "--demangle=no", "--trace-children=no", f"--callgrind-out-file={folder}/%p"]
    config = os.path.join(folder, "worker.toml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(CONFIG)
    for name in ["fine"] * 20 + ["bad"] * 5:
        subprocess.run([HOLDFAST, "submit", name, "--store", redis.url], check=True, stdout=subprocess.DEVNULL)
    worker = subprocess.Popen([*watch, HOLDFAST, "worker", "--config", config, "--store", redis.url])
    time.sleep(WORK_S)
    worker.send_signal(signal.SIGTERM)
    worker.wait()
    bench = ["bench", "process", "--store", redis.url, "--tasks", "2000", "--concurrency", "200"]
    subprocess.run([*watch, HOLDFAST, *bench], check=True)


def names_in(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        # A function that calls itself is "name'2" as well.
        return {found.split("'")[0] for found in re.findall(r"^c?fn=\(\d+\) (\S+)", file.read(), re.M)}


def own_functions():
    listed = subprocess.run(["nm", "--defined-only", HOLDFAST], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"^[0-9a-f]+ [tTwW] (\S+)$", listed, re.M))


def main():
    with tempfile.TemporaryDirectory() as folder, RedisServer() as redis:
        called_in(folder, redis)
        runs = [names_in(path) for path in glob.glob(os.path.join(folder, "[0-9]*"))]
    own = own_functions() & set().union(*runs)
    # What every process calls comes first, then what only some of them do.
    order = sorted(own, key=lambda name: (-sum(name in run for run in runs), name))
    with open(ORDER, "w", encoding="utf-8") as file:
        file.writelines(name + "\n" for name in order)
    print(f"{len(order)} functions, called in {len(runs)} processes")


if __name__ == "__main__":
    main()
