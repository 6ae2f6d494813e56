"""Compares what a victim said outside of the system (its ledgers) with what its store holds, and says
each difference for people. Of how the victims were treated it knows only the Fates of those that share a
store: an embedded one has one process, and a witness that says what of its claims had begun; with a shared
one every claim counts as begun, and may only be taken from a process that is dead, or whose lease ended."""

import glob
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

THREADS = 4  # of the victim that call handlers, so that many attempts can be begun at once
ATTEMPTS = 3
CRASHES_OF_A_KILLER = 3
ENDS = {
    "ok": "succeeded", "slow": "succeeded", "flaky": "succeeded", "bad": "dead", "hopeless": "failed",
    "killer": "dead",
}  # fmt: skip
TERMINAL = {"succeeded", "failed", "dead", "canceled"}
GONE_AFTER_US = 2_000_000  # as src/stores/redis/open.hpp has it
SEEN_DEAD_WITHIN_US = 1_000_000  # of its death, by whoever started it


class Event(NamedTuple):
    """How an attempt ended, by the store's clock in us."""

    what: str
    ended_us: int
    started_us: int = 0  # when it was claimed
    owner: str = ""  # host:process:uuid

    @property
    def process(self) -> int:
        return int(self.owner.split(":")[-2])


@dataclass(frozen=True)
class Task:
    """One line of torture_inspect."""

    id: str
    label: str
    type: str
    state: str
    reason: str
    attempts: int
    crashes: int
    result: str
    events: dict[int, Event]  # by token


@dataclass
class Inspection:
    tasks: dict[str, Task] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)

    @classmethod
    def parse(cls, text: str) -> "Inspection":
        found = cls()
        for line in text.splitlines():
            kind, *fields = line.split("\t")
            if kind == "audit":
                found.findings.append(fields[0])
                continue
            events = {}
            for event in fields[8].split():
                token, what, ended_us, started_us, owner = event.split(":", 4)
                events[int(token)] = Event(what, int(ended_us), int(started_us), owner)
            task = Task(*fields[:5], int(fields[5]), int(fields[6]), fields[7], events)
            found.tasks[task.id] = task
        return found


@dataclass
class Ledgers:
    """All ledgers of a folder, of all lives."""

    submits: Counter[str] = field(default_factory=Counter)  # by label
    types: dict[str, str] = field(default_factory=dict)
    keyed: set[str] = field(default_factory=set)
    accepted: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # label: ids
    unanswered: set[str] = field(default_factory=set)  # labels
    begins: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))  # id: tokens
    begun_at: dict[tuple[str, int], int] = field(default_factory=dict)  # steady ns
    ended_at: dict[tuple[str, int], int] = field(default_factory=dict)
    good_ends: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    seen: dict[str, str] = field(default_factory=dict)  # id: state
    late_successes: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, folder: str, life: str = "*") -> "Ledgers":
        all_of_them = cls()
        lives = defaultdict(list)
        for path in sorted(glob.glob(os.path.join(folder, f"ledger.{life}.*"))):
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")[:-1]  # what follows the last newline is half a line
            number = int(os.path.basename(path).split(".")[1])
            for line in lines:
                at, what, *words = line.split(" ")
                all_of_them.add(int(at), what, words)
                lives[number].append((int(at), what, words))
        for said in lives.values():
            all_of_them.look_for_late_successes(said)
        return all_of_them

    def add(self, at: int, what: str, words: list[str]) -> None:
        if what == "submit":
            label, type_, key = words
            self.submits[label] += 1
            self.types[label] = type_
            if key == "key":
                self.keyed.add(label)
            self.unanswered.add(label)
        elif what == "accepted":
            self.accepted[words[0]].append(words[1])
            self.unanswered.discard(words[0])
        elif what == "begin":
            self.begins[words[0]].append(int(words[1]))
            self.begun_at[words[0], int(words[1])] = at
        elif what == "end":
            self.ended_at[words[0], int(words[1])] = at
            if words[2] == "good":
                self.good_ends[words[0]].append(int(words[1]))
        elif what == "seen":
            self.seen[words[0]] = words[1]

    def look_for_late_successes(self, lines: list[tuple[int, str, list[str]]]) -> None:
        """Once a process was told that its store is corrupt, nothing it asks later may succeed."""
        told = [at for at, what, words in lines if what == "refused" and words[1] == "corrupt"]
        if not told:
            return
        asked = {words[0]: at for at, what, words in lines if what == "submit"}
        for _, what, words in lines:
            if what == "accepted" and asked[words[0]] > min(told):
                self.late_successes.append(words[0])

    def duplicates(self) -> int:
        """Work that was done, and then done again."""
        return sum(len(tokens) - 1 for tokens in self.good_ends.values())

    def side_by_side(self) -> int:
        """Attempts that began while another of the same task was under way, which went on."""
        return sum(1 for id_ in self.begins for earlier, _ in _side_by_side(id_, self)
                   if (id_, earlier) in self.ended_at)  # fmt: skip

    def accepted_ids(self) -> set[str]:
        return {id_ for ids in self.accepted.values() for id_ in ids}


