"""The rules of a grammar as one NFA in flat tables, in which languages are not written out.

    GrammarLayout   chains of bytes, copies of fragments, epsilon arcs, calls and ends

Python sees each arc of the grammar once and no byte of it; the native core writes out the languages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from automata._native import VisiblyPushdownLayout
from automata.arrays import IntArray, int_array, int_rows, offsets_of
from automata.compile.nfa import FIRST_LABEL
from automata.errors import LimitExceeded, limit_exceeded
from automata.expressions import Concatenation, Expr, Literal, Repetition
from automata.label_bytes import LabelNumbers, with_label_bytes
from automata.limits import Work
from automata.visibly_pushdown.fragments import CountedFragment, NfaFragment, counted_fragment, nfa_fragment
from automata.visibly_pushdown.grammar import ArcLanguage, VisiblyPushdownGrammar, VisiblyPushdownRule
from automata.visibly_pushdown.inlining import reached
from automata.visibly_pushdown.paths import CountedPaths
from automata.visibly_pushdown.units import CountedUnits

# States 0 and 1 lead to the starts of all rules, and are reached from their ends.
_FIRST_STATE = 2

# Memory of a number in a list, and of the object that it is.
_NUMBER_BYTES = 40

# Bounds above this are never reached by a text in memory.
_MOST_COUNTED = (1 << 31) - 2


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
        arcs = self.tables.fragment_arcs
        return bool((self.tables.text == byte).any() or ((arcs[:, 1] <= byte) & (byte <= arcs[:, 2])).any())


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
        work: the limits, and how the compilation is stopped.
        written: whether counts are written out and the number of arcs is limited, for automata that are made at once;
            lazy automata need neither.
        label_numbers: the numbers of all labels, to lay them as bytes.

    Raises:
        LimitExceeded: it has more arcs than allowed, takes too much memory, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    laying = _LayoutBuilder(grammar, inlined, work, written)
    for rule in laying.rules:
        laying.lay(rule)
    try:
        if label_numbers is not None:
            laying.fragments = [_without_labels(fragment, label_numbers) for fragment in laying.fragments]
        return laying.layout()
    finally:
        work.budget.release(laying.num_charged)


class _LayoutBuilder:
    """The tables of a layout, as lists of numbers."""

    def __init__(self, grammar: VisiblyPushdownGrammar, inlined: frozenset[int], work: Work, written: bool) -> None:
        self.grammar, self.inlined, self.work, self.written = grammar, inlined, work, written
        self.rules = [rule for rule in reached(grammar) if rule not in inlined]
        self.place = {rule: place for place, rule in enumerate(self.rules)}
        self.num_states = _FIRST_STATE
        self.num_charged = 0
        self.starts: list[int] = []
        self.first_exit = [0]
        self.texts: list[bytes] = []
        self.chains: list[int] = []
        self.copies: list[int] = []
        self.epsilon: list[int] = []
        self.calls: list[int] = []
        self.targets: list[int] = []
        self.ends: list[int] = []
        self.prepared: list[int] = []
        self.counters: list[int] = []
        self.numbers: list[IntArray] = []
        # By the identity of the fragments, which `counted_fragments` keeps alive.
        self.known_counted: dict[int, tuple[int, int]] = {}
        self.counted_fragments: list[CountedFragment] = []
        # By the identity of a language, which the grammar keeps alive.
        self.known: dict[int, int] = {}
        self.fragments: list[NfaFragment] = []

    def lay(self, number: int) -> None:
        """Lay a rule that stays, and those that are inlined in it."""
        self.starts.append(self.num_states)
        exits = self.first_exit[-1]
        waiting = [] if self.is_prepared(self.grammar.rules[number]) else self.states(number)
        for state, way in self.grammar.rules[number].ends:
            self.ends += (self.starts[-1] + state, exits + way)
        self.first_exit.append(exits + self.grammar.rules[number].num_exits)
        while waiting:
            source, callee, targets = waiting.pop()
            self.epsilon += (source, self.num_states)
            first = self.num_states
            waiting += self.states(callee)
            for state, way in self.grammar.rules[callee].ends:
                if targets[way] >= 0:
                    self.epsilon += (first + state, targets[way])

    def is_prepared(self, rule: VisiblyPushdownRule) -> bool:
        """Lay a rule that is one automaton, which is put in its place later; return whether it is one."""
        language = rule.only_read
        if not self.written or len(self.starts) == 1 or language is None:
            return False
        number = self.fragment(language)
        fragment = self.fragments[number]
        if len(fragment.epsilon) or fragment.labels or not len(fragment.arcs):
            return False
        self.prepared += (len(self.starts) - 1, number)
        self.epsilon += (self.num_states, self.num_states + rule.ends[0][0])
        self.num_states += rule.num_states
        return True

    def states(self, number: int) -> list[tuple[int, int, list[int]]]:
        """Lay the states of a rule but not its ends; return the inlined calls that are still to be laid: source, rule
        and targets."""
        rule, first, work = self.grammar.rules[number], self.num_states, self.work
        self.num_states += rule.num_states
        chains, copies, known = self.chains, self.copies, self.known
        for source, language, target in work.watched(rule.arcs):
            fragment = known.get(id(language))
            if fragment is not None:
                copies += (fragment, first + source, first + target)
            elif type(language) is Literal:
                self.texts.append(language.value)
                chains += (first + source, first + target)
            elif type(language) is Concatenation and all(map(_is_spelled, language.parts)):
                self.spell(language.parts, first + source, first + target)
            elif isinstance(language, CountedUnits | CountedPaths) and not self.written:
                paths = language.paths(work) if isinstance(language, CountedUnits) else language
                self.count(paths, first + source, first + target)
            else:
                copies += (self.fragment(language), first + source, first + target)
        for source, target in work.watched(rule.epsilon):
            self.epsilon += (first + source, first + target)
        inside = []
        for call in work.watched(rule.calls):
            targets = [first + target if target >= 0 else -1 for target in call.targets]
            if call.rule in self.inlined:
                inside.append((first + call.source, call.rule, targets))
            else:
                self.calls += (first + call.source, self.place[call.rule], len(self.targets))
                self.targets += targets
        self.charge()
        return inside

    def spell(self, parts: tuple[Expr, ...], source: int, target: int) -> None:
        """Lay texts and repeated texts, such as names and spaces, one after the other and without a fragment."""
        for place, part in enumerate(parts):
            after = self.num_states if place + 1 < len(parts) else target
            if type(part) is Literal:
                self.texts.append(part.value)
                self.chains += (source, after)
            else:
                self.copies += (self.fragment(part), source, after)
            self.num_states += after != target
            source = after

    def fragment(self, language: ArcLanguage) -> int:
        """Return the number of the fragment of a language."""
        found = self.known.get(id(language))
        if found is None:
            found = self.known[id(language)] = len(self.fragments)
            self.fragments.append(nfa_fragment(language, self.work))
        return found

    def count(self, language: CountedPaths, source: int, target: int) -> None:
        """Lay counted paths without writing them out."""
        entered = self.num_states
        self.num_states += 1
        self.epsilon += (source, entered)
        counted = counted_fragment(language, self.work)
        number, first = self.counted(counted)
        high = -1 if language.high is None else min(language.high, _MOST_COUNTED)
        self.counters += (entered, target, number, counted.entry, min(language.low, _MOST_COUNTED), high, first)

    def counted(self, counted: CountedFragment) -> tuple[int, int]:
        """Return the number of a counted fragment, and where its numbers begin."""
        known = self.known_counted.get(id(counted))
        if known is None:
            known = self.known_counted[id(counted)] = len(self.fragments), sum(map(len, self.numbers))
            self.fragments.append(counted.fragment)
            self.numbers.append(counted.numbers)
            self.counted_fragments.append(counted)
        return known

    def charge(self) -> None:
        """Charge the memory of the numbers that were appended since the last time."""
        lists = self.chains, self.copies, self.epsilon, self.calls, self.targets, self.ends
        num_bytes = _NUMBER_BYTES * sum(map(len, lists))
        self.work.budget.charge(num_bytes - self.num_charged)
        self.num_charged = num_bytes

    def layout(self) -> GrammarLayout:
        """Return the tables."""
        self.work.check()
        fragments = self.fragments
        text, copies = np.frombuffer(b"".join(self.texts), np.uint8), int_rows(self.copies, 3)
        if self.written:
            self.check_size(len(text), copies)
        arcs, labels = _labelled(fragments)
        tables = VisiblyPushdownLayout(
            num_states=self.num_states,
            num_labels=len(labels),
            starts=int_array(self.starts),
            first_exit=int_array(self.first_exit),
            text=text,
            text_offsets=offsets_of([len(text) for text in self.texts]),
            chains=int_rows(self.chains, 2),
            fragment_states=int_array([fragment.num_states for fragment in fragments]),
            fragment_arc_offsets=offsets_of([len(fragment.arcs) for fragment in fragments]),
            fragment_arcs=_together(arcs, 4),
            fragment_epsilon_offsets=offsets_of([len(fragment.epsilon) for fragment in fragments]),
            fragment_epsilon=_together([fragment.epsilon for fragment in fragments], 2),
            copies=copies,
            epsilon=int_rows(self.epsilon, 2),
            calls=int_rows(self.calls, 3),
            targets=int_array(self.targets),
            ends=int_rows(self.ends, 2),
            prepared=int_rows(self.prepared, 2),
            counters=int_rows(self.counters, 7),
            numbers=_together(self.numbers, 3),
            budget=self.work.budget,
        )
        return GrammarLayout(tuple(self.rules), labels, tables)

    def check_size(self, num_bytes: int, copies: IntArray) -> None:
        """Raise if there are too many arcs once all is written out, or too many states of prepared rules."""
        sizes, limits = np.array([len(fragment.arcs) for fragment in self.fragments], np.int64), self.work.limits
        if num_bytes + int(sizes[copies[:, 0]].sum()) > limits.arcs:
            raise LimitExceeded(
                f"laying out the rules takes more than {limits.arcs:,} arcs (limit `arcs`)", limit="arcs"
            )
        if sum(self.fragments[fragment].num_states - 1 for fragment in self.prepared[1::2]) > limits.states:
            raise limit_exceeded("states", limits.states).of("the automaton of the rules")


def _is_spelled(part: Expr) -> bool:
    return type(part) is Literal or (type(part) is Repetition and type(part.inner) is Literal)


def _together(tables: list[IntArray], width: int) -> IntArray:
    return np.concatenate(tables) if tables else np.zeros((0, width), np.int32)


def _labelled(fragments: list[NfaFragment]) -> tuple[list[IntArray], tuple[str, ...]]:
    """Return the arcs of fragments with common numbers for their labels, and the labels."""
    labels = tuple(sorted({name for fragment in fragments for name in fragment.labels}))
    if not labels:
        return [fragment.arcs for fragment in fragments], labels
    return [_renamed(fragment, labels) for fragment in fragments], labels


def _without_labels(fragment: NfaFragment, numbers: LabelNumbers) -> NfaFragment:
    if not fragment.labels:
        return fragment
    num_states, arcs = with_label_bytes(fragment.num_states, fragment.arcs, fragment.labels, numbers)
    return NfaFragment(num_states, arcs, fragment.epsilon)


def _renamed(fragment: NfaFragment, labels: tuple[str, ...]) -> IntArray:
    symbols = np.array([*range(FIRST_LABEL), *(FIRST_LABEL + labels.index(name) for name in fragment.labels)], np.int32)
    arcs = fragment.arcs.copy()
    arcs[:, 1:3] = symbols[arcs[:, 1:3]]
    return arcs
