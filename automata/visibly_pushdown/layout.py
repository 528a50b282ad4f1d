"""The rules of a grammar as one NFA in flat tables, in which languages are not written out.

    GrammarLayout   chains of bytes, copies of fragments, epsilon arcs, calls and ends

Python code handles each language of the grammar once, without its bytes; the native core reads the rules, and writes
out the languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from automata._native import Fragment, LayoutWriter, VisiblyPushdownLayout
from automata.arrays import int_array
from automata.compile.nfa import FIRST_LABEL
from automata.errors import LimitExceeded, limit_exceeded
from automata.expressions import Concatenation, Expr, Literal, Repetition
from automata.label_bytes import LabelNumbers, with_label_bytes
from automata.limits import Work
from automata.visibly_pushdown.conditions import Conditions
from automata.visibly_pushdown.fragments import (
    CountedFragment,
    NfaFragment,
    counted_fragment,
    make_fragment,
    nfa_fragment,
)
from automata.visibly_pushdown.grammar import ArcLanguage, VisiblyPushdownGrammar, VisiblyPushdownRule
from automata.visibly_pushdown.inlining import reached
from automata.visibly_pushdown.paths import CountedPaths
from automata.visibly_pushdown.units import CountedUnits

# Bounds above this are never reached by a text in memory.
_MAX_COUNTED = (1 << 31) - 2


@dataclass(frozen=True, eq=False, slots=True)
class GrammarLayout:
    """A grammar that has been laid out.

    Attributes:
        rules: R numbers of the grammar's rules, the start first.
        labels: L names, ascending.
        tables: the tables, see `native/automata/visibly_pushdown/layout.h`.
    """

    rules: tuple[int, ...]
    labels: tuple[str, ...]
    tables: VisiblyPushdownLayout

    def reads(self, byte: int) -> bool:
        """Return whether some arc reads a byte."""
        return self.tables.reads(byte)


def lay_out(
    grammar: VisiblyPushdownGrammar,
    inlined: frozenset[int],
    work: Work,
    *,
    written: bool = True,
    label_numbers: LabelNumbers | None = None,
) -> GrammarLayout:
    """Lay out a grammar.

    Args:
        grammar: the grammar; `check_calls` has passed it.
        inlined: the rules that are laid where they are called, none of which calls itself, directly or not.
        work: the limits, and the means to stop the compilation.
        written: whether counts are written out and the number of arcs is limited, for automata that are made at once;
            lazy automata need neither.
        label_numbers: the numbers of all labels, to lay them as bytes.

    Raises:
        LimitExceeded: it has more arcs than allowed, takes too much memory, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    laying = _Laying(grammar, inlined, work, written)
    for rule in laying.rules:
        laying.lay(rule)
    fragments = laying.fragments
    if label_numbers is not None:
        fragments = [_without_labels(fragment, label_numbers, work) for fragment in fragments]
    return laying.layout(fragments)


