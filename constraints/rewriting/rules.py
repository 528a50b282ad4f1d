"""grammar_rules: a visibly pushdown grammar as rules of a general grammar, for use inside a larger one.

Each rule becomes one rule for each of its exits: its states are eliminated (`automata.algebra.elimination`), and calls
stay calls. The language is exactly the same. Determinism may be lost: in the visibly pushdown grammar, one rule reads
the text after a bracket, and its exit then tells several cases apart. The general grammar has a rule for each case, so
it is deterministic only where a bounded part of the text tells the cases apart.
"""

from __future__ import annotations

from automata import expressions as ex
from automata.expressions import Expr
from automata.visibly_pushdown import VisiblyPushdownGrammar
from constraints.recursion import Task
from constraints.rewriting.expressions import Depths, Expressions
from constraints.rewriting.liveness import live_exits


def grammar_rules(grammar: VisiblyPushdownGrammar, prefix: str) -> tuple[str, dict[str, Expr]]:
    """Return the name of the rule of the whole text, and all rules by name; each name begins with the prefix.

    Raises:
        LimitExceeded: an expression is too large.
    """
    calls = _Calls(grammar, prefix)
    start = calls.name(grammar.start, 0)
    rules: dict[str, Expr] = {}
    while calls.waiting:
        number, way = calls.waiting.pop()
        rules[calls.name(number, way)] = calls.rule(number, (None, None))[way]
    return start, rules


class _Calls(Expressions):
    """Expressions of rules in which calls stay calls.

    Attributes:
        waiting: the rules and exits that are called and whose expressions are not written yet.
    """

    def __init__(self, grammar: VisiblyPushdownGrammar, prefix: str) -> None:
        super().__init__(grammar)
        self.prefix = prefix
        self.exits = live_exits(self.grammar)
        self.waiting: list[tuple[int, int]] = []
        self.named: set[tuple[int, int]] = set()

    def name(self, number: int, way: int) -> str:
        """Return the name of a rule for one exit, and queue it to be written."""
        if (number, way) not in self.named:
            self.named.add((number, way))
            self.waiting.append((number, way))
        return f"{self.prefix}{number}.{way}"

    def called(self, number: int, depths: Depths) -> Task[dict[int, Expr]]:
        yield from ()
        return {way: ex.call(self.name(number, way)) for way in sorted(self.exits[number])}
