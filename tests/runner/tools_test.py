#!/usr/bin/env python3
"""Tests of scripts/install, scripts/coverage and used_files.py, with stand-ins for the tools they call."""

import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from script_tree import Tree  # noqa: E402

PACKAGES = """[run]
cmake
nodejs node-of-this-test
[test]
shellcheck  # a comment
"""
# Says that what is in the file "installed" is installed; apt-get install adds to it, unless APT=lies.
DPKG_QUERY = """
with open("installed") as file:
    installed = set(file.read().split())
wanted = sys.argv[sys.argv.index("-f") + 2:]
print(*(f"installed/{name}" for name in wanted if name in installed), sep="\\n")
failed = any(name not in installed for name in wanted)
"""
APT_GET = """
if "install" in sys.argv and os.environ.get("APT") != "lies" and not failed:
    with open("installed", "a") as file:
        file.write(" " + " ".join(sys.argv))
"""
NPM = """
if not failed:
    for name in ("esbuild", *(("tsc", "prettier") if "--include=dev" in sys.argv else ())):
        os.makedirs("node_modules/.bin", exist_ok=True)
        os.close(os.open(f"node_modules/.bin/{name}", os.O_CREAT, 0o755))
"""


class Install(Tree):
    COPIED = ("scripts/install",)

    def setUp(self) -> None:
        super().setUp()
        self.stand_in("bin/dpkg-query", DPKG_QUERY)
        self.stand_in("bin/apt-get", APT_GET)
        self.stand_in("bin/sudo", 'os.execvp(sys.argv[1], sys.argv[1:])')
        self.stand_in("bin/npm", NPM)
        self.write("scripts/packages.txt", PACKAGES)
        self.write("package.json", "{}")
        self.write("package-lock.json", "{}")
        self.write("installed", "cmake nodejs shellcheck")

    def installs(self) -> list[str]:
        """The packages that apt-get was asked for, and "npm" for each npm install."""
        found = []
        for call in self.calls():
            if call.startswith("apt-get") and "install" in call:
                found += [word for word in call.split("install -y")[1].split() if not word.startswith("-")]
            if call.startswith("npm install"):
                found.append("npm")
        return found

    def test_installs_nothing_when_all_is_there(self) -> None:
        self.assertEqual(self.run_script("install")[0], 0)
        self.assertEqual(self.installs(), ["npm"])
        self.assertEqual(self.run_script("install")[0], 0)
        self.assertEqual(self.installs(), ["npm"])
        self.assertFalse(any(call.startswith("apt-get") for call in self.calls()))

    def test_run_needs_less_than_test(self) -> None:
        self.write("installed", "nodejs")
        self.assertEqual(self.run_script("install", "run")[0], 0)
        self.assertEqual(self.installs(), ["cmake", "npm"])
        self.assertFalse(os.path.exists(self.at("node_modules/.bin/tsc")))
        self.assertEqual(self.run_script("install", "test")[0], 0)
        self.assertEqual(self.installs(), ["cmake", "npm", "shellcheck", "npm"])
        self.assertEqual(self.run_script("install", "run")[0], 0)  # which has nothing left to do
        self.assertEqual(self.installs(), ["cmake", "npm", "shellcheck", "npm"])

    def test_a_package_whose_command_is_there_is_not_needed(self) -> None:
        self.write("installed", "cmake shellcheck")
        self.stand_in("bin/node-of-this-test")
        self.assertEqual(self.run_script("install")[0], 0)
        self.assertEqual(self.installs(), ["npm"])

    def test_asks_npm_again_when_the_lock_file_has_changed(self) -> None:
        self.run_script("install")
        self.write("package-lock.json", '{"other": 1}')
        self.assertEqual(self.run_script("install")[0], 0)
        self.assertEqual(self.installs(), ["npm", "npm"])

    def test_a_failed_install_is_an_error_and_is_tried_again(self) -> None:
        self.write("installed", "nodejs")
        code, said = self.run_script("install", FAIL="-y --no")
        self.assertEqual(code, 1)
        self.assertIn("could not install: cmake shellcheck", said)
        self.assertNotEqual(self.run_script("install", FAIL="npm install")[0], 0)
        self.assertEqual(self.run_script("install")[0], 0)
        self.assertEqual(self.installs(), ["cmake", "shellcheck"] * 2 + ["npm"] * 2)

    def test_does_not_believe_apt_without_looking(self) -> None:
        self.write("installed", "nodejs")
        code, said = self.run_script("install", APT="lies")
        self.assertEqual(code, 1)
        self.assertIn("these are not installed: cmake shellcheck", said)

    def test_an_unknown_word_is_a_usage_error(self) -> None:
        code, said = self.run_script("install", "everything")
        self.assertEqual((code, self.calls()), (1, []))
        self.assertIn("usage: scripts/install [run|test]", said)

    def test_a_package_that_was_removed_but_not_purged_is_missing(self) -> None:
        also = 'print(*(f"config-files/{name}" for name in wanted if name not in installed), sep="\\n")\n'
        self.stand_in("bin/dpkg-query", DPKG_QUERY + also)
        self.write("installed", "nodejs")
        self.assertEqual(self.run_script("install")[0], 0)
        self.assertEqual(self.installs(), ["cmake", "shellcheck", "npm"])

    def test_asks_npm_again_when_a_tool_is_gone(self) -> None:
        self.run_script("install")
        for asked, tool in enumerate(("esbuild", "tsc", "prettier"), start=2):
            os.unlink(self.at(f"node_modules/.bin/{tool}"))
            self.assertEqual(self.run_script("install")[0], 0)
            self.assertEqual(self.installs(), ["npm"] * asked, tool)

    def test_asks_for_the_lists_of_packages_before_it_installs(self) -> None:
        self.write("installed", "nodejs")
        self.assertNotEqual(self.run_script("install", FAIL="Acquire::Retries=3 update")[0], 0)
        self.assertEqual(self.installs(), [])
        self.assertEqual(self.run_script("install")[0], 0)
        asked = [call for call in self.calls() if call.startswith("apt-get")]
        self.assertEqual([call.split("Retries=3 ")[1].split()[0] for call in asked], ["update", "update", "install"])

    def test_what_npm_left_half_done_is_not_taken_for_an_earlier_install(self) -> None:
        self.run_script("install")
        self.write("package-lock.json", '{"other": 1}')
        self.assertNotEqual(self.run_script("install", FAIL="npm install")[0], 0)
        self.write("package-lock.json", "{}")  # as it was
        self.assertEqual(self.run_script("install")[0], 0)
        self.assertEqual(self.installs(), ["npm"] * 3)


