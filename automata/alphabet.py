"""The characters of an expression, put into classes: characters that no set of the expression tells apart.

Automata over characters (`automata.lookaround`) have an arc for a class in place of one for each of a million
characters. Labels are classes of their own, behind those of characters.
"""

from __future__ import annotations

from collections.abc import Iterator

from automata import ranges as rg
from automata.errors import ExpressionError
from automata.expr import ByteSet, CharSet, Expr, Label, Literal
from automata.ranges import ALL_CHARACTERS, Ranges


def nodes(expr: Expr) -> Iterator[Expr]:
    """Every node of an expression, equal ones once."""
    seen, stack = {expr}, [expr]
    while stack:
        node = stack.pop()
        yield node
        for part in node.operands():
            if part not in seen:
                seen.add(part)
                stack.append(part)


def code_points(value: bytes) -> list[int]:
    """The characters of a literal.

    Raises:
        ExpressionError: it is not text.
    """
    try:
        return [*map(ord, value.decode())]
    except UnicodeDecodeError:
        raise ExpressionError("assertions (look-around, anchors) see characters, and raw bytes are none") from None


class Alphabet:
    """The classes of characters of an expression, as numbers below `size`.

    Attributes:
        ranges: the code points of each class; none for a label's.
        labels: the class of each label.
        size: the number of classes.
    """

    def __init__(self, expr: Expr) -> None:
        sets: dict[Ranges, None] = {ALL_CHARACTERS: None}
        singles: set[int] = set()
        labels: set[str] = set()
        for node in nodes(expr):
            if isinstance(node, CharSet):
                sets[node.ranges] = None
            elif isinstance(node, Literal):
                singles.update(code_points(node.value))
            elif isinstance(node, Label):
                labels.add(node.name)
            elif isinstance(node, ByteSet):
                raise ExpressionError("assertions (look-around, anchors) see characters, and raw bytes are none")
        self.ranges = _classes([*sets, *(((code, code),) for code in sorted(singles))])
        self.labels = {name: len(self.ranges) + number for number, name in enumerate(sorted(labels))}
        self.size = len(self.ranges) + len(labels)
        self.known: dict[Ranges, tuple[int, ...]] = {}

    def classes(self, ranges: Ranges) -> tuple[int, ...]:
        """The classes that make up a set of the expression."""
        found = self.known.get(ranges)
        if found is None:
            found = self.known[ranges] = tuple(
                number for number, members in enumerate(self.ranges) if rg.intersect(members[:1], ranges)
            )
        return found

    def members(self, classes: list[int]) -> tuple[Ranges, list[str]]:
        """The characters and the labels of some classes."""
        ranges = rg.normalize(pair for number in classes if number < len(self.ranges) for pair in self.ranges[number])
        return ranges, [name for name, number in self.labels.items() if number in classes]


def _classes(sets: list[Ranges]) -> list[Ranges]:
    """The coarsest classes of which every set is made; in the order of their first members."""
    borders: dict[int, int] = {}
    for number, ranges in enumerate(sets):
        for low, high in ranges:
            borders[low] = borders.get(low, 0) ^ 1 << number
            borders[high + 1] = borders.get(high + 1, 0) ^ 1 << number
    members: dict[int, list[tuple[int, int]]] = {}
    inside, before = 0, 0
    for border in sorted(borders):
        if inside:
            members.setdefault(inside, []).append((before, border - 1))
        inside ^= borders[border]
        before = border
    return [tuple(pairs) for pairs in members.values()]
