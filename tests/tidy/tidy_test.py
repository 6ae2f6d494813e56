#!/usr/bin/env python3
"""Plants one breach of each rule in a small tree and expects it to be found where it was planted."""

import os
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(__file__))
import code_text
import declarations
import tidy

# A house in order, with everything that looks like a breach and is none.
CLEAN = {
    "docs/ARCHITECTURE.md": "| src/core/ | src/io/ | src/app/ |\n",
    "Makefile": "run:\n\techo run\n",
    "include/holdfast/span.hpp": "#pragma once\n#include <chrono>\n",
    "include/holdfast/span_asio.hpp": "#pragma once\n#include <boost/asio/awaitable.hpp>\n",
    "src/core/rule.hpp": "#pragma once\n#include <holdfast/span.hpp>\n",
    "src/core/rule.cpp": '''#include "core/rule.hpp"
// std::regex, new, delete, system("ls"), steady_clock::now() and sleep_for in a comment
/* std::this_thread::sleep_for(1s);
   #include "app/wiring.hpp" */
const char* text = "new std::regex; system(1); std::chrono::steady_clock::now()";
const char* raw = R"x(
#include "app/wiring.hpp"
popen( new ")x";
constexpr int kMany = 1'000'000;
struct Pinned { Pinned(const Pinned&) = delete; };
int newest = 0, deleted = 0, operating_system(int);
void wait(holdfast::Clock& clock) { clock.sleep_for(1s); clock.sleep_until(clock.now()); }
holdfast::SteadyTime holdfast::FakeClock::now() const { return at_; }
struct Record { explicit Record(int at) : time(at) {} int time; };
void* operator new(std::size_t size);
#include <new>
''',
    "src/core/rule_test.cpp": '#include "io/clock.hpp"\nnamespace holdfast::rule_test {\nTEST(Rule, holds) {}\n}\n',
    "src/core/other_rule_test.cpp": """namespace rc { struct Printer {}; }
namespace holdfast::other_rule_test { namespace {
int seed = 1;
TEST(Rule, holds_again) {} } }
""",
    "src/core/third_rule_test.cpp": """#define EACH 1
namespace holdfast::third_rule_test {
using namespace core;
TEST(Rule, holds_each) {} }
""",
    # Nothing here clashes with the file after it.
    "src/core/first.cpp": """#define json own_json
#undef json
namespace holdfast {
struct Late;
namespace {
using namespace std::chrono_literals;
using core::State;
using Numbers = std::vector<int>;
namespace fs = std::filesystem;
void add(int a, const std::string& b);
void add(int a, const std::string& b) { int local = a; }
int Pinned::get() { return 1; }
Pinned::Pinned(int a) : a_{a}, b_{list[at[a]]} {}
}
namespace other { const int kMost = 1; }
}
""",
    "tests/conformance/limits.cpp": "namespace {\nint kLimit = 1;\n}\n",
    "src/core/second.cpp": """namespace holdfast {
struct Late;
namespace {
using namespace std::chrono_literals;
using core::State;
using Numbers = std::vector<int>;
namespace fs = std::filesystem;
void add(int a, std::string_view b) { int local = a; auto part = [](int seed) { return seed; }; }
int Pinned::get() { return 1; }
}
const int kMost = 1;
}
""",
    "src/io/clock.hpp": "#pragma once\n",
    "src/io/clock.cpp": "auto at = std::chrono::steady_clock::now();\nvoid f() { usleep(5); }\n",
    "src/app/wiring.cpp": '#include "core/rule.hpp"\n#include "io/clock.hpp"\n',
    "bench/regex_bench.cpp": "#include <regex>\nstd::regex slow;\n",
}  # fmt: skip

