"""Rules: a visibly pushdown grammar, possibly with arrays whose items must differ, as a constraint or a part of one.

Rules           a grammar; or a grammar with such arrays (`tokenfst.unique_items`)
RulesBuilder    builds rules that read others (`automata.visibly_pushdown.builder`)
ByRules         the base of constraints that rules define
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import Final, TypeAlias

from automata.byte_automaton import ByteAutomaton
from automata.errors import UnsupportedSchema
from automata.expressions import Expr, Label, literal
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.naming import calls_and_labels
from automata.visibly_pushdown.builder import GrammarBuilder
from automata.visibly_pushdown.compile import compile_visibly_pushdown
from automata.visibly_pushdown.grammar import ArcLanguage, VisiblyPushdownGrammar
from constraints.composing.ends import Readable, readable
from tokenfst.lazy import SupportsLazy
from tokenfst.unique_items.language import SupportsUniqueItems, UniqueArrays, needs_memory

Rules: TypeAlias = VisiblyPushdownGrammar | UniqueArrays

_OPENING: Final = literal("[")


def rules_of(constraint: SupportsLazy) -> Rules:
    """Return the rules that define a constraint, with its arrays whose items must differ, if there are any."""
    arrays = constraint.unique_arrays() if isinstance(constraint, SupportsUniqueItems) else None
    return constraint.to_visibly_pushdown() if arrays is None else arrays


class RulesBuilder:
    """Builds rules, as `GrammarBuilder` does."""

    def __init__(self) -> None:
        self._builder = GrammarBuilder()
        self._arrays: list[UniqueArrays] = []

    def state(self) -> int:
        """Add a state."""
        return self._builder.state()

    def read(self, source: int, part: ArcLanguage | Rules, target: int | None = None) -> int:
        """Read a text of a language or of rules from `source` to `target`, by default a new state; return `target`."""
        if isinstance(part, UniqueArrays):
            self._arrays.append(part)
            part = part.grammar
        return self._builder.read(source, part, target)

    def rules(self, ends: Iterable[int]) -> Rules:
        """Return the rules of the texts that lead from the start to a state in `ends`.

        Raises:
            UnsupportedSchema: the rules have both arrays whose items must differ and named tokens.
        """
        grammar = self._builder.grammar(ends)
        if not self._arrays:
            return grammar
        if _has_labels(grammar):
            raise UnsupportedSchema(
                "needs memory of all items, which cannot be combined with named tokens", keyword="uniqueItems"
            )
        unique, others = set[int](), set[int]()
        for arrays in self._arrays:
            number = self._builder.numbers(arrays.grammar)
            unique |= {number[rule] for rule in arrays.rules}
            others |= {number[rule] for rule in arrays.others}
        if self._builder.num_grammars > 1:
            # Parts that begin alike are read side by side, although none of them says so of its own arrays.
            others = _array_rules(grammar) - unique
        return UniqueArrays(grammar, frozenset(unique), frozenset(others))


def _array_rules(grammar: VisiblyPushdownGrammar) -> set[int]:
    """Return the rules that are called after a `[`."""
    found = set[int]()
    for rule in grammar.rules:
        after = {target for _, language, target in rule.arcs if language == _OPENING}
        # Where several rules are called, their calls come after epsilon arcs.
        after |= {target for source, target in rule.epsilon if source in after}
        found |= {call.rule for call in rule.calls if call.source in after}
    return found


def _has_labels(grammar: VisiblyPushdownGrammar) -> bool:
    read = (language for _, language, _ in grammar.rules[grammar.start].arcs if isinstance(language, Expr))
    return any(isinstance(node, Label) for language in read for node, _ in calls_and_labels(language))


class ByRules(ABC):
    """The base of constraints that rules define."""

    @property
    @abstractmethod
    def rules(self) -> Rules:
        """The rules that read a text."""

    def to_visibly_pushdown(self) -> VisiblyPushdownGrammar:
        """Return the rules that read a text.

        Raises:
            UnsupportedSchema: rules alone are not enough, because an array's items have to be remembered
                (`unique_arrays`).
        """
        if isinstance(self.rules, UniqueArrays):
            raise needs_memory()
        return self.rules

    def unique_arrays(self) -> UniqueArrays | None:
        """Return the rules with the arrays whose items have to be remembered; None if there are no such arrays."""
        return self.rules if isinstance(self.rules, UniqueArrays) else None

    def to_automaton(self, work: Work | None = None) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton of the texts.

        Raises:
            UnsupportedSchema: items have to be remembered.
            LimitExceeded, Cancelled: see `Parsed.to_automaton`.
        """
        return compile_visibly_pushdown(self.to_visibly_pushdown(), work=work)

    @cached_property
    def readable(self) -> Readable:
        """The automaton of the texts; made on first use."""
        return readable(self.rules)
