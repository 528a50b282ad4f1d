"""Pushdown automata over tokens in the file format of `tokenfst.storage`: their tables, array by array.

Like all that a file holds they are checked before they are used, by the native core (`PushdownTables`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from automata.errors import AutomatonFileError, EmptyLanguage
from tokenfst.pushdown import tables
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.pushdown.tables import PushdownTables
from tokenfst.vocabulary import Vocabulary

# Numbers of `PushdownTables` in the order of the array `sizes`; `max_depth` and `lacks_bytes` follow there.
_SIZES = ("num_states", "num_symbols", "num_classes", "start", "max_pops", "max_configurations")
_NO_MAX_DEPTH = -1
_RUNS = ("run_end", "run_class")

Array = npt.NDArray[Any]


def arrays_of(automaton: PushdownTokenAutomaton) -> dict[str, Array]:
    """What a file holds of an automaton."""
    sizes = [getattr(automaton.tables, name) for name in _SIZES]
    sizes += [_NO_MAX_DEPTH if automaton.max_depth is None else automaton.max_depth, int(automaton.lacks_bytes)]
    runs = {name: getattr(automaton, name) for name in _RUNS}
    arrays = {**tables.arrays_of(automaton.tables), **runs, "sizes": np.array(sizes, np.int32)}
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def from_arrays(arrays: Mapping[str, Array], vocabulary: Vocabulary, *, at_text_start: bool) -> PushdownTokenAutomaton:
    """The automaton that a file holds.

    Raises:
        AutomatonFileError: tables that do not fit together.
        KeyError: an array is missing.
    """
    sizes, runs = arrays["sizes"], [arrays[name] for name in _RUNS]
    if sizes.shape != (len(_SIZES) + 2,) or sizes.dtype != np.int32:
        raise AutomatonFileError("the tables of the automaton do not fit together: they have other sizes")
    *numbers, max_depth, lacks_bytes = sizes.tolist()
    parts: dict[str, Any] = {name: array for name, array in arrays.items() if name not in ("sizes", *_RUNS)}
    if max_depth < _NO_MAX_DEPTH or (lacks_bytes and max_depth != _NO_MAX_DEPTH):
        raise AutomatonFileError("the automaton has a depth that cannot be known")
    try:
        return PushdownTokenAutomaton.from_tables(
            vocabulary,
            PushdownTables(**dict(zip(_SIZES, numbers, strict=True)), **parts),
            *runs,
            at_text_start=at_text_start,
            max_depth=None if max_depth == _NO_MAX_DEPTH else max_depth,
            lacks_bytes=bool(lacks_bytes),
        )
    except EmptyLanguage:
        raise
    except (TypeError, ValueError) as error:
        raise AutomatonFileError(f"the tables of the automaton do not fit together: {error}") from None
