"""The automaton of an expression with assertions, over classes of characters, by one subset construction.

The expression is laid out as an NFA, its *skeleton*. Every distinct assertion in it has an automaton of its own for its
content, and where the assertion stands the skeleton has a *guarded* arc, which reads nothing and may be taken only
where the assertion holds. Assertions may hold assertions, so their automata may have guarded arcs too.

Read a text from left to right and keep, for every state, the condition under which it has been reached:

- A lookbehind is decided by the text so far. Its automaton is started at every place of the text and runs beside the
skeleton; it holds where its last state has been reached.
- A lookahead is decided by the rest of the text. Taking its guarded arc makes an obligation: from the first state of
its automaton, the rest of the text can be read up to its last state (or cannot, if negated). A character replaces each
obligation by obligations on the states that it leads to: one of them must be met if the text has to be read, all of
them if it must not.
- Conditions are boolean combinations of obligations (`automata.assertions.conditions`); a state that is reached in
several ways has the disjunction of their conditions. A lookbehind that holds lookaheads is reached under conditions,
like any state.

So a state of the result is a map from states to conditions. There are finitely many. Without assertions every condition
is TRUE and this is the ordinary subset construction. At the end of the text nothing can be read, which decides the
obligations that are left.

    Skeleton        all automata of one text in one pool of states
    CharDfa         a deterministic automaton over classes of characters
    Subsets         the subset construction
    Languages       the automata of the texts within a text
    fragment(expr)  the result, ready to be determinized over bytes

A text of its own (an operand of intersection, difference or complement) has a skeleton of its own and is copied in; so
are lists of strings and substrings, whose automata over bytes are lifted to characters. To an assertion a label is a
character that sets without U+10FFFF lack: `.` matches it and `\\w` does not.
"""

from __future__ import annotations

from collections.abc import Callable

from automata.arrays import bits_of
from automata.assertions.alphabet import PLAIN_LEAVES, Alphabet, leaves
from automata.assertions.conditions import (
    FALSE,
    TRUE,
    Condition,
    Conditions,
    can,
    cannot,
    holds_at_end,
)
from automata.assertions.skeleton import TEXT, CharDfa, Guard, Skeleton, StateBudget
from automata.byte_automaton import ByteAutomaton
from automata.compile.lifting import lifted
from automata.compile.nfa import NfaBuilder
from automata.expressions import Complement, Difference, Expr, Intersection
from automata.limits import Work

_Reached = dict[int, Condition]
# What an arc takes, in steps of the budget.
_ARC_STEPS = 50


def fragment(expr: Expr, work: Work, compiled: Callable[[Expr], ByteAutomaton]) -> NfaBuilder:
    """Return the NFA over bytes of a text with assertions.

    Args:
        expr: the text.
        work: the limits, and how the construction is stopped.
        compiled: compiles a leaf that is not made of characters: a list of strings, or a substring.

    Raises:
        LimitExceeded: it, or what it is made from, has too many states, or the time is up.
        Cancelled: the compilation was cancelled.
        ExpressionError: raw bytes stand beside assertions.
    """
    budget = StateBudget(expr, work)
    try:
        return _fragment(expr, budget, compiled)
    finally:
        budget.release()


def _fragment(expr: Expr, budget: StateBudget, compiled: Callable[[Expr], ByteAutomaton]) -> NfaBuilder:
    others = {leaf: compiled(leaf) for leaf in leaves(expr) if not isinstance(leaf, PLAIN_LEAVES)}
    arcs = {leaf: _lifted(automaton, budget) for leaf, automaton in others.items()}
    alphabet = Alphabet([expr, *(over for rows in arcs.values() for row in rows.values() for over in row.values())])
    known = {leaf: _characters(automaton, arcs[leaf], alphabet) for leaf, automaton in others.items()}
    return over_bytes(Languages(alphabet, budget, known).of(expr), alphabet, budget.work)


def over_bytes(automaton: CharDfa, alphabet: Alphabet, work: Work) -> NfaBuilder:
    """Return an automaton over classes of characters as an NFA over bytes."""
    result = NfaBuilder()
    # States 0 and 1 are the start and the end.
    names = [0, *(result.state() for _ in automaton.final[1:])]
    for source, row in enumerate(work.watched(automaton.next)):
        by_target: dict[int, list[int]] = {}
        for symbol, target in row.items():
            by_target.setdefault(target, []).append(symbol)
        for target, symbols in by_target.items():
            ranges, labels = alphabet.members(symbols)
            result.characters(ranges, names[source], names[target])
            for label in labels:
                result.label(label, names[source], names[target])
        if automaton.final[source]:
            result.epsilon += (names[source], 1)
    return result


