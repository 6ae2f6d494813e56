"""The house rules that can be read off the text of a file. Each rule is a function that takes a
Source and yields (line, what to do instead); its name is the name of the rule."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import code_text

Finding = tuple[int, str]

# Who may include whom: docs/ARCHITECTURE.md draws it. Tests, benchmarks and examples are free.
ARROWS: dict[str, set[str]] = {
    "include": set(),
    "core": {"include"},
    "ports": {"include", "core"},
    "wire": {"include", "core"},
    "io": {"include", "core", "wire", "ports"},
    "config": {"include", "core", "wire", "io"},
    "stores": {"include", "core", "ports", "io"},
    "brokers": {"include", "core", "wire", "ports", "io"},
    "handlers": {"include", "core", "ports", "io"},
    "inputs": {"include", "core", "wire", "ports", "io"},
    "engine": {"include", "core", "ports"},
    "recovery": {"include", "core", "wire", "ports"},
    "triage": {"include", "core", "wire", "ports", "engine"},
    "node": {"include", "core", "wire", "ports", "io", "stores", "handlers", "engine", "triage"},
    "seeing": {"include", "core", "wire", "ports", "engine"},
    "http": {"include", "core", "wire", "ports", "io", "engine", "triage", "node", "seeing"},
    "server": {
        "include", "core", "wire", "ports", "io", "config", "brokers", "handlers", "inputs", "engine",
        "recovery", "triage", "node", "seeing", "http",
    },
    "cli": {
        "include", "core", "wire", "ports", "io", "config", "recovery", "node", "http", "server",
    },
}
ARROWS["app"] = set(ARROWS)  # wiring: the one room that sees everything

MOST_LINES = 600


@dataclass(frozen=True)
class Source:
    path: str  # below the root, with forward slashes
    text: str

    @property
    def room(self) -> str:
        """'include', a room of src/, or '' where the arrows do not reach."""
        parts = self.path.split("/")
        if parts[0] == "include":
            return "include"
        return parts[1] if parts[0] == "src" and len(parts) > 2 else ""

    @property
    def is_cpp(self) -> bool:
        return self.path.endswith((".cpp", ".hpp"))

    @property
    def is_header(self) -> bool:
        return self.path.endswith(".hpp")

    @property
    def is_test(self) -> bool:
        return self.path.endswith("_test.cpp") or self.path.startswith("tests/")

    @cached_property
    def code(self) -> str:
        return code_text.blank(self.text)

    @cached_property
    def includes(self) -> list[tuple[int, str]]:
        return code_text.includes(self.text, self.code)


def _matches(source: Source, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    for match in pattern.finditer(source.code):
        yield code_text.line_of(source.code, match.start()), match.group().strip()


def _room_of_include(source: Source, target: str) -> str:
    """The room that an include leads to, or '' for what is not ours."""
    name = target[1:-1]
    if name.startswith("holdfast/"):
        return "include"
    if target[0] == "<":
        return ""
    if name.startswith("."):
        name = os.path.normpath(os.path.join(os.path.dirname(source.path), name))
        return Source(name, "").room
    first = name.split("/")[0]
    return first if "/" in name and first in ARROWS else ""


def arrows(source: Source) -> Iterator[Finding]:
    if source.room in ("", "include") or source.is_test:  # public_headers is stricter on include
        return
    if source.room not in ARROWS:
        yield 1, f"room '{source.room}' has no row in ARROWS of tests/tidy/rules.py; add one"
        return
    for line, target in source.includes:
        room = _room_of_include(source, target)
        if room and room != source.room and room not in ARROWS[source.room]:
            yield line, f"{source.room} must not know {room}: turn the dependency round, or move code"


_STANDARD = re.compile(r"<[a-z_]+>")


def public_headers(source: Source) -> Iterator[Finding]:
    """A user who includes us needs nothing but a compiler, and Asio where the name says so."""
    if source.room != "include":
        return
    for line, target in source.includes:
        if _STANDARD.fullmatch(target) or target.startswith("<holdfast/"):
            continue
        if target.startswith("<boost/asio") and source.path.endswith("_asio.hpp"):
            continue
        yield line, f"public headers include <holdfast/…> and the standard library, not {target}"


_IMPURE = re.compile(r"<(thread|future|iostream|fstream|filesystem|boost/.*|sys/.*|unistd\.h)>")


def pure_core(source: Source) -> Iterator[Finding]:
    if source.room != "core" or source.is_test:
        return
    for line, target in source.includes:
        if _IMPURE.fullmatch(target):
            yield line, f"core does no I/O and starts no threads: what needs {target} belongs in io"


_CLOCK = re.compile(
    r"::\s*now\s*\(\s*\)(?!\s*const)"  # not the definition of a member of our own Clock
    r"|\b(?:gettimeofday|clock_gettime|timespec_get)\s*\("
    r"|\bstd\s*::\s*(?:time|clock)\s*\("
    r"|(?<![\w.>])time\s*\(\s*(?:nullptr|NULL|0|&\w+)\s*\)"
)


def clock(source: Source) -> Iterator[Finding]:
    if source.room == "io":
        return
    for line, _ in _matches(source, _CLOCK):
        yield line, "reads a clock: take a holdfast::Clock& and ask its now() or wall_now()"


_SLEEP = re.compile(
    r"\bthis_thread\s*::\s*sleep_(?:for|until)\b"
    r"|\bnamespace\s+std\s*::\s*this_thread\b"
    r"|(?<![\w.>])(?:::\s*)?(?:usleep|nanosleep|clock_nanosleep)\s*\("
    r"|(?<![\w.>:])(?:::\s*)?sleep\s*\(\s*\d"
)


def sleep(source: Source) -> Iterator[Finding]:
    if source.room == "io":
        return
    for line, _ in _matches(source, _SLEEP):
        yield line, "sleeps: take a holdfast::Clock& and call its sleep_until, which can be stopped"


_SHARED_FOLDER = re.compile(r"\bTempDir\s*\(\s*\)")


def shared_folder(source: Source) -> Iterator[Finding]:
    """ctest runs the tests of one program side by side: a name below TempDir() is everybody's."""
    for line, _ in _matches(source, _SHARED_FOLDER):
        yield line, "tests run side by side: take a folder of support/temporary_folder.hpp"


