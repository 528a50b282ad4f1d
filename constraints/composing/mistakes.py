"""What was probably meant where something else was passed than a constraint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike

from automata.pushdown.automaton import PushdownAutomaton


def no_constraint(value: object) -> TypeError:
    """Return the error for a value that is no constraint; the message names what makes one of it."""
    return TypeError(f"{_shown(value)} is no constraint{_meant(value)}")


def _meant(value: object) -> str:
    if isinstance(value, type):
        return f": typed({value.__name__}) is JSON of this type"
    if isinstance(value, Mapping | bool):
        return ": json_schema(...) makes one of a JSON Schema"
    if isinstance(value, re.Pattern):
        return ": parse(pattern.pattern) makes one of a pattern"
    if isinstance(value, bytes):
        return ": literal(...) makes one of bytes"
    if isinstance(value, PathLike):
        return ": give what the file holds, such as grammar(path.read_text())"
    if isinstance(value, list | tuple | set | frozenset):
        return ": choice([...]) is one of some texts, and sequence(...) one constraint after the other"
    if isinstance(value, PushdownAutomaton) or hasattr(value, "vocabulary"):
        return " that can be a part of another: give what the automaton was compiled from"
    if callable(value):
        return ": typed(function) is JSON of its parameters, and tool_calls([function], ...) calls it"
    return ""


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"a value of type {type(value).__name__}"
