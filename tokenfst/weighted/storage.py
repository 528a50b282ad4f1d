"""Load weighted automata over tokens from the arrays of a file."""

from __future__ import annotations

import json
from typing import get_args

from automata._native import WeightedTables
from automata.acceptor_tables import Semiring
from automata.errors import AutomatonFileError
from automata.weighted import WeightedByteAutomaton
from tokenfst.files import Saved
from tokenfst.finite import storage as finite
from tokenfst.vocabulary import Vocabulary
from tokenfst.weighted.automaton import ENDED, WeightedTokenAutomaton
from tokenfst.weighted.automaton import KIND as KIND
from tokenfst.weighted.token_costs import CostTable


def from_saved(saved: Saved, vocabulary: Vocabulary) -> WeightedTokenAutomaton:
    """Return the automaton in a file.

    Raises:
        AutomatonFileError: the tables are inconsistent.
    """
    header = saved.header
    semiring = next((known for known in get_args(Semiring) if known == header.get("semiring")), None)
    if header.get("support") != finite.KIND or semiring is None:
        raise AutomatonFileError("the file does not say what the weights are")
    support = finite.from_saved(saved, vocabulary)
    offsets, arcs = saved.array("weight_offsets"), saved.array("weight_arcs")
    cost, final = saved.array("weight_cost"), saved.array("weight_final")
    try:
        labels = {str(name): [int(token) for token in ids] for name, ids in json.loads(header["labels"]).items()}
        tables = WeightedTables.of(saved.number("weight_initial"), offsets, arcs, cost, final, len(labels))
        weighted = WeightedByteAutomaton(tables, tuple(sorted(labels)), semiring)
        table = CostTable(vocabulary, weighted, labels, begins=header["begins"] == "True")
        made = WeightedTokenAutomaton(support, table)
        if (made.byte_states == ENDED).any():  # this property follows every arc
            raise ValueError("a state is never reached")
    except (AttributeError, TypeError, ValueError, LookupError, RecursionError) as error:
        raise AutomatonFileError(f"the tables of the automaton do not fit together: {error}") from None
    return made
