"""grammar_rules: a JSON Schema, or another network, as rules of a grammar, for use inside a larger one.

Each rule of the network becomes a rule of the grammar for each exit that it can end in: its states are eliminated
(`automata.elimination`), and calls stay calls. The language is the network's, exactly. A rule of the network reads what
is between two brackets for several formulas at once; in the grammar there is a rule for each of them, so the grammar is
deterministic only where a bounded part of the text tells them apart.
"""

from __future__ import annotations

from automata import expr as ex
from automata.expr import Expr
from automata.nested import NestedNetwork
from constraints.json_schema.building.liveness import live_exits
from constraints.json_schema.recursion import Task
from constraints.json_schema.regex import Expressions


def grammar_rules(network: NestedNetwork, prefix: str) -> tuple[str, dict[str, Expr]]:
    """Return the name of the rule of the whole text, and all rules by name; names begin with the prefix.

    Raises:
        LimitExceeded: an expression is too large.
    """
    calls = _Calls(network, prefix)
    start = calls.name(network.start, 0)
    rules: dict[str, Expr] = {}
    while calls.waiting:
        number, way = calls.waiting.pop()
        rules[calls.name(number, way)] = calls.rule(number, (None, None))[way]
    return start, rules


class _Calls(Expressions):
    """Expressions of rules in which calls are calls.

    Attributes:
        waiting: the rules and exits that are called and not written yet.
    """

    def __init__(self, network: NestedNetwork, prefix: str) -> None:
        super().__init__(network, (), {})
        self.prefix = prefix
        self.exits = live_exits(self.network)
        self.waiting: list[tuple[int, int]] = []
        self.named: set[tuple[int, int]] = set()

    def name(self, number: int, way: int) -> str:
        """Return the name of a rule that ends in an exit; it will be written."""
        if (number, way) not in self.named:
            self.named.add((number, way))
            self.waiting.append((number, way))
        return f"{self.prefix}{number}.{way}"

    def called(self, number: int, depths: tuple[int | None, int | None]) -> Task[dict[int, Expr]]:
        yield from ()
        return {way: ex.call(self.name(number, way)) for way in sorted(self.exits[number])}
