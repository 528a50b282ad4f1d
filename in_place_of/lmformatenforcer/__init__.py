"""In place of lm-format-enforcer: `from in_place_of.lmformatenforcer import JsonSchemaParser`.

    parsers         constraints on texts: JsonSchemaParser, RegexParser, StringParser, UnionParser, SequenceParser
    integrations    the prefix function for `generate` of transformers

`docs/from-lm-format-enforcer.md` has the table.
"""

from typing import NoReturn

from in_place_of.absent import missing
from in_place_of.lmformatenforcer.parsers import (
    CharacterLevelParser,
    CharacterLevelParserConfig,
    JsonSchemaParser,
    RegexParser,
    SequenceParser,
    StringParser,
    UnionParser,
)

__all__ = [
    "CharacterLevelParser",
    "CharacterLevelParserConfig",
    "JsonSchemaParser",
    "RegexParser",
    "SequenceParser",
    "StringParser",
    "UnionParser",
]

_INSTEAD = {
    "FormatEnforcerAnalyzer": "decoding.Difficulty says what a constraint takes away",
    "LMFormatEnforcerException": "automata.errors.TokenfstError is the root of all errors",
    "TokenEnforcer": "serving.matcher.Matcher has the state of one text",
    "TokenEnforcerTokenizerData": "build_token_enforcer_tokenizer_data of the integrations makes one",
}


def __getattr__(name: str) -> NoReturn:
    missing(__name__, _INSTEAD, name)