class Help(Tree):
    COPIED = ("scripts",)

    def test_every_script_says_how_it_is_used_and_does_nothing_else(self) -> None:
        self.TOOLS = ("cmake", "ctest", "apt-get", "npm", "dpkg-query", "clang-format-19", "node_modules/.bin/prettier")
        for tool in self.TOOLS:
            self.stand_in(tool if "/" in tool else f"bin/{tool}")
        for name in ("format", "lint", "run", "fuzz", "install", "coverage"):
            for option in ("-h", "--help"):
                with self.subTest(name):
                    code, said = self.run_script(name, option)
                    self.assertEqual((code, self.calls()), (0, []))
                    self.assertIn(f"Usage: scripts/{name}", said)

    def test_coverage_refuses_what_it_does_not_know(self) -> None:
        self.assertEqual(self.run_script("coverage", "--gate")[0], 2)


class UsedFiles(Tree):
    """Of a build that compiles one file alone and another one in a unity file."""

    COPIED = ("tests/runner/used_files.py",)

    def setUp(self) -> None:
        super().setUp()
        for path in ("src/core/a.cpp", "src/core/b_test.cpp", "tests/system/a_test.py", "tests/system/long_test.py", "tests/tidy/tidy_test.py",
                     "tests/install/project/main.cpp"):  # fmt: skip
            self.write(path, 'if __name__ == "__main__":\n    unittest.main()\n')
        self.write("scripts/test", 'check("x", PYTHON, "-B", "tests/tidy/tidy_test.py")')
        self.write("scripts/test-long", 'check("x", "/usr/bin/python3", "-B", "tests/system/long_test.py")')
        self.write("build/Unity/unity_0_cxx.cxx", f'#include "{self.at("src/core/b_test.cpp")}"\n')
        files = [{"file": self.at(path)} for path in ("src/core/a.cpp", "build/Unity/unity_0_cxx.cxx")]
        self.write("build/compile_commands.json", json.dumps(files))
        tests = {"tests": [{"name": "a", "command": ["python3", self.at("tests/system/a_test.py")]}, {"name": "b"}]}
        self.stand_in("bin/ctest", f"print({json.dumps(json.dumps(tests))})")

    def lost(self) -> tuple[int, list[str]]:
        done = subprocess.run(["/usr/bin/python3", "-B", self.at("tests/runner/used_files.py"), self.at("build")],
                              env=self.environment(), capture_output=True, text=True, check=False)  # fmt: skip
        return done.returncode, [line.split(":")[0] for line in done.stdout.splitlines() if ": " in line]

    def test_passes_if_all_files_are_used(self) -> None:
        self.assertEqual(self.lost(), (0, []))

    def test_names_what_nobody_compiles_or_runs(self) -> None:
        lost = ["src/core/deep/lost.cpp", "tests/conformance/lost_test.cpp", "tests/system/core_test.py"]
        for path in lost:
            self.write(path, "")
        self.assertEqual(self.lost(), (1, lost))

    def test_names_a_script_whose_cases_never_run(self) -> None:
        self.write("tests/system/a_test.py", "# unittest.main() is missing\n")
        self.assertEqual(self.lost(), (1, ["tests/system/a_test.py"]))

    def test_a_script_that_is_only_mentioned_is_not_run(self) -> None:
        self.write("scripts/test", '# as tests/tidy/tidy_test.py did\n')
        self.assertEqual(self.lost(), (1, ["tests/tidy/tidy_test.py"]))

    def test_a_build_that_cannot_be_asked_is_a_failure(self) -> None:
        self.stand_in("bin/ctest", "failed = True")
        self.assertEqual(self.lost()[0], 1)


