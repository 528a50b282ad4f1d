"""The token automaton of an OpenFst acceptor over tokens.

Tokens with equal arcs in the acceptor are one class, so that the subset construction works on classes and not on the
tokens of a vocabulary. It may make more tokens equal, whose classes are then merged.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from automata import _native, openfst
from automata.arrays import IntArray
from automata.errors import EmptyLanguage, FstError, LimitExceeded
from automata.limits import Work
from automata.openfst import EPSILON, Fst, SymbolTable
from tokenfst._native import TokenClasses
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.classes import FIRST_CLASS, NEVER
from tokenfst.finite.compile import trimmed
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary


def from_fst(
    fst: Fst, vocabulary: Vocabulary, symbols: SymbolTable | None, at_text_start: bool, work: Work
) -> FiniteTokenAutomaton:
    """Return the automaton of an acceptor over tokens; see `TokenAutomaton.from_fst`."""
    fst = openfst.plain_acceptor(fst, "acceptor over tokens")
    start, final, (source, symbol, _, target) = openfst.to_arcs(fst)
    used, place = np.unique(symbol, return_inverse=True)
    token = _tokens(used, vocabulary, symbols or fst.input_symbols())[place.reshape(-1)]
    number, class_of = _classes(token, source, target, len(vocabulary))
    reads = token != EPSILON
    # The construction expects start 0 and one final state, 1: two more states, connected by epsilon arcs.
    ends = np.flatnonzero(final) + 2
    rows = _distinct(np.stack([source[reads] + 2, number[reads], target[reads] + 2], axis=1))
    epsilon = np.stack([source[~reads] + 2, target[~reads] + 2], axis=1)
    around = [(0, start + 2)] if start >= 0 else []
    epsilon = np.concatenate([_pairs(around), epsilon, np.stack([ends, np.ones_like(ends)], axis=1)])
    num_classes = int(class_of.max(initial=FIRST_CLASS)) + 1
    try:
        parts = len(final) + 2, num_classes, rows.astype(np.int32), epsilon.astype(np.int32)
        start, final, arcs = _native.minimal_over_symbols(*parts, work.limits.states, work.budget)
    except LimitExceeded as error:
        raise error.of("the deterministic acceptor over tokens") from None
    if start < 0:
        raise EmptyLanguage("the acceptor accepts no sequence of tokens")
    arcs = arcs[np.lexsort((arcs[:, 0], arcs[:, 1]))]
    runs = _runs(class_of[vocabulary.token_of_rank])
    classes = TokenClasses(*runs, num_classes, *np.ascontiguousarray(arcs.T))
    return FiniteTokenAutomaton.from_classes(
        vocabulary, *trimmed(start, final, classes), work, at_text_start=at_text_start
    )


def _tokens(used: IntArray, vocabulary: Vocabulary, symbols: SymbolTable | None) -> npt.NDArray[np.int64]:
    """Return the token of each symbol, `EPSILON` for epsilon.

    Raises:
        FstError: a symbol is no token, or a token that ends a sequence.
    """
    known = {name: token for token, name in enumerate(vocabulary.names)} if symbols else {}
    found = []
    for symbol in used.tolist():
        token = symbol
        if symbols and symbol != EPSILON:
            token = known.get(name := symbols.find(symbol + 1), EPSILON)
            if token == EPSILON:
                raise FstError(
                    f"label {symbol + 1} is {name!r} in the table of symbols, and no token has this name "
                    "(`Vocabulary.names`); without a table, token i has label i + 1"
                )
        if token >= len(vocabulary):
            raise FstError(f"label {symbol + 1} would be token {symbol}, of a vocabulary of {len(vocabulary):,} tokens")
        if token in vocabulary.eos_ids:
            raise FstError(
                f"an arc reads token {token} ({vocabulary.names[token]}), which ends a sequence: the state before it "
                "has to be final instead"
            )
        found.append(token)
    return np.array(found, np.int64)


def _classes(
    token: npt.NDArray[np.int64], source: IntArray, target: IntArray, num_tokens: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the class of each arc, and of each token: tokens with equal arcs have one class."""
    class_of = np.full(num_tokens, NEVER, np.int64)
    by_token = _distinct(np.stack([token, source, target], axis=1))
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
    """Return the rows `[n, 3]` in order, each once."""
    rows = rows[np.lexsort(rows.T[::-1])]
    kept = np.ones(len(rows), np.bool_)
    kept[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return np.asarray(rows[kept])


def _pairs(rows: list[tuple[int, int]]) -> IntArray:
    return np.array(rows, np.int32).reshape(-1, 2)


TokenAutomaton._read_fst = from_fst
