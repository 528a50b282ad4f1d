"""Pushdown automata over tokens in the file format of `tokenfst.storage`: their tables, array by array.

Like all that a file holds they are checked before they are used. The check goes down the context trees level by level:
on level d every move pops d symbols, so none can pop more than the path to it has read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from automata.errors import AutomatonFileError
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.pushdown.tables import PushdownTables
from tokenfst.vocabulary import Vocabulary

# Numbers of `PushdownTables` in the order of the array `sizes`; `max_depth` and `lacks_bytes` follow there.
_SIZES = ("num_states", "num_symbols", "num_classes", "start", "max_pops", "max_configurations")
_NO_MAX_DEPTH = -1

Array = npt.NDArray[Any]


def arrays_of(automaton: PushdownTokenAutomaton) -> dict[str, Array]:
    """What a file holds of an automaton."""
    tables, max_depth = automaton.tables, automaton.max_depth
    sizes = [getattr(tables, name) for name in _SIZES] + [_NO_MAX_DEPTH if max_depth is None else max_depth]
    sizes.append(int(automaton.lacks_bytes))
    runs = {"run_end": automaton.run_end, "run_class": automaton.run_class}
    return {**tables.arrays(), **runs, "sizes": np.array(sizes, np.int32)}


def from_arrays(arrays: Mapping[str, Array], vocabulary: Vocabulary, *, at_text_start: bool) -> PushdownTokenAutomaton:
    """The automaton that a file holds.

    Raises:
        AutomatonFileError: tables that do not fit together.
        KeyError: an array is missing.
    """
    sizes, runs = arrays["sizes"], (arrays["run_end"], arrays["run_class"])
    if sizes.shape != (len(_SIZES) + 2,) or any(array.dtype != np.int32 for array in arrays.values()):
        raise AutomatonFileError("the tables of the automaton do not fit together")
    names = set(arrays) - {"sizes", "run_end", "run_class"}
    *numbers, max_depth, lacks_bytes = sizes.tolist()
    parts: dict[str, Any] = {**dict(zip(_SIZES, numbers, strict=True)), **{name: arrays[name] for name in names}}
    try:
        tables = PushdownTables(**parts)
    except TypeError as error:
        raise AutomatonFileError(f"the tables of the automaton are not complete: {error}") from error
    if not (_runs_sound(*runs, tables, vocabulary) and _sound(tables) and max_depth >= _NO_MAX_DEPTH):
        raise AutomatonFileError("the tables of the automaton do not fit together")
    if lacks_bytes and max_depth != _NO_MAX_DEPTH:
        raise AutomatonFileError("the automaton has a depth that cannot be known")
    return PushdownTokenAutomaton(
        vocabulary,
        tables,
        *runs,
        at_text_start=at_text_start,
        max_depth=None if max_depth == _NO_MAX_DEPTH else max_depth,
        lacks_bytes=bool(lacks_bytes),
    )


def _runs_sound(run_end: Array, run_class: Array, tables: PushdownTables, vocabulary: Vocabulary) -> bool:
    if run_end.ndim != 1 or run_class.shape != run_end.shape:
        return False
    ends = np.concatenate([[0], run_end])
    whole = bool((np.diff(ends) > 0).all() and ends[-1] == len(vocabulary.token_of_rank))
    return whole and _within(run_class, tables.num_classes)


def _sound(tables: PushdownTables) -> bool:
    """Whether all arrays have the shapes that belong together and every index lies inside its table."""
    num_nodes = len(tables.child)
    shapes = [array.ndim for name, array in tables.arrays().items() if name != "child"]
    if set(shapes) != {1} or tables.child.shape != (num_nodes, tables.num_symbols):
        return False
    sized = len({len(tables.move_pops), len(tables.move_push), len(tables.move_target), len(tables.move_room)}) == 1
    return (
        sized
        and 0 <= tables.start < tables.num_states <= num_nodes
        and tables.max_configurations >= 1
        and len(tables.edge_class) == len(tables.edge_outcome)
        and _offsets_sound(tables.row_offsets, num_nodes, len(tables.edge_class))
        and _offsets_sound(tables.outcome_offsets, len(tables.outcome_offsets) - 1, len(tables.move_pops))
        and _offsets_sound(tables.push_offsets, len(tables.push_offsets) - 1, len(tables.push_symbols))
        and _within(tables.child + 1, num_nodes + 1)
        and _within(tables.edge_class, tables.num_classes)
        and _within(tables.edge_outcome, len(tables.outcome_offsets) - 1)
        and _within(tables.move_target, tables.num_states)
        and _within(tables.move_push, len(tables.push_offsets) - 1)
        and _within(tables.push_symbols, tables.num_symbols)
        and bool((np.diff(tables.outcome_offsets) >= 1).all())
        and (tables.max_configurations > 1 or bool((np.diff(tables.outcome_offsets) == 1).all()))
        and _ascending(tables)
        and _levels_sound(tables)
    )


def _offsets_sound(offsets: Array, size: int, total: int) -> bool:
    counts = np.diff(offsets)
    return len(counts) == size and offsets[0] == 0 and offsets[-1] == total and not (counts < 0).any()


def _ascending(tables: PushdownTables) -> bool:
    """Whether classes ascend within each row, which look-ups search by halves."""
    node = np.repeat(np.arange(len(tables.child)), np.diff(tables.row_offsets))
    return bool((np.diff(node * tables.num_classes + tables.edge_class) > 0).all())


def _levels_sound(tables: PushdownTables) -> bool:
    """Whether the moves of the nodes d symbols down pop d symbols, and nodes are no deeper than `max_pops`."""
    level = np.arange(tables.num_states)
    for pops in range(tables.max_pops + 1):
        owned = np.zeros(len(tables.child), np.bool_)
        owned[level] = True
        edges = np.repeat(owned, np.diff(tables.row_offsets))
        outcomes = np.zeros(len(tables.outcome_offsets) - 1, np.bool_)
        outcomes[tables.edge_outcome[edges]] = True
        if (tables.move_pops[np.repeat(outcomes, np.diff(tables.outcome_offsets))] != pops).any():
            return False
        level = np.unique(tables.child[level])
        level = level[level >= 0]
    return not level.size


def _within(values: Array, limit: int) -> bool:
    return not values.size or bool(values.min() >= 0 and values.max() < limit)
