"""Says which outside header a name in our headers needs. The quick check of headers.py compiles on top of a
precompiled standard library, so a missing #include <string> shows here and not in the compiler."""

import re
from collections.abc import Iterator
from functools import cache

import code_text
from include_graph import IncludeGraph

# Standard header -> the names of namespace std that our headers take from it. A name that the standard puts into
# several headers stands with each of them.
STANDARD: dict[str, str] = {
    "algorithm": "max min clamp equal ranges::count_if ranges::count ranges::any_of ranges::find ranges::lower_bound "
                 "ranges::move ranges::sort ranges::all_of ranges::none_of ranges::find_if ranges::copy sort",
    "any": "any",
    "array": "array to_array get",
    "atomic": "atomic memory_order_acquire memory_order_relaxed memory_order_release atomic_flag",
    "cctype": "tolower",
    "charconv": "from_chars to_chars",
    "chrono": "chrono chrono_literals",
    "compare": "strong_ordering partial_ordering weak_ordering",
    "concepts": "convertible_to integral signed_integral unsigned_integral floating_point same_as invocable "
                "derived_from",
    "condition_variable": "condition_variable condition_variable_any cv_status",
    "coroutine": "coroutine_handle suspend_always suspend_never",
    "csignal": "signal raise sig_atomic_t",
    "cstddef": "size_t ptrdiff_t nullptr_t byte max_align_t",
    "cstdint": "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uintptr_t intptr_t",
    "cstdio": "FILE fclose fopen fputs fgetc fflush fwrite fread size_t printf fprintf",
    "cstdlib": "abort free malloc quick_exit exit getenv size_t",
    "cstring": "memcpy memcmp strlen size_t",
    "ctime": "time_t tm size_t",
    "deque": "deque erase_if erase",
    "exception": "exception exception_ptr rethrow_exception current_exception make_exception_ptr terminate",
    "expected": "expected unexpected unexpect",
    "filesystem": "filesystem",
    "format": "format formatter",
    "fstream": "ifstream ofstream fstream",
    "functional": "function move_only_function less invoke hash equal_to greater ref cref reference_wrapper",
    "future": "future promise future_status future_error async",
    "initializer_list": "initializer_list",
    "ios": "ios ios_base",
    "iosfwd": "ostream istream ostringstream",
    "iostream": "cout cerr clog cin ostream istream",
    "istream": "istream",
    "iterator": "back_inserter istreambuf_iterator inserter next prev begin end size forward_iterator_tag",
    "latch": "latch",
    "limits": "numeric_limits",
    "list": "list erase_if erase",
    "map": "map multimap less erase_if",
    "memory": "shared_ptr unique_ptr weak_ptr make_shared make_unique enable_shared_from_this static_pointer_cast "
              "dynamic_pointer_cast allocator addressof hash",
    "mutex": "mutex lock_guard unique_lock scoped_lock recursive_mutex once_flag call_once",
    "new": "bad_alloc nothrow align_val_t",
    "numeric": "accumulate",
    "optional": "optional nullopt nullopt_t make_optional hash",
    "ostream": "ostream endl",
    "queue": "queue priority_queue",
    "random": "mt19937_64 mt19937 uniform_int_distribution random_device",
    "ranges": "ranges views",
    "ratio": "milli micro nano ratio",
    "semaphore": "counting_semaphore binary_semaphore",
    "set": "set multiset less erase_if",
    "shared_mutex": "shared_mutex shared_lock",
    "source_location": "source_location",
    "span": "span as_bytes dynamic_extent",
    "sstream": "ostringstream istringstream stringstream",
    "stdexcept": "runtime_error logic_error invalid_argument out_of_range",
    "stop_token": "stop_token stop_source stop_callback",
    "string": "string to_string stol getline string_literals hash char_traits erase erase_if stoi stoull",
    "string_view": "string_view string_view_literals hash",
    "system_error": "error_code system_error generic_category errc is_error_code_enum_v error_category make_error_code "
                    "is_error_code_enum system_category hash error_condition",
    "thread": "thread jthread this_thread hash",
    "tuple": "tuple get tie make_tuple ignore tuple_size_v tuple_element_t apply",
    "type_traits": "is_void_v is_same_v type_identity remove_cvref_t is_invocable_v is_constructible_v is_arithmetic_v "
                   "is_pointer_v is_enum_v is_class_v conditional_t true_type false_type invoke_result_t decay_t "
                   "is_default_constructible_v enable_if_t underlying_type_t is_base_of_v void_t bool_constant "
                   "is_nothrow_move_constructible_v is_copy_constructible_v remove_reference_t",
    "typeinfo": "type_info",
    "unordered_map": "unordered_map unordered_multimap hash equal_to erase_if",
    "unordered_set": "unordered_set unordered_multiset hash equal_to",
    "utility": "move exchange pair forward swap declval get in_place in_place_type make_pair to_underlying as_const "
               "integer_sequence index_sequence make_index_sequence index_sequence_for unreachable",
    "variant": "variant monostate visit get get_if holds_alternative variant_size_v variant_alternative_t hash",
    "vector": "vector erase_if erase",
    "version": "",
}  # fmt: skip