@dataclass
class Fates:
    """What became of processes that shared a store, as whoever struck them saw it: wall time in us."""

    lease_us: int
    steady_to_wall_ns: int  # added to the times of ledgers
    died: dict[int, int] = field(default_factory=dict)  # process: when it was known to be dead
    outages: list[tuple[int, int]] = field(default_factory=list)  # of the server, or of one of them
    cut_off: list[tuple[int, int, int]] = field(default_factory=list)  # process, from, until

    def may_take(self, event: Event, had_begun: bool) -> bool:
        """Whether the claim may have been taken from who had it, when that was done."""
        died = self.died.get(event.process)
        if died is not None and died - SEEN_DEAD_WITHIN_US <= event.ended_us:
            return True
        # N8: one that nobody hears of for a while is gone, as far as the others can know.
        for process, start, end in self.cut_off:
            if process == event.process and start + GONE_AFTER_US <= event.ended_us <= end + GONE_AFTER_US:
                return True
        if event.ended_us - event.started_us < self.lease_us:
            return False
        # One that nobody was told of, since the answer was lost for good, is renewed by nobody.
        return not had_begun or any(
            start < event.ended_us and end > event.ended_us - 2 * self.lease_us for start, end in self.outages
        )


@dataclass
class Judgement:
    lost: list[str] = field(default_factory=list)
    invented: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def all(self) -> list[str]:
        return [*self.lost, *self.invented, *self.wrong]


def judge(ledgers: Ledgers, store: Inspection, deaths: int, drained: bool,
          fates: Fates | None = None) -> Judgement:  # fmt: skip
    """`deaths`: how often a victim ended without saying goodbye. `drained`: nothing is left to do. `fates`:
    of those that share the store."""
    verdict = Judgement()
    verdict.wrong += [f"audit: {finding}" for finding in store.findings]
    verdict.wrong += [f"{label} was accepted after the store was told to be corrupt"
                      for label in ledgers.late_successes]  # fmt: skip
    _judge_submissions(ledgers, store, verdict)
    for id_, state in ledgers.seen.items():
        if id_ in store.tasks and store.tasks[id_].state != state:
            verdict.lost.append(f"{id_} was seen {state} and is {store.tasks[id_].state} now")
    for id_, tokens in ledgers.begins.items():
        if id_ not in store.tasks:
            verdict.lost.append(f"{id_} was run, and is gone")
        if len(set(tokens)) != len(tokens):
            verdict.wrong.append(f"{id_} was run twice with one token: {tokens}")
    for task in store.tasks.values():
        _judge_task(task, ledgers, verdict)
        if fates:
            _judge_claims(task, ledgers, fates, verdict)
        if drained:
            _judge_end(task, verdict)
    if fates:
        return verdict
    crashes = sum(task.crashes for task in store.tasks.values())
    if crashes > deaths * THREADS:  # N7: only what had begun
        verdict.wrong.append(f"{crashes} crashes were counted for {deaths} deaths of {THREADS} threads")
    return verdict


