"""Puts headers that one compiler run may check together into groups.

A header that is compiled behind others could take a name from them that it does not include. It is proven to stand
alone all the same if none of those others, apart from the ones that it includes anyway, declares anything that it
mentions. This module finds such orders; they save most of the parsing."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import declarations
from include_graph import IncludeGraph

MOST_FILES = 150  # in one group, so that groups can be shared out among the cores

_NAME = re.compile(r"[A-Za-z_]\w*")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
# What declares something without a new name: a specialisation, an operator, a type defined by its full name.
_NAMELESS = re.compile(r"\btemplate\s*<\s*>[^{;]*|\boperator\b[^{;]*|\b(?:class|struct)\s+\w+\s*(?:::|<)[^{;]*")
_EVERYWHERE = {"std", "holdfast", "const", "template", "typename", "class", "struct", "operator", "inline", "constexpr",
               "bool", "return", "auto", "noexcept", "default", "delete", "friend", "size_t", "string", "string_view",
               "int", "requires"}  # fmt: skip


@dataclass
class Group:
    headers: list[str] = field(default_factory=list)  # in the order in which to include them
    proven: list[str] = field(default_factory=list)  # these, and what they include where that is a proof as well
    parsed: set[str] = field(default_factory=set)


class Grouping:
    """Knows which headers must not be compiled behind which."""

    def __init__(self, graph: IncludeGraph, headers: Iterable[str], precompiled: Callable[[str], bool]) -> None:
        """`precompiled` says of an outside header whether it is there in any case."""
        self._graph = graph
        self._all = sorted({file for header in headers for file in graph.reached(header)})
        self._declaring: dict[str, set[str]] = defaultdict(set)  # name -> files that declare it
        self._defining: dict[str, set[str]] = defaultdict(set)  # type -> files that define it
        self._only_named: dict[str, set[str]] = {}  # file -> types that it declares and does not define
        self._including: dict[str, set[str]] = defaultdict(set)  # outside header -> files that include it
        for file in self._all:
            self._index(file)
            for name in graph.outside(file):
                if not precompiled(name):
                    self._including[name].add(file)

    def _index(self, file: str) -> None:
        code = self._graph.code(file)
        self._only_named[file] = set()
        for one in declarations.declared(code):
            if one.kind == "type" and not one.defines:
                self._only_named[file].add(one.name)
                continue
            self._declaring[one.name].add(file)
            if one.kind == "type":
                self._defining[one.name].add(file)
        for name in _DEFINE.findall(code):
            self._declaring[name].add(file)
        for found in _NAMELESS.finditer(code):
            for name in set(_NAME.findall(found.group())) - _EVERYWHERE:
                self._declaring[name].add(file)

    def _suspects(self, header: str) -> set[str]:
        """The files that could lend the header what it does not include."""
        reached = self._graph.reached(header)
        found: set[str] = set()
        for name in set(_NAME.findall(self._graph.code(header))):
            found |= self._declaring.get(name, set())
        for file in reached:
            for name in self._only_named[file]:
                found |= self._defining.get(name, set())
        outside = self._graph.outside_reached(header)
        for name, files in self._including.items():
            if name not in outside:
                found |= files
        return found - reached

    def groups(self, headers: Iterable[str]) -> list[Group]:
        """Groups that prove each of these headers once."""
        wanted = set(headers)
        suspects = {header: self._suspects(header) for header in wanted}
        groups: list[Group] = []
        while wanted:
            header = max(wanted, key=lambda one: (len(self._graph.reached(one)), one))
            fitting = [group for group in groups if self._fits(group, header, suspects)]
            group = min(fitting, key=lambda one: len(self._graph.reached(header) - one.parsed), default=None)
            if group is None:
                group = Group()
                groups.append(group)
            self._add(group, header, suspects)
            wanted -= set(group.proven)
        return sorted(groups, key=lambda group: -len(group.parsed))

    def _fits(self, group: Group, header: str, suspects: dict[str, set[str]]) -> bool:
        reached = self._graph.reached(header)
        return not suspects[header] & group.parsed and len(group.parsed | reached) <= MOST_FILES

    def _add(self, group: Group, header: str, suspects: dict[str, set[str]]) -> None:
        group.headers.append(header)
        for file in self._graph.order_of_parsing([header]):
            if file == header or file in suspects and file not in group.parsed and not suspects[file] & group.parsed:
                group.proven.append(file)
            group.parsed.add(file)
