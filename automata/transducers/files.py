"""Check files in OpenFst's binary forms before OpenFst reads them.

    FST     header, tables of symbols, states and arcs
    FAR     keys and FSTs, one after the other (`stlist`), and then the places of the keys (`sttable`)

OpenFst trusts the counts in a file: where one is damaged, OpenFst ends the process, or takes gigabytes before it finds
that bytes are missing. So counts and lengths are compared with the size of the file first. Once the FST has been read,
`openfst.check_targets` compares the targets of its arcs with its number of states.

The states of `vector` and `const` are counted one by one. Of OpenFst's other types, which are rarely stored in files,
only the header and the tables of symbols are checked. In a FAR they are refused, because a damaged one would end the
process.

The forms are those of OpenFst 1.8: `FstHeader::Read` in `fst.h`, `SymbolTableImpl::Read`, `VectorFst` and `ConstFst`,
and `sttable.h` and `stlist.h` among the extensions for FARs. Numbers are little-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from automata.errors import FstError
from automata.openfst import arc_weights

FST_MAGIC: Final = 2125659606
STTABLE_MAGIC, STLIST_MAGIC = 2125656924, 5656924
_SYMBOLS_MAGIC: Final = 2125658996
# Flags of a header: tables of symbols follow, and states and arcs begin at multiples of 16 bytes.
_HAS_INPUT_SYMBOLS, _HAS_OUTPUT_SYMBOLS, _IS_ALIGNED = 1, 2, 4
_ALIGNMENT: Final = 16
# The types that are checked as a whole.
_WHOLE: Final = (b"const", b"vector")
# The version of `const` that is aligned without a flag.
_ALIGNED_VERSION: Final = 1
# The oldest versions that OpenFst reads; it takes an older entry of an archive for one that is not there.
_MIN_VERSIONS: Final = {b"const": 1, b"vector": 2}
# No type takes fewer bits for a state or an arc.
_MAX_PER_BYTE: Final = 8


class _Reader:
    """Reads the bytes of a file in order."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.at = 0

    def skip(self, size: int) -> None:
        """Move on by a number of bytes.

        Raises:
            FstError: fewer bytes are left, or the number is negative.
        """
        if not 0 <= size <= len(self.data) - self.at:
            raise FstError(f"the file is damaged: {size:,} bytes cannot follow byte {self.at:,}")
        self.at += size

    def number(self, form: str) -> int:
        """Read an integer: of 4 bytes for `i`, of 8 for `q`."""
        start = self.at
        self.skip(struct.calcsize(f"<{form}"))
        return int(struct.unpack_from(f"<{form}", self.data, start)[0])

    def text(self) -> bytes:
        """Read a text that is preceded by its length."""
        size = self.number("i")
        self.skip(size)
        return bytes(self.data[self.at - size : self.at])

    def utf8(self) -> str:
        """Read a text in UTF-8 that is preceded by its length.

        Raises:
            FstError: it is not UTF-8.
        """
        start = self.at
        try:
            return self.text().decode()
        except UnicodeDecodeError:
            raise FstError(f"the file is damaged: the text at byte {start:,} is not UTF-8") from None

    def expect(self, magic: int) -> None:
        """Read the number that a part begins with.

        Raises:
            FstError: the number is a different one.
        """
        if self.number("i") != magic:
            raise FstError(f"the file is damaged: a wrong number is at byte {self.at - 4:,}")

    def align(self) -> None:
        """Move on to a multiple of 16 bytes."""
        self.skip(-self.at % _ALIGNMENT)


@dataclass(frozen=True)
class _Header:
    fst_type: bytes
    arc_type: str
    weight: np.dtype[np.floating]
    is_aligned: bool
    start: int
    num_states: int
    num_arcs: int


def check_fst(data: memoryview) -> None:
    """Check the lengths and counts in the file of an FST.

    Raises:
        FstError: the file is damaged, or its weights are not supported.
    """
    _skip_fst(_Reader(data))


def check_far(data: memoryview) -> None:
    """Check all entries of a FAR, because OpenFst reads the header of the last one, whichever entry is read.

    Raises:
        FstError: the file is damaged, an entry is of a type that is not supported, or entries are of different types.
    """
    reader = _Reader(data)
    is_table = reader.number("i") == STTABLE_MAGIC
    reader.number("i")  # the version
    arc_types = set[str]()
    for key, header in _entries(reader, is_table):
        if header.fst_type not in _WHOLE:
            known = " and ".join(sorted(name.decode() for name in _WHOLE))
            raise FstError(f"entry {key!r} is of type {header.fst_type.decode(errors='replace')!r}: {known} are read")
        arc_types.add(header.arc_type)
    if len(arc_types) > 1:
        raise FstError("the file is damaged: its entries have arcs of different types")