def _judge_submissions(ledgers: Ledgers, store: Inspection, verdict: Judgement) -> None:
    for label, ids in ledgers.accepted.items():
        for id_ in ids:
            if id_ not in store.tasks:
                verdict.lost.append(f"{label} was accepted as {id_}, and is gone")
        if label in ledgers.keyed and len(set(ids)) > 1:
            verdict.wrong.append(f"{label} has one key, and became {len(set(ids))} tasks")
    of_label = Counter(task.label for task in store.tasks.values())
    for label, count in of_label.items():
        most = 1 if label in ledgers.keyed else ledgers.submits[label]
        if count > most:
            verdict.invented.append(f"{label} was submitted {most} times, and is there {count} times")


def _judge_task(task: Task, ledgers: Ledgers, verdict: Judgement) -> None:
    if ledgers.types.get(task.label) not in (None, task.type):
        verdict.wrong.append(f"{task.id} ({task.label}) has become {task.type}")
    begins = ledgers.begins.get(task.id, [])
    handed_back = 0
    for token in begins:
        event = task.events.get(token)
        what = event.what if event else "running" if task.state == "running" else "nothing"
        # A run that had ended when its process died costs nothing; one that had not is a crash (N7).
        excused = what == "hand_back" and (task.id, token) in ledgers.ended_at
        handed_back += excused
        if what in ("nothing", "hand_back") and not excused:
            verdict.wrong.append(f"{task.id} was run with token {token}, of which is kept: {what}")
    for token, event in task.events.items():
        if event.what == "success" and token not in ledgers.good_ends.get(task.id, []):
            verdict.invented.append(f"{task.id} succeeded with token {token}, which never ended well")
    if task.attempts > ATTEMPTS:
        verdict.wrong.append(f"{task.id} has spent {task.attempts} attempts")
    last = task.state in ("succeeded", "running")
    settled = task.attempts + task.crashes + handed_back + last
    if len(begins) > settled:
        verdict.wrong.append(f"{task.id} was begun {len(begins)} times, and counts {settled}")


def _judge_claims(task: Task, ledgers: Ledgers, fates: Fates, verdict: Judgement) -> None:
    """No claim is taken from one who lives and can renew it, and no attempt begins beside another one."""
    for token, event in task.events.items():
        had_begun = (task.id, token) in ledgers.begun_at
        if event.what == "crash" and not fates.may_take(event, had_begun):
            held_ms = (event.ended_us - event.started_us) / 1000
            verdict.wrong.append(f"{task.id}, token {token}, was taken from process {event.process}, which "
                                 f"lived, after {held_ms:.0f} ms")  # fmt: skip
    for earlier, later in _side_by_side(task.id, ledgers):
        event = task.events.get(earlier)
        began_us = (ledgers.begun_at[task.id, later] + fates.steady_to_wall_ns) // 1000
        if not event or event.what != "crash":
            verdict.wrong.append(f"{task.id} was begun with token {later} while {earlier} was under way, which "
                                 f"ended by {event.what if event else 'nothing'}")  # fmt: skip
        elif event.ended_us > began_us + 1000:  # of one machine's clock, read twice
            verdict.wrong.append(f"{task.id} was begun with token {later} before {earlier} was taken away")


def _side_by_side(id_: str, ledgers: Ledgers) -> Iterator[tuple[int, int]]:
    """Tokens of attempts that began while the one before had not ended, as handlers say it."""
    tokens = sorted(set(ledgers.begins.get(id_, [])))
    for earlier, later in zip(tokens, tokens[1:]):
        if ledgers.ended_at.get((id_, earlier), 1 << 63) > ledgers.begun_at[id_, later]:
            yield earlier, later


def _judge_end(task: Task, verdict: Judgement) -> None:
    if task.state != ENDS[task.type]:
        verdict.wrong.append(f"{task.id}, which is {task.type}, ended as {task.state} ({task.reason})")
    elif task.state == "succeeded" and task.result != f"result of {task.label}":
        verdict.wrong.append(f"{task.id} has the result {task.result!r}")
    elif task.type == "bad" and (task.reason, task.attempts) != ("out of attempts", ATTEMPTS):
        verdict.wrong.append(f"{task.id} died of {task.reason} after {task.attempts} attempts")
    elif task.type == "killer" and (task.reason, task.crashes) != ("crashes", CRASHES_OF_A_KILLER):
        verdict.wrong.append(f"{task.id} died of {task.reason} after {task.crashes} crashes")
