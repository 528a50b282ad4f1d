"""Where the parts of a composed text begin and end.

What may follow what is a graph: an edge reads a text of one constraint. `segmented` finds a path from its start to its
end that reads the whole text. Of several paths it takes the one whose first edge comes first; where the edge is the
same, the one whose text is the longest, or the shortest if the edge says so; and so on with the rest. Each pair of a
node and a place in the text is visited once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from automata.byte_automaton import ByteAutomaton
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.step_table import Configuration
from constraints.composing.parsed import Parsed

Node: TypeAlias = tuple[int, int]


class Edge(NamedTuple):
    """One constraint in a composed one.

    Attributes:
        constraint: what it reads.
        target: the node after it.
        value: the pieces that its text stands for.
        shortest: whether the shortest text is tried first, and not the longest.
    """

    constraint: Parsed[object]
    target: Node
    value: Callable[[str], Iterable[object]]
    shortest: bool = False


class Segment(NamedTuple):
    """The text of an edge."""

    edge: Edge
    text: str

    def value(self) -> Iterable[object]:
        """Return the pieces that the text stands for."""
        return self.edge.value(self.text)


def segmented(text: str, start: Node, end: Node, edges: Callable[[Node], Sequence[Edge]]) -> list[Segment] | None:
    """Return the segments of a text, or None where no path reads it in whole characters.

    Args:
        text: the text.
        start: the node before it.
        end: the node after it.
        edges: the edges of a node, in the order in which they are tried.
    """
    written = text.encode()

    def moves(node: Node, begin: int) -> Iterator[tuple[Edge, int, int]]:
        for edge in edges(node):
            found = [at for at in _ends(edge.constraint.readable, written, begin) if _is_boundary(written, at)]
            for at in found if edge.shortest else reversed(found):
                yield edge, begin, at

    path: list[tuple[Edge, int, int]] = []
    seen = {(start, 0)}
    stack = [moves(start, 0)]
    if (start, 0) == (end, len(written)):
        return []
    while stack:
        move = next((each for each in stack[-1] if (each[0].target, each[2]) not in seen), None)
        if move is None:
            stack.pop()
            path = path[:-1]
            continue
        edge, _, at = move
        path.append(move)
        if (edge.target, at) == (end, len(written)):
            return [Segment(edge, written[begin:at].decode()) for edge, begin, at in path]
        seen.add((edge.target, at))
        stack.append(moves(edge.target, at))
    return None


def _is_boundary(text: bytes, at: int) -> bool:
    """Return whether a place lies between two characters of UTF-8."""
    return at == len(text) or text[at] & 0xC0 != 0x80


def _ends(automaton: ByteAutomaton | PushdownAutomaton, text: bytes, begin: int) -> Iterator[int]:
    """Return the places where a text of the automaton that begins at `begin` ends."""
    return (
        _regular_ends(automaton, text, begin)
        if isinstance(automaton, ByteAutomaton)
        else _nested_ends(automaton, text, begin)
    )


def _regular_ends(automaton: ByteAutomaton, text: bytes, begin: int) -> Iterator[int]:
    state, final = automaton.start, automaton.final
    for at in range(begin, len(text) + 1):
        if final[state]:
            yield at
        state = automaton.step(state, text[at : at + 1]) if at < len(text) else -1
        if state < 0:
            return


def _nested_ends(automaton: PushdownAutomaton, text: bytes, begin: int) -> Iterator[int]:
    configurations: list[Configuration] = [(automaton.start, ())]
    for at in range(begin, len(text) + 1):
        if any(automaton.steps_from(each, automaton.num_classes) for each in configurations):
            yield at
        if at == len(text):
            return
        column = int(automaton.byte_class[text[at]])
        reached = [after for each in configurations for after in automaton.steps_from(each, column)]
        configurations = list(dict.fromkeys(reached))
        if not configurations:
            return
