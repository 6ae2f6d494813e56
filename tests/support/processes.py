"""Process groups of a test run: what a step or a test program has started ends with it."""

import contextlib
import ctypes
import os
import signal
import subprocess

# Whoever started us may have it ignored; then every process would seem to have ended with exit code 0.
signal.signal(signal.SIGCHLD, signal.SIG_DFL)

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def end_with_parent(number: int = signal.SIGTERM) -> None:
    """Linux sends this process the signal when the thread that started it ends, however that ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, number)


def kill_with_parent() -> None:
    """end_with_parent() for servers of tests, which need no time to clean up."""
    end_with_parent(signal.SIGKILL)


def kill_marked(mark: str) -> list[str]:
    """Kills every process of this user whose environment has a NAME=VALUE that begins so, wherever it stands in the
    tree of processes; returns their names. One that was killed may still be there for a moment."""
    killed: list[str] = []
    seen: set[int] = set()
    while True:  # one may start another meanwhile
        found = [pid for pid in marked(mark) if pid not in seen]
        if not found:
            return killed
        for pid in found:
            seen.add(pid)
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
                    name = file.read().strip()
                os.kill(pid, signal.SIGKILL)
                killed.append(name)


def marked(mark: str) -> list[int]:
    """The pids of such processes."""
    pids = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            with contextlib.suppress(OSError), open(f"/proc/{entry}/environ", "rb") as file:
                if any(item.startswith(mark.encode()) for item in file.read().split(b"\0")):
                    pids.append(int(entry))
    return pids


def signal_group(process: subprocess.Popen, number: int) -> None:
    """Sends a signal to a process that leads a group, and to all of the group."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass
