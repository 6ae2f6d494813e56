"""Checks that every header stands alone: whoever includes it must need no other include before it.

The exact check compiles each header in a compiler run of its own, which takes minutes, since each run parses the
standard library and all that the header includes. The quick check proves nearly the same in seconds: it parses the
standard library and the other libraries once (a precompiled header), puts headers that cannot help each other into
one run (groups.py), and reads off the text whether a header includes the libraries that it uses (provided.py)."""

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import provided
from groups import Group, Grouping
from include_graph import IncludeGraph

CLANG = "clang++-19"
GCC = "g++-12"  # users have it, so the public headers must please it too

FLAGS = ["-std=c++23", "-Iinclude", "-Isrc", "-Itests", "-Wall", "-Wextra"]
FEW = 8  # headers that are compiled one by one sooner than a precompiled header is made

Finding = tuple[str, int, str]

_ERROR = re.compile(
    r"^(?P<path>[^:\n]+):(?P<line>\d+):\d+: (?:fatal error|error|warning): (?P<what>.*)$", re.M
)
_STANDARD = re.compile(r"[a-z_]+")
# Libraries that take long to parse. Those in C do not, and stay out, so that the compiler misses them.
_LIBRARIES = ("boost/", "fmt/", "gtest/", "rapidcheck", "re2/")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define\b", re.M)


def _is_precompiled(name: str) -> bool:
    return bool(_STANDARD.fullmatch(name)) or name.startswith(_LIBRARIES)


