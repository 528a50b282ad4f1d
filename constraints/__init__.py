"""Ready-made constraints: functions and patterns that describe what a model is to write.

choice(texts)           one of some texts, up to a million of them
quoted_text() ...       the languages of `automata.extensions`
grammar(text)           rules in Lark's syntax, GBNF or EBNF
json()                  any JSON value, to any depth
json_schema(schema)     the JSON values that satisfy a JSON Schema
paper                   the constraints that the paper measures
"""

from automata.extensions import (
    delimited_list,
    delimited_subsequence_of,
    image,
    paragraph_token,
    quoted_text,
    substring_of,
    text_token,
    text_until,
    token,
    unquoted_text,
)
from constraints.choice import choice
from constraints.grammars import grammar, json
from constraints.json_schema import json_schema, json_schema_to_regex

__all__ = [
    "choice",
    "delimited_list",
    "delimited_subsequence_of",
    "grammar",
    "image",
    "json",
    "json_schema",
    "json_schema_to_regex",
    "paragraph_token",
    "quoted_text",
    "substring_of",
    "text_token",
    "text_until",
    "token",
    "unquoted_text",
]
