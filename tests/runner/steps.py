"""Runs the steps of a test run: each with its output in a log, in two lanes that go on beside each other. What a step has
started ends with it."""

import contextlib
import fcntl
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
from processes import end_with_parent, kill_marked, signal_group  # noqa: E402

BUILD, TEST = "build", "test"  # the lanes
_BUILD_NICENESS = 10  # tests wait for time limits, compilers do not: tests go first
_END_WITHIN_S = 20  # after SIGTERM; then SIGKILL
_MARK = "HOLDFAST_TEST_STEP"  # an environment variable that tells the processes of a step from all others
# Variables of whoever starts the run that would change what is built or tested.
_FOREIGN = ("HOLDFAST_", "GTEST_", "TESTBRIDGE_", "CTEST_", "RC_PARAMS", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS",
            "LSAN_OPTIONS", "LLVM_PROFILE_FILE", "NODE_OPTIONS", "NODE_TEST_", "PYTHON", "CFLAGS", "CXXFLAGS", "CPPFLAGS",
            "LDFLAGS", "MAKEFLAGS", "MFLAGS", "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY",
            "ALL_PROXY")  # fmt: skip


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
    limit_s: float | None = None  # after which it hangs
    stage: str = ""
    log: str = ""
    seconds: float = 0.0
    result: Count | None = None
    passed: bool = False
    failed: bool = False
    error: str = ""  # why it could not be carried out


def check(name: str, *command: str, limit_s: float | None = None, **env: str) -> Step:
    """A step that is one test by itself."""
    return Step(name, TEST, list(command), count=one_test, env=env, limit_s=limit_s)


def cores() -> int:
    """How many this process may use: by its affinity, and by the quota of its control group."""
    count = len(os.sched_getaffinity(0))
    with contextlib.suppress(OSError, ValueError):  # no control group, or "max"
        quota, period = pathlib.Path("/sys/fs/cgroup/cpu.max").read_text(encoding="utf-8").split()
        count = min(count, max(1, int(quota) // int(period)))
    return count


def build(preset: str, *targets: str, folder: str = "", options: tuple[str, ...] = ()) -> list[Step]:
    """Configures a preset, in its own folder or in another one, and builds these targets or all of them."""
    which = f" {preset}" if folder else ""  # a stage may build several
    folder = folder or f"build/{preset}"
    chosen = ["--target", *targets] if targets else []
    keep_going = ["--", "-k", "0"]  # all errors at once
    return [
        Step(f"configure{which}", BUILD, ["cmake", "--preset", preset, "-B", folder, *options]),
        Step(f"build{which}", BUILD, ["cmake", "--build", folder, "-j", str(cores()), *chosen, *keep_going]),
    ]


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
        if all(step.passed for step in self.steps if step.lane == BUILD) and any(step.passed for step in self.steps):
            tested = any(step.seconds for step in self.steps if step.lane == TEST)
            return "stopped" if tested else "built, not tested"
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
        self._marks = itertools.count(1)
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
        ran = all(step.passed for stage in self._stages for step in stage.steps)
        return ran and not self.stopped and not self.failure

    def stop(self) -> None:
        """Ends what is running; from any thread, and from a signal handler."""
        self.stopped = True
        for process in list(self._running.values()):
            _end(process)

    def stop_on_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # as nohup does with SIGHUP
                signal.signal(number, lambda *_: self.stop())

    def progress(self) -> str:
        """What is running, for how long, and how far ninja or ctest has come, in one line."""
        told = []
        for step, began in list(self._current.values()):
            far = _how_far(step.log)
            told.append(f"{step.stage} {step.name} {time.monotonic() - began:.0f} s{f' [{far}]' if far else ''}")
        return "   " + ", ".join(told)

    def _run_lane(self, lane: str) -> None:
        try:
            self._run_steps(lane)
        except BaseException:  # the other lane must not wait for this one
            self.stop()
            raise

    def _run_steps(self, lane: str) -> None:
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
        step.stage, step.passed, step.failed, step.error = stage.name, False, False, ""
        step.log = os.path.join(self._logs, f"{stage.name}.{step.name.replace(' ', '_')}.log")
        try:
            code = self._carry_out(step)
            if code is None:
                return False
            if step.count:
                step.result = step.count(step, code)
        except Exception as error:  # a program or a file that is missing, a result that cannot be read
            step.error = f"{type(error).__name__}: {error}"
            if isinstance(error, FileNotFoundError) and error.filename == step.command[0]:
                step.error = f"cannot run {step.command[0]}: no such file. To install what is missing: make deps"
            step.result = Count(failed=1) if step.lane == TEST else None
            code = 1
        with self._changed:
            if self.failure or self.stopped:  # which has ended this step
                step.result = None
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
        mark = f"{os.getcwd()}#{os.getpid()}-{next(self._marks)};"
        with open(step.log, "wb") as log:
            with self._changed:
                if self.failure or self.stopped:
                    return None
                process = subprocess.Popen(step.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                           env=environment() | step.env | {_MARK: mark}, start_new_session=True,
                                           preexec_fn=_prepare_build if step.lane == BUILD else end_with_parent)
                self._running[step.lane] = process
                self._current[step.lane] = (step, began)
            if self.stopped:  # just now
                _end(process)
            code = _wait(process, step)
            left = kill_marked(f"{_MARK}={mark}")
        if left and not self.stopped and not self.failure:  # else we have just ended it
            self._say(f"   {step.stage:<8} {step.name:<26} left these running, which were killed: {', '.join(left)}")
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


def say(text: str) -> None:
    """Prints a line in place of the line of progress. If nobody reads it any more, the run goes on in silence."""
    try:
        print(f"\r\033[K{text}" if sys.stdout.isatty() else text, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def kill_what_was_left() -> list[str]:
    """What an earlier run in this folder, which was killed itself, has left running. The caller holds the lock."""
    return kill_marked(f"{_MARK}={os.getcwd()}#")


def lock_tree() -> int | None:
    """A lock on all that runs tests in this folder, until the process ends; None if another one has it."""
    os.makedirs("build", exist_ok=True)
    lock = os.open("build/test.lock", os.O_CREAT | os.O_RDWR, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def environment() -> dict[str, str]:
    """Ours, without what would change what a step does."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}


def _wait(process: subprocess.Popen[bytes], step: Step) -> int:
    try:
        return process.wait(step.limit_s)
    except subprocess.TimeoutExpired:
        step.error = f"did not end within {step.limit_s:.0f} s"
        _end(process)
        return process.wait() or 1


def _prepare_build() -> None:
    os.nice(_BUILD_NICENESS)
    end_with_parent()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a step and all that it has started: it leads a process group."""
    signal_group(process, signal.SIGTERM)
    insist = threading.Timer(_END_WITHIN_S, signal_group, (process, signal.SIGKILL))
    insist.daemon = True
    insist.start()
