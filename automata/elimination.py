"""From an automaton back to an expression: what does it say?

States are eliminated one after the other (Brzozowski & McCluskey 1963): without a state, each way through it, in, any
number of times around, and out, is an arc of its own, labelled with an expression. What is between the start and the
end is the answer. The order decides how long it gets; the state with the least to write comes first (Delgado & Morais,
"Approximation to the smallest regular expression for a given regular language", CIAA 2004).

Where the language is text, arcs are lifted from bytes to characters before: a state where no character can be half read
has arcs by sets of characters, and `[à-ü]` comes out as that and not as its bytes.

The expression is not the one that the automaton was compiled from, and there is no best one; an automaton of n states
may have none shorter than 2^n, so there is a limit.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from automata import ranges as rg
from automata.algebra import difference
from automata.byte_automaton import ByteAutomaton
from automata.errors import LimitExceeded
from automata.expr import (
    ANY_TEXT,
    EMPTY,
    EPSILON,
    CharSet,
    Expr,
    Label,
    alternation,
    byte_ranges,
    char_ranges,
    concat,
    is_epsilon,
    repeat,
)

MAX_LEAVES = 100_000

# What leads from one state to another.
Arcs = dict[int, Expr]
_Pairs = defaultdict[int, list[tuple[int, int]]]


def to_expr(automaton: ByteAutomaton) -> Expr:
    """An expression of the language of an automaton, over characters where the language is text.

    Raises:
        LimitExceeded: the expression would have more than `MAX_LEAVES` leaves.
    """
    if automaton.is_empty:
        return EMPTY
    is_text = not automaton.labels and difference(automaton, ANY_TEXT).is_empty
    arcs = _character_arcs(automaton) if is_text else _byte_arcs(automaton)
    # Two states more: the start, with no arc in, and the end, with no arc out.
    start, end = automaton.num_states, automaton.num_states + 1
    arcs[start] = {automaton.start: EPSILON}
    for state in np.flatnonzero(automaton.final).tolist():
        arcs[state][end] = EPSILON
    return _eliminate(arcs, start, end)


def _eliminate(arcs: dict[int, Arcs], start: int, end: int) -> Expr:
    """What leads from start to end, once all other states are gone."""
    into: dict[int, set[int]] = defaultdict(set)
    for source, targets in arcs.items():
        for target in targets:
            into[target].add(source)
    while len(arcs) > 1:
        state = min((state for state in arcs if state != start), key=lambda state: _cost(arcs, into, state))
        out = arcs.pop(state)
        loop = out.pop(state, None)
        into[state].discard(state)
        sources = into.pop(state)
        for target in out:
            into[target].discard(state)
        for source in sources:
            before = arcs[source].pop(state)
            for target, behind in out.items():
                way = _way(before, loop, behind)
                known = arcs[source].get(target)
                arcs[source][target] = way if known is None else _either(known, way)
                into[target].add(source)
                if arcs[source][target].size > MAX_LEAVES:
                    raise LimitExceeded(f"the expression of the automaton has more than {MAX_LEAVES:,} leaves")
    return arcs[start][end]


def _cost(arcs: dict[int, Arcs], into: dict[int, set[int]], state: int) -> tuple[int, int]:
    """How many more leaves there are without a state; among equals, later states go first."""
    sources = into[state] - {state}
    out = [way.size for target, way in arcs[state].items() if target != state]
    written = sum(arcs[source][state].size for source in sources) * (len(out) - 1) + sum(out) * (len(sources) - 1)
    loop = arcs[state].get(state)
    return written + (loop.size * (len(sources) * len(out) - 1) if loop is not None else 0), -state


def _way(before: Expr, loop: Expr | None, behind: Expr) -> Expr:
    """In, any number of times around, and out."""
    if loop is None:
        return concat(before, behind)
    if before == loop:
        return concat(repeat(loop, 1), behind)
    if behind == loop:
        return concat(before, repeat(loop, 1))
    return concat(before, repeat(loop, 0), behind)


def _either(left: Expr, right: Expr) -> Expr:
    for one, other in ((left, right), (right, left)):
        if is_epsilon(one):
            return repeat(other, 0, 1)
    return alternation(left, right)


def _byte_arcs(automaton: ByteAutomaton) -> dict[int, Arcs]:
    """The arcs of every state, by sets of bytes and by labels."""
    pairs: dict[int, _Pairs] = {state: defaultdict(list) for state in range(automaton.num_states)}
    arcs = automaton.range_arcs()
    for source, low, high, target in zip(*(array.tolist() for array in arcs), strict=True):
        pairs[source][target].append((low, high))
    result: dict[int, Arcs] = {
        state: {target: byte_ranges(tuple(ranges)) for target, ranges in targets.items()}
        for state, targets in pairs.items()
    }
    for source, number in np.argwhere(automaton.by_label >= 0).tolist():
        target = int(automaton.by_label[source, number])
        label = Label(automaton.labels[number])
        result[source][target] = _either(result[source][target], label) if target in result[source] else label
    return result


def _character_arcs(automaton: ByteAutomaton) -> dict[int, Arcs]:
    """The arcs by sets of characters, of every state that stands between two characters.

    In a language of text, what can follow a prefix says whether it ends inside a character, so a state of the minimal
    automaton is inside one or is not. Those inside are left out.
    """
    runs: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    arcs = automaton.range_arcs()
    for source, low, high, target in zip(*(array.tolist() for array in arcs), strict=True):
        runs[source].append((low, high, target))

    rests: dict[tuple[int, int], dict[int, list[tuple[int, int]]]] = {}

    def continued(state: int, length: int) -> dict[int, list[tuple[int, int]]]:
        """The states that `length` continuation bytes lead to, and by which numbers below 64 ** length."""
        if length == 0:
            return {state: [(0, 0)]}
        if (state, length) not in rests:
            found = rests[state, length] = defaultdict(list)
            for low, high, target in runs[state]:
                _place(found, low - 0x80, high - 0x80, continued(target, length - 1), 64 ** (length - 1))
        return rests[state, length]

    result: dict[int, Arcs] = {}
    todo = [automaton.start]
    while todo:
        state = todo.pop()
        if state in result:
            continue
        found: _Pairs = defaultdict(list)
        for low, high, target in runs[state]:
            # A run may span leads of different lengths, if it leads to one state: it does not, but for ASCII.
            length = 0 if low < 0x80 else 1 if low < 0xE0 else 2 if low < 0xF0 else 3
            lead = (0, 0xC0, 0xE0, 0xF0)[length]
            _place(found, low - lead, high - lead, continued(target, length), 64**length)
        result[state] = {target: char_ranges(rg.normalize(pairs)) for target, pairs in found.items()}
        todo.extend(result[state])
    return result


def _place(
    found: dict[int, list[tuple[int, int]]], low: int, high: int, rest: dict[int, list[tuple[int, int]]], block: int
) -> None:
    """Adds to `found` the numbers whose first digit in base `block` is from `low` to `high` and whose rest is given."""
    for target, pairs in rest.items():
        whole = pairs == [(0, block - 1)]
        if whole:
            found[target].append((low * block, (high + 1) * block - 1))
        else:
            found[target] += [
                (digit * block + first, digit * block + last)
                for digit in range(low, high + 1)
                for first, last in pairs
            ]
