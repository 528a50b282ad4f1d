"""The functions that take FSTs: `from_fst`, `transducer_of`, `image` and `preimage`."""

from __future__ import annotations

from os import PathLike
from typing import Any, Final, TypeAlias

from automata import expressions as ex
from automata.acceptor_tables import AcceptorTables
from automata.byte_automaton import ByteAutomaton
from automata.compilable import Compilable
from automata.compile.composition import tables_of
from automata.epsilon_cycles import check_epsilon_cycles
from automata.errors import FstError, LimitExceeded, wrong_type
from automata.expressions import Expr
from automata.fst_type import is_fst
from automata.limits import Work, current_work
from automata.openfst import Fst, read_arrays
from automata.transducer_tables import TransducerTables
from automata.transducers.arcs import INPUT
from automata.transducers.reading import LabelArcs, tables_of_fst, useful
from automata.transducers.sources import fst_of
from automata.transducers.symbols import TokenType

# The types in which a language can be given; `Any` is an FST.
Language: TypeAlias = Expr | ByteAutomaton | Compilable | str | bytes | Any

# Bytes of memory for an arc in the arrays from which its byte arcs are made.
_ARC_BYTES: Final = 400
_TAKES_TRANSDUCERS: Final = (
    "and an acceptor is needed: automata.image(constraint, fst) is what it writes, automata.preimage(fst, constraint) "
    "what it reads"
)


def from_fst(
    fst: Fst | str | PathLike[str],
    token_type: TokenType | None = None,
    *,
    separator: str | None = None,
    key: str | None = None,
) -> Expr:
    """Return the language of an OpenFst acceptor, with its weights if any of them is not trivial.

    Args:
        fst: an FST from `pynini` or `pywrapfst` with arcs of type "standard", "log" or "log64", or the path of a file.
        token_type: what labels stand for. "byte": bytes, as in pynini's strings. "utf8": code points. A symbol table
            of `pywrapfst`: symbols are text, except that `<...>` and `[...]` are the names of tokens (`Label`). A
            mapping from labels to texts or to `Label(name)`. None: the FST's symbol table if it has one, else
            "byte". Symbols that pynini has generated, `[name]` in its strings, are names of tokens too.
        separator: the text between the symbols of a table, such as " " for words and "" for pieces of words. It is
            required if a symbol has more than one character. No separator is put next to names of tokens.
        key: the key of an entry, if the file is a FAR.

    Raises:
        FstError: the FST is a transducer (`image` and `preimage` take these); a label stands for nothing; a weight is
            not a number; weights leave a text without a cost; or the file has no such FST. The message says which.
        TypeError: `fst` is neither an FST nor a path, or it is an FST and a key is given; or there is no such token
            type.
        ValueError: there is no such token type, or a separator is given without a symbol table.
        LimitExceeded, Cancelled: the current compilation has to stop.
    """
    work = current_work()
    opened = fst_of(fst, key)
    types = _token_types(opened, token_type)
    if token_type is None:
        types = [one for one in types if one != "byte"] or types  # the table of either side is that of both
    if len(types) > 1:
        raise FstError(f"the FST has two symbol tables, for what it reads and what it writes, {_TAKES_TRANSDUCERS}")
    read = _read(opened, types, separator, work, is_acceptor=True)
    tables = AcceptorTables(
        read.num_states, read.arcs[:, [0, INPUT, INPUT + 1, 5]], read.epsilon, read.labels, read.costs
    )
    check_epsilon_cycles(tables, "the FST", work)
    return ex.acceptor(tables)


def _read(
    fst: Fst, token_types: list[TokenType], separator: str | None, work: Work, *, is_acceptor: bool
) -> TransducerTables:
    """Return an FST over bytes and labels. The memory for the conversion is charged as long as that takes."""
    arrays = read_arrays(fst)
    num_bytes = 0
    try:
        work.budget.charge(_ARC_BYTES * len(arrays.arcs))
        num_bytes = _ARC_BYTES * len(arrays.arcs)
        arcs = useful(arrays, work)
        if is_acceptor and not arcs.is_acceptor:
            raise _transducer(arcs)
        return tables_of_fst(arcs, token_types, separator, work)
    except LimitExceeded as error:
        raise error.of(f"reading an FST of {len(arrays.arcs):,} arcs") from None
    finally:
        work.budget.release(num_bytes)


def _transducer(fst: LabelArcs) -> FstError:
    read, written = fst.arcs[fst.arcs[:, 1] != fst.arcs[:, 2]][0, 1:3]
    return FstError(
        f"the FST is a transducer (an arc reads label {read} and writes label {written}), {_TAKES_TRANSDUCERS}"
    )


