#!/usr/bin/env python3
"""Fails if a source file is not part of a build, or a test script is run by nobody: so no test is lost by a pattern or a
list that misses it. It asks the build and ctest, not the text of CMakeLists.txt.

Usage: used_files.py BUILD_FOLDER"""

import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ELSEWHERE = ("tests/install/",)  # projects of their own
_INCLUDED = re.compile(r'^#include "(.+\.cpp)"$', re.M)  # of the files that CMake writes for a unity build


def compiled(build: str) -> set[str]:
    found = set()
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            found.add(entry["file"])
            if "/Unity/" in entry["file"]:
                with open(entry["file"], encoding="utf-8") as unity:
                    found.update(_INCLUDED.findall(unity.read()))
    return {os.path.realpath(path) for path in found}


def run_by_ctest(build: str) -> set[str]:
    said = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    return {os.path.realpath(word) for test in json.loads(said.stdout)["tests"] for word in test.get("command", [])
            if word.endswith(".py")}  # fmt: skip


def run_by_scripts(root: str) -> set[str]:
    found = set()
    for name in ("test", "test-long"):
        with open(os.path.join(root, "scripts", name), encoding="utf-8") as file:
            found.update(re.findall(r'"(tests/[\w/]+\.py)"', file.read()))
    return {os.path.realpath(os.path.join(root, path)) for path in found}


def runs_cases(path: str) -> bool:
    with open(path, encoding="utf-8") as file:
        return re.search(r"^    unittest\.main\(", file.read(), re.M) is not None


def unused(root: str, build: str) -> list[str]:
    root = os.path.realpath(root)
    sources, scripts = compiled(build), run_by_ctest(build) | run_by_scripts(root)
    lost = []
    for folder in ("src", "tests"):
        for at, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                path = os.path.join(at, name)
                told = os.path.relpath(path, root)
                if told.startswith(ELSEWHERE):
                    continue
                if name.endswith(".cpp") and path not in sources:
                    lost.append(f"{told}: no target compiles it")
                if name.endswith("_test.py") and path not in scripts:
                    lost.append(f"{told}: neither ctest nor scripts/test nor scripts/test-long runs it")
                elif name.endswith("_test.py") and not runs_cases(path):
                    lost.append(f"{told}: it never calls unittest.main(), so none of its cases runs")
    return sorted(lost)


def main() -> int:
    lost = unused(ROOT, sys.argv[1])
    print(*lost, sep="\n")
    print(f"{len(lost)} files are used by nobody" if lost else "every source is compiled, every test script is run")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
