"""The sources of FSTs: an object of `pynini` or `pywrapfst`, a file, or an entry of a FAR (an archive of FSTs)."""

from __future__ import annotations

import struct
from os import PathLike
from pathlib import Path
from typing import Any, Final

from automata.errors import FstError, wrong_type
from automata.fst_type import is_fst
from automata.openfst import Fst, openfst_module

# The first four bytes of files (OpenFst 1.8: `fst/fst.h`, `extensions/far/sttable.h` and `stlist.h`).
_FST: Final = 2125659606
_FARS: Final = (2125656924, 5656924)
_MOST_KEYS: Final = 20


def fst_of(source: Any, key: str | None) -> Fst:
    """Return an FST.

    Args:
        source: an FST, or the path of a file that holds one, or of a FAR.
        key: the key of an entry, if the file is a FAR; None if the file holds one FST.

    Raises:
        FstError: there is no such file or entry, or the file does not hold an FST.
        TypeError: `source` is neither an FST nor a path, or it is an FST and a key is given.
    """
    if is_fst(source):
        if key is not None:
            raise TypeError("a key names an entry of a FAR file, and this is an FST")
        return source
    if not isinstance(source, str | PathLike):
        raise wrong_type("an FST of pynini or pywrapfst, or the path of a file", source)
    path = Path(source)
    magic = _magic(path)
    if magic in _FARS:
        return _far_entry(path, key)
    if key is not None:
        raise FstError(f"{path} is not a FAR, and a key names an entry of one")
    if magic != _FST:
        raise FstError(f"{path} holds no FST in OpenFst's binary form (fstcompile makes it from text)")
    pywrapfst = openfst_module("pywrapfst")

    try:
        return pywrapfst.Fst.read(str(path))
    except pywrapfst.FstIOError as error:
        raise FstError(f"OpenFst cannot read {path}: {error}") from None


def _magic(path: Path) -> int:
    try:
        with path.open("rb") as file:
            head = file.read(4)
    except OSError as error:
        raise FstError(f"{path} cannot be read: {error.strerror}") from None
    return int(struct.unpack("<i", head)[0]) if len(head) == 4 else 0


def _far_entry(path: Path, key: str | None) -> Fst:
    pywrapfst = openfst_module("pywrapfst")

    try:
        reader = pywrapfst.FarReader.open(str(path))
    except pywrapfst.FstIOError as error:
        raise FstError(f"OpenFst cannot read {path}: {error}") from None
    if key is not None and reader.find(key):
        return reader.get_fst()
    keys: list[str] = []
    reader.reset()
    while not reader.done():
        keys.append(repr(reader.get_key()))
        reader.next()
    shown = ", ".join(keys[:_MOST_KEYS]) + (", ..." if len(keys) > _MOST_KEYS else "") or "none"
    if key is None:
        raise FstError(f"{path} is a FAR: transducer_of or from_fst with key= reads one of its entries: {shown}")
    raise FstError(f"{path} has no entry {key!r}; its keys are {shown}")
