"""Calls in Python syntax: `[weather(city="Bergen", days=3), now()]`.

A list of calls of functions is treated as a list of constructor calls (`constraints.types`): each function becomes a
class with the function's parameters, so a call of the function is read as a constructor call.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from types import GenericAlias
from typing import Annotated, Any

from automata.byte_automaton import ByteAutomaton
from automata.errors import UnsupportedSchema
from automata.expressions import literal
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from constraints.composing.parsed import Parsed
from constraints.composing.part import Part
from constraints.tools.call import ToolCall
from constraints.types import dataclass
from constraints.types.parameters import is_keyword_argument
from constraints.types.typed import parameters

_LEFT_OUT: Any = object()


@dataclasses.dataclass(frozen=True)
class _Length:
    """The length of a list, as an argument of `Annotated`."""

    min_length: int
    max_length: int | None


class PythonicCalls(Parsed[tuple[ToolCall, ...]]):
    """The texts of lists of calls; made by `tool_calls`. Immutable.

    Attributes:
        functions: the functions, by name.
        openings: for each function, the bracket, the name and the parenthesis that begin a list whose first call is to
            this function.
    """

    def __init__(self, functions: Sequence[Any], at_most: int | None) -> None:
        annotated: Any = Annotated  # a type that is known only now
        calls = GenericAlias(list, (functools.reduce(operator.or_, map(_class_of, functions)),))
        self._at_most = at_most
        self.functions = {function.__name__: function for function in functions}
        self.openings = tuple(literal(f"[{name}(") for name in self.functions)
        self._calls = dataclass(annotated[calls, _Length(1, at_most)])

    def __reduce__(self) -> tuple[type[PythonicCalls], tuple[list[Any], int | None]]:
        """Pickle the arguments of the constructor, because `pickle` cannot find the classes of the calls by name."""
        return PythonicCalls, (list(self.functions.values()), self._at_most)

    def __repr__(self) -> str:
        return f"tool_calls([{', '.join(self.functions)}], format='pythonic')"

    def to_part(self) -> Part:
        """Return the texts, for use within composed constraints."""
        return self._calls.to_part()

    def to_automaton(self, work: Work | None = None) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton of the texts.

        Raises:
            LimitExceeded, Cancelled: see `Parsed.to_automaton`.
        """
        return self._calls.to_automaton(work)

    def parse(self, text: str) -> tuple[ToolCall, ...]:
        """Return the calls in a text, in order; there is at least one.

        Raises:
            TextNotAllowed: the constraint does not allow the text.
        """
        return tuple(ToolCall(type(call).__name__, _given(call)) for call in self._calls.parse(text))


def _class_of(function: Callable[..., Any]) -> type:
    """Return a class whose constructor takes the parameters of a function as keyword arguments."""
    if not inspect.isroutine(function):
        raise UnsupportedSchema(
            f"{function!r} is not a function, and this format is for functions only", keyword="tools"
        )
    name = function.__name__
    if not is_keyword_argument(name):
        raise UnsupportedSchema(f"{name!r} is not a name that can be called in Python", pointer=f"/{name}")
    fields = [
        (parameter, hint, dataclasses.field() if required else dataclasses.field(default=_LEFT_OUT))
        for parameter, hint, required in parameters(function)
    ]
    for parameter, _, _ in fields:
        if parameter.startswith("__") and parameter.endswith("__"):
            reason = "the name is reserved by Python"
            raise UnsupportedSchema(reason, pointer=f"/{name}/{parameter}")
    # `kw_only` keeps the order of the parameters, whichever of them have defaults.
    return dataclasses.make_dataclass(name, fields, kw_only=True)


def _given(call: Any) -> dict[str, Any]:
    """Return the arguments that were written."""
    values = {field.name: getattr(call, field.name) for field in dataclasses.fields(call)}
    return {name: value for name, value in values.items() if value is not _LEFT_OUT}
