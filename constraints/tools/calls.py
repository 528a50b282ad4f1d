"""`tool_calls(tools)`: calls of tools as a constraint, and back; nothing is ever called.

The text before and between the arguments is that of a wire format (`constraints.tools.wire`); the arguments of each
tool are those of its own schema. The names of tools differ, so when the arguments begin it is known whose they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal, TypeAlias, get_args

from automata.byte_automaton import ByteAutomaton
from automata.errors import TextNotAllowed
from automata.expr import Expr, concat, literal, repeat
from automata.extensions import token
from automata.limits import Work, under_way
from automata.nested import NestedNetwork, compile_nested
from automata.nested.joining import Joining
from automata.pushdown.automaton import PushdownAutomaton
from constraints.json_schema.building.whitespace import Habit, Whitespace
from constraints.parsed import Parsed
from constraints.tools.call import ToolCall
from constraints.tools.pythonic import PythonicCalls
from constraints.tools.tool import Tool, ToolLike, name_of, tool_of
from constraints.tools.wire import BLANK, WIRES, Format, Marker, Pieces

Markers: TypeAlias = Literal["text", "tokens"]


class ToolCalls(Parsed[tuple[ToolCall, ...]]):
    """The texts of calls; made by `tool_calls`. Immutable.

    Attributes:
        tools: the tools.
        format: the wire format.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        format: Format,  # noqa: A002
        at_most: int | None,
        markers: Markers,
    ) -> None:
        self.tools = tuple(tools)
        self.format = format
        self._by_name = {tool.name: tool for tool in tools}
        self._at_most = at_most
        self._markers = markers
        self._arguments = [tool.as_string() if WIRES[format].in_string else tool.network for tool in tools]
        self._network = self._joined(token if markers == "tokens" else literal)

    def __repr__(self) -> str:
        return f"tool_calls([{', '.join(self._by_name)}], format={self.format!r})"

    def to_network(self) -> NestedNetwork:
        """The rules that read the calls; `automata.nested.joining` puts text around them."""
        return self._network

    def to_automaton(self, work: Work) -> ByteAutomaton | PushdownAutomaton:
        """The automaton of the texts; with `markers="tokens"` its labels are the markers.

        Raises:
            LimitExceeded, Cancelled: see `Parsed.to_automaton`.
        """
        return compile_nested(self._network, work=work)

    def parse(self, text: str) -> tuple[ToolCall, ...]:
        """The calls in a text, in order, at least one.

        Where markers are tokens they may be missing, since decoders leave such tokens out, or be there as text.

        Raises:
            TextNotAllowed: the constraint does not allow the text; or functions of a type, such as a model's
                validators, refuse its value.
        """
        try:
            allowed = self._readable.accepts(text.encode())
        except UnicodeEncodeError:
            allowed = False
        if not allowed:
            raise TextNotAllowed(f"these are no calls of {', '.join(self._by_name)} in this format", text)
        try:
            return tuple(self._calls(text))
        except (ValueError, RecursionError) as error:
            # Numbers of more than 4,300 digits, nesting of more than 1,000 levels; or a value that is refused.
            raise TextNotAllowed(str(error), text) from error

    def _calls(self, text: str) -> Iterator[ToolCall]:
        """The calls in a text that is one of the constraint's."""
        wire, decoder = WIRES[self.format], json.JSONDecoder()
        names = "|".join(map(re.escape, sorted(self._by_name, key=len, reverse=True)))
        begins = re.compile(f'{self._regex(wire.name)}({names}){self._regex(wire.arguments)}(?=[{{"])')
        between = re.compile(self._regex(wire.end) + self._regex(wire.between))
        ends = re.compile(self._regex(wire.end) + self._regex(wire.behind) + "$")
        at = _end(re.compile(self._regex(wire.before)).match(text))
        while True:
            found = begins.match(text, at)
            at = _end(found)
            assert found is not None
            value, end = decoder.raw_decode(text, at)
            tool = self._by_name[found[1]]
            yield ToolCall(tool.name, tool.read(value if wire.in_string else text[at:end]))
            if ends.match(text, end):
                return
            at = _end(between.match(text, end))

    def _regex(self, pieces: Pieces) -> str:
        marker = "(?:{})?" if self._markers == "tokens" else "{}"
        written = [marker.format(re.escape(one.text)) if isinstance(one, Marker) else _plain(one) for one in pieces]
        return "".join(written)

    @cached_property
    def _readable(self) -> ByteAutomaton | PushdownAutomaton:
        """The automaton of the texts that are read: markers are text, or missing."""
        network = self._network if self._markers == "text" else self._joined(lambda text: repeat(text, 0, 1))
        return compile_nested(network, work=under_way())

    def _joined(self, marker: Callable[[str], Expr]) -> NestedNetwork:
        """The network of the calls, with markers as they are to be written."""
        wire, joining = WIRES[self.format], Joining()
        begin = joining.read(0, _expr(wire.before, marker))
        behind = joining.state()
        for _ in range(self._at_most or 1):
            end = joining.state()
            for name, arguments in zip(self._by_name, self._arguments, strict=True):
                there = joining.read(begin, concat(_expr(wire.name, marker), name, _expr(wire.arguments, marker)))
                joining.read(joining.read(there, arguments), _expr(wire.end, marker), end)
            joining.read(end, _expr(wire.behind, marker), behind)
            begin = joining.read(end, _expr(wire.between, marker), begin if self._at_most is None else None)
        return joining.network([behind])


