"""What tests of the runner wait for."""

import fcntl
import time
import unittest


def assert_released(test: unittest.TestCase, lock: str) -> None:
    """That no process holds the lock any more: a killed one may need a moment, on a busy machine a long one. (By
    itself it would hold it for 40 s or more.)"""
    with open(lock, encoding="utf-8") as file:
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.02)
    test.fail("a process that was to be ended still runs")


def wait_until(holds) -> None:
    end = time.monotonic() + 60
    while not holds():
        if time.monotonic() > end:
            raise AssertionError("not within 60 s")
        time.sleep(0.01)