def _lifted(automaton: ByteAutomaton, budget: StateBudget) -> dict[int, dict[int, Expr]]:
    """Return the arcs of an automaton over bytes, by sets of characters."""
    budget.check(automaton.num_states)
    return {} if automaton.is_empty else lifted(automaton, budget.work)


def _characters(automaton: ByteAutomaton, arcs: dict[int, dict[int, Expr]], alphabet: Alphabet) -> CharDfa:
    """Return an automaton over bytes with these arcs, over classes of characters."""
    if automaton.is_empty:
        return CharDfa([{}], [False])
    order = [automaton.start, *(state for state in arcs if state != automaton.start)]
    number = {state: place for place, state in enumerate(order)}
    rows = [
        {symbol: number[target] for target, over in arcs[state].items() for symbol in alphabet.symbols(over)}
        for state in order
    ]
    return CharDfa(rows, automaton.final[order].tolist())


class Languages:
    """The automata of the texts within a text; those of leaves that are not made of characters are given."""

    def __init__(self, alphabet: Alphabet, budget: StateBudget, known: dict[Expr, CharDfa]) -> None:
        self.alphabet, self.budget, self.known = alphabet, budget, known

    def of(self, expr: Expr) -> CharDfa:
        """Return the automaton of a text of its own."""
        if expr in self.known:
            return self.known[expr]
        if isinstance(expr, Intersection | Difference):
            is_difference = isinstance(expr, Difference)
            return _combined(self.of(expr.left), self.of(expr.right), self.budget, difference=is_difference)
        if isinstance(expr, Complement):
            loop = dict.fromkeys(range(len(self.alphabet.ranges)), 0)
            return _combined(CharDfa([loop], [True]), self.of(expr.inner), self.budget, difference=True)
        return Subsets(Skeleton(expr, self.alphabet, self.budget, self.of)).characters()


def _combined(left: CharDfa, right: CharDfa, budget: StateBudget, *, difference: bool) -> CharDfa:
    """Return the intersection or the difference; -1 stands for no state of the right automaton."""
    numbers, pairs = {(0, 0): 0}, [(0, 0)]
    result = CharDfa([], [])
    for a, b in pairs:
        budget.check(len(result.final))
        row: dict[int, int] = {}
        for symbol, target in left.next[a].items():
            other = right.next[b].get(symbol, -1) if b >= 0 else -1
            if other < 0 and not difference:
                continue
            pair = (target, other)
            if pair not in numbers:
                numbers[pair] = len(pairs)
                pairs.append(pair)
            row[symbol] = numbers[pair]
        budget.charge(len(row) + 1)
        result.next.append(row)
        result.final.append(left.final[a] and (b >= 0 and right.final[b]) != difference)
    return result


