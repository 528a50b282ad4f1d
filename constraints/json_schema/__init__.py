"""JSON Schema as constraints.

schema, regex      json_schema(schema) and json_schema_to_regex(schema), which take these steps:
reading/           a schema of any draft    -> its formula, and the formulas of its definitions
formulas/          formulas                 -> what they say about one kind of value, and which exclude each other
numbers/ strings/  formulas about scalars   -> regular languages of their spellings
containers/        formulas about arrays and objects -> automata over items and members, by derivatives
building/          all of these             -> a visibly pushdown grammar, which `tokenfst.compile` takes
alternatives       one schema or another   -> what all JSON texts share, and their union
relaxing           what to leave out where a keyword cannot be honoured
explaining/        errors that name the keyword at fault
"""

from constraints.json_schema.building.whitespace import Whitespace
from constraints.json_schema.reading.document import Draft, Note, Resolver
from constraints.json_schema.regex import json_schema_to_regex
from constraints.json_schema.schema import JsonSchema, json_schema
from constraints.json_schema.strings import Spellings

__all__ = ["Draft", "JsonSchema", "Note", "Resolver", "Spellings", "Whitespace", "json_schema", "json_schema_to_regex"]
