"""Keywords: which keywords of one schema contradict each other, if its formula is FALSE and no longer shows the reason.

An example is a required property whose schema is `false`. The keywords of the schema at that place are left out one by
one, as long as no value satisfies the rest; the remaining keywords contradict each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from automata.errors import UnsatisfiableSchema

NO_VALUE = "no value satisfies false"
# The most keywords of a schema that is looked into.
_MAX_KEYWORDS = 40


def explain_conflict(
    error: UnsatisfiableSchema, schema: Any, is_empty: Callable[[frozenset[str]], bool]
) -> UnsatisfiableSchema:
    """Return the error with the names of the keywords that contradict each other; unchanged if it gives a reason
    already, or if no such keywords are found.

    Args:
        error: the error that no value satisfies a schema.
        schema: the whole schema.
        is_empty: returns whether no value satisfies the schema without the keywords at some pointers.
    """
    place = _at(schema, error.pointer)
    if place == [] and error.reason.endswith(NO_VALUE):
        words = "no value satisfies a keyword with an empty list"
        return UnsatisfiableSchema(error.reason.removesuffix(NO_VALUE) + words, pointer=error.pointer)
    if not error.reason.endswith(NO_VALUE) or not isinstance(place, dict) or len(place) > _MAX_KEYWORDS:
        return error
    pointers = {f"{error.pointer}/{keyword.replace('~', '~0').replace('/', '~1')}": keyword for keyword in place}
    skipped: frozenset[str] = frozenset()
    for pointer in pointers:
        if is_empty(skipped | {pointer}):
            skipped |= {pointer}
    left = [repr(keyword) for pointer, keyword in pointers.items() if pointer not in skipped]
    if len(left) < 2:
        return error
    words = f"{', '.join(left[:-1])} and {left[-1]} together allow no value"
    return UnsatisfiableSchema(error.reason.removesuffix(NO_VALUE) + words, pointer=error.pointer)


def _at(schema: Any, pointer: str) -> Any:
    """Return the value at a pointer in a schema; None if there is none."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, dict) and name in schema:
            schema = schema[name]
        elif isinstance(schema, list) and name.isdigit() and int(name) < len(schema):
            schema = schema[int(name)]
        else:
            return None
    return schema