# rule -> (file, its text, line of the breach)
BREACHES = [
    ("arrows", "src/core/bad.cpp", '#include <string>\n#include "io/clock.hpp"\n', 2),
    ("arrows", "src/core/bad.cpp", '\n\n#  include "../io/clock.hpp"\n', 3),
    ("arrows", "src/io/bad.hpp", '#pragma once\n#include "app/wiring.hpp"\n', 2),
    ("arrows", "src/cellar/bad.cpp", "int x;\n", 1),
    ("public_headers", "include/holdfast/bad.hpp", "#pragma once\n#include <fmt/core.h>\n", 2),
    ("public_headers", "include/holdfast/bad.hpp", '#pragma once\n#include "core/rule.hpp"\n', 2),
    ("public_headers", "include/holdfast/bad.hpp", "#pragma once\n#include <boost/asio.hpp>\n", 2),
    ("pure_core", "src/core/bad.cpp", "\n#include <thread>\n", 2),
    ("clock", "src/core/bad.cpp", "\nauto a = std::chrono::steady_clock::now();\n", 2),
    ("clock", "src/app/bad.cpp", "using C = Other;\nauto a = C::now();\n", 2),
    ("clock", "src/app/bad.cpp", "auto a = time(nullptr);\n", 1),
    ("clock", "src/app/bad.cpp", "auto a = std::time(&b);\n", 1),
    ("clock", "src/app/bad.cpp", "int a = clock_gettime(CLOCK_REALTIME, &t);\n", 1),
    ("clock", "tests/bad_test.cpp", "namespace bad_test {\nTEST(A, b) { gettimeofday(&t, nullptr); }\n}\n", 2),
    ("sleep", "src/core/bad.cpp", "/* */ void f() { std::this_thread::sleep_for(1s); }\n", 1),
    ("sleep", "src/app/bad.cpp", "\n\nusing std::this_thread::sleep_until;\n", 3),
    ("sleep", "src/app/bad.cpp", "void f() { usleep(10); }\n", 1),
    ("sleep", "src/app/bad.cpp", "void f() { ::nanosleep(&t, nullptr); }\n", 1),
    ("sleep", "src/app/bad.cpp", "void f() { sleep(1); }\n", 1),
    ("shared_folder", "src/app/bad_test.cpp",
     'namespace bad_test {\nTEST(A, b) { f(testing::TempDir() + "x"); }\n}\n', 2),
    ("shell", "src/app/bad.cpp", 'int a =\n  std::system("ls");\n', 2),
    ("shell", "src/io/bad.cpp", 'auto a = popen("ls", "r");\n', 1),
    ("std_regex", "src/core/bad.cpp", "\nstd::regex pattern;\n", 2),
    ("std_regex", "tests/bad.cpp", "#include <regex>\n", 1),
    ("raw_new", "src/core/bad.cpp", "\nauto* a = new int;\n", 2),
    ("raw_new", "src/core/bad.cpp", "void f(int* a) {\n  delete a;\n}\n", 2),
    ("raw_new", "src/core/bad.cpp", "void f(int* a) { delete[] a; }\n", 1),
    ("length", "src/core/bad.cpp", "int x;\n" * 601, 601),
    ("leftover", "src/core/bad.cpp", "\n// TODO: later\n", 2),
    ("leftover", "scripts/bad", "#!/bin/sh\n# FIXME\n", 2),
    ("whitespace", "src/core/bad.cpp", "int x;\n\tint y;\n", 2),
    ("whitespace", "docs/bad.md", "one\ntwo \n", 2),
    ("whitespace", "src/core/bad.cpp", "int x;\nint y;", 2),
    ("pragma_once", "src/core/bad.hpp", "int f();\n", 1),
    ("pragma_once", "src/core/bad.hpp", "// #pragma once\nint f();\n", 1),
    ("has_a_test", "src/core/bad_test.cpp", "namespace bad_test {}  // TEST(Rule, is_planned)\n", 1),
    ("name", "src/core/string_utils.cpp", "int x;\n", 1),
    ("name", "src/core/BadName.cpp", "int x;\n", 1),
    ("test_namespace", "src/core/bad_test.cpp", "\nnamespace holdfast {\nnamespace bad_test { TEST(A, b) {} }\n}\n", 2),
    ("test_namespace", "tests/sub/bad_test.cpp", "namespace {\nTEST(A, b) {}\n}\n", 1),
    ("test_namespace", "src/core/bad_test.cpp", "TEST(A, b) {}\n", 1),
    ("test_namespace", "src/core/bad_test.cpp", "namespace holdfast::not_bad_test {\nTEST(A, b) {}\n}\n", 1),
    ("using_leak", "src/core/bad.cpp", "namespace a {\nusing namespace core;\n}\n", 2),
    ("using_leak", "src/core/bad.cpp", "namespace a {\nnamespace {\nusing namespace core;\n}\n}\n", 3),
    ("using_leak", "src/core/bad.cpp", "using namespace std::chrono;\n", 1),
    ("disabled", "src/core/bad_test.cpp", "namespace bad_test {\nTEST(A, DISABLED_b) {}\n}\n", 2),
    ("macro", "src/core/bad.cpp", "#define A 1\n#undef A\n#define B(x) x\n", 3),
    ("macro", "src/core/bad.cpp", "#define A 1\n#define B 2\n#undef B\n", 1),
    # Each of these clashes with first.cpp or second.cpp above, which come earlier in the alphabet.
    ("unity_clash", "src/core/zbad.cpp", "namespace holdfast {\nnamespace {\nstruct Numbers {};\n}\n}\n", 3),
    ("unity_clash", "src/core/zbad.cpp", "namespace holdfast {\nconstexpr int kMost = 2;\n}\n", 2),
    ("unity_clash", "tests/conformance/zbad.cpp", "namespace {\nint kLimit = 2;\n}\n", 2),
    ("unity_clash", "src/core/zbad.cpp", "namespace holdfast {\nstatic int kMost{2};\n}\n", 2),
    ("unity_clash", "src/core/zbad.cpp", "namespace holdfast::other {\nnamespace {\nenum { kMost };\n}\n}\n", 3),
    ("unity_clash", "src/core/zbad.cpp", "namespace holdfast {\nusing ports::State;\n}\n", 2),
    ("unity_clash", "src/core/zbad.cpp", "namespace holdfast {\nusing Numbers = std::set<int>;\n}\n", 2),
    ("unity_clash", "src/core/zbad.cpp", "namespace holdfast {\nnamespace fs = own::files;\n}\n", 2),
    ("unity_clash", "src/core/zbad.cpp",
     "namespace holdfast {\nstatic void add(const int x, const std::string& y = {}) { f(); }\n}\n", 2),
    ("unity_clash", "src/core/zbad.cpp", "namespace holdfast {\nstruct State {};\n}\n", 2),
    ("unity_clash", "src/core/zbad.cpp", "namespace holdfast {\ntemplate <class T> struct Numbers {};\n}\n", 2),
    ("unity_clash", "src/core/zbad.cpp", "namespace holdfast {\ntemplate <class T> concept Numbers = true;\n}\n", 2),
    ("unity_clash", "src/core/zbad.cpp", "namespace holdfast {\n[[maybe_unused]] static int kMost{2};\n}\n", 2),
    ("unity_clash", "src/core/zbad.cpp", "namespace holdfast::other {\nenum { kLeast, kMost };\n}\n", 2),
    ("unity_clash", "src/core/zbad.cpp", "namespace holdfast {\ninline namespace other {\nint kMost;\n}\n}\n", 3),
    ("unity_clash", "src/core/zbad.cpp", 'namespace holdfast {\nextern "C" {\nint kMost = 1;\n}\n}\n', 3),
]  # fmt: skip


