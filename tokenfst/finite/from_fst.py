"""The token automaton of an OpenFst acceptor over tokens.

Tokens with equal arcs in the acceptor form one class, so that the subset construction works on classes and not on the
tokens of a vocabulary. Determinization may make further tokens equivalent; their classes are then merged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata import _native, openfst
from automata.acceptor_tables import AcceptorTables, ArcCosts
from automata.arrays import BoolArray, IntArray
from automata.compile.nfa import FIRST_LABEL
from automata.errors import EmptyLanguage, FstError, LimitExceeded
from automata.limits import Work
from automata.openfst import EPSILON, Fst, SymbolTable
from automata.transducers.reading import LabelArcs, useful
from automata.weighted.compile import determinized
from automata.weighted.units import NO_COST, to_units
from tokenfst._native import TokenClasses
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.classes import FIRST_CLASS, NEVER
from tokenfst.finite.compile import trimmed
from tokenfst.misuse import check_vocabulary
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary
from tokenfst.weighted.automaton import WeightedTokenAutomaton
from tokenfst.weighted.token_costs import CostTable


def from_fst(
    fst: Fst, vocabulary: Vocabulary, symbols: SymbolTable | None, at_text_start: bool, work: Work
) -> TokenAutomaton:
    """Return the automaton of an acceptor over tokens; see `TokenAutomaton.from_fst`."""
    check_vocabulary(vocabulary)
    if symbols is not None and not hasattr(symbols, "labeled_checksum"):
        raise TypeError(f"`symbols` is a symbol table of pywrapfst, not {type(symbols).__name__}")
    openfst.check_acceptor(fst, "acceptor over tokens")
    read = useful(openfst.read_arrays(fst), work)
    nfa = _over_classes(read, fst, vocabulary, symbols)
    if read.costs.any():
        return _weighted(nfa, vocabulary, at_text_start, work)
    rows = _distinct(nfa.arcs[:, [0, 1, 3]])
    try:
        parts = nfa.num_states, nfa.num_classes, rows.astype(np.int32), nfa.epsilon.astype(np.int32)
        start, final, arcs = _native.minimal_over_symbols(*parts, work.limits.states, work.budget)
    except LimitExceeded as error:
        raise error.of("the deterministic acceptor over tokens") from None
    return _finite(start, final, arcs, nfa, vocabulary, at_text_start, work)


class _ClassNfa(NamedTuple):
    """An acceptor over classes of tokens; state 0 is the start, and 1 the only final state.

    Attributes:
        num_states: S.
        num_classes: one more than the greatest class.
        class_of: `[V]`, the class of each token.
        arcs: `[A, 4]`, source, class (twice, as a range of one) and target.
        epsilon: `[E, 2]`, source and target.
        costs: the costs of all arcs.
    """

    num_states: int
    num_classes: int
    class_of: npt.NDArray[np.int64]
    arcs: npt.NDArray[np.int64]
    epsilon: npt.NDArray[np.int64]
    costs: ArcCosts


def _over_classes(read: LabelArcs, fst: Fst, vocabulary: Vocabulary, symbols: SymbolTable | None) -> _ClassNfa:
    source, label, _, target = read.arcs.astype(np.int64).T
    used, place = np.unique(label - 1, return_inverse=True)
    token = _tokens(used, vocabulary, symbols or fst.input_symbols() or fst.output_symbols())[place.reshape(-1)]
    number, class_of = _classes(token, source, target, to_units(read.costs), len(vocabulary))
    # Keep the arcs of one token of each class.
    members, first = np.unique(class_of, return_index=True)
    chosen = np.zeros(int(class_of.max(initial=FIRST_CLASS)) + 1, np.int64)
    chosen[members] = first
    is_epsilon = token == EPSILON
    reads = ~is_epsilon & (chosen[number] == token)
    epsilon = np.stack([source[is_epsilon], target[is_epsilon]], axis=1)
    arcs = np.stack([source[reads], number[reads], number[reads], target[reads]], axis=1)
    costs = ArcCosts(read.semiring, read.costs[reads], read.costs[is_epsilon])
    return _ClassNfa(read.num_states, len(chosen), class_of, arcs, epsilon, costs)


def _finite(
    start: int,
    final: BoolArray,
    arcs: IntArray,
    nfa: _ClassNfa,
    vocabulary: Vocabulary,
    at_text_start: bool,
    work: Work,
) -> FiniteTokenAutomaton:
    """Return the automaton of deterministic arcs over classes, `[A, 3]`: source, class and target."""
    if start < 0:
        raise EmptyLanguage("the acceptor accepts no sequence of tokens")
    arcs = arcs[np.lexsort((arcs[:, 0], arcs[:, 1]))]
    runs = _runs(nfa.class_of[vocabulary.token_of_rank])
    classes = TokenClasses(*runs, nfa.num_classes, *np.ascontiguousarray(arcs.T))
    return FiniteTokenAutomaton.from_classes(
        vocabulary, *trimmed(start, final, classes), work, at_text_start=at_text_start
    )


def _weighted(nfa: _ClassNfa, vocabulary: Vocabulary, at_text_start: bool, work: Work) -> TokenAutomaton:
    """Return the automaton of an acceptor with weights: every class is a label of a weighted automaton."""
    names = [f"{number:09d}" for number in range(nfa.num_classes)]
    arcs = nfa.arcs + np.array([0, FIRST_LABEL, FIRST_LABEL, 0])
    tables = AcceptorTables(
        nfa.num_states, arcs.astype(np.int32), nfa.epsilon.astype(np.int32), tuple(names), nfa.costs
    )
    weighted = determinized(tables, "the acceptor over tokens", work)
    tables_of = weighted.tables
    rows = (
        np.column_stack([weighted.arc_sources, tables_of.arcs[:, [0, 2]]])
        if weighted.num_states
        else np.zeros((0, 3), np.int64)
    )
    tokens = {name: np.flatnonzero(nfa.class_of == int(name)).tolist() for name in weighted.labels}
    number_of = np.array([int(name) for name in weighted.labels], np.int32)
    rows[:, 1] = number_of[rows[:, 1] - FIRST_LABEL]
    start = 0 if weighted.num_states else -1
    support = _finite(start, tables_of.final != NO_COST, rows.astype(np.int32), nfa, vocabulary, at_text_start, work)
    return WeightedTokenAutomaton(support, CostTable(vocabulary, weighted, tokens))


def _tokens(used: IntArray, vocabulary: Vocabulary, symbols: SymbolTable | None) -> npt.NDArray[np.int64]:
    """Return the token of each symbol, `EPSILON` for epsilon.

    Raises:
        FstError: a symbol is not a token, or a token that ends a sequence.
    """
    known = {name: token for token, name in enumerate(vocabulary.names)} if symbols else {}
    found = []
    for symbol in used.tolist():
        token = symbol
        if symbols and symbol != EPSILON:
            token = known.get(name := symbols.find(symbol + 1), EPSILON)
            if not name:
                raise FstError(f"label {symbol + 1} is not in the table of symbols")
            if token == EPSILON:
                raise FstError(
                    f"label {symbol + 1} is {name!r} in the table of symbols, and no token has this name "
                    "(`Vocabulary.names`); without a table, token i has label i + 1"
                )
        if token != EPSILON and not 0 <= token < len(vocabulary):
            raise FstError(f"label {symbol + 1} would be token {symbol}, of a vocabulary of {len(vocabulary):,} tokens")
        if token in vocabulary.eos_ids:
            raise FstError(
                f"an arc reads token {token} ({vocabulary.names[token]}), which ends a sequence: the state before it "
                "has to be final instead"
            )
        found.append(token)
    return np.array(found, np.int64)


def _classes(
    token: npt.NDArray[np.int64],
    source: npt.NDArray[np.int64],
    target: npt.NDArray[np.int64],
    units: npt.NDArray[np.int64],
    num_tokens: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the class of each arc, and of each token: tokens with equal arcs have one class."""
    class_of = np.full(num_tokens, NEVER, np.int64)
    # Parallel arcs add up in the log semiring, so duplicates are kept.
    by_token = np.stack([token, source, target, units], axis=1)
    by_token = by_token[np.lexsort(by_token.T[::-1])]
    tokens, first = np.unique(by_token[:, 0], return_index=True)
    known: dict[bytes, int] = {}
    for one, begin, end in zip(tokens.tolist(), first, np.append(first, len(by_token))[1:], strict=True):
        if one != EPSILON:
            class_of[one] = known.setdefault(by_token[begin:end, 1:].tobytes(), FIRST_CLASS + len(known))
    return class_of[token], class_of


def _runs(class_of_rank: npt.NDArray[np.int64]) -> tuple[IntArray, IntArray]:
    """Return one past the last rank of each run of ranks with one class, and its class."""
    is_last = np.ones(len(class_of_rank), np.bool_)
    is_last[:-1] = class_of_rank[1:] != class_of_rank[:-1]
    last = np.flatnonzero(is_last)
    return (last + 1).astype(np.int32), class_of_rank[last].astype(np.int32)


def _distinct(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the rows in order, each once."""
    rows = rows[np.lexsort(rows.T[::-1])]
    kept = np.ones(len(rows), np.bool_)
    kept[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return np.asarray(rows[kept])


TokenAutomaton._read_fst = from_fst
