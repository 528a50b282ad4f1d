"""Pictures of what happens over tokens: the detokenizing transducer, and token automata with a stack or without.

They are for small examples and for looking at a part: a picture of thousands of states is black, so more states
than `MAX_STATES` are refused, and an arc names a few of its tokens and how many there are.

An arc of an automaton with a stack has a line for each move: the tokens, then the symbols popped from the top down,
each followed by `)`, and the symbols pushed, each after `(`. A move is what is left of a whole token: what one of its
bytes pushes and another pops is not seen. A move that only looks at a symbol pops it and pushes it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from automata.arrays import IntArray
from automata.drawing import Drawing, byte_label, character_label, draw_fst, draw_graph
from automata.errors import LimitExceeded
from tokenfst._native import PushdownTables
from tokenfst.finite.classes import END
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.detokenizer import detokenizer

MAX_STATES = 500
# An arc with more tokens than this names the first ones only.
MAX_NAMES = 6
# An arc with more moves than this shows the first ones only; those that move the stack least come first.
MAX_MOVES = 8
# Places in the context trees of all states, counted without sharing.
MAX_TREE_NODES = 100_000
_END_SHAPE = 'shape=point, width=0.15, xlabel="end"'


def draw_detokenizer(
    vocabulary: Vocabulary, *, compact: bool = True, at_text_start: bool = False, title: str | None = None
) -> Drawing:
    """Return a picture of the transducer from tokens to bytes, `token:byte` on its arcs, as in the paper's Figures 4
    and 9; with `at_text_start` the one for a text of its own, which may begin in another state.

    Raises:
        LimitExceeded: it has more than `MAX_STATES` states.
    """
    fst = detokenizer(vocabulary, compact=compact, at_text_start=at_text_start)
    _check(fst.num_states())
    return draw_fst(fst, lambda token: token_label(vocabulary.tokens[token]), byte_label, title=title)


class ClassNames:
    """How a picture writes classes of tokens: by the first few tokens, and by their number."""

    def __init__(self, vocabulary: Vocabulary, token_class: IntArray) -> None:
        """Args: the vocabulary, and `[V]`, the class of each token."""
        self.has_end_tokens = bool(vocabulary.eos_ids)
        self._tokens, self._token_class = vocabulary.tokens, token_class

    def __call__(self, classes: list[int]) -> list[str]:
        """Return the names of the tokens of some classes."""
        if classes == [END]:
            return ["end"]
        tokens = np.flatnonzero(np.isin(self._token_class, classes))
        names = [token_label(self._tokens[token]) for token in tokens[:MAX_NAMES].tolist()]
        if len(tokens) > MAX_NAMES:
            names.append(f"… ({len(tokens):,} tokens)")
        return names


def draw_transitions(
    num_states: int,
    start: int,
    final: list[bool],
    arcs: Iterable[tuple[int, int, int]],
    names: ClassNames,
    *,
    title: str | None = None,
) -> Drawing:
    """Return a picture of a finite automaton over tokens, as in the paper's Figure 5 (right).

    The last state, after the end, is a black dot.

    Args:
        num_states: Q.
        start: the state before the first token.
        final: `[Q]`, where the text may end.
        arcs: source, class and target of each transition.
        names: the names of classes.
        title: what stands above.

    Raises:
        LimitExceeded: it has more than `MAX_STATES` states.
    """
    _check(num_states)
    classes: dict[tuple[int, int], list[int]] = {}
    for source, number, target in arcs:
        classes.setdefault((source, target), []).append(number)
    end = num_states - 1
    # An arc for the end tokens that may follow the end would say nothing.
    classes.pop((end, end), None)
    labels = {pair: "\n".join(names(numbers)) for pair, numbers in classes.items()}
    # Nothing leads to the end where the vocabulary has no end token.
    states = range(end + 1 if names.has_end_tokens else end)
    return draw_graph(states, start, final, labels, title=title, attributes={end: _END_SHAPE})


def draw_pushdown(tables: PushdownTables, names: ClassNames, *, title: str | None = None) -> Drawing:
    """Return a picture of an automaton over tokens with a stack, as in the paper's Figure 7 (right).

    The state after the end is a black dot. States from which the text can end are doubled where the end pops nothing;
    where it pops symbols, the arc says which, also if the vocabulary has no end token. States that no sequence of
    tokens reaches are left out.

    Raises:
        LimitExceeded: it has more than `MAX_STATES` states, or its context trees more than `MAX_TREE_NODES` places.
    """
    _check(tables.num_states)
    end, final = tables.num_states - 1, [False] * tables.num_states
    moves: dict[tuple[int, int], dict[_Move, list[int]]] = {}
    for source, number, move, target in _moves(tables):
        if number == END and not move[0]:
            final[source] = True
        # An arc for the end tokens that may follow the end would say nothing.
        if source != end and (number != END or move[0] or names.has_end_tokens):
            moves.setdefault((source, target), {}).setdefault(move, []).append(number)
    reached = _reached(tables.start, moves)
    labels = {pair: _lines(names, by_move) for pair, by_move in moves.items() if pair[0] in reached}
    shape = {end: _END_SHAPE} if end in reached else None
    return draw_graph(sorted(reached), tables.start, final, labels, title=title, attributes=shape)


def token_label(token: bytes) -> str:
    """A token as it can be read in a picture: as text where it is text."""
    try:
        return "".join(map(character_label, token.decode()))
    except UnicodeDecodeError:
        return "".join(map(byte_label, token))


# The symbols popped, from the top down, and those pushed, the last one on top.
_Move = tuple[tuple[int, ...], tuple[int, ...]]


def _moves(tables: PushdownTables) -> Iterator[tuple[int, int, _Move, int]]:
    """State, class, move and target of all that classes do; a move pops the symbols on the way to its node."""
    for state, popped, node in _tree_nodes(tables):
        for edge in range(tables.row_offsets[node], tables.row_offsets[node + 1]):
            outcome, number = tables.edge_outcome[edge], int(tables.edge_class[edge])
            for at in range(tables.outcome_offsets[outcome], tables.outcome_offsets[outcome + 1]):
                push = tables.move_push[at]
                pushes = tables.push_symbols[tables.push_offsets[push] : tables.push_offsets[push + 1]].tolist()
                yield state, number, (popped, tuple(pushes)), int(tables.move_target[at])


def _tree_nodes(tables: PushdownTables) -> Iterator[tuple[int, tuple[int, ...], int]]:
    """State, symbols popped and node, for all places of the context trees.

    Raises:
        LimitExceeded: there are more than `MAX_TREE_NODES`.
    """
    places: list[tuple[int, tuple[int, ...], int]] = [(state, (), state) for state in range(tables.num_states)]
    # The list grows while it is gone through: a place is followed by those one symbol deeper.
    for state, popped, node in places:
        yield state, popped, node
        deeper = np.flatnonzero(tables.child[node] >= 0).tolist()
        places.extend((state, (*popped, symbol), int(tables.child[node, symbol])) for symbol in deeper)
        if len(places) > MAX_TREE_NODES:
            raise LimitExceeded(f"a picture of context trees with more than {MAX_TREE_NODES:,} places is refused")


def _reached(start: int, arcs: Iterable[tuple[int, int]]) -> set[int]:
    """The states that arcs lead to from the start, whatever the stack, and the start."""
    following: dict[int, list[int]] = {}
    for source, target in arcs:
        following.setdefault(source, []).append(target)
    reached, todo = {start}, [start]
    while todo:
        more = [target for target in following.get(todo.pop(), []) if target not in reached]
        reached.update(more)
        todo += more
    return reached


def _lines(names: ClassNames, by_move: dict[_Move, list[int]]) -> str:
    """A line for each move, those first that move the stack least, the first few only."""
    order = sorted(by_move, key=lambda move: (len(move[0]) + len(move[1]), move))
    lines = []
    for pops, pushes in order[:MAX_MOVES]:
        stack = [f"{symbol})" for symbol in pops] + [f"({symbol}" for symbol in pushes]
        lines.append(" ".join(names(by_move[pops, pushes]) + stack))
    if len(order) > MAX_MOVES:
        lines.append(f"… ({len(order):,} moves)")
    return "\n".join(lines)


def _check(num_states: int) -> None:
    if num_states > MAX_STATES:
        raise LimitExceeded(f"a picture of {num_states:,} states is refused: the limit is {MAX_STATES:,}")