class Headers:
    """The headers of one tree, and what is known of them."""

    def __init__(self, root: str, headers: Iterable[str]) -> None:
        self.graph = IncludeGraph(root)
        self._root = root
        self._all = sorted(headers)
        self._public = [header for header in self._all if header.startswith("include/")]

    def missing_includes(self) -> Iterator[Finding]:
        """Findings of the text alone: a name of a library without its include."""
        for header in self._all:
            for line, advice in provided.missing(self.graph, header):
                yield header, line, advice

    def each_alone(self) -> Iterator[Finding]:
        """Findings of the exact check, for every header, also for those behind a broken one."""
        jobs = [(CLANG, header) for header in self._all] + [(GCC, header) for header in self._public]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            yield from filter(None, pool.map(lambda job: self._exact(*job), jobs))

    def quick(self) -> Iterator[Finding]:
        """Findings of the quick check. What includes a broken header is looked at when that one is fixed."""
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
            clang, gcc = self._unproven(CLANG, self._all), self._unproven(GCC, self._public)
            failed: list[tuple[str, list[str]]] = []
            runs: list[tuple[str, Group, Future[bool]]] = []
            if len(clang) > FEW:
                parts = self._by_libraries(clang)
                made = [pool.submit(self._precompile, folder, libraries) for libraries in parts]
                runs += self._start(pool, GCC, gcc, [])
                for part, pch in zip(parts.values(), made, strict=True):
                    runs += self._start(pool, CLANG, part, pch.result())
            else:
                failed.append((CLANG, clang))
                runs += self._start(pool, GCC, gcc, []) if len(gcc) > FEW else []
                failed += [(GCC, gcc)] if len(gcc) <= FEW else []
            for compiler, group, passed in runs:
                if passed.result():
                    for header in group.proven:
                        self._mark(self._stamp("quick", compiler, header))
                else:
                    failed.append((compiler, group.proven))
        for compiler in (CLANG, GCC):
            yield from self._one_by_one(compiler, {h for by, part in failed if by == compiler for h in part})

    def _unproven(self, compiler: str, headers: Iterable[str]) -> list[str]:
        """The headers whose very text, and that of all they include, has not passed before."""
        return [h for h in headers
                if not any(os.path.exists(self._stamp(how, compiler, h)) for how in ("quick", "alone"))]  # fmt: skip

    def _by_libraries(self, headers: list[str]) -> dict[bool, list[str]]:
        """Headers that reach libraries other than the standard one, and those that do not and need not have them."""
        parts: dict[bool, list[str]] = {True: [], False: []}
        for header in headers:
            parts[any(name.startswith(_LIBRARIES) for name in self.graph.outside_reached(header))].append(header)
        return {libraries: part for libraries, part in parts.items() if part}

    def _precompile(self, folder: str, libraries: bool) -> list[str]:
        """The options that use a precompiled header with the standard library, and with the other ones if asked for."""
        names = set()
        for header in self._all:
            if not _DEFINE.search(self.graph.code(header)):  # it may set a library up before it includes it
                names |= {name for name in self.graph.outside(header) if _is_precompiled(name)}
        if not libraries:
            names = {name for name in names if not name.startswith(_LIBRARIES)}
        source = os.path.join(folder, f"outside_{libraries:d}.hpp")
        with open(source, "w", encoding="utf-8") as file:
            for name in sorted(names):  # one that does not exist is found in the header that asks for it
                file.write(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n")
        # Without -fpch-instantiate-templates each user of the file would instantiate the same templates anew.
        options = ["-fpch-instantiate-templates", "-x", "c++-header", "-o", f"{source}.pch"]
        run = self._run([CLANG, *FLAGS, *options, source])
        return ["-include-pch", f"{source}.pch"] if run.returncode == 0 else []

    def _start(
        self, pool: ThreadPoolExecutor, compiler: str, headers: list[str], options: list[str]
    ) -> list[tuple[str, Group, Future[bool]]]:
        groups = Grouping(self.graph, headers, _is_precompiled).groups(headers)
        return [(compiler, group, pool.submit(self._compiles, compiler, group, options)) for group in groups]

    def _compiles(self, compiler: str, group: Group, options: list[str]) -> bool:
        source = "".join(f'#include "{os.path.join(self._root, header)}"\n' for header in group.headers)
        run = self._run([compiler, *FLAGS, "-fsyntax-only", *options, "-x", "c++", "-"], source)
        return run.returncode == 0 and not run.stderr

    def _one_by_one(self, compiler: str, headers: set[str]) -> Iterator[Finding]:
        """Compiles headers alone, those that include least first, but for those behind one with a finding: it would
        be the same once more."""
        broken: set[str] = set()
        levels: dict[int, list[str]] = {}
        for header in sorted(headers):
            levels.setdefault(len(self.graph.reached(header)), []).append(header)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for _, level in sorted(levels.items()):
                todo = [header for header in level if not self.graph.reached(header) & broken]
                for finding in filter(None, pool.map(lambda header: self._exact(compiler, header), todo)):
                    broken.add(finding[0])
                    yield finding

    def _exact(self, compiler: str, header: str) -> Finding | None:
        stamp = self._stamp("alone", compiler, header)
        if os.path.exists(stamp):
            return None
        run = self._run([compiler, *FLAGS, "-fsyntax-only", "-x", "c++", "-include", header, "/dev/null"])
        if run.returncode == 0 and not run.stderr:
            self._mark(stamp)
            return None
        error = _ERROR.search(run.stderr)
        if not error:
            return header, 1, f"{compiler}: {run.stderr.strip().splitlines()[0]}"
        where = os.path.relpath(os.path.join(self._root, error["path"]), self._root)
        at = int(error["line"]) if where == header else 1
        place = "" if where == header else f" (in {where}:{error['line']})"
        return header, at, f"does not compile alone with {compiler}: {error['what']}{place}"

    def _run(self, command: list[str], source: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=self._root, input=source, capture_output=True, text=True, check=False)

    def _stamp(self, how: str, compiler: str, header: str) -> str:
        """A file whose existence says: this very text has passed before."""
        digest = hashlib.sha256(" ".join([how, compiler, *FLAGS, header]).encode())
        for path in sorted(self.graph.reached(header)):
            digest.update(path.encode() + b"\0" + (self.graph.text(path) or "").encode())
        return os.path.join(self._root, "build", "tidy", digest.hexdigest())

    def _mark(self, stamp: str) -> None:
        os.makedirs(os.path.dirname(stamp), exist_ok=True)
        open(stamp, "w").close()
