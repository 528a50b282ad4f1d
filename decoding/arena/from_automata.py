"""From automata over tokens to machines (`decoding.arena.machine`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from automata.errors import LimitExceeded, VocabularyError
from automata.limits import Limits, Work, current_work
from automata.weighted.units import from_units
from decoding.arena.layout import (
    COUNT,
    DEAD,
    ENDED,
    FREE,
    POPS,
    PUSH_AT,
    PUSHED,
    ROWS_AT,
    TARGET,
    WALK_AT,
)
from decoding.arena.machine import Longs, Machine, leaves, plain_moves, single_rows, with_last_two
from decoding.arena.pushdown_rows import pushdown_rows
from tokenfst.counted.automaton import CountedTokenAutomaton
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.classes import END
from tokenfst.misuse import check_automaton
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.pushdown.distance import FAR
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary
from tokenfst.weighted.automaton import WeightedTokenAutomaton


def tables_for_arena(automaton: TokenAutomaton, max_seconds: float) -> TokenAutomaton | None:
    """Return an automaton with its tables; None if making them exceeds the limits, or the arena cannot hold it."""
    try:
        complete = automaton.complete(limits=Limits(seconds=max_seconds))
    except LimitExceeded:
        return None
    tables = complete.support if isinstance(complete, WeightedTokenAutomaton) else complete
    return complete if isinstance(tables, FiniteTokenAutomaton | PushdownTokenAutomaton) else None


def check_vocabulary(automaton: TokenAutomaton, vocabulary: Vocabulary) -> None:
    """Check that an argument is an automaton that was compiled for an arena's vocabulary.

    Raises:
        TypeError: it is not an automaton over tokens.
        VocabularyError: it was compiled for another vocabulary.
    """
    check_automaton(automaton)
    if automaton.vocabulary.digest != vocabulary.digest:
        raise VocabularyError("the automaton was compiled for another vocabulary than the arena's")


def configurations_of(automaton: TokenAutomaton) -> int:
    """Return how many configurations a sequence of the automaton carries."""
    complete = automaton.complete()
    return complete.tables.max_configurations if isinstance(complete, PushdownTokenAutomaton) else 1


def machine_of(automaton: TokenAutomaton, max_depth: int, work: Work | None = None) -> Machine:
    """Return the machine of an automaton.

    Args:
        automaton: the automaton.
        max_depth: the maximum number of symbols on the stack.
        work: the compilation that this is part of.

    Raises:
        LimitExceeded: the automaton's tables or distances exceed a limit.
        ValueError: the arena cannot hold this kind of automaton.
    """
    complete = automaton.complete()
    if isinstance(complete, WeightedTokenAutomaton):
        return of_weighted(complete, machine_of(complete.support, max_depth, work), work)
    if isinstance(complete, PushdownTokenAutomaton):
        return of_pushdown(complete, max_depth, work)
    if isinstance(complete, CountedTokenAutomaton):
        return of_counted(complete)
    if isinstance(complete, FiniteTokenAutomaton):
        return of_regular(complete)
    raise ValueError(f"the arena cannot hold {complete!r}; follow it on the host")


def unconstrained(vocabulary: Vocabulary) -> Machine:
    """Return the machine that allows every token of a vocabulary."""
    classes = np.full(len(vocabulary), END + 1)
    classes[list(vocabulary.eos_ids)] = END
    rows = np.arange(3)
    rest, rest_of = with_last_two(np.array([[0, 1]]), np.array([2, 0, 1]))
    return Machine(
        token_class=classes,
        num_classes=END + 2,
        rows=single_rows([0, 0, 1, 3], [END, END, END + 1], [ENDED, ENDED, 2]),
        outcomes=np.arange(5)[:, None],
        moves=plain_moves(rows),
        nodes=leaves(rows, rows * 0, rows * 0),
        node_rows=rows,
        first=2,
        rest=rest,
        rest_of=rest_of,
        least=1,
    )


def of_regular(automaton: FiniteTokenAutomaton) -> Machine:
    """Return the machine of an automaton without a stack or a count.

    State q is row, node and move q + 2; the state after the end is ENDED.
    """
    source, number, target = (column.astype(np.int64) for column in automaton.transitions.edges())
    inside = source != automaton.end_state
    # The transition by the end token after the end comes first, since rows are in order.
    source, number = np.insert(source[inside] + 2, 0, ENDED), np.insert(number[inside], 0, END)
    target = np.insert(np.where(target == automaton.end_state, ENDED, target + 2)[inside], 0, ENDED)
    count = automaton.num_states + 1
    rows = np.arange(count)
    least = automaton.min_tokens_by_state.astype(np.int64)
    # A column for each number of tokens. Move 0, which leads nowhere, has the column after them.
    first = int(least.min())
    values = np.arange(first, int(least.max()) + 1)
    column = np.concatenate([[len(values)], least[-1:] - first, least[:-1] - first])
    rest, rest_of = with_last_two(values[None], column)
    return Machine(
        token_class=automaton.token_class,
        num_classes=automaton.num_classes,
        rows=single_rows(np.searchsorted(source, np.arange(count + 1)), number, target),
        outcomes=np.arange(count + 2)[:, None],
        moves=plain_moves(rows),
        nodes=leaves(rows, rows * 0, rows * 0),
        node_rows=rows,
        first=automaton.start + 2,
        rest=rest,
        rest_of=rest_of,
        least=automaton.min_tokens(automaton.start),
    )


def of_weighted(automaton: WeightedTokenAutomaton, machine: Machine, work: Work | None = None) -> Machine:
    """Return the machine of the support with the costs of its rows; rows with the same state over bytes share them.

    Raises:
        LimitExceeded: the costs take too much memory.
    """
    priced = automaton.priced_states(current_work(work))
    rows = np.zeros((machine.rows.num_rows, 2), np.int64)
    rows[2 : 2 + len(priced.rows)] = priced.rows
    rows[:, 1] -= rows[:, 0]
    costs = from_units(priced.units).astype(np.float32)
    return replace(machine, row_weights=rows, weight_tokens=priced.tokens.astype(np.int64), weight_costs=costs)


def of_counted(automaton: CountedTokenAutomaton) -> Machine:
    """Return the machine of an automaton that counts.

    Place q is node q + 2, with a row for each interval of counts in which the same guards are open.
    """
    form = automaton.transitions
    cuts, rows, edges = [], [[DEAD], [ENDED]], [(ENDED, END, ENDED, 0, 0)]
    num_cuts, num_rows = [0, 0], 2
    for place in range(form.num_control_states - 1):
        own = slice(int(form.row_offsets[place]), int(form.row_offsets[place + 1]))
        low, high = form.low[own], form.high[own]
        begins = np.unique(np.concatenate([[0], low, high + 1]))
        begins = begins[begins <= form.max_register]
        for begin in begins.tolist():
            for edge in (np.flatnonzero((low <= begin) & (begin <= high)) + own.start).tolist():
                target, action = int(form.edge_target[edge]), int(form.action[edge])
                node = ENDED if target == form.num_control_states - 1 else target + 2
                change = (1, action) if action >= 0 else (0, ~action)
                edges.append((num_rows, int(form.edge_class[edge]), node, *(change if node != ENDED else (0, 0))))
            num_rows += 1
        rows.append(list(range(num_rows - len(begins), num_rows)))
        cuts.append(begins[1:])
        num_cuts.append(len(begins) - 1)
    table = np.array(edges, np.int64)
    moves, outcome = np.unique(table[:, 2:], axis=0, return_inverse=True)
    sizes = np.array([len(each) for each in rows])
    cuts_by_node = np.array(num_cuts)
    nodes = leaves(np.cumsum(sizes) - sizes, np.cumsum(cuts_by_node) - cuts_by_node, cuts_by_node)
    node_runs, runs = _runs(automaton, len(nodes))
    # The number of tokens that follow is in the runs alone.
    rest, rest_of = with_last_two(np.zeros((1, 1), np.int64), np.zeros(len(moves), np.int64))
    return Machine(
        token_class=automaton.token_class,
        num_classes=automaton.num_classes,
        rows=single_rows(np.searchsorted(table[:, 0], np.arange(num_rows + 1)), table[:, 1], outcome.reshape(-1)),
        outcomes=np.arange(len(moves) + 2)[:, None],
        moves=plain_moves(*moves.T),
        nodes=nodes,
        node_rows=np.concatenate(rows),
        cuts=np.concatenate(cuts),
        gauge=COUNT,
        first=automaton.start + 2,
        rest=rest,
        rest_of=rest_of,
        node_runs=node_runs,
        runs=runs,
        least=automaton.min_tokens(automaton.start),
    )


def _runs(automaton: CountedTokenAutomaton, num_nodes: int) -> tuple[Longs, Longs]:
    """Return `node_runs` and `runs`: the least number of tokens by count, from each place but that after the end."""
    form, steps = automaton.transitions, automaton.min_tokens_runs
    values = form.max_register + 1
    place, begin = steps.key // values, steps.key % values
    kept = place < form.num_control_states - 1
    node_runs = np.zeros((num_nodes, 2), np.int64)
    node_runs[2:, 0] = np.searchsorted(place, np.arange(form.num_control_states - 1))
    node_runs[2:, 1] = np.bincount(place[kept], minlength=form.num_control_states - 1)
    return node_runs, np.stack([begin, np.minimum(steps.value, FAR)], 1)[kept]


def of_pushdown(automaton: PushdownTokenAutomaton, max_depth: int, work: Work | None = None) -> Machine:
    """Return the machine of an automaton with a stack.

    Node n of the context trees is node n + 2, but the state after the end is ENDED; rows are those of
    `decoding.arena.pushdown_rows`.
    """
    tables, depths = automaton.tables, [max_depth, automaton.max_depth]
    made, distance = pushdown_rows(tables, work), automaton.distances
    num_moves, num_nodes = len(tables.move_pops), tables.num_nodes
    node = np.arange(num_nodes) + 2
    node[tables.num_states - 1] = ENDED
    moves = np.zeros((num_moves + 2, 6), np.int64)
    moves[:-2, POPS], moves[:-2, TARGET] = tables.move_pops, node[tables.move_target]
    moves[:-2, PUSHED] = np.diff(tables.push_offsets)[tables.move_push]
    moves[:-2, PUSH_AT] = tables.push_offsets[tables.move_push]
    moves[-1, TARGET] = ENDED
    none = np.full((2, made.outcomes.shape[1]), num_moves)
    none[1, 0] += 1
    # The first two nodes have rows of their own, which come first.
    nodes = leaves(*(np.append([0, 0], column) for column in (made.rows_at + 2, made.cuts_at, made.num_cuts)))
    nodes[ENDED, ROWS_AT] = ENDED
    num_children = np.diff(tables.child_offsets)
    inner = np.flatnonzero(num_children)
    walk = np.full((len(inner), tables.num_symbols + 1), DEAD)
    walk[np.repeat(np.arange(len(inner)), num_children[inner]), tables.child_symbol] = node[tables.child_node]
    nodes[inner + 2, WALK_AT] = np.arange(len(inner)) * walk.shape[1]
    # The distances of the tables count an end token, even if the vocabulary has none.
    end = int(not automaton.vocabulary.eos_ids)
    rest, rest_of = with_last_two(np.where(distance.rest < FAR, distance.rest - end, FAR), distance.rest_of)
    return Machine(
        token_class=automaton.token_class,
        num_classes=tables.num_classes,
        rows=made.rows,
        outcomes=np.concatenate([made.outcomes, none]),
        moves=moves,
        pushes=tables.push_symbols,
        nodes=nodes,
        walk=walk,
        node_rows=np.append([DEAD, ENDED], made.node_rows),
        cuts=made.cuts,
        gauge=FREE,
        depth=min(depth for depth in depths if depth is not None),
        first=int(node[tables.start]),
        rest=rest,
        rest_of=rest_of,
        next=distance.next,
        cost=distance.cost,
        least=distance.first - end,
        is_ambiguous=tables.max_configurations > 1,
        reads=tables.max_pops,
        longest=int(moves[:, PUSHED].max()),
        parts=made.parts,
        at_once=made.at_once,
    )
