"""What a C++ file declares at namespace scope. Not a parser: it follows brackets and reads off names, which is
enough for code that compiles."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.']*|::|->|\S")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
_WORD = re.compile(r"[A-Za-z_]\w*")
_OPEN = {"(": ")", "[": "]", "{": "}"}
_TYPE_KEYS = ("struct", "class", "union", "enum")
_TYPE_WORDS = {"int", "char", "bool", "long", "short", "unsigned", "signed", "float", "double", "void", "auto", "const"}


@dataclass(frozen=True)
class Declaration:
    name: str
    kind: str  # function, variable, type, alias, using, using_namespace, namespace_alias
    namespace: str  # without its anonymous parts
    anonymous: bool  # in an anonymous namespace
    defines: bool  # False for a forward declaration
    line: int
    detail: str  # what two of them must share to be the same: parameters, target of an alias


@dataclass(frozen=True)
class _Token:
    text: str
    at: int


def declared(code: str) -> Iterator[Declaration]:
    """The declarations of a file; `code` is code_text.blank() of its text."""
    flat = _DIRECTIVE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), code)
    tokens = [_Token(found.group(), found.start()) for found in _TOKEN.finditer(flat)]
    scopes: list[str] = []
    at = 0
    while at < len(tokens):
        text = tokens[at].text
        if text == "}":
            del scopes[-1:]
            at += 1
            continue
        opened = _opened_scope(tokens, at)
        if opened:
            name, at = opened
            scopes.append(name)
            continue
        end = _end_of_statement(tokens, at)
        statement = _without_template_head(tokens[at:end])
        if statement:
            yield from _read(statement, scopes, code)
        at = end


def _opened_scope(tokens: list[_Token], at: int) -> tuple[str, int] | None:
    """(name, where its content begins) if a namespace or an extern "C" block opens here. Anonymous: ''."""
    start = at + 1 if tokens[at].text == "inline" else at
    words = [token.text for token in tokens[start : start + 24]]
    if words[:1] == ["namespace"] and "{" in words and "=" not in words[: words.index("{")]:
        brace = words.index("{")
        return "".join(words[1:brace]), start + brace + 1
    if words[:1] == ["extern"] and words[1:4] == ['"', '"', "{"]:
        return "extern", start + 4
    return None


def _closing(tokens: list[_Token], at: int) -> int:
    """The index behind the bracket that closes the one at `at`."""
    depth = 0
    while at < len(tokens):
        if tokens[at].text in _OPEN:
            depth += 1
        elif tokens[at].text in _OPEN.values():
            depth -= 1
        at += 1
        if depth == 0:
            break
    return at


def _end_of_statement(tokens: list[_Token], at: int) -> int:
    """The index behind the statement that begins at `at`: behind its ';', or behind the body of a function."""
    start = at
    called = assigned = False
    while at < len(tokens):
        text = tokens[at].text
        if text == ";":
            return at + 1
        if text == "operator":  # its signs are its name: operator== assigns nothing
            at = _behind_operator(tokens, at)
            continue
        if text == "template" and at + 1 < len(tokens) and tokens[at + 1].text == "<":  # nor does a default in its head
            at = _behind_angles(tokens, at + 1)
            continue
        if text == "=":
            assigned = True
        if text == "(":
            called = True
        if text == "{" and called and not assigned and not _is_type(tokens[start:at]):
            end = _behind_body(tokens, at)
            return end
        if text == "}":
            return at
        at = _closing(tokens, at) if text in _OPEN else at + 1
    return at


def _behind_operator(tokens: list[_Token], at: int) -> int:
    """The index of the bracket that opens the parameters of the operator whose keyword is at `at`."""
    end = at + 1
    if [token.text for token in tokens[end : end + 2]] == ["(", ")"]:
        end += 2
    while end < len(tokens) and tokens[end].text not in ("(", ";"):
        end += 1
    return end


def _behind_body(tokens: list[_Token], at: int) -> int:
    """The index behind the body of a function; the brace at `at` may still initialise a member: a{1}, b{2} {}"""
    end = _closing(tokens, at)
    while end < len(tokens) and tokens[end].text == ",":
        while end < len(tokens) and tokens[end].text not in ("{", "("):
            end += 1
        end = _closing(tokens, end)
    return _closing(tokens, end) if end < len(tokens) and tokens[end].text == "{" else end


def _is_type(statement: list[_Token]) -> bool:
    words = [token.text for token in _without_template_head(statement)]
    return bool(words) and (words[0] in _TYPE_KEYS or words[:2] == ["typedef", "struct"])


def _without_template_head(statement: list[_Token]) -> list[_Token]:
    """The statement without attributes, template <…> and its requires-clause in brackets."""
    while statement:
        first = statement[0].text
        if first == "[":  # an attribute
            statement = statement[_closing(statement, 0) :]
        elif first == "template":
            statement = statement[_behind_angles(statement, 1) :]
        elif first == "requires":
            end = next((i for i, token in enumerate(statement) if token.text == ")"), len(statement) - 1)
            statement = statement[end + 1 :]
        else:
            break
    return statement


def _behind_angles(tokens: list[_Token], at: int) -> int:
    depth = 0
    while at < len(tokens):
        text = tokens[at].text
        depth += (text == "<") - (text == ">")
        at = _closing(tokens, at) if text in ("(", "{", "[") else at + 1
        if depth == 0:
            break
    return at


def _top_level(statement: list[_Token]) -> list[tuple[int, str]]:
    """(index, text) of the tokens outside of <…>, up to the first bracket, '=' or ';'; that one included."""
    found = []
    at = 0
    while at < len(statement):
        text = statement[at].text
        if text == "operator":  # its signs are its name
            end = _behind_operator(statement, at)
            found.append((at, "operator" + "".join(token.text for token in statement[at + 1 : end])))
            at = end
            continue
        if text == "<":
            at = _behind_angles(statement, at)
            found.append((at - 1, ">"))
            continue
        following = statement[at + 1].text if at + 1 < len(statement) else ""
        if text == following == "[" or text in ("alignas", "decltype", "noexcept", "explicit") and following == "(":
            at = _closing(statement, at + (text != "["))
            continue
        found.append((at, text))
        if text in ("(", "{", "=", ";", "[", ":"):
            break
        at += 1
    return found


def _read(statement: list[_Token], scopes: list[str], code: str) -> Iterator[Declaration]:
    words = [token.text for token in statement]
    line = code.count("\n", 0, statement[0].at) + 1
    namespace = "::".join(scope for scope in scopes if scope not in ("", "extern"))
    hidden = "" in scopes

    def one(name: str, kind: str, defines: bool = True, detail: str = "") -> Declaration:
        return Declaration(name, kind, namespace, hidden, defines, line, detail)

    if words[0] in ("using", "namespace"):
        yield from (one(*found) for found in _of_using(words))
        return
    if words[0] in _TYPE_KEYS:
        yield from (one(*found) for found in _of_type(statement))
        return
    if words[0] in ("typedef", "static_assert", "friend", ";", "export"):
        return
    found = _of_function_or_variable(statement)
    if found:
        yield one(*found)


def _of_using(words: list[str]) -> Iterator[tuple[str, str, bool, str]]:
    target = "".join(words[words.index("=") + 1 : -1]) if "=" in words else ""
    if words[0] == "namespace":
        yield words[1], "namespace_alias", True, target
    elif words[1] == "namespace":
        yield "".join(words[2:-1]), "using_namespace", True, ""
    elif words[1] == "enum":
        yield "".join(words[2:-1]), "using_enum", True, ""
    elif "=" in words:
        yield words[1], "alias", True, target
    else:
        yield words[-2], "using", True, "".join(words[1:-1])


def _of_type(statement: list[_Token]) -> Iterator[tuple[str, str, bool, str]]:
    top = [(at, text) for at, text in _top_level(statement) if text not in ("final", *_TYPE_KEYS)]
    names = [text for _, text in top if _WORD.fullmatch(text)]
    words = [token.text for token in statement]
    body = "{" in words
    if any(text in ("::", ">") for _, text in top):  # a nested type or a specialisation
        return
    if names:
        yield names[0], "type", body, ""
    if body and words[0] == "enum" and words[1] not in ("class", "struct"):
        inside = statement[words.index("{") :]
        for at, token in enumerate(inside):
            if token.text in ("{", ",") and _WORD.fullmatch(inside[at + 1].text):
                yield inside[at + 1].text, "variable", True, ""


def _of_function_or_variable(statement: list[_Token]) -> tuple[str, str, bool, str] | None:
    top = _top_level(statement)
    words = [text for _, text in top]
    if len(words) < 3 or words[-1] == ":":
        return None
    if words[0] == "concept":
        return words[1], "type", True, ""
    last, name = words[-1], words[-2]
    if not (_WORD.match(name)) or words[-3] == "::":  # a specialisation, or a member defined outside of its class
        return None
    if last == "(":
        behind = _closing(statement, top[-1][0])
        defines = any(token.text == "{" for token in statement[behind:])
        return name, "function", defines, parameters(statement[top[-1][0] + 1 : behind - 1])
    if last in ("=", "{", ";", "["):
        return name, "variable", "extern" not in words, ""
    return None


def parameters(tokens: list[_Token]) -> str:
    """The types of a parameter list, without names, defaults and a const that callers do not see."""
    lists: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in "([{<") - (token.text in ")]}>")
        if token.text == "," and depth == 0:
            lists.append([])
        else:
            lists[-1].append(token.text)
    return ", ".join(_type_of_parameter(words) for words in lists if words)


def _type_of_parameter(words: list[str]) -> str:
    if "=" in words:
        words = words[: words.index("=")]
    is_name = len(words) > 1 and _WORD.fullmatch(words[-1]) and words[-1] not in _TYPE_WORDS
    if is_name and words[-2] != "::" and words[:-1] != ["const"]:
        words = words[:-1]
    if words[:1] == ["const"] and not {"&", "*"} & set(words):
        words = words[1:]
    return " ".join(words)
