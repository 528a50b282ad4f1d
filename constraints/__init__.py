"""Ready-made constraints: functions that describe what a model may write.

Texts and patterns
    choice(texts)               one of some texts, up to a million of them
    quoted_text() ...           the languages of `automata.expressions.extensions`
    paper                       the constraints measured by Koo, Liu & He 2024
Grammars
    grammar(text)               rules in Lark's syntax, GBNF or EBNF
    json()                      any JSON value, to any depth
JSON Schema
    json_schema(schema)         the JSON values that satisfy a schema           -> JsonSchema
    json_schema_to_regex(...)   the same as a regular expression, with bounds on the depth
    Whitespace                  where whitespace is allowed in JSON
Python values, each with `parse`, which converts a text to the value            -> Parsed
    typed(T)                    JSON of a type: a dataclass, a Pydantic model, ... or a function's parameters
    dataclass(T)                calls of its constructor, `T(x=1)`
    integer(), decimal(), date(), email(), url(), sql_select(tables)            -> Value
    tool_calls(tools)           calls of functions, alone or in free text       -> ToolCall
Constraints composed of others, which `parse` reads piece by piece              -> Composed
    sequence(*parts)            the parts in order
    optional(part)              a text of the part, or the empty text
    left | right                a text of either
    after(marker, part)         free text up to a marker, and then a text of the part
    triggered({marker: ...})    free text in which markers switch constraints on    -> Marked
    free_text(*without)         any text in which no marker occurs

The packages `composing`, `grammars`, `json_schema`, `types`, `tools` and `values` have these functions; `rewriting`
takes languages from one form into another, and `recursion` has functions that call themselves to any depth.

Importing this package imports neither torch nor Pydantic; Pydantic is imported when a type is first read.

`docs/glossary.md` defines the terms.
"""

import tokenfst  # noqa: F401 (says what is wrong where another package is named `automata`)
from automata.expressions.extensions import (
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
from constraints.composing import Composed, Marked, Parsed, after, free_text, optional, sequence, triggered
from constraints.grammars import grammar, json
from constraints.json_schema import JsonSchema, Whitespace, json_schema, json_schema_to_regex
from constraints.tools import ToolCall, tool_calls
from constraints.types import dataclass, typed
from constraints.values import Value, date, decimal, email, integer, sql_select, url

__all__ = [
    "Composed",
    "JsonSchema",
    "Marked",
    "Parsed",
    "ToolCall",
    "Value",
    "Whitespace",
    "after",
    "choice",
    "dataclass",
    "date",
    "decimal",
    "delimited_list",
    "delimited_subsequence_of",
    "email",
    "free_text",
    "grammar",
    "image",
    "integer",
    "json",
    "json_schema",
    "json_schema_to_regex",
    "optional",
    "paragraph_token",
    "quoted_text",
    "sequence",
    "sql_select",
    "substring_of",
    "text_token",
    "text_until",
    "token",
    "tool_calls",
    "triggered",
    "typed",
    "unquoted_text",
    "url",
]
