"""Read and write files of token automata: safetensors with a header.

The header names the format, its version, the kind of automaton and the digest of the vocabulary. A file contains arrays
and strings; nothing in it is executed. It is refused for any other vocabulary, because token classes have no meaning
there. The native core checks the arrays before it uses them, because an index outside its table would be read outside
its memory. Damage that leaves every index in its table would give wrong masks, so the header has a checksum of all that
the file contains.

Rejected: a checksum by CRC-32 (twice as fast as SHA-256, which reads 2 GB a second; tables take megabytes).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.errors import AutomatonFileError
from tokenfst.vocabulary import Vocabulary

# An array of a file, before its type has been checked.
Array: TypeAlias = npt.NDArray[Any]

FORMAT = "tokenfst automaton"
VERSION = "6"


class Saved(NamedTuple):
    """The contents of a file.

    Attributes:
        header: strings by name, including the kind of automaton.
        arrays: the tables by name.
    """

    header: dict[str, str]
    arrays: dict[str, Array]

    @property
    def at_text_start(self) -> bool:
        """Whether the tokens of the automaton begin a text.

        Raises:
            AutomatonFileError: the header does not say.
        """
        said = self.header.get("at_text_start")
        if said not in ("True", "False"):
            raise AutomatonFileError("the file does not say where the automaton's texts begin")
        return said == "True"

    def array(self, name: str) -> Array:
        """Return the array with a name.

        Raises:
            AutomatonFileError: the file has no such array.
        """
        if name not in self.arrays:
            raise AutomatonFileError(f"the file of the automaton has no array {name!r}")
        return self.arrays[name]

    def number(self, name: str) -> int:
        """Return the integer in an array of one element.

        Raises:
            AutomatonFileError: the file has no such array, or the array is not one integer.
        """
        array = self.array(name)
        if array.shape != (1,) or array.dtype.kind not in "iu":
            raise AutomatonFileError(f"array {name!r} holds {array.dtype} {array.shape}, not one integer")
        return int(array[0])

    def flags(self, name: str) -> npt.NDArray[np.bool_]:
        """Return an array of booleans, which is saved as uint8.

        Raises:
            AutomatonFileError: the file has no such array, or the array has another type.
        """
        array = self.array(name)
        if array.dtype != np.uint8:
            raise AutomatonFileError(f"array {name!r} holds {array.dtype}, not flags")
        return array.astype(np.bool_)


def write_file(path: str | Path, vocabulary: Vocabulary, arrays: Mapping[str, Array], **header: str) -> None:
    """Write the arrays of an automaton to a file.

    Args:
        path: the file. As with `open`, an existing file keeps its mode, and a link is followed.
        vocabulary: the vocabulary of the automaton, whose digest is written.
        arrays: the tables by name.
        header: further strings of the header, including the kind of automaton.

    Raises:
        OSError: the file cannot be written.
    """
    from safetensors.numpy import save

    known = {"format": FORMAT, "version": VERSION, "vocabulary": vocabulary.digest, **header}
    tables = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    _replace(Path(path), _in_order(save(tables, {**known, "checksum": checksum(known, tables)})))


def _in_order(content: bytes) -> bytes:
    """Return a safetensors file with its header sorted, so that equal automata give equal files; the library writes the
    strings of a header in random order."""
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8:end]), sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[end:]


def _replace(path: Path, content: bytes) -> None:
    """Write a file. A concurrent reader sees either the old content or the new one."""
    target = path.resolve()
    made = target.with_name(f"{target.name}.{token_hex(8)}")
    if target.exists() and not target.is_file():
        path.write_bytes(content)  # a pipe, say
        return
    try:
        file = made.open("xb")
    except (PermissionError, FileNotFoundError):
        path.write_bytes(content)  # no file can be created in the folder; if it does not exist, the error says so
        return
    try:
        with file:
            file.write(content)
        if target.exists():
            made.chmod(S_IMODE(target.stat().st_mode))
        made.replace(target)
    except BaseException:
        made.unlink(missing_ok=True)
        raise


def checksum(header: Mapping[str, str], arrays: Mapping[str, Array]) -> str:
    """Return a checksum of what a file contains (SHA-256, hexadecimal); the order of the arrays does not matter."""
    shapes = {name: (array.dtype.str, array.shape) for name, array in arrays.items()}
    state = hashlib.sha256(json.dumps([header, shapes], sort_keys=True).encode())
    for _, array in sorted(arrays.items()):
        state.update(np.ascontiguousarray(array).data)
    return state.hexdigest()


def read_file(path: str | Path, vocabulary: Vocabulary) -> Saved:
    """Return the contents of a file that was written for the same vocabulary.

    Raises:
        AutomatonFileError: the file is damaged, or has another format, version or vocabulary.
        FileNotFoundError: there is no such file.
    """
    from safetensors import SafetensorError, safe_open

    if Path(path).is_dir():
        raise AutomatonFileError(f"{path} is a folder, not the file of an automaton")
    try:
        with safe_open(str(path), "numpy") as file:
            header = dict(file.metadata() or {})
            _check_header(header, vocabulary)
            arrays = {name: _array(file, name) for name in file.keys()}  # noqa: SIM118 (not a dictionary)
    except (SafetensorError, json.JSONDecodeError) as error:
        raise AutomatonFileError(f"{path} is not a readable automaton: {error}") from error
    if header.pop("checksum", None) != checksum(header, arrays):
        raise AutomatonFileError(f"{path} is damaged: its checksum is not that of its contents")
    return Saved(header, arrays)


def _array(file: Any, name: str) -> Array:
    """Return an array of an open file.

    Raises:
        AutomatonFileError: its type is one that the format has and NumPy lacks.
    """
    try:
        array: Array = file.get_tensor(name)
    except (AttributeError, TypeError) as error:
        raise AutomatonFileError(f"array {name!r} of the automaton cannot be read: {error}") from error
    return array


def _check_header(header: Mapping[str, str], vocabulary: Vocabulary) -> None:
    if header.get("format") != FORMAT:
        raise AutomatonFileError("the file does not hold a token automaton")
    if header.get("version") != VERSION:
        raise AutomatonFileError(f"the file has format version {header.get('version')}; this version reads {VERSION}")
    if header.get("vocabulary") != vocabulary.digest:
        raise AutomatonFileError("the automaton was made for another vocabulary")
    if "checksum" not in header:
        raise AutomatonFileError("the file has no checksum")
