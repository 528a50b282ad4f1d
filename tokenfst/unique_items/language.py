"""Languages of JSON texts in which all items of some arrays must differ, and how these arrays are known.

    UniqueArrays            a visibly pushdown grammar, and the rules that read the inside of such an array
    SupportsUniqueItems     a constraint that may be one
    marked(arrays)          the grammar in which such an array begins with `[` and a byte that no text has

The grammar by itself accepts arrays with equal items as well. Whoever reads a text by the marked grammar knows after
each `[` whether the items of this array must differ: if the mark may come next. At one place of a text one rule reads
all arrays, or several of which none has a mark, so it is known at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol, runtime_checkable

from automata import expressions as ex
from automata.byte_automaton import ByteAutomaton
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.visibly_pushdown.compile import compile_visibly_pushdown
from automata.visibly_pushdown.grammar import VisiblyPushdownCall, VisiblyPushdownGrammar, VisiblyPushdownRule

# A byte that UTF-8 never writes, other than that of labels (`automata.label_bytes`).
MARK: Final = 0xFE


class UniqueArrays(NamedTuple):
    """A language of JSON texts.

    Attributes:
        grammar: the rules; they do not say that items differ.
        rules: those that read what follows the `[` of an array whose items must differ.
        needs_more: whether such an array may have to go on after an item, or an object within one after a member; then
            the shortest way to the end that the rules know may not be one.
    """

    grammar: VisiblyPushdownGrammar
    rules: frozenset[int]
    needs_more: bool


@runtime_checkable
class SupportsUniqueItems(Protocol):
    """A constraint in which the items of some arrays may have to differ."""

    def to_visibly_pushdown(self) -> VisiblyPushdownGrammar:
        """Return the grammar, if it says all.

        Raises:
            UnsupportedSchema: items have to be remembered; the error names the place.
        """
        ...

    def unique_arrays(self) -> UniqueArrays | None:
        """Return the language; None where the constraint's grammar says all."""
        ...


@dataclass(frozen=True)
class RulesAlone:
    """The constraint of a grammar."""

    grammar: VisiblyPushdownGrammar

    def to_visibly_pushdown(self) -> VisiblyPushdownGrammar:
        """Return the grammar."""
        return self.grammar

    def to_automaton(self, work: Work) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton of its texts."""
        return compile_visibly_pushdown(self.grammar, work=work)


def marked(arrays: UniqueArrays) -> VisiblyPushdownGrammar:
    """Return the grammar with a mark at the beginning of each rule for an array whose items must differ."""
    rules = enumerate(arrays.grammar.rules)
    return replace(arrays.grammar, rules=tuple([_marked(rule) if at in arrays.rules else rule for at, rule in rules]))


def _marked(rule: VisiblyPushdownRule) -> VisiblyPushdownRule:
    """Return a rule that reads the mark first; its old start is its last state."""
    old = rule.num_states

    def moved(state: int) -> int:
        return state or old

    return VisiblyPushdownRule(
        old + 1,
        [(0, ex.byte_set([MARK]), old), *((moved(source), read, moved(target)) for source, read, target in rule.arcs)],
        [(moved(source), moved(target)) for source, target in rule.epsilon],
        [
            VisiblyPushdownCall(moved(at), called, tuple([to if to < 0 else moved(to) for to in targets]))
            for at, called, targets in rule.calls
        ],
        [(moved(state), number) for state, number in rule.ends],
        rule.num_exits,
    )
