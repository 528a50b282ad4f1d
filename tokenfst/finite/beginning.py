"""The automaton for tokens that are a text by themselves, where the decoder treats the start of a text its own way.

If L is the language of texts, let a token sequence write the raw bytes u, as it would inside a text. By the rule of
`tokenfst.vocabulary.text_start` the text is u without its leading space, or the prefix and u. So u has to be in

    L' = " " L  |  { u : u does not begin with a space, prefix u in L }

which takes one more state to read: `begin`, which a space leaves for the start of L, and any other byte b for the state
that prefix b leads to; a text may end there exactly if it may end at the start of L. Nothing leads back to it. Token
classes are then found over L' like over any language.

The tokens that the rule is wrong about are few. Each differs from its class by one transition, the one that leaves
`begin`, so it gets a class of its own, or of those that differ alike: what it writes there decides where it leads.

A label that is taken by a token without text, such as a marker, leaves the text still to begin. So every state that
labels alone lead to from the start, its *origins*, has a twin that begins as well; and each label is two, one for the
tokens of its set that begin the text and one for those that do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from automata.arrays import BoolArray, IntArray
from automata.byte_automaton import ByteAutomaton
from tokenfst._native import TokenClasses
from tokenfst.finite.classes import NEVER
from tokenfst.finite.terminals import Terminals, token_set
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.text_start import SPACE, TextStart

# Before the name of a label, for its tokens that do not begin the text.
_SILENT = "\0"


class HasRuns(Protocol):
    """The classes of a vocabulary, as runs."""

    @property
    def run_end(self) -> IntArray: ...

    @property
    def run_class(self) -> IntArray: ...


def with_beginning(automaton: ByteAutomaton, rule: TextStart) -> tuple[ByteAutomaton, list[int]]:
    """The automaton of L', and the P states of `automaton` whose twins are its last P states, the start first."""
    origins = _origins(automaton)
    final = np.concatenate([automaton.final, automaton.final[origins]])
    by_label, labels = _twice(automaton, origins)
    begin = automaton.num_states
    if automaton.is_sparse:
        offsets, arcs = _rows_of_arcs(automaton, rule, origins)
        return ByteAutomaton.sparse(begin, offsets, arcs, final, by_label, labels), origins
    table, byte_class = automaton.next, automaton.byte_class
    space = byte_class[SPACE[0]]
    if (byte_class == space).sum() > 1:
        # At the beginning a space is like no other byte.
        table = np.concatenate([table, table[:, space : space + 1]], axis=1)
        byte_class = byte_class.copy()
        byte_class[SPACE[0]] = space = table.shape[1] - 1
    rows = np.full((len(origins), table.shape[1]), -1, np.int32)
    for row, origin in zip(rows, origins, strict=True):
        after_prefix = automaton.step(origin, rule.prefix)
        if after_prefix >= 0:
            row[:] = table[after_prefix]
        row[space] = origin
    return ByteAutomaton.dense(begin, byte_class, np.concatenate([table, rows]), final, by_label, labels), origins


def _rows_of_arcs(automaton: ByteAutomaton, rule: TextStart, origins: list[int]) -> tuple[IntArray, IntArray]:
    """The offsets `[Q + P + 1]` and the arcs `[A, 3]` of a sparse automaton with a row for each twin."""
    space, offsets, rows = SPACE[0], automaton.offsets.tolist(), []
    for origin in origins:
        after_prefix = automaton.step(origin, rule.prefix)
        row = [[space, space, origin]]
        if after_prefix >= 0:
            for low, high, target in automaton.arcs[offsets[after_prefix] : offsets[after_prefix + 1]].tolist():
                # An arc over the space is cut in two around it.
                pieces = ([low, min(high, space - 1), target], [max(low, space + 1), high, target])
                row += [piece for piece in pieces if piece[0] <= piece[1]]
        rows.append(sorted(row))
        offsets.append(offsets[-1] + len(row))
    added = np.array([arc for row in rows for arc in row], np.int32)
    return np.array(offsets, np.int32), np.concatenate([automaton.arcs, added])


def _origins(automaton: ByteAutomaton) -> list[int]:
    """The states that labels alone lead to, the start first."""
    origins = [automaton.start]
    for origin in origins:
        origins += sorted({*automaton.by_label[origin].tolist()} - {-1, *origins})
    return origins


def _twice(automaton: ByteAutomaton, origins: list[int]) -> tuple[IntArray, tuple[str, ...]]:
    """The transitions by label, and the labels, each of them for tokens that begin the text and for those that do
    not."""
    twin = np.full(automaton.num_states + 1, -1, np.int32)
    twin[origins] = np.arange(automaton.num_states, automaton.num_states + len(origins))
    inside = automaton.by_label
    beginning = np.concatenate([inside[origins], twin[inside[origins]]], axis=1)
    labels = (*automaton.labels, *(_SILENT + name for name in automaton.labels))
    return np.concatenate([np.concatenate([inside, inside], axis=1), beginning]), labels


