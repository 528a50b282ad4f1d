"""Generate strings to try on a pattern: texts of its language, near misses, and strings independent of its automaton.

    Walks           texts from a byte automaton: shortest and random texts, and texts through any arc or missing arc
    sampled         texts from the parse tree of Python's `re`, which a wrong automaton may not accept
    near_misses     strings that are one edit away from a text, or a part of it
    random_texts    short strings over the characters of the pattern and others that are often handled wrongly

An arc is missing where a state does not read a byte. A text that leads to such a state, the byte, and the rest of
another text make a near miss. It tests a point at which a wrong automaton may differ from the pattern.
"""

from __future__ import annotations

import re
import re._constants as sre
import re._parser as sre_parser
import warnings
from collections import deque
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from automata import ByteAutomaton
from automata.graph import distances

# Letters and digits of several scripts and of one to four bytes in UTF-8, characters with unusual case mappings, white
# space, line ends and control characters.
POOL = "aAbZz09_ .-/éÉßſKİЯяαΣς中٣५😀\n\r\t\u00a0\u2028\ufeff\x00\x7f"
# Upper bounds of repetitions are tried only up to this one.
MAX_REPEATS = 600
_REPEATED_GROUP = re.compile(r"\)(?:[*+]|\{\d*,)")


class Walks:
    """A byte automaton as lists, with shortest paths from the start to each state and from there to a final state."""

    def __init__(self, automaton: ByteAutomaton) -> None:
        self.start = automaton.start
        self.final: list[bool] = automaton.final.tolist()
        self.table: list[list[int]] = automaton.next.tolist()
        self.members = [np.flatnonzero(automaton.byte_class == k).tolist() for k in range(automaton.num_classes)]
        self.live = [[k for k, target in enumerate(row) if target >= 0] for row in self.table]
        source, column = np.nonzero(automaton.next >= 0)
        target = automaton.next[source, column]
        self.distance: list[int] = distances(source.astype(np.int32), target, automaton.final).tolist()
        self.entry = self._entries()

    def _entries(self) -> list[tuple[int, int] | None]:
        """Return the state and class from which breadth-first search reached each state, None for the start."""
        entry: list[tuple[int, int] | None] = [None] * len(self.table)
        seen, queue = {self.start}, deque([self.start])
        while queue:
            state = queue.popleft()
            for k in self.live[state]:
                target = self.table[state][k]
                if target not in seen:
                    seen.add(target)
                    entry[target] = (state, k)
                    queue.append(target)
        return entry

    def byte(self, number: int, random: Random) -> int:
        return int(random.choice(self.members[number]))

    def finish(self, state: int, random: Random) -> bytes:
        """Return a shortest text from a state to a final state."""
        text = bytearray()
        while not self.final[state]:
            row, nearer = self.table[state], self.distance[state] - 1
            number = random.choice([k for k in self.live[state] if self.distance[row[k]] == nearer])
            text.append(self.byte(number, random))
            state = row[number]
        return bytes(text)

    def reach(self, state: int, random: Random) -> bytes:
        """Return a shortest text from the start to a state."""
        text = bytearray()
        before = self.entry[state]
        while before is not None:
            state, number = before
            text.append(self.byte(number, random))
            before = self.entry[state]
        return bytes(text[::-1])

    def random(self, random: Random, max_length: int) -> bytes:
        """Return a random text of the language; after `max_length` bytes, it ends as soon as it can."""
        text, state = bytearray(), self.start
        while len(text) < max_length and self.live[state] and not (self.final[state] and random.random() < 0.25):
            number = random.choice(self.live[state])
            text.append(self.byte(number, random))
            state = self.table[state][number]
        return bytes(text) + self.finish(state, random)

    def through(self, random: Random) -> bytes:
        """Return a shortest text through a random arc; if the arc is missing, the text is not in the language."""
        state, number = random.randrange(len(self.table)), random.randrange(len(self.members))
        target = self.table[state][number]
        rest = self.finish(state if target < 0 else target, random)
        return self.reach(state, random) + bytes([self.byte(number, random)]) + rest


