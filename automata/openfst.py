"""The boundary with OpenFst: automata to and from flat numpy arrays, and nothing else.

    FstArrays       an automaton from OpenFst, with its labels and weights unchanged
    to_fst, to_transducer, to_arcs      automata of this project, whose symbols are numbers from 0 up

OpenFst writes and reads a binary form in which states and arcs are plain records, so an automaton is converted in one
pass over an array instead of a Python call for each arc. Label 0 is epsilon in OpenFst and in `FstArrays`. In the other
functions, symbols are numbered from 0, the label of a symbol is its number plus 1, and epsilon is `EPSILON`.

Bytes have the same labels as in pynini (token type "byte"): byte b has label b. pynini cannot represent byte 0, because
label 0 is epsilon; here it has label 256, and other symbols have labels from 257 up. So the symbol of byte b is b - 1,
and that of byte 0 is 255.

Automata are returned as `pynini.Fst`, which all functions of pynini and of `pywrapfst` accept.

The binary form (OpenFst 1.8, `fst/fst.h`, `FstHeader::Write`): magic number, type, arc type, version, flags,
properties, start, number of states, number of arcs; then for `vector` each state's weight, number of arcs and its
arcs, for `const` all states and then all arcs. An arc is input label, output label, weight, next state.

pynini is imported on first use, because most work does not need OpenFst and importing it takes longer than compiling a
pattern.

Rejected: `add_arc` (a microsecond for each arc), text with `Compiler` (even slower).
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from automata import _native
from automata.acceptor_tables import CostArray, Semiring
from automata.arrays import BoolArray, IntArray
from automata.errors import FstError

# OpenFst's Python modules have no types of their own.
Fst: TypeAlias = Any
SymbolTable: TypeAlias = Any
PdtParentheses: TypeAlias = Any

WeightArray: TypeAlias = npt.NDArray[np.float32]
Number = TypeVar("Number", int, IntArray)

EPSILON = -1
# The name of label 0 in tables of symbols, if no symbol has it.
EPSILON_NAME = "<epsilon>"

# The four numbers that end every header: properties, start, states and arcs.
_HEADER_END = struct.Struct("<Q q q q")
_MAGIC = 2125659606
_EXPANDED_MUTABLE = 0x1 | 0x2
_EXPANDED_MUTABLE_ACCEPTOR = _EXPANDED_MUTABLE | 0x10000
# The supported arc types, each with its semiring and the type of its weights.
_ARC_TYPES: Final[dict[str, tuple[Semiring, str]]] = {
    "standard": ("tropical", "<f4"),
    "log": ("log", "<f4"),
    "log64": ("log", "<f8"),
}


@dataclass(frozen=True, eq=False)
class FstArrays:
    """An automaton with Q states and A arcs as OpenFst holds it.

    Attributes:
        start: the start state, -1 if there is none.
        final: `[Q]`, the cost of ending in a state, infinite where a text must not end.
        arcs: `[A, 4]` int32, source, input label, output label and target, by source; label 0 is epsilon.
        costs: `[A]`, the cost of each arc.
        semiring: the semiring of the costs.
    """

    start: int
    final: CostArray
    arcs: IntArray
    costs: CostArray
    semiring: Semiring


def openfst_module(name: str) -> Any:
    """Import `pynini`, or `pywrapfst`, which comes with it.

    Raises:
        ImportError: pynini is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            "functions of OpenFst need pynini: `pip install pynini` on Linux with x86-64, on macOS "
            "`conda install -c conda-forge pynini`"
        ) from error


def arc_weights(arc_type: str) -> tuple[Semiring, str]:
    """Return the semiring of a type of arcs, and numpy's name for the type of its weights.

    Raises:
        FstError: its weights are neither tropical nor logarithmic.
    """
    if arc_type not in _ARC_TYPES:
        raise FstError(
            f"an FST with arcs of type {arc_type!r} is not supported: map it to 'standard', 'log' or 'log64' with "
            "pywrapfst.arcmap"
        )
    return _ARC_TYPES[arc_type]


def check_targets(fst: Fst) -> None:
    """Raise if an arc leads to no state: OpenFst's functions would end the process.

    Raises:
        FstError: an arc leads to no state.
    """
    if fst.start() >= 0 and fst.verify():
        return
    # `verify` also fails for FSTs that are valid here, such as one without a start state or with an unnamed label.
    num_states = sum(1 for _ in fst.states())
    for state in fst.states():
        for arc in fst.arcs(state):
            if not 0 <= arc.nextstate < num_states:
                raise FstError(f"an arc of state {state} leads to state {arc.nextstate}, of {num_states} states")


