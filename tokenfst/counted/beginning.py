"""The start of a text in a counted byte automaton (`tokenfst.text_beginning`).

In the added state, the register is 0. Each byte leads from it to one state with one value, so its arcs have the guard
[0, 0] and set the register. Counted automata have no labels.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from automata.counted import CountedByteAutomaton
from tokenfst._native import CountedClasses
from tokenfst.finite.classes import NEVER
from tokenfst.text_beginning import moved_ranks, moved_runs
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.text_start import SPACE, TextStart

# A state and the value of the register; None if the text is rejected.
_Configuration: TypeAlias = tuple[int, int] | None


def with_counted_beginning(automaton: CountedByteAutomaton, rule: TextStart) -> CountedByteAutomaton:
    """Return the automaton of L' (`tokenfst.text_beginning`); its start is its last state."""
    size, num_classes, begin = automaton.num_states, automaton.num_classes, automaton.num_states
    after_prefix = _read(automaton, (automaton.start, 0), rule.prefix)
    reached = [_read(automaton, after_prefix, bytes([byte])) for byte in range(256)]
    reached[SPACE[0]] = (automaton.start, 0)
    # Bytes share a class if they did before and lead from the added state to the same configuration.
    numbers: dict[tuple[int, _Configuration], int] = {}
    kinds = zip(automaton.byte_class.tolist(), reached, strict=True)
    byte_class = np.array([numbers.setdefault(kind, len(numbers)) for kind in kinds], np.uint8)
    old = np.array([column for column, _ in numbers])
    first = automaton.offsets[:-1].reshape(size, num_classes)[:, old].ravel()
    counts = np.diff(automaton.offsets).reshape(size, num_classes)[:, old].ravel()
    kept = np.arange(counts.sum()) + np.repeat(first - np.cumsum(counts) + counts, counts)
    own = [(0, 0, to[0], ~to[1]) for _, to in numbers if to]
    counts = np.concatenate([counts, [to is not None for _, to in numbers]])
    return CountedByteAutomaton.of(
        begin,
        automaton.max_register,
        len(numbers),
        byte_class,
        np.append(0, np.cumsum(counts)).astype(np.int32),
        np.concatenate([automaton.arcs[kept], np.array(own, np.int32).reshape(-1, 4)]),
        np.append(automaton.final_from, np.int32(0 if automaton.final_from[automaton.start] == 0 else -1)),
    )


def _read(automaton: CountedByteAutomaton, reached: _Configuration, text: bytes) -> _Configuration:
    """Return the configuration after a text; None if the automaton rejects it."""
    for byte in text:
        reached = automaton.step(*reached, byte) if reached else None
    return reached


def with_counted_exceptions(
    classes: CountedClasses, automaton: CountedByteAutomaton, rule: TextStart, vocabulary: Vocabulary
) -> CountedClasses:
    """Correct the classes of the tokens that are exceptions to the rule.

    Args:
        classes: the classes over `with_counted_beginning(automaton, rule)`.
        automaton: the automaton of L.
        rule: what the decoder does at the start of a text.
        vocabulary: the tokens.
    """
    begin, edges = automaton.num_states, classes.edges
    leads_to = {number: (target, ~action) for number, _, _, _, target, action in edges[edges[:, 1] == begin].tolist()}
    moved = moved_ranks(
        classes,
        rule,
        vocabulary,
        leads_to=leads_to.get,
        read=lambda text: _read(automaton, (automaton.start, 0), text),
        begin=_read(automaton, (begin, 0), b""),
    )
    return _move(classes, begin, moved) if moved else classes


def _move(classes: CountedClasses, begin: int, moved: dict[tuple[int, _Configuration], list[int]]) -> CountedClasses:
    """Make a new class of each list of ranks. It has the edges of the old class, except those that leave `begin`."""
    edges, num_classes = [classes.edges], classes.num_classes
    new_class: dict[int, int] = {}
    for (old, reached), ranks in moved.items():
        own = classes.edges[(classes.edges[:, 0] == old) & (classes.edges[:, 1] != begin)]
        own[:, 0] = num_classes
        if reached:
            leaving = np.array([[num_classes, begin, 0, 0, reached[0], ~reached[1]]], np.int32)
            own = np.concatenate([own, leaving])
        new_class |= dict.fromkeys(ranks, num_classes if len(own) else NEVER)
        num_classes += bool(len(own))
        edges.append(own)
    run_end, run_class = moved_runs(classes, new_class)
    together = np.concatenate(edges)
    # Drop the edges of classes that have no tokens left.
    return CountedClasses(run_end, run_class, num_classes, together[np.isin(together[:, 0], run_class)])
