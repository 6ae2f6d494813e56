"""Compiles every header alone: whoever includes it must need no other include before it."""

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

CLANG = "clang++-19"
GCC = "g++-12"  # users have it, so the public headers must please it too

FLAGS = ["-std=c++23", "-fsyntax-only", "-Iinclude", "-Isrc", "-Itests", "-Wall", "-Wextra"]

_ERROR = re.compile(
    r"^(?P<path>[^:\n]+):(?P<line>\d+):\d+: (?:fatal error|error|warning): (?P<what>.*)$", re.M
)
_OWN_INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<(holdfast/[^>]+)>)', re.M)


def _with_all_it_includes(root: str, path: str, seen: dict[str, bytes]) -> dict[str, bytes]:
    """The text of a header and of all of ours that it reaches, by path."""
    if path in seen or not os.path.isfile(os.path.join(root, path)):
        return seen
    with open(os.path.join(root, path), "rb") as file:
        seen[path] = file.read()
    for quoted, angled in _OWN_INCLUDE.findall(seen[path].decode(errors="replace")):
        for folder in ("include", "src", "tests", os.path.dirname(path)):
            _with_all_it_includes(root, os.path.normpath(f"{folder}/{quoted or angled}"), seen)
    return seen


def _stamp(root: str, compiler: str, header: str) -> str:
    """A file whose existence says: this very text has passed before."""
    digest = hashlib.sha256(" ".join([compiler, *FLAGS, header]).encode())
    for path, text in sorted(_with_all_it_includes(root, header, {}).items()):
        digest.update(path.encode() + b"\0" + text)
    return os.path.join(root, "build", "tidy", digest.hexdigest())


def _compile(root: str, compiler: str, header: str) -> tuple[str, int, str] | None:
    stamp = _stamp(root, compiler, header)
    if os.path.exists(stamp):
        return None
    run = subprocess.run(
        [compiler, *FLAGS, "-x", "c++", "-include", header, "/dev/null"],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode == 0 and not run.stderr:
        os.makedirs(os.path.dirname(stamp), exist_ok=True)
        open(stamp, "w").close()
        return None
    error = _ERROR.search(run.stderr)
    if not error:
        return header, 1, f"{compiler}: {run.stderr.strip().splitlines()[0]}"
    where = os.path.relpath(os.path.join(root, error["path"]), root)
    at = int(error["line"]) if where == header else 1
    place = "" if where == header else f" (in {where}:{error['line']})"
    return header, at, f"does not compile alone with {compiler}: {error['what']}{place}"


def self_contained(root: str, headers: Iterable[str]) -> Iterator[tuple[str, int, str]]:
    """(path, line, what to do) of each header that does not stand alone."""
    jobs = []
    for header in headers:
        jobs.append((root, CLANG, header))
        if header.startswith("include/"):
            jobs.append((root, GCC, header))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for finding in pool.map(lambda job: _compile(*job), jobs):
            if finding:
                yield finding
