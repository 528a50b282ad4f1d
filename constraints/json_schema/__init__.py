"""JSON Schema as constraints.

json_schema(schema)     the texts of the values that satisfy a schema, as a constraint

schema --reading--> Document of formulas --restriction--> what is said of each kind of value
    numbers and strings: regular languages of their spellings
    arrays and objects:  levels, by derivatives
levels --laying--> NestedNetwork --automata.nested--> an automaton over bytes, or one with a stack
"""

from constraints.json_schema.building.whitespace import Whitespace
from constraints.json_schema.reading.document import Draft, Note, Resolver
from constraints.json_schema.regex import json_schema_to_regex
from constraints.json_schema.schema import JsonSchema, json_schema

__all__ = ["Draft", "JsonSchema", "Note", "Resolver", "Whitespace", "json_schema", "json_schema_to_regex"]