class Subsets:
    """The subset construction."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.conditions = Conditions(skeleton.budget.work)
        self.timeless: dict[int, Condition] = {}
        self.stepped: dict[tuple[Condition, int], Condition] = {}
        self.ends = {assertion.end for assertion in skeleton.assertions if not assertion.behind}

    def characters(self) -> CharDfa:
        """Return the deterministic automaton."""
        start = self.closed({TEXT: {self.skeleton.start: TRUE}})
        numbers, maps = {frozenset(start.items()): 0}, [start]
        result = CharDfa([], [])
        for reached in maps:
            self.skeleton.budget.check(len(result.final))
            row: dict[int, int] = {}
            for symbol, following in self.steps(reached).items():
                closed = self.closed(following)
                key = frozenset(closed.items())
                if key not in numbers:
                    self.skeleton.budget.charge(2 * len(closed) + 1)
                    numbers[key] = len(maps)
                    maps.append(closed)
                row[symbol] = numbers[key]
            self.skeleton.budget.charge(len(row) + 1)
            result.next.append(row)
            result.final.append(holds_at_end(reached.get(self.skeleton.end, FALSE)))
        return result

    def steps(self, reached: _Reached) -> dict[int, dict[int, _Reached]]:
        """Return what each class reaches, by owner, where something of the text itself is reached."""
        result: dict[int, dict[int, _Reached]] = {}
        owner, arcs = self.skeleton.owner, self.skeleton.arcs
        spend = self.conditions.work.budget.spend
        for state, condition in reached.items():
            spend(_ARC_STEPS * len(arcs[state]))
            for symbol, targets in arcs[state].items():
                after = condition if condition is TRUE else self.step(condition, symbol)
                if not after:
                    continue
                by_owner = result.setdefault(symbol, {}).setdefault(owner[state], {})
                for target in targets:
                    before = by_owner.get(target)
                    by_owner[target] = (
                        after if before is None or before is after else self.conditions.either(before, after)
                    )
        return {symbol: by_owner for symbol, by_owner in result.items() if TEXT in by_owner}

    def step(self, condition: Condition, symbol: int) -> Condition:
        """Return the condition that is left once a character of a class has been read."""
        known = self.stepped.get((condition, symbol))
        if known is None:
            known = FALSE
            for alternative in condition:
                left = TRUE
                for bit in bits_of(alternative):
                    left = self.conditions.both(left, self.obligation_after(bit, symbol))
                known = self.conditions.either(known, left)
            self.stepped[condition, symbol] = known
        return known

    def obligation_after(self, bit: int, symbol: int) -> Condition:
        targets = self.skeleton.arcs[bit // 2].get(symbol, ())
        if any(target in self.ends for target in targets):
            return FALSE if bit % 2 else TRUE
        result = TRUE if bit % 2 else FALSE
        for target in targets:
            result = (
                self.conditions.both(result, cannot(target)) if bit % 2 else self.conditions.either(result, can(target))
            )
        return result

    def closed(self, entered: dict[int, _Reached]) -> _Reached:
        """Return all that is reached at one position without reading more, from the states entered there (by owner).
        States without arcs are left out, except the end of the text."""
        self.skeleton.budget.spend()
        return _Position(self, entered).reached()


class _Position:
    """One position in a text: what holds there, as far as the text so far decides it."""

    def __init__(self, subsets: Subsets, entered: dict[int, _Reached]) -> None:
        self.subsets, self.skeleton, self.entered = subsets, subsets.skeleton, entered
        self.conditions = subsets.conditions
        self.behind: dict[int, Condition] = {}  # of the assertions that look back
        self.ahead: dict[int, Condition] = {}  # of states of the assertions that look ahead

    def reached(self) -> _Reached:
        result: _Reached = {}
        arcs = self.skeleton.arcs
        for number, assertion in enumerate(self.skeleton.assertions):
            if assertion.behind:
                entered = self.expanded(self.entered.get(number, {}))
                spread = self.spread({**entered, assertion.start: TRUE})
                self.behind[number] = spread.get(assertion.end, FALSE)
                result.update((state, condition) for state, condition in spread.items() if arcs[state])
        spread = self.spread(self.expanded(self.entered[TEXT]))
        end = self.skeleton.end
        result.update((state, condition) for state, condition in spread.items() if arcs[state] or state == end)
        return result

    def spread(self, entered: _Reached) -> _Reached:
        """Add what can be reached by jumps."""
        reached: _Reached = {}
        stack, spend = [*entered.items()], self.conditions.work.budget.spend
        while stack:
            spend(_ARC_STEPS)
            state, condition = stack.pop()
            before = reached.get(state)
            if before is None:
                reached[state] = condition
            elif before is condition or (after := self.conditions.either(before, condition)) == before:
                continue
            else:
                reached[state] = after
            for guard, target in self.skeleton.jumps[state]:
                passed = condition if guard is None else self.conditions.both(condition, self.holds(guard))
                if passed:
                    stack.append((target, passed))
        return reached

    def holds(self, guard: Guard) -> Condition:
        assertion = self.skeleton.assertions[guard.assertion]
        condition = self.behind[guard.assertion] if assertion.behind else self.readable(assertion.start)
        return self.conditions.negation(condition) if guard.negated else condition

    def readable(self, state: int) -> Condition:
        """Return when the rest of the text can be read from a state of a lookahead, in terms of states that have
        arcs."""
        assertion = self.skeleton.assertions[self.skeleton.owner[state]]
        known = self.subsets.timeless if assertion.timeless else self.ahead
        if state not in known:
            result = FALSE
            for other, condition in self.spread({state: TRUE}).items():
                if other == assertion.end:
                    result = self.conditions.either(result, condition)
                elif self.skeleton.arcs[other]:
                    result = self.conditions.either(result, self.conditions.both(condition, can(other)))
            known[state] = result
        return known[state]

    def expanded(self, entered: _Reached) -> _Reached:
        """Return the same states with obligations from before this position in terms of the rest of the text."""
        result: _Reached = {}
        for state, condition in entered.items():
            if condition is TRUE:
                result[state] = TRUE
                continue
            total = FALSE
            for alternative in condition:
                left = TRUE
                for bit in bits_of(alternative):
                    readable = self.readable(bit // 2)
                    left = self.conditions.both(left, self.conditions.negation(readable) if bit % 2 else readable)
                total = self.conditions.either(total, left)
            if total:
                result[state] = total
        return result
