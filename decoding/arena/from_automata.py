"""From automata over tokens to machines (`decoding.arena.machine`): every kind, and here those with states only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from automata.errors import LimitExceeded, NondeterministicGrammar, VocabularyError
from automata.limits import Limits, Work, current_work
from automata.weighted.units import from_units
from decoding.arena.from_counted import of_counted
from decoding.arena.from_pushdown import of_pushdown
from decoding.arena.layout import ENDED
from decoding.arena.machine import Machine, leaves, plain_moves, single_rows, with_last_two
from tokenfst.counted.automaton import CountedTokenAutomaton
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.classes import END
from tokenfst.misuse import check_automaton
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary
from tokenfst.weighted.automaton import WeightedTokenAutomaton


def tables_for_arena(automaton: TokenAutomaton, max_seconds: float) -> TokenAutomaton | None:
    """Return an automaton with its tables; None if it has none, if they exceed the limits, or if the arena cannot hold
    it."""
    try:
        complete = automaton.complete(limits=Limits(seconds=max_seconds)).shared
        tables = complete.support if isinstance(complete, WeightedTokenAutomaton) else complete
        if isinstance(tables, PushdownTokenAutomaton):
            _ = tables.distances  # the distances have a limit of their own
    except (LimitExceeded, NondeterministicGrammar):
        return None
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
        NondeterministicGrammar: the automaton has no tables.
        ValueError: the arena cannot hold this kind of automaton.
    """
    complete = automaton.complete().shared
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