_SHELL = re.compile(r"(?<![\w.>:])(?:std\s*::\s*|::\s*)?(?:system|popen)\s*\(")


def shell(source: Source) -> Iterator[Finding]:
    for line, _ in _matches(source, _SHELL):
        yield line, "starts a shell: start the program itself, with its arguments as a list"


_REGEX = re.compile(r"\bstd\s*::\s*(?:basic_)?[cs]?regex\w*|^[ \t]*#[ \t]*include[ \t]*<regex>", re.M)


def std_regex(source: Source) -> Iterator[Finding]:
    if source.path.startswith("bench/"):  # measured there, beside what we use
        return
    for line, _ in _matches(source, _REGEX):
        yield line, "std::regex backtracks and is slow: use RE2"


_NEW = re.compile(r"(?<!operator)(?<!operator )(?<!<)\bnew\b")
_DELETE = re.compile(r"(?<!operator)(?<!operator )\bdelete\b")
_DELETED = re.compile(r"=\s*$")


def raw_new(source: Source) -> Iterator[Finding]:
    for line, _ in _matches(source, _NEW):
        yield line, "owns by hand: use std::make_unique, std::make_shared or a container"
    for match in _DELETE.finditer(source.code):
        if not _DELETED.search(source.code, max(0, match.start() - 80), match.start()):
            line = code_text.line_of(source.code, match.start())
            yield line, "frees by hand: let the owner's destructor do it"


def length(source: Source) -> Iterator[Finding]:
    lines = source.text.count("\n")
    if lines > MOST_LINES and not source.path.endswith((".md", ".json")):
        yield MOST_LINES + 1, f"{lines} lines; {MOST_LINES} are the most: divide by role"


_LEFTOVER = re.compile(r"\b(?:TODO|FIXME|XXX)\b")


def leftover(source: Source) -> Iterator[Finding]:
    for match in _LEFTOVER.finditer(source.text):
        line = code_text.line_of(source.text, match.start())
        yield line, f"{match.group()} left behind: do it, or open an issue and say so in words"


def whitespace(source: Source) -> Iterator[Finding]:
    for number, line in enumerate(source.text.split("\n"), 1):
        if "\t" in line and os.path.basename(source.path) != "Makefile":
            yield number, "a tab: indent with spaces"
        if line != line.rstrip():
            yield number, "space at the end of the line: remove it"
    if source.text and not source.text.endswith("\n"):
        yield source.text.count("\n") + 1, "no newline at the end of the file: add one"


def pragma_once(source: Source) -> Iterator[Finding]:
    if source.is_header and not re.search(r"^#pragma once$", source.code, re.M):
        yield 1, "a header without #pragma once: add it below the opening comment"


_CASE = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|INSTANTIATE_TEST_SUITE_P|RC_GTEST_PROP\w*)\s*\(")


def has_a_test(source: Source) -> Iterator[Finding]:
    if source.path.endswith("_test.cpp") and not _CASE.search(source.code):
        yield 1, "a test file that tests nothing: write a TEST, or remove the file"


_VAGUE = re.compile(r"(?:^|_)(?:utils?|common|helpers?|managers?|misc)(?:_|$)")


def name(source: Source) -> Iterator[Finding]:
    stem = os.path.basename(source.path).rsplit(".", 1)[0]
    if _VAGUE.search(stem):
        yield 1, "a name that says nothing: name the file after its main type"
    elif not re.fullmatch(r"[a-z0-9_]+", stem):
        yield 1, "file names are snake_case"


FOR_CODE = (
    arrows, public_headers, pure_core, clock, sleep, shared_folder, shell, std_regex, raw_new, pragma_once, has_a_test,
    name,
)  # fmt: skip
FOR_ALL_TEXT = (length, leftover, whitespace)
