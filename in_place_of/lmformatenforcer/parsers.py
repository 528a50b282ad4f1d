"""Parsers in lm-format-enforcer's sense: descriptions of texts, which are constraints here.

A parser of lm-format-enforcer also reads a text character by character. These do not, because masks come from the
automaton.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any

from automata.errors import NotOffered
from automata.expressions import EMPTY, literal
from automata.pattern import parse
from constraints import json_schema, sequence
from constraints.composing.part import Composable
from in_place_of.absent import Absent
from in_place_of.schemas import at_most_items, closed, schema_of
from serving.json_texts import blanks_up_to

_TRUE = ("true", "1")


def _set(name: str, default: str) -> str:
    """Return the value of an environment variable of lm-format-enforcer, in lower case."""
    return os.environ.get(f"LMFE_{name}", default).strip().lower()


@dataclass
class CharacterLevelParserConfig:
    """Settings of `JsonSchemaParser` besides the schema. Defaults come from environment variables, such as
    `LMFE_MAX_JSON_ARRAY_LENGTH`.

    Attributes:
        alphabet: must be None, which means all of Unicode; lm-format-enforcer uses the characters that single
            tokens write.
        max_consecutive_whitespaces: the maximum number of blanks wherever JSON allows them.
        force_json_field_order: whether properties come in the order of the schema; otherwise in any order.
        max_json_array_length: the maximum number of items of arrays, if the schema has no bound.
    """

    alphabet: str | None = field(default_factory=lambda: os.environ.get("LMFE_DEFAULT_ALPHABET"))
    max_consecutive_whitespaces: int = field(default_factory=lambda: int(_set("MAX_CONSECUTIVE_WHITESPACES", "12")))
    force_json_field_order: bool = field(default_factory=lambda: _set("STRICT_JSON_FIELD_ORDER", "false") in _TRUE)
    max_json_array_length: int = field(default_factory=lambda: int(_set("MAX_JSON_ARRAY_LENGTH", "20")))


class CharacterLevelParser:
    """A constraint on texts.

    Attributes:
        config: the settings.
    """

    add_character = Absent("tokenfst.TokenAutomaton.advance reads tokens, automata.ByteAutomaton.step bytes")
    get_allowed_characters = Absent("tokenfst.TokenAutomaton.mask has the tokens that may come next")
    can_end = Absent("tokenfst.TokenAutomaton.is_final says whether a text may end")

    def __init__(
        self, constraint: Callable[[CharacterLevelParserConfig], Composable], config: CharacterLevelParserConfig | None
    ) -> None:
        """Take a function from settings to the constraint."""
        self._made, self.config = constraint, config or CharacterLevelParserConfig()
        _ = self.constraint  # what cannot be honoured is refused at once

    @property
    def constraint(self) -> Composable:
        """This project's constraint, with the settings as they are now.

        Raises:
            NotOffered: the settings have an alphabet.
        """
        if self.config.alphabet is not None:
            raise NotOffered("alphabet", "a pattern, or `pattern` in a schema, says which characters may occur")
        return self._made(self.config)


class RegexParser(CharacterLevelParser):
    """Texts that a pattern matches as a whole."""

    def __init__(self, pattern: str, config: CharacterLevelParserConfig | None = None) -> None:
        """Read a pattern.

        Raises:
            PatternError: the pattern cannot be honoured; the message says where and why.
        """
        expr = parse(pattern)
        super().__init__(lambda _: expr, config)


class StringParser(CharacterLevelParser):
    """One text."""

    def __init__(self, string: str) -> None:
        expr = literal(string)
        super().__init__(lambda _: expr, None)


class JsonSchemaParser(CharacterLevelParser):
    """JSON texts of a schema."""

    def __init__(
        self,
        json_schema: Mapping[str, Any] | None,
        config: CharacterLevelParserConfig | None = None,
        *,
        num_consecutive_whitespaces: int = 0,
    ) -> None:
        """Read a JSON Schema.

        Args:
            json_schema: the schema; None for any JSON.
            config: further settings.
            num_consecutive_whitespaces: the number of blanks before the text; must be 0.

        Raises:
            NotOffered: the number of blanks is not 0.
            SchemaError: the schema cannot be honoured; its subclasses say why.
        """
        if num_consecutive_whitespaces:
            raise NotOffered("num_consecutive_whitespaces", "it is part of a state: texts are read from their start")
        super().__init__(lambda config: _json(json_schema, config), config)


class UnionParser(CharacterLevelParser):
    """A text of one of several parsers."""

    def __init__(self, parsers: Sequence[CharacterLevelParser]) -> None:
        nothing = sequence(EMPTY)
        super().__init__(lambda _: reduce(or_, [parser.constraint for parser in parsers], nothing), None)


class SequenceParser(CharacterLevelParser):
    """A text of each of several parsers, in order."""

    def __init__(self, parsers: Sequence[CharacterLevelParser]) -> None:
        super().__init__(lambda _: sequence(*(parser.constraint for parser in parsers)), None)


def _json(schema: Mapping[str, Any] | None, config: CharacterLevelParserConfig) -> Composable:
    read = {} if schema is None else schema_of(schema)
    return json_schema(
        at_most_items(closed(read), config.max_json_array_length),
        whitespace=blanks_up_to(config.max_consecutive_whitespaces),
        property_order="schema" if config.force_json_field_order else "any",
    )
