"""From a network of nested rules to an automaton: laid out, determinized and assembled."""

from __future__ import annotations

import numpy as np

from automata.byte_automaton import ByteAutomaton
from automata.transition.determinize import DONE, TOO_MANY_STATES
from automata.errors import EmptyLanguage, LimitExceeded
from automata.limits import Work, under_way
from automata.nested.assembly import (
    AT_ONCE,
    READ_ON,
    TWO_EXITS,
    TWO_RULES,
    Places,
    Symbols,
    places_of,
    rows_of,
    steps_of,
)
from automata.nested.determinize import Deterministic, deterministic, regular
from automata.nested.exits import by_exits
from automata.nested.headroom import headrooms
from automata.nested.inlining import check_calls, to_inline
from automata.nested.laying import Layout, lay_out
from automata.nested.network import NestedNetwork
from automata.arrays import BoolArray, IntArray
from automata.pushdown.automaton import PushdownAutomaton
from automata.transition.tabulate import DENSE_BYTES, from_either

# The most states of an automaton without a stack that rules are written out to.
MAX_INLINED_STATES = 4000


def compile_nested(
    network: NestedNetwork, *, work: Work | None = None, max_inlined_states: int = MAX_INLINED_STATES
) -> ByteAutomaton | PushdownAutomaton:
    """The automaton of a network.

    Args:
        network: the rules.
        work: the limits, and how the compilation is stopped; without it, the default limits.
        max_inlined_states: where no rule calls itself, by way of others or not, and the rules with every call written
            out are laid in at most so many states, there is no stack: the result is an automaton over bytes alone.
            0: every rule stays a rule.

    Raises:
        EmptyLanguage: the network has no text.
        LimitExceeded: a limit was passed; the message names it.
        Cancelled: another thread cancelled the compilation.
        ValueError: the network is none: on one text, two rules are called at one place, or a rule is called or ends
            where something else can be read; the message names the rules.
    """
    with under_way(work) as work:
        check_calls(network)
        layout = lay_out(network, to_inline(network, max_inlined_states, work), work)
        if len(layout.rules) == 1:
            return _regular(layout, work)
        found = _deterministic(layout, work)
        if not found.has_text[0]:
            raise EmptyLanguage("the rules have no text")
        return _pushdown(layout, found, work)


def _regular(layout: Layout, work: Work) -> ByteAutomaton:
    limits = work.limits
    status, tables = regular(
        layout.num_states,
        layout.chains,
        layout.copies,
        layout.epsilon,
        int(layout.starts[0]),
        layout.ends,
        len(layout.labels),
        limits.states,
        limits.table_bytes,
        DENSE_BYTES,
        work.stop,
    )
    _finished(status, work)
    automaton = from_either(tables, layout.labels)
    if automaton.is_empty:
        raise EmptyLanguage("the rules have no text")
    return automaton


def _deterministic(layout: Layout, work: Work) -> Deterministic:
    limits = work.limits
    status, found = deterministic(
        layout.num_states,
        layout.chains,
        layout.copies,
        layout.epsilon,
        layout.starts,
        layout.first_exit,
        layout.calls,
        layout.targets,
        layout.ends,
        layout.prepared,
        len(layout.labels),
        limits.states,
        limits.table_bytes,
        work.stop,
    )
    _finished(status, work)
    return found


def _finished(status: int, work: Work) -> None:
    """Goes on if a construction came to its end."""
    work.check()
    if status != DONE:
        limits = work.limits
        most = {TOO_MANY_STATES: f"have more than {limits.states:,} states (limit `states`)"}
        too_large = f"take more than {limits.table_bytes:,} bytes (limit `table_bytes`)"
        raise LimitExceeded(f"the automata of the rules {most.get(status, too_large)}")


def _pushdown(layout: Layout, found: Deterministic, work: Work) -> PushdownAutomaton:
    meaning = Symbols(int(found.interval[255]) + 1, len(layout.labels), len(layout.rules), layout.first_exit)
    rows = rows_of(found.automaton)
    places = places_of(found.start, rows, meaning)
    _check(layout.rules, places)
    if _some_unwanted(places, layout.first_exit, found.has_text):
        start, automaton, meaning = by_exits(found.start, found.automaton, meaning, work)
        rows = rows_of(automaton)
        places = places_of(start, rows, meaning)
    steps = steps_of(rows, places, meaning, found.interval)
    num_symbols = len(places.callee)
    begins = places.number[places.rule_start[places.callee]]
    returns = np.where(places.returns >= 0, places.number[places.returns], -1).astype(np.int32)
    headroom, symbol_headroom = headrooms(len(places.states), steps.edges, steps.calls, steps.ends, begins, returns)
    return PushdownAutomaton(
        start=0,
        byte_class=steps.byte_class,
        labels=layout.labels,
        num_symbols=num_symbols,
        step_offsets=steps.offsets,
        step_pops=steps.pops,
        step_pushes=steps.pushes,
        step_target=steps.target,
        parent=np.zeros(num_symbols + 1, np.int32),
        symbol=np.append(np.int32(0), np.arange(num_symbols, dtype=np.int32)),
        headroom=np.append(headroom, np.int32(0)),
        symbol_headroom=symbol_headroom,
        may_lie_under=places.callee[None, :] == places.caller[:, None],
    )


def _some_unwanted(places: Places, first_exit: IntArray, has_text: BoolArray) -> bool:
    """Whether some rule is called where the text cannot go on after one of its exits."""
    way = first_exit[places.callee][:, None] + np.arange(places.returns.shape[1])
    exists = way < first_exit[places.callee + 1][:, None]
    return bool((exists & has_text[np.where(exists, way, 0)] & (places.returns < 0)).any())


def _check(rules: tuple[int, ...], places: Places) -> None:
    """Raises the error for what is wrong, if anything is."""
    wrong = int(places.wrong[0])
    rule, other = (rules[place] for place in places.wrong[1:].tolist())
    if wrong == TWO_RULES:
        raise ValueError(f"rules {other} and {rule} are called where the same text was read")
    if wrong == READ_ON:
        raise ValueError(f"where rule {rule} is called, or ends, something else can be read")
    if wrong == TWO_EXITS:
        raise ValueError(f"rule {rule} ends in two exits where the same text was read")
    if wrong == AT_ONCE:
        raise ValueError(f"in rule {rule}, nothing is read between two calls, or before its first call or its end")
