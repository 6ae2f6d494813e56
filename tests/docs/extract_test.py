#!/usr/bin/env python3
"""Tests of extract.py on small pages."""

import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(__file__))
import extract


def page_of(*lines: str, path: str = "docs/retry.md") -> extract.Page:
    return extract.read_page(path, "\n".join(lines) + "\n")


class ReadPage(unittest.TestCase):
    def assert_error(self, message: str, *lines: str) -> None:
        with self.assertRaises(extract.PageError) as caught:
            page_of(*lines)
        self.assertIn(message, str(caught.exception))

    def test_finds_marked_blocks_with_their_lines(self) -> None:
        page = page_of("# Page", "<!-- test-file: types -->", "```cpp", "struct A {};", "```", "",
                       "<!-- test: uses_it -->", "", "```c++", "A a;", "```")  # fmt: skip
        self.assertEqual(page.snippets, [extract.Snippet("test-file", "types", 4, "struct A {};\n"),
                                         extract.Snippet("test", "uses_it", 10, "A a;\n")])  # fmt: skip

    def test_an_unmarked_block_is_an_error_at_its_line(self) -> None:
        self.assert_error("docs/retry.md:2: an untested ```cpp block", "text", "```cpp", "int a;", "```")

    def test_a_mark_counts_only_for_the_block_right_below(self) -> None:
        self.assert_error("docs/retry.md:1: no ```cpp block follows", "<!-- test: a -->", "words",
                          "```cpp", "```")  # fmt: skip
        self.assert_error("docs/retry.md:1: no ```cpp block follows", "<!-- test: a -->", "```sh", "```")
        self.assert_error("docs/retry.md:1: no ```cpp block follows", "<!-- test: a -->")

    def test_blocks_of_other_languages_are_left_alone(self) -> None:
        self.assertEqual(page_of("```sh", "make", "```", "```", "<!-- test: a -->", "```").snippets, [])

    def test_a_longer_fence_may_show_a_shorter_one(self) -> None:
        self.assertEqual(page_of("````md", "```cpp", "int a;", "```", "````").snippets, [])

    def test_a_block_in_a_list_loses_its_indent(self) -> None:
        page = page_of("- item", "  <!-- test: a -->", "  ```cpp", "  int a;", "    a = 1;", "  ```")
        self.assertEqual(page.snippets[0].code, "int a;\n  a = 1;\n")

    def test_no_test_needs_a_reason(self) -> None:
        self.assert_error("docs/retry.md:1: no-test without a reason", "<!-- no-test: -->", "```cpp", "```")
        page = page_of("<!-- no-test: shows what is wrong -->", "```cpp", "oops", "```")
        self.assertEqual(page.snippets[0].kind, "no-test")

    def test_bad_and_repeated_names_are_errors(self) -> None:
        self.assert_error("docs/retry.md:1: 'a b' cannot name a test", "<!-- test: a b -->", "```cpp", "```")
        self.assert_error("docs/retry.md:5: 'a' is also the name of the snippet at line 2",
                          "<!-- test: a -->", "```cpp", "```", "<!-- test: a -->", "```cpp", "```")  # fmt: skip

    def test_an_open_block_is_an_error(self) -> None:
        self.assert_error("docs/retry.md:2: this block is never closed", "<!-- test: a -->", "```cpp", "x")


class CheckCopies(unittest.TestCase):
    def check(self, shown: str, path: str = "main.cpp") -> None:
        with tempfile.TemporaryDirectory() as root:
            with open(os.path.join(root, "main.cpp"), "w", encoding="utf-8") as file:
                file.write("int a;\nint b;\n")
            page = page_of(f"<!-- same-as: {path} -->", "```cpp", *shown.splitlines(), "```")
            extract.check_copies(page, root)
            self.assertNotIn("int a;", extract.generate([page]))

    def test_the_same_text_is_fine_and_no_test(self) -> None:
        self.check("int a;\nint b;\n")

    def test_another_text_is_an_error_at_its_line(self) -> None:
        for shown, line in (("int a;\nint c;\n", "4: differs from main.cpp:2"),
                            ("int a;\n", "4: differs from main.cpp:2"),
                            ("int a;\nint b;\nint c;\n", "5: differs from main.cpp:3")):  # fmt: skip
            with self.assertRaises(extract.PageError) as caught:
                self.check(shown)
            self.assertIn(line, str(caught.exception))

    def test_a_file_that_is_not_there_is_an_error(self) -> None:
        with self.assertRaises(extract.PageError) as caught:
            self.check("int a;\n", path="other.cpp")
        self.assertIn("other.cpp: No such file", str(caught.exception))


class Generate(unittest.TestCase):
    def test_names_the_suite_after_the_page(self) -> None:
        for path, suite in (("README.md", "ReadmeGuide"), ("docs/retry.md", "RetryGuide"),
                            ("docs/circuit-breaker.md", "CircuitBreakerGuide")):  # fmt: skip
            self.assertEqual(extract.Page(path).suite, suite)

    def test_writes_tests_that_point_back_to_the_page(self) -> None:
        text = extract.generate([page_of("<!-- test: works -->", "```cpp", "int a;", "```")], "/root")
        self.assertIn('TEST(RetryGuide, works) {\n#line 3 "/root/docs/retry.md"\nint a;\n}\n', text)

    def test_moves_includes_to_the_top_and_keeps_line_numbers(self) -> None:
        text = extract.generate([page_of("<!-- test: a -->", "```cpp", "#include <map>", "int a;", "```")])
        self.assertLess(text.index("#include <map>"), text.index("namespace"))
        self.assertIn('#line 3 "./docs/retry.md"\n\nint a;', text)
        self.assertEqual(text.count("#include <map>"), 1)

    def test_leaves_out_what_is_not_to_be_tested(self) -> None:
        text = extract.generate([page_of("<!-- no-test: a sketch -->", "```cpp", "oops", "```")])
        self.assertNotIn("oops", text)

    def test_without_snippets_it_is_still_a_valid_file(self) -> None:
        self.assertIn("#include <gtest/gtest.h>", extract.generate([]))


class Main(unittest.TestCase):
    def test_reports_every_bad_page_and_writes_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as root:
            for name in ("a.md", "b.md"):
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write("```cpp\n```\n")
            out = os.path.join(root, "out.cpp")
            errors = io.StringIO()
            with contextlib.redirect_stderr(errors):
                self.assertEqual(extract.main([out, root, "a.md", "b.md"]), 1)
            self.assertIn("a.md:1:", errors.getvalue())
            self.assertIn("b.md:1:", errors.getvalue())
            self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    unittest.main()
