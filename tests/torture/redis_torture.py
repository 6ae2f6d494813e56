#!/usr/bin/env python3
"""Several workers and producers on one store on Redis, while the server, the network and they themselves are
struck; then everything is brought to its end, and compared with what they were told (judge.py). Prints a
table; exits with 1 if anything was lost, invented or wrong. docs/torture.md says more.

Usage: redis_torture.py PROGRAMS [--rounds N] [--seconds S] [--seed S] [--lease S] [--planted server|store]
       redis_torture.py PROGRAMS --many TASKS     four workers, two of which are killed on the way, and no other
                                                  strike
PROGRAMS is the folder with torture_victim, torture_victim_hasty and torture_inspect."""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from judge import Fates, Inspection, Ledgers, judge  # noqa: E402
from processes import kill_with_parent  # noqa: E402
from redis_server import RedisServer  # noqa: E402
from tcp_proxy import Proxy  # noqa: E402
from torture import Figures, environment, table  # noqa: E402

VICTIMS = 3  # at once: each is a worker, and so a rescuer, with three producers
DRAINERS = 2
ROUNDS_IN_A_CHAPTER = 25  # then everything is drained, and the next begins on an empty server
DRAIN_SECONDS = 300.0
LEASES = (4, 30)  # of chapters in turn: some outages are longer than the first, none than the second
CUT_OFF_SECONDS = 18.0  # those who have just come cannot tell for 6 s; then it is seen twice, 2 s apart
BACK_SECONDS = 20.0  # after the lease, on a machine that has other work to do
MANY_WORKERS = 4
# N8: well before their leases end. Who has come only now cannot tell for 9 s, then looks twice.
MANY_BACK_SECONDS = 25.0
MANY_SECONDS = 900.0
SUCCEEDED = 3


class Cuts:
    """A proxy that cuts all connections, or one within a call or an answer."""

    def __init__(self, port: int) -> None:
        self.proxy = Proxy(port, frames=False)
        self.proxy.split = self._pieces
        self.proxy.rule = self._is_over
        self._side, self._left = "", 0

    def cut_after(self, side: str, size: int) -> None:
        self._left, self._side = size, side

    def _pieces(self, data: bytearray) -> tuple[list[tuple[bytes, int]], bytearray]:
        step = 16 if self._side else len(data)
        return [(bytes(data[at:at + step]), step) for at in range(0, len(data), step)], bytearray()

    def _is_over(self, side: str, size: int) -> bool:
        if side != self._side:
            return False
        self._left -= size
        if self._left < 0:
            self._side = ""
            return True
        return False


@dataclass
class Life:
    number: int
    mode: str
    process: subprocess.Popen[bytes]
    cuts: Cuts  # each has a way of its own to the server


