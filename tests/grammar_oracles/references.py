"""What other programs say about the texts of bundled grammars: parsers of the languages, or readers written by hand.

A reference is exact where it can be narrowed down to the grammar's own language. Otherwise it reads more, and only what
a grammar accepts must be accepted by it. DOMINO's C is nobody else's language, so it has none.
"""

from __future__ import annotations

import ast
import json
import re
import sqlite3
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest.mock import patch

import lark
import regex
import yaml

from constraints.grammars.bundled import source


@dataclass(frozen=True, slots=True)
class Reference:
    """Whether a text is in a language, and whether that is just the grammar's or a greater one."""

    accepts: Callable[[str], bool]
    exact: bool = True

    def agrees(self, text: bytes, verdict: bool) -> bool:
        """Whether a verdict on a text can be right. Bytes that are not text are in no language."""
        try:
            accepted = self.accepts(text.decode())
        except UnicodeDecodeError:
            return not verdict
        return accepted if verdict else not (self.exact and accepted)


# JSON

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def _json(text: str) -> Any:
    """The value, an object as a list of pairs; None where it is none, or has what the grammars leave out."""
    outside = _STRING.sub('""', text)
    if "\r" in outside or "N" in outside or "I" in outside or text.strip(" \t\n") != text.strip():
        return None
    try:
        return json.loads(text, strict=False, object_pairs_hook=lambda pairs: tuple(pairs))
    except ValueError:
        return None


def _object(text: str) -> bool:
    return text.startswith("{") and _json(text) is not None


def _calculation(text: str) -> bool:
    if re.search(r'"(thoughts|answer|step|calculation|result)"[ \t\n]+:', text):
        return False
    match _json(text):
        case (("thoughts", [_, *_] as thoughts), ("answer", answer)):
            return _number(answer) and all(map(_thought, thoughts))
    return False


def _thought(value: Any) -> bool:
    match value:
        case (("step", str()), ("calculation", str()), ("result", result)):
            return _number(result)
    return False


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_PERSON = regex.compile(
    r"""(?P<person><person>\s*<name>[^<]+</name>\s*<age>[^<]+</age>\s*
    <job>\s*<title>[^<]+</title>\s*<salary>[^<]+</salary>\s*</job>\s*
    (<friends>\s*(?&person)+\s*</friends>\s*)?</person>)""".replace("\\s", r"[\ \t\n]"),
    regex.VERBOSE,
)


# Arithmetic

_ARITHMETIC = re.compile(
    r"(abs|cos|exp|log|max|min|sin|sqrt|tan|[a-z]|[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?|[-+*/%(), ])*"
)
_FUNCTIONS = ["abs", "cos", "exp", "log", "max", "min", "sin", "sqrt", "tan"]
_NUMBER = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_NODES = (
    ast.Expression
    | ast.BinOp
    | ast.UnaryOp
    | ast.Constant
    | ast.Name
    | ast.Call
    | ast.operator
    | ast.unaryop
    | ast.Load
)


def _arithmetic(text: str) -> bool:
    tree = _parsed(text.strip(" "))
    if tree is None or not _ARITHMETIC.fullmatch(text) or re.search(r"[0-9][a-df-z]|, *\)", text):
        return False
    if not all(map(_NUMBER.fullmatch, re.findall(r"[0-9.]+(?:[eE][+-]?[0-9]+)?", text))):
        return False
    for node in ast.walk(tree):
        name = node.func if isinstance(node, ast.Call) else None
        if not isinstance(node, _NODES) or (
            isinstance(node, ast.Call) and not (isinstance(name, ast.Name) and node.args)
        ):
            return False
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return all(node.id in _FUNCTIONS if id(node) in called else len(node.id) == 1 for node in names)


def _parsed(text: str) -> ast.Expression | None:
    try:
        return ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return None


# Others


