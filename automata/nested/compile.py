"""From a network of nested rules to an automaton: laid out, determinized, minimized and assembled."""

from __future__ import annotations

import numpy as np

from automata.byte_automaton import ByteAutomaton
from automata.determinize import DONE, TOO_MANY_STATES
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
from automata.nested.determinize import Deterministic, deterministic
from automata.nested.headroom import headrooms
from automata.nested.laying import Layout, lay_out
from automata.nested.network import NestedNetwork
from automata.pushdown.automaton import PushdownAutomaton


def compile_nested(network: NestedNetwork, *, work: Work | None = None) -> ByteAutomaton | PushdownAutomaton:
    """The automaton of a network.

    Raises:
        EmptyLanguage: the network has no text.
        LimitExceeded: a limit was passed; the message names it.
        Cancelled: another thread cancelled the compilation.
        ValueError: the network is none: on one text, two rules are called at one place, or a rule is called or ends
            where something else can be read; the message names the rules.
    """
    with under_way(work) as work:
        layout = lay_out(network, work)
        found = _deterministic(layout, work)
        if found.start < 0:
            raise EmptyLanguage("the rules have no text")
        return _pushdown(network, layout, found)


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
        len(layout.labels),
        limits.states,
        limits.table_bytes,
        work.stop,
    )
    work.check()
    if status != DONE:
        most = {TOO_MANY_STATES: f"have more than {limits.states:,} states (limit `states`)"}
        too_large = f"take more than {limits.table_bytes:,} bytes (limit `table_bytes`)"
        raise LimitExceeded(f"the automata of the rules {most.get(status, too_large)}")
    return found


def _pushdown(network: NestedNetwork, layout: Layout, found: Deterministic) -> PushdownAutomaton:
    meaning = Symbols(
        int(found.interval[255]) + 1, len(layout.labels), len(network.rules), layout.first_exit, network.start
    )
    rows = rows_of(found.automaton)
    places = places_of(found.start, rows, meaning)
    _check(places)
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


def _check(places: Places) -> None:
    wrong, rule, other = places.wrong.tolist()
    if wrong == TWO_RULES:
        raise ValueError(f"rules {other} and {rule} are called where the same text was read")
    if wrong == READ_ON:
        raise ValueError(f"where rule {rule} is called, or ends, something else can be read")
    if wrong == TWO_EXITS:
        raise ValueError(f"rule {rule} ends in two exits where the same text was read")
    if wrong == AT_ONCE:
        raise ValueError(
            f"in rule {rule}, a rule is called, or it ends, where no byte was read since it began or since a call"
        )
