"""Terminals: labels of an automaton that stand for whole tokens (Koo, Liu & He 2024, section 2.5.1).

A label names a set of tokens. One token of the set takes the arc of the label, between two tokens of a text, whatever
bytes it writes. A constraint can thus refer to special tokens, which write nothing, and one arc can stand for "any
token without a line break".

    token_set         the tokens of a label: given by the caller, by number, by special token, or a predefined set
    members           the sets that each token belongs to
    refined           classes split by membership, so that each set contains a class completely or not at all
    with_terminals    the classes with the arcs of labels added to those of bytes, made deterministic

A token may match both by its bytes and by a label. The paper resolves this by a heuristic, ordinary arcs first, which
loses texts: once `(?P<TEXT_TOKEN>)+end` has taken the token `end` by its bytes, the text cannot continue. Here the
subset construction over classes follows both arcs, so automata with labels are exact too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from automata import _native as automata_native
from automata.arrays import BoolArray, IntArray
from automata.byte_automaton import ByteAutomaton
from automata.errors import EmptyLanguage, LimitExceeded, UnknownTerminal, VocabularyError
from automata.expressions.extensions import PARAGRAPH_TOKEN, TEXT_TOKEN
from automata.limits import Work
from tokenfst._native import TokenClasses
from tokenfst.finite.classes import END, FIRST_CLASS, NEVER
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.all_bytes import ALL_BYTES
from tokenfst.vocabulary.token_ids import ids_by_number, others

Terminals: TypeAlias = Mapping[str, Iterable[int]]


def token_set(name: str, vocabulary: Vocabulary, terminals: Terminals) -> IntArray:
    """Return the ids of the tokens that a label stands for, ascending, `[n]` int32.

    >>> vocabulary = Vocabulary([b"a", b"b", b"\\n", b"", b""], eos_ids=4, special_tokens={"<|call|>": 3})
    >>> [token_set(name, vocabulary, {"ab": [1, 0]}).tolist() for name in ("ab", "<|call|>", "<[^0-1]>")]
    [[0, 1], [3], [2, 3]]

    Args:
        name: a key of `terminals`; numbers (`tokenfst.vocabulary.token_ids`); a special token; `!` and a name for
            all tokens that are not in the set of that name; or one of the predefined sets, `TEXT_TOKEN` and
            `PARAGRAPH_TOKEN`.
        vocabulary: the tokens.
        terminals: the token ids of labels, by name.

    Raises:
        UnknownTerminal: the name is unknown. Over `ALL_BYTES`, whose tokens are bytes, only `terminals` are known.
        VocabularyError: an id is outside the vocabulary, or ends a sequence.
    """
    if name in terminals:
        ids = sorted(set(terminals[name]))
    elif vocabulary is ALL_BYTES:
        raise UnknownTerminal(f"{name!r} stands for tokens, so a vocabulary is needed that has them")
    elif (numbered := ids_by_number(name, vocabulary)) is not None:
        ids = numbered
    elif name in vocabulary.special_tokens:
        ids = [vocabulary.special_tokens[name]]
    elif name.startswith("!") and not name.startswith("!!"):
        ids = others(set(token_set(name[1:], vocabulary, terminals).tolist()), vocabulary)
    elif name in (TEXT_TOKEN, PARAGRAPH_TOKEN):
        breaks = b"\r\n" if name == PARAGRAPH_TOKEN else b""
        whole = vocabulary.token_of_rank[: vocabulary.num_whole].tolist()
        ids = sorted(token for token in whole if not any(byte in vocabulary.tokens[token] for byte in breaks))
    else:
        known = sorted({*terminals, *vocabulary.special_tokens, TEXT_TOKEN, PARAGRAPH_TOKEN})
        names = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
        raise UnknownTerminal(f"no tokens are known by the name {name!r}; known are {names}")
    for token in ids:
        if not 0 <= token < len(vocabulary):
            raise VocabularyError(f"terminal {name!r}: id {token} is outside the {len(vocabulary):,} tokens")
        if token in vocabulary.eos_ids:
            raise VocabularyError(f"terminal {name!r}: token {token} ends a sequence, so nothing could follow it")
    return np.array(ids, np.int32)


def with_terminals(
    automaton: ByteAutomaton, vocabulary: Vocabulary, classes: TokenClasses, terminals: Terminals, work: Work
) -> tuple[int, BoolArray, TokenClasses]:
    """Add the arcs of labels to the transitions of token classes.

    Args:
        automaton: the automaton over bytes and labels.
        vocabulary: the tokens.
        classes: the classes of the tokens by their bytes.
        terminals: the token ids of labels, by name.
        work: the compilation that this is part of.

    Returns:
        The start, the final states `[Q]`, and the classes of the automaton over tokens.

    Raises:
        UnknownTerminal, VocabularyError: as for `token_set`.
        EmptyLanguage: no sequence of tokens reaches an end.
        LimitExceeded: the subset construction exceeds a limit.
        Cancelled: another thread cancelled the compilation.
    """
    member = members(automaton.labels, vocabulary, terminals)
    run_end, run_class, bytes_of, sets_of = refined(classes.run_end, classes.run_class, member)
    source, number, target = _edges(automaton, classes, bytes_of, sets_of)
    start, final = automaton.start, automaton.final
    pairs = source.astype(np.int64) * len(bytes_of) + number
    if len(np.unique(pairs)) < len(pairs):
        start, final, source, number, target = _determinized(start, final, len(bytes_of), source, number, target, work)
    order = np.lexsort((source, number))
    split = TokenClasses(run_end, run_class, len(bytes_of), source[order], number[order], target[order])
    return start, final, split


def members(labels: Sequence[str], vocabulary: Vocabulary, terminals: Terminals) -> BoolArray:
    """Return whether each rank is in the set of each label, `[R, L]` bool.

    Raises:
        UnknownTerminal, VocabularyError: as for `token_set`.
    """
    member = np.zeros((len(vocabulary.token_of_rank), len(labels)), np.bool_)
    for column, name in enumerate(labels):
        member[vocabulary.rank_of_token[token_set(name, vocabulary, terminals)], column] = True
    return member


def refined(
    run_end: IntArray, run_class: IntArray, member: BoolArray
) -> tuple[IntArray, IntArray, npt.NDArray[np.int64], BoolArray]:
    """Split classes so that each set contains a class completely or not at all.

    Args:
        run_end, run_class: the runs of the classes before, `[R]` int32 each.
        member: whether each rank is in the set of each label, as `members` returns it.

    Returns:
        The runs of the K new classes, the old class of each new one `[K]`, and whether it is in each set `[K, L]`.
    """
    lengths = np.diff(run_end, prepend=0)
    class_of_rank = np.repeat(run_class, lengths).astype(np.int64)
    sets, set_of_rank = np.unique(member, axis=0, return_inverse=True)
    keys = class_of_rank * len(sets) + set_of_rank.reshape(-1)
    # Tokens that neither bytes nor a set allow stay in class NEVER, which is the first.
    keys[(class_of_rank == NEVER) & ~member.any(axis=1)] = -1
    distinct, class_of_rank = np.unique(keys, return_inverse=True)
    kept = distinct >= 0
    number = np.where(kept, FIRST_CLASS + np.cumsum(kept) - 1, NEVER)
    split = number[class_of_rank.reshape(-1)].astype(np.int32)
    last = np.flatnonzero(np.append(split[1:] != split[:-1], True))
    nothing = np.zeros((FIRST_CLASS, member.shape[1]), np.bool_)
    bytes_of = np.concatenate([[NEVER, END], distinct[kept] // len(sets)])
    sets_of = np.concatenate([nothing, sets[distinct[kept] % len(sets)]])
    return (last + 1).astype(np.int32), split[last], bytes_of, sets_of


def _edges(
    automaton: ByteAutomaton,
    classes: TokenClasses,
    bytes_of: npt.NDArray[np.int64],
    sets_of: BoolArray,
) -> tuple[IntArray, IntArray, IntArray]:
    """Return source, class and target of every edge of the split classes, `[E]` int32 each, without duplicates."""
    bounds = np.searchsorted(classes.edge_class, np.arange(classes.num_classes + 1))
    parts = []
    for number in range(FIRST_CLASS, len(bytes_of)):
        own = slice(bounds[bytes_of[number]], bounds[bytes_of[number] + 1])
        pairs = [np.stack([classes.source[own], classes.target[own]])]
        for label in np.flatnonzero(sets_of[number]):
            column = automaton.by_label[:, label]
            pairs.append(np.stack([np.flatnonzero(column >= 0), column[column >= 0]]))
        both = np.unique(np.concatenate(pairs, axis=1), axis=1)
        parts.append(np.stack([both[0], np.full(both.shape[1], number), both[1]]))
    edges = np.concatenate(parts, axis=1) if parts else np.zeros((3, 0))
    return edges[0].astype(np.int32), edges[1].astype(np.int32), edges[2].astype(np.int32)


def _determinized(
    start: int,
    final: BoolArray,
    num_classes: int,
    source: IntArray,
    number: IntArray,
    target: IntArray,
    work: Work,
) -> tuple[int, BoolArray, IntArray, IntArray, IntArray]:
    """Return start, final states and edges of the minimal deterministic automaton over classes."""
    # The construction expects start 0 and one final state: two more states, connected by epsilon arcs.
    ends = np.flatnonzero(final)
    epsilon = np.concatenate([[[0, start + 2]], np.stack([ends + 2, np.ones_like(ends)], axis=1)]).astype(np.int32)
    arcs = np.stack([source + 2, number, target + 2], axis=1)
    try:
        start, final, arcs = automata_native.minimal_over_symbols(
            len(final) + 2, num_classes, arcs, epsilon, work.limits.states, work.budget
        )
    except LimitExceeded as error:
        raise error.of("the automaton of tokens that match both a label and bytes") from None
    if start < 0:
        raise EmptyLanguage("the vocabulary cannot write any text that the constraint allows")
    return start, final, *np.ascontiguousarray(arcs.T)
