#!/usr/bin/env python3
"""Checks the house rules (rules.py, unity.py, headers.py) over the whole tree and prints each breach as
`path:line: rule: what to do instead`. Usage: tidy.py [--every-header-alone] [ROOT]"""

import argparse
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import headers
import rules
import unity


@dataclass(frozen=True)
class Allowed:
    path: str  # a pattern, as of fnmatch
    rule: str
    reason: str


# What may break a rule, and why. An entry that nothing needs any more is itself a finding.
ALLOWED = (
    Allowed("tests/tidy/*", "leftover", "spells the words that it looks for"),
)  # fmt: skip

CODE_FOLDERS = ("include", "src", "tests", "bench", "examples", "cmake")
SKIPPED_FOLDERS = {"build", ".git", "node_modules", "__pycache__", "corpus", "data"}
TEXT = (".cpp", ".hpp", ".py", ".cmake", ".md", ".toml", ".json", ".sh", ".ts", ".tsx", ".css")
SCRIPTS = ("scripts", ".ci", "tests")  # where a name without a suffix is a script
NAMED_TEXT = {"Makefile", "CMakeLists.txt", "packages.txt", ".clang-format", ".clang-tidy"}


@dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    rule: str
    advice: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.advice}"


@dataclass
class Summary:
    """What a run looked at, and for how long."""

    files: int = 0
    headers: int = 0
    seconds: dict[str, float] = field(default_factory=dict)  # by part, in the order of the run

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.seconds[part] = time.monotonic() - began

    def __str__(self) -> str:
        parts = ", ".join(f"{part} {seconds:.1f} s" for part, seconds in self.seconds.items())
        return f"{self.files} files, {self.headers} headers ({parts})"


def text_files(root: str) -> Iterator[str]:
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(set(inner) - SKIPPED_FOLDERS)
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), root)
            script = "." not in name and path.split("/")[0] in SCRIPTS
            if name.endswith(TEXT) or name in NAMED_TEXT or script:
                yield path


def read(root: str, path: str) -> rules.Source:
    with open(os.path.join(root, path), encoding="utf-8", errors="replace", newline="") as file:
        return rules.Source(path, file.read())


def check_text(source: rules.Source) -> Iterator[Finding]:
    code = source.is_cpp and source.path.split("/")[0] in CODE_FOLDERS
    for rule in rules.FOR_ALL_TEXT + (rules.FOR_CODE + unity.FOR_CODE if code else ()):
        for line, advice in rule(source):
            yield Finding(source.path, line, rule.__name__, advice)


def check_map(root: str) -> Iterator[Finding]:
    """docs/ARCHITECTURE.md names every room, so the map does not go stale."""
    page = "docs/ARCHITECTURE.md"
    if not os.path.isdir(os.path.join(root, "src")):
        return
    map_text = read(root, page).text if os.path.exists(os.path.join(root, page)) else ""
    for room in sorted(os.listdir(os.path.join(root, "src"))):
        if os.path.isdir(os.path.join(root, "src", room)) and f"src/{room}/" not in map_text:
            yield Finding(page, 1, "map", f"says nothing of src/{room}/: add its row to the table")


_ROOM = re.compile(r"holdfast_room(_tests)?\(\s*([\w/]+)")
_WORD = re.compile(r"\w+")


def check_all_is_used(root: str, sources: list[rules.Source]) -> Iterator[Finding]:
    """Every source of src/ belongs to a target, and every test is run by something."""
    if not os.path.exists(os.path.join(root, "CMakeLists.txt")):
        return
    scripts = ("scripts/test", "scripts/test-long")
    lists = "\n".join(s.text for s in sources if s.path.endswith(("CMakeLists.txt", ".cmake")) or s.path in scripts)
    rooms = {(bool(tests), room) for tests, room in _ROOM.findall(lists)}
    words = set(_WORD.findall(lists))
    for path in sorted(source.path for source in sources):
        name, folder = os.path.basename(path), os.path.dirname(path)
        is_test = name.endswith(("_test.cpp", "_test.py"))
        if path.startswith("src/") and path.endswith(".cpp") and not name == "main.cpp":
            if (is_test, folder.removeprefix("src/")) not in rooms:
                yield Finding(path, 1, "never_built", "no target of CMakeLists.txt has this folder: add it, or move the file")
        elif path.startswith("tests/") and is_test:
            stem = name.rsplit(".", 1)[0]
            if not words & {stem, stem.removesuffix("_test")}:
                yield Finding(path, 1, "never_run", "no CMakeLists.txt names it, nor does scripts/test or scripts/test-long: nobody runs it")


def check_headers(checked: headers.Headers, every_alone: bool, summary: Summary) -> Iterator[Finding]:
    with summary.timed("includes of libraries"):
        for path, line, advice in checked.missing_includes():
            yield Finding(path, line, "library_include", advice)
    with summary.timed("each header alone" if every_alone else "headers"):
        for path, line, advice in checked.each_alone() if every_alone else checked.quick():
            yield Finding(path, line, "alone", advice)


def check(
    root: str,
    allowed: tuple[Allowed, ...] = ALLOWED,
    compile_headers: bool = True,
    every_header_alone: bool = False,
    summary: Summary | None = None,
) -> list[Finding]:
    """All findings of the tree below `root`, in the order of their places."""
    summary = summary or Summary()
    with summary.timed("text"):
        sources = [read(root, path) for path in text_files(root)]
        found = [finding for source in sources for finding in check_text(source)]
        found += check_map(root)
        found += check_all_is_used(root, sources)
    with summary.timed("unity clashes"):
        found += [Finding(path, line, "unity_clash", advice) for path, (line, advice) in unity.unity_clash(sources)]
    own = [s.path for s in sources if s.is_header and s.path.split("/")[0] in CODE_FOLDERS]
    summary.files, summary.headers = len(sources), len(own)
    if compile_headers:
        found += check_headers(headers.Headers(root, own), every_header_alone, summary)
    return sorted(without_allowed(found, allowed))


def without_allowed(found: list[Finding], allowed: tuple[Allowed, ...]) -> list[Finding]:
    """The findings that no entry allows, and one for each entry that allows nothing."""
    kept = []
    used = set()
    for finding in found:
        entries = [a for a in allowed if a.rule == finding.rule and fnmatchcase(finding.path, a.path)]
        used.update(entries)
        if not entries:
            kept.append(finding)
    for entry in set(allowed) - used:
        kept.append(Finding("tests/tidy/tidy.py", 1, "allowed",
                            f"nothing in {entry.path} needs '{entry.rule}' allowed: remove the entry"))  # fmt: skip
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks the rules of tests/tidy over a tree.")
    parser.add_argument("root", nargs="?", default=os.path.join(os.path.dirname(__file__), "../.."))
    parser.add_argument("--every-header-alone", action="store_true",
                        help="compile each header in a run of its own: exact, and takes minutes")  # fmt: skip
    options = parser.parse_args()
    summary = Summary()
    found = check(os.path.abspath(options.root), every_header_alone=options.every_header_alone, summary=summary)
    for finding in found:
        print(finding)
    print(f"tidy: {f'{len(found)} findings' if found else 'no findings'} in {summary}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
