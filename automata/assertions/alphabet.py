"""Classes of characters: no set of an expression distinguishes the characters of one class.

Automata over characters (`automata.assertions.lookaround`) have one arc for a class instead of one for each of a
million characters. Each label is a class of its own, after the classes of characters.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import chain

from automata.errors import ExpressionError
from automata.expressions import Alternation, ByteSet, CharSet, Expr, Label, Literal, Strings, Substring, Transduction
from automata.expressions import ranges as rg
from automata.expressions.ranges import ALL_CHARACTERS, Ranges

# The leaves that consist of characters, bytes or a label; and these together with the leaves that consist of texts.
PLAIN_LEAVES = (Literal, CharSet, ByteSet, Label)
KNOWN_LEAVES = (*PLAIN_LEAVES, Strings, Substring)


def nodes(expr: Expr) -> Iterator[Expr]:
    """Yield every node of an expression, equal ones once; not those of the language that a transducer reads."""
    seen, stack = {expr}, [expr]
    while stack:
        node = stack.pop()
        yield node
        for part in () if isinstance(node, Transduction) else node.operands():
            if part not in seen:
                seen.add(part)
                stack.append(part)


def leaves(expr: Expr) -> Iterator[Expr]:
    """Yield the nodes of an expression that have no operands, and transductions."""
    return (
        node
        for node in nodes(expr)
        if isinstance(node, Transduction) or not (node.operands() or isinstance(node, Alternation))
    )


def is_utf8(value: bytes) -> bool:
    """Return whether bytes are valid UTF-8."""
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


class Alphabet:
    """The classes of characters of an expression, as numbers below `size`.

    Attributes:
        ranges: the code points of each class of characters; the classes of labels follow and are not in this list.
        labels: the class of each label.
        size: the number of classes.
    """

    def __init__(self, exprs: Iterable[Expr]) -> None:
        """Find the classes of some expressions.

        Raises:
            ExpressionError: an expression holds raw bytes.
        """
        sets: dict[Ranges, None] = {ALL_CHARACTERS: None}
        singles: set[int] = set()
        labels: set[str] = set()
        for leaf in chain.from_iterable(map(leaves, exprs)):
            if isinstance(leaf, CharSet):
                sets[leaf.ranges] = None
            elif isinstance(leaf, Literal) and is_utf8(leaf.value):
                singles.update(map(ord, leaf.value.decode()))
            elif isinstance(leaf, Label):
                labels.add(leaf.name)
            elif isinstance(leaf, Literal | ByteSet):
                raise ExpressionError(
                    "assertions (look-around, anchors) see characters, and raw bytes are not characters"
                )
        self.ranges = _classes([*sets], singles)
        self.labels = {name: len(self.ranges) + number for number, name in enumerate(sorted(labels))}
        self.size = len(self.ranges) + len(labels)
        self.firsts = [members[0][0] for members in self.ranges]  # ascending
        self.known: dict[Ranges, tuple[int, ...]] = {}
        self._members: dict[tuple[int, ...], tuple[Ranges, list[str]]] = {}

    def classes(self, ranges: Ranges) -> tuple[int, ...]:
        """Return the classes that make up a set of the expression: those whose first character is in it."""
        found = self.known.get(ranges)
        if found is None:
            firsts = self.firsts
            runs = (range(bisect_left(firsts, low), bisect_right(firsts, high)) for low, high in ranges)
            found = self.known[ranges] = tuple(chain.from_iterable(runs))
        return found

    def symbols(self, expr: Expr) -> Iterator[int]:
        """Yield the classes of the characters and labels that an expression of one character or label allows."""
        for leaf in leaves(expr):
            if isinstance(leaf, CharSet):
                yield from self.classes(leaf.ranges)
            elif isinstance(leaf, Literal):
                yield from self.classes(((ord(leaf.value.decode()),) * 2,))
            elif isinstance(leaf, Label):
                yield self.labels[leaf.name]

    def members(self, classes: tuple[int, ...]) -> tuple[Ranges, list[str]]:
        """Return the characters and the labels of some classes."""
        found = self._members.get(classes)
        if found is None:
            pairs = (pair for number in classes if number < len(self.ranges) for pair in self.ranges[number])
            labels = [name for name, number in self.labels.items() if number in classes]
            found = self._members[classes] = rg.normalize(pairs), labels
        return found


def _classes(sets: list[Ranges], singles: set[int]) -> list[Ranges]:
    """Return the coarsest classes such that every set and every single character is a union of classes. They are in the
    order of their first members."""
    borders = dict.fromkeys([*singles, *(code + 1 for code in singles)], 0)
    for number, ranges in enumerate(sets):
        for low, high in ranges:
            borders[low] = borders.get(low, 0) ^ 1 << number
            borders[high + 1] = borders.get(high + 1, 0) ^ 1 << number
    # The ranges of each class, by the sets that contain them and, for a single character, its code.
    members: dict[tuple[int, int], list[tuple[int, int]]] = {}
    inside, before = 0, 0
    for border in sorted(borders):
        if inside:
            single = before if before in singles else -1
            members.setdefault((inside, single), []).append((before, border - 1))
        inside ^= borders[border]
        before = border
    return [tuple(pairs) for pairs in members.values()]
