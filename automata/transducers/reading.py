"""Convert the arrays of an FST to a transducer over bytes and labels.

    FstArrays -> useful states -> symbols -> runs of symbols -> bytes -> TransducerTables

An acceptor is read in the same way, as a transducer that writes what it reads. The states of the FST are renumbered,
with the start first and a new end, which final states reach by epsilon arcs with their final costs.

With a separator between symbols, there are three copies of each state: one before the first symbol, one after a symbol,
and one after the separator that follows, from which the next symbol is written. There is no separator next to names of
tokens; the symbol after a name is again a first symbol. The separator is an arc of its own, so that determinization
visits the symbols after it once, and not after every symbol before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from automata.acceptor_tables import ArcCosts, CostArray, Semiring
from automata.arrays import IntArray
from automata.errors import FstError
from automata.graph import distances
from automata.limits import Work
from automata.openfst import FstArrays
from automata.transducer_tables import NOTHING, SAME, TransducerTables, ascending
from automata.transducers.arcs import INPUT, OUTPUT, Arcs
from automata.transducers.symbols import Names, Symbols, TokenType, check_separator, symbols_of

# The columns of `FstArrays.arcs`.
INPUT_LABEL: Final = 1
OUTPUT_LABEL: Final = 2


@dataclass(frozen=True)
class LabelArcs:
    """The useful part of an FST. State 0 is the start and state 1 the end, and `arcs` is as in `FstArrays`."""

    num_states: int
    arcs: IntArray
    costs: CostArray
    semiring: Semiring

    @property
    def is_acceptor(self) -> bool:
        """Whether every arc writes what it reads."""
        return bool((self.arcs[:, 1] == self.arcs[:, 2]).all())


def useful(fst: FstArrays, work: Work) -> LabelArcs:
    """Return the arcs on paths from the start to a final state.

    Raises:
        FstError: a weight is not a number, or minus infinity.
        LimitExceeded, Cancelled: the compilation has to stop.
    """
    for costs in (fst.costs, fst.final):
        if np.isnan(costs).any() or (costs == -np.inf).any():
            raise FstError("the FST has a weight that is not a number, or minus infinity")
    num_states = len(fst.final) + 2
    ends = np.flatnonzero(np.isfinite(fst.final)).astype(np.int32)
    kept = np.isfinite(fst.costs)
    arcs = np.zeros((kept.sum() + len(ends), 4), np.int32)
    arcs[: -len(ends) or None] = fst.arcs[kept]
    arcs[:, [0, 3]] += 2
    arcs[len(arcs) - len(ends) :, 0], arcs[len(arcs) - len(ends) :, 3] = ends + 2, 1
    costs = np.concatenate([fst.costs[kept], fst.final[ends]])
    return _trim(num_states, fst.start + 2, LabelArcs(num_states, arcs, costs, fst.semiring), work)


def _trim(num_states: int, start: int, fst: LabelArcs, work: Work) -> LabelArcs:
    """Return the arcs on paths from the start to state 1. States are numbered again: the start is 0, and 1 stays 1."""
    source, target = fst.arcs[:, 0], fst.arcs[:, 3]
    states = np.arange(num_states)
    is_useful = (distances(source, target, states == 1, work) >= 0) & (
        distances(target, source, states == start, work) >= 0
    )
    number_of = np.cumsum(is_useful & (states != 1) & (states != start), dtype=np.int32) + 1
    number_of[start], number_of[1] = 0, 1
    kept = is_useful[source] & is_useful[target]
    arcs = fst.arcs[kept]
    arcs[:, 0], arcs[:, 3] = number_of[arcs[:, 0]], number_of[arcs[:, 3]]
    return LabelArcs(max(int(is_useful.sum()), 2), arcs, fst.costs[kept], fst.semiring)


def tables_of_fst(
    fst: LabelArcs, token_types: Sequence[TokenType], separator: str | None, work: Work
) -> TransducerTables:
    """Return the transducer over bytes and labels of an FST.

    Args:
        fst: the arcs of the FST.
        token_types: how its labels are read; one for both sides, or one for its input and one for its output.
        separator: the text between the symbols of a symbol table.
        work: the limits.

    Raises:
        FstError, TypeError, ValueError: see `symbols_of`.
        LimitExceeded, Cancelled: the compilation has to stop.
    """
    if separator is not None:
        check_separator(separator)
        if all(isinstance(each, str) for each in token_types):
            raise ValueError("a separator stands between the symbols of a symbol table, and there is none")
    names = Names()
    copies = len(token_types) == 1 and fst.is_acceptor
    columns = (INPUT_LABEL,) if copies else (INPUT_LABEL, OUTPUT_LABEL)
    read = LabelArcs(fst.num_states, fst.arcs.copy(), fst.costs, fst.semiring)
    symbols: list[Symbols] = []
    for column, token_type in zip(columns, [*token_types, *token_types], strict=False):
        labels = np.unique(fst.arcs[:, [INPUT_LABEL, OUTPUT_LABEL] if len(token_types) == 1 else [column]])
        if separator:
            labels = np.union1d(labels, [0]).astype(np.int32)  # the arc over a separator has nothing on the other side
        own = symbols_of(labels, token_type, separator, names)
        # Replace labels by their places among the symbols.
        read.arcs[:, column] = np.searchsorted(labels, read.arcs[:, column])
        if separator and not isinstance(token_type, str):
            read, own = _separated(read, column, own, work), own.with_separator(separator)
        symbols.append(own)
    if copies:
        read.arcs[:, OUTPUT_LABEL] = read.arcs[:, INPUT_LABEL]
        symbols *= 2
    spelled = _spelled(read, symbols, may_copy=len(token_types) == 1).joined()
    texts = [side for side, own in zip((INPUT, OUTPUT), symbols, strict=True) if own.is_text]
    return _tables(spelled.in_utf8(texts), names, fst.semiring)


def _separated(fst: LabelArcs, column: int, symbols: Symbols, work: Work) -> LabelArcs:
    """Return the arcs with a separator between the symbols of one side (`Symbols.with_separator`)."""
    size = fst.num_states
    is_name = symbols.are_names()[fst.arcs[:, column]]
    is_word = (symbols.sizes[fst.arcs[:, column]] > 0) & ~is_name
    reads = is_word | is_name
    source, target = fst.arcs[~reads, 0], fst.arcs[~reads, 3]
    starts = np.zeros(size, bool)
    starts[fst.arcs[is_name, 3]] = starts[0] = True
    is_first = distances(target, source, starts, work) >= 0
    from_first = is_first[fst.arcs[:, 0]]
    first, after = fst.arcs[from_first].copy(), fst.arcs.copy()
    first[is_word[from_first], 3] += size
    after[:, 0] += np.where(is_word, 2 * size, size)
    after[~is_name, 3] += size
    before_words = np.unique(fst.arcs[is_word, 0])
    separators = np.zeros((len(before_words), 4), np.int32)
    separators[:, 0], separators[:, column], separators[:, 3] = before_words + size, len(symbols.labels), before_words
    separators[:, 3] += 2 * size
    arcs = np.concatenate([first, after, separators])
    arcs[arcs[:, 3] == size + 1, 3] = 1  # no arc leaves the end, so its copies are one state
    costs = np.concatenate([fst.costs[from_first], fst.costs, np.zeros(len(separators))])
    return LabelArcs(3 * size, arcs, costs, fst.semiring)


def _spelled(fst: LabelArcs, symbols: Sequence[Symbols], *, may_copy: bool) -> Arcs:
    """Return arcs over codes: each arc over a symbol as a chain over what the symbol stands for."""
    is_copied = may_copy & (fst.arcs[:, INPUT_LABEL] == fst.arcs[:, OUTPUT_LABEL])
    rows = np.full((len(fst.arcs), 6), NOTHING, np.int32)
    rows[:, 0], rows[:, 5] = fst.arcs[:, 0], fst.arcs[:, 3]
    rows[is_copied, OUTPUT] = SAME
    read = symbols[0].spelled(fst.arcs[:, INPUT_LABEL])
    written = symbols[1].spelled(fst.arcs[:, OUTPUT_LABEL], without=is_copied)
    return Arcs(fst.num_states, rows, fst.costs).chained([read, written])


def _tables(arcs: Arcs, names: Names, semiring: Semiring) -> TransducerTables:
    labels = tuple(sorted(names.codes))
    arcs = arcs.with_labels(np.array([names.codes[name] for name in labels], np.int32))
    is_epsilon = (arcs.rows[:, INPUT] == NOTHING) & (arcs.rows[:, OUTPUT] == NOTHING)
    rows, epsilon = arcs.rows[~is_epsilon], np.ascontiguousarray(arcs.rows[is_epsilon][:, [0, 5]])
    order = ascending(rows)
    weighted = ArcCosts(semiring, arcs.costs[~is_epsilon][order], arcs.costs[is_epsilon])
    return TransducerTables(arcs.num_states, rows[order], epsilon, labels, weighted if arcs.costs.any() else None)
