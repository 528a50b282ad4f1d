"""Liveness: whether a visibly pushdown grammar has a text, without building its automaton."""

from __future__ import annotations

from itertools import accumulate, chain

from automata import _native
from automata import expressions as ex
from automata.arrays import IntArray, int_array, int_rows
from automata.byte_automaton import ByteAutomaton
from automata.limits import current_work
from automata.visibly_pushdown import ArcLanguage, CountedPaths, CountedUnits, VisiblyPushdownGrammar


def has_text(grammar: VisiblyPushdownGrammar) -> bool:
    """Return whether a grammar has a text; every expression except `EMPTY` is taken to have one."""
    return 0 in live_exits(grammar)[grammar.start]


def live_exits(grammar: VisiblyPushdownGrammar) -> list[set[int]]:
    """Return the exits in which each rule can end: the productive ones (`native/automata/fixpoint.h`)."""
    rules = grammar.rules
    first_state = [0, *accumulate(rule.num_states for rule in rules)]
    first_exit = [0, *accumulate(rule.num_exits for rule in rules)]
    # Rules may share languages, which are tested once.
    languages = {id(language): language for rule in rules for _, language, _ in rule.arcs}
    dead = {number for number, language in languages.items() if is_empty(language)}
    edges, returns, ends = list[tuple[int, ...]](), list[tuple[int, ...]](), list[tuple[int, ...]]()
    for rule, state, way in zip(rules, first_state, first_exit, strict=False):
        edges += [(state + source, state + to) for source, language, to in rule.arcs if id(language) not in dead]
        edges += [(state + source, state + to) for source, to in rule.epsilon]
        edges += [(state + source, state + to) for source, to, _, _ in rule.guarded]
        for call in rule.calls:
            called = enumerate(call.targets, first_exit[call.rule])
            returns += [(state + call.source, number, state + to) for number, to in called if to >= 0]
        ends += [(state + at, way + number) for at, number in rule.ends]
    found = _native.productive_exits(
        first_state[-1],
        first_exit[-1],
        _rows(edges, 2),
        _rows(returns, 3),
        int_array(first_state[:-1]),
        _rows(ends, 2),
        current_work().budget,
    ).tolist()
    return [
        {way for way in range(rule.num_exits) if found[first + way]}
        for rule, first in zip(rules, first_exit, strict=False)
    ]


def _rows(records: list[tuple[int, ...]], width: int) -> IntArray:
    return int_rows(list(chain.from_iterable(records)), width)


def is_empty(language: ArcLanguage) -> bool:
    """Return whether a language is known to be empty."""
    if isinstance(language, CountedUnits | CountedPaths):
        return False
    return language.is_empty if isinstance(language, ByteAutomaton) else ex.is_empty(language)
