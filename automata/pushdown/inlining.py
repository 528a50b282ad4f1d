"""Choose the rules that remain rules, and copy all other rules into their NFAs (inlining).

Only true recursion needs a stack, and determinization finds the common prefix of two alternatives only within one
automaton. So rules are inlined as far as possible, unless the result would be too large.

A call after which only epsilon arcs lead to the end of the rule is a *tail call*: it is followed by what follows the
rule. In the NFA of A, a tail call of A is a loop to its start and not recursion; so is a tail call of a rule that was
itself begun by a tail call, directly or not:

    frame       an end, and the rules that were begun with this end, each with the state where it begins

An NFA that solves left recursion (`automata.pushdown.recursion`) continues after its end, so its tail calls are in a
frame of its own, whose end is that end: the call after `x` in `A = A x A | b` is a loop to A's start.

In each cycle of the graph of calls, not counting tail calls within a frame, some rule remains a rule. Of the others,
those that are large (with everything inlined) and are called from many places remain rules.

Rules that consist of words remain rules if they are called among other bytes. So the bytes of a remaining rule are
either all in words or all outside of words, and text inside words is kept apart from text outside.

Inlined rules are laid out from the outside in, each copy directly at its place, in time proportional to the result.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from automata.arrays import IntArray
from automata.errors import LimitExceeded
from automata.graph import components, distances
from automata.limits import Work
from automata.pushdown.analysis import beside_words, called_rules, lexers
from automata.pushdown.parts import END, START, RuleNfa, Rules, copies, rows

# A rule is inlined if all its copies together add no more arcs than this.
_MAX_GROWTH = 1024
# The number of arcs that all inlined rules together may add. Rules smaller than a call and its steps cost nothing.
_MAX_TOTAL_GROWTH = 50_000
_FREE_SIZE = 8
# The maximum number of rounds in which one of the rules that call each other is chosen to stay; the last chooses all.
_MAX_ROUNDS = 16
# The cost of laying an NFA, in steps of the budget.
_LAYING_STEPS = 1000


@dataclass(slots=True)
class InlinedRules:
    """The NFAs of the rules that stay, side by side; arcs, epsilon arcs and marks are as in `RuleNfa`. States 0 and 1
    are left free.

    Attributes:
        rules: the numbers of the NFAs that stay, the whole text first.
        in_words: whether the bytes of each of them are in words.
        lexers: the lexer of each of them.
        starts, ends: where each of them begins and ends.
        calls: `[C, 3]`, source, the NFA called, and target.
    """

    rules: list[int]
    in_words: list[bool]
    lexers: list[int]
    starts: list[int]
    ends: list[int]
    num_states: int
    arcs: IntArray
    epsilon: IntArray
    calls: IntArray
    marks: IntArray

    def only(self, places: set[int]) -> InlinedRules:
        """Return only the rules at some places in `rules`; nothing calls the others."""
        kept = sorted(places)
        rules = [self.rules[place] for place in kept]
        return replace(
            self,
            rules=rules,
            in_words=[self.in_words[place] for place in kept],
            lexers=[self.lexers[place] for place in kept],
            starts=[self.starts[place] for place in kept],
            ends=[self.ends[place] for place in kept],
            calls=self.calls[np.isin(self.calls[:, 1], rules)],
        )


@dataclass(slots=True)
class _Calls:
    """The tail calls of an NFA, which a frame catches, and its other calls."""

    tail: list[tuple[int, int, int]]
    other: list[tuple[int, int, int]]
    loops: bool  # whether arcs leave the end

    @property
    def is_empty(self) -> bool:
        """Whether there are no calls."""
        return not (self.tail or self.other)


@dataclass(slots=True)
class _Frame:
    end: int
    begun: dict[int, int] = field(default_factory=dict)


def inline(rules: Rules, work: Work) -> InlinedRules:
    """Inline rules; return the NFAs of those that stay.

    Raises:
        LimitExceeded: they take more arcs than allowed, or the time is up.
    """
    used, beside = sorted(called_rules(rules)), beside_words(rules)
    calls = {number: _sorted_calls(rules.nfas[number], work) for number in work.watched(used)}
    return _Inliner(rules, calls, _that_stay(rules, calls, beside, work), beside, work).joined()


def _sorted_calls(part: RuleNfa, work: Work) -> _Calls:
    loops = bool((part.epsilon[:, 0] == END).any())
    if not len(part.calls):
        return _Calls([], [], loops)
    inner = part.epsilon[part.epsilon[:, 0] != END]
    ends, can_continue = np.zeros(part.num_states, np.bool_), np.zeros(part.num_states, np.bool_)
    ends[END] = True
    for arcs in (part.arcs, part.calls, part.marks):
        can_continue[arcs[:, 0]] = True
    to_end, on = (distances(inner[:, 0], inner[:, 1], goal, work) >= 0 for goal in (ends, can_continue))
    is_tail = (to_end & ~on)[part.calls[:, 2]]
    return _Calls(_tuples(part.calls[is_tail]), _tuples(part.calls[~is_tail]), loops)


def _tuples(calls: IntArray) -> list[tuple[int, int, int]]:
    return list(zip(*calls.T.tolist(), strict=True))


def _that_stay(rules: Rules, calls: dict[int, _Calls], beside: set[int], work: Work) -> set[int]:
    """Return the rules that are not inlined; `beside` contains those with bytes outside of words."""
    stay = _recursive(rules, calls, work)
    for number in beside & calls.keys():
        stay |= set(rules.nfas[number].calls[:, 1].tolist()) - beside
    work.check()
    num_calls = Counter(callee for found in calls.values() for _, callee, _ in (*found.tail, *found.other))
    num_calls[rules.text] += 1
    successors = _graph(rules, calls, stay)
    work.check()
    size: dict[int, int] = {}
    budget = _MAX_TOTAL_GROWTH + sum(rules.nfas[number].size for number in calls)
    for members in work.watched(components(successors, work)):
        group = set(members)
        if group & stay or not group <= calls.keys():
            continue
        total, places = 0, sum(num_calls[member] for member in members)
        for member in members:
            called = [callee for _, callee, _ in (*calls[member].tail, *calls[member].other)]
            places -= sum(callee in group for callee in called)
            total += rules.nfas[member].size + sum(size.get(callee, 1) for callee in called if callee not in group)
        growth = max(places - 1, 0) * total
        if growth > max(min(_MAX_GROWTH, budget), places * _FREE_SIZE):
            stay |= group
        else:
            budget -= growth
            size.update(dict.fromkeys(members, total))
    return stay


def _recursive(rules: Rules, calls: dict[int, _Calls], work: Work) -> set[int]:
    """Return rules such that every recursion passes one of them."""
    stay = {number for number, found in calls.items() if any(callee == number for _, callee, _ in found.other)}
    work.check()
    num_calls = Counter(callee for found in calls.values() for _, callee, _ in found.other)
    for round_ in range(_MAX_ROUNDS):
        added = set()
        for members in work.watched(components(_graph(rules, calls, stay), work)):
            group = set(members)
            if len(members) > 1 and _pushes(calls, group):
                best = max(members, key=lambda member: (num_calls[member], rules.nfas[member].size))
                added |= group if round_ == _MAX_ROUNDS - 1 else {best}
        if not added:
            break
        stay |= added
    return stay


def _pushes(calls: dict[int, _Calls], group: set[int]) -> bool:
    """Return whether some call between the rules of a group needs the stack, so that one of them must stay."""
    if any(callee in group for member in group for _, callee, _ in calls[member].other):
        return True
    # Two rules with frames of their own could call each other.
    return sum(calls[member].loops for member in group) > 1


def _graph(rules: Rules, calls: dict[int, _Calls], stay: set[int]) -> list[list[int]]:
    """Return, for each rule that is not known to stay, the other such rules that it calls."""
    graph: list[list[int]] = [[] for _ in rules.nfas]
    for number, found in calls.items():
        if number not in stay:
            graph[number] = [
                callee for _, callee, _ in (*found.other, *found.tail) if callee != number and callee not in stay
            ]
    return graph


class _Inliner:
    """Lays out the rules that stay, with the others in them."""

    def __init__(self, rules: Rules, calls: dict[int, _Calls], stay: set[int], beside: set[int], work: Work) -> None:
        self.nfas, self.calls, self.stay, self.work = rules.nfas, calls, stay, work
        order = [rules.text, *sorted(stay - {rules.text})]
        in_words = [number not in beside for number in order]
        lexer = lexers(rules, work)
        own = [lexer[number] for number in order]
        self.result = InlinedRules(order, in_words, own, [], [], 2, rows([], 4), rows([], 2), rows([], 3), rows([], 3))
        self.kept_calls = array("i")  # as `InlinedRules.calls`, in turn
        # Where the states of each copy of an NFA begin; the arcs are written at the end.
        self.shifts: dict[int, list[int]] = {}
        self.more_epsilon = array("i")  # source and target in turn
        self.left = work.limits.arcs
        # The NFAs that are still to be laid, each with the state where it begins, and its frame.
        self.waiting: list[tuple[int, int, _Frame]] = []

    def joined(self) -> InlinedRules:
        result = self.result
        for number in result.rules:
            start, end = self.state(), self.state()
            result.starts.append(start)
            result.ends.append(end)
            self.begin(number, start, _Frame(end))
            while self.waiting:
                self.lay(*self.waiting.pop())
        laid = [(self.nfas[number], np.array(shifts, np.int32)) for number, shifts in self.shifts.items()]
        result.calls = np.array(self.kept_calls).reshape(-1, 3)
        epsilon = np.array(self.more_epsilon).reshape(-1, 2)
        result.arcs = np.concatenate([result.arcs, *(copies(part.arcs, shifts) for part, shifts in laid)])
        result.epsilon = np.concatenate([epsilon, *(copies(part.epsilon, shifts) for part, shifts in laid)])
        result.marks = np.concatenate([result.marks, *(copies(part.marks, shifts) for part, shifts in laid)])
        return result

    def state(self) -> int:
        self.result.num_states += 1
        return self.result.num_states - 1

    def begin(self, number: int, source: int, frame: _Frame) -> None:
        """Begin an NFA between a state and the end of a frame; a frame has each NFA only once."""
        if number in frame.begun:
            self.more_epsilon.extend((source, frame.begun[number]))
            return
        start = frame.begun[number] = self.state()
        self.more_epsilon.extend((source, start))
        self.waiting.append((number, start, frame))

    def lay(self, number: int, start: int, frame: _Frame) -> None:
        """Lay an NFA; NFAs that are inlined in it and have calls of their own wait."""
        calls = self.calls[number]
        shift = self.copy(number, start, frame.end)
        if calls.loops:
            frame = _Frame(shift + END, {number: shift + START})
        for source, callee, target in self.work.watched(calls.tail):
            if callee in frame.begun or callee not in self.stay:
                self.begin(callee, source + shift, frame)
            else:
                self.kept_calls.extend((source + shift, callee, target + shift))
        for source, callee, target in self.work.watched(calls.other):
            if callee in self.stay:
                self.kept_calls.extend((source + shift, callee, target + shift))
            elif self.calls[callee].is_empty:
                start = self.state()
                self.more_epsilon.extend((source + shift, start))
                self.copy(callee, start, target + shift)
            else:
                self.begin(callee, source + shift, _Frame(target + shift))

    def copy(self, number: int, start: int, end: int) -> int:
        """Lay the states of an NFA between two states; return how far they are shifted."""
        part, result = self.nfas[number], self.result
        shift = result.num_states
        result.num_states += part.num_states
        self.left -= part.size
        self.work.budget.spend(_LAYING_STEPS)
        if self.left < 0:
            raise LimitExceeded(
                f"the grammar's rules take more than {self.work.limits.arcs:,} arcs (limit `arcs`)", limit="arcs"
            )
        self.shifts.setdefault(number, []).append(shift)
        self.more_epsilon.extend((start, shift + START, shift + END, end))
        return shift
