"""Convert an automaton's arcs to expressions, over characters if its language is text.

    lifted(automaton)       for each state, the expression to each target: sets of characters or bytes, and labels

In a language of text, the rest of a text shows whether a prefix ends inside a character. So each state of the minimal
automaton is either inside a character for all prefixes that lead to it, or for none. The states inside characters are
left out, and the bytes through them become ranges of characters: the inverse of `automata.expressions.utf8`.
"""

from __future__ import annotations

from collections import defaultdict

from automata.byte_automaton import ByteAutomaton
from automata.compile.constructions import determinized, product
from automata.compile.nfa import NfaBuilder
from automata.expressions import Expr, Label, alternation, byte_ranges, char_ranges
from automata.expressions import ranges as rg
from automata.expressions.ranges import ALL_CHARACTERS
from automata.limits import Work

# The expression on the arcs to each target state.
Arcs = dict[int, Expr]
# The ranges of numbers that lead to each target state.
_Numbers = dict[int, list[tuple[int, int]]]
_Run = tuple[int, int, int]

# For characters of 4, 3, 2 and 1 bytes: a lower bound of their lead bytes, the number of continuation bytes, and the
# bits of a lead byte that are not part of the code point.
_LEADS = ((0xF0, 3, 0xF0), (0xE0, 2, 0xE0), (0x80, 1, 0xC0), (0, 0, 0))


def lifted(automaton: ByteAutomaton, work: Work) -> dict[int, Arcs]:
    """Return, for each state that is not inside a character, the expression that leads to each target state.

    Args:
        automaton: an automaton that is not empty.
        work: the limits, and the means to stop the construction.
    """
    runs: dict[int, list[_Run]] = {state: [] for state in range(automaton.num_states)}
    for source, low, high, target in zip(*(array.tolist() for array in automaton.range_arcs()), strict=True):
        runs[source].append((low, high, target))
    if not automaton.labels and product(automaton, _any_text(work), work, difference=True).is_empty:
        return _Characters(runs).lifted(automaton.start)
    return _with_label_arcs(automaton, {state: _by_bytes(runs[state]) for state in runs})


def _any_text(work: Work) -> ByteAutomaton:
    fragment = NfaBuilder()
    fragment.characters(ALL_CHARACTERS, 0, 0)
    fragment.epsilon += (0, 1)
    return determinized(fragment, work)


def _by_bytes(runs: list[_Run]) -> Arcs:
    numbers: _Numbers = defaultdict(list)
    for low, high, target in runs:
        numbers[target].append((low, high))
    return {target: byte_ranges(tuple(ranges)) for target, ranges in numbers.items()}


def _with_label_arcs(automaton: ByteAutomaton, arcs: dict[int, Arcs]) -> dict[int, Arcs]:
    for state, row in enumerate(automaton.by_label.tolist()):
        for name, target in zip(automaton.labels, row, strict=True):
            if target >= 0:
                arcs[state][target] = alternation(*filter(None, [arcs[state].get(target)]), Label(name))
    return arcs


class _Characters:
    """The characters between the states of an automaton of text."""

    def __init__(self, runs: dict[int, list[_Run]]) -> None:
        self.runs = runs
        self.known: dict[tuple[int, int], _Numbers] = {}

    def lifted(self, start: int) -> dict[int, Arcs]:
        result: dict[int, Arcs] = {}
        waiting = [start]
        while waiting:
            state = waiting.pop()
            if state not in result:
                characters = self.characters(state)
                result[state] = {target: char_ranges(rg.normalize(found)) for target, found in characters.items()}
                waiting.extend(characters)
        return result

    def characters(self, state: int) -> _Numbers:
        """Return the code points that lead from a state between characters to each state between characters."""
        found: _Numbers = defaultdict(list)
        for low, high, target in self.runs[state]:
            # No run holds lead bytes of two lengths, because different numbers of bytes must follow them.
            length, bits = next((length, bits) for first, length, bits in _LEADS if low >= first)
            self.place(found, low - bits, high - bits, target, length)
        return found

    def continued(self, state: int, length: int) -> _Numbers:
        """Return the states to which `length` continuation bytes lead, each with the numbers that the bytes encode."""
        if length == 0:
            return {state: [(0, 0)]}
        if (state, length) not in self.known:
            found = self.known[state, length] = defaultdict(list)
            for low, high, target in self.runs[state]:
                self.place(found, low - 0x80, high - 0x80, target, length - 1)
        return self.known[state, length]

    def place(self, found: _Numbers, low: int, high: int, target: int, length: int) -> None:
        """Add to `found` the numbers whose digits in base 64 begin with one from `low` to `high` and continue as
        `length` continuation bytes from `target`."""
        block = 64**length
        for end, numbers in self.continued(target, length).items():
            if numbers == [(0, block - 1)]:
                found[end].append((low * block, high * block + block - 1))
                continue
            for digit in range(low, high + 1):
                found[end] += [(digit * block + first, digit * block + last) for first, last in numbers]
