"""SideBySide: the variants of an object or array as rules of their own, called where one rule was.

    split(number, vector)     the variants that can take the place of a rule
    add(number, called)       lets them take it
    call(rules, keys)         calls them wherever the rule was called

The call is then nondeterministic: a lazy automaton follows all variants until the text tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from automata.visibly_pushdown import VisiblyPushdownCall, VisiblyPushdownRule
from constraints.json_schema.building.values import RuleKey
from constraints.json_schema.containers.automaton import Vector
from constraints.json_schema.containers.variants import MAX_VARIANTS, variants
from constraints.json_schema.formulas.connectives import Formula
from constraints.json_schema.formulas.statements import Kind

# The most rules for variants in a schema.
MAX_VARIANT_RULES: Final = 150


class SideBySide:
    """The variants of a schema.

    Attributes:
        called: by the number of a rule that is not built: the rules that are called instead, each with the exit of the
            missing rule that it stands for.
    """

    def __init__(self) -> None:
        self.called: dict[int, list[tuple[int, int]]] = {}
        self._variants = set[int]()

    def split(
        self, number: int, vector: Vector, parts_of: Callable[[Formula], list[Formula]] = variants
    ) -> list[tuple[Formula, int]]:
        """Return the variants of an array or object, each with its exit in the rule; no variants if they cannot be read
        side by side, since there is only one, or there are too many."""
        if number in self._variants:
            return []
        found = [(part, way) for way, formula in enumerate(vector) for part in parts_of(formula)]
        return found if 1 < len(found) <= min(MAX_VARIANTS, MAX_VARIANT_RULES - len(self._variants)) else []

    def add(self, number: int, called: list[tuple[int, int]]) -> None:
        """Let other rules be called instead of a rule."""
        self.called[number] = called
        self._variants.update(rule for rule, _ in called)

    def call(self, rules: Sequence[VisiblyPushdownRule], keys: Sequence[RuleKey]) -> None:
        """Call the rules of variants instead of the rules that they replace. Also copy the rules of strings to where
        they are called, since no rule can be called where another variant reads without a call."""
        strings = {number for number, (kind, _) in enumerate(keys, 1) if kind is Kind.STRING}
        for rule in rules:
            calls, rule.calls = rule.calls, []
            for call in calls:
                if call.rule in strings:
                    read = rules[call.rule]
                    ends = dict(read.ends)
                    targets = [(language, call.targets[ends[end]]) for _, language, end in read.arcs]
                    rule.arcs += [(call.source, language, target) for language, target in targets if target >= 0]
                elif call.rule not in self.called:
                    rule.calls.append(call)
                else:
                    for called, way in self.called[call.rule]:
                        if call.targets[way] >= 0:
                            source = rule.state()
                            rule.epsilon.append((call.source, source))
                            rule.calls.append(VisiblyPushdownCall(source, called, (call.targets[way],)))