class Chapter:
    """One server, from its first task to its last."""

    def __init__(self, programs: str, folder: str, seed: int, lease: int, figures: Figures,
                 planted: str = "") -> None:  # fmt: skip
        self.programs, self.folder, self.seed, self.lease, self.figures = programs, folder, seed, lease, figures
        self.victim = "torture_victim_hasty" if planted == "store" else "torture_victim"
        self.redis = RedisServer(None if planted == "server" else "always").start()
        self.chance = random.Random(seed)
        self.fates = Fates(lease * 1_000_000, time.time_ns() - time.monotonic_ns())
        self.living: list[Life] = []
        self.life = 0
        self.cuts_anything = True
        self.unattended: list[tuple[int, int]] = []  # while nobody was there who could rescue, us
        self.drained = False
        self.store = Inspection()

    def close(self) -> None:
        self._kill_all()
        self.redis.stop()

    # What happens to them ------------------------------------------------------------------------

    def a_worker_is_killed(self) -> None:
        self._one_of_them().process.kill()

    def a_worker_stands_still(self) -> None:
        process = self._one_of_them().process
        with self._outage():
            process.send_signal(signal.SIGSTOP)
            self._pause(self.chance.uniform(1, 2.5 + self.lease if self.lease < 10 else 6))
            process.send_signal(signal.SIGCONT)

    def the_server_is_killed(self) -> None:
        with self._outage():
            self.redis.kill()
            self._pause(self.chance.choice([0, 0, 1]) * self.chance.uniform(0, 2))
            self.redis.start()

    def the_server_is_killed_while_it_rewrites_its_file(self) -> None:
        self.redis.ask("BGREWRITEAOF")
        self._pause(self.chance.uniform(0, 0.1))
        self.the_server_is_killed()

    def the_server_stands_still(self) -> None:
        with self._outage():
            self.redis.process.send_signal(signal.SIGSTOP)
            self._pause(self.chance.uniform(0.5, 2) if self.chance.random() < 0.5 else self.chance.uniform(3.5, 6))
            self.redis.process.send_signal(signal.SIGCONT)

    def all_connections_are_cut(self) -> None:
        for life in self.living:
            life.cuts.proxy.cut_all()

    def a_worker_is_cut_off(self) -> bool:
        """For so long that the others notice, who must have been there for a while themselves. Says whether it
        had something that they took."""
        life = self._one_stopped_with_claims()
        began = time.time_ns() // 1000
        life.cuts.proxy.refuse()
        life.cuts.proxy.cut_all()
        life.process.send_signal(signal.SIGCONT)
        self._pause(CUT_OFF_SECONDS, again="produce")
        life.cuts.proxy.refuse(False)
        self.fates.cut_off.append((life.process.pid, began, time.time_ns() // 1000))
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as log:
            return any("task.rescued" in line and f":{life.process.pid}:" in line for line in log)

    def cut_within_a_call(self) -> None:
        self._cut_within("client")

    def cut_within_an_answer(self) -> None:
        self._cut_within("server")

    def _cut_within(self, side: str) -> None:
        for _ in range(5):
            self._one_of_them().cuts.cut_after(side, self.chance.randrange(3000))
            self._pause(self.chance.uniform(0.02, 0.2))

    def the_server_hangs_up(self) -> None:
        self.redis.ask("CLIENT", "KILL", "TYPE", self.chance.choice(["normal", "pubsub"]))

    def scripts_are_forgotten(self) -> None:
        self.redis.ask("SCRIPT", "FLUSH")

    def all_workers_are_killed(self) -> None:
        self._kill_all()
        self.look(drained=False)

    STRIKES = (a_worker_is_killed, cut_within_a_call, the_server_is_killed, cut_within_an_answer,
               the_server_stands_still, all_connections_are_cut, the_server_hangs_up, a_worker_is_killed,
               scripts_are_forgotten, a_worker_stands_still,
               the_server_is_killed_while_it_rewrites_its_file, all_workers_are_killed,
               a_worker_is_cut_off)  # fmt: skip

    PLANTED = (a_worker_is_killed, the_server_is_killed, all_workers_are_killed)

    def strike(self, number: int, kinds: tuple[Callable[["Chapter"], bool | None], ...]) -> None:
        self._pause(self.chance.uniform(0.2, 1.5), again="produce")
        what = kinds[number % len(kinds)]
        self._strike(what.__name__.replace("_", " "), what)

    def _strike(self, name: str, what: Callable[["Chapter"], bool | None]) -> None:
        has_hit = what(self) is not False
        tried, hit = self.figures.by_strike.get(name, (0, 0))
        self.figures.by_strike[name] = (tried + 1, hit + has_hit)

    # How it ends ---------------------------------------------------------------------------------

    def drain(self) -> None:
        """Until everything has come to its end; tasks that kill are killed by quarantine."""
        self._kill_all()
        self._work_until_drained(DRAINERS, DRAIN_SECONDS, deaths_at=[])
        self._reckon(self.lease + BACK_SECONDS)

    def many(self, tasks: int) -> None:
        """Workers alone, straight on the server; two die, and others take their places."""
        self.cuts_anything = False
        self._begin("fill", tasks)
        self._pause(MANY_SECONDS, until_all_end=True)
        began = time.monotonic()
        self._work_until_drained(MANY_WORKERS, MANY_SECONDS, deaths_at=[tasks // 4, tasks // 2])
        print(f"{'worked':<26} {time.monotonic() - began:.1f} s")
        self._reckon(MANY_BACK_SECONDS)
        if self.figures.accepted != tasks:
            self._tell(f"{self.figures.accepted} of {tasks} tasks were accepted")

    def _work_until_drained(self, workers: int, seconds: float, deaths_at: list[int]) -> None:
        """One of them dies whenever so many tasks have succeeded."""
        until = time.monotonic() + seconds
        while not self.drained and time.monotonic() < until:
            while len(self.living) < workers:
                self._begin("drain")
            self._pause(0.05)
            if deaths_at and int(self.redis.ask("HGET", "{torture}c1", SUCCEEDED) or 0) >= deaths_at[0]:
                deaths_at.pop(0)
                self._strike("a worker is killed", Chapter.a_worker_is_killed)
        if deaths_at:
            self._tell(f"{len(deaths_at)} workers were to be killed, and were not")
        if not self.drained:
            self._tell("not everything came to its end")
        self._pause(until - time.monotonic(), until_all_end=True)

    def _reckon(self, back_seconds: float) -> None:
        ledgers = self.look(self.drained)
        self.figures.accepted += len(ledgers.accepted_ids())
        self.figures.tasks += len(self.store.tasks)
        self.figures.runs += len(ledgers.begun_at)
        self.figures.duplicates += ledgers.duplicates()
        self.figures.side_by_side += ledgers.side_by_side()
        self._measure(back_seconds)

    def look(self, drained: bool) -> Ledgers:
        """With nobody at work."""
        began = time.time_ns() // 1000
        try:
            return self._look(drained)
        finally:
            self.unattended.append((began, time.time_ns() // 1000))

    def _look(self, drained: bool) -> Ledgers:
        ledgers = Ledgers.read(self.folder)
        inspect = subprocess.run([os.path.join(self.programs, "torture_inspect"),
                                  f"{self.redis.url}/?space=torture"],
                                 capture_output=True, text=True, env=environment())  # fmt: skip
        if inspect.returncode != 0:
            self._tell(f"the store cannot be read: {inspect.stderr.strip()}")
            return ledgers
        self.store = Inspection.parse(inspect.stdout)
        verdict = judge(ledgers, self.store, len(self.fates.died), drained, self.fates)
        self.figures.lost += len(verdict.lost)
        self.figures.invented += len(verdict.invented)
        self.figures.wrong += len(verdict.wrong)
        for breach in verdict.all():
            self._tell(breach)
        return ledgers

    def _measure(self, back_seconds: float) -> None:
        """N8: how long after the death of a process the last of what it had is back."""
        back: dict[int, float] = {}
        for task in self.store.tasks.values():
            for event in task.events.values():
                if event.what == "crash" and event.process in self.fates.died:
                    self.figures.orphans += 1
                    died = self.fates.died[event.process]
                    alone = sum(max(0, min(end, event.ended_us) - max(start, died)) for start, end in self.unattended)
                    waited = (event.ended_us - died - alone) / 1000
                    back[event.process] = max(back.get(event.process, 0), waited)
        self.figures.back_ms += back.values()
        for process, waited in back.items():
            if waited > back_seconds * 1000:
                self._tell(f"what process {process} had was back only after {waited:.0f} ms")

    # Processes -----------------------------------------------------------------------------------

    def _begin(self, mode: str, many: int = 0) -> None:
        self.life += 1
        self.figures.lives += 1
        cuts = Cuts(self.redis.port)
        port = cuts.proxy.port if self.cuts_anything else self.redis.port
        url = f"redis://127.0.0.1:{port}/?space=torture"
        with open(os.path.join(self.folder, "log"), "ab") as log:
            process = subprocess.Popen(
                [os.path.join(self.programs, self.victim), url, self.folder, str(self.life),
                 str(self.seed * 1000 + self.life), mode, str(many or self.lease)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment(),
                preexec_fn=kill_with_parent)  # fmt: skip
        self.living.append(Life(self.life, mode, process, cuts))

    def _one_of_them(self) -> Life:
        return self.chance.choice(self.living)

    def _one_stopped_with_claims(self) -> Life:
        """Most have none at most times."""
        until = time.monotonic() + 10
        while True:
            life = self._one_of_them()
            life.process.send_signal(signal.SIGSTOP)
            time.sleep(0.02)  # what it has sent is carried out
            if self._claims_of(life) > 0 or time.monotonic() > until:
                return life
            life.process.send_signal(signal.SIGCONT)
            self._pause(0.02, again="produce")

    def _claims_of(self, life: Life) -> int:
        running = self.redis.ask("HGETALL", "{torture}l")
        for owner, many in zip(running[::2], running[1::2]):
            if f":{life.process.pid}:" in (self.redis.ask("HGET", "{torture}O", owner) or ""):
                return int(many)
        return 0

    def _kill_all(self) -> None:
        for life in self.living:
            life.process.kill()
        for life in self.living:
            life.process.wait()
        self._reap()

    def _reap(self) -> None:
        """Notes who has died, and how."""
        for life in list(self.living):
            code = life.process.poll()
            if code is None:
                continue
            self.living.remove(life)
            life.cuts.proxy.close()
            self.drained = self.drained or (life.mode, code) == ("drain", 0)
            self.fates.died[life.process.pid] = time.time_ns() // 1000
            self.figures.deaths += code != 0
            self._write_again(str(life.number))
            # One cannot start without the server, nor say goodbye to it.
            if code not in (0, 1, -signal.SIGKILL):
                self._tell(f"a life ({life.mode}) ended with code {code}: {self._last_words()}")

    def _pause(self, seconds: float, again: str = "", until_all_end: bool = False) -> None:
        until = time.monotonic() + seconds
        while True:
            self._reap()
            while again and len(self.living) < VICTIMS:
                self._begin(again)
            if time.monotonic() >= until or (until_all_end and not self.living):
                return
            time.sleep(min(0.02, seconds))

    def _write_again(self, life: str) -> None:
        """What a life has asked and was not told, the next hands in again."""
        ledgers = Ledgers.read(self.folder, life)
        with open(os.path.join(self.folder, "again"), "w", encoding="utf-8") as file:
            for label in sorted(ledgers.unanswered & ledgers.keyed):
                file.write(f"{label} {ledgers.types[label]}\n")

    def _outage(self) -> "Outage":
        return Outage(self.fates)

    def _last_words(self) -> str:
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()[-2000:]

    def _tell(self, breach: str) -> None:
        self.figures.breaches.append(f"seed {self.seed}, lease {self.lease} s, life {self.life}: {breach}")


class Outage:
    def __init__(self, fates: Fates) -> None:
        self.fates = fates
        self.began = 0

    def __enter__(self) -> None:
        self.began = time.time_ns() // 1000

    def __exit__(self, *_: object) -> None:
        self.fates.outages.append((self.began, time.time_ns() // 1000))


def run_many(arguments: argparse.Namespace) -> Figures:
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="holdfast-redis-torture-") as folder:
        chapter = Chapter(arguments.programs, folder, arguments.seed, LEASES[-1], figures)
        try:
            chapter.many(arguments.many)
        finally:
            chapter.close()
    return figures


def run(arguments: argparse.Namespace) -> Figures:
    figures = Figures()
    until = time.monotonic() + arguments.seconds
    number = 0
    while number < arguments.rounds and time.monotonic() < until:
        lease = arguments.lease or LEASES[number // ROUNDS_IN_A_CHAPTER % len(LEASES)]
        with tempfile.TemporaryDirectory(prefix="holdfast-redis-torture-") as folder:
            chapter = Chapter(arguments.programs, folder, arguments.seed + number, lease, figures,
                              arguments.planted)  # fmt: skip
            try:
                for _ in range(min(ROUNDS_IN_A_CHAPTER, arguments.rounds - number)):
                    if time.monotonic() > until or len(figures.breaches) > 50:
                        break
                    chapter.strike(number, Chapter.PLANTED if arguments.planted else Chapter.STRIKES)
                    number += 1
                    if sys.stderr.isatty():
                        print(f"\r{number} strikes", end="", file=sys.stderr)
                    if arguments.planted and figures.lost:
                        return figures
                if not arguments.planted:
                    chapter.drain()
            finally:
                chapter.close()
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description="strike workers and their Redis, and look what is left")
    parser.add_argument("programs")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=3600, help="no new strike begins after these")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lease", type=int, default=0, help="seconds, of every chapter")
    parser.add_argument("--many", type=int, default=0, help="tasks, for four workers and two deaths")
    parser.add_argument("--planted", choices=["server", "store"], default="",
                        help="a bug that must be found: a server without an append-only file, or a store that "
                             "answers before it asks")  # fmt: skip
    arguments = parser.parse_args()
    began = time.monotonic()
    figures = run_many(arguments) if arguments.many else run(arguments)
    print(table(figures, time.monotonic() - began))
    for breach in figures.breaches[:20]:
        print(f"  {breach}")
    if arguments.planted:
        print("the planted bug was found" if figures.lost else "the planted bug was NOT found")
        return 0 if figures.lost else 1
    return 1 if figures.breaches else 0


if __name__ == "__main__":
    sys.exit(main())
