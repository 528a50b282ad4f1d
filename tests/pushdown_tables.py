"""Tables of pushdown token automata for tests: made at random, or from a few steps over bytes, and read one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokenfst.finite.classes import END
from tokenfst.pushdown.tables import PushdownTables

Configuration = tuple[int, tuple[int, ...]]
Move = tuple[int, tuple[int, ...], int, int]  # pops, pushes, target, room
Edges = Mapping[tuple[int, int], Sequence[Move]]


def make_tables(
    start: int,
    num_classes: int,
    child: Sequence[Sequence[int]],
    edges: Edges,
    num_states: int,
    max_pops: int,
    max_configurations: int = 1,
) -> PushdownTables:
    """Tables from the edges of each node and class."""
    pushes: dict[tuple[int, ...], int] = {(): 0}
    outcomes: dict[tuple[Move, ...], int] = {}
    keys = sorted(edges)
    for key in keys:
        outcomes.setdefault(tuple(edges[key]), len(outcomes))
        for _, pushed, _, _ in edges[key]:
            pushes.setdefault(pushed, len(pushes))
    moves = [move for outcome in outcomes for move in outcome]

    def ints(values: npt.ArrayLike) -> npt.NDArray[np.int32]:
        return np.array(values, np.int32)

    return PushdownTables(
        num_states=num_states,
        num_symbols=len(child[0]),
        num_classes=num_classes,
        start=start,
        child_offsets=ints(np.cumsum([0, *(sum(below >= 0 for below in row) for row in child)])),
        child_symbol=ints([symbol for row in child for symbol, below in enumerate(row) if below >= 0]),
        child_node=ints([below for row in child for below in row if below >= 0]),
        max_pops=max_pops,
        row_offsets=ints([sum(node < bound for node, _ in keys) for bound in range(len(child) + 1)]),
        edge_class=ints([number for _, number in keys]),
        edge_outcome=ints([outcomes[tuple(edges[key])] for key in keys]),
        outcome_offsets=ints(np.cumsum([0, *map(len, outcomes)])),
        move_pops=ints([move[0] for move in moves]),
        move_push=ints([pushes[move[1]] for move in moves]),
        move_target=ints([move[2] for move in moves]),
        move_room=ints([move[3] for move in moves]),
        push_offsets=ints(np.cumsum([0, *map(len, pushes)])),
        push_symbols=ints([symbol for pushed in pushes for symbol in pushed]),
        max_configurations=max_configurations,
    )


def random_tables(seed: int, max_configurations: int = 1) -> PushdownTables:
    """Any tables; nodes at depth d share trees, and in deterministic ones have only classes of their own."""
    random = np.random.default_rng(seed)
    states, symbols, depth = int(random.integers(2, 6)), int(random.integers(1, 4)), int(random.integers(0, 4))
    classes = int(random.integers(4, 10))
    layers = [states, *random.integers(1, 4, depth).tolist()]
    firsts = np.cumsum([0, *layers])
    child = [[-1] * symbols for _ in range(firsts[-1])]
    edges: dict[tuple[int, int], list[Move]] = {}
    for layer in range(depth + 1):
        for node in range(firsts[layer], firsts[layer + 1]):
            if node == states - 1:
                continue
            for symbol in range(symbols):
                if layer < depth and random.random() < 0.7:
                    child[node][symbol] = int(random.integers(firsts[layer + 1], firsts[layer + 2]))
            for number in range(1, classes):
                count = 1 if max_configurations == 1 else int(random.integers(1, 3))
                if random.random() < 0.6 and (max_configurations > 1 or number % (depth + 1) == layer):
                    edges[node, number] = [_random_move(random, number, layer, states, symbols) for _ in range(count)]
    edges[states - 1, END] = [(0, (), states - 1, 0)]
    return make_tables(0, classes, child, edges, states, depth, max_configurations)


def _random_move(random: np.random.Generator, number: int, depth: int, states: int, symbols: int) -> Move:
    pushed = tuple(random.integers(0, symbols, random.integers(0, 4)).tolist()) if number != END else ()
    target = states - 1 if number == END else int(random.integers(0, states - 1))
    return int(random.integers(0, depth + 1)), pushed, target, len(pushed) + int(random.integers(0, 2))


Steps = Mapping[tuple[int, str], Sequence[tuple[tuple[int, ...], tuple[int, ...], int]]]


def tables_of_steps(steps: Steps, final: int, num_symbols: int, tokens: Sequence[str]) -> PushdownTables:
    """Tables of an automaton over letters in which no text needs a higher stack than it has.

    Args:
        steps: (state, letter) to pops, from the top down, pushes, from the bottom up, and targets; 0 is the start.
        final: the state in which, with whatever stack, the text may end; the steps see to it that the stack is empty.
        num_symbols: S.
        tokens: class `2 + i` is token i.
    """
    num_states = 2 + max(state for state, _ in steps)
    child: list[list[int]] = [[-1] * num_symbols for _ in range(num_states)]
    edges: dict[tuple[int, int], list[Move]] = {(final, END): [(0, (), num_states - 1, 0)]}
    edges[num_states - 1, END] = [(0, (), num_states - 1, 0)]
    deepest = 0
    for state in range(num_states - 1):
        for place, token in enumerate(tokens):
            for pops, pushes, target in sorted(_effects(steps, state, token)):
                node, deepest = state, max(deepest, len(pops))
                for symbol in pops:
                    if child[node][symbol] < 0:
                        child[node][symbol] = len(child)
                        child.append([-1] * num_symbols)
                    node = child[node][symbol]
                edges.setdefault((node, 2 + place), []).append((len(pops), pushes, target, len(pushes)))
    return make_tables(0, len(tokens) + 2, child, edges, num_states, deepest)


def _effects(steps: Steps, state: int, token: str) -> set[tuple[tuple[int, ...], tuple[int, ...], int]]:
    found: set[tuple[tuple[int, ...], tuple[int, ...], int]] = {((), (), state)}
    for letter in token:
        followed = set()
        for pops, pushes, place in found:
            for wanted, added, target in steps.get((place, letter), []):
                inside = min(len(wanted), len(pushes))
                if wanted[:inside] == pushes[::-1][:inside]:
                    left = pushes[: len(pushes) - inside]
                    followed.add((pops + wanted[inside:], left + added, target))
        found = followed
    return found


def children(tables: PushdownTables, node: int) -> dict[int, int]:
    """The children of a node by symbol."""
    own = slice(tables.child_offsets[node], tables.child_offsets[node + 1])
    return dict(zip(tables.child_symbol[own].tolist(), tables.child_node[own].tolist(), strict=True))


@dataclass(frozen=True)
class Walk:
    """The tables read as they are documented, one configuration at a time."""

    tables: PushdownTables
    max_depth: int

    def moves(self, configuration: Configuration, number: int) -> list[Configuration]:
        """Where a class leads, to each configuration once."""
        tables, (node, stack) = self.tables, configuration
        found: list[Configuration] = []
        for place in range(len(stack) + 1):
            for edge in range(tables.row_offsets[node], tables.row_offsets[node + 1]):
                if tables.edge_class[edge] == number:
                    found += self._outcome(int(tables.edge_outcome[edge]), stack)
            below = children(tables, node).get(stack[-1 - place]) if place < len(stack) else None
            if below is None:
                break
            node = below
        return sorted(set(found))

    def _outcome(self, outcome: int, stack: tuple[int, ...]) -> list[Configuration]:
        tables, found = self.tables, []
        for move in range(tables.outcome_offsets[outcome], tables.outcome_offsets[outcome + 1]):
            left = stack[: len(stack) - tables.move_pops[move]]
            begin, end = tables.push_offsets[tables.move_push[move] :][:2]
            if len(left) + tables.move_room[move] <= self.max_depth:
                symbols = tuple(tables.push_symbols[begin:end].tolist())
                found.append((int(tables.move_target[move]), left + symbols))
        return found

    def allowed(self, configurations: Sequence[Configuration]) -> set[int]:
        """The classes that some configuration allows."""
        classes = range(self.tables.num_classes)
        return {number for number in classes if any(self.moves(each, number) for each in configurations)}

    def advance(self, configurations: Sequence[Configuration], number: int) -> list[Configuration]:
        """Where a class leads from all of them; the end takes anything and stays."""
        end = self.tables.num_states - 1
        if any(state == end for state, _ in configurations):
            return list(configurations)
        return sorted({found for each in configurations for found in self.moves(each, number)})
