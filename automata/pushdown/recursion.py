"""Remove left recursion: calls by which a rule calls itself, directly or not, before anything has been read.

Rules A, B, ... that do so are a left-linear system over what follows the first call,

    A = A a | B b | c,    B = A d | e

and the texts of A are walks: begin with a `c` or an `e`, which completes an A or a B; then, any number of times, add
what may follow a call of the completed rule (after an A, `a` completes an A and `d` a B; after a B, `b` completes an
A); end after an A. So the solution consists of the NFAs of the system side by side, without their first calls of each
other, and with an epsilon arc from the end of a rule to whatever followed such a call of it. The NFA of a solution has
arcs out of its end.

Calls of rules that match the empty text may be skipped, and the empty text is removed from these rules. Then every
first call is at the start, and none is hidden behind a call that may be empty.

In `A = A x A | b` the call after `x` remains; every split of `b x b x b` would be a derivation. In the solution that
call ends where A does, before all of A's loops: inlining turns it into a loop to the start
(`automata.pushdown.inlining`), and the rule into `b (x b)*`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from automata.arrays import IntArray
from automata.errors import LimitExceeded
from automata.graph import components
from automata.limits import Work
from automata.pushdown.parts import END, START, RuleNfa, Rules, closure, fresh_start, rows


def without_empty_texts(parts: list[RuleNfa], matches_empty: Sequence[bool], work: Work) -> None:
    """Let calls of rules that match the empty text be skipped, and remove it from those rules."""
    skipped = np.array(matches_empty)
    for number, part in enumerate(work.watched(parts)):
        skips = part.calls[skipped[part.calls[:, 1]]]
        if len(skips):
            part.epsilon = np.concatenate([part.epsilon, skips[:, ::2]])
        if matches_empty[number]:
            parts[number] = fresh_start(part, work)


def solve_left_recursion(rules: Rules, work: Work) -> None:
    """Replace the NFAs that call themselves before reading anything with their solutions.

    NFAs that are needed only by such calls stay in `rules`.

    Args:
        rules: the rules, which match no empty text and are all productive.
        work: the limits; `arcs` bounds the solutions.

    Raises:
        LimitExceeded: the solutions take more arcs than allowed, or the time is up.
    """
    parts = rules.nfas
    first = [first_calls(part, work) for part in work.watched(parts)]
    system: dict[int, list[int]] = {}
    for members in components(first, work):
        if len(members) > 1 or members[0] in first[members[0]]:
            system.update(dict.fromkeys(members, members))
    if not system:
        return
    unsolved, limit = list(parts), work.limits.arcs
    left, seen, waiting = limit, {rules.text}, [rules.text]
    while waiting:
        number = waiting.pop()
        if number in system:
            parts[number] = _solved(number, system[number], unsolved, work)
            left -= parts[number].size
            work.check()
            if left < 0:
                raise LimitExceeded(
                    f"solving the left recursion of {rules.names[number]!r} and the rules around it takes more than "
                    f"{limit:,} arcs (limit `arcs`)",
                    limit="arcs",
                )
        more = set(parts[number].calls[:, 1].tolist()) - seen
        seen |= more
        waiting += more


def first_calls(part: RuleNfa, work: Work) -> set[int]:
    """Return the rules that may be called before anything is read."""
    if not len(part.calls):
        return set()
    work.check()
    first = closure(part, [START], work)
    return {callee for source, callee, _ in work.watched(part.calls.tolist()) if source in first}


def _solved(number: int, members: Sequence[int], parts: Sequence[RuleNfa], work: Work) -> RuleNfa:
    """Return the solution of a system for one of its rules."""
    # Its own states come first, so that its start and end are those of the solution.
    order = [number, *(member for member in members if member != number)]
    begun = [fresh_start(parts[member], work) for member in order]
    offsets = [0, *accumulate(part.num_states for part in begun)]
    end_of = {member: shift + END for member, shift in zip(order, offsets, strict=False)}
    tables = [
        [_moved(table, shift) for table in (part.arcs, part.epsilon, part.calls, part.marks)]
        for part, shift in zip(begun, offsets, strict=False)
    ]
    arcs, epsilon, calls, marks = (np.concatenate(same) for same in zip(*tables, strict=True))
    is_first = (calls[:, 0] == START) & np.isin(calls[:, 1], members)
    ends = rows([(end_of[callee], target) for _, callee, target in calls[is_first].tolist()], 2)
    return RuleNfa(offsets[-1], arcs, np.concatenate([epsilon, ends]), calls[~is_first], marks)


def _moved(arcs: IntArray, shift: int) -> IntArray:
    """Return rows of an NFA with its states shifted, but with the start of all NFAs in common."""
    moved = arcs.copy()
    moved[:, -1] += shift
    moved[:, 0] += np.where(arcs[:, 0] == START, 0, shift).astype(np.int32)
    return moved
