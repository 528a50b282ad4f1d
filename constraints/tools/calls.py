"""Tool calls as a constraint, and reading their texts. No tool is ever called.

The text around the arguments is that of a wire format (`constraints.tools.wire`); the arguments of each tool are those
of its own schema. The names of tools are distinct, so the tool is known when its arguments begin.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal, TypeAlias

from automata.byte_automaton import ByteAutomaton
from automata.errors import TextNotAllowed
from automata.expressions import Expr, concat, literal, repeat
from automata.expressions.extensions import token
from constraints.composing.ends import Readable, has_text, readable
from constraints.composing.parsed import Parsed, is_text
from constraints.composing.rules import ByRules, Rules, RulesBuilder, rules_of
from constraints.json_schema.building.tags import BREAK
from constraints.tools.call import ToolCall
from constraints.tools.tagged import TaggedArguments
from constraints.tools.tool import Tool
from constraints.tools.wire import WIRES, Maybe, TokenText, Wire, WireFormat, WireParts

Markers: TypeAlias = Literal["text", "tokens"]


class ToolCalls(ByRules, Parsed[tuple[ToolCall, ...]]):
    """The texts of calls in a JSON format; made by `tool_calls`. Immutable.

    Attributes:
        tools: the tools.
        format: the wire format.
        openings: the text or the token with which calls begin.
        notes: the parts of the tools' schemas that constrain nothing; each pointer begins with the name of the tool.
    """

    tools: tuple[Tool, ...]
    format: WireFormat

    def __init__(
        self,
        tools: Sequence[Tool],
        format: WireFormat,  # noqa: A002
        at_most: int | None,
        markers: Markers,
    ) -> None:
        self.tools = tuple(tools)
        self.format = format
        self.notes = tuple(note for tool in tools for note in tool.notes())
        self._by_name = {tool.name: tool for tool in tools}
        self._at_most = at_most
        self._markers = markers
        self.openings = (_opening(WIRES[format], markers),)
        wire = WIRES[format]
        self._tagged = {tool.name: TaggedArguments(tool.arguments, wire.tags) for tool in tools if wire.tags}
        self._arguments = [self._language(tool) for tool in tools]
        self._rules = self._joined(token if markers == "tokens" else literal)

    def _language(self, tool: Tool) -> Rules | ByteAutomaton:
        if tool.name in self._tagged:
            return self._tagged[tool.name].rules
        return tool.as_string() if WIRES[self.format].in_string else rules_of(tool.arguments)

    def __repr__(self) -> str:
        return f"tool_calls([{', '.join(self._by_name)}], format={self.format!r})"

    @property
    def rules(self) -> Rules:
        """The rules that read the calls; with `markers="tokens"`, the markers are named tokens."""
        return self._rules

    def parse(self, text: str) -> tuple[ToolCall, ...]:
        """Return the calls in a text, in order; there is at least one.

        Markers that are tokens may be missing, because many decoders omit such tokens, or appear as text.

        Raises:
            TextNotAllowed: the constraint does not allow the text; or functions of a type, such as a model's
                validators, refuse its value.
        """
        if not is_text(text) or not has_text(self._lenient, text.encode()):
            raise TextNotAllowed(f"these are not calls of {', '.join(self._by_name)} in this format", text)
        try:
            return tuple(self._calls(text))
        except (ValueError, RecursionError) as error:
            # Numbers of more than 4,300 digits, nesting of more than 1,000 levels; or a value that is refused.
            raise TextNotAllowed(str(error), text) from error

    def _calls(self, text: str) -> Iterator[ToolCall]:
        """Yield the calls in a text of the constraint."""
        wire = WIRES[self.format]
        end = (BREAK if wire.tags else "") + self._regex(wire.end)
        between, ends = re.compile(end + self._regex(wire.between)), re.compile(end + self._regex(wire.after) + "$")
        begins = self._begins(wire, between.pattern, ends.pattern)
        at = _end(re.compile(self._regex(wire.before)).match(text))
        while True:
            found = begins.match(text, at)
            start = at = _end(found)
            assert found is not None
            tool = self._by_name[found[found.lastindex or 0]]
            value, at = self._json(tool, text, at)
            if wire.tags and self._markers == "tokens" and not self._tagged[tool.name].allows(text[start:at]):
                raise ValueError("without their markers, these calls can be taken for those of other tools")
            yield ToolCall(tool.name, tool.arguments.value(value))
            if ends.match(text, at):
                return
            at = _end(between.match(text, at))

    def _begins(self, wire: Wire, between: str, ends: str) -> re.Pattern[str]:
        """Return the pattern of a call up to its arguments, whose last group is the name.

        Args:
            wire: the format.
            between, ends: the patterns of what follows the arguments, before another call and after the last one.
        """

        def begin(tools: Iterable[str], group: str = "?:") -> str:
            names = "|".join(map(re.escape, sorted(tools, key=len, reverse=True)))
            return f"{self._regex(wire.name)}({group}{names}){self._regex(wire.arguments)}"

        one = begin(self._by_name, "")
        if not wire.tags:
            return re.compile(f'{one}(?=[{{"])')
        bare = [name for name in self._by_name if self._tagged[name].allows("")]
        if self._markers == "text" or not bare:
            return re.compile(f"{one}(?=<)")
        # Without arguments and without its markers, a call ends with its name, and the next one may follow at once.
        more = f"(?:{between}{begin(bare)})*(?:{between}{begin(self._by_name)}<|{ends})"
        return re.compile(f"{one}(?=<)|{begin(bare, '')}(?={more})")

    def _json(self, tool: Tool, text: str, start: int) -> tuple[str, int]:
        """Return the JSON of the arguments that begin at a place in a text, and the place where they end."""
        if tool.name in self._tagged:
            return self._tagged[tool.name].to_json(text, start)
        value, end = json.JSONDecoder().raw_decode(text, start)
        return value if WIRES[self.format].in_string else text[start:end], end

    def _regex(self, pieces: WireParts) -> str:
        marker = "(?:{})?" if self._markers == "tokens" else "{}"
        written = [marker.format(re.escape(one.text)) if isinstance(one, TokenText) else _plain(one) for one in pieces]
        return "".join(written)

    @cached_property
    def readable(self) -> Readable:
        """The automaton of the texts, with markers that are tokens read as their names."""
        return readable(self._joined(literal))

    @cached_property
    def _lenient(self) -> Readable:
        """The automaton of the texts in which markers that are tokens may be missing."""
        if self._markers == "text":
            return self.readable
        return readable(self._joined(lambda text: repeat(text, 0, 1)))

    def _joined(self, marker: Callable[[str], Expr]) -> Rules:
        """Return the rules of the calls, with markers as `marker` writes them."""
        wire, joining = WIRES[self.format], RulesBuilder()
        begin = joining.read(0, _expr(wire.before, marker))
        last = joining.state()
        for _ in range(self._at_most or 1):
            end = joining.state()
            for name, arguments in zip(self._by_name, self._arguments, strict=True):
                there = joining.read(begin, concat(_expr(wire.name, marker), name, _expr(wire.arguments, marker)))
                joining.read(joining.read(there, arguments), _expr(wire.end, marker), end)
            joining.read(end, _expr(wire.after, marker), last)
            begin = joining.read(end, _expr(wire.between, marker), begin if self._at_most is None else None)
        return joining.rules([last])


def _expr(pieces: WireParts, marker: Callable[[str], Expr]) -> Expr:
    parts = [
        marker(one.text) if isinstance(one, TokenText) else repeat(one.text, 0, 1) if isinstance(one, Maybe) else one
        for one in pieces
    ]
    return concat(*parts)


def _plain(piece: str | Maybe) -> str:
    return f"(?:{re.escape(piece.text)})?" if isinstance(piece, Maybe) else re.escape(piece)


def _end(found: re.Match[str] | None) -> int:
    assert found is not None
    return found.end()


def _opening(wire: Wire, markers: Markers) -> Expr:
    """Return the marker with which calls begin, or else their text up to the first blank."""
    first, *_ = pieces = (*wire.before, *wire.name)
    if isinstance(first, TokenText):
        return (token if markers == "tokens" else literal)(first.text)
    texts = itertools.takewhile(lambda piece: not isinstance(piece, Maybe), pieces)
    return literal("".join(piece for piece in texts if isinstance(piece, str)))