class Tidy(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name

    def plant(self, files: dict[str, str]) -> None:
        for path, text in files.items():
            full = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)

    def places(self, **options) -> list[tuple[str, int, str]]:
        """Where findings are, but for those of the map, which has its own test."""
        found = tidy.check(self.root, **{"allowed": (), "compile_headers": False, **options})
        return [(f.path, f.line, f.rule) for f in found if f.rule != "map"]

    def test_a_house_in_order_has_no_findings(self) -> None:
        self.plant(CLEAN)
        self.assertEqual(tidy.check(self.root, allowed=(), compile_headers=False), [])

    def test_each_planted_breach_is_found_at_its_line(self) -> None:
        self.plant(CLEAN)
        for rule, path, text, line in BREACHES:
            with self.subTest(rule=rule, text=text[:60]):
                self.plant({path: text})
                self.assertEqual(self.places(), [(path, line, rule)])
                os.remove(os.path.join(self.root, path))

    def test_every_rule_has_a_planted_breach(self) -> None:
        every = {rule.__name__ for rule in tidy.rules.FOR_CODE + tidy.rules.FOR_ALL_TEXT + tidy.unity.FOR_CODE}
        self.assertEqual(every | {"unity_clash"}, {breach[0] for breach in BREACHES})

    def test_a_clash_names_both_files_and_what_a_header_offers_counts(self) -> None:
        self.plant(CLEAN | {
            "src/core/offer.hpp": "#pragma once\nnamespace holdfast {\nint offered(int count);\nstruct Offer {};\n}\n",
            "src/core/offer.cpp": "namespace holdfast {\nint offered(int count) { return count; }\n}\n",
            "src/core/zbad.cpp": "namespace holdfast { namespace {\nint offered(int n) { return n; }\n"
                                 "struct Offer { int x; };\n} }\n",
        })  # fmt: skip
        found = tidy.check(self.root, allowed=(), compile_headers=False)
        expected = [("src/core/zbad.cpp", 2, "unity_clash"), ("src/core/zbad.cpp", 3, "unity_clash")]
        self.assertEqual([(f.path, f.line, f.rule) for f in found], expected)
        self.assertIn("src/core/offer.hpp:3", found[0].advice)

    def test_clashes_are_found_in_every_folder_that_is_compiled_as_one(self) -> None:
        for folder in ("src/core", "tests/conformance", "tests/simulation"):
            with self.subTest(folder):
                text = "namespace {\nint kSame = 1;\n}\n"
                self.plant(CLEAN | {f"{folder}/yfirst.cpp": text, f"{folder}/zsecond.cpp": text})
                self.assertEqual(self.places(), [(f"{folder}/zsecond.cpp", 2, "unity_clash")])
                for name in ("yfirst", "zsecond"):
                    os.remove(os.path.join(self.root, folder, f"{name}.cpp"))

    def test_a_source_that_no_target_builds_and_a_test_that_nobody_runs_are_found(self) -> None:
        self.plant(CLEAN | {
            "src/core/deep/lost.cpp": "int x;\n",
            "tests/system/lost_test.py": "import unittest\n",
            "tests/system/found_test.py": "import unittest\n",
            "tests/system/listed_test.py": "import unittest\n",
            "tests/CMakeLists.txt": "foreach(name listed other)\nendforeach()\nadd_test(NAME found COMMAND found_test.py)\n",
            "CMakeLists.txt": "holdfast_room(core PUBLIC x)\nholdfast_room_tests(core)\nholdfast_room(app)\n"
                              "holdfast_room(io)\n",
        })  # fmt: skip
        found = [(f.path, f.rule) for f in tidy.check(self.root, allowed=(), compile_headers=False)]
        self.assertEqual(found, [("src/core/deep/lost.cpp", "never_built"), ("tests/system/lost_test.py", "never_run")])

    def test_a_disabled_case_is_found(self) -> None:
        self.plant(CLEAN | {"src/core/off_test.cpp": "namespace off_test {\nTEST(A, b) {}\nTEST(A, DISABLED_c) {}\n}\n"})
        found = tidy.check(self.root, allowed=(), compile_headers=False)
        self.assertEqual([(f.path, f.line, f.rule) for f in found], [("src/core/off_test.cpp", 3, "disabled")])

    def test_a_room_missing_on_the_map_is_found(self) -> None:
        self.plant(CLEAN | {"src/engine/loop.cpp": "int x;\n"})
        found = tidy.check(self.root, allowed=(), compile_headers=False)
        self.assertEqual([(f.path, f.rule) for f in found], [("docs/ARCHITECTURE.md", "map")])
        self.assertIn("src/engine/", found[0].advice)

    def headers_found(self, **options) -> list[tuple[str, int, str]]:
        """Findings of the quick check, also for so few headers that it would compile them one by one."""
        with mock.patch.object(tidy.headers, "FEW", 0):
            return self.places(compile_headers=True, **options)

    def test_headers_that_do_not_stand_alone_are_found(self) -> None:
        self.plant({
            "include/holdfast/good.hpp": "#pragma once\nint f();\n",
            "include/holdfast/bad.hpp": "#pragma once\n\nstd::string f();\n",
            "src/core/bad.hpp": "#pragma once\n#include <holdfast/good.hpp>\nint g(Missing);\n",
            "docs/ARCHITECTURE.md": "src/core/\n",
        })  # fmt: skip
        public, own = ("include/holdfast/bad.hpp", 3, "alone"), ("src/core/bad.hpp", 3, "alone")
        both_compilers = [public, public, ("include/holdfast/bad.hpp", 3, "library_include")]
        for options in ({}, {"every_header_alone": True}):
            self.assertEqual(self.places(compile_headers=True, **options), [*both_compilers, own])
        self.plant({"src/core/bad.hpp": "#pragma once\nint g();\n"})
        self.assertEqual(self.places(compile_headers=True), both_compilers)

    def test_the_quick_check_finds_what_a_header_lacks(self) -> None:
        self.plant({
            "docs/ARCHITECTURE.md": "src/core/\n",
            "src/core/lent.hpp": "#pragma once\n#include <string>\n#include <fmt/format.h>\nstruct Lent { int at; };\n",
            "src/core/named.hpp": "#pragma once\nstruct Lent;\nLent* lent();\n",
        })  # fmt: skip
        self.assertEqual(self.headers_found(), [])
        for rule, text, line in (
            ("alone", "\n#include <string>\nint f(Lent);\n", 3),  # one of ours
            ("alone", '\n#include "core/named.hpp"\ninline int f() { return lent()->at; }\n', 3),  # ours, by a pointer
            ("library_include", "\n#include <vector>\nstd::string f(std::vector<int>);\n", 3),
            ("library_include", "\n#include <string>\ninline std::string f() { return fmt::format({}); }\n", 3),
            ("library_include", "\n#include <string>\nusing Unknown = std::no_such_name;\n", 3),
            ("alone", "\n#include <no_such_header>\n", 2),
            ("alone", '\ninline int f(unsigned a, int b) { return a < b; }\n', 2),  # a warning
        ):  # fmt: skip
            with self.subTest(text=text):
                self.plant({"src/core/zbad.hpp": "#pragma once" + text})
                self.assertIn(("src/core/zbad.hpp", line, rule), self.headers_found())

    def test_a_public_header_that_only_clang_takes_is_found(self) -> None:
        text = "#pragma once\n#ifndef __clang__\nint f(Missing);\n#endif\n"
        self.plant({"include/holdfast/bad.hpp": text, "include/holdfast/good.hpp": "#pragma once\nint g();\n"})
        self.assertEqual(self.headers_found(), [("include/holdfast/bad.hpp", 3, "alone")])

    def test_a_broken_header_is_found_once_and_not_again_where_it_is_included(self) -> None:
        self.plant({
            "docs/ARCHITECTURE.md": "src/core/\n",
            "src/core/broken.hpp": "#pragma once\nint f(Missing);\n",
            "src/core/user.hpp": '#pragma once\n#include "core/broken.hpp"\n',
        })  # fmt: skip
        self.assertEqual(self.headers_found(), [("src/core/broken.hpp", 2, "alone")])
        exact = self.places(compile_headers=True, every_header_alone=True)
        self.assertEqual(exact, [("src/core/broken.hpp", 2, "alone"), ("src/core/user.hpp", 1, "alone")])

    def test_a_header_that_passed_is_compiled_again_when_what_it_includes_changes(self) -> None:
        self.plant({
            "src/core/outer.hpp": '#pragma once\n#include "core/inner.hpp"\nint f(Inner);\n',
            "src/core/inner.hpp": "#pragma once\nstruct Inner {};\n",
            "docs/ARCHITECTURE.md": "src/core/\n",
        })  # fmt: skip
        self.assertEqual(self.headers_found(), [])
        self.plant({"src/core/inner.hpp": "#pragma once\nstruct Other {};\n"})
        self.assertEqual(self.headers_found(), [("src/core/outer.hpp", 3, "alone")])

    def test_a_header_lacks_something_that_a_header_before_it_in_the_same_run_has(self) -> None:
        self.plant({
            "docs/ARCHITECTURE.md": "src/io/\n",
            "src/io/trait.hpp": "#pragma once\ntemplate <class T> struct Trait;\n",
            "src/io/named.hpp": "#pragma once\nstruct Lent;\nLent* lent();\n",
        })  # fmt: skip
        # lent.hpp comes before abad.hpp in a run, since it includes more.
        top = '#pragma once\n#include "io/named.hpp"\n#include "io/trait.hpp"\n'
        user = '#pragma once\n#include "io/lent.hpp"\n#include "io/abad.hpp"\n'
        for lent, text, line in (
            ("struct Lent {};\n", "\nint f(Lent);\n", 2),
            ("#define LENT 1\n", "\ninline int f() { return LENT; }\n", 2),
            ("struct Lent { int at; };\n", '\n#include "io/named.hpp"\ninline int f() { return lent()->at; }\n', 3),
            ("template <> struct Trait<int> {};\n", '\n#include "io/trait.hpp"\ninline Trait<int> value;\n', 3),
            ("#include <sys/statvfs.h>\n", "\ninline auto f() { struct statvfs a{}; return a.f_bsize; }\n", 2),
        ):  # fmt: skip
            for others in ({}, {"src/io/user.hpp": user}):
                with self.subTest(text=text, others=others):
                    self.plant(others | {"src/io/lent.hpp": top + lent, "src/io/abad.hpp": "#pragma once" + text})
                    self.assertEqual(self.headers_found(), [("src/io/abad.hpp", line, "alone")])
            os.remove(os.path.join(self.root, "src/io/user.hpp"))

    def test_a_finding_stays_until_it_is_fixed(self) -> None:
        for text in ("#pragma once\n#ifndef __clang__\nint f(Missing);\n#endif\n", "#pragma once\n\nint f(Missing);\n"):
            self.plant({"include/holdfast/bad.hpp": text, "include/holdfast/good.hpp": "#pragma once\nint g();\n"})
            first = self.headers_found()
            self.assertIn(("include/holdfast/bad.hpp", 3, "alone"), first)
            self.assertEqual(self.headers_found(), first)

    def test_a_header_that_passed_is_compiled_again_with_other_flags(self) -> None:
        self.plant({"include/holdfast/some.hpp": "#pragma once\n#ifdef OTHER\nint f(Missing);\n#endif\n"})
        self.assertEqual(self.headers_found(), [])
        with mock.patch.object(tidy.headers, "FLAGS", [*tidy.headers.FLAGS, "-DOTHER"]):
            self.assertIn(("include/holdfast/some.hpp", 3, "alone"), self.headers_found())

    def test_headers_of_tests_and_benchmarks_stand_alone_too(self) -> None:
        self.plant({f"{top}/bad.hpp": "#pragma once\nint f(Missing);\n" for top in ("tests", "bench")})
        expected = [(f"{top}/bad.hpp", 2, "alone") for top in ("bench", "tests")]
        self.assertEqual(self.places(compile_headers=True), expected)

    def test_what_a_header_uses_of_libraries_it_must_reach(self) -> None:
        self.plant({
            "src/core/far.hpp": "#pragma once\n#include <string>\n",
            "src/core/near.hpp": '#pragma once\n#include "far.hpp"\n',
            "tests/support/far.hpp": "#pragma once\n#include <string>\n",
        })  # fmt: skip
        for text, lines in (
            ("std::vector<int> f();\nstd::string g();\n", [2, 3]),
            ("std::size_t f();\n", [2]),
            ("#include <vector>\nstd::size_t f();\n", []),  # no container can do without it
            ("#include <string>\nstd::strong_ordering f();\n", []),  # the standard says that <string> brings it
            ('#include "near.hpp"\nstd::string f();\n', []),  # through two of ours, beside this one
            ("#include <support/far.hpp>\nstd::string f();\n", []),
            ('inline int f() { return ::open("a", O_RDONLY); }\n', [2]),
            ("re2::RE2* f();\n", [2]),
            ("namespace re2 { class RE2; }\nre2::RE2* f();\n", []),
        ):  # fmt: skip
            with self.subTest(text=text):
                self.plant({"src/core/some.hpp": "#pragma once\n" + text})
                checked = tidy.headers.Headers(self.root, ["src/core/some.hpp"])
                self.assertEqual([line for _, line, _ in checked.missing_includes()], lines)

    def test_the_program_fails_if_there_are_findings_and_hands_its_options_on(self) -> None:
        finding = tidy.Finding("src/a.cpp", 7, "clock", "ask the Clock")
        for options, found, code in (([], [finding], 1), (["--every-header-alone"], [], 0)):
            with (mock.patch.object(tidy, "check", return_value=found) as check, mock.patch("builtins.print"),
                  mock.patch.object(sys, "argv", ["tidy.py", *options, self.root])):  # fmt: skip
                self.assertEqual(tidy.main(), code)
                self.assertEqual(check.call_args.args, (self.root,))
                self.assertEqual(check.call_args.kwargs["every_header_alone"], bool(options))

    def test_a_run_says_what_it_looked_at_and_for_how_long(self) -> None:
        self.plant(CLEAN)
        summary = tidy.Summary()
        tidy.check(self.root, allowed=(), compile_headers=False, summary=summary)
        self.assertEqual((summary.files, summary.headers), (len(CLEAN), 4))
        self.assertRegex(str(summary), r"^\d+ files, 4 headers \(text \d+\.\d s, unity clashes \d+\.\d s\)$")

    def test_an_allowed_breach_passes_and_an_idle_entry_is_found(self) -> None:
        self.plant(CLEAN | {"src/core/bad.cpp": "auto* a = new int;\n"})
        allowed = (tidy.Allowed("src/core/bad.cpp", "raw_new", "for this test"),)
        self.assertEqual(self.places(allowed=allowed), [])
        os.remove(os.path.join(self.root, "src/core/bad.cpp"))
        self.assertEqual(self.places(allowed=allowed), [("tests/tidy/tidy.py", 1, "allowed")])

    def test_a_finding_reads_as_compilers_write_theirs(self) -> None:
        finding = tidy.Finding("src/a.cpp", 7, "clock", "ask the Clock")
        self.assertEqual(str(finding), "src/a.cpp:7: clock: ask the Clock")


