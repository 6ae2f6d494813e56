"""A small tree for tests of scripts/, with stand-ins for the tools that they call."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Stands in for every tool. It notes how it was called, waits while a file named in WAIT exists, fails if its call
# contains FAIL, and does what the test wrote to its name + ".does".
STAND_IN = """#!/usr/bin/python3 -IS
import os, sys, time
call = " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
with open(os.environ["CALLS"], "a") as calls:
    calls.write(call + "\\n")
if os.environ.get("WAIT") and os.environ["WAIT"] in call:
    time.sleep(60)
failed = bool(os.environ.get("FAIL")) and os.environ["FAIL"] in call
if os.path.exists(sys.argv[0] + ".does"):
    exec(open(sys.argv[0] + ".does").read())
sys.exit(1 if failed else 0)
"""


class Tree(unittest.TestCase):
    """A copy of scripts/ and of the runner, in which everything else is a stand-in."""

    COPIED: tuple[str, ...] = ()
    TOOLS: tuple[str, ...] = ()

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="scripts test ")  # a space, as a user's folder may have
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        for path in self.COPIED:
            os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)
            copy = shutil.copytree if os.path.isdir(os.path.join(ROOT, path)) else shutil.copy
            copy(os.path.join(ROOT, path), self.at(path))
        for path in self.TOOLS:
            self.stand_in(path)
        self.calls_file = self.at("calls")

    def at(self, path: str) -> str:
        return os.path.join(self.root, path)

    def write(self, path: str, text: str) -> None:
        os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)
        with open(self.at(path), "w", encoding="utf-8") as file:
            file.write(text)

    def stand_in(self, path: str, does: str = "") -> None:
        self.write(path, STAND_IN)
        os.chmod(self.at(path), 0o755)
        if does:
            self.write(f"{path}.does", does)

    def environment(self, **env: str) -> dict[str, str]:
        path = f"{self.at('bin')}:/usr/bin:/bin"
        return {"PATH": path, "CALLS": self.calls_file, "HOME": self.root, "LC_ALL": "C.UTF-8", **env}

    def run_script(self, name: str, *arguments: str, **env: str) -> tuple[int, str]:
        """The exit code, and what was printed."""
        done = subprocess.run([self.at(f"scripts/{name}"), *arguments], env=self.environment(**env), cwd=self.root,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, timeout=60)  # fmt: skip
        return done.returncode, done.stdout

    def calls(self) -> list[str]:
        if not os.path.exists(self.calls_file):
            return []
        with open(self.calls_file, encoding="utf-8") as file:
            return file.read().splitlines()

    def wait_for_call(self, begins: str) -> None:
        end = time.monotonic() + 60
        while not any(call.startswith(begins) for call in self.calls()):
            self.assertLess(time.monotonic(), end, f"no call of {begins}")
            time.sleep(0.02)
