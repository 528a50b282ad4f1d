"""Languages of JSON texts in which all items of some arrays must differ, and marks that identify these arrays.

    UniqueArrays            a visibly pushdown grammar; its rules for such arrays, and for arrays that may be read side
                            by side with them
    SupportsUniqueItems     a constraint that may have such arrays
    ArraysAlone, RulesAlone the constraints of such a language, and of a grammar
    marked(arrays)          the grammar with marks, for reading a text with a memory
    repeating(arrays)       the grammar with the mark after an item that equals an earlier one

The grammar by itself also accepts arrays with equal items. If variants of an array or object are read side by side, the
items of one array must differ in some readings of the text and need not in others. The marked grammar distinguishes
these:

- If `UNIQUE` can be read after a `[`, the items must differ in some reading. Then the array is remembered, and `REPEAT`
  is read in its place, because every reading can read it there.
- After an item that equals an earlier one, `REPEAT` is read. Only readings in which the items need not differ can read
  it, so the other readings end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol, runtime_checkable

from automata import expressions as ex
from automata.byte_automaton import ByteAutomaton
from automata.errors import UnsupportedSchema
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.visibly_pushdown.compile import compile_visibly_pushdown
from automata.visibly_pushdown.grammar import VisiblyPushdownCall, VisiblyPushdownGrammar, VisiblyPushdownRule

# Bytes that UTF-8 never writes, other than that of labels (`automata.label_bytes`).
UNIQUE: Final = 0xFE
REPEAT: Final = 0xFD


class UniqueArrays(NamedTuple):
    """A language of JSON texts in which the items of some arrays must differ.

    Attributes:
        grammar: the rules, which by themselves allow equal items. If an array must continue after an item, or an
            object within one after a member, they have a detour there, because the shortest item or name may occur
            already.
        rules: the numbers of the rules that read an array whose items must differ, from after its `[`.
        others: the numbers of the rules that read an array whose items need not differ, from after its `[`; empty if a
            text has only one reading, so that the two kinds of arrays cannot be confused.
    """

    grammar: VisiblyPushdownGrammar
    rules: frozenset[int]
    others: frozenset[int]

    @property
    def has_detours(self) -> bool:
        """Whether the rules have detours."""
        return any(rule.detours for rule in self.grammar.rules)


@runtime_checkable
class SupportsUniqueItems(Protocol):
    """A constraint in which the items of some arrays may have to differ."""

    def to_visibly_pushdown(self) -> VisiblyPushdownGrammar:
        """Return the grammar, if it describes the language completely.

        Raises:
            UnsupportedSchema: items have to be remembered; the error names the place.
        """
        ...

    def unique_arrays(self) -> UniqueArrays | None:
        """Return the language; None if the constraint's grammar describes it completely."""
        ...


def needs_memory() -> UnsupportedSchema:
    """Return the error for a language that rules cannot describe without a memory of the items."""
    return UnsupportedSchema("needs memory of all items", keyword="uniqueItems")


@dataclass(frozen=True)
class ArraysAlone:
    """The constraint whose language is a `UniqueArrays`."""

    arrays: UniqueArrays

    def to_visibly_pushdown(self) -> VisiblyPushdownGrammar:
        """Raise UnsupportedSchema."""
        raise needs_memory()

    def to_automaton(self, work: Work) -> ByteAutomaton | PushdownAutomaton:
        """Raise UnsupportedSchema."""
        raise needs_memory()

    def unique_arrays(self) -> UniqueArrays:
        """Return the language."""
        return self.arrays


@dataclass(frozen=True)
class RulesAlone:
    """The constraint whose language is that of a grammar."""

    grammar: VisiblyPushdownGrammar

    def to_visibly_pushdown(self) -> VisiblyPushdownGrammar:
        """Return the grammar."""
        return self.grammar

    def to_automaton(self, work: Work) -> ByteAutomaton | PushdownAutomaton:
        """Return the automaton of its texts."""
        return compile_visibly_pushdown(self.grammar, work=work)


def marked(arrays: UniqueArrays) -> VisiblyPushdownGrammar:
    """Return the grammar with marks.

    Both marks stand at the beginning of each rule for an array whose items must differ, and `REPEAT` in the rules for
    arrays whose items need not differ.
    """
    return _with_marks(repeating(arrays), arrays.rules, _marked)


def repeating(arrays: UniqueArrays) -> VisiblyPushdownGrammar:
    """Return the grammar with `REPEAT` in the rules for arrays whose items need not differ.

    The rules allow `REPEAT` at any place, since it is read only where an item ends.
    """
    return _with_marks(arrays.grammar, arrays.others, _repeating)


def _with_marks(
    grammar: VisiblyPushdownGrammar,
    rules: frozenset[int],
    change: Callable[[VisiblyPushdownRule], VisiblyPushdownRule],
) -> VisiblyPushdownGrammar:
    if not rules:
        return grammar
    return replace(
        grammar, rules=tuple([change(rule) if number in rules else rule for number, rule in enumerate(grammar.rules)])
    )


def _marked(rule: VisiblyPushdownRule) -> VisiblyPushdownRule:
    """Return a rule that reads a mark first; its old start is its last state."""
    old = rule.num_states

    def moved(state: int) -> int:
        return state or old

    marks = ex.byte_set([UNIQUE, REPEAT])
    return VisiblyPushdownRule(
        old + 1,
        [(0, marks, old), *((moved(source), read, moved(target)) for source, read, target in rule.arcs)],
        [(moved(source), moved(target)) for source, target in rule.epsilon],
        [
            VisiblyPushdownCall(moved(at), called, tuple([to if to < 0 else moved(to) for to in targets]))
            for at, called, targets in rule.calls
        ],
        [(moved(state), number) for state, number in rule.ends],
        rule.num_exits,
    )


def _repeating(rule: VisiblyPushdownRule) -> VisiblyPushdownRule:
    """Return a rule that also reads `REPEAT` in every state in which it neither calls a rule nor ends."""
    alone = {call.source for call in rule.calls} | {state for state, _ in rule.ends}
    # Where several rules are called, their calls come after epsilon arcs.
    alone |= {source for source, target in rule.epsilon if target in alone}
    mark = ex.byte_set([REPEAT])
    marks = [(state, mark, state) for state in range(rule.num_states) if state not in alone]
    return replace(rule, arcs=[*rule.arcs, *marks])
