"""Token automata as files: safetensors, with a format version and the vocabulary's digest in the header.

A file holds arrays and a few strings, nothing that runs when it is read. It is refused for any vocabulary but the
one it was made for, since classes mean nothing over another, and the native core checks it before it is used: an index
that points outside its table would otherwise surface as a wrong mask.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.errors import AutomatonFileError
from tokenfst.transitions import Counted, Csr, Dense, Transitions

if TYPE_CHECKING:
    from tokenfst.automaton import TokenAutomaton
    from tokenfst.pushdown.automaton import PushdownTokenAutomaton
    from tokenfst.vocabulary import Vocabulary

# What a file holds before it has been checked: any type of number.
Array: TypeAlias = npt.NDArray[Any]

FORMAT = "tokenfst automaton"
VERSION = "3"
# Attributes of `Counted`, each an array whose name in a file begins with `counted_`.
COUNTED_COLUMNS = ("row_offsets", "edge_class", "low", "high", "edge_target", "action")


def save(automaton: TokenAutomaton, path: str | Path) -> None:
    """Writes an automaton; see `TokenAutomaton.save`."""
    write(arrays_of(automaton), automaton, path)


def arrays_of(automaton: TokenAutomaton) -> dict[str, Array]:
    """What a file holds of an automaton."""
    transitions = automaton.transitions
    arrays: dict[str, Array] = {
        "start": np.array([automaton.start], np.int32),
        "final": automaton.final.astype(np.uint8),
        "run_end": automaton.run_end,
        "run_class": automaton.run_class,
    }
    if isinstance(transitions, Dense):
        arrays["next"] = transitions.next
    elif isinstance(transitions, Counted):
        arrays["max_register"] = np.array([transitions.max_register], np.int32)
        arrays |= {f"counted_{name}": getattr(transitions, name) for name in COUNTED_COLUMNS}
    else:
        arrays["row_offsets"] = transitions.row_offsets
        arrays["edge_class"] = transitions.edge_class
        arrays["edge_target"] = transitions.edge_target
    return arrays


def write(arrays: Mapping[str, Array], automaton: TokenAutomaton | PushdownTokenAutomaton, path: str | Path) -> None:
    """Writes the arrays of an automaton."""
    from safetensors.numpy import save_file

    metadata = {
        "format": FORMAT,
        "version": VERSION,
        "vocabulary": automaton.vocabulary.digest,
        "num_classes": str(automaton.num_classes),
        "at_text_start": str(automaton.at_text_start),
    }
    save_file(dict(arrays), str(path), metadata)


def load(path: str | Path, vocabulary: Vocabulary) -> TokenAutomaton | PushdownTokenAutomaton:
    """Reads an automaton, with a stack or without; see `TokenAutomaton.load`."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), "numpy") as file:
            _check_header(file.metadata() or {}, vocabulary)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dictionary)
            num_classes = int(file.metadata()["num_classes"])
            at_text_start = {"True": True, "False": False}[file.metadata()["at_text_start"]]
    except (SafetensorError, json.JSONDecodeError, KeyError, ValueError) as error:
        if isinstance(error, AutomatonFileError):
            raise
        raise AutomatonFileError(f"{path} is not a readable automaton: {error}") from error
    try:
        if "child" in arrays:
            from tokenfst.pushdown.storage import from_arrays

            return from_arrays(arrays, vocabulary, at_text_start=at_text_start)
        return _without_stack(arrays, vocabulary, num_classes, at_text_start)
    except KeyError as error:
        raise AutomatonFileError(f"{path} has no array {error}") from error


def _without_stack(
    arrays: Mapping[str, Array], vocabulary: Vocabulary, num_classes: int, at_text_start: bool
) -> TokenAutomaton:
    from tokenfst.automaton import TokenAutomaton
    from tokenfst.counted.automaton import CountedAutomaton

    make = CountedAutomaton if "max_register" in arrays else TokenAutomaton
    transitions = _transitions(arrays, num_classes)
    final, runs = arrays["final"].astype(np.bool_), (arrays["run_end"], arrays["run_class"])
    try:
        start = _number(arrays["start"])
        automaton = make.from_transitions(vocabulary, start, final, transitions, *runs, at_text_start=at_text_start)
    except (TypeError, ValueError) as error:
        raise AutomatonFileError(f"the tables of the automaton do not fit together: {error}") from None
    if automaton.num_classes != num_classes:
        raise AutomatonFileError("the tables of the automaton do not fit together: their classes differ")
    return automaton


def _check_header(metadata: dict[str, str], vocabulary: Vocabulary) -> None:
    if metadata.get("format") != FORMAT:
        raise AutomatonFileError("the file does not hold a token automaton")
    if metadata.get("version") != VERSION:
        raise AutomatonFileError(f"format version {metadata.get('version')} is not {VERSION}, the one that is read")
    if metadata.get("vocabulary") != vocabulary.digest:
        raise AutomatonFileError("the automaton was made for another vocabulary")


def _transitions(arrays: Mapping[str, Array], num_classes: int) -> Transitions:
    if "max_register" in arrays:
        columns = [arrays[f"counted_{name}"] for name in COUNTED_COLUMNS]
        return Counted(_number(arrays["max_register"]), num_classes, *columns)
    if "next" in arrays:
        return Dense(arrays["next"])
    return Csr(arrays["row_offsets"], arrays["edge_class"], arrays["edge_target"], num_classes)


def _number(array: Array) -> int:
    """The one number that an array of a file holds."""
    if array.shape != (1,) or array.dtype.kind not in "iu":
        raise AutomatonFileError(f"an array of the automaton holds {array.dtype} {array.shape}, and not one number")
    return int(array[0])