# A standard header that brings all of another one; only what the standard itself demands.
BRINGS: dict[str, tuple[str, ...]] = {
    "algorithm": ("initializer_list",), "array": ("compare", "initializer_list"), "chrono": ("compare", "ratio"),
    "compare": (), "deque": ("compare", "initializer_list"), "iostream": ("ios", "istream", "ostream"),
    "fstream": ("iosfwd",), "istream": ("iosfwd",), "ostream": ("iosfwd", "ios"),
    "list": ("compare", "initializer_list"),
    "map": ("compare", "initializer_list"), "memory": ("compare",), "optional": ("compare",),
    "ranges": ("compare", "initializer_list", "iterator"), "set": ("compare", "initializer_list"),
    "sstream": ("iosfwd",), "stop_token": (), "string": ("compare", "initializer_list"), "string_view": ("compare",),
    "system_error": ("compare",), "thread": ("compare",), "tuple": ("compare",), "typeinfo": ("compare",),
    "unordered_map": ("compare", "initializer_list"), "unordered_set": ("compare", "initializer_list"),
    "utility": ("compare", "initializer_list"), "variant": ("compare",), "vector": ("compare", "initializer_list"),
    "stdlib.h": ("cstdlib",), "stdint.h": ("cstdint",), "stdio.h": ("cstdio",), "signal.h": ("csignal",),
}  # fmt: skip

# (what a header must reach, if its code matches): by the beginning of what is included.
THIRD_PARTY: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("boost/asio", re.compile(r"\bboost\s*::\s*asio\s*::\s*\w+|(?<![\w:])asio\s*::\s*\w+")),
    ("boost/json", re.compile(r"\bboost\s*::\s*json\s*::\s*\w+")),
    ("boost/beast", re.compile(r"\bboost\s*::\s*beast\s*::\s*\w+")),
    ("boost/", re.compile(r"\bboost\s*::(?:\s*\w+\s*::)*\s*\w+")),
    ("fmt/", re.compile(r"(?<![\w:])fmt\s*::\s*\w+")),
    ("re2/", re.compile(r"(?<![\w:])re2\s*::\s*\w+")),
    ("toml++/", re.compile(r"(?<![\w:])toml\s*::\s*\w+")),
    ("rapidcheck", re.compile(r"(?<![\w:])rc\s*::\s*\w+")),
    ("gtest/", re.compile(r"(?<![\w:])(?:::\s*)?testing\s*::\s*(?:Test|Assertion|Message|Values|TempDir|PrintTo)\w*"
                          r"|\b(?:EXPECT|ASSERT)_[A-Z]+|\bADD_FAILURE\b|\bFAIL\s*\(")),
    ("gmock/", re.compile(r"\bMOCK_METHOD\b")),
    ("sqlite3.h", re.compile(r"\bsqlite3_\w+\s*\(|\bSQLITE_[A-Z]+")),
    ("curl/", re.compile(r"\bcurl_\w+\s*\(|\bCURL(?:OPT|E|INFO|M)_\w+|\bCURL_\w+")),
    ("openssl/", re.compile(r"\b(?:SSL|EVP|X509|BIO|PEM)_\w+\s*\(")),
    ("amqp", re.compile(r"\bamqp_\w+\s*\(|\bAMQP_\w+")),
)  # fmt: skip
# Global names of the C library and of POSIX -> the headers that declare them.
POSIX: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (("unistd.h",), re.compile(r"(?<![\w>.:)])::\s*(?:close|read|write|unlink|getpid|pipe2?|dup2|fork|isatty)\s*\(")),
    (("sys/socket.h",), re.compile(r"(?<![\w>.:)])::\s*(?:socket|bind|listen|accept4?|send|recv|connect|shutdown|"
                                   r"getsockname|setsockopt)\s*\(|\bSOCK_[A-Z]+|\bMSG_[A-Z]+|\bSHUT_[A-Z]+")),
    (("fcntl.h",), re.compile(r"\bO_[A-Z]+\b|(?<![\w>.:)])::\s*open\s*\(")),
    (("poll.h",), re.compile(r"\bPOLL[A-Z]+\b|(?<![\w>.:)])::\s*poll\s*\(")),
    (("sys/wait.h",), re.compile(r"(?<![\w>.:)])::\s*waitpid\s*\(|\bWIFEXITED\b|\bWNOHANG\b")),
    (("signal.h", "csignal"), re.compile(r"(?<![\w>.:)])::\s*kill\s*\(|\bSIG[A-Z]{3,}\b|\bpthread_sigmask\b")),
    (("cerrno", "errno.h"), re.compile(r"\berrno\b|(?<![\w:])E(?:INTR|AGAIN|CONNRESET|EXIST|NOENT|INVAL|PIPE)\b")),
    (("cassert", "assert.h"), re.compile(r"(?<![\w.])assert\s*\(")),
    (("stdlib.h", "cstdlib"), re.compile(r"(?<![\w>.:)])::\s*(?:mkdtemp|unsetenv|setenv|getenv)\s*\(")),
    (("cstdint", "stdint.h"), re.compile(r"\bU?INT(?:8|16|32|64)_MAX\b|\bSIZE_MAX\b")),
)  # fmt: skip

