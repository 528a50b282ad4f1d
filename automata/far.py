"""FAR files: archives of named FSTs, as `pynini.Far` and OpenFst's tools read them."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Protocol, TypeAlias

from automata.errors import FstError
from automata.expressions.base import Expr
from automata.openfst import Fst, openfst_module


class SupportsFst(Protocol):
    """An object that `write_far` accepts besides FSTs: an automaton over bytes or over tokens."""

    def fst(self) -> Fst:
        """Return the FST."""
        ...


Entry: TypeAlias = SupportsFst | Fst


def write_far(path: str | PathLike[str], entries: Mapping[str, Entry]) -> None:
    """Write FSTs to a FAR file, which `pynini.Far(path)` and `farextract` read.

    To write a single FST to a file of its own, use `automaton.fst().write("colour.fst")`.

    >>> from tempfile import TemporaryDirectory
    >>> import pynini
    >>> from automata import compile_expr, parse
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "spellings.far")
    ...     write_far(path, {"colour": compile_expr(parse("colou?r")), "gray": compile_expr(parse("gr[ae]y"))})
    ...     with pynini.Far(path) as far:
    ...         sorted(far["gray"].paths().ostrings())
    ['gray', 'grey']

    Args:
        path: the file.
        entries: automata over bytes or tokens, or FSTs from pynini or `pywrapfst`, by name.

    Raises:
        FstError: a name is empty, or entries have arcs of different types, such as weights in different semirings.
        TypeError: `entries` is not a mapping from names, or an entry is neither an automaton nor an FST.
        OSError: the file cannot be written.
    """
    pynini = openfst_module("pynini")

    if not isinstance(entries, Mapping) or not all(isinstance(name, str) for name in entries):
        raise TypeError("the entries of a FAR file are a mapping from names to automata or FSTs")
    if "" in entries:
        raise FstError("the name of an entry of a FAR file must not be empty")
    fsts = {name: _fst(name, entry) for name, entry in entries.items()}
    arc_type = _arc_type(fsts)
    Path(path).touch()
    with pynini.Far(fspath(path), "w", arc_type) as far:
        # OpenFst looks names up by bisection.
        for name in sorted(fsts, key=str.encode):
            far[name] = fsts[name]


def _fst(name: str, entry: Entry) -> Fst:
    pynini = openfst_module("pynini")
    pywrapfst = openfst_module("pywrapfst")

    if isinstance(entry, Expr):
        raise TypeError(f"{name!r} is an expression: compile_expr(...) makes an automaton of it")
    fst = entry if isinstance(entry, pywrapfst.Fst) else getattr(entry, "fst", lambda: None)()
    if not isinstance(fst, pywrapfst.Fst):
        raise TypeError(f"{name!r} is neither an automaton nor an FST, but {type(entry).__name__}")
    return fst if isinstance(fst, pynini.Fst) else pynini.Fst.from_pywrapfst(fst)


def _arc_type(fsts: Mapping[str, Fst]) -> str:
    """Return the arc type that all entries have; a FAR file can have only one.

    Raises:
        FstError: entries have different arc types.
    """
    types: dict[str, str] = {}
    for name, fst in fsts.items():
        types.setdefault(fst.arc_type(), name)
    if len(types) > 1:
        (one, first), (other, second), *_ = types.items()
        raise FstError(
            f"the arcs of {first!r} are of type {one!r}, those of {second!r} of type {other!r}, and a FAR file has "
            "arcs of one type: pywrapfst.arcmap maps one to the other"
        )
    return next(iter(types), "standard")
