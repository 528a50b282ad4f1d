"""Engines that constrain a model by a JSON Schema, each asked which texts it accepts.

Tokens are the 256 bytes, so that every text has one tokenization and an engine's answer is about the text alone. Each
engine is set up to be as exact as it can: XGrammar without its strict mode, which closes objects that the schema leaves
open.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import Any, Final, TypeAlias

from engines import LLGuidance, Outlines, XGrammar

import tokenfst
from automata.errors import TokenfstError
from constraints import json_schema
from tokenfst import Vocabulary

Accepts: TypeAlias = Callable[[bytes], bool]
END: Final = 256


class RefusesSchema(Exception):
    """The engine has no constraint for the schema."""


@cache
def vocabulary() -> Vocabulary:
    """Every byte is a token, and token 256 is the end."""
    return Vocabulary((*(bytes([byte]) for byte in range(256)), b""), eos_ids=(END,))


def tokenfst_accepts(schema: Any) -> Accepts:
    try:
        automaton = tokenfst.compile(json_schema(schema), vocabulary())
    except (TokenfstError, KeyError) as error:
        raise RefusesSchema from error
    return lambda text: automaton.accepts(list(text))


def llguidance_accepts(schema: Any) -> Accepts:
    engine = _llguidance()
    matcher_class = engine.module.LLMatcher
    try:
        matcher = matcher_class(
            engine.tokenizer, matcher_class.grammar_from_json_schema(json.dumps(schema)), log_level=0
        )
    except ValueError as error:
        raise RefusesSchema from error
    if matcher.get_error():
        raise RefusesSchema(matcher.get_error())

    def accepts(text: bytes) -> bool:
        reader = matcher.deep_copy()
        return all(reader.consume_token(byte) for byte in text) and bool(reader.is_accepting())

    return accepts


def xgrammar_accepts(schema: Any) -> Accepts:
    engine = _xgrammar()
    try:
        compiled = engine.compiler.compile_json_schema(json.dumps(schema), strict_mode=False)
    except RuntimeError as error:
        raise RefusesSchema from error

    def accepts(text: bytes) -> bool:
        matcher = engine.xgrammar.GrammarMatcher(compiled)
        return all(matcher.accept_token(byte) for byte in text) and bool(matcher.accept_token(END))

    return accepts


def outlines_accepts(schema: Any) -> Accepts:
    engine = _outlines()
    from outlines_core.json_schema import build_regex_from_schema

    try:
        index = engine.compile(build_regex_from_schema(json.dumps(schema)))
    except (TypeError, ValueError) as error:
        raise RefusesSchema from error

    def accepts(text: bytes) -> bool:
        guide = engine.module.Guide(index)
        for byte in text:
            if byte not in guide.get_tokens():
                return False
            guide.advance(byte)
        return bool(guide.is_finished()) or END in guide.get_tokens()

    return accepts


@cache
def _llguidance() -> LLGuidance:
    return LLGuidance(vocabulary())


@cache
def _xgrammar() -> XGrammar:
    return XGrammar(vocabulary())


@cache
def _outlines() -> Outlines:
    return Outlines(vocabulary())


# By the name in the table: what makes an engine, and the package whose version counts.
ENGINES: Final[dict[str, tuple[Callable[[Any], Accepts], str]]] = {
    "tokenfst": (tokenfst_accepts, "tokenfst"),
    "llguidance": (llguidance_accepts, "llguidance"),
    "XGrammar": (xgrammar_accepts, "xgrammar"),
    "outlines-core": (outlines_accepts, "outlines-core"),
}


def versions() -> dict[str, str]:
    """The version of each engine that is installed."""
    return {name: version(package) for name, (_, package) in ENGINES.items()}