def read_arrays(fst: Fst) -> FstArrays:
    """Return an automaton of `pywrapfst` or `pynini`, of any type, as arrays.

    Raises:
        FstError: an arc leads to no state, or the weights are neither tropical nor logarithmic.
    """
    pywrapfst = openfst_module("pywrapfst")

    semiring, weight = arc_weights(fst.arc_type())
    check_targets(fst)
    start = fst.start()
    if start < 0 and any(True for _ in fst.states()):
        # For a cycle with weights, `convert` to const would end the process if there is no start state.
        fst = pywrapfst.convert(fst, "vector").set_start(0)
    data = pywrapfst.convert(fst, "const").write_to_string()
    # Magic number, the type and its length, the arc type and its length, version, flags, properties and start.
    *_, num_states, num_arcs = _HEADER_END.unpack_from(data, 4 + 4 + 5 + 4 + len(fst.arc_type()) + 8)
    state_type = np.dtype([("weight", weight), ("first", "<u4"), ("size", "<u4"), ("epsilons", "<u4", 2)])
    arc_dtype = np.dtype([("input", "<i4"), ("output", "<i4"), ("weight", weight), ("target", "<i4")], align=True)
    # Symbol tables come between the header and the states.
    arcs_at = len(data) - num_arcs * arc_dtype.itemsize
    arcs = np.frombuffer(data, arc_dtype, num_arcs, arcs_at)
    states = np.frombuffer(data, state_type, num_states, arcs_at - num_states * state_type.itemsize)
    source = np.repeat(np.arange(num_states, dtype=np.int32), states["size"])
    with np.errstate(invalid="ignore"):  # a weight that is not a number is refused where it is used
        final, weights = states["weight"].astype(np.float64), arcs["weight"].astype(np.float64)
    columns = np.stack([source, arcs["input"], arcs["output"], arcs["target"]], axis=1)
    return FstArrays(start, final, columns, weights, semiring)


def symbol_of_byte(byte: Number) -> Number:
    """Return the symbol of a byte, or of each byte of an array."""
    return (byte - 1) & 0xFF


def byte_of_symbol(symbol: Number) -> Number:
    """Return the byte that a symbol below 256 stands for, or that of each symbol of an array."""
    return (symbol + 1) & 0xFF


def to_fst(
    start: int,
    final: BoolArray,
    source: IntArray,
    symbol: IntArray,
    target: IntArray,
    *,
    final_weight: WeightArray | None = None,
    weight: WeightArray | None = None,
    semiring: Semiring = "tropical",
) -> Fst:
    """Return the acceptor with Q states and A arcs as a mutable OpenFst automaton.

    Args:
        start: the start state, -1 if there is none.
        final: `[Q]`.
        source, symbol, target: `[A]` each, in any order; `EPSILON` for an arc that reads nothing.
        final_weight: `[Q]`, the cost of ending in each state, which counts where a state is final; 0 by default.
        weight: `[A]`, the cost of each arc; 0 by default.
        semiring: the semiring of the costs; the arc type is "standard" for "tropical" and "log" for "log".
    """
    arcs = np.stack([source, symbol, symbol, target], axis=1).astype(np.int32)
    return _read(_EXPANDED_MUTABLE_ACCEPTOR, start, final, arcs, final_weight, weight, semiring)


def to_transducer(
    start: int, final: BoolArray, source: IntArray, ilabel: IntArray, olabel: IntArray, target: IntArray
) -> Fst:
    """Return the transducer with Q states and A arcs as a mutable OpenFst automaton; see `to_fst`.

    Args:
        start: the start state, -1 if there is none.
        final: `[Q]`.
        source, ilabel, olabel, target: `[A]` each, in any order; `EPSILON` where an arc reads or writes
            nothing.
    """
    return _read(_EXPANDED_MUTABLE, start, final, np.stack([source, ilabel, olabel, target], axis=1).astype(np.int32))


def _read(
    properties: int,
    start: int,
    final: BoolArray,
    arcs: IntArray,
    final_weight: WeightArray | None = None,
    weight: WeightArray | None = None,
    semiring: Semiring = "tropical",
) -> Fst:
    """Return the automaton with these arcs `[A, 4]`: source, input symbol, output symbol and target."""
    pynini = openfst_module("pynini")

    words = _native.vector_fst_words(final, arcs)
    if final_weight is not None or weight is not None:
        _set_weights(words.view(np.float32), final, arcs[:, 0], final_weight, weight)
    arc_type = b"standard" if semiring == "tropical" else b"log"
    header = struct.pack(f"<i i6s i{len(arc_type)}s i i", _MAGIC, 6, b"vector", len(arc_type), arc_type, 2, 0)
    header += _HEADER_END.pack(properties, start, len(final), len(arcs))
    return pynini.Fst.read_from_string(header + words.tobytes())