# Texts from another parser


def sampled(pattern: str, count: int, random: Random) -> list[str]:
    """Return texts that probably match, drawn from the parse tree; none if Python cannot parse the pattern."""
    tree = _tree(pattern)
    return [] if tree is None else [_drawn(tree, random, 0) for _ in range(count)]


def may_explode(pattern: str) -> bool:
    """Return whether backtracking may take time exponential in the length of a text, because a group is repeated."""
    return _REPEATED_GROUP.search(pattern) is not None


def _tree(pattern: str) -> Any:
    # Python's named groups have another syntax than those of ECMA-262, and Python has no properties: they become `\w`.
    # This is good enough to draw texts, because the matcher judges them by the original pattern.
    likely = re.sub(r"\(\?<(?=\w)", "(?P<", re.sub(r"\\[pP](\{[^}]*\}|[A-Z])", r"\\w", pattern))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sre_parser.parse(likely)
    except (re.error, OverflowError):
        return None


def _drawn(tree: Any, random: Random, depth: int) -> str:
    """Return a text of a part of the tree, inside `depth` repetitions."""
    return "".join([_piece(operation, value, random, depth) for operation, value in tree])


def _piece(operation: Any, value: Any, random: Random, depth: int) -> str:
    if operation is sre.LITERAL:
        return _cased(value, random)
    if operation is sre.IN:
        return _member(value, random)
    if operation is sre.BRANCH:
        return _drawn(random.choice(value[1]), random, depth)
    if operation is sre.SUBPATTERN:
        return _drawn(value[3], random, depth)
    if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        low, high, inner = value
        return "".join([_drawn(inner, random, depth + 1) for _ in range(_times(low, high, random, depth))])
    if operation in (sre.ANY, sre.NOT_LITERAL):
        return random.choice(POOL)
    # What a look-around requires often has to be part of the text.
    return _drawn(value[1], random, depth) if operation is sre.ASSERT and random.random() < 0.5 else ""


def _cased(code: int, random: Random) -> str:
    """Return a character, sometimes in its other case."""
    return chr(code).swapcase() if random.random() < 0.05 else chr(code)


def _times(low: int, high: Any, random: Random, depth: int) -> int:
    """Return a number of repetitions near the lower or the upper bound, sometimes outside the bounds."""
    if high is not sre.MAXREPEAT and high <= MAX_REPEATS and not depth and random.random() < 0.3:
        return int(high) + random.choice([-1, 0, 0, 1]) if high else 0
    return max(0, low + random.choice([-1, 0, 0, 0, 1, 1, 2, 3]))


def _member(items: Any, random: Random) -> str:
    operation, value = random.choice(items)
    if operation is sre.LITERAL:
        return _cased(value, random)
    if operation is sre.RANGE:
        return chr(random.choice([value[0], value[1], random.randint(*value)]))
    return random.choice(POOL)


# Texts near a text


def near_misses(text: str, letters: str, count: int, random: Random) -> Iterator[str]:
    """Yield strings that are one edit away from a text, and beginnings and ends of it."""
    for _ in range(count):
        place, letter = random.randrange(len(text) + 1), random.choice(letters)
        head, at, tail = text[:place], text[place : place + 1], text[place + 1 :]
        yield random.choice(
            [
                head + tail,
                head + letter + at + tail,
                head + letter + tail,
                head + tail[:1] + at + tail[1:],
                head + at.swapcase() + tail,
                head + at + at + tail,
                head,
                at + tail,
                text + letter,
                letter + text,
            ]
        )


def letters_of(pattern: str) -> str:
    """Return the characters of a pattern, each once, and those of `POOL`."""
    return "".join(dict.fromkeys(pattern)) + POOL


def random_texts(letters: str, count: int, random: Random) -> Iterator[str]:
    """Yield random strings of at most six of the letters."""
    for _ in range(count):
        yield "".join(random.choice(letters) for _ in range(random.choice([0, 1, 1, 2, 2, 3, 4, 6])))
