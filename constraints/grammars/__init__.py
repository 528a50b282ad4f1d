"""Grammars from text, and ready-made ones.

grammar     a text in one of the common syntaxes -> Grammar
json        any JSON value, to any depth

    bnf_reader      rules with `::=`: llama.cpp's GBNF, and XGrammar's and W3C's EBNF
        dialects        the differences between the two
        scanner         text -> symbols
        characters      strings and sets -> expressions
        exclusion       `A - B` without calls
    lark_reader     Lark's syntax
    bundled         grammars that come with the package
    detection       the syntax that a text is in
    line_index      positions -> lines and columns
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from automata._native import CollectionsPaused
from automata.pushdown.grammar import Ambiguity, Grammar
from constraints.grammars.bnf_reader import read_bnf
from constraints.grammars.detection import check_text, is_lark, read_either_bnf
from constraints.grammars.dialects import EBNF, GBNF
from constraints.grammars.json import json
from constraints.grammars.lark_reader import read_lark

__all__ = ["grammar", "json"]

Syntax: TypeAlias = Literal["auto", "lark", "gbnf", "ebnf"]

_DIALECTS = {"gbnf": GBNF, "ebnf": EBNF}


def grammar(
    text: str,
    *,
    syntax: Syntax = "auto",
    start: str | None = None,
    ambiguity: Ambiguity = "error",
    max_configurations: int = 8,
) -> Grammar:
    """Return the grammar that a text defines.

    The syntaxes are those of Lark as documented by llguidance, of llama.cpp (`grammars/README.md`, and what its reader
    accepts), of XGrammar ("EBNF Grammar") and of W3C's specifications (XML 1.0, section 6).

    Args:
        text: the rules; a byte order mark before them is ignored.
        syntax: "lark" for Lark's, "gbnf" for llama.cpp's, "ebnf" for XGrammar's and W3C's; "auto" detects the syntax,
            if only one is possible.
        start: the rule that whole texts match; by default `start` in Lark's syntax and `root` in the others.
        ambiguity: what to do if no deterministic automaton of bounded size can tell derivations apart. "error" refuses
            the grammar when it is compiled; "parallel" follows its derivations side by side.
        max_configurations: the maximum number of derivations that "parallel" follows.

    Raises:
        GrammarError: the text has a mistake or an unsupported feature, or could be in more than one syntax; the error
            has the line, the column and the rule.
        TypeError: `text` is not text, or `max_configurations` is not an integer.
        ValueError: there is no such syntax or ambiguity, or `max_configurations` is out of range (`automata.Grammar`).
    """
    check_text(text)
    with CollectionsPaused():
        found = _read(text.removeprefix("\ufeff"), syntax, start)
    return replace(found, ambiguity=ambiguity, max_configurations=max_configurations)


def _read(text: str, syntax: Syntax, start: str | None) -> Grammar:
    if syntax not in ("auto", "lark", *_DIALECTS):
        raise ValueError(f'syntax is "auto", "lark", "gbnf" or "ebnf", not {syntax!r}')
    if syntax == "lark" or (syntax == "auto" and is_lark(text)):
        return read_lark(text, start)
    start = "root" if start is None else start
    return read_either_bnf(text, start) if syntax == "auto" else read_bnf(text, _DIALECTS[syntax], start)
