"""Rules that keep the files of a module fit for a unity build, in which several .cpp files are compiled as one:
what one file keeps to itself must not clash with what another one does."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

import code_text
import declarations
from declarations import Declaration
from rules import Finding, Source

# Two of these are legal if both say the same.
_REPEATABLE = {"alias", "using", "namespace_alias"}
_LEAKS = {"using_namespace", "using_enum"}
_UNITY_FOLDERS = ("src/", "tests/conformance/", "tests/simulation/")  # what is compiled into one target by folder


def unity_clash(sources: Iterable[Source]) -> Iterator[tuple[str, Finding]]:
    """(path, finding) of each name that two .cpp files of one folder both define in the same namespace."""
    folders: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        if source.path.startswith(_UNITY_FOLDERS) and source.is_cpp and not source.path.endswith("_test.cpp"):
            folders[os.path.dirname(source.path)].append(source)
    for folder in sorted(folders):
        yield from _clashes_of_folder(sorted(folders[folder], key=lambda source: (not source.is_header, source.path)))


def _clashes_of_folder(files: list[Source]) -> Iterator[tuple[str, Finding]]:
    """Headers come first in `files`: a name that a .cpp hides may equal one that a header offers to the others."""
    seen: dict[tuple[str, str], list[tuple[str, Declaration]]] = defaultdict(list)
    for source in files:
        found = [one for one in declarations.declared(source.code) if one.kind not in _LEAKS]
        if source.is_header:
            found = [one for one in found if one.kind in ("type", "function", "variable", "alias")]
        else:
            found = [one for one in found if one.defines]
        reported = set()
        for one in found:
            key = (one.namespace, one.name)
            other = next((o for o in seen[key] if o[0] != source.path and _clash(one, o[1], o[0])), None)
            if other and not source.is_header and key not in reported:
                reported.add(key)
                yield source.path, (one.line, _advice(one, other))
        for one in found:
            seen[one.namespace, one.name].append((source.path, one))


def _clash(one: Declaration, other: Declaration, place: str) -> bool:
    """Whether one translation unit must not hold both."""
    if place.endswith(".hpp") and (not one.anonymous or one.kind in _REPEATABLE):
        return False  # the .cpp defines, or names again, what the header declares
    if one.kind == other.kind == "function":
        return one.detail == other.detail  # otherwise they are overloads
    if one.kind in _REPEATABLE and one.kind == other.kind:
        return one.detail != other.detail
    if {one.kind, other.kind} == {"using", "type"} or {one.kind, other.kind} == {"using", "function"}:
        using = one if one.kind == "using" else other
        return using.detail.strip(":") != f"{using.namespace}::{using.name}"
    return True


def _advice(one: Declaration, other: tuple[str, Declaration]) -> str:
    path, there = other
    return (f"'{one.name}' is also defined in {path}:{there.line}, and a unity build compiles both files as one: "
            "rename one, or move it to a header that both include")  # fmt: skip


def using_leak(source: Source) -> Iterator[Finding]:
    """A using-directive goes on for all files behind it in a unity build; literals do no harm there."""
    if not _is_plain_source(source):
        return
    for one in declarations.declared(source.code):
        if one.kind == "using_namespace" and not one.name.endswith("literals"):
            yield one.line, (f"'using namespace {one.name}' also changes the files behind this one in a unity build: "
                             "name what is used (using X::y), or put it into the functions")  # fmt: skip


_MACRO = re.compile(r"^[ \t]*#[ \t]*(define|undef)[ \t]+(\w+)", re.M)


def macro(source: Source) -> Iterator[Finding]:
    if not _is_plain_source(source):
        return
    left: dict[str, int] = {}
    for found in _MACRO.finditer(source.code):
        if found[1] == "define":
            left[found[2]] = code_text.line_of(source.code, found.start())
        else:
            left.pop(found[2], None)
    for name, line in left.items():
        yield line, (f"macro {name} also changes the files behind this one in a unity build: "
                     "use a constexpr or a function, or #undef it where it is no longer needed")  # fmt: skip


def _is_plain_source(source: Source) -> bool:
    return source.path.startswith(_UNITY_FOLDERS) and source.path.endswith(".cpp") and not source.path.endswith("_test.cpp")


_NAMESPACE = re.compile(r"\bnamespace\b\s*([\w:]*)\s*\{")
# A printer or a generator of a library must stand in its namespace, and before its first use.
_OF_LIBRARIES = ("std", "testing", "rc", "fmt", "boost")


def test_namespace(source: Source) -> Iterator[Finding]:
    """Tests of one module may be compiled as one file: each has a namespace of its own, named after the file."""
    if not source.path.endswith("_test.cpp") or source.path.split("/")[0] not in ("src", "tests"):
        return
    stem = os.path.basename(source.path)[: -len(".cpp")]
    first = next((n for n in _NAMESPACE.finditer(source.code) if n[1].split("::")[0] not in _OF_LIBRARIES), None)
    if not first or first[1].split("::")[-1] != stem:
        line = code_text.line_of(source.code, first.start()) if first else 1
        yield line, (f"a unity build compiles the tests of several files as one: write `namespace holdfast::{stem} {{` "
                     "around these and their helpers")  # fmt: skip


_DISABLED = re.compile(r"\bTEST(?:_[FP])?\s*\([^)]*\bDISABLED_")


def disabled(source: Source) -> Iterator[Finding]:
    """A case that never runs looks like one that holds."""
    for found in _DISABLED.finditer(source.code):
        yield code_text.line_of(source.code, found.start()), "a disabled case tests nothing: fix it or remove it"


FOR_CODE = (using_leak, macro, test_namespace, disabled)
