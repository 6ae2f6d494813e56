"""Compares what a victim said outside of the system (its ledgers) with what its store holds, and says
each difference for people. Knows nothing of how the victim was treated."""

import glob
import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field

THREADS = 4  # of the victim that call handlers, so that many attempts can be begun at once
ATTEMPTS = 3
CRASHES_OF_A_KILLER = 3
ENDS = {
    "ok": "succeeded", "slow": "succeeded", "flaky": "succeeded", "bad": "dead", "hopeless": "failed",
    "killer": "dead",
}  # fmt: skip
TERMINAL = {"succeeded", "failed", "dead", "canceled"}


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
    events: dict[int, tuple[str, int]]  # by token: what happened, and when (wall time in us)


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
                token, what, ended_us = event.split(":")
                events[int(token)] = (what, int(ended_us))
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
    ended: set[tuple[str, int]] = field(default_factory=set)  # id and token
    good_ends: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    seen: dict[str, str] = field(default_factory=dict)  # id: state
    late_successes: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, folder: str) -> "Ledgers":
        all_of_them = cls()
        lives = defaultdict(list)
        for path in sorted(glob.glob(os.path.join(folder, "ledger.*"))):
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")[:-1]  # what follows the last newline is half a line
            life = int(os.path.basename(path).split(".")[1])
            for line in lines:
                at, what, *words = line.split(" ")
                all_of_them.add(int(at), what, words)
                lives[life].append((int(at), what, words))
        for life in lives.values():
            all_of_them.look_for_late_successes(life)
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
            self.ended.add((words[0], int(words[1])))
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

    def accepted_ids(self) -> set[str]:
        return {id_ for ids in self.accepted.values() for id_ in ids}


@dataclass
class Judgement:
    lost: list[str] = field(default_factory=list)
    invented: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def all(self) -> list[str]:
        return [*self.lost, *self.invented, *self.wrong]


def judge(ledgers: Ledgers, store: Inspection, deaths: int, drained: bool) -> Judgement:
    """`deaths`: how often the victim ended without saying goodbye. `drained`: nothing is left to do."""
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
        if drained:
            _judge_end(task, verdict)
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
        what, _ = task.events.get(token, ("running" if task.state == "running" else "nothing", 0))
        # A run that had ended when its process died costs nothing; one that had not is a crash (N7).
        excused = what == "hand_back" and (task.id, token) in ledgers.ended
        handed_back += excused
        if what in ("nothing", "hand_back") and not excused:
            verdict.wrong.append(f"{task.id} was run with token {token}, of which is kept: {what}")
    for token, (what, _) in task.events.items():
        if what == "success" and token not in ledgers.good_ends.get(task.id, []):
            verdict.invented.append(f"{task.id} succeeded with token {token}, which never ended well")
    if task.attempts > ATTEMPTS:
        verdict.wrong.append(f"{task.id} has spent {task.attempts} attempts")
    last = task.state in ("succeeded", "running")
    settled = task.attempts + task.crashes + handed_back + last
    if len(begins) > settled:
        verdict.wrong.append(f"{task.id} was begun {len(begins)} times, and counts {settled}")


def _judge_end(task: Task, verdict: Judgement) -> None:
    if task.state != ENDS[task.type]:
        verdict.wrong.append(f"{task.id}, which is {task.type}, ended as {task.state} ({task.reason})")
    elif task.state == "succeeded" and task.result != f"result of {task.label}":
        verdict.wrong.append(f"{task.id} has the result {task.result!r}")
    elif task.type == "bad" and (task.reason, task.attempts) != ("out of attempts", ATTEMPTS):
        verdict.wrong.append(f"{task.id} died of {task.reason} after {task.attempts} attempts")
    elif task.type == "killer" and (task.reason, task.crashes) != ("crashes", CRASHES_OF_A_KILLER):
        verdict.wrong.append(f"{task.id} died of {task.reason} after {task.crashes} crashes")