LLVM_COV = """
import json
lines = json.loads(os.environ["LINES"])
print(json.dumps({"data": [{"files": [
    {"filename": os.path.abspath(name), "summary": {"lines": {"covered": covered, "count": count}}}
    for name, (covered, count) in lines.items()]}]}))
"""


class Coverage(Tree):
    COPIED = ("scripts/coverage",)
    TOOLS = ("bin/llvm-profdata-19", "bin/clang++-19")
    GOOD = {"src/core/classifier.cpp": (95, 100), "src/engine/dead_letter_sink.cpp": (90, 100)}

    def setUp(self) -> None:
        super().setUp()
        self.stand_in("bin/llvm-cov-19", LLVM_COV)
        for module in ("core", "engine"):
            self.write(f"build/asan/{module}_test", "")
            self.write(f"build/asan/profiles/{module}_test.profraw", "")

    def gates(self, lines: dict[str, tuple[int, int]], **env: str) -> tuple[int, str]:
        return self.run_script("coverage", "--gates", LINES=json.dumps(lines), **env)

    def test_passes_at_the_gates_and_fails_below_them(self) -> None:  # C7
        self.assertEqual(self.gates(self.GOOD)[0], 0)
        for file, below in (("src/core/classifier.cpp", (94, 100)), ("src/engine/dead_letter_sink.cpp", (89, 100))):
            with self.subTest(file):
                code, said = self.gates(self.GOOD | {file: below})
                self.assertEqual(code, 1)
                self.assertIn("BELOW", said)

    def test_no_lines_at_all_are_below_the_gate(self) -> None:
        self.assertEqual(self.gates({"src/core/classifier.cpp": (95, 100)})[0], 1)

    def test_other_files_and_tests_do_not_count(self) -> None:
        more = {"src/core/classifier_test.cpp": (0, 1000), "src/core/names.cpp": (0, 1000)}
        self.assertEqual(self.gates(self.GOOD | more)[0], 0)

    def test_counts_of_an_older_build_are_refused(self) -> None:
        os.utime(self.at("build/asan/profiles/core_test.profraw"), (1, 1))
        code, said = self.gates(self.GOOD)
        self.assertEqual(code, 1)
        self.assertIn("core_test has not run since it was built", said)
        os.unlink(self.at("build/asan/profiles/core_test.profraw"))
        self.assertEqual(self.gates(self.GOOD)[0], 1)

    def test_a_tool_that_fails_fails_the_gates(self) -> None:
        for tool in ("llvm-profdata-19", "clang++-19", "llvm-cov-19"):
            with self.subTest(tool):
                self.assertEqual(self.gates(self.GOOD, FAIL=tool)[0], 1)

    def call(self, begins: str) -> str:
        return next(call for call in self.calls() if call.startswith(begins))

    def test_the_gates_look_at_every_module_that_has_one(self) -> None:
        self.gates(self.GOOD)
        for module in ("core", "engine"):
            self.assertIn(f" build/asan/profiles/{module}_test.profraw ", self.call("llvm-profdata-19 merge "))
            self.assertIn(f" build/asan/libholdfast_{module}.a ", self.call("clang++-19 "))
        objects = "build/asan/core_test -object build/asan/engine_test -object build/asan/every_module.so "
        self.assertIn(f" export {objects}", self.call("llvm-cov-19 "))

    def test_all_test_programs_are_run_each_with_a_profile_of_its_own(self) -> None:
        programs = ("build/coverage/core_test", "build/coverage/deeper/some_test")
        self.stand_in("bin/cmake")
        for program in programs:
            self.stand_in(program, 'open(os.environ["LLVM_PROFILE_FILE"], "w").close()')
        code, said = self.run_script("coverage", LINES=json.dumps(self.GOOD))
        self.assertEqual(code, 0, said)
        for program in programs:
            self.assertTrue(os.path.exists(self.at(f"{program}.profraw")), program)
            self.assertIn(f" {program}.profraw ", self.call("llvm-profdata-19 merge "))
            self.assertIn(f" {program} ", self.call("llvm-cov-19 export "))
        for fails in ("some_test --gtest", "cmake --preset", "cmake --build"):
            self.assertEqual(self.run_script("coverage", LINES=json.dumps(self.GOOD), FAIL=fails)[0], 1, fails)


if __name__ == "__main__":
    unittest.main()
