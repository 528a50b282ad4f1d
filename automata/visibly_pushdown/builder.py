"""GrammarBuilder: visibly pushdown grammars with text around and between them, as one grammar.

    builder = GrammarBuilder()
    state = builder.read(0, literal("<call>"))          # from state 0, the start
    state = builder.read(state, grammar)
    builder.grammar([builder.read(state, literal("</call>"))])

States are those of a new start rule, into which the start rules of grammars are copied. The rules that these call come
after it, once for each grammar. The bytes that were read must determine which rule is called: two grammars at one place
need different texts before them.
"""

from __future__ import annotations

from collections.abc import Iterable

from automata.limits import charge, spend
from automata.visibly_pushdown.grammar import (
    ArcLanguage,
    VisiblyPushdownCall,
    VisiblyPushdownGrammar,
    VisiblyPushdownRule,
)

# The approximate memory of an arc and its states, in bytes.
_BYTES = 250


class GrammarBuilder:
    """A start rule as it is being built, and the rules of the grammars that it reads."""

    def __init__(self) -> None:
        self._rule = VisiblyPushdownRule()
        self._rules = [self._rule]
        # By identity; the grammars are kept so that no identity is reused.
        self._known: dict[int, tuple[VisiblyPushdownGrammar, dict[int, int]]] = {}
        self._has_nondeterministic_calls = False

    @property
    def num_grammars(self) -> int:
        """The number of different grammars that the start rule reads."""
        return len(self._known)

    def state(self) -> int:
        """Add a state."""
        return self._rule.state()

    def read(self, source: int, part: ArcLanguage | VisiblyPushdownGrammar, target: int | None = None) -> int:
        """Read a text of a language, or of a grammar.

        Args:
            source: the state where it begins; 0 is the start.
            part: what is read.
            target: the state where it ends; a new one by default.

        Returns:
            The state where it ends.
        """
        target = self.state() if target is None else target
        if isinstance(part, VisiblyPushdownGrammar):
            self._copy(source, part, target)
        else:
            spend(1)
            charge(_BYTES)
            self._rule.arcs.append((source, part, target))
        return target

    def grammar(self, ends: Iterable[int]) -> VisiblyPushdownGrammar:
        """Return the grammar of the texts that lead from the start to one of some states. The builder must not be used
        after that."""
        end = self._rule.state()
        self._rule.epsilon += [(state, end) for state in ends]
        self._rule.ends.append((end, 0))
        return VisiblyPushdownGrammar(tuple(self._rules), has_nondeterministic_calls=self._has_nondeterministic_calls)

    def _copy(self, source: int, grammar: VisiblyPushdownGrammar, target: int) -> None:
        """Copy a grammar's start rule between two states."""
        self._has_nondeterministic_calls |= grammar.has_nondeterministic_calls
        number = self.numbers(grammar)
        start = grammar.rules[grammar.start]
        size = len(start.arcs) + len(start.epsilon) + len(start.calls) + len(start.ends) + 1
        spend(size)
        charge(_BYTES * size)
        first = self._rule.num_states
        self._rule.num_states += start.num_states
        self._rule.epsilon.append((source, first))
        self._rule.arcs += [(first + at, language, first + to) for at, language, to in start.arcs]
        self._rule.epsilon += [(first + at, first + to) for at, to in start.epsilon]
        self._rule.calls += [_moved(call, first, number) for call in start.calls]
        self._rule.epsilon += [(first + at, target) for at, _ in start.ends]

    def numbers(self, grammar: VisiblyPushdownGrammar) -> dict[int, int]:
        """Return the new number of each rule of a grammar except its start; if the grammar is new, append its rules."""
        if id(grammar) not in self._known:
            others = [old for old in range(len(grammar.rules)) if old != grammar.start]
            number = {old: len(self._rules) + at for at, old in enumerate(others)}
            self._known[id(grammar)] = grammar, number
            for old in others:
                rule = grammar.rules[old]
                calls = [_moved(call, 0, number) for call in rule.calls]
                copied = VisiblyPushdownRule(
                    rule.num_states,
                    list(rule.arcs),
                    list(rule.epsilon),
                    calls,
                    list(rule.ends),
                    rule.num_exits,
                    list(rule.guarded),
                    rule.conditions,
                    list(rule.detours),
                )
                self._rules.append(copied)
        return self._known[id(grammar)][1]


def _moved(call: VisiblyPushdownCall, first: int, number: dict[int, int]) -> VisiblyPushdownCall:
    targets = tuple(first + to if to >= 0 else to for to in call.targets)
    return VisiblyPushdownCall(first + call.source, number[call.rule], targets)
