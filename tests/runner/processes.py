"""Process groups of a test run: what a step or a test program has started ends with it."""

import ctypes
import os
import signal
import subprocess

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def end_with_parent(number: int = signal.SIGTERM) -> None:
    """Linux sends this process the signal when the thread that started it ends, however that ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, number)


def signal_group(process: subprocess.Popen, number: int) -> None:
    """Sends a signal to a process that leads a group, and to all of the group."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass
