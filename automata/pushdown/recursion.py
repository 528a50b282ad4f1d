"""Left recursion solved: rules that call themselves before they have read anything, by way of others or not.

Rules A, B, ... that do so are a left-linear system over what follows the first call,

    A = A a | B b | c,    B = A d | e

and the texts of A are walks: begin with a `c` or an `e`, which completes an A or a B; then as often as wanted what
follows a call of what is complete (`a` completes an A, `d` a B); an A may be the end. So the solution is the parts of
the system side by side, their first calls of each other taken out, and an epsilon arc from the end of a rule to
whatever followed such a call of it. A part that is solved has arcs out of its end.

Calls of rules that match the empty text may be skipped, and the rules lose it: then a first call is one that stands at
the start, and nothing is hidden.

That leaves `A = A x A | b` with the call behind `x`, where every split of `b x b x b` would be a derivation. In what is
solved that call ends where A does, with all of A's loops to follow: inlining turns it into a way back to the start
(`automata.pushdown.inlining`), and the rule into `b (x b)*`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from automata.errors import GrammarError
from automata.limits import Work
from automata.pushdown.analysis import components, error
from automata.pushdown.grammar import Grammar
from automata.pushdown.parts import END, START, Part, Rules, closure, fresh_start


def without_empty_texts(parts: list[Part], matches_empty: Sequence[bool]) -> None:
    """Lets calls of rules that match the empty text be skipped, and takes it from those rules."""
    for number, part in enumerate(parts):
        skips = [(source, target) for source, callee, target in part.calls if matches_empty[callee]]
        if skips:
            part.epsilon = np.concatenate([part.epsilon, np.array(skips, np.int32)])
        if matches_empty[number]:
            parts[number] = fresh_start(part)


def solve_left_recursion(rules: Rules, work: Work) -> None:
    """Puts solutions in place of the parts that call themselves first; those that only such calls need stay.

    Args:
        rules: without empty texts, and all productive.
        work: its limit `arcs` bounds the solutions.
    """
    parts = rules.parts
    first = [{callee for _, callee, _ in first_calls(part)} for part in parts]
    system: dict[int, list[int]] = {}
    for members in components(first):
        if len(members) > 1 or members[0] in first[members[0]]:
            system.update(dict.fromkeys(members, members))
    if not system:
        return
    unsolved, budget = list(parts), work.limits.arcs
    seen, waiting = {rules.text}, [rules.text]
    while waiting:
        number = waiting.pop()
        if number in system:
            parts[number] = _solved(number, system[number], unsolved)
            budget -= parts[number].size
            _check(budget, rules.names[number], work)
        for _, callee, _ in parts[number].calls:
            if callee not in seen:
                seen.add(callee)
                waiting.append(callee)


def first_calls(part: Part) -> list[tuple[int, int, int]]:
    """The calls that may come before anything is read."""
    if not part.calls:
        return []
    first = closure(part, [START])
    return [call for call in part.calls if call[0] in first]


def _check(budget: int, name: str, work: Work) -> None:
    work.check()
    if budget < 0:
        from automata.errors import LimitExceeded

        raise LimitExceeded(
            f"solving the left recursion of {name!r} and the rules around it takes more than "
            f"{work.limits.arcs:,} arcs (limit `arcs`)"
        )


def _solved(number: int, members: Sequence[int], parts: Sequence[Part]) -> Part:
    """The solution of a system for one of its rules."""
    # Its own states come first, so that its start and end are those of the solution.
    order = [number, *(member for member in members if member != number)]
    begun = {member: fresh_start(parts[member]) for member in order}
    offset, num_states = {}, 0
    for member in order:
        offset[member] = num_states
        num_states += begun[member].num_states
    arcs, epsilon = [], []
    calls: list[tuple[int, int, int]] = []
    marks: list[tuple[int, int, int]] = []
    ends: list[tuple[int, int]] = []
    for member, part in begun.items():
        shift = offset[member]
        moved = part.arcs + np.array([shift, 0, 0, shift], np.int32)
        moved[part.arcs[:, 0] == START, 0] = START
        arcs.append(moved)
        epsilon.append(part.epsilon + np.int32(shift))
        for source, callee, target in part.calls:
            if source == START and callee in offset:
                ends.append((offset[callee] + END, target + shift))
            else:
                calls.append((source + shift if source != START else START, callee, target + shift))
        for source, mark, target in part.marks:
            marks.append((source + shift if source != START else START, mark, target + shift))
    epsilon.append(np.array(ends, np.int32).reshape(-1, 2))
    return Part(num_states, np.concatenate(arcs), np.concatenate(epsilon), calls, marks)


def check_left_recursion(grammar: Grammar, rules: Rules, have_text: Sequence[bool]) -> None:
    """Goes on where no rule without a text begins with a call of itself.

    Raises:
        GrammarError: one does.
    """
    lost = [number for number in range(len(grammar.rules)) if not have_text[number]]
    if not lost:
        return
    first = [
        {callee for _, callee, _ in first_calls(part)} if not has_text else set()
        for part, has_text in zip(rules.parts, have_text, strict=True)
    ]
    for members in components(first):
        if len(members) > 1 or members[0] in first[members[0]]:
            name = rules.names[min(members)]
            raise _endless(grammar, name)


def _endless(grammar: Grammar, name: str) -> GrammarError:
    return error(grammar, "the rule calls itself before anything is read, and never comes to an end", name)
