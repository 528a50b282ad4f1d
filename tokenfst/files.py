"""Files of token automata: safetensors whose header names the format, its version, the kind and the vocabulary.

A file holds arrays and a few strings, and nothing in it is executed. It is refused for any vocabulary but the one that
it was made for, since classes mean nothing over another. The native core checks the arrays before they are used: an
index outside its table would otherwise surface as a wrong mask.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.errors import AutomatonFileError
from tokenfst.vocabulary import Vocabulary

# The contents of a file before they have been checked: numbers of any type.
Array: TypeAlias = npt.NDArray[Any]

FORMAT = "tokenfst automaton"
VERSION = "4"


class Saved(NamedTuple):
    """The contents of a file.

    Attributes:
        header: strings, the kind of automaton among them.
        arrays: the tables by name.
    """

    header: dict[str, str]
    arrays: dict[str, Array]

    @property
    def at_text_start(self) -> bool:
        """Whether the automaton's tokens are a text of their own.

        Raises:
            AutomatonFileError: the file does not say.
        """
        said = self.header.get("at_text_start")
        if said not in ("True", "False"):
            raise AutomatonFileError("the file does not say where the automaton's texts begin")
        return said == "True"

    def array(self, name: str) -> Array:
        """Return an array.

        Raises:
            AutomatonFileError: the file has no such array.
        """
        if name not in self.arrays:
            raise AutomatonFileError(f"the file of the automaton has no array {name!r}")
        return self.arrays[name]

    def number(self, name: str) -> int:
        """Return the number that an array of one element holds.

        Raises:
            AutomatonFileError: the file has no such array, or it holds something else.
        """
        array = self.array(name)
        if array.shape != (1,) or array.dtype.kind not in "iu":
            raise AutomatonFileError(f"array {name!r} holds {array.dtype} {array.shape}, not one integer")
        return int(array[0])

    def flags(self, name: str) -> npt.NDArray[np.bool_]:
        """Return an array of flags, which is saved as bytes.

        Raises:
            AutomatonFileError: the file has no such array, or it holds something else.
        """
        array = self.array(name)
        if array.dtype != np.uint8:
            raise AutomatonFileError(f"array {name!r} holds {array.dtype}, not flags")
        return array.astype(np.bool_)


def write_file(path: str | Path, vocabulary: Vocabulary, arrays: Mapping[str, Array], **header: str) -> None:
    """Write arrays; `header` names the kind of automaton, and more."""
    from safetensors.numpy import save_file

    known = {"format": FORMAT, "version": VERSION, "vocabulary": vocabulary.digest}
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, str(path), known | header)


def read_file(path: str | Path, vocabulary: Vocabulary) -> Saved:
    """Read a file that was written for the same vocabulary.

    Raises:
        AutomatonFileError: the file is damaged, or has another format, version or vocabulary.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), "numpy") as file:
            header = dict(file.metadata() or {})
            _check_header(header, vocabulary)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dictionary)
    except (SafetensorError, json.JSONDecodeError) as error:
        raise AutomatonFileError(f"{path} is not a readable automaton: {error}") from error
    return Saved(header, arrays)


def _check_header(header: Mapping[str, str], vocabulary: Vocabulary) -> None:
    if header.get("format") != FORMAT:
        raise AutomatonFileError("the file does not hold a token automaton")
    if header.get("version") != VERSION:
        raise AutomatonFileError(f"the file has format version {header.get('version')}; this version reads {VERSION}")
    if header.get("vocabulary") != vocabulary.digest:
        raise AutomatonFileError("the automaton was made for another vocabulary")
