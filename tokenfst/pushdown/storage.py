"""Load pushdown automata over tokens from the arrays of a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from automata.errors import AutomatonFileError, EmptyLanguage
from tokenfst.files import Saved
from tokenfst.pushdown.automaton import KIND as KIND
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.pushdown.tables import ARRAYS, SIZES, PushdownTables
from tokenfst.vocabulary import Vocabulary


def from_saved(saved: Saved, vocabulary: Vocabulary) -> PushdownTokenAutomaton:
    """Return the automaton in a file.

    Raises:
        AutomatonFileError: the tables are inconsistent.
        EmptyLanguage: the automaton accepts no text.
    """
    sizes, runs = saved.array("sizes"), (saved.array("run_end"), saved.array("run_class"))
    max_depth, lacks_bytes = saved.number("max_depth"), bool(saved.number("lacks_bytes"))
    if sizes.shape != (len(SIZES),) or sizes.dtype != np.int32:
        raise AutomatonFileError("the tables of the automaton do not fit together: they have other sizes")
    if max_depth < -1 or (lacks_bytes and max_depth >= 0):
        raise AutomatonFileError("the automaton has a depth that cannot be known")
    parts: dict[str, Any] = dict(zip(SIZES, sizes.tolist(), strict=True))
    parts |= {name: saved.array(name) for name in ARRAYS}
    try:
        tables = PushdownTables(**parts)
        return PushdownTokenAutomaton.from_tables(
            vocabulary,
            tables,
            *runs,
            at_text_start=saved.at_text_start,
            max_depth=None if max_depth < 0 else max_depth,
            lacks_bytes=lacks_bytes,
        )
    except EmptyLanguage:
        raise
    except (TypeError, ValueError) as error:
        raise AutomatonFileError(f"the tables of the automaton do not fit together: {error}") from None
