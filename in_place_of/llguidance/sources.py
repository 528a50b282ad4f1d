"""Grammars as text, the form in which llguidance passes them between functions, and their constraints.

A grammar is either in Lark's syntax, or JSON:

    {"grammars": [{"regex": "..."}]}           written by `regex_source`; llguidance makes a Lark grammar instead
    {"grammars": [{"json_schema": {...}}]}     a JSON Schema; "x-guidance" in it has options
    {"grammars": [{"lark_grammar": "..."}]}    rules in Lark's syntax
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from automata.errors import GrammarError, NotOffered
from constraints import JsonSchema, Whitespace, grammar, json_schema
from in_place_of.schemas import json_of, separated
from serving.json_texts import blanks_like
from tokenfst.compile import Constraint

T = TypeVar("T")

_OPTIONS: Final = "x-guidance"
# The types of the options that are read; an option that is null counts as not given.
_KINDS: Final[Mapping[str, type]] = {
    "whitespace_pattern": str,
    "whitespace_flexible": bool,
    "item_separator": str,
    "key_separator": str,
    "lenient": bool,
}
_NAMES: Final[Mapping[type, str]] = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
_BLANKS: Final = r"[ \n\r\t]*"
# Options that change which texts are allowed, and that this project does not offer.
_FOREIGN: Final = {
    "coerce_one_of": "`oneOf` is exact",
    "json_allowed_escapes": 'constraints.json_schema has spellings="plain" and "all"',
    "json_allow_general_unicode_escapes": 'constraints.json_schema has spellings="plain" and "all"',
}


def regex_source(regex: str) -> str:
    """Return the grammar of a pattern."""
    return json.dumps({"grammars": [{"regex": regex}]})


def schema_source(schema: Any, defaults: Mapping[str, Any], overrides: Mapping[str, Any]) -> str:
    """Return the grammar of a JSON Schema, with further options: its own options override `defaults`, and `overrides`
    override both.

    Raises:
        ValueError: the text is not JSON, or the options are not an object.
    """
    read = json_of(schema) if isinstance(schema, str) else schema
    if isinstance(read, Mapping) and (defaults or overrides):
        own = _expected(read.get(_OPTIONS, {}), dict, _OPTIONS)
        read = {**read, _OPTIONS: {**defaults, **own, **overrides}}
    return json.dumps({"grammars": [{"json_schema": read}]})


def constraint_of_source(source: str) -> Constraint:
    """Return the constraint of a grammar.

    Raises:
        NotOffered: the text has several grammars, or an option that is not offered.
        GrammarError, SchemaError, ValueError: the grammar cannot be honoured; the message says where or why.
    """
    _expected(source, str, "a grammar")
    if not source.lstrip().startswith("{"):
        return grammar(source, syntax="lark")
    try:
        read = json_of(source)
    except ValueError as error:
        raise GrammarError(f"a grammar is in Lark's syntax, or JSON: {error}") from None
    if "grammars" not in read:
        raise GrammarError('a grammar in JSON has "grammars"')
    grammars = _expected(read["grammars"], list, "grammars")
    if len(grammars) > 1:
        raise NotOffered(f"a text of {len(grammars)} grammars", "write one grammar, with the others as its rules")
    if not grammars:
        raise GrammarError("grammars is empty")
    return _constraint(_expected(grammars[0], dict, "grammars[0]"), "grammars[0]")


def warnings_of(constraint: Constraint) -> list[str]:
    """Return the keywords of a schema that were left out because of the option `lenient`."""
    return [str(note) for note in constraint.dropped] if isinstance(constraint, JsonSchema) else []


def _constraint(one: Mapping[str, Any], where: str) -> Constraint:
    kinds = [kind for kind in ("regex", "lark_grammar", "json_schema") if one.get(kind) is not None]
    if len(kinds) > 1:
        raise GrammarError(f"{where} has both {kinds[0]} and {kinds[1]}")
    if one.get("regex") is not None:
        return _expected(one["regex"], str, f"{where}.regex")
    if one.get("lark_grammar") is not None:
        return grammar(_expected(one["lark_grammar"], str, f"{where}.lark_grammar"), syntax="lark")
    if one.get("json_schema") is not None:
        return _schema(one["json_schema"], f"{where}.json_schema")
    raise GrammarError(f"{where} has none of regex, lark_grammar and json_schema")


def _schema(schema: Any, where: str) -> JsonSchema:
    options = _options(schema, f"{where}.{_OPTIONS}") if isinstance(schema, Mapping) else {}
    for name, instead in _FOREIGN.items():
        if options.get(name):
            raise NotOffered(name, instead)
    if isinstance(schema, Mapping):
        schema = {name: value for name, value in schema.items() if name != _OPTIONS}
    whitespace = _white_space(options)
    return json_schema(schema, whitespace=whitespace, unsupported="relax" if options.get("lenient") else "error")


def _options(schema: Mapping[str, Any], where: str) -> dict[str, Any]:
    options = _expected(schema.get(_OPTIONS, {}), dict, where)
    if unknown := sorted(options.keys() - _KINDS.keys() - _FOREIGN.keys()):
        raise GrammarError(f"{where} has no option {unknown[0]!r}; options are {', '.join([*_KINDS, *_FOREIGN])}")
    for name, kind in _KINDS.items():
        if options.get(name) is not None:
            _expected(options[name], kind, f"{where}.{name}")
    return options


def _expected(value: Any, kind: type[T], where: str) -> T:
    """Check that a value has the expected type, and return it.

    Raises:
        GrammarError: it has another type; the message gives its place.
    """
    if not isinstance(value, kind):
        raise GrammarError(f"{where} is {_NAMES[kind]}, not {reprlib.repr(value)}")
    return value


def _white_space(options: Mapping[str, Any]) -> Whitespace:
    """Return the whitespace of options.

    Raises:
        NotOffered: a separator is given where whitespace is flexible.
        ValueError: a separator is not the comma or colon with whitespace around it.
    """
    comma, colon = (
        mark if options.get(name) is None else options[name]
        for name, mark in (("item_separator", ","), ("key_separator", ":"))
    )
    pattern = options.get("whitespace_pattern")
    if pattern is None and options.get("whitespace_flexible") is False:
        return separated(comma, colon)
    if (comma, colon) != (",", ":"):
        name = "item_separator" if comma != "," else "key_separator"
        raise NotOffered(f"{name} beside flexible whitespace", "set whitespace_flexible to false")
    return blanks_like(_BLANKS if pattern is None else f"({pattern})?")
