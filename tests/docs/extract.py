#!/usr/bin/env python3
"""Turns the C++ snippets of documentation into tests, so that no page shows code that does not work.

In a page, an HTML comment directly above a ```cpp block says what becomes of it:
    <!-- test: name -->        the body of TEST(<Page>Guide, name)
    <!-- test-file: name -->   declarations that the tests of the same page below may use
    <!-- same-as: path -->     the text of that file, which something else compiles and runs
    <!-- no-test: reason -->   none of these: a sketch, and why it is one
A block without such a comment is an error. `#include` lines move to the top of the generated file.

Usage: extract.py OUT.cpp ROOT PAGE.md…    (pages as paths below ROOT)"""

import os
import re
import sys
import textwrap
from dataclasses import dataclass, field

FENCE = re.compile(r"^\s*(?P<marks>`{3,}|~{3,})\s*(?P<language>[\w+-]*)")
MARK = re.compile(r"^\s*<!--\s*(?P<kind>test|test-file|same-as|no-test):\s*(?P<text>.*?)\s*-->\s*$")
CPP = {"cpp", "c++", "cc", "cxx"}
UNTESTED = {"same-as", "no-test"}  # of these nothing is generated
INCLUDE = re.compile(r"^\s*#\s*include\b.*$", re.M)


class PageError(Exception):
    """What is wrong with a page, as `path:line: what`."""


@dataclass
class Snippet:
    kind: str  # test, test-file, same-as or no-test
    name: str  # of same-as: the path; of no-test: the reason
    line: int  # of the page, where the code begins
    code: str


@dataclass
class Page:
    path: str
    snippets: list[Snippet] = field(default_factory=list)

    @property
    def suite(self) -> str:
        """docs/circuit-breaker.md is CircuitBreakerGuide."""
        stem = os.path.basename(self.path).rsplit(".", 1)[0]
        words = re.split(r"\W+|_", stem.lower())
        return "".join(word.capitalize() for word in words) + "Guide"


def read_page(path: str, text: str) -> Page:
    """The marked snippets of a page, in order. Raises PageError."""
    page = Page(path)
    lines = text.split("\n")
    mark: tuple[int, re.Match[str]] | None = None
    at = 0
    while at < len(lines):
        number = at + 1
        fence = FENCE.match(lines[at])
        is_cpp = fence is not None and fence["language"].lower() in CPP
        if mark and not is_cpp and lines[at].strip():
            raise PageError(f"{path}:{mark[0]}: no ```cpp block follows this comment directly")
        if fence:
            end = _end_of_block(path, lines, at, fence["marks"])
            if is_cpp:
                code = textwrap.dedent("\n".join(lines[at + 1 : end])) + "\n"
                page.snippets.append(_snippet(path, number, mark, code))
                mark = None
            at = end
        elif found := MARK.match(lines[at]):
            mark = (number, found)
        at += 1
    if mark:
        raise PageError(f"{path}:{mark[0]}: no ```cpp block follows this comment directly")
    _refuse_same_names(page)
    return page


def _end_of_block(path: str, lines: list[str], start: int, marks: str) -> int:
    for at in range(start + 1, len(lines)):
        closing = lines[at].strip()
        if closing.startswith(marks) and not closing.strip(marks[0]):
            return at
    raise PageError(f"{path}:{start + 1}: this block is never closed")


def _snippet(path: str, line: int, mark: tuple[int, re.Match[str]] | None, code: str) -> Snippet:
    if not mark:
        raise PageError(
            f"{path}:{line}: an untested ```cpp block: put <!-- test: name --> above it, "
            "or <!-- no-test: reason -->"
        )
    kind, name = mark[1]["kind"], mark[1]["text"]
    if kind in UNTESTED and not name:
        what = "a reason" if kind == "no-test" else "a path"
        raise PageError(f"{path}:{mark[0]}: {kind} without {what}")
    if kind not in UNTESTED and not re.fullmatch(r"[a-z]\w*", name):
        raise PageError(f"{path}:{mark[0]}: '{name}' cannot name a test: use snake_case")
    return Snippet(kind, name, line + 1, code)


def _refuse_same_names(page: Page) -> None:
    seen: dict[str, int] = {}
    for snippet in page.snippets:
        if snippet.kind in UNTESTED:
            continue
        if snippet.name in seen:
            raise PageError(
                f"{page.path}:{snippet.line - 1}: '{snippet.name}' is also the name of the snippet "
                f"at line {seen[snippet.name] - 1}"
            )
        seen[snippet.name] = snippet.line


def check_copies(page: Page, root: str) -> None:
    """Raises PageError where a block is not the text of the file that it shows."""
    for snippet in page.snippets:
        if snippet.kind != "same-as":
            continue
        place = f"{page.path}:{snippet.line}"
        try:
            with open(os.path.join(root, snippet.name), encoding="utf-8") as file:
                text = file.read()
        except OSError as error:
            raise PageError(f"{place}: {snippet.name}: {error.strerror}") from error
        if snippet.code != text:
            shown, real = snippet.code.split("\n"), text.split("\n")
            at = next((i for i, (a, b) in enumerate(zip(shown, real)) if a != b), min(len(shown), len(real)))
            raise PageError(f"{page.path}:{snippet.line + at}: differs from {snippet.name}:{at + 1}")


def generate(pages: list[Page], root: str = ".") -> str:
    """The C++ of all snippets. Compilers report errors at the lines of the pages."""
    used = [(page, s) for page in pages for s in page.snippets if s.kind not in UNTESTED]
    head = ["// Made by tests/docs/extract.py from the pages that the #line directives name."]
    head += ["#include <gtest/gtest.h>", '#include "docs/prelude.hpp"']
    head += sorted({line.strip() for _, s in used for line in INCLUDE.findall(s.code)})
    body = []
    for page, snippet in used:
        # The newline stays behind each include that is hoisted, so that line numbers hold.
        code = f'#line {snippet.line} "{os.path.join(root, page.path)}"\n'
        code += INCLUDE.sub("", snippet.code)
        if snippet.kind == "test":
            code = f"TEST({page.suite}, {snippet.name}) {{\n{code}}}\n"
        body.append(f"namespace {page.suite} {{\n{code}}}  // namespace {page.suite}\n")
    return "\n".join(head) + "\n\n" + "\n".join(body)


def main(arguments: list[str]) -> int:
    out, root, *paths = arguments
    pages, errors = [], []
    for path in paths:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            try:
                pages.append(read_page(path, file.read()))
                check_copies(pages[-1], root)
            except PageError as error:
                errors.append(str(error))
    if errors:
        print("\n".join(errors), file=sys.stderr)
        return 1
    with open(out, "w", encoding="utf-8") as file:
        file.write(generate(pages, root))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
