"""C++ source with its comments and literals blanked, so that rules see only code."""

import re

# What may hide code-like text. Order matters: a raw string may hold anything, a comment may hold
# quotes, and a digit separator (1'000) must not open a character literal.
_HIDDEN = re.compile(
    r"""
      (?P<raw> R"(?P<mark>[^()\\\s]{0,16})\( .*? \)(?P=mark)" )
    | (?P<line> // (?: \\\n | [^\n] )* )
    | (?P<block> /\* .*? (?: \*/ | \Z ) )
    | (?P<string> " (?: \\. | [^"\\\n] )* " )
    | (?P<number> \b\d [\w.']* )
    | (?P<char> ' (?: \\. | [^'\\\n] )* ' )
    """,
    re.VERBOSE | re.DOTALL,
)
_BUT_NEWLINES = re.compile(r"[^\n]")


def blank(text: str) -> str:
    """The same text with spaces for comments and for what stands between quotes: every line and
    column stays where it was."""

    def spaces(match: re.Match[str]) -> str:
        found = match.group()
        if match.lastgroup == "number":
            return found
        hidden = _BUT_NEWLINES.sub(" ", found)
        if match.lastgroup in ("string", "char"):
            hidden = found[0] + hidden[1:-1] + found[-1]
        return hidden

    return _HIDDEN.sub(spaces, text)


_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*", re.MULTILINE)
_TARGET = re.compile(r'[<"]([^>"\n]+)[>"]')


def includes(text: str, code: str) -> list[tuple[int, str]]:
    """(line, what is included, with its brackets) of each #include; `code` is blank(text)."""
    found = []
    for match in _INCLUDE.finditer(code):
        target = _TARGET.match(text, match.end())
        if target:
            found.append((line_of(text, match.end()), target.group()))
    return found


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
