"""From a visibly pushdown grammar to an automaton: laid out, determinized and assembled in the native core."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from automata import _native
from automata.byte_automaton import DENSE_BYTES, ByteAutomaton
from automata.errors import EmptyLanguage, LimitExceeded, NondeterministicGrammar
from automata.expressions import byte_set, literal
from automata.limits import Work, current_work
from automata.pushdown import under
from automata.pushdown.automaton import PushdownAutomaton
from automata.visibly_pushdown.grammar import VisiblyPushdownGrammar, VisiblyPushdownRule
from automata.visibly_pushdown.inlining import check_calls, to_inline
from automata.visibly_pushdown.layout import GrammarLayout, lay_out
from automata.visibly_pushdown.unfolding import unfolded

# The maximum number of states of a grammar that is written out, so that it needs no stack.
MAX_INLINED_STATES = 4000
# The maximum number of states of a start rule that is checked before texts are read.
_MAX_CHECKED_STATES = 5000
# The same before determinization.
_MAX_CHECKED_SIZE = 20_000
# The number of `FaultKind::kReadOn` in the native core.
_READ_ON = 2
# A byte that UTF-8 never uses; it stands for the end of a text.
_END = byte_set([0xFE])


def compile_visibly_pushdown(
    grammar: VisiblyPushdownGrammar, *, work: Work | None = None, max_inlined_states: int = MAX_INLINED_STATES
) -> ByteAutomaton | PushdownAutomaton:
    """Compile a grammar.

    Args:
        grammar: the rules.
        work: the limits, and the means to stop the compilation; by default, those of the current compilation.
        max_inlined_states: if the grammar has at most this many states with every call written out, no stack is needed
            and the result is a byte automaton; a grammar in which a rule calls itself always needs a stack. 0: every
            rule stays a rule.

    Raises:
        EmptyLanguage: the grammar has no text.
        LimitExceeded: a limit was exceeded, which the message names; or the grammar has nondeterministic calls.
        Cancelled: another thread cancelled the compilation.
        NondeterministicGrammar: the grammar is not visibly pushdown: after one text, two rules are called at one place,
            or something else can be read where a rule is called or ends; the message names the rules.
    """
    work = current_work(work)
    check_calls(grammar)
    if grammar.has_nondeterministic_calls:
        raise LimitExceeded("the grammar has nondeterministic calls, which only lazy automata follow")
    grammar = unfolded(grammar, work)
    layout = lay_out(grammar, to_inline(grammar, max_inlined_states, work), work)
    try:
        return _regular(layout, work) if len(layout.rules) == 1 else _pushdown(layout, work)
    except LimitExceeded as error:
        raise error.of("the automaton of the rules") from None


def check_start(grammar: VisiblyPushdownGrammar, work: Work) -> None:
    """Raise if something else can be read, or the text may end, where the start rule calls another one.

    A lazy automaton would find that out only when a text leads there. It cannot happen in rules that are made from one
    schema, only in a start rule that joins several constraints. Start rules with many states, and those that call
    several rules after the same text, are not checked.

    Raises:
        NondeterministicGrammar: something else can be read there, or the text may end.
        Cancelled: another thread cancelled the compilation.
    """
    start = grammar.rules[grammar.start]
    if start.num_states > _MAX_CHECKED_SIZE:
        return
    called = {call.rule: number for number, call in enumerate(start.calls, 1)}
    end = start.num_states
    first = replace(
        start,
        num_states=end + 1,
        arcs=[*start.arcs, *((state, _END, end) for state, _ in start.ends)],
        calls=[call._replace(rule=called[call.rule]) for call in start.calls],
        ends=[(end, 0)],
    )
    rules = [first]
    rules += [_stand_in(1) for _ in start.calls]
    for rule, number in called.items():
        rules[number] = _stand_in(grammar.rules[rule].num_exits)
    layout = lay_out(VisiblyPushdownGrammar(tuple(rules)), frozenset(), work)
    try:
        wrong, *_ = _native.compile_visibly_pushdown(layout.tables, _MAX_CHECKED_STATES, work.budget)
    except LimitExceeded:
        return
    if wrong[0] == _READ_ON:
        raise NondeterministicGrammar("where a rule is called, something else can be read, or the text may end")


def _stand_in(num_exits: int) -> VisiblyPushdownRule:
    """Return a rule that has a different text for each of its exits."""
    rule = VisiblyPushdownRule(num_exits=num_exits)
    for way in range(num_exits):
        end = rule.state()
        rule.arcs.append((0, literal(f"{way};"), end))
        rule.ends.append((end, way))
    return rule


def _regular(layout: GrammarLayout, work: Work) -> ByteAutomaton:
    tables = _native.compile_regular(layout.tables, work.limits.states, DENSE_BYTES, work.budget)
    automaton = ByteAutomaton(tables, layout.labels)
    if automaton.is_empty:
        raise EmptyLanguage("the rules have no text")
    return automaton


def _pushdown(layout: GrammarLayout, work: Work) -> PushdownAutomaton:
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


def _error(wrong: int, place: int, other_place: int, rules: tuple[int, ...]) -> NondeterministicGrammar:
    """Return the error for a defect, as the native core numbers it (`native/automata/visibly_pushdown/assembly.h`)."""
    rule, other = rules[place], rules[other_place]
    return NondeterministicGrammar(
        {
            1: f"rules {other} and {rule} are called where the same text was read",
            2: f"where rule {rule} is called, or ends, something else can be read",
            3: f"rule {rule} ends in two exits where the same text was read",
            4: f"in rule {rule}, nothing is read between two calls, or before its first call or its end",
        }[wrong]
    )
