"""Where the parts of a composed text begin and end.

The possible orders of parts form a graph, in which each edge reads a text of one constraint. `segmented` finds a path
from the start to the end that reads the whole text. If there are several paths, it takes the one whose first edge comes
first; if the edges are equal, the one whose text is the longest; and so on for the rest of the path. Adjacent edges of
one group are compared by their texts instead: the shortest comes first. Each pair of a node and an offset in the text
is visited once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, groupby, zip_longest
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from constraints.composing.ends import endings
from constraints.composing.parsed import Parsed

Node: TypeAlias = tuple[int, int]


class Edge(NamedTuple):
    """One constraint in a composed one.

    Attributes:
        constraint: the constraint whose text the edge reads.
        target: the node after the edge.
        value: returns the pieces for the text of the edge.
        group: the number of the group in which the shortest text comes first; None if the longest text comes first.
    """

    constraint: Parsed[object]
    target: Node
    value: Callable[[str], Iterable[object]]
    group: int | None = None


# An edge, and where its text begins and ends.
_Move: TypeAlias = tuple[Edge, int, int]


class Segment(NamedTuple):
    """The text of an edge."""

    edge: Edge
    text: str

    def value(self) -> Iterable[object]:
        """Return the pieces for the text."""
        return self.edge.value(self.text)


def segmented(text: str, start: Node, end: Node, edges: Callable[[Node], Sequence[Edge]]) -> list[Segment] | None:
    """Return the segments of a text, or None if no path reads it in whole characters.

    Args:
        text: the text.
        start: the node at the start of the text.
        end: the node at the end of the text.
        edges: returns the edges of a node, in the order in which they are tried.
    """
    written = text.encode()

    def places(tried: Sequence[Edge], begin: int) -> Iterator[_Move]:
        # The edges are followed side by side, so that no text is read beyond the end of the shortest one.
        runs = [endings(edge.constraint.readable, written, begin) for edge in tried]
        for at, may_end in enumerate(zip_longest(*runs, fillvalue=False), begin):
            if any(may_end) and _is_boundary(written, at):
                yield from ((edge, begin, at) for edge in compress(tried, may_end))

    def moves(node: Node, begin: int) -> Iterator[_Move]:
        for group, tried in groupby(edges(node), key=attrgetter("group")):
            if group is None:
                yield from (move for edge in tried for move in reversed(list(places([edge], begin))))
            else:
                yield from places(list(tried), begin)

    path: list[_Move] = []
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
