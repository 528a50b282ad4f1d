"""Canonical automata as files: safetensors, as `tokenfst.storage` has them, for the same encoder as well.

A file holds the rows and the class of each token; the pairs are the vocabulary's. The native core checks it before it
is used.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from automata.errors import AutomatonFileError, UnsupportedTokenizer
from tokenfst.bpe import NotBPE
from tokenfst.canonical.automaton import CanonicalAutomaton, Rows
from tokenfst.canonical.prepared import prepare
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
    rows = Rows(**{name: arrays[name] for name in Rows._fields})
    try:
        rows = rows._replace(final=_flags(rows.final))
        return CanonicalAutomaton.from_rows(vocabulary, rows, arrays["class_of"], prepare(vocabulary).pairs)
    except (TypeError, ValueError) as error:
        raise AutomatonFileError(f"the tables of the automaton do not fit together: {error}") from None


def _flags(array: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if array.dtype != np.uint8:
        raise TypeError(f"flags are bytes, not {array.dtype}")
    return array.astype(np.bool_)


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
