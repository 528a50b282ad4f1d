"""Errors for arguments of the wrong kind; each says what was probably meant."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any

from automata.byte_automaton import ByteAutomaton
from automata.errors import FST_MEANT
from automata.expressions import Expr
from automata.fst_type import is_fst
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.grammar import Grammar
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.arguments import shown, vocabulary_hint

# Every JSON Schema that is not trivial has one of these keywords.
_SCHEMA_KEYWORDS = {"$schema", "$ref", "type", "properties", "items", "anyOf", "oneOf", "allOf", "enum", "const"}
# The first rule of a grammar in Lark's syntax or in GBNF.
_RULE = re.compile(r"^\s*(start|root)\s*(:|::=)", re.MULTILINE)
_SUFFIXES = {".json", ".lark", ".gbnf", ".ebnf", ".txt", ".yaml", ".safetensors"}
_MAX_PATH = 4096


def check_constraint(constraint: Any) -> None:
    """Raise unless an object is a constraint, or has the method `to_automaton` with which it builds its automaton.

    Raises:
        TypeError: it is not; the message says what was probably meant.
        ValueError: it is a string that cannot be meant as a pattern.
    """
    if isinstance(constraint, str):
        meant = _meant_by_text(constraint)
        if meant:
            raise ValueError(f"a string is a regular expression here, and this one is {meant}")
        return
    if isinstance(constraint, Expr | ByteAutomaton | Grammar | PushdownAutomaton):
        return
    # A class has the methods of its instances, so it would pass for one of them.
    if not isinstance(constraint, type) and hasattr(constraint, "to_automaton"):
        return
    raise not_a_constraint(constraint)


def not_a_constraint(value: Any) -> TypeError:
    """Return the error for a value that is not a constraint; the message says what was probably meant."""
    return TypeError(f"{shown(value)} is not a constraint; {_meant_by(value)}")


def check_vocabulary(vocabulary: Any) -> None:
    """Raise unless an object is a vocabulary.

    Raises:
        TypeError: it is not; the message says what was probably meant.
    """
    if isinstance(vocabulary, Vocabulary):
        return
    hint = vocabulary_hint(vocabulary)
    if hint is None and isinstance(vocabulary, list | tuple):
        hint = "write tokenfst.Vocabulary(tokens, eos_ids)"
    hint = hint or "make one by tokenfst.Vocabulary or by tokenfst.from_transformers"
    raise TypeError(f"{shown(vocabulary)} is not a vocabulary; {hint}")


def check_terminals(terminals: Any) -> dict[str, tuple[int, ...]]:
    """Return the token ids of each name, which later changes of the argument do not affect.

    Raises:
        TypeError: the argument does not give names their token ids; the message shows the form.
    """
    if terminals is None:
        return {}
    try:
        return {name: tuple(map(index, ids)) for name, ids in terminals.items()}
    except (AttributeError, TypeError):
        raise TypeError(
            f"terminals give names their token ids, as in {{'NAME': [1, 2]}}, not {shown(terminals)}"
        ) from None


def check_automaton(automaton: Any) -> None:
    """Raise unless an object is an automaton over tokens.

    Raises:
        TypeError: it is not; the message says how to make one.
    """
    if not isinstance(automaton, TokenAutomaton):
        raise TypeError(
            f"{shown(automaton)} is not an automaton over tokens; make one by tokenfst.compile(constraint, vocabulary)"
        )


def _meant_by_text(text: str) -> str | None:
    """Return a description of a string that cannot be meant as a pattern; None for any other string."""
    if text.lstrip().startswith("{") and _is_schema(text):
        return "the text of a JSON Schema: write constraints.json_schema(json.loads(text))"
    if "\n" in text and _RULE.search(text):
        return "the text of a grammar: write constraints.grammar(text)"
    if len(text) < _MAX_PATH and text.endswith((".fst", ".far")) and _is_file(text):
        return "the path of a file of OpenFst: write automata.from_fst(path)"
    if len(text) < _MAX_PATH and text[text.rfind(".") :] in _SUFFIXES and "\n" not in text and _is_file(text):
        return "the path of a file: read it, and say what it holds by constraints.json_schema or constraints.grammar"
    return None


def _is_schema(text: str) -> bool:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and not _SCHEMA_KEYWORDS.isdisjoint(value)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _meant_by(value: Any) -> str:
    if isinstance(value, type):
        return f"for JSON of this type write constraints.typed({value.__name__})"
    if isinstance(value, TokenAutomaton | PushdownAutomaton):
        return "it is compiled already: give what it was compiled from"
    if isinstance(value, Vocabulary):
        return "the constraint comes first, and then the vocabulary"
    if is_fst(value):
        return FST_MEANT
    if isinstance(value, re.Pattern):
        return "write automata.parse(pattern), which takes its flags as well"
    if isinstance(value, bytes | bytearray):
        return "patterns are str: decode it"
    if isinstance(value, Mapping):
        return "for a JSON Schema write constraints.json_schema(...)"
    if isinstance(value, list | tuple | set | frozenset):
        return "for one of several texts write constraints.choice(...); compile takes one constraint at a time"
    if isinstance(value, PathLike) and str(value).endswith((".fst", ".far")):
        return "automata.from_fst(path) reads a file of OpenFst"
    if isinstance(value, PathLike):
        return "read the file, and say what it holds by constraints.json_schema or constraints.grammar"
    if callable(value):
        return "for the arguments of a function write constraints.typed(...), for calls constraints.tool_calls([...])"
    return "take a pattern, an expression, a grammar, or what a function of `constraints` returns"