# Names that no implementation can write its containers without: whoever reaches one of these headers has them.
# Accepted, since half of our headers rely on it; for all other names the header that the standard names is wanted.
EVERYWHERE = {"move", "forward", "pair", "size_t", "nullptr_t"}
_BASIC = {
    "algorithm", "array", "chrono", "deque", "expected", "functional", "list", "map", "memory", "mutex", "optional",
    "set", "span", "string", "string_view", "tuple", "unordered_map", "unordered_set", "variant", "vector",
}  # fmt: skip

_STD = re.compile(r"(?<![\w:])(?:::\s*)?std\s*::\s*(\w+)(?:\s*::\s*(\w+))?")
_FORWARD = re.compile(r"\bnamespace\s+[\w:]+\s*\{[^{}]*\}")
_DIRECTIVE_OR_FORWARD = re.compile(rf"^[ \t]*#(?:\\\n|[^\n])*|{_FORWARD.pattern}", re.M)
_FORWARD_NAME = re.compile(r"\b(?:class|struct)\s+(\w+)\s*;")


def _providers() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for header, names in STANDARD.items():
        for name in names.split():
            found.setdefault(name, set()).add(header)
    return found


_PROVIDERS = _providers()


def _with_what_they_bring(headers: set[str]) -> set[str]:
    found: set[str] = set()
    ahead = list(headers)
    while ahead:
        at = ahead.pop()
        if at not in found:
            found.add(at)
            ahead += BRINGS.get(at, ())
    return found


def missing(graph: IncludeGraph, header: str) -> Iterator[tuple[int, str]]:
    """(line, what to do) of each outside name whose header is not reached, once for each name."""
    reached = _with_what_they_bring(graph.outside_reached(header))
    code = _DIRECTIVE_OR_FORWARD.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), graph.code(header))
    forward = {name for own in graph.reached(header) for name in _declared_only(graph.code(own))}
    yield from _missing_standard(code, reached)
    for start, pattern in THIRD_PARTY:
        found = next((f for f in pattern.finditer(code) if re.split(r"\W+", f.group())[-1] not in forward), None)
        if found and not any(name.startswith(start) for name in reached):
            line = code_text.line_of(code, found.start())
            yield line, f"uses {_shown(found)} and reaches no <{start}…>: include it"
    for headers, pattern in POSIX:
        found = pattern.search(code)
        if found and not reached & set(headers):
            yield code_text.line_of(code, found.start()), f"uses {_shown(found)} without <{headers[0]}>: include it"


@cache
def _declared_only(code: str) -> frozenset[str]:
    """Foreign classes that a header of ours declares itself (namespace re2 { class RE2; }): they need no include."""
    return frozenset(name for block in _FORWARD.findall(code) for name in _FORWARD_NAME.findall(block))


def _shown(found: re.Match[str]) -> str:
    return "'" + re.sub(r"\s+", "", found.group()).rstrip("(") + "'"


def _missing_standard(code: str, reached: set[str]) -> Iterator[tuple[int, str]]:
    told: set[str] = set()
    for found in _STD.finditer(code):
        name = f"{found[1]}::{found[2]}" if found[1] == "ranges" and found[2] else found[1]
        if name in told:
            continue
        providers = _PROVIDERS.get(name) or (_PROVIDERS["ranges"] if name.startswith("ranges::") else None)
        if providers is None:
            told.add(name)
            line = code_text.line_of(code, found.start())
            yield line, f"std::{name} is not in STANDARD of tests/tidy/provided.py: add it to the row of its header"
        elif not providers & reached and not (name in EVERYWHERE and _BASIC & reached):
            told.add(name)
            line = code_text.line_of(code, found.start())
            yield line, f"uses std::{name} without {' or '.join(f'<{one}>' for one in sorted(providers))}: include it"