class _Laying:
    """A layout that is being made."""

    def __init__(self, grammar: VisiblyPushdownGrammar, inlined: frozenset[int], work: Work, written: bool) -> None:
        self.grammar, self.inlined, self.work, self.written = grammar, inlined, work, written
        self.rules = [rule for rule in reached(grammar) if rule not in inlined]
        place = [-1] * len(grammar.rules)
        for number, rule in enumerate(self.rules):
            place[rule] = number
        self.place = int_array(place)
        self.made = LayoutWriter()
        # By the identity of a language, which the grammar keeps alive.
        self.known: dict[int, int] = {}
        self.fragments: list[NfaFragment] = []
        # By the identity of the fragments, which `counted_fragments` keeps alive.
        self.known_counted: dict[int, tuple[int, int]] = {}
        self.counted_fragments: list[CountedFragment] = []
        self.num_numbers = 0
        # The fragments of rules that are one automaton each.
        self.prepared: list[int] = []

    def lay(self, number: int) -> None:
        """Lay a rule that stays, and those that are inlined in it."""
        rule, first = self.grammar.rules[number], self.made.num_states
        self.made.rule(rule.num_exits)
        waiting = [] if self.is_prepared(rule) else self.states(rule)
        self.made.ends(rule.ends, first)
        while waiting:
            source, callee, targets = waiting.pop()
            first = self.made.num_states
            waiting += self.states(self.grammar.rules[callee])
            ends = [(first + state, targets[way]) for state, way in self.grammar.rules[callee].ends]
            self.made.epsilon([(source, first), *(end for end in ends if end[1] >= 0)], 0, self.work.budget)

    def is_prepared(self, rule: VisiblyPushdownRule) -> bool:
        """Return whether a rule is one automaton that the native core can put in its place as it is; if so, lay it."""
        language = rule.only_read if self.written else None
        if language is None or rule is self.grammar.rules[self.grammar.start]:
            return False
        number = self.fragment(language)
        fragment = self.fragments[number]
        if len(fragment.epsilon) or fragment.labels or not len(fragment.arcs):
            return False
        self.prepared.append(number)
        self.made.prepared(number)
        self.made.epsilon([(0, rule.ends[0][0])], self.made.states(rule.num_states), self.work.budget)
        return True

    def states(self, rule: VisiblyPushdownRule) -> list[tuple[int, int, list[int]]]:
        """Lay the states of a rule but not its ends; return the inlined calls that are still to be laid: source, rule
        and targets."""
        first, budget = self.made.states(rule.num_states), self.work.budget
        self.made.arcs(rule.arcs, first, self.pieces, budget)
        self.made.epsilon(rule.epsilon, first, budget)
        if rule.detours:
            self.made.detours(rule.detours, first)
        if rule.guarded:
            self.made.guarded(rule.guarded, first, rule.conditions or Conditions(), budget)
        if not self.inlined:
            self.made.calls(rule.calls, first, self.place, budget)
            return []
        self.made.calls([call for call in rule.calls if call.rule not in self.inlined], first, self.place, budget)
        return [
            (first + call.source, call.rule, [first + target if target >= 0 else -1 for target in call.targets])
            for call in self.work.watched(rule.calls)
            if call.rule in self.inlined
        ]

    def pieces(self, language: ArcLanguage) -> Sequence[bytes | int | tuple[int, ...]]:
        """Return the pieces that a language is laid as, in order: texts, numbers of fragments, and counters.

        A sequence of texts and repeated texts, such as names and spaces, needs no fragment of its own."""
        if type(language) is Literal:
            return (language.value,)
        if type(language) is Concatenation and all(map(_is_spelled, language.parts)):
            return [part.value if type(part) is Literal else self.fragment(part) for part in language.parts]
        if isinstance(language, CountedUnits | CountedPaths) and not self.written:
            return (self.counter(language.paths(self.work) if isinstance(language, CountedUnits) else language),)
        return (self.fragment(language),)

    def fragment(self, language: ArcLanguage) -> int:
        """Return the number of the fragment of a language."""
        found = self.known.get(id(language))
        if found is None:
            found = self.known[id(language)] = len(self.fragments)
            self.fragments.append(nfa_fragment(language, self.work))
        return found

    def counter(self, language: CountedPaths) -> tuple[int, ...]:
        """Return the counter of counted paths, which are not written out."""
        counted = counted_fragment(language, self.work)
        number, first = self.counted(counted)
        high = -1 if language.high is None else min(language.high, _MAX_COUNTED)
        return number, counted.entry, min(language.low, _MAX_COUNTED), high, first

    def counted(self, counted: CountedFragment) -> tuple[int, int]:
        """Return the number of a counted fragment, and where its numbers begin."""
        known = self.known_counted.get(id(counted))
        if known is None:
            known = self.known_counted[id(counted)] = len(self.fragments), self.num_numbers
            self.fragments.append(counted.fragment)
            self.made.numbers(counted.numbers)
            self.num_numbers += len(counted.numbers)
            self.counted_fragments.append(counted)
        return known

    def layout(self, fragments: list[NfaFragment]) -> GrammarLayout:
        """Return the tables.

        Args:
            fragments: the fragments, by number.
        """
        self.work.check()
        labels = tuple(sorted(set().union(*(fragment.labels for fragment in fragments))))
        for fragment in fragments:
            self.made.fragment(_renamed(fragment, labels, self.work) if fragment.labels else fragment.core)
        tables = self.made.layout(len(labels), self.work.budget)
        if self.written:
            self.check_size(tables)
        return GrammarLayout(tuple(self.rules), labels, tables)

    def check_size(self, tables: VisiblyPushdownLayout) -> None:
        """Raise if there are too many arcs once all is written out, or too many states of prepared rules."""
        limits = self.work.limits
        if tables.num_written_arcs > limits.arcs:
            raise LimitExceeded(
                f"laying out the rules takes more than {limits.arcs:,} arcs (limit `arcs`)", limit="arcs"
            )
        if sum(self.fragments[fragment].num_states - 1 for fragment in self.prepared) > limits.states:
            raise limit_exceeded("states", limits.states).of("the automaton of the rules")


def _is_spelled(part: Expr) -> bool:
    return type(part) is Literal or (type(part) is Repetition and type(part.inner) is Literal)


def _without_labels(fragment: NfaFragment, numbers: LabelNumbers, work: Work) -> NfaFragment:
    if not fragment.labels:
        return fragment
    num_states, arcs = with_label_bytes(fragment.num_states, fragment.arcs, fragment.labels, numbers)
    return make_fragment(num_states, arcs, fragment.epsilon, work)


def _renamed(fragment: NfaFragment, labels: tuple[str, ...], work: Work) -> Fragment:
    """Return a fragment with the numbers of all labels in place of its own."""
    symbols = np.array([*range(FIRST_LABEL), *(FIRST_LABEL + labels.index(name) for name in fragment.labels)], np.int32)
    arcs = fragment.arcs.copy()
    arcs[:, 1:3] = symbols[arcs[:, 1:3]]
    return Fragment(fragment.num_states, arcs, fragment.epsilon, work.budget)
