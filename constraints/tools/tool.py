"""Tool: a name and its arguments, from a function, from a tool in the form of OpenAI's API, or from a schema."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from automata.byte_automaton import ByteAutomaton
from automata.errors import SchemaError, UnsupportedSchema
from automata.limits import current_work
from constraints.json_schema import json_schema
from constraints.json_schema.alternatives import JsonTexts
from constraints.json_schema.building.whitespace import Habit, Whitespace
from constraints.json_schema.reading.document import Note
from constraints.json_schema.strings import Spellings
from constraints.types.mistakes import errors_at
from constraints.types.typed import typed

# A function; {"type": "function", "function": {"name": ..., "parameters": ...}}; or a name and a schema.
ToolLike: TypeAlias = Callable[..., Any] | Mapping[str, Any] | tuple[str, Any]

# The characters that OpenAI allows, and dots, with which tool servers join names; no format has to escape them.
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


@dataclass(frozen=True, eq=False)
class Tool:
    """A tool as a constraint.

    Attributes:
        name: the name of the tool.
        arguments: its arguments, as JSON.
        spellings: how strings are spelled, as in `json_schema`.
    """

    name: str
    arguments: JsonTexts[dict[str, Any]] = field(repr=False)
    spellings: Spellings = "plain"

    def notes(self) -> tuple[Note, ...]:
        """Return the parts of the schema that constrain nothing, at pointers that begin with the name of the tool."""
        return tuple(replace(note, pointer=f"/{self.name}{note.pointer}") for note in self.arguments.notes)

    def as_string(self) -> ByteAutomaton:
        """Return the JSON strings that contain a text of the arguments.

        Raises:
            UnsupportedSchema: the arguments are recursive or open, so that they nest to any depth, and an automaton
                without a stack cannot read a string that contains them; or they are too large, or items have to be
                remembered.
        """
        from constraints.json_schema.strings.spelling import spelled

        found = self.arguments.to_automaton(current_work())
        if not isinstance(found, ByteAutomaton):
            reason = f"arguments of {self.name!r} nest to any depth, or are large; in a string they need a bound"
            raise UnsupportedSchema(reason)
        return spelled(found, plain=self.spellings == "plain")


def tool_of(tool: ToolLike, whitespace: Habit | Whitespace, spellings: Spellings) -> Tool:
    """Return a tool, given in any of the supported forms.

    Raises:
        SchemaError: the arguments of the tool cannot be supported, or are not an object.
        TypeError: the argument is not a tool, or its schema is a type.
        ValueError: the tool has no name that can be written in every format, or its schema is under another key.
    """
    name = name_of(tool)
    with errors_at(f"/{name}"):
        if isinstance(tool, tuple):
            return _from_schema(name, tool[1], whitespace, spellings)
        if isinstance(tool, Mapping):
            return _from_schema(name, _parameters(name, tool.get("function", tool)), whitespace, spellings)
        return Tool(name, typed(tool, whitespace=whitespace, spellings=spellings), spellings)


def name_of(tool: ToolLike) -> str:
    """Return the name of a tool.

    Raises:
        TypeError: the argument is not a tool.
        ValueError: the tool has no name that can be written in every format.
    """
    name: Any
    if isinstance(tool, tuple) and len(tool) == 2:
        name = tool[0]
    elif isinstance(tool, Mapping):
        definition: Any = tool.get("function", tool)
        if not isinstance(definition, Mapping):
            raise TypeError(f"the 'function' of a tool is a dict with a name and parameters, not {definition!r}")
        name = definition.get("name")
    elif inspect.isroutine(tool):
        name = tool.__name__
    else:
        raise TypeError(
            f"a tool is a function, a tool's dict, or a pair of a name and a JSON Schema, not {tool!r}{_hint(tool)}"
        )
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ValueError(f"a tool's name is made of letters, digits and `_.-`, up to 128 of them, and not {name!r}")
    return name


def _hint(tool: object) -> str:
    if isinstance(tool, type):
        return f": ({tool.__name__.lower()!r}, {_schema_of(tool)}) makes a tool of a type"
    return ": a tool's name is not a tool" if isinstance(tool, str) else ""


def _schema_of(kind: type) -> str:
    """Return the code that makes a JSON Schema of a type, for a message."""
    if hasattr(kind, "model_json_schema"):
        return f"{kind.__name__}.model_json_schema()"
    return f"pydantic.TypeAdapter({kind.__name__}).json_schema()"


def _parameters(name: str, definition: Mapping[str, Any]) -> Any:
    """Return the schema of the arguments, or None if the tool has no arguments.

    Raises:
        ValueError: the schema is under another key, as in interfaces other than OpenAI's.
    """
    if "parameters" not in definition:
        for key, value in definition.items():
            if isinstance(value, Mapping) and ("type" in value or "properties" in value):
                raise ValueError(
                    f"the tool {name!r} has no 'parameters', but a schema named {key!r}: "
                    f"give the pair ({name!r}, tool[{key!r}])"
                )
    return definition.get("parameters")


def _from_schema(name: str, schema: Any, whitespace: Habit | Whitespace, spellings: Spellings) -> Tool:
    if isinstance(schema, type):
        raise TypeError(f"the arguments of {name!r} are given by a JSON Schema, not a class: {_schema_of(schema)}")
    if schema is None:
        schema = {"properties": {}, "additionalProperties": False}
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        raise SchemaError(
            f"the arguments of {name!r} are an object, and the schema says something else", keyword="type"
        )
    known = json_schema({**schema, "type": "object"}, whitespace=whitespace, spellings=spellings, integers="digits")
    return Tool(name, known, spellings)
