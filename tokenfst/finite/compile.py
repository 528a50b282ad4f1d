"""Compile a byte automaton to one over the tokens of a vocabulary.

    ByteAutomaton -> with a beginning -> TokenClasses -> with terminals -> trimmed -> FiniteTokenAutomaton

A byte automaton is trim: every state is reachable and coaccessible. Over tokens this holds too if there is a token for
every single byte that the automaton reads, as in byte-level vocabularies. Otherwise, states that are not reachable or
not coaccessible by tokens are removed with their transitions, and classes that become equal are merged.
"""

from __future__ import annotations

import numpy as np

from automata.arrays import BoolArray, IntArray
from automata.byte_automaton import ByteAutomaton
from automata.errors import EmptyLanguage
from automata.graph import distances
from automata.limits import Work, current_work
from tokenfst import _native
from tokenfst._native import TokenClasses
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.beginning import split_terminals, with_finite_beginning, with_finite_exceptions
from tokenfst.finite.classes import END, FIRST_CLASS, NEVER, token_classes
from tokenfst.finite.terminals import Terminals, with_terminals
from tokenfst.vocabulary import Vocabulary


def from_bytes(
    automaton: ByteAutomaton,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    terminals: Terminals | None = None,
    work: Work | None = None,
) -> FiniteTokenAutomaton:
    """Return the automaton over tokens of a byte automaton; see `tokenfst.compile`."""
    if automaton.is_empty:
        raise EmptyLanguage("the constraint allows no text at all")
    work = current_work(work)
    rule = vocabulary.text_start if at_text_start else None
    raw, token_bytes = automaton, vocabulary.is_token_byte
    if rule:
        raw, origins = with_finite_beginning(automaton, rule)
        token_bytes = vocabulary.is_first_byte
    start, final = raw.start, raw.final
    classes = token_classes(raw, vocabulary, work)
    if rule:
        classes = with_finite_exceptions(classes, automaton, origins, rule, vocabulary)
    if raw.labels:
        sets = terminals or {}
        if rule:
            sets = split_terminals(automaton.labels, vocabulary, sets, rule)
        start, final, classes = with_terminals(raw, vocabulary, classes, sets, work)
    if raw.labels or not _native.spells_all(raw.tables, token_bytes):
        start, final, classes = trimmed(start, final, classes)
    return FiniteTokenAutomaton.from_classes(vocabulary, start, final, classes, work, at_text_start=at_text_start)


def trimmed(start: int, final: BoolArray, classes: TokenClasses) -> tuple[int, BoolArray, TokenClasses]:
    """Keep the states that are reachable and coaccessible by tokens, and merge classes that become equal.

    Raises:
        EmptyLanguage: no sequence of tokens spells a text of the language.
    """
    source, number, target = classes.source, classes.edge_class, classes.target
    begins = np.zeros(len(final), np.bool_)
    begins[start] = True
    kept = (distances(source, target, final) >= 0) & (distances(target, source, begins) >= 0)
    if not kept[start]:
        raise EmptyLanguage("the vocabulary cannot write any text that the constraint allows")
    state = (np.cumsum(kept) - 1).astype(np.int32)
    edges = kept[source] & kept[target]
    source, number, target = state[source[edges]], number[edges], state[target[edges]]
    merged, num_classes = _merge_classes(classes.num_classes, source, number, target)
    together = merged[number]
    # Of merged classes, keep the edges of the first one.
    owner = np.full(num_classes, -1, np.int32)
    owner[together[::-1]] = number[::-1]
    first = owner[together] == number
    runs = classes.run_end, merged[classes.run_class]
    kept_classes = TokenClasses(*runs, num_classes, source[first], together[first], target[first])
    return int(state[start]), final[kept], kept_classes


def _merge_classes(num_classes: int, source: IntArray, number: IntArray, target: IntArray) -> tuple[IntArray, int]:
    """Return the new number of each class, `[K]` int32, and the number of new classes.

    Classes with equal transitions get the same number, those without transitions NEVER.
    """
    merged = np.full(num_classes, NEVER, np.int32)
    merged[END] = END
    known: dict[bytes, int] = {}
    bounds = np.searchsorted(number, np.arange(num_classes + 1))
    pairs = np.stack([source, target], axis=1)
    for old in range(FIRST_CLASS, num_classes):
        if bounds[old] < bounds[old + 1]:
            key = pairs[bounds[old] : bounds[old + 1]].tobytes()
            merged[old] = known.setdefault(key, FIRST_CLASS + len(known))
    return merged, FIRST_CLASS + len(known)
