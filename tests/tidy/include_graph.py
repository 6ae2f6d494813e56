"""Which of our headers include which, and what they reach outside of the project."""

import os
from collections.abc import Iterable

import code_text

FOLDERS = ("include", "src", "tests")  # where an #include is looked up, as the compilers do


class IncludeGraph:
    """The files of one tree, by path below its root, read once and only when they are asked for."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._texts: dict[str, str | None] = {}
        self._codes: dict[str, str] = {}
        self._own: dict[str, list[str]] = {}
        self._outside: dict[str, list[str]] = {}
        self._reached: dict[str, frozenset[str]] = {}

    def text(self, path: str) -> str | None:
        """What stands in the file, or None if there is no such file."""
        if path not in self._texts:
            full = os.path.join(self.root, path)
            self._texts[path] = None
            if os.path.isfile(full):
                with open(full, encoding="utf-8", errors="replace") as file:
                    self._texts[path] = file.read()
        return self._texts[path]

    def code(self, path: str) -> str:
        """The text with comments and literals blanked."""
        if path not in self._codes:
            self._codes[path] = code_text.blank(self.text(path) or "")
        return self._codes[path]

    def own(self, path: str) -> list[str]:
        """The files of ours that a file includes itself, in its order."""
        self._read_includes(path)
        return self._own[path]

    def outside(self, path: str) -> list[str]:
        """What a file includes itself and is not ours, without brackets."""
        self._read_includes(path)
        return self._outside[path]

    def reached(self, path: str) -> frozenset[str]:
        """The file and all of ours that it includes, directly or through others."""
        if path not in self._reached:
            found: set[str] = set()
            ahead = [path]
            while ahead:
                at = ahead.pop()
                if at not in found:
                    found.add(at)
                    ahead += self.own(at)
            self._reached[path] = frozenset(found)
        return self._reached[path]

    def outside_reached(self, path: str) -> set[str]:
        """What is not ours and is included by the file or by any of ours that it reaches."""
        return {name for own in self.reached(path) for name in self.outside(own)}

    def order_of_parsing(self, first: Iterable[str]) -> list[str]:
        """All files that a compiler reads for these includes, in the order in which it is done with them."""
        done: list[str] = []
        seen: set[str] = set()

        def parse(path: str) -> None:
            if path in seen:
                return
            seen.add(path)
            for inner in self.own(path):
                parse(inner)
            done.append(path)

        for path in first:
            parse(path)
        return done

    def _read_includes(self, path: str) -> None:
        if path in self._own:
            return
        own, outside = [], []
        for _, target in code_text.includes(self.text(path) or "", self.code(path)):
            found = self._resolve(path, target)
            if found:
                own.append(found)
            else:
                outside.append(target[1:-1])
        self._own[path], self._outside[path] = own, outside

    def _resolve(self, path: str, target: str) -> str | None:
        folders = FOLDERS if target[0] == "<" else (os.path.dirname(path), *FOLDERS)
        for folder in folders:
            candidate = os.path.normpath(os.path.join(folder, target[1:-1]))
            if self.text(candidate) is not None:
                return candidate
        return None
