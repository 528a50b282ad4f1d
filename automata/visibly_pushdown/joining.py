"""Joining: networks with text around them and between them, as one network.

    joining = Joining()
    behind = joining.read(0, literal("<call>"))         # from state 0, the start
    behind = joining.read(behind, network)
    joining.network([joining.read(behind, literal("</call>"))])

States are those of a new start rule. What the start rule of a network reads stands in it, and the rules that it calls
come after it, once for each network, however often it is read. As everywhere in networks, what is read at one place
must say which rule is called: two networks at one place need text before them that tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterable

from automata.visibly_pushdown.grammar import Language, NestedCall, NestedNetwork, NestedRule


class Joining:
    """A start rule as it is being built, and the rules of the networks that it reads."""

    def __init__(self) -> None:
        self._rule = NestedRule()
        self._rules = [self._rule]
        # By identity, with the networks themselves, so that no other one takes the place of one that is gone.
        self._known: dict[int, tuple[NestedNetwork, dict[int, int]]] = {}

    def state(self) -> int:
        """A new state."""
        return self._rule.state()

    def read(self, source: int, part: Language | NestedNetwork, target: int | None = None) -> int:
        """Reads a text of a language, or of a network.

        Args:
            source: the state where it begins; 0 is the start.
            part: what is read.
            target: the state where it ends, a new one if it is left out.

        Returns:
            The state where it ends.
        """
        target = self.state() if target is None else target
        if isinstance(part, NestedNetwork):
            self._copy(source, part, target)
        else:
            self._rule.arcs.append((source, part, target))
        return target

    def network(self, ends: Iterable[int]) -> NestedNetwork:
        """The network of the texts that lead from the start to one of these states.

        Nothing more can be read with this object afterwards.
        """
        end = self._rule.state()
        self._rule.epsilon += [(state, end) for state in ends]
        self._rule.ends.append((end, 0))
        return NestedNetwork(tuple(self._rules))

    def _copy(self, source: int, network: NestedNetwork, target: int) -> None:
        """The states of a network's start rule, between two states."""
        number = self._numbers(network)
        start = network.rules[network.start]
        first = self._rule.num_states
        self._rule.num_states += start.num_states
        self._rule.epsilon.append((source, first))
        self._rule.arcs += [(first + at, language, first + to) for at, language, to in start.arcs]
        self._rule.epsilon += [(first + at, first + to) for at, to in start.epsilon]
        self._rule.calls += [_moved(call, first, number) for call in start.calls]
        self._rule.epsilon += [(first + at, target) for at, _ in start.ends]

    def _numbers(self, network: NestedNetwork) -> dict[int, int]:
        """The new numbers of a network's rules but the first."""
        if id(network) not in self._known:
            others = [old for old in range(len(network.rules)) if old != network.start]
            number = {old: len(self._rules) + at for at, old in enumerate(others)}
            self._known[id(network)] = network, number
            for old in others:
                rule = network.rules[old]
                calls = [_moved(call, 0, number) for call in rule.calls]
                copied = NestedRule(
                    rule.num_states, list(rule.arcs), list(rule.epsilon), calls, list(rule.ends), rule.num_exits
                )
                self._rules.append(copied)
        return self._known[id(network)][1]


def _moved(call: NestedCall, first: int, number: dict[int, int]) -> NestedCall:
    targets = tuple(first + to if to >= 0 else to for to in call.targets)
    return NestedCall(first + call.source, number[call.rule], targets)
