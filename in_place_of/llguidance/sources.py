"""Grammars as text, which llguidance hands from function to function, and the constraints that they are.

A grammar is either in Lark's syntax, or JSON:

    {"grammars": [{"regex": "..."}]}           what `regex_source` writes; llguidance makes a Lark grammar of it
    {"grammars": [{"json_schema": {...}}]}     a JSON Schema; "x-guidance" in it has options
    {"grammars": [{"lark_grammar": "..."}]}    rules in Lark's syntax
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from automata.errors import GrammarError, NotOffered
from constraints import JsonSchema, Whitespace, grammar, json_schema
from in_place_of.schemas import separated
from serving.specifications import blanks_like
from tokenfst.compile import Constraint

_OPTIONS: Final = "x-guidance"
_BLANKS: Final = r"[ \n\r\t]*"
# Options that change which texts are allowed in ways that this project does not have.
_FOREIGN: Final = {
    "coerce_one_of": "`oneOf` is exact",
    "json_allowed_escapes": 'constraints.json_schema has spellings="plain" and "all"',
    "json_allow_general_unicode_escapes": 'constraints.json_schema has spellings="plain" and "all"',
}


def regex_source(regex: str) -> str:
    """Return the grammar of a pattern."""
    return json.dumps({"grammars": [{"regex": regex}]})


def schema_source(schema: Any, defaults: Mapping[str, Any], overrides: Mapping[str, Any]) -> str:
    """Return the grammar of a JSON Schema, with options before and after its own.

    Raises:
        ValueError: a text that is not JSON.
    """
    read = json.loads(schema) if isinstance(schema, str) else schema
    if isinstance(read, Mapping) and (defaults or overrides):
        read = {**read, _OPTIONS: {**defaults, **read.get(_OPTIONS, {}), **overrides}}
    return json.dumps({"grammars": [{"json_schema": read}]})


def constraint_of_source(source: str) -> Constraint:
    """Return the constraint of a grammar.

    Raises:
        NotOffered: several grammars in one text, or an option.
        GrammarError, SchemaError: it cannot be honoured.
    """
    if not source.lstrip().startswith("{"):
        return grammar(source, syntax="lark")
    try:
        grammars = json.loads(source)["grammars"]
    except (ValueError, KeyError):
        raise GrammarError('a grammar is in Lark\'s syntax, or JSON with "grammars"') from None
    if len(grammars) != 1:
        raise NotOffered(f"a text of {len(grammars)} grammars", "write one grammar, with the others as its rules")
    (one,) = grammars
    if one.get("regex") is not None:
        return str(one["regex"])
    if one.get("lark_grammar") is not None:
        return grammar(one["lark_grammar"], syntax="lark")
    return _schema(one.get("json_schema"))


def warnings_of(constraint: Constraint) -> list[str]:
    """Return what was left out of a schema with the option `lenient`."""
    return [str(note) for note in constraint.dropped] if isinstance(constraint, JsonSchema) else []


def _schema(schema: Any) -> JsonSchema:
    options = dict(schema.get(_OPTIONS, {})) if isinstance(schema, Mapping) else {}
    for name, instead in _FOREIGN.items():
        if options.get(name):
            raise NotOffered(name, instead)
    if isinstance(schema, Mapping):
        schema = {name: value for name, value in schema.items() if name != _OPTIONS}
    whitespace = _white_space(options)
    return json_schema(schema, whitespace=whitespace, unsupported="relax" if options.get("lenient") else "error")


def _white_space(options: Mapping[str, Any]) -> Whitespace:
    if options.get("whitespace_pattern"):
        return blanks_like(f"({options['whitespace_pattern']})?")
    if options.get("whitespace_flexible", True):
        return blanks_like(_BLANKS)
    return separated(options.get("item_separator") or ",", options.get("key_separator") or ":")
