"""Waiting for what another process does."""

import time


def eventually(what, look, seconds=120, otherwise=lambda: ""):
    """What `look` gives, once it gives something. Fails with what `otherwise` gives."""
    end = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what} {otherwise()}".rstrip())
        time.sleep(0.02)
