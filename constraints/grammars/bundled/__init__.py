"""Grammars that come with the package, ready to compile and to serve as examples.

Each is a text file next to this module: in Lark's syntax if words and the whitespace between them matter, in GBNF
otherwise. `bundled(name)` reads it like any other grammar.

The five whose names begin with `domino_` are those of Beurer-Kellner, Fischer, Vechev 2024, "Guiding LLMs The Right
Way: Fast, Non-Invasive Constrained Generation" (DOMINO), appendix C, unchanged, so that measurements can be compared.
All have deterministic automata, even C, in which a text often has several derivations.

    BUNDLED             grammars of formats and of parts of languages
    WHOLE_LANGUAGES     grammars of whole programs
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from automata.pushdown.grammar import Grammar
from constraints.grammars import grammar

_SYNTAX: Mapping[str, Literal["gbnf", "lark"]] = {".gbnf": "gbnf", ".lark": "lark"}

BUNDLED: Mapping[str, str] = MappingProxyType(
    {
        "arithmetic": "arithmetic on numbers, variables and functions, written and ranked as in Python",
        "domino_c": "DOMINO's small C: functions, declarations, loops, conditions, expressions",
        "domino_gsm8k": "DOMINO's steps of a calculation and its answer, in JSON",
        "domino_json": "DOMINO's JSON: an object of any depth",
        "domino_template": "DOMINO's fixed template: a character of a role-playing game, in JSON",
        "domino_xml": "DOMINO's person and friends, in XML",
        "markdown_table": "tables of GitHub Flavored Markdown, of one to eight columns",
        "mermaid": "Mermaid's flowcharts: shapes, links, groups, subgraphs, classes and styles",
        "python_expression": "expressions of Python 3.11 on one line, formatted strings left out",
        "s_expressions": "S-expressions with atoms, strings, quotes and comments",
        "sql": "SQL queries that only read: joins, grouping, set operators, sub-selects, CASE, functions",
        "xml": "XML of a finite set of elements, each closed by its own tag, nested at will",
        "yaml_flow": "YAML's flow subset: sequences and mappings in brackets, plain and quoted scalars",
    }
)
# Their automata have thousands of states; over tokens, they are meant for masks on demand.
WHOLE_LANGUAGES: Mapping[str, str] = MappingProxyType(
    {
        "python": "modules of Python 3.11: statements, blocks by indentation, lines joined in brackets, strings",
        "rust": "source files of Rust, as the edition 2024 reads them: items, statements, expressions, types, macros",
    }
)


def bundled(name: str) -> Grammar:
    """Return the bundled grammar with this name, one of `BUNDLED` or `WHOLE_LANGUAGES`.

    Raises:
        ValueError: there is no bundled grammar with this name.
    """
    suffix, text = _read(name)
    return grammar(text, syntax=_SYNTAX[suffix])


def source(name: str) -> str:
    """Return the text of a bundled grammar, to read, to change, or to use in other programs.

    Raises:
        ValueError: there is no bundled grammar with this name.
    """
    return _read(name)[1]


def _read(name: str) -> tuple[str, str]:
    if name not in BUNDLED and name not in WHOLE_LANGUAGES:
        names = ", ".join([*BUNDLED, *WHOLE_LANGUAGES])
        raise ValueError(f"no bundled grammar is called {name!r}; there are {names}")
    for suffix in _SYNTAX:
        file = files(__name__) / f"{name}{suffix}"
        if file.is_file():
            return suffix, file.read_text(encoding="utf-8")
    raise AssertionError(f"the text of the bundled grammar {name!r} is missing from the package")