def _entries(reader: _Reader, is_table: bool) -> Iterator[tuple[str, _Header]]:
    """Yield the key and the header of each entry; an `stlist` ends with an empty key."""
    if is_table:
        for place in _places(reader.data):
            reader.at = place
            yield reader.utf8(), _skip_fst(reader)
    else:
        while key := reader.utf8():
            yield key, _skip_fst(reader)


def _places(data: memoryview) -> tuple[int, ...]:
    """Return where the entries of an `sttable` begin."""
    reader = _Reader(data)
    reader.skip(len(data) - 8)
    count = reader.number("q")
    reader.at = 0
    reader.skip(len(data) - 8 * (count + 1) if 0 <= count < len(data) // 8 else -1)
    places = struct.unpack_from(f"<{count}q", data, reader.at)
    if places and not 0 <= min(places) <= max(places) < len(data):
        raise FstError(f"the file is damaged: not all entries begin within its {len(data):,} bytes")
    return places


def _skip_fst(reader: _Reader) -> _Header:
    """Read one FST of type `vector` or `const`; of any other type, read only the header."""
    header = _header(reader)
    if header.fst_type == b"vector":
        _skip_vector(reader, header)
    elif header.fst_type == b"const":
        _skip_const(reader, header)
    return header


def _header(reader: _Reader) -> _Header:
    reader.expect(FST_MAGIC)
    fst_type, arc_type = reader.text(), reader.text()
    version, flags = reader.number("i"), reader.number("i")
    if version < _MIN_VERSIONS.get(fst_type, version):
        raise FstError(f"the file has an FST of version {version}, which OpenFst does not read")
    reader.skip(8)  # the properties
    counts_at = reader.at
    start, num_states, num_arcs = reader.number("q"), reader.number("q"), reader.number("q")
    # -1 stands for no start, and for an unknown number of states.
    counts = start, num_states, num_arcs
    if min(counts) < -1 or max(counts) > _MAX_PER_BYTE * len(reader.data) or -1 < num_states <= start:
        raise FstError(f"the file is damaged: the start and the numbers of states and arcs at byte {counts_at:,}")
    for has_symbols in (_HAS_INPUT_SYMBOLS, _HAS_OUTPUT_SYMBOLS):
        if flags & has_symbols:
            _skip_symbols(reader)
    arcs = arc_type.decode(errors="replace")
    weight = np.dtype(arc_weights(arcs)[1])
    is_aligned = bool(flags & _IS_ALIGNED) or (fst_type == b"const" and version == _ALIGNED_VERSION)
    return _Header(fst_type, arcs, weight, is_aligned, *counts)


def _skip_symbols(reader: _Reader) -> None:
    """Read a table of symbols: its name, the next number, the number of symbols, each with its text and number."""
    reader.expect(_SYMBOLS_MAGIC)
    reader.text()
    reader.skip(8)
    for _ in range(reader.number("q")):
        reader.utf8()
        reader.skip(8)


def _skip_vector(reader: _Reader, header: _Header) -> None:
    """Read states: a weight, the number of arcs, and arcs: two labels, a weight and the target."""
    weight, arc = header.weight.itemsize, 12 + header.weight.itemsize
    num_read = 0
    while num_read != header.num_states and (header.num_states > -1 or reader.at < len(reader.data)):
        reader.skip(weight)
        reader.skip(arc * reader.number("q"))
        num_read += 1
    if header.start >= num_read:
        raise FstError(f"the file is damaged: it has {num_read:,} states, and state {header.start:,} is the start")


def _skip_const(reader: _Reader, header: _Header) -> None:
    """Read states, each with its weight, its first arc, its number of arcs and two of epsilons; and then the arcs."""
    state = np.dtype([("weight", header.weight), ("first", "<u4"), ("size", "<u4"), ("epsilons", "<u4", 2)])
    arc = np.dtype([("labels", "<i4", 2), ("weight", header.weight), ("target", "<i4")], align=True)
    if header.is_aligned:
        reader.align()
    start = reader.at
    reader.skip(state.itemsize * header.num_states)
    states = np.frombuffer(reader.data, state, header.num_states, start)
    ends = np.cumsum(states["size"], dtype=np.int64)
    if (states["first"] != ends - states["size"]).any() or states["size"].sum(dtype=np.int64) != header.num_arcs:
        raise FstError(f"the file is damaged: the states from byte {start:,} on have other arcs than there are")
    if header.is_aligned:
        reader.align()
    reader.skip(arc.itemsize * header.num_arcs)
