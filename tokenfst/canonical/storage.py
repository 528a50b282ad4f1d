"""Canonical automata as files: safetensors, as `tokenfst.storage` has them, for the same encoder as well.

A file holds the rows and the class of each token; the pairs are the vocabulary's. It is checked before it is used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from automata.errors import AutomatonFileError, UnsupportedTokenizer
from tokenfst.bpe import NotBPE
from tokenfst.canonical.automaton import CanonicalAutomaton
from tokenfst.canonical.prepared import prepare
from tokenfst.canonical.sets import Rows
from tokenfst.vocabulary import Vocabulary

FORMAT = "tokenfst canonical automaton"
VERSION = "1"


def save(automaton: CanonicalAutomaton, path: str | Path) -> None:
    """Writes an automaton; see `CanonicalAutomaton.save`."""
    from safetensors.numpy import save_file

    rows = automaton.rows
    arrays = rows._asdict() | {"final": rows.final.astype(np.uint8), "class_of": automaton.class_of}
    save_file(arrays, str(path), _header(automaton.vocabulary))


def load(path: str | Path, vocabulary: Vocabulary) -> CanonicalAutomaton:
    """Reads an automaton; see `CanonicalAutomaton.load`."""
    from safetensors import SafetensorError, safe_open

    header = _header(vocabulary)
    try:
        with safe_open(str(path), "numpy") as file:
            found = file.metadata() or {}
            for name, value in header.items():
                if found.get(name) != value:
                    raise AutomatonFileError(f"{path}: {name} is {found.get(name)!r}, and {value!r} is expected")
            arrays = {name: file.get_tensor(name) for name in (*Rows._fields, "class_of")}
    except (SafetensorError, json.JSONDecodeError) as error:
        raise AutomatonFileError(f"{path} is not a readable automaton: {error}") from error
    if not _sound(arrays, len(vocabulary)):
        raise AutomatonFileError("the tables of the automaton do not fit together")
    rows = Rows(**{name: arrays[name] for name in Rows._fields})._replace(final=arrays["final"].astype(np.bool_))
    return CanonicalAutomaton(vocabulary, rows, arrays["class_of"], prepare(vocabulary).pairs)


def _header(vocabulary: Vocabulary) -> dict[str, str]:
    if isinstance(vocabulary.bpe, NotBPE):
        raise UnsupportedTokenizer(
            f"canonical tokenization needs the encoder of the vocabulary: {vocabulary.bpe.reason}"
        )
    return {
        "format": FORMAT,
        "version": VERSION,
        "vocabulary": vocabulary.digest,
        "encoder": vocabulary.bpe.digest,
    }


def _sound(arrays: Mapping[str, npt.NDArray[Any]], num_tokens: int) -> bool:
    """Whether all arrays have the types and shapes that belong together and every index lies inside its table."""
    offsets, number, targets, least, final, class_of = (arrays[name] for name in (*Rows._fields, "class_of"))
    if any(array.dtype != np.int32 for array in (offsets, number, targets, least, class_of)) or final.dtype != np.uint8:
        return False
    num_edges, counts = len(number), np.diff(offsets)
    shapes = [array.shape for array in (offsets, number, targets, least, class_of)]
    if shapes != [(len(final) + 1,), (num_edges,), (2, num_edges), (2, num_edges), (num_tokens,)] or final.ndim != 1:
        return False
    if len(final) < 2 or offsets[0] != 0 or (counts < 0).any() or offsets[-1] != num_edges or counts[-1]:
        return False
    num_classes = int(class_of.max()) + 1
    # Look-ups search a row by halves, so classes must ascend within it.
    place = np.repeat(np.arange(len(final)), counts) * num_classes + number
    return bool(
        (class_of >= -1).all()
        and ((number >= 0) & (number < num_classes)).all()
        and (np.diff(place) > 0).all()
        and ((targets >= -1) & (targets < len(final) - 1)).all()
        and (least >= 0).all()
    )
