"""Draw detokenizers, and token automata with or without a stack.

Pictures are for small examples. More than `MAX_STATES` states are refused, because the picture would be unreadable, and
an arc names only some of its tokens and their number. The text of a token is in quotes, the name of a special token in
angle brackets; a legend explains what else a picture shows. The cost of a token follows it, as in `"ab"/0.5`.

An arc of an automaton with a stack has one line per move: the tokens, the symbols popped from the top down, each
followed by `)`, and the symbols pushed, each after `(`. A move is the effect of a whole token; symbols that one of its
bytes pushes and a later one pops do not appear. A move that only tests a symbol pops it and pushes it again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from automata.arrays import IntArray
from automata.drawing import Drawing, byte_label, character_label, cost_suffix, draw_fst, draw_graph, name_label
from automata.errors import LimitExceeded
from automata.graph import reachable
from automata.openfst import byte_of_symbol
from automata.view import WHOLE, Part, View
from tokenfst._native import PushdownTables
from tokenfst.finite.classes import END
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.detokenizer import detokenizer

MAX_STATES = 500
# The greatest number of tokens that an arc names.
MAX_NAMES = 6
# The greatest number of moves that an arc shows; those with the fewest symbols come first.
MAX_MOVES = 8
# The greatest number of different costs that an arc shows; the least come first.
MAX_COSTS = 8
# The greatest number of nodes in the context trees of all states, counted without sharing.
MAX_TREE_NODES = 100_000
_START = "bold: start; "
_END_SHAPE = 'shape=point, width=0.15, xlabel="end"'


def draw_detokenizer(
    vocabulary: Vocabulary, *, compact: bool = True, at_text_start: bool = False, title: str | None = None
) -> Drawing:
    """Return a picture of the transducer from tokens to bytes, as in Koo, Liu & He 2024, Figures 4 and 9.

    Its arcs are labelled `"token":"byte"`.

    Args:
        vocabulary: the tokens.
        compact: whether tokens share the arcs of common prefixes.
        at_text_start: whether the tokens begin a text; the start state may then be different.
        title: the title of the picture.

    Raises:
        LimitExceeded: the transducer has more than `MAX_STATES` states.
    """
    fst = detokenizer(vocabulary, compact=compact, at_text_start=at_text_start)
    _check(fst.num_states())
    legend = f'{_START}doubled: between two tokens\n"ab":"b": reads the token ab, writes the byte b; ε: nothing'
    return draw_fst(
        fst,
        lambda token: token_label(vocabulary.tokens[token]),
        lambda symbol: f'"{byte_label(byte_of_symbol(symbol))}"',
        title=title,
        legend=legend,
    )


class PictureCosts(NamedTuple):
    """The costs of an automaton over tokens, for its picture.

    Attributes:
        of_tokens: returns the tokens whose cost in a state is not 0, with their costs.
        of_ends: the costs of ending in each state, if no arc over an end token shows them.
        initial: the cost of every text before its first token.
    """

    of_tokens: Callable[[int], Mapping[int, float]]
    of_ends: Mapping[int, float]
    initial: float


class ClassNames:
    """The names of token classes in a picture: the first few tokens, and their number.

    Attributes:
        has_special_tokens: whether a token that writes nothing was named.
    """

    def __init__(self, vocabulary: Vocabulary, token_class: IntArray) -> None:
        """Initialize the names.

        Args:
            vocabulary: the tokens.
            token_class: `[V]` int32, the class of each token.
        """
        self._ends = vocabulary.eos_ids
        self.has_special_tokens = False
        self._tokens, self._token_class = vocabulary.tokens, token_class
        self._special = {token: name for name, token in vocabulary.special_tokens.items()}

    @property
    def has_end_tokens(self) -> bool:
        """Whether the vocabulary has end tokens."""
        return bool(self._ends)

    def __call__(self, classes: list[int]) -> list[str]:
        """Return the names of the tokens in some classes."""
        return ["end"] if classes == [END] else self._names(self._tokens_in(classes))

    def with_costs(self, classes: list[int], costs: Mapping[int, float]) -> list[str]:
        """Return the names of the tokens in some classes, each with its cost, in ascending order of cost.

        Args:
            classes: the classes.
            costs: the costs of the tokens whose cost is not 0.
        """
        by_cost: dict[float, list[int]] = {}
        for token in self._tokens_in(classes):
            by_cost.setdefault(costs.get(token, 0.0), []).append(token)
        lines: list[str] = []
        for cost in sorted(by_cost)[:MAX_COSTS]:
            names = ["end"] if classes == [END] else self._names(by_cost[cost])
            lines += [f"{name}{cost_suffix(cost)}" for name in names]
        if len(by_cost) > MAX_COSTS:
            lines.append(f"… ({len(by_cost):,} costs)")
        return lines

    def _tokens_in(self, classes: list[int]) -> list[int]:
        found: list[int] = np.flatnonzero(np.isin(self._token_class, classes)).tolist()
        return found

    def _names(self, tokens: list[int]) -> list[str]:
        names = [self._name(token) for token in tokens[:MAX_NAMES]]
        if len(tokens) > MAX_NAMES:
            names.append(f"… ({len(tokens):,} tokens)")
        return names

    def of_token(self, token: int) -> str:
        """Return the name of one token."""
        return "end" if token in self._ends else self._name(token)

    def _name(self, token: int) -> str:
        if self._tokens[token]:
            return token_label(self._tokens[token])
        self.has_special_tokens = True
        return name_label(self._special.get(token, str(token)))

    def legend(self, *lines: str, shows_end: bool, costs: PictureCosts | None = None) -> str:
        """Return the legend of a picture.

        Args:
            lines: the first lines of the legend.
            shows_end: whether the end of the text is drawn.
            costs: the costs of tokens; None if they have none.
        """
        legend = [*lines, '"ab": the token with this text']
        if self.has_special_tokens:
            legend.append("<x>: a special token, its name or its id")
        if shows_end:
            legend.append("end: the end of the text; the dot: the state after it")
        if costs is not None:
            legend.append('"ab"/0.5: a token and its cost; "ab": at no cost')
            if any(costs.of_ends.values()):
                legend.append("2/0.5: a state and what it costs to end there")
            if costs.initial:
                legend.append(f"every text costs {round(costs.initial, 3):g} before its first token")
        return "\n".join(legend)


def draw_transitions(
    start: int,
    final: list[bool],
    edges: tuple[IntArray, IntArray, IntArray],
    names: ClassNames,
    costs: PictureCosts | None = None,
    *,
    title: str | None = None,
    view: View = WHOLE,
) -> Drawing:
    """Return a picture of a finite automaton over tokens, as in Koo, Liu & He 2024, Figure 5 (right).

    The last state, after the end, is drawn as a black dot.

    Args:
        start: the state before the first token.
        final: `[Q]`, whether the text may end in each state.
        edges: source, class and target of each transition, `[E]` each.
        names: the names of the classes.
        costs: the costs of tokens; None if they have none.
        title: the title of the picture.
        view: the part to draw, and the path to highlight.

    Raises:
        LimitExceeded: there are more than `MAX_STATES` states to draw.
    """
    part = view.part(len(final), edges[0], edges[2])
    _check(len(part.states))
    end = len(final) - 1
    classes = _classes(part, edges)
    # The transition from the end to itself by end tokens is not informative.
    classes.pop((end, end), None)

    def lines(source: int, numbers: list[int]) -> list[str]:
        return names(numbers) if costs is None else names.with_costs(numbers, costs.of_tokens(source))

    labels = {pair: "\n".join(lines(pair[0], numbers)) for pair, numbers in classes.items()}
    # Nothing leads to the end where the vocabulary has no end token.
    states = [state for state in part.states if state != end or names.has_end_tokens]
    legend = names.legend(f"{_START}doubled: the text may end", shows_end=names.has_end_tokens, costs=costs)
    shown = {state: f"{state}{cost_suffix(cost)}" for state, cost in costs.of_ends.items()} if costs else None
    shape = {end: _END_SHAPE}
    return draw_graph(
        states, start, final, labels, title=title, attributes=shape, names=shown, legend=legend, part=part
    )


def _classes(part: Part, edges: tuple[IntArray, IntArray, IntArray]) -> dict[tuple[int, int], list[int]]:
    """Return the classes of the transitions between any two states that are drawn."""
    source, number, target = edges
    found: dict[tuple[int, int], list[int]] = {}
    inside = np.isin(source, part.states) & np.isin(target, part.states)
    for state, letter, reached in zip(*(column[inside].tolist() for column in (source, number, target)), strict=True):
        found.setdefault((state, reached), []).append(letter)
    return found


def draw_pushdown(
    tables: PushdownTables, names: ClassNames, *, title: str | None = None, view: View = WHOLE
) -> Drawing:
    """Return a picture of an automaton over tokens with a stack, as in Koo, Liu & He 2024, Figure 7 (right).

    The state after the end is drawn as a black dot. A state in which the text can end without popping anything has a
    double circle. If the end pops symbols, an arc shows them, even for a vocabulary without end tokens. Unreachable
    states are left out.

    Args:
        tables: the tables of the automaton.
        names: the names of the classes.
        title: the title of the picture.
        view: the part to draw, and the path to highlight.

    Raises:
        LimitExceeded: there are more than `MAX_STATES` states, or more than `MAX_TREE_NODES` nodes of context trees.
    """
    if view.around is None:
        _check(tables.num_states)
    end, final = tables.num_states - 1, [False] * tables.num_states
    moves: dict[tuple[int, int], dict[_Move, list[int]]] = {}
    for source, number, move, target in _moves(tables):
        if number == END and not move[0]:
            final[source] = True
        # The transition from the end to itself by end tokens is not informative.
        if source != end and (number != END or move[0] or names.has_end_tokens):
            moves.setdefault((source, target), {}).setdefault(move, []).append(number)
    following = defaultdict[int, list[int]](list)
    for source, target in moves:
        following[source].append(target)
    reached = reachable([tables.start], lambda state: following[state])
    pairs = np.array([pair for pair in moves if pair[0] in reached], np.int64).reshape(-1, 2)
    part = view.part(tables.num_states, pairs[:, 0], pairs[:, 1])
    reached &= set(part.states)
    _check(len(reached))
    labels = {pair: _lines(names, by_move) for pair, by_move in moves.items() if reached.issuperset(pair)}
    legend = names.legend(
        f"{_START}doubled: the text may end without pops",
        "(x: pushes x; x): pops x",
        shows_end=end in reached,
    )
    shape = {end: _END_SHAPE} if end in reached else None
    return draw_graph(
        sorted(reached), tables.start, final, labels, title=title, attributes=shape, legend=legend, part=part
    )


def token_label(token: bytes) -> str:
    """Return the label of a token: its text in quotes, or its bytes if they are not UTF-8. Different tokens have
    different labels."""
    try:
        text = "".join(map(_token_character, token.decode()))
    except UnicodeDecodeError:
        text = "".join(map(byte_label, token))
    return f'"{text}"'


def _token_character(char: str) -> str:
    """Write a character of a token: quotes, backslashes and the picture of a space are escaped, and what does not print
    never looks like a byte."""
    if char in '\\"':
        return f"\\{char}"
    if char == "␣" or (ord(char) in range(0x80, 0x100) and not char.isprintable()):
        return f"\\u{ord(char):04x}"
    return character_label(char)


# The symbols popped, from the top down, and those pushed, the last one on top.
_Move = tuple[tuple[int, ...], tuple[int, ...]]


def _moves(tables: PushdownTables) -> Iterator[tuple[int, int, _Move, int]]:
    """Yield state, class, move and target of every move; it pops the symbols on the path to its node."""
    for state, popped, node in _tree_nodes(tables):
        for edge in range(tables.row_offsets[node], tables.row_offsets[node + 1]):
            outcome, number = tables.edge_outcome[edge], int(tables.edge_class[edge])
            for at in range(tables.outcome_offsets[outcome], tables.outcome_offsets[outcome + 1]):
                push = tables.move_push[at]
                pushes = tables.push_symbols[tables.push_offsets[push] : tables.push_offsets[push + 1]].tolist()
                yield state, number, (popped, tuple(pushes)), int(tables.move_target[at])


def _tree_nodes(tables: PushdownTables) -> Iterator[tuple[int, tuple[int, ...], int]]:
    """Yield the state, the symbols popped and the node for all nodes of the context trees, without sharing.

    Raises:
        LimitExceeded: there are more than `MAX_TREE_NODES`.
    """
    found: list[tuple[int, tuple[int, ...], int]] = [(state, (), state) for state in range(tables.num_states)]
    # The loop appends the children of each node to the list that it iterates over.
    for state, popped, node in found:
        yield state, popped, node
        own = slice(tables.child_offsets[node], tables.child_offsets[node + 1])
        deeper = zip(tables.child_symbol[own].tolist(), tables.child_node[own].tolist(), strict=True)
        found.extend((state, (*popped, symbol), below) for symbol, below in deeper)
        if len(found) > MAX_TREE_NODES:
            raise LimitExceeded(f"a picture of context trees with more than {MAX_TREE_NODES:,} nodes is refused")


def _lines(names: ClassNames, by_move: dict[_Move, list[int]]) -> str:
    """Return the lines of an arc, one for each move, those with the fewest symbols first."""
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
