"""The start of a text in a byte automaton (`tokenfst.text_beginning`).

A token that is matched by a label and writes nothing, such as a marker, does not begin the text. Therefore every state
that the start leads to by labels alone (an *origin*) gets a twin in which the text has not begun, and every label is
split into two: one for the tokens of its set that begin the text, and one for those that do not.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from automata.arrays import BoolArray, IntArray
from automata.byte_automaton import ByteAutomaton
from tokenfst._native import TokenClasses
from tokenfst.finite.classes import NEVER
from tokenfst.finite.terminals import Terminals, token_set
from tokenfst.text_beginning import moved_ranks, moved_runs
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.text_start import SPACE, TextStart

# The prefix of the name of a label for its tokens that do not begin the text.
_SILENT = "\0"


def with_finite_beginning(automaton: ByteAutomaton, rule: TextStart) -> tuple[ByteAutomaton, list[int]]:
    """Return the automaton of L' (`tokenfst.text_beginning`), and the P origins in `automaton`, the start first.

    The last P states of the new automaton are their twins, in the same order; the first of these is its start.
    """
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
        # At the beginning, the space has a class of its own.
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
    """Return the offsets `[Q + P + 1]` and the arcs `[A, 3]` of a sparse automaton with its twins."""
    space, offsets, rows = SPACE[0], automaton.offsets.tolist(), []
    for origin in origins:
        after_prefix = automaton.step(origin, rule.prefix)
        row = [[space, space, origin]]
        if after_prefix >= 0:
            for low, high, target in automaton.arcs[offsets[after_prefix] : offsets[after_prefix + 1]].tolist():
                # Leave the space out of an arc that covers it.
                pieces = ([low, min(high, space - 1), target], [max(low, space + 1), high, target])
                row += [piece for piece in pieces if piece[0] <= piece[1]]
        rows.append(sorted(row))
        offsets.append(offsets[-1] + len(row))
    added = np.array([arc for row in rows for arc in row], np.int32)
    return np.array(offsets, np.int32), np.concatenate([automaton.arcs, added])


def _origins(automaton: ByteAutomaton) -> list[int]:
    """Return the states that the start leads to by labels alone, beginning with the start itself."""
    origins = [automaton.start]
    for origin in origins:
        origins += sorted({*automaton.by_label[origin].tolist()} - {-1, *origins})
    return origins


def _twice(automaton: ByteAutomaton, origins: list[int]) -> tuple[IntArray, tuple[str, ...]]:
    """Return the transitions by the split labels, `[Q + P, 2 L]`, and the names of these labels."""
    twin = np.full(automaton.num_states + 1, -1, np.int32)
    twin[origins] = np.arange(automaton.num_states, automaton.num_states + len(origins))
    inside = automaton.by_label
    beginning = np.concatenate([inside[origins], twin[inside[origins]]], axis=1)
    labels = (*automaton.labels, *(_SILENT + name for name in automaton.labels))
    return np.concatenate([np.concatenate([inside, inside], axis=1), beginning]), labels


def split_terminals(
    labels: Iterable[str], vocabulary: Vocabulary, terminals: Terminals, rule: TextStart
) -> dict[str, list[int]]:
    """Return the token ids of each split label of `with_finite_beginning`, by name.

    Args:
        labels: the labels before they are split.
        vocabulary: the tokens.
        terminals: the token ids of labels, by name.
        rule: what the decoder does at the start of a text.

    Raises:
        UnknownTerminal, VocabularyError: as for `tokenfst.finite.terminals.token_set`.
    """
    split: dict[str, list[int]] = {}
    for name in labels:
        split[name], split[_SILENT + name] = [], []
        for token_id in token_set(name, vocabulary, terminals).tolist():
            silent = not vocabulary.tokens[token_id] or token_id in rule.ignored
            split[_SILENT * silent + name].append(token_id)
    return split


def with_finite_exceptions(
    classes: TokenClasses, automaton: ByteAutomaton, origins: list[int], rule: TextStart, vocabulary: Vocabulary
) -> TokenClasses:
    """Correct the classes of the tokens that are exceptions to the rule.

    Args:
        classes: the classes over `with_finite_beginning(automaton, rule)`.
        automaton: the automaton of L.
        origins: its P states that have twins.
        rule: what the decoder does at the start of a text.
        vocabulary: the tokens.
    """
    begin, num_twins = automaton.num_states, len(origins)
    begins = classes.source >= begin
    leads_to = np.full((classes.num_classes, num_twins), -1, np.int32)
    leads_to[classes.edge_class[begins], classes.source[begins] - begin] = classes.target[begins]
    moved = moved_ranks(
        classes,
        rule,
        vocabulary,
        leads_to=lambda number: tuple(leads_to[number].tolist()),
        read=lambda text: tuple([automaton.step(origin, text) for origin in origins]),
        begin=tuple(range(begin, begin + num_twins)),
    )
    return _move(classes, begin, moved) if moved else classes


def _move(classes: TokenClasses, begin: int, moved: dict[tuple[int, tuple[int, ...]], list[int]]) -> TokenClasses:
    """Make a new class of each list of ranks, with the transitions of their old class except from state `begin` on."""
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
    # Drop the transitions of classes that have no tokens left.
    taken: BoolArray = np.zeros(num_classes, np.bool_)
    taken[run_class] = True
    source, edge_class, target = np.ascontiguousarray(edges[:, taken[edges[1]]])
    return TokenClasses(run_end, run_class, num_classes, source, edge_class, target)
