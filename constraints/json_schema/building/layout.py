"""Layout: the input from which the grammar of a schema is built."""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

from constraints.json_schema.building.tags import Tags
from constraints.json_schema.building.whitespace import Habit, Whitespace
from constraints.json_schema.containers.objects import PropertyOrder
from constraints.json_schema.numbers import Integers
from constraints.json_schema.reading.document import SchemaDocument
from constraints.json_schema.strings import Spellings


class Layout(NamedTuple):
    """What the grammar of a schema is built from.

    Attributes:
        document: the schema, as it was read.
        whitespace, order, spellings, max_digits, integers: as for `json_schema`.
        tags: how the members of the whole object are written, if not as JSON.
    """

    document: SchemaDocument
    whitespace: Habit | Whitespace
    order: PropertyOrder
    spellings: Spellings
    max_digits: int | None = None
    tags: Tags | None = None
    integers: Integers = "any"


def check_option(name: str, value: object, choices: Any) -> None:
    """Raise ValueError unless the value of an option is one of the choices of a `Literal`."""
    allowed = get_args(choices)
    if value not in allowed:
        listed = f"{', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}"
        raise ValueError(f"{name} is {listed}, not {value!r}")