def _s_expressions(text: str) -> bool:
    token = re.compile(
        r"(?P<gap>[ \t\n]|;[^\n]*\n)|(?P<atom>'*[a-zA-Z0-9!$%&*/:<=>?^_~+@.-]+)"
        r"""|'*"([^"\\]|\\["\\nrt])*"|(?P<open>'*\()|(?P<close>\))"""
    )
    place = depth = 0
    while place < len(text):
        found = token.match(text, place)
        if found is None:
            return False
        # Two atoms need a gap, and the characters of atoms run on; a quote is none.
        if found["atom"] and place and (before := token.fullmatch(text[place - 1])) and before["atom"]:
            return False
        depth += bool(found["open"]) - bool(found["close"])
        if depth < 0:
            return False
        place = found.end()
    return depth == 0


_XML_NAMES = ["article", "section", "title", "p", "em", "code", "list", "item", "link"]
_XML_TAG = re.compile(r"<(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")


def _xml(text: str) -> bool:
    body = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    between = _XML_TAG.sub("", body)
    if (
        re.search(r"<[?!]|&#|\r", body)
        or "\r" in text
        or ">" in between
        or any(">" in tag[:-1] for tag in _XML_TAG.findall(body))
    ):
        return False
    if text.lstrip(" \t\n").startswith("<!") or text.rstrip(" \t\n").endswith("-->"):
        return False
    try:
        tree = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return False
    order = ["id", "class", "href"]
    return all(
        node.tag in _XML_NAMES and list(node.attrib) == [name for name in order if name in node.attrib]
        for node in tree.iter()
    )


def _yaml(text: str) -> bool:
    try:
        node = yaml.compose(text)
    except yaml.YAMLError:
        return False
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def _table(text: str) -> bool:
    rows = []
    for line in (text[:-1] if text.endswith("\n") else text).split("\n"):
        cells = re.findall(r"((?:[^|\\\r\n]|\\[^\r\n])*)\|", line[1:])
        if not line.startswith("|") or "|".join(["", *cells, ""]) != line:
            return False
        rows.append(cells)
    widths = {len(row) for row in rows}
    return (
        len(rows) > 1
        and widths <= set(range(1, 9))
        and len(widths) == 1
        and all(re.fullmatch(" *:?-+:? *", cell) for cell in rows[1])
    )


@cache
def _database() -> sqlite3.Connection:
    return sqlite3.connect(":memory:")


_NOT_SQL = ("syntax error", "incomplete input", "unrecognized token", "one statement at a time", "null character")


def _sql(text: str) -> bool:
    """Whether SQLite parses it: that there are no such tables is another matter."""
    try:
        _database().execute(f"EXPLAIN {text}")
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        return not any(reason in str(error) for reason in _NOT_SQL)
    return True


def _python(text: str) -> bool:
    return _parsed(text.strip(" \t")) is not None


@cache
def _lark(name: str) -> lark.Lark:
    # Where interegular is installed, Lark compares all terminals with each other, for minutes in SQL's case.
    with patch("lark.lexer.has_interegular", False):
        return lark.Lark(source(name), parser="lalr", lexer="contextual")


def lark_accepts(name: str, text: str) -> bool:
    """Whether Lark's own parser reads a text by a bundled grammar in Lark's dialect."""
    try:
        _lark(name).parse(text)
    except lark.exceptions.LarkError:
        return False
    return True


REFERENCES: dict[str, Reference] = {
    "arithmetic": Reference(_arithmetic),
    "domino_gsm8k": Reference(_calculation),
    "domino_json": Reference(_object),
    "domino_template": Reference(lambda text: lark_accepts("domino_template", text)),
    "domino_xml": Reference(lambda text: _PERSON.fullmatch(text) is not None),
    "markdown_table": Reference(_table),
    "mermaid": Reference(lambda text: lark_accepts("mermaid", text)),
    "python_expression": Reference(_python, exact=False),
    "s_expressions": Reference(_s_expressions),
    "sql": Reference(_sql, exact=False),
    "xml": Reference(_xml),
    "yaml_flow": Reference(_yaml, exact=False),
}