def transducer_of(
    fst: Fst | str | PathLike[str],
    token_type: TokenType | tuple[TokenType, TokenType] | None = None,
    *,
    separator: str | None = None,
    key: str | None = None,
) -> TransducerTables:
    """Read a transducer once for `image` and `preimage`, which would otherwise read it at each call.

    Args:
        fst, separator, key: see `from_fst`.
        token_type: see `from_fst`; a pair gives one for the input and one for the output. None: the FST's symbol tables
            if it has them, else "byte".

    Raises: as for `from_fst`.
    """
    work = current_work()
    opened = fst_of(fst, key)
    types = _token_types(opened, token_type)
    return _read(opened, types, separator, work, is_acceptor=False)


def _token_types(fst: Fst, token_type: Any) -> list[TokenType]:
    """Return one token type for both sides, or one for each."""
    if isinstance(token_type, tuple):
        if len(token_type) != 2:
            raise ValueError("a token type is one for both sides, or two, for the input and the output")
        return list(token_type[:1] if token_type[0] is token_type[1] else token_type)
    if token_type is not None:
        return [token_type]
    read, written = fst.input_symbols(), fst.output_symbols()
    if read is None and written is None:
        return ["byte"]
    if read is not None and written is not None and read.labeled_checksum() == written.labeled_checksum():
        return [read]
    return [read or "byte", written or "byte"]


def image(
    constraint: Language,
    fst: Fst | str | PathLike[str] | TransducerTables,
    token_type: TokenType | tuple[TokenType, TokenType] | None = None,
    *,
    separator: str | None = None,
) -> Expr:
    """Return the texts that a transducer can write when it reads a text of a constraint.

    Args:
        constraint: an expression, an automaton, an OpenFst acceptor, a constraint whose language is regular, or
            literal text.
        fst: the transducer: an FST, the path of a file, or the result of `transducer_of`.
        token_type, separator: see `transducer_of`.

    Raises:
        FstError, ValueError: see `from_fst`.
        TypeError: an argument has the wrong type.
        LimitExceeded, Cancelled: the current compilation has to stop.
    """
    tables = _tables(fst, token_type, separator)
    return ex.transduction(_language(constraint, fst, token_type, separator, side=0), tables)


def preimage(
    fst: Fst | str | PathLike[str] | TransducerTables,
    constraint: Language,
    token_type: TokenType | tuple[TokenType, TokenType] | None = None,
    *,
    separator: str | None = None,
) -> Expr:
    """Return the texts for which a transducer can write a text of a constraint; arguments and errors as in `image`."""
    tables = _tables(fst, token_type, separator).inverted()
    return ex.transduction(_language(constraint, fst, token_type, separator, side=1), tables)


def _tables(fst: Any, token_type: Any, separator: str | None) -> TransducerTables:
    if not isinstance(fst, TransducerTables):
        return transducer_of(fst, token_type, separator=separator)
    if token_type is not None or separator is not None:
        raise TypeError("a transducer that was read before has its token type and its separator already")
    return fst


def _language(constraint: Language, fst: Any, token_type: Any, separator: str | None, *, side: int) -> Expr:
    """Return a constraint as an expression.

    Args:
        constraint: see `image`.
        fst, token_type, separator: of the transducer. A constraint that is an FST is read like the side of the
            transducer that it is composed with, or by a symbol table of its own if no token type is given.
        side: 0 for the input of the transducer, 1 for its output.
    """
    if isinstance(constraint, Expr):
        return constraint
    if isinstance(constraint, str | bytes):
        return ex.literal(constraint)
    if isinstance(constraint, ByteAutomaton):
        return ex.acceptor(tables_of(constraint))
    if is_fst(constraint):
        acceptor: Any = constraint
        has_own = token_type is None and acceptor.input_symbols() is not None
        own = None if has_own else _side(fst, token_type, side)
        return from_fst(constraint, own, separator=None if isinstance(own, str) else separator)
    if isinstance(constraint, Compilable) and not isinstance(constraint, type):
        return _regular(constraint, current_work())
    raise wrong_type("an expression, an automaton, an acceptor or text", constraint)


def _side(fst: Any, token_type: Any, side: int) -> TokenType:
    """Return the token type of one side of a transducer."""
    if isinstance(fst, TransducerTables):
        raise FstError(
            "a transducer that was read before does not say what the labels of another FST stand for: read that one "
            "with from_fst(fst, token_type)"
        )
    types = _token_types(fst_of(fst, None), token_type)
    return types[min(side, len(types) - 1)]


def _regular(constraint: Compilable, work: Work) -> Expr:
    automaton = constraint.to_automaton(work)
    if not isinstance(automaton, ByteAutomaton):
        raise FstError(
            f"the language of {type(constraint).__name__} is not regular, and transducers take regular languages only"
        )
    return ex.acceptor(tables_of(automaton))
