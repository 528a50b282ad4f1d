"""The sources of FSTs: an object of `pynini` or `pywrapfst`, a file, or an entry of a FAR (an archive of FSTs)."""

from __future__ import annotations

from mmap import ACCESS_READ, mmap
from os import PathLike
from pathlib import Path
from typing import Any, Final

from automata.errors import FstError, wrong_type
from automata.fst_type import is_fst
from automata.openfst import Fst, openfst_module
from automata.transducers.files import FST_MAGIC, STLIST_MAGIC, STTABLE_MAGIC, check_far, check_fst

_MAX_KEYS: Final = 20


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
    try:
        with path.open("rb") as file:
            magic = int.from_bytes(file.read(4), "little")
            is_fst_file = magic in (FST_MAGIC, STTABLE_MAGIC, STLIST_MAGIC)
            data = mmap(file.fileno(), 0, access=ACCESS_READ) if is_fst_file else b""
    except (OSError, ValueError) as error:  # a null byte or a lone surrogate
        reason = error.strerror if isinstance(error, OSError) else error
        raise FstError(f"{path} cannot be read: {reason}") from None
    try:
        return _read(path, magic, memoryview(data), key)
    except openfst_module("pywrapfst").FstError as error:
        raise FstError(f"OpenFst cannot read {path}: {error}") from None


def _read(path: Path, magic: int, data: memoryview, key: str | None) -> Fst:
    is_far = magic in (STTABLE_MAGIC, STLIST_MAGIC)
    if not is_far and magic != FST_MAGIC:
        raise FstError(f"{path} holds no FST in OpenFst's binary form (fstcompile makes it from text)")
    if not is_far and key is not None:
        raise FstError(f"{path} is not a FAR, and a key names an entry of one")
    try:
        check_far(data) if is_far else check_fst(data)
    except FstError as error:
        raise FstError(f"{path}: {error}") from None
    if not is_far:
        return openfst_module("pywrapfst").Fst.read(str(path))
    return _far_entry(path, key, can_find=magic == STTABLE_MAGIC)


def _far_entry(path: Path, key: str | None, *, can_find: bool) -> Fst:
    reader = openfst_module("pywrapfst").FarReader.open(str(path))
    if can_find and key is not None:
        if reader.find(key):
            return reader.get_fst()
        reader.reset()
    keys: list[str] = []
    while not reader.done():
        if reader.get_key() == key:
            return reader.get_fst()
        keys.append(repr(reader.get_key()))
        reader.next()
    shown = ", ".join(keys[:_MAX_KEYS]) + (", ..." if len(keys) > _MAX_KEYS else "") or "none"
    if key is None:
        raise FstError(f"{path} is a FAR: transducer_of or from_fst with key= reads one of its entries: {shown}")
    raise FstError(f"{path} has no entry {key!r}; its keys are {shown}")
