"""Token automata as files: safetensors, with a format version and the vocabulary's digest in the header.

A file holds arrays and a few strings, nothing that runs when it is read. It is refused for any vocabulary but the
one it was made for, since classes mean nothing over another, and checked before it is used: an index that points
outside its table would otherwise surface as a wrong mask.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.errors import AutomatonFileError
from tokenfst.counted.transitions import Counted
from tokenfst.transitions import Csr, Dense, Transitions

if TYPE_CHECKING:
    from tokenfst.automaton import TokenAutomaton
    from tokenfst.pushdown.automaton import PushdownTokenAutomaton
    from tokenfst.vocabulary import Vocabulary

# What a file holds before it has been checked: any type of number.
Array: TypeAlias = npt.NDArray[Any]

FORMAT = "tokenfst automaton"
VERSION = "2"
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

    if not _sound(arrays, num_classes, len(vocabulary.token_of_rank)):
        raise AutomatonFileError("the tables of the automaton do not fit together")
    make = CountedAutomaton if "max_register" in arrays else TokenAutomaton
    return make(
        vocabulary,
        int(arrays["start"][0]),
        arrays["final"].astype(np.bool_),
        _transitions(arrays, num_classes),
        arrays["run_end"].astype(np.int32),
        arrays["run_class"].astype(np.int32),
        at_text_start=at_text_start,
    )


def _check_header(metadata: dict[str, str], vocabulary: Vocabulary) -> None:
    if metadata.get("format") != FORMAT:
        raise AutomatonFileError("the file does not hold a token automaton")
    if metadata.get("version") != VERSION:
        raise AutomatonFileError(f"format version {metadata.get('version')} is not {VERSION}, the one that is read")
    if metadata.get("vocabulary") != vocabulary.digest:
        raise AutomatonFileError("the automaton was made for another vocabulary")


def _transitions(arrays: Mapping[str, Array], num_classes: int) -> Transitions:
    if "max_register" in arrays:
        return _counted(arrays, num_classes)
    if "next" in arrays:
        return Dense(arrays["next"].astype(np.int32))
    return Csr(
        arrays["row_offsets"].astype(np.int64),
        arrays["edge_class"].astype(np.int32),
        arrays["edge_target"].astype(np.int32),
        num_classes,
    )


def _counted(arrays: Mapping[str, Array], num_classes: int) -> Counted:
    offsets, *columns = (arrays[f"counted_{name}"] for name in COUNTED_COLUMNS)
    return Counted(
        len(arrays["final"]),
        num_classes,
        int(arrays["max_register"][0]),
        offsets.astype(np.int64),
        *(column.astype(np.int32) for column in columns),
    )


def _sound(arrays: Mapping[str, Array], num_classes: int, num_ranks: int) -> bool:
    """Whether all arrays have the shapes that belong together and every index lies inside its table."""
    if any(array.ndim != 1 + (name == "next") or array.dtype.kind not in "iu" for name, array in arrays.items()):
        return False
    num_states = len(arrays["final"])
    start, run_end, run_class = arrays["start"], arrays["run_end"], arrays["run_class"]
    ends = np.concatenate([[0], run_end])
    return (
        len(start) == 1
        and _within(start, num_states)
        and len(run_end) == len(run_class)
        and bool((np.diff(ends) > 0).all() and ends[-1] == num_ranks)
        and _within(run_class, num_classes)
        and _form_sound(arrays)(arrays, num_states, num_classes)
    )


def _form_sound(arrays: Mapping[str, Array]) -> Callable[[Mapping[str, Array], int, int], bool]:
    if "max_register" in arrays:
        return _counted_sound
    return _dense_sound if "next" in arrays else _csr_sound


def _dense_sound(arrays: Mapping[str, Array], num_states: int, num_classes: int) -> bool:
    table = arrays["next"]
    return table.shape == (num_states, num_classes) and _within(table + 1, num_states + 1)


def _csr_sound(arrays: Mapping[str, Array], num_states: int, num_classes: int) -> bool:
    offsets, number, target = arrays["row_offsets"], arrays["edge_class"], arrays["edge_target"]
    counts = np.diff(offsets)
    if len(counts) != num_states or offsets[0] != 0 or (counts < 0).any() or offsets[-1] != len(number):
        return False
    # Look-ups search a row by halves, so classes must ascend within it.
    place = np.repeat(np.arange(num_states), counts) * num_classes + number
    return (
        len(target) == len(number)
        and _within(number, num_classes)
        and _within(target, num_states)
        and bool((np.diff(place) > 0).all())
    )


def _counted_sound(arrays: Mapping[str, Array], num_states: int, num_classes: int) -> bool:
    offsets, number, low, high, target, action = (
        arrays[f"counted_{name}"].astype(np.int64) for name in COUNTED_COLUMNS
    )
    counts, top = np.diff(offsets), int(arrays["max_register"][0]) if len(arrays["max_register"]) == 1 else -1
    if len(counts) != num_states or offsets[0] != 0 or (counts < 0).any() or offsets[-1] != len(number) or top < 0:
        return False
    if any(len(column) != len(number) for column in (low, high, target, action)):
        return False
    # Look-ups search by halves for the guard that begins last, so guards must be in order and apart.
    place = (np.repeat(np.arange(num_states), counts) * num_classes + number) * (top + 1)
    return (
        _within(number, num_classes)
        and _within(target, num_states)
        and _within(low, top + 1)
        and _within(high, top + 1)
        and _within(np.where(action >= 0, high + action, ~action), top + 1)
        and bool((low <= high).all() and (place[1:] + low[1:] > place[:-1] + high[:-1]).all())
    )


def _within(values: Array, limit: int) -> bool:
    return not values.size or bool(values.min() >= 0 and values.max() < limit)
