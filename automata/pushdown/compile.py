"""From a grammar, or its network, to a pushdown automaton."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from automata.limits import Work, under_way
from automata.pushdown.ambiguity import explained
from automata.openfst import IntArray
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.completion import headrooms, needed
from automata.pushdown.determinize import Determinizer, Unbounded
from automata.pushdown.grammar import Grammar, Place
from automata.pushdown.network import Network, build_network
from automata.pushdown.places import Places

Ambiguity = Literal["error", "parallel"]


def compile_grammar(
    grammar: Grammar,
    *,
    ambiguity: Ambiguity = "error",
    max_configurations: int = 8,
    work: Work | None = None,
) -> PushdownAutomaton:
    """The pushdown automaton of a grammar.

    Args:
        grammar: the grammar.
        ambiguity: "error": the automaton is deterministic, or there is none. "parallel": configurations go on side by
            side, and words are resolved in each by itself.
        max_configurations: how many, for "parallel".
        work: the limits, and how the compilation is stopped; without it, the default limits.

    Raises:
        GrammarError: the grammar cannot be honoured; the message says where and why.
        NondeterministicGrammar: two derivations that cannot be told apart.
        EmptyLanguage: the grammar has no text.
        LimitExceeded: a limit was passed.
        Cancelled: another thread cancelled the compilation.
    """
    with under_way(work) as work:
        return compile_network(
            build_network(grammar, work),
            ambiguity=ambiguity,
            max_configurations=max_configurations,
            places=grammar.places,
            work=work,
        )


def compile_network(
    network: Network,
    *,
    ambiguity: Ambiguity = "error",
    max_configurations: int = 8,
    places: Mapping[str, Place] | None = None,
    work: Work | None = None,
) -> PushdownAutomaton:
    """The pushdown automaton of a network; see `compile_grammar`.

    Args:
        network: the network.
        ambiguity, max_configurations, work: as for `compile_grammar`.
        places: where rules were defined, for errors.
    """
    with under_way(work) as work:
        found = Determinizer(Places(network), work.limits.states)
        start = found.place(found.places.start)
        found.place(found.places.end_state)
        try:
            while found.todo:
                work.check()
                found.expand(found.todo.pop())
        except Unbounded as unbounded:
            raise explained(found, unbounded, _tables(found, start), _numbers(found), places or {}) from None
        return _tables(found, start)


def _tables(found: Determinizer, start: int) -> PushdownAutomaton:
    places, sequences = found.places, found.steps.sequences
    numbers = np.full(places.end_state + 1, -1, np.int32)
    numbers[list(found.state_of_place)] = list(found.state_of_place.values())
    state, column, pops, pushes, target = found.steps.table(places.go, numbers)
    order, last = _numbers(found), len(found.elements) - 1
    counts = np.zeros((last + 1) * places.num_columns, np.int64)
    key = order[state].astype(np.int64) * places.num_columns + column
    by_key = np.argsort(key, kind="stable")
    counts += np.bincount(key, minlength=len(counts))
    room = headrooms(places)
    headroom = np.zeros(last + 1, np.int32)
    headroom[order] = [min(needed(room, *element) for element in elements) for elements in found.elements]
    symbols = list(sequences.symbol)
    under = [set(places.under[places.rule_of[symbol]]) for symbol in symbols]
    return PushdownAutomaton(
        start=int(order[start]),
        byte_class=places.network.byte_class,
        labels=places.network.labels,
        num_symbols=len(symbols),
        step_offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        step_pops=pops[by_key],
        step_pushes=pushes[by_key],
        step_target=order[target[by_key]],
        parent=np.array(sequences.parent, np.int32),
        symbol=np.array(sequences.last, np.int32),
        headroom=headroom,
        symbol_headroom=np.array([room[symbol] for symbol in symbols], np.int32),
        may_lie_under=np.array([[other in each for other in symbols] for each in under], np.bool_).reshape(
            len(symbols), len(symbols)
        ),
    )


def _numbers(found: Determinizer) -> IntArray:
    """The final number of each state: the one after the end of the text comes last."""
    end = found.place(found.places.end_state)
    numbers = np.arange(len(found.elements), dtype=np.int32)
    numbers[end:] -= 1
    numbers[end] = len(numbers) - 1
    return numbers
