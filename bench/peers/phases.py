"""What is measured, on one Redis, for Holdfast and each of its peers alike. Tasks carry 200 bytes and do nothing.

    enqueue     a producer alone submits, in bulk: from its first submit until its last is answered
    process     a worker alone is given a full queue: from its start until the last is done; and the most memory
                that it has held meanwhile
    end_to_end  a worker waits, then a producer submits in bulk: from its first submit until the last is done
    latency     a worker waits, and a producer submits one by one at a steady rate: from each submit until it
                is done; the first tenth warms up and does not count
    failing     as end_to_end, with a handler that fails; each is tried three times, with no wait between: until
                the last is where failed tasks are kept
    idle        a worker has waited for a moment: its memory

Producer and worker are a process each, and Redis is the third. `holdfast bench --store` does all of this by
itself. Of a peer there is a program with two roles, submit and work; roles.mjs says how one talks to it. A
handler's work is done for a peer when its worker says so: with BullMQ and bee-queue, when Redis has confirmed it;
with Sidekiq, when the handler has returned."""

import ctypes
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = ("enqueue", "process", "end_to_end", "latency", "failing", "idle")
_LIBC = ctypes.CDLL(None)


@dataclass
class Sizes:
    """How much of it. Each part ends after `seconds`, with what it has done until then."""

    waiting: int = 100_000  # tasks of enqueue: enough that what Redis needs once does not count
    tasks: int = 40_000  # of process and end_to_end
    failing: int = 4_000
    steady: float = 5.0  # seconds of latency
    rate: int = 1_000
    batch: int = 1_000
    payload: int = 200
    seconds: int = 90
    rest: float = 1.0  # seconds that an idle worker waits before it is looked at


@dataclass
class Peer:
    name: str
    command: list[str]
    concurrencies: tuple[int, ...]


def peers():
    node = ["node"]
    return [
        Peer("bullmq", [*node, os.path.join(HERE, "bullmq.mjs")], (1, 10, 50, 200)),
        Peer("bee-queue", [*node, os.path.join(HERE, "bee_queue.mjs")], (1, 10, 50, 200)),
        Peer("sidekiq", ["/usr/bin/ruby", os.path.join(HERE, "sidekiq.rb")], (5, 10, 25, 50)),
    ]


class Failed(Exception):
    """A program that did not do what it was asked, and what it had to say."""


class TooSlow(Exception):
    """Not one task was done before the time was over."""


def _die_with_parent():
    _LIBC.prctl(1, signal.SIGKILL)


class Role:
    """One process of a peer. Ends with its block, and when it takes longer than `seconds`."""

    def __init__(self, command, seconds):
        self.command = command
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, preexec_fn=_die_with_parent)  # fmt: skip
        self.limit = threading.Timer(seconds, self.process.kill)
        self.limit.daemon = True
        self.limit.start()

    def hear(self):
        line = self.process.stdout.readline()
        if line:
            return line.rstrip("\n")
        self.process.wait()
        self.errors.seek(0)
        raise Failed(f"{' '.join(self.command)}\n{self.errors.read().decode(errors='replace')[-2000:]}")

    def hear_word(self, word):
        heard = self.hear()
        if heard != word:
            raise Failed(f"{' '.join(self.command)}: said {heard!r} instead of {word}")

    def begin(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def memory_mb(self, what):
        """VmRSS: what it holds now. VmHWM: the most that it has held. Megabytes of 10^6 bytes, as ours are."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 / 1e6 for line in file if line.startswith(what))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()  # it has said what it had to say, and its Redis is emptied
        self.process.wait()
        self.limit.cancel()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()


class PeerRun:
    """Parts of one peer, on a Redis that nobody else uses meanwhile."""

    def __init__(self, peer, redis, sizes):
        self.peer = peer
        self.redis = redis
        self.sizes = sizes

    def measure(self, part, concurrency):
        """Figures by their keys."""
        self.redis.ask("FLUSHALL")
        return getattr(self, "_" + part)(concurrency)

    def _role(self, role, tasks, *options):
        words = [role, "--url", self.redis.url, "--tasks", str(tasks), "--batch", str(self.sizes.batch),
                 "--payload", str(self.sizes.payload), "--seconds", str(self.sizes.seconds), *options]  # fmt: skip
        # Its own limit comes first; this one is for a program that hangs.
        return Role([*self.peer.command, *words], self.sizes.seconds + 60)

    def _submit_all(self, tasks):
        with self._role("submit", tasks) as producer:
            producer.hear_word("ready")
            producer.begin()
            return json.loads(producer.hear())

    def _enqueue(self, _):
        before = self.redis.used_memory()
        took = self._submit_all(self.sizes.waiting)
        bytes_each = (self.redis.used_memory() - before) / self.sizes.waiting
        return {"enqueue_per_s": self.sizes.waiting / (took["ended"] - took["began"]), "task_bytes": bytes_each}

    def _process(self, concurrency):
        self._submit_all(self.sizes.tasks)
        with self._role("work", self.sizes.tasks, "--concurrency", str(concurrency)) as worker:
            worker.hear_word("ready")
            worker.begin()
            worker.hear_word("started")
            took = json.loads(worker.hear())
            return {"process_per_s": rate(took, took["began"]), "peak_mb": worker.memory_mb("VmHWM")}

    def _both(self, concurrency, tasks, *options):
        """What a worker that was there first says, and the producer."""
        with (self._role("work", tasks, "--concurrency", str(concurrency), *options) as worker,
              self._role("submit", tasks, *options) as producer):  # fmt: skip
            worker.hear_word("ready")
            producer.hear_word("ready")
            worker.begin()
            worker.hear_word("started")
            time.sleep(0.2)  # until it waits
            producer.begin()
            submitted = json.loads(producer.hear())
            return json.loads(worker.hear()), submitted

    def _end_to_end(self, concurrency):
        worked, submitted = self._both(concurrency, self.sizes.tasks)
        return {"end_to_end_per_s": rate(worked, submitted["began"])}

    def _failing(self, concurrency):
        worked, submitted = self._both(concurrency, self.sizes.failing, "--attempts", "3", "--fails")
        return {"failing_per_s": rate(worked, submitted["began"])}

    def _latency(self, concurrency):
        count = max(1, round(self.sizes.rate * self.sizes.steady))
        warm_up = count // 10
        worked, _ = self._both(concurrency, count + warm_up, "--rate", str(self.sizes.rate),
                               "--warm-up", str(warm_up))  # fmt: skip
        times = sorted(worked["times_ms"])
        if not times:
            raise TooSlow(self.peer.name)
        at = lambda part: times[int(part * (len(times) - 1))]  # noqa: E731
        return {"p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": times[-1]}

    def _idle(self, concurrency):
        with self._role("work", 1, "--concurrency", str(concurrency)) as worker:
            worker.hear_word("ready")
            worker.begin()
            worker.hear_word("started")
            time.sleep(self.sizes.rest)
            return {"idle_mb": worker.memory_mb("VmRSS")}


def rate(worked, began):
    """Tasks a second, of those that were done before the time was over."""
    if worked["done"] == 0:
        raise TooSlow("not one task was done in time")
    return worked["done"] / (worked["ended"] - began)