def _expr(pieces: Pieces, marker: Callable[[str], Expr]) -> Expr:
    parts = [
        marker(one.text) if isinstance(one, Marker) else repeat(" ", 0, 1) if one is BLANK else one for one in pieces
    ]
    return concat(*parts)


def _plain(piece: str | None) -> str:
    return " ?" if piece is BLANK else re.escape(piece)


def _end(found: re.Match[str] | None) -> int:
    assert found is not None
    return found.end()


def tool_calls(
    tools: Iterable[ToolLike],
    *,
    format: Format,  # noqa: A002
    parallel: bool | int = False,
    markers: Markers = "text",
    whitespace: Habit | Whitespace = "default",
) -> ToolCalls | PythonicCalls:
    """The constraint of calls of tools, as a model writes them.

    Args:
        tools: functions; tools as OpenAI's interface has them, `{"type": "function", "function": {"name": ...,
            "parameters": ...}}`; or pairs of a name and a JSON Schema. A schema means what JSON Schema says: without
            `additionalProperties: false` other members are allowed. No parameters at all are no members.
        format: the wire format; see `constraints.tools.wire`. "pythonic" is for functions whose parameters have types
            that `constraints.types.dataclass` takes.
        parallel: False for one call, True for one or more, a number for at most so many.
        markers: what `<tool_call>`, `[TOOL_CALLS]` and their like are. "text": text, which a token that writes this
            text spells as well, such as Qwen's. "tokens": the tokens of these names, as for models whose decoders
            leave them out, such as Mistral's; they are looked up among the vocabulary's special tokens and in
            `tokenfst.compile(..., terminals=...)`.
        whitespace: where blanks may stand in arguments, as in `json_schema`.

    Raises:
        SchemaError: arguments that cannot be held, or are no object.
        UnsupportedSchema: "openai-string" with arguments that nest to any depth.
        ValueError: no tools, two of a name, a name that no format writes plainly, or no such format.
    """
    if format not in get_args(Format):
        raise ValueError(f"the format is one of {', '.join(get_args(Format))}, not {format!r}")
    if parallel is not True and parallel < 0:
        raise ValueError(f"at most {parallel} calls are none")
    if markers not in get_args(Markers):
        raise ValueError(f'`markers` is "text" or "tokens", not {markers!r}')
    given = list(tools)
    names = [name_of(tool) for tool in given]
    if len(set(names)) < len(names) or not names:
        raise ValueError(f"tools need names of their own, and there must be one: {names}")
    at_most = None if parallel is True else int(parallel) or 1
    if format == "pythonic":
        return PythonicCalls(given, at_most)
    return ToolCalls([tool_of(tool, whitespace) for tool in given], format, at_most, markers)
