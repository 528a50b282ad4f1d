"""`tool_calls(tools)`: tool calls as a constraint, alone or in free text.

    text=None       one or more calls
    text="before"   free text, optionally followed by calls, as chat templates write an answer
    text="around"   free text in which calls may appear anywhere

Free text does not contain the marker that begins a call, so this marker always begins a call. For formats without
markers, the text with which a call begins is treated as the marker, such as `{"name":` for Llama.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias, get_args, overload

from automata.expressions import EPSILON
from constraints.composing.markers import Switch, among_text, free_text
from constraints.composing.parsed import Parsed
from constraints.json_schema.building.whitespace import Habit, Whitespace
from constraints.json_schema.strings import Spellings
from constraints.tools.call import ToolCall
from constraints.tools.calls import Markers, ToolCalls
from constraints.tools.pythonic import PythonicCalls
from constraints.tools.tool import ToolLike, name_of, tool_of
from constraints.tools.wire import WIRES, WireFormat

TextPlace: TypeAlias = Literal["before", "around"]
# A bound on the number of calls is limited, because each call has states of its own.
_MAX_PARALLEL: Final = 10_000


@overload
def tool_calls(
    tools: Iterable[ToolLike],
    *,
    format: WireFormat,
    text: None = None,
    parallel: bool | int = False,
    markers: Markers = "text",
    whitespace: Habit | Whitespace = "default",
    spellings: Spellings = "plain",
) -> ToolCalls | PythonicCalls: ...


@overload
def tool_calls(
    tools: Iterable[ToolLike],
    *,
    format: WireFormat,
    text: TextPlace,
    parallel: bool | int = False,
    markers: Markers = "text",
    whitespace: Habit | Whitespace = "default",
    spellings: Spellings = "plain",
) -> Parsed[tuple[str | ToolCall, ...]]: ...


def tool_calls(
    tools: Iterable[ToolLike],
    *,
    format: WireFormat,  # noqa: A002
    text: TextPlace | None = None,
    parallel: bool | int = False,
    markers: Markers = "text",
    whitespace: Habit | Whitespace = "default",
    spellings: Spellings = "plain",
) -> ToolCalls | PythonicCalls | Parsed[tuple[str | ToolCall, ...]]:
    """Return the constraint of tool calls, as a model writes them.

    Args:
        tools: functions; tools in the form of OpenAI's API, `{"type": "function", "function": {"name": ...,
            "parameters": ...}}`; or pairs of a name and a JSON Schema. A schema has the meaning of JSON Schema: without
            `additionalProperties: false`, other members are allowed. A tool without `parameters` takes no arguments.
        format: the wire format; see `constraints.tools.wire`. "pythonic" is for functions whose parameters have types
            that `constraints.types.dataclass` supports.
        text: None: one or more calls alone; `parse` returns a tuple of `ToolCall`s. "before": free text, optionally
            followed by calls to the end. "around": free text before, between and after calls. With "before" and
            "around", `parse` returns a tuple of the pieces in order: text as `str` if it is not empty, and `ToolCall`s.
        parallel: False for one call, True for any number, a number for at most that many (10,000 at most).
        markers: how `<tool_call>`, `[TOOL_CALLS]` and similar markers are written. "text": as text, which may also be
            spelled by a token that writes this text, such as Qwen's. "tokens": as the tokens with these names, for
            models whose decoders omit them, such as Mistral's; they are looked up among the vocabulary's special
            tokens and in `tokenfst.compile(..., terminals=...)`. With `text`, `parse` finds calls by the names of these
            tokens, so the text must be decoded with special tokens.
        whitespace: the whitespace allowed in arguments, as in `json_schema`.
        spellings: how the strings and names in arguments are spelled, as in `json_schema`. With "openai-string", it
            also applies to the string that contains the arguments.

    Raises:
        SchemaError: the arguments of a tool cannot be supported, or are not an object.
        UnsupportedSchema: the format is "openai-string", and arguments nest to any depth.
        TypeError: `tools` is not a list of tools.
        ValueError: there are no tools, two tools have the same name, a name cannot be written plainly in every format,
            or there is no such format; or `spellings` is "all" for "pythonic", which has no JSON.
    """
    _check(format, text, parallel, markers, spellings)
    if isinstance(tools, str | Mapping) or callable(tools) or not isinstance(tools, Iterable):
        raise TypeError(f"tools are a list, even if there is one: [tool], not {tools!r}")
    given = list(tools)
    names = [name_of(tool) for tool in given]
    if len(set(names)) < len(names) or not names:
        raise ValueError(f"tools need names of their own, and there must be one: {names}")
    at_most = None if parallel is True else int(parallel) or 1
    # Text may stand around each call, unless the format encloses all calls together, as in an array.
    alone = text == "around" and format in WIRES and not WIRES[format].after
    each = 1 if alone else at_most
    calls: ToolCalls | PythonicCalls
    if format == "pythonic":
        calls = PythonicCalls(given, each)
    else:
        calls = ToolCalls([tool_of(tool, whitespace, spellings) for tool in given], format, each, markers)
    if text is None:
        return calls
    return _in_text(calls, text, at_most if alone else 1)


def _in_text(calls: ToolCalls | PythonicCalls, text: TextPlace, at_most: int | None) -> Parsed[Any]:
    # No opening can begin within another one, so the text before calls is text without openings.
    free = free_text(*calls.openings)
    switch = Switch(free, EPSILON, calls, EPSILON, tuple)
    if text == "around":
        return among_text([switch], free, 0, at_most)
    return among_text([switch], EPSILON, 1, 1) | among_text([], free, 0, 0)


def _check(format: str, text: str | None, parallel: bool | int, markers: str, spellings: str) -> None:  # noqa: A002
    for what, given, known in (
        ("format", format, get_args(WireFormat)),
        ("markers", markers, get_args(Markers)),
        ("spellings", spellings, get_args(Spellings)),
    ):
        if given not in known:
            raise ValueError(f"`{what}` is one of {', '.join(map(repr, known))}, not {given!r}")
    if format == "pythonic" and spellings == "all":
        raise ValueError('`spellings="all"` is about strings in JSON, and format="pythonic" writes Python')
    if text is not None and text not in get_args(TextPlace):
        raise ValueError(f'`text` is "before" or "around", or None for calls alone, not {text!r}')
    if not isinstance(parallel, bool) and not (isinstance(parallel, int) and 1 <= parallel <= _MAX_PARALLEL):
        raise ValueError(
            f"`parallel` is False for one call, True for any number, or a number from 1 to {_MAX_PARALLEL:,}, not "
            f"{parallel!r}"
        )
