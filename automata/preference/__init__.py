"""Words by preference: the texts that a backtracking engine, such as Python's `re`, matches as a whole.

Where a match ends depends on the order in which the engine tries the possibilities: it takes the first alternative with
which the rest can be matched, and repeats as often as possible, or as rarely as possible if the quantifier is lazy. The
match that it finds is the *preferred* match. The language of a pattern p here is

    P(p) = { w : re.match(p, w) ends at the end of w }

and this is all that a reader of words needs to know of p:

    In a text t the preferred match of p is the longest prefix of t that is in P(p).

If p has no look-ahead, whether a match is preferred to all matches that end before the end of w does not depend on what
comes after w. So a prefix w of t is in P(p) if and only if, with t cut off after w, the preferred match ends there. The
last of these prefixes is the match in t, because a match that ends later replaces earlier ones only if it is preferred
to them. A reader of longest words, such as a grammar's, is therefore exact for P(p) as it is; it does not step back if
a longer word begins and cannot be completed.

Look-around sees w and nothing around it, as in all words of grammars. So P(p) is exact for patterns with look-ahead as
well: to a look-ahead, the text ends where the word ends.

P(p) is regular, by an *ordered subset construction* (Cox, "Regular Expression Matching: the Virtual Machine Approach",
2009; RE2's leftmost-first automata). A state is a list of places in the pattern, preferred ones first, each once. Where
a match ends, everything after it in the list is cut off. Where an assertion changes the list, the state branches into
one in which the assertion holds and one in which it does not. These branches are guarded moves of a skeleton
(`automata.assertions.skeleton`), from which `automata.assertions.lookaround` makes an automaton.

    nodes       alternatives and repetitions with an order
    program     an expression as an ordered NFA, and the moves that are tried at one place
    preferred   the language

Rejected: the shortest words for patterns all of whose quantifiers are lazy, and longest ones otherwise (`.{0,2}?b` and
`.*?x(..)*?z` are neither); removing texts from the language of p by boolean operations (which match is preferred does
not follow from the set of texts).
"""

from __future__ import annotations

from automata import expressions as ex
from automata.assertions.alphabet import PLAIN_LEAVES, Alphabet, leaves
from automata.assertions.lookaround import Languages, over_bytes, subsets
from automata.assertions.skeleton import CharDfa, Guard, Skeleton, StateBudget
from automata.compile.composition import tables_of
from automata.compile.constructions import determinized
from automata.errors import ExpressionError, LimitExceeded
from automata.expressions import Expr
from automata.limits import current_work
from automata.preference.nodes import unordered
from automata.preference.program import Program

# The cost of a move in a list, in steps of the budget.
_MOVE_STEPS = 50


def preferred(expr: Expr) -> Expr:
    """Return the texts that are their own preferred match.

    Args:
        expr: the pattern, with `Choice` and `Loop` where an order matters; other alternations prefer their first part,
            and other repetitions more of them.

    Raises:
        ExpressionError: a part has no order: an operation on languages, a label, raw bytes.
        LimitExceeded: there are too many states, the pattern is nested too deeply, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    work = current_work()
    if not all(isinstance(leaf, PLAIN_LEAVES) for leaf in leaves(expr)):
        raise ExpressionError("an operation on languages has no order in which it is tried")
    alphabet, budget = Alphabet([expr]), StateBudget(unordered(expr), work, "finding the preferred matches of")
    try:
        automaton = determinized(over_bytes(_characters(expr, alphabet, budget), alphabet, work), work)
    except RecursionError:
        raise LimitExceeded("a pattern with lazy quantifiers is nested too deeply") from None
    finally:
        budget.release()
    tables = tables_of(automaton)
    words = ex.acceptor(tables) if len(tables.arcs) else ex.EMPTY
    return ex.alternation(ex.EPSILON, words) if automaton.accepts(b"") else words


def _characters(expr: Expr, alphabet: Alphabet, budget: StateBudget) -> CharDfa:
    skeleton = Skeleton(ex.EMPTY, alphabet, budget, Languages(alphabet, budget, {}).of)
    _Lists(Program(expr, skeleton), skeleton).lay()
    return subsets(skeleton)


class _Lists:
    """The ordered subset construction: a state of the skeleton for each list of entered moves."""

    def __init__(self, program: Program, skeleton: Skeleton) -> None:
        self.program, self.skeleton = program, skeleton
        self.states: dict[tuple[int, ...], int] = {}
        self.waiting: list[tuple[tuple[int, ...], int]] = []

    def lay(self) -> None:
        """Lay the automaton between the start and the end of the skeleton."""
        self.skeleton.jumps[self.skeleton.start].append((None, self.state_of((self.program.start,))))
        while self.waiting:
            self.follow(*self.waiting.pop(), {})

    def state_of(self, entered: tuple[int, ...]) -> int:
        state = self.states.get(entered)
        if state is None:
            state = self.states[entered] = self.skeleton.state()
            self.skeleton.budget.charge(len(entered))
            self.waiting.append((entered, state))
        return state

    def follow(self, entered: tuple[int, ...], state: int, known: dict[int, bool]) -> None:
        """Lay the arcs and jumps of a state, given which assertions are known to hold or not to hold there."""
        self.skeleton.budget.work.budget.spend(_MOVE_STEPS * len(entered))
        found = self.program.threads(entered, known)
        if isinstance(found, int):
            for holds in (True, False):
                branch = self.skeleton.state()
                self.skeleton.jumps[state].append((Guard(found, negated=not holds), branch))
                self.follow(entered, branch, {**known, found: holds})
            return
        if found.ends:
            self.skeleton.jumps[state].append((None, self.skeleton.end))
        targets: dict[int, dict[int, None]] = {}  # ordered, each once
        for move in found.reading:
            for number in move.classes:
                targets.setdefault(number, {})[move.following] = None
        for number, following in targets.items():
            self.skeleton.arc(state, [number], self.state_of(tuple(following)))
