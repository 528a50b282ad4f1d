"""Token automata as files: safetensors, with a format version and the vocabulary's digest in the header.

A file holds arrays and two strings, nothing that runs when it is read. It is refused for any vocabulary but the one it
was made for, since classes mean nothing over another, and checked before it is used: an index that points outside its
table would otherwise surface as a wrong mask.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from automata.errors import AutomatonFileError
from tokenfst.transitions import Csr, Dense, Transitions

if TYPE_CHECKING:
    from tokenfst.automaton import TokenAutomaton
    from tokenfst.vocabulary import Vocabulary

FORMAT = "tokenfst automaton"
VERSION = "1"


def save(automaton: TokenAutomaton, path: str | Path) -> None:
    """Writes an automaton; see `TokenAutomaton.save`."""
    from safetensors.numpy import save_file

    transitions = automaton.transitions
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "start": np.array([automaton.start], np.int32),
        "final": automaton.final.astype(np.uint8),
        "run_end": automaton.run_end,
        "run_class": automaton.run_class,
    }
    if isinstance(transitions, Dense):
        arrays["next"] = transitions.next
    else:
        arrays["row_offsets"] = transitions.row_offsets
        arrays["edge_class"] = transitions.edge_class
        arrays["edge_target"] = transitions.edge_target
    metadata = {
        "format": FORMAT,
        "version": VERSION,
        "vocabulary": automaton.vocabulary.digest,
        "num_classes": str(automaton.num_classes),
    }
    save_file(arrays, str(path), metadata)


def load(path: str | Path, vocabulary: Vocabulary) -> TokenAutomaton:
    """Reads an automaton; see `TokenAutomaton.load`."""
    from safetensors import SafetensorError, safe_open

    from tokenfst.automaton import TokenAutomaton

    try:
        with safe_open(str(path), "numpy") as file:
            _check_header(file.metadata() or {}, vocabulary)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dictionary)
            num_classes = int(file.metadata()["num_classes"])
    except (SafetensorError, json.JSONDecodeError, KeyError, ValueError) as error:
        if isinstance(error, AutomatonFileError):
            raise
        raise AutomatonFileError(f"{path} is not a readable automaton: {error}") from error
    try:
        transitions = _transitions(arrays, num_classes)
        parts = arrays["start"], arrays["final"].astype(np.bool_), arrays["run_end"], arrays["run_class"]
    except KeyError as error:
        raise AutomatonFileError(f"{path} has no array {error}") from error
    start, final, run_end, run_class = parts
    _check_tables(transitions, int(start[0]), final, run_end, run_class, vocabulary)
    return TokenAutomaton(vocabulary, int(start[0]), final, transitions, run_end, run_class)


def _check_header(metadata: dict[str, str], vocabulary: Vocabulary) -> None:
    if metadata.get("format") != FORMAT:
        raise AutomatonFileError("the file does not hold a token automaton")
    if metadata.get("version") != VERSION:
        raise AutomatonFileError(
            f"format version {metadata.get('version')} is not {VERSION}, the one that is read"
        )
    if metadata.get("vocabulary") != vocabulary.digest:
        raise AutomatonFileError("the automaton was made for another vocabulary")


def _transitions(arrays: dict[str, npt.NDArray[np.generic]], num_classes: int) -> Transitions:
    if "next" in arrays:
        return Dense(arrays["next"].astype(np.int32))
    return Csr(
        arrays["row_offsets"].astype(np.int64),
        arrays["edge_class"].astype(np.int32),
        arrays["edge_target"].astype(np.int32),
        num_classes,
    )


def _check_tables(
    transitions: Transitions,
    start: int,
    final: npt.NDArray[np.bool_],
    run_end: npt.NDArray[np.int32],
    run_class: npt.NDArray[np.int32],
    vocabulary: Vocabulary,
) -> None:
    num_states, num_classes = transitions.num_states, transitions.num_classes
    _, number, target = transitions.edges()
    num_ranks = len(vocabulary.token_of_rank)
    sound = (
        0 <= start < num_states
        and final.shape == (num_states,)
        and run_end.shape == run_class.shape
        and (
            run_end[-1] == num_ranks and bool((np.diff(run_end, prepend=0) > 0).all())
            if num_ranks
            else not len(run_end)
        )
        and _within(run_class, num_classes)
        and _within(number, num_classes)
        and _within(target, num_states)
        and (not isinstance(transitions, Csr) or bool((np.diff(transitions.row_offsets) >= 0).all()))
    )
    if not sound:
        raise AutomatonFileError("the tables of the automaton do not fit together")


def _within(values: npt.NDArray[np.int32], limit: int) -> bool:
    return not len(values) or bool(values.min() >= 0 and values.max() < limit)
