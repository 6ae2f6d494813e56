"""The folder for temporary files of a test run: in memory where possible.

Tests sync small files all the time. On a disk that is busy with a build, one sync can take 15 s: a Redis that syncs
each write is silent for so long, and leases of seconds end. What is tested does not depend on the disk: processes are
killed, which loses nothing that was written, and power cuts are simulated (tests/torture/forgetful_vfs.cpp)."""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile

MEMORY = "/dev/shm"
NEEDED_BYTES = 4 << 30  # a run takes less than 1 GiB
_PREFIX = "holdfast-test-"


class Scratch:
    """An empty folder from here to remove(). In memory, unless there is not enough of it, programs could not be run
    there, or TMPDIR says where temporary files belong; then `path` is None. Folders that were left by runs that
    ended without remove() are removed: one that is in use is locked."""

    def __init__(self, memory: str = MEMORY) -> None:
        self.path: str | None = None
        self._lock = -1
        if "TMPDIR" in os.environ:
            return
        with contextlib.suppress(OSError):
            _remove_what_was_left(memory)
            system = os.statvfs(memory)
            if system.f_bavail * system.f_frsize < NEEDED_BYTES or system.f_flag & os.ST_NOEXEC:
                return
            path = tempfile.mkdtemp(prefix=_PREFIX, dir=memory)
            self._lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.chmod(path, 0o755)  # servers may run as other users
            self.path = path

    def remove(self) -> None:
        if self.path:
            _remove(self.path)
            os.close(self._lock)
            self.path = None


def _remove_what_was_left(memory: str) -> None:
    for name in os.listdir(memory):
        if name.startswith(_PREFIX):
            with contextlib.suppress(OSError):  # of another user, in use by another run, or just removed by one
                _remove_if_left(os.path.join(memory, name))


def _remove_if_left(path: str) -> None:
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        return
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(path)
    finally:
        os.close(folder)


def _remove(path: str) -> None:
    def make_writable(function, name, _) -> None:  # a test may leave a folder that nobody may change
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(name), 0o700)
            if os.path.isdir(name) and not os.path.islink(name):
                os.chmod(name, 0o700)
                shutil.rmtree(name, ignore_errors=True)
            else:
                function(name)

    shutil.rmtree(path, onerror=make_writable)