class Declared(unittest.TestCase):
    def names(self, code: str) -> list[tuple[str, str]]:
        return [(one.name, one.kind) for one in declarations.declared(code_text.blank(code))]

    def test_names_only_what_stands_at_namespace_scope(self) -> None:
        after = ("after", "variable")
        for code, expected in (
            ("enum class Kind { one, two };", [("Kind", "type")]),
            ("enum Kind : int { one, two = 3 };", [("Kind", "type"), ("one", "variable"), ("two", "variable")]),
            ("template <> struct Hash<Key> { int at; };", []),
            ("template <class T> concept Fits = sizeof(T) > 1;", [("Fits", "type")]),
            ("[[deprecated]] struct Old { int at; };", [("Old", "type")]),
            ("struct Outer::Inner { int at; };", []),
            ("A::A(int a) : a_{a}, b_{2} { int local; }", []),
            ("template <class T> requires (T::fits) void f(T t) { int local; }", [("f", "function")]),
            ("bool operator<(A a, B b) { return true; }", [("operator<", "function")]),
            ("bool operator==(A a, B b) { return true; }", [("operator==", "function")]),
            ("template <int N = 1> void g() { int local; }", [("g", "function")]),
            ("auto f = [](int a) { int local; return a; };", [("f", "variable")]),
        ):  # fmt: skip
            with self.subTest(code=code):
                self.assertEqual(self.names(code + "\nint after = 1;\n"), [*expected, after])

    def test_says_what_is_hidden_and_what_is_only_declared(self) -> None:
        code = "extern int a;\nint b;\nnamespace { namespace inner { int c; } }\nvoid d();\nvoid d() {}\n"
        found = [(one.name, one.namespace, one.anonymous, one.defines) for one in declarations.declared(code)]
        self.assertEqual(found, [("a", "", False, False), ("b", "", False, True), ("c", "inner", True, True),
                                 ("d", "", False, False), ("d", "", False, True)])  # fmt: skip


class Blank(unittest.TestCase):
    def test_keeps_every_line_and_column(self) -> None:
        for text in CLEAN.values():
            blanked = code_text.blank(text)
            self.assertEqual([len(line) for line in blanked.split("\n")],
                             [len(line) for line in text.split("\n")])  # fmt: skip

    def test_hides_what_is_no_code(self) -> None:
        for text in (
            '"new"', '"\\"new"', "'\\'' /*new*/", "// new\\\nnew", 'R"(new)"', 'R"a(")" new )a"',
            "/* new", 'u8"new"', "1'000 // new", "0x1'f /* ' */ // new",
        ):  # fmt: skip
            self.assertNotIn("new", code_text.blank(text), text)

    def test_leaves_code(self) -> None:
        for text in ("'\"' new '\"'", "1'000 new 2'000", '"//" new', "/**/ new", 'R"()" new'):
            self.assertIn("new", code_text.blank(text), text)


if __name__ == "__main__":
    unittest.main()
