"""Runs the steps of a test run: each with its output in a log, in two lanes that go on beside each other."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from processes import end_with_parent, signal_group

BUILD, TEST = "build", "test"  # the lanes
_BUILD_NICENESS = 10  # tests wait for time limits, compilers do not: tests go first
_END_WITHIN_S = 20  # after SIGTERM; then SIGKILL


@dataclass
class Count:
    """What the tests of a step came to."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    slowest: list[tuple[float, str]] = field(default_factory=list)  # seconds, test
    failures: list[str] = field(default_factory=list)  # names of tests

    def add(self, other: "Count") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.slowest += other.slowest
        self.failures += other.failures


def one_test(step: "Step", code: int) -> Count:
    """A command that is one test by itself."""
    return Count(passed=int(code == 0), failed=int(code != 0), slowest=[(step.seconds, step.name)])


@dataclass
class Step:
    name: str
    lane: str
    command: list[str]
    count: Callable[["Step", int], Count] | None = None  # reads what the tests came to, from the step's files
    env: dict[str, str] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)  # files and folders that it writes: those of an earlier run go first
    stage: str = ""
    log: str = ""
    seconds: float = 0.0
    result: Count | None = None
    passed: bool = False
    failed: bool = False
    error: str = ""  # why it could not be carried out


@dataclass
class Stage:
    name: str
    about: str
    steps: list[Step]

    def seconds(self, lane: str) -> float:
        return sum(step.seconds for step in self.steps if step.lane == lane)

    def state(self) -> str:
        if all(step.passed for step in self.steps):
            return "passed"
        if any(step.failed for step in self.steps):
            return "failed"
        return "stopped" if any(step.seconds for step in self.steps) else "not run"

    def tests(self) -> Count:
        total = Count()
        for step in self.steps:
            if step.result:
                total.add(step.result)
        return total


class Lanes:
    """Carries out the steps of stages in order. The build lane runs ahead: while a stage is tested, the next one is
    built. A stage is tested once it is built. The first failure ends both lanes."""

    def __init__(self, stages: Iterable[Stage], logs: str, said: Callable[[str], None]) -> None:
        self._stages = list(stages)
        self._logs = logs
        self._say = said
        self._changed = threading.Condition()
        self._built: set[str] = set()
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._current: dict[str, tuple[Step, float]] = {}  # by lane: the step, and when it began
        self.failure: Step | None = None
        self.stopped = False

    def run(self) -> bool:
        """True if every step passed."""
        os.makedirs(self._logs, exist_ok=True)
        threads = [threading.Thread(target=self._run_lane, args=(lane,)) for lane in (BUILD, TEST)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # Not only "no failure": what was never carried out has not passed.
        return not self.stopped and all(step.passed for stage in self._stages for step in stage.steps)

    def stop(self) -> None:
        """Ends what is running; from any thread, and from a signal handler."""
        self.stopped = True
        for process in list(self._running.values()):
            _end(process)

    def progress(self) -> str:
        """What is running, for how long, and how far ninja or ctest has come, in one line."""
        told = []
        for step, began in list(self._current.values()):
            far = _how_far(step.log)
            told.append(f"{step.stage} {step.name} {time.monotonic() - began:.0f} s{f' [{far}]' if far else ''}")
        return "   " + ", ".join(told)

    def _run_lane(self, lane: str) -> None:
        for stage in self._stages:
            if lane == TEST and not self._wait_for_build(stage):
                return
            for step in stage.steps:
                if step.lane == lane and not self._passes(stage, step):
                    return
            if lane == BUILD:
                with self._changed:
                    self._built.add(stage.name)
                    self._changed.notify_all()

    def _wait_for_build(self, stage: Stage) -> bool:
        with self._changed:
            while not (stage.name in self._built or self.failure or self.stopped):
                self._changed.wait(1)  # stop() cannot notify: a signal handler must not take the lock
            return self.failure is None and not self.stopped

    def _passes(self, stage: Stage, step: Step) -> bool:
        step.stage = stage.name
        step.log = os.path.join(self._logs, f"{stage.name}.{step.name.replace(' ', '_')}.log")
        try:
            code = self._carry_out(step)
            if code is None:
                return False
            if step.count:
                step.result = step.count(step, code)
        except Exception as error:  # a program or a file that is missing, a result that cannot be read
            step.error = f"{type(error).__name__}: {error}"
            step.result = Count(failed=1) if step.lane == TEST else None
            code = 1
        with self._changed:
            if self.failure or self.stopped:  # which has ended this step
                return False
            if code != 0 or (step.result and step.result.failed):
                self.failure = step
                step.failed = True
                for other in self._running.values():
                    _end(other)
                self._changed.notify_all()
                return False
            step.passed = True
        tests = f"{step.result.passed:6} passed" if step.result else ""
        if step.result and step.result.skipped:
            tests += f", {step.result.skipped} skipped"
        self._say(f"   {stage.name:<8} {step.name:<26} {step.seconds:6.0f} s {tests}".rstrip())
        return True

    def _carry_out(self, step: Step) -> int | None:
        """The exit code; None if the run ended before the step began."""
        for path in step.outputs:
            shutil.rmtree(path) if os.path.isdir(path) else pathlib.Path(path).unlink(missing_ok=True)
        began = time.monotonic()
        with open(step.log, "wb") as log:
            with self._changed:
                if self.failure or self.stopped:
                    return None
                process = subprocess.Popen(step.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                           env=os.environ | step.env, start_new_session=True,
                                           preexec_fn=_prepare_build if step.lane == BUILD else end_with_parent)
                self._running[step.lane] = process
                self._current[step.lane] = (step, began)
            if self.stopped:  # just now
                _end(process)
            code = process.wait()
        step.seconds = time.monotonic() - began
        with self._changed:
            del self._running[step.lane], self._current[step.lane]
        return code


_FAR = re.compile(r"^\s*\[?(\d+/\d+)\]? ", re.M)  # "[12/182] Building", " 12/118 Test"


def _how_far(log: str) -> str:
    try:
        with open(log, "rb") as file:
            file.seek(max(0, os.path.getsize(log) - 20_000))
            found = _FAR.findall(file.read().decode(errors="replace"))
    except OSError:
        return ""
    return found[-1] if found else ""


def _prepare_build() -> None:
    os.nice(_BUILD_NICENESS)
    end_with_parent()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a step and all that it has started: it leads a process group."""
    signal_group(process, signal.SIGTERM)
    insist = threading.Timer(_END_WITHIN_S, signal_group, (process, signal.SIGKILL))
    insist.daemon = True
    insist.start()
