"""From a network of nested rules to an automaton: laid out, determinized and assembled."""

from __future__ import annotations

import numpy as np

from automata import _native
from automata.byte_automaton import DENSE_BYTES, ByteAutomaton
from automata.errors import EmptyLanguage, LimitExceeded
from automata.limits import Work, under_way
from automata.nested.inlining import check_calls, to_inline
from automata.nested.laying import Layout, lay_out
from automata.nested.network import NestedNetwork
from automata.pushdown import under
from automata.pushdown.automaton import PushdownAutomaton

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
    work = under_way(work)
    check_calls(network)
    layout = lay_out(network, to_inline(network, max_inlined_states, work), work)
    try:
        return _regular(layout, work) if len(layout.rules) == 1 else _pushdown(layout, work)
    except LimitExceeded as error:
        raise error.of("the automaton of the rules") from None


def _regular(layout: Layout, work: Work) -> ByteAutomaton:
    tables = _native.compile_regular(layout.tables, work.limits.states, DENSE_BYTES, work.budget)
    automaton = ByteAutomaton(tables, layout.labels)
    if automaton.is_empty:
        raise EmptyLanguage("the rules have no text")
    return automaton


def _pushdown(layout: Layout, work: Work) -> PushdownAutomaton:
    wrong, has_text, byte_class, step_offsets, pops, pushes, target, symbols, headroom, symbol_headroom = (
        _native.compile_visibly_pushdown(layout.tables, work.limits.states, work.budget)
    )
    if wrong[0]:
        raise _error(*wrong, layout.rules)
    if not has_text:
        raise EmptyLanguage("the rules have no text")
    num_symbols, (callee, caller) = len(symbols), np.ascontiguousarray(symbols.T)
    return PushdownAutomaton(
        start=0,
        byte_class=byte_class,
        labels=layout.labels,
        num_symbols=num_symbols,
        step_offsets=step_offsets,
        step_pops=pops,
        step_pushes=pushes,
        step_target=target,
        parent=np.zeros(num_symbols + 1, np.int32),
        symbol=np.append(np.int32(0), np.arange(num_symbols, dtype=np.int32)),
        headroom=headroom,
        symbol_headroom=symbol_headroom,
        may_lie_under=under.by_rules(caller, callee),
    )


def _error(wrong: int, place: int, other_place: int, rules: tuple[int, ...]) -> ValueError:
    """The error for what is wrong, as the native core numbers it (`native/automata/nested/assembly.h`)."""
    rule, other = rules[place], rules[other_place]
    return ValueError(
        {
            1: f"rules {other} and {rule} are called where the same text was read",
            2: f"where rule {rule} is called, or ends, something else can be read",
            3: f"rule {rule} ends in two exits where the same text was read",
            4: f"in rule {rule}, nothing is read between two calls, or before its first call or its end",
        }[wrong]
    )
