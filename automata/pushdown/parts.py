"""The rules of a grammar as NFAs, before they are joined.

    RuleNfa     byte arcs, epsilon arcs, calls and marks between the states of one rule; one start, one end
    Rules       the NFAs of a grammar: of its rules, its words, the text between words, and the whole text

All later steps up to the network are done on NFAs: removing left recursion, inlining, and turning recursion into loops.
Each needs only a few epsilon arcs, whatever the rule's expression looks like. An NFA is as large as its expression;
determinization comes last, once, for all rules together.

A word T is a rule too: a non-empty text of T, the mark "end of T", and then ignored words. So rules and words are
inlined by the same means, and a large word in many places is a rule that is called.

Rejected: rewriting expressions (a call at the left end of `(a? b)* c` is not one node of the expression that could be
removed, and each rewriting would need two forms, for the two ways to write the same rule).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from automata.arrays import BoolArray, IntArray
from automata.graph import reachable
from automata.limits import Work

START, END = 0, 1


@dataclass(slots=True)
class RuleNfa:
    """The NFA of one rule. No arc leads into its start, state 0, and none leaves its end, state 1, until left recursion
    is solved.

    Attributes:
        num_states: the number of states.
        arcs: `[A, 4]`, source, lowest and highest byte, and target.
        epsilon: `[E, 2]`, source and target.
        calls: `[C, 3]`, source, the rule called, and target.
        marks: `[M, 3]`, source, mark and target: the end of word t is t, and label l is T + l.
    """

    num_states: int
    arcs: IntArray
    epsilon: IntArray
    calls: IntArray
    marks: IntArray

    @property
    def size(self) -> int:
        """The number of arcs of all kinds."""
        return len(self.arcs) + len(self.epsilon) + len(self.calls) + len(self.marks)


@dataclass(slots=True)
class Rules:
    """The NFAs of a grammar; its rules come first, then its words, then the text between words, then the whole text.

    Attributes:
        names: the name of each NFA in errors.
        nfas: the NFAs.
        text: the number of the NFA that whole texts match.
        words: the lexical rules by priority, highest first.
        num_lazy: the number of lazy words, which come first.
        labels: the user's labels, ascending.
        num_rules: the number of NFAs of rules and lexical rules of the grammar.
        composing: the numbers of the NFAs that call grammars with lexers of their own.
    """

    names: list[str]
    nfas: list[RuleNfa]
    text: int
    words: tuple[str, ...]
    num_lazy: int
    labels: tuple[str, ...]
    num_rules: int
    composing: frozenset[int] = frozenset()


def rows(values: Iterable[tuple[int, ...]], width: int) -> IntArray:
    """Return `[n, width]`, from tuples."""
    return np.array([*values], np.int32).reshape(-1, width)


def loop_of(first: int, count: int) -> RuleNfa:
    """Return the NFA of any number of texts, each of one of `count` NFAs from number `first` up."""
    calls = rows([(2, first + number, 2) for number in range(count)], 3)
    return RuleNfa(3, rows([], 4), rows([(START, 2), (2, END)], 2), calls, rows([], 3))


def in_a_row(numbers: list[int]) -> RuleNfa:
    """Return the NFA of texts of some NFAs, one after the other."""
    states = [START, *range(2, len(numbers) + 1), END]
    calls = [(states[place], number, states[place + 1]) for place, number in enumerate(numbers)]
    return RuleNfa(len(numbers) + 1, rows([], 4), rows([], 2), rows(calls, 3), rows([], 3))


def word_of(part: RuleNfa, word: int, after: int, work: Work) -> RuleNfa:
    """Return the NFA of a word: a non-empty text of `part`, the mark of its end, and then a call of the NFA `after`,
    unless that is -1."""
    end = part.num_states
    if END in closure(part, [START], work):
        part = fresh_start(part, work)
    moved = []
    for arcs in (part.arcs, part.epsilon, part.calls, part.marks):
        moved.append(arcs := arcs.copy())
        arcs[arcs[:, -1] == END, -1] = end
    arcs, epsilon, calls, marks = moved
    marks = np.concatenate([marks, rows([(end, word, END if after < 0 else end + 1)], 3)])
    calls = np.concatenate([calls, rows([(end + 1, after, END)] if after >= 0 else [], 3)])
    return RuleNfa(end + 2, arcs, epsilon, calls, marks)


def closure(part: RuleNfa, states: list[int], work: Work) -> set[int]:
    """Return the given states, and all states that epsilon arcs lead to from them."""
    after: dict[int, list[int]] = {}
    for source, target in work.watched(part.epsilon.tolist()):
        after.setdefault(source, []).append(target)
    return reachable(states, lambda state: after.get(state, ()), work)


def fresh_start(part: RuleNfa, work: Work) -> RuleNfa:
    """Return an NFA without the empty text: the start takes the first steps of all states in its epsilon closure."""
    first = np.zeros(part.num_states, np.bool_)
    first[list(closure(part, [START], work))] = True
    arcs, calls, marks = (_from_start(arcs, first) for arcs in (part.arcs, part.calls, part.marks))
    return RuleNfa(part.num_states, arcs, part.epsilon[part.epsilon[:, 0] != START], calls, marks)


def _from_start(arcs: IntArray, first: BoolArray) -> IntArray:
    """Return the arcs, and for each arc that leaves a state of `first`, a copy that leaves the start."""
    begun = arcs[first[arcs[:, 0]]]
    begun[:, 0] = START
    return np.concatenate([begun, arcs[arcs[:, 0] != START]])


def copies(arcs: IntArray, shifts: IntArray) -> IntArray:
    """Return the rows of an NFA once for each shift; the first and the last column are states, which are shifted."""
    copied = np.repeat(arcs[None], len(shifts), axis=0)
    copied[:, :, 0] += shifts[:, None]
    copied[:, :, -1] += shifts[:, None]
    return copied.reshape(-1, arcs.shape[1])