def split_terminals(
    labels: Iterable[str], vocabulary: Vocabulary, terminals: Terminals, rule: TextStart
) -> dict[str, list[int]]:
    """The sets of the labels of `with_beginning`, from the labels before.

    Raises:
        UnknownTerminal, VocabularyError: as `tokenfst.finite.terminals.token_set`.
    """
    split: dict[str, list[int]] = {}
    for name in labels:
        split[name], split[_SILENT + name] = [], []
        for token_id in token_set(name, vocabulary, terminals).tolist():
            silent = not vocabulary.tokens[token_id] or token_id in rule.ignored
            split[_SILENT * silent + name].append(token_id)
    return split


def with_exceptions(
    classes: TokenClasses, automaton: ByteAutomaton, origins: list[int], rule: TextStart, vocabulary: Vocabulary
) -> TokenClasses:
    """The classes of L', with what the tokens that are exceptions to the rule do at the beginning put right.

    Args:
        classes: the classes under `with_beginning(automaton, rule)`.
        automaton: the automaton of L.
        origins: P of its states, which have twins.
        rule: what happens at the start of a text.
        vocabulary: the tokens.
    """
    begin = automaton.num_states
    begins = classes.source >= begin
    leads_to = np.full((classes.num_classes, len(origins)), -1, np.int32)
    leads_to[classes.edge_class[begins], classes.source[begins] - begin] = classes.target[begins]
    run_end, run_class = classes.run_end, classes.run_class
    # The ranks that move from a class to one with other targets.
    moved: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for token_id in (*rule.exceptions, *rule.ignored):
        if vocabulary.tokens[token_id]:
            first = rule.first(token_id, vocabulary.tokens[token_id])
            targets = tuple(
                twin if token_id in rule.ignored else automaton.step(origin, first)
                for twin, origin in enumerate(origins, begin)
            )
            rank = vocabulary.rank_of_token[token_id]
            number = int(run_class[np.searchsorted(run_end, rank, "right")])
            if tuple(leads_to[number].tolist()) != targets:
                moved.setdefault((number, targets), []).append(int(rank))
    return _move(classes, begin, moved) if moved else classes


def _move(classes: TokenClasses, begin: int, moved: dict[tuple[int, tuple[int, ...]], list[int]]) -> TokenClasses:
    """Makes a class of each list of ranks: their old one, but for the transitions from `begin` on."""
    source, edge_class, target = classes.source, classes.edge_class, classes.target
    edges = np.stack([source, edge_class, target])
    added, new_class = [edges], dict[int, int]()
    num_classes = classes.num_classes
    for (old, targets), ranks in moved.items():
        low, high = np.searchsorted(edge_class, [old, old + 1])
        kept = edges[:, low:high][:, source[low:high] < begin]
        leaving = [(twin, num_classes, target) for twin, target in enumerate(targets, begin) if target >= 0]
        kept[1] = num_classes
        own = np.concatenate([kept, np.array(leaving, np.int32).reshape(-1, 3).T], axis=1)
        new_class |= dict.fromkeys(ranks, num_classes if own.size else NEVER)
        num_classes += bool(own.size)
        added.append(own)
    run_end, run_class = moved_runs(classes, new_class)
    edges = np.concatenate(added, axis=1)
    # A class that all its tokens have left leads nowhere.
    taken: BoolArray = np.zeros(num_classes, np.bool_)
    taken[run_class] = True
    source, edge_class, target = np.ascontiguousarray(edges[:, taken[edges[1]]])
    return TokenClasses(run_end, run_class, num_classes, source, edge_class, target)


def moved_runs(classes: HasRuns, new_class: dict[int, int]) -> tuple[IntArray, IntArray]:
    """The runs in which some ranks have another class."""
    ranks = np.array(list(new_class), np.int32)
    # Runs are cut before and behind each of the ranks, if they do not end there.
    cut = np.unique(np.concatenate([ranks, ranks + 1]))
    run_end, run_class = classes.run_end, classes.run_class
    run = np.searchsorted(run_end, cut)
    inside = (cut > 0) & (run_end[run] != cut)
    run_end, run_class = (
        np.insert(run_end, run[inside], cut[inside]),
        np.insert(run_class, run[inside], run_class[run[inside]]),
    )
    run_class[np.searchsorted(run_end, ranks, "right")] = list(new_class.values())
    return run_end, run_class
