"""Parsers in lm-format-enforcer's sense: descriptions of what a text has to be, which are constraints here.

A parser of lm-format-enforcer also reads a text character by character. These do not: masks come from the automaton.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from automata.errors import NotOffered
from automata.expressions import literal
from automata.pattern import parse
from constraints import json_schema, sequence
from constraints.composing.part import Composable
from in_place_of.absent import Absent
from in_place_of.schemas import at_most_items, schema_of
from serving.specifications import blanks_up_to


@dataclass
class CharacterLevelParserConfig:
    """What `JsonSchemaParser` asks for besides the schema.

    Attributes:
        alphabet: None: all of Unicode, where lm-format-enforcer has the characters that single tokens write.
        max_consecutive_whitespaces: how many blanks may stand wherever JSON allows them.
        force_json_field_order: whether properties come in the order of the schema; else in any order.
        max_json_array_length: how many items arrays have at most, where the schema does not say.
    """

    alphabet: None = None
    max_consecutive_whitespaces: int = 12
    force_json_field_order: bool = False
    max_json_array_length: int = 20


class CharacterLevelParser:
    """What a text has to be.

    Attributes:
        constraint: the same for this project.
        config: what was asked for besides.
    """

    add_character = Absent("tokenfst.TokenAutomaton.advance reads tokens, automata.ByteAutomaton.step bytes")
    get_allowed_characters = Absent("tokenfst.TokenAutomaton.mask has the tokens that may come next")
    can_end = Absent("tokenfst.TokenAutomaton.is_final says whether a text may end")

    def __init__(self, constraint: Composable, config: CharacterLevelParserConfig | None = None) -> None:
        self.constraint = constraint
        self.config = config or CharacterLevelParserConfig()
        if self.config.alphabet is not None:
            raise NotOffered("alphabet", "a pattern, or `pattern` in a schema, says which characters may occur")


class RegexParser(CharacterLevelParser):
    """Texts that a pattern matches whole."""

    def __init__(self, pattern: str, config: CharacterLevelParserConfig | None = None) -> None:
        """Read a pattern.

        Raises:
            PatternError: it cannot be honoured; the message says where and why.
        """
        super().__init__(parse(pattern), config)


class StringParser(CharacterLevelParser):
    """One text."""

    def __init__(self, string: str) -> None:
        super().__init__(literal(string))


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
            config: what is asked for besides.
            num_consecutive_whitespaces: 0, for blanks before the text.

        Raises:
            NotOffered: another number of blanks.
            SchemaError: the schema cannot be honoured; its subclasses say why.
        """
        if num_consecutive_whitespaces:
            raise NotOffered("num_consecutive_whitespaces", "it is part of a state: texts are read from their start")
        config = config or CharacterLevelParserConfig()
        super().__init__(_json(json_schema, config), config)


class UnionParser(CharacterLevelParser):
    """A text of any of several parsers."""

    def __init__(self, parsers: Sequence[CharacterLevelParser]) -> None:
        super().__init__(reduce(or_, (sequence(parser.constraint) for parser in parsers)))


class SequenceParser(CharacterLevelParser):
    """A text of each of several parsers, one after the other."""

    def __init__(self, parsers: Sequence[CharacterLevelParser]) -> None:
        super().__init__(sequence(*(parser.constraint for parser in parsers)))


def _json(schema: Mapping[str, Any] | None, config: CharacterLevelParserConfig) -> Composable:
    read = {} if schema is None else schema_of(schema)
    return json_schema(
        at_most_items(read, config.max_json_array_length),
        whitespace=blanks_up_to(config.max_consecutive_whitespaces),
        property_order="schema" if config.force_json_field_order else "any",
    )
