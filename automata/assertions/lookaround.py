"""The automaton of an expression with assertions, over classes of characters, by one subset construction.

The expression is laid out as an NFA, its *skeleton*. Every distinct assertion in it has an automaton of its own for its
content, and where the assertion stands the skeleton has a *guarded* arc, which reads nothing and may be taken only
where the assertion holds. Assertions may hold assertions, so their automata may have guarded arcs too.

Read a text from left to right and keep, for every state, the condition under which it has been reached:

- A lookbehind is decided by the text so far. Its automaton is started at every place of the text and runs beside the
skeleton; it holds where its last state has been reached.
- A lookahead is decided by the rest of the text. Taking its guarded arc makes an obligation: from the first state of
its automaton, the rest of the text can be read up to its last state (or cannot, if negated). A character replaces each
obligation by obligations on the states that it leads to. One of them must be met if the rest of the text has to be
read up to the last state; all of them if it must not.
- Conditions are boolean combinations of obligations (`native/automata/assertions/conditions.h`); a state that is
reached in several ways has the disjunction of their conditions. A lookbehind that holds lookaheads is reached under
conditions, like any state.

So a state of the result is a map from states to conditions. There are finitely many. Without assertions every condition
is TRUE and this is the ordinary subset construction. At the end of the text nothing can be read, which decides the
obligations that are left.

    Skeleton        all automata of one text in one pool of states
    CharDfa         a deterministic automaton over classes of characters
    subsets         the subset construction, in the native core
    Languages       the automata of the texts within a text
    fragment(expr)  the result, ready to be determinized over bytes

A text of its own (an operand of intersection, difference or complement) has a skeleton of its own and is copied in.
Lists of strings, substrings, acceptors and transductions are copied in too; their automata over bytes are lifted to
characters. Inside an assertion, a set of characters with U+10FFFF matches labels too: `.` does, and `\\w` does not.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from automata import _native
from automata.assertions.alphabet import PLAIN_LEAVES, Alphabet, leaves
from automata.assertions.skeleton import CharDfa, Skeleton, StateBudget
from automata.byte_automaton import ByteAutomaton
from automata.compile.lifting import lifted
from automata.compile.nfa import NfaBuilder
from automata.errors import LimitExceeded
from automata.expressions import Complement, Difference, Expr, Intersection
from automata.limits import Work


def fragment(expr: Expr, work: Work, compiled: Callable[[Expr], ByteAutomaton]) -> NfaBuilder:
    """Return the NFA over bytes of a text with assertions.

    Args:
        expr: the text.
        work: the limits, and the means to stop the construction.
        compiled: compiles a leaf that is not made of characters: a list of strings, a substring, an acceptor or a
            transduction.

    Raises:
        LimitExceeded: the NFA, or an automaton that it is made from, has too many states, or the time is up.
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
            ranges, labels = alphabet.members(tuple(symbols))
            result.characters(ranges, names[source], names[target])
            for label in labels:
                result.label(label, names[source], names[target])
        if automaton.final[source]:
            result.epsilon += (names[source], 1)
    return result


def _lifted(automaton: ByteAutomaton, budget: StateBudget) -> dict[int, dict[int, Expr]]:
    """Return the arcs of an automaton over bytes as expressions over characters (`automata.compile.lifting`)."""
    budget.check(automaton.num_states)
    return {} if automaton.is_empty else lifted(automaton, budget.work)


def _characters(automaton: ByteAutomaton, arcs: dict[int, dict[int, Expr]], alphabet: Alphabet) -> CharDfa:
    """Return an automaton over bytes, whose lifted arcs are given, as one over classes of characters."""
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
    """The automata of the texts within a text; `known` contains those of leaves that are not made of characters."""

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
        return subsets(Skeleton(expr, self.alphabet, self.budget, self.of))


def _combined(left: CharDfa, right: CharDfa, budget: StateBudget, *, difference: bool) -> CharDfa:
    """Return the intersection or the difference of two automata. In pairs, -1 stands for no state of the right one."""
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


def subsets(skeleton: Skeleton) -> CharDfa:
    """Return the deterministic automaton of a skeleton, by the subset construction.

    Raises:
        LimitExceeded: the automaton has too many states, a condition has too many alternatives, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    budget = skeleton.budget
    try:
        offsets, arcs, final = _native.subsets(
            *skeleton.tables(), skeleton.start, skeleton.end, budget.states, budget.work.budget
        )
    except LimitExceeded as error:
        raise budget.too_many_states() if error.limit == "states" else error from None
    budget.charge(len(arcs) + len(final))
    symbols, targets = arcs.T.tolist()
    rows = [dict(zip(symbols[low:high], targets[low:high], strict=True)) for low, high in pairwise(offsets.tolist())]
    return CharDfa(rows, final.tolist())
