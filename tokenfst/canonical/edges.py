"""What each token does to the product: its edges by class, and the tokens of each class.

Classes are those of `tokenfst.token_classes` over the bytes of the product, which is deterministic inside tokens, with
two changes. A token that the encoder never writes is in no class. A token that only whole pieces are begins where a
piece begins and leads to the second state of where its bytes lead, in which the piece must end. And tokens that write
nothing get classes by the labels of the constraint that stand for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.errors import VocabularyError
from automata.transition.grouping import grouped
from automata.limits import Work
from tokenfst.canonical.prepared import Prepared
from tokenfst.canonical.product import Product
from tokenfst.transition.loops import Ints
from tokenfst.terminals import Terminals, token_set
from tokenfst.transition.token_classes import NEVER, TokenClasses, token_classes
from tokenfst.vocabulary import Vocabulary


class Edges(NamedTuple):
    """Edges in order of their sources, and the tokens of each class; classes begin at 1, since `NEVER` is 0.

    Attributes:
        offsets: `[M + 1]`, where the edges of each state begin.
        number: `[E]`, classes.
        target: `[E]`.
        member_offsets: `[K + 1]`, where the tokens of each class begin.
        members: `[N]`, tokens, ascending by position (`Pairs`) within a class.
    """

    offsets: Ints
    number: Ints
    target: Ints
    member_offsets: Ints
    members: Ints


def token_edges(
    product: Product,
    vocabulary: Vocabulary,
    prepared: Prepared,
    labels: Sequence[str],
    terminals: Terminals,
    work: Work,
) -> Edges:
    """The edges of every token that an encoder writes, and of the tokens that labels stand for.

    Raises:
        LimitExceeded, Cancelled: as `token_classes`.
        UnknownTerminal, VocabularyError: as `token_set`; or a label stands for a token that writes text.
    """
    classes = token_classes(product.automaton, vocabulary, work)
    class_of = _class_of(classes, vocabulary)
    class_of[prepared.never] = NEVER
    edges = [np.stack([classes.source, classes.edge_class, classes.target])]
    num_classes = classes.num_classes
    words = prepared.words.tokens
    if len(words):
        by_class = np.argsort(classes.edge_class, kind="stable")
        bounds = np.searchsorted(classes.edge_class[by_class], np.arange(num_classes + 1))
        for word in words.tolist():
            own = by_class[bounds[class_of[word]] : bounds[class_of[word] + 1]] if class_of[word] != NEVER else ()
            edges.append(_word_edges(edges[0][:, own], product, num_classes))
            class_of[word] = num_classes
            num_classes += 1
    for tokens, sets in _by_labels(labels, vocabulary, terminals):
        for label in sets:
            source = np.flatnonzero(product.by_label[:, label] >= 0).astype(np.int32)
            number = np.full(len(source), num_classes, np.int32)
            edges.append(np.stack([source, number, product.by_label[source, label]]))
        class_of[tokens] = num_classes
        num_classes += 1
    return _sorted(np.concatenate(edges, axis=1), class_of, num_classes, len(product.split), prepared)


def _by_labels(
    labels: Sequence[str], vocabulary: Vocabulary, terminals: Terminals
) -> Iterator[tuple[list[int], tuple[int, ...]]]:
    """The tokens that some labels stand for, grouped by the labels."""
    sets: dict[int, list[int]] = {}
    for label, name in enumerate(labels):
        for token in token_set(name, vocabulary, terminals).tolist():
            if vocabulary.tokens[token]:
                raise VocabularyError(
                    f"terminal {name!r}: token {token} writes {vocabulary.tokens[token]!r}; with canonical "
                    "tokenization a terminal writes nothing, since the encoder says which tokens a text is written in"
                )
            sets.setdefault(token, []).append(label)
    groups: dict[tuple[int, ...], list[int]] = {}
    for token, own in sets.items():
        groups.setdefault(tuple(own), []).append(token)
    for own_labels, tokens in groups.items():
        yield tokens, own_labels


def _class_of(classes: TokenClasses, vocabulary: Vocabulary) -> npt.NDArray[np.int64]:
    """The class of every token, `[V]`."""
    of_rank = np.repeat(classes.run_class, np.diff(classes.run_end, prepend=0))
    return np.append(of_rank, NEVER)[vocabulary.rank_of_token].astype(np.int64)


def _word_edges(edges: Ints, product: Product, number: int) -> Ints:
    """The edges of a token that only a whole piece is, from those of its bytes, `[3, n]` each."""
    source, _, target = edges
    reached = product.whole[target]
    kept = product.begins[source] & (reached >= 0)
    return np.stack([source[kept], np.full(kept.sum(), number, np.int32), reached[kept]])


def _sorted(
    edges: Ints, class_of: npt.NDArray[np.int64], num_classes: int, num_states: int, prepared: Prepared
) -> Edges:
    edges = edges[:, np.lexsort((edges[1], edges[0]))]
    by_position = prepared.pairs.token_at[np.argsort(class_of[prepared.pairs.token_at], kind="stable")]
    member_offsets = np.searchsorted(class_of[by_position], np.arange(num_classes + 1)).astype(np.int32)
    # Tokens in no class are none of a class's members.
    members = by_position[member_offsets[1] :]
    member_offsets = np.maximum(member_offsets - member_offsets[1], 0)
    kept = np.diff(member_offsets)[edges[1]] > 0
    source, number, target = np.ascontiguousarray(edges[:, kept])
    offsets, _ = grouped(num_states, source)
    return Edges(offsets, number, target, member_offsets, members)