def _set_weights(
    words: WeightArray,
    final: BoolArray,
    source: IntArray,
    final_weight: WeightArray | None,
    weight: WeightArray | None,
) -> None:
    """Write costs into the body of the `vector` form: 3 words for a state and then 4 for each of its arcs, in the order
    in which they were given."""
    if final_weight is not None:
        before = np.cumsum(np.bincount(source, minlength=len(final))) - np.bincount(source, minlength=len(final))
        words[(3 * np.arange(len(final)) + 4 * before)[final]] = final_weight[final]
    if weight is not None:
        order = np.argsort(source, kind="stable")
        words[3 * (source[order] + 1) + 4 * np.arange(len(order)) + 2] = weight[order]


def symbol_table(names: Iterable[tuple[str, int]]) -> SymbolTable:
    """Return OpenFst's table of the names of symbols. If several symbols have one name, the first one keeps it. Label 0
    gets a name that no symbol has."""
    pywrapfst = openfst_module("pywrapfst")

    names = list(names)
    taken, epsilon = {name for name, _ in names}, EPSILON_NAME
    while epsilon in taken:
        epsilon += "'"
    table = pywrapfst.SymbolTable()
    table.add_symbol(epsilon, 0)
    for name, symbol in names:
        table.add_symbol(name, symbol + 1)
    return table


# The labels that pynini uses for `[BOS]` and `[EOS]`; as code points, these are characters for private use.
_BOUNDARIES: Final = {0xF8FE: "BOS", 0xF8FF: "EOS"}


def generated_symbols(token_type: str) -> dict[int, str]:
    """Return the names of the symbols that pynini has generated; without pynini in the process there are none.

    Args:
        token_type: how other labels are read. If they are bytes, the result includes the symbols that pynini reserves
            for the boundaries of a text.
    """
    pynini = sys.modules.get("pynini")
    if pynini is None:
        return {}
    boundaries = _BOUNDARIES if token_type == "byte" else {}
    return {**boundaries, **{label: name for label, name in pynini.generated_symbols() if label}}


def byte_symbol_table(labels: Iterable[str]) -> SymbolTable:
    """Return the table of symbols of byte automata with labels; byte 10 is named `<0x0A>`, unless a label has
    this name."""
    bytes_ = ((f"<0x{byte:02X}>", symbol_of_byte(byte)) for byte in range(256))
    return symbol_table([*((name, 256 + number) for number, name in enumerate(labels)), *bytes_])


def check_acceptor(fst: Fst, needed: str) -> None:
    """Raise unless an object is an acceptor of OpenFst.

    Args:
        fst: the object.
        needed: what the acceptor is used as, for errors.

    Raises:
        TypeError: it is not an FST.
        FstError: it is a transducer, or an arc leads to no state.
    """
    pywrapfst = openfst_module("pywrapfst")

    if not isinstance(fst, pywrapfst.Fst):
        hint = ": pynini.Fst.read(...) reads a file" if isinstance(fst, str) else ""
        raise TypeError(f"expected an FST of pynini or pywrapfst, not {type(fst).__name__}{hint}")
    check_targets(fst)
    if fst.properties(pywrapfst.ACCEPTOR, True) != pywrapfst.ACCEPTOR:
        raise FstError(
            f"a transducer cannot be used as {_with_article(needed)}: "
            'pynini.project(fst, "input"), or "output", keeps the side that is meant'
        )


def _with_article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def plain_acceptor(fst: Fst, needed: str) -> Fst:
    """Return an acceptor without weights, in the tropical semiring.

    Raises:
        TypeError: as for `check_acceptor`.
        FstError: it is a transducer or has weights, or an arc leads to no state.
    """
    pywrapfst = openfst_module("pywrapfst")

    check_acceptor(fst, needed)
    if fst.properties(pywrapfst.UNWEIGHTED, True) != pywrapfst.UNWEIGHTED:
        raise FstError('weights are not supported here: pynini.arcmap(fst, map_type="rmweight") drops them')
    return fst if fst.arc_type() == "standard" else pywrapfst.arcmap(fst, map_type="to_std")


def to_arcs(fst: Fst) -> tuple[int, BoolArray, IntArray]:
    """Return the start state (-1 for none), the final states `[Q]` and the arcs `[4, A]` of any automaton.

    An arc is source, input symbol, output symbol and target, `EPSILON` where it reads or writes nothing; arcs are
    sorted by source. Arcs of infinite weight are left out, just as a state of infinite weight is not final.
    """
    read = read_arrays(fst)
    source, ilabel, olabel, target = read.arcs[read.costs != np.inf].T
    return read.start, np.isfinite(read.final), np.stack([source, ilabel - 1, olabel - 1, target])
