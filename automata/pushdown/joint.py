"""Joint symbols: several derivations that go on alike keep one stack.

Where all elements of a set are in the same state, and differ only in what they return to, nothing tells them apart
until the rule at hand ends: `f(g(h(` may be the beginning of a statement or of an expression, and the arguments are
read alike in both. So what they return to, all of it, becomes one symbol on the stack, and the set becomes the state
that they share. When the symbol is popped, the set is there again.

    plain symbol    a state of the network, that a call returns to
    joint symbol    a set of elements, each a stack of plain symbols and the state that is returned to

Without them the sets of such a text would grow with every call, although it is deterministic.
"""

from __future__ import annotations

from automata.pushdown.places import Places, Stack

Element = tuple[Stack, int]
Elements = tuple[Element, ...]


class Symbols:
    """The symbols of one construction: plain ones are states of the network, joint ones are numbered behind them."""

    def __init__(self, places: Places) -> None:
        self.rule_of = places.rule_of
        self.under = [frozenset(symbols) for symbols in places.under]
        self.first_joint = len(places.rule_of)
        self.number: dict[Elements, int] = {}
        self.joint: list[Elements] = []
        self.tops: list[frozenset[int]] = []

    def joined(self, elements: Elements) -> tuple[int, bool]:
        """The joint symbol of some elements, and whether it is new."""
        found = self.number.get(elements)
        if found is not None:
            return found, False
        found = self.number[elements] = self.first_joint + len(self.joint)
        self.joint.append(elements)
        self.tops.append(frozenset(top for _, top in elements))
        return found, True

    def elements(self, symbol: int) -> Elements:
        """What a symbol stands for."""
        if symbol < self.first_joint:
            return (((), symbol),)
        return self.joint[symbol - self.first_joint]

    def may_lie_under(self, symbol: int, rules: set[int]) -> bool:
        """Whether a symbol may lie under calls of all these rules."""
        tops = {symbol} if symbol < self.first_joint else self.tops[symbol - self.first_joint]
        return all(tops <= self.under[rule] for rule in rules)

    def under_all(self, rules: set[int]) -> list[int]:
        """The symbols that may lie under calls of all these rules."""
        first, *others = [self.under[rule] for rule in rules]
        plain = sorted(first.intersection(*others))
        if not self.joint:
            return plain
        joint = range(self.first_joint, self.first_joint + len(self.joint))
        return plain + [symbol for symbol in joint if self.may_lie_under(symbol, rules)]

    def rules_at_bottom(self, elements: Elements) -> set[int]:
        """The rules at hand at the bottom of some elements."""
        return {self.rule_of[stack[0] if stack else state] for stack, state in elements}


def split(elements: Elements) -> tuple[Elements, Stack]:
    """What a joint symbol can stand for in a set of at least two elements, and the symbols above it, which all share;
    no elements where there can be no joint symbol."""
    if len({state for _, state in elements}) > 1:
        return (), ()
    stacks = [stack for stack, _ in elements]
    shortest = min(len(stack) for stack in stacks)
    if not shortest:
        return (), ()
    # What all end with, but for one symbol to return to.
    size, first = 0, stacks[0]
    while size + 1 < shortest and all(stack[-1 - size] == first[-1 - size] for stack in stacks):
        size += 1
    above = first[len(first) - size :]
    return tuple(sorted((stack[: len(stack) - size - 1], stack[-1 - size]) for stack in stacks)), above
