"""One table of what bench/peers has measured: a row for each figure, a column for each system."""

from dataclasses import dataclass
from statistics import median

OURS = "holdfast"
PEERS = ("bullmq", "bee-queue", "sidekiq")
SYSTEMS = (OURS, *PEERS)


@dataclass
class Row:
    key: str
    what: str
    more_is_better: bool = True
    target: float | None = None  # our figure over that of the best of `beside`; without these: our figure
    beside: tuple[str, ...] = PEERS

    def target_text(self):
        if self.target is None:
            return ""
        sign = "≥" if self.more_is_better else "≤"
        if not self.beside:
            return f"{sign} {self.target:g}"
        of = "" if self.beside == PEERS else " " + self.beside[0]
        return f"{sign} {self.target:.2f}{of}"


ROWS = (
    Row("enqueue_per_s", "enqueue, tasks/s"),
    Row("process_per_s", "process a full queue, tasks/s"),
    Row("end_to_end_per_s", "end to end, tasks/s", target=1.5),
    Row("failing_per_s", "fail 3 times until dead, tasks/s", target=3),
    Row("p50_ms", "at 1,000/s: median, ms", more_is_better=False),
    Row("p99_ms", "at 1,000/s: 99 of 100, ms", more_is_better=False, target=1, beside=("bullmq",)),
    Row("max_ms", "at 1,000/s: the slowest, ms", more_is_better=False),
    Row("idle_mb", "memory of an idle worker, MB", more_is_better=False),
    Row("peak_mb", "… of one at work, at most, MB", more_is_better=False, target=1 / 3),
    Row("task_bytes", "Redis memory of a task, bytes", more_is_better=False, target=700, beside=()),
)


def best(row, values):
    return max(values) if row.more_is_better else min(values)


def ratio(row, rounds):
    """Ours over the best of the others: the median over the rounds, each compared within itself, since a machine
    slows down and speeds up meanwhile. Nothing where one of them has no figure."""
    beside = row.beside or PEERS
    each = []
    for one in rounds:
        values = [one[name][row.key] for name in beside if row.key in one.get(name, {})]
        if values and row.key in one.get(OURS, {}):
            each.append(one[OURS][row.key] / best(row, values))
    return median(each) if each else None


def value(row, rounds, name):
    values = [one[name][row.key] for one in rounds if row.key in one.get(name, {})]
    return median(values) if values else None


def is_met(row, rounds):
    """Nothing: there is no target, or nothing to compare."""
    measured = ratio(row, rounds) if row.beside else value(row, rounds, OURS)
    if row.target is None or measured is None:
        return None
    # As it is printed: what reads like the target has reached it.
    measured = round(measured, 2)
    return measured >= row.target if row.more_is_better else measured <= round(row.target, 2)


def number(measured):
    if measured is None:
        return "-"
    return f"{measured:,.2f}" if measured < 100 else f"{measured:,.0f}"


def lines(rounds):
    """`rounds`: for each, figures by their keys, by system."""
    head = " ".join(f"{name:>9}" for name in SYSTEMS)
    yield f"{'':32} {head} {'ratio':>6} {'target':>13}"
    for row in ROWS:
        values = " ".join(f"{number(value(row, rounds, name)):>9}" for name in SYSTEMS)
        compared = ratio(row, rounds)
        text = "-" if compared is None else f"{compared:.2f}"
        met = {None: "", True: "met", False: "MISSED"}[is_met(row, rounds)]
        yield f"{row.what:32} {values} {text:>6} {row.target_text():>13} {met}".rstrip()


def missed(rounds):
    return [row.what for row in ROWS if is_met(row, rounds) is False]
