"""Network: minimal byte automata that call each other, one for each rule, in one table.

state   of one rule's automaton; the states of all rules are numbered through
byte    leads to a state of the same rule
call    at a state: another rule is read, and then the text goes on at the state that the call returns to
word    at a state: a lexical rule's word may end here, and then the text goes on at another state
label   a place where a token of a named set is written, as in `ByteAutomaton`
final   at a state: the rule may end here, and its caller goes on
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from automata.arrays import ByteArray
from automata.transition.byte_automaton import merge_columns
from automata.transition.determinize import DONE, TOO_MANY_STATES, TOO_MUCH_MEMORY, Transitions, determinize
from automata.errors import LimitExceeded
from automata.transition.grouping import grouped
from automata.transition.intervals import FIRST_LABEL, over_intervals
from automata.jit import kernel
from automata.limits import Flag, Work
from automata.transition.minimize import minimize
from automata.arrays import BoolArray, IntArray
from automata.pushdown import analysis, recursion
from automata.pushdown.grammar import Grammar
from automata.pushdown.inlining import Joined, inline
from automata.pushdown.laying import lay_rules
from automata.pushdown.naming import check_names
from automata.pushdown.parts import Rules, rows


@dataclass(frozen=True, eq=False, slots=True)
class Network:
    """The automata of all rules; Q states, R rules, T lexical rules, L labels.

    No rule can call itself, by way of others or not, before it has read a byte (there is no left recursion); every
    rule has a text, is called from the start rule, and every state of it lies on the way to one of its ends.

    Attributes:
        byte_class: `[256]` uint8, below C.
        next: `[Q, C]` int32, the state reached, or -1.
        final: `[Q]` bool.
        rule_of: `[Q]` int32.
        rule_names: R names.
        rule_start: `[R]` int32, the state where each rule begins.
        start_rule: the rule that whole texts match.
        call_offsets, call_rule, call_return: `[Q + 1]`, `[A]`, `[A]` int32: state q's calls are those from
            `call_offsets[q]` to `call_offsets[q + 1]`; which rule, and the state that it returns to.
        word_offsets, word, word_target: `[Q + 1]`, `[E]`, `[E]` int32: the lexical rules whose words may end at a
            state, and the states where the text goes on.
        word_names: T names in the order of priority: of two that may end at one place, the first does.
        by_label: `[Q, L]` int32, the state that each label leads to, or -1.
        labels: L names, ascending.
        num_lazy: how many words, the first ones, are lazy: where one of them may end, the text goes on with no other.
    """

    byte_class: ByteArray
    next: IntArray
    final: BoolArray
    rule_of: IntArray
    rule_names: tuple[str, ...]
    rule_start: IntArray
    start_rule: int
    call_offsets: IntArray
    call_rule: IntArray
    call_return: IntArray
    word_offsets: IntArray
    word: IntArray
    word_target: IntArray
    word_names: tuple[str, ...]
    by_label: IntArray
    labels: tuple[str, ...]
    num_lazy: int = 0

    @property
    def num_states(self) -> int:
        """Q."""
        return len(self.final)


def build_network(grammar: Grammar, work: Work) -> Network:
    """The network of a grammar.

    Raises:
        GrammarError: a name without a meaning, a call where none can be, a rule that begins with itself and in no other
            way, or a lexical rule without a text; the error names the rule, and its place if the grammar knows it.
        EmptyLanguage: the grammar has no text.
        LimitExceeded: a limit was passed.
        Cancelled: the compilation was cancelled.
    """
    check_names(grammar)
    rules = lay_rules(grammar, work)
    have_text = analysis.productive(rules.parts, work)
    recursion.check_left_recursion(grammar, rules, have_text)
    analysis.check_texts(grammar, rules, have_text)
    analysis.drop_calls(rules.parts, have_text)
    matches_empty = analysis.nullable(rules.parts, work)
    if not grammar.ignored and not matches_empty[rules.text]:
        rules.text = rules.names.index(grammar.start)
    text_is_empty = matches_empty[rules.text]
    if any(matches_empty):
        recursion.without_empty_texts(rules.parts, matches_empty)
        analysis.drop_calls(rules.parts, analysis.productive(rules.parts, work))
    recursion.solve_left_recursion(rules, work)
    joined = inline(rules, work)
    network = _network(rules, joined, text_is_empty, work)
    called = _called(network)
    if len(called) < len(joined.rules):
        # Calls that stood where no end was to be reached are gone, and with them some rules.
        network = _network(rules, joined.only(called), text_is_empty, work)
    return network


def _called(network: Network) -> set[int]:
    """The rules that are called, by way of others or not, from the start rule, and that one."""
    caller = np.repeat(network.rule_of, np.diff(network.call_offsets)).tolist()
    calls: dict[int, set[int]] = {}
    for rule, callee in zip(caller, network.call_rule.tolist(), strict=True):
        calls.setdefault(rule, set()).add(callee)
    seen, waiting = {network.start_rule}, [network.start_rule]
    while waiting:
        more = calls.get(waiting.pop(), set()) - seen
        seen |= more
        waiting += more
    return seen


# States of the automata of all rules together: one leads to the start of each rule, one is reached from each end.
_FIRST, _LAST = 0, 1


def _network(rules: Rules, joined: Joined, matches_empty: bool, work: Work) -> Network:
    """The network of the rules that stay: all of them are determinized and minimized together.

    One more state leads to the start of each rule, by a symbol of its own, and one is reached from its end by another.
    So no two states of different rules are ever the same, and a state where its rule may end is one with such an arc.
    """
    num_rules, limits = len(joined.rules), work.limits
    place = {number: index for index, number in enumerate(joined.rules)}
    ends, calls, marks = (FIRST_LABEL + count * num_rules for count in (1, 2, 3))
    symbols = [(_FIRST, FIRST_LABEL + rule, start) for rule, start in enumerate(joined.starts)]
    symbols += [(end, ends + rule, _LAST) for rule, end in enumerate(joined.ends)]
    symbols += [(source, calls + place[callee], target) for source, callee, target in joined.calls]
    if matches_empty:
        symbols.append((joined.starts[0], ends, _LAST))
    over_symbols = np.concatenate([joined.marks + np.array([0, marks, 0], np.int32), rows(symbols, 3)])
    ranges = np.concatenate([joined.arcs, over_symbols[:, [0, 1, 1, 2]]])
    num_labels = 3 * num_rules + len(rules.words) + len(rules.labels)
    status, tables = _tables(
        joined.num_states,
        ranges,
        joined.epsilon,
        num_rules,
        num_labels,
        limits.states,
        limits.table_bytes,
        work.stop,
    )
    work.check()
    if status != DONE:
        most = {TOO_MANY_STATES: f"have more than {limits.states:,} states (limit `states`)"}
        too_large = f"take more than {limits.table_bytes:,} bytes (limit `table_bytes`)"
        raise LimitExceeded(f"the automata of the grammar's rules {most.get(status, too_large)}")
    byte_class, table, rule_of, rule_start, others = tables
    return _from_tables(rules, joined, byte_class, table, rule_of, rule_start, others)


def _from_tables(
    rules: Rules,
    joined: Joined,
    byte_class: ByteArray,
    table: IntArray,
    rule_of: IntArray,
    rule_start: IntArray,
    others: IntArray,
) -> Network:
    """The network, from the arcs over other symbols than bytes, `[3, A]`, by source and then by symbol."""
    num_states, num_rules, num_words = len(rule_of), len(joined.rules), len(rules.words)
    source, symbol, target = others
    kind = np.minimum(symbol // num_rules, 3)
    symbol = symbol - kind * num_rules
    final = np.zeros(num_states, np.bool_)
    final[source[kind == 1]] = True
    is_call, is_word = kind == 2, (kind == 3) & (symbol < num_words)
    is_label = (kind == 3) & (symbol >= num_words)
    by_label = np.full((num_states, len(rules.labels)), -1, np.int32)
    by_label[source[is_label], symbol[is_label] - num_words] = target[is_label]
    return Network(
        byte_class=byte_class,
        next=table,
        final=final,
        rule_of=rule_of,
        rule_names=tuple(rules.names[number] for number in joined.rules),
        rule_start=rule_start,
        start_rule=0,
        call_offsets=_offsets(num_states, source[is_call]),
        call_rule=symbol[is_call],
        call_return=target[is_call],
        word_offsets=_offsets(num_states, source[is_word]),
        word=symbol[is_word],
        word_target=target[is_word],
        word_names=rules.words,
        num_lazy=rules.num_lazy,
        by_label=by_label,
        labels=rules.labels,
    )


def _offsets(num_states: int, source: IntArray) -> IntArray:
    offsets = np.zeros(num_states + 1, np.int32)
    np.cumsum(np.bincount(source, minlength=num_states), out=offsets[1:])
    return offsets


class _Tables(NamedTuple):
    """The automata of all rules, their states numbered through."""

    byte_class: ByteArray
    table: IntArray
    rule_of: IntArray
    rule_start: IntArray
    others: IntArray


@kernel
def _tables(
    num_states: int,
    ranges: IntArray,
    epsilon: IntArray,
    num_rules: int,
    num_labels: int,
    max_states: int,
    max_bytes: int,
    stop: Flag,
) -> tuple[int, _Tables]:
    """How the construction ended, and the minimal automata of all rules."""
    interval, written, arcs = over_intervals(ranges, num_labels, max_bytes)
    if not written:
        return TOO_MUCH_MEMORY, _no_tables()
    status, automaton = determinize(
        num_states, interval[-1] + 1, arcs, epsilon.T.copy(), 1, max_states, max_bytes, stop
    )
    if status != DONE:
        return status, _no_tables()
    start, minimal = minimize(automaton, stop)
    num_blocks = interval[255] + 1
    if 4 * len(minimal.final) * num_blocks > max_bytes:
        return TOO_MUCH_MEMORY, _no_tables()
    return DONE, _numbered(start, minimal, interval, num_rules)


@kernel
def _no_tables() -> _Tables:
    """In place of the tables of a construction that was stopped."""
    ints, table = np.zeros(0, np.int32), np.zeros((0, 0), np.int32)
    return _Tables(np.zeros(0, np.uint8), table, ints, ints, table)


@kernel
def _numbered(start: int, minimal: Transitions, interval: IntArray, num_rules: int) -> _Tables:
    """The states numbered rule by rule, from the start of each breadth first."""
    num_blocks = interval[255] + 1
    _, by_symbol = grouped(interval[-1] + 1, minimal.symbol)
    offsets, rows = grouped(len(minimal.final), minimal.source[by_symbol])
    order = by_symbol[rows]
    symbol, target = minimal.symbol[order] - num_blocks, minimal.target[order]
    number, states = np.full(len(offsets) - 1, -1, np.int32), np.empty(len(offsets) - 1, np.int32)
    rule_of, rule_start = np.empty(len(offsets) - 1, np.int32), np.full(num_rules, -1, np.int32)
    count, at, num_others = 0, 0, 0
    for begun in range(offsets[start], offsets[start + 1]):
        rule = symbol[begun]
        rule_start[rule] = number[target[begun]] = count
        states[count] = target[begun]
        count += 1
        while at < count:
            rule_of[at] = rule
            for arc in range(offsets[states[at]], offsets[states[at] + 1]):
                num_others += symbol[arc] >= 0
                # The symbols from `num_rules` on are the ends of rules, which lead to one state beyond them.
                if not num_rules <= symbol[arc] < 2 * num_rules and number[target[arc]] < 0:
                    number[target[arc]] = count
                    states[count] = target[arc]
                    count += 1
            at += 1
    table = np.full((count, num_blocks), -1, np.int32)
    others, at = np.empty((3, num_others), np.int32), 0
    for state in range(count):
        for arc in range(offsets[states[state]], offsets[states[state] + 1]):
            if symbol[arc] < 0:
                table[state, symbol[arc] + num_blocks] = number[target[arc]]
            else:
                others[0, at], others[1, at], others[2, at] = state, symbol[arc], number[target[arc]]
                at += 1
    byte_class, columns = merge_columns(interval[:256], table)
    return _Tables(byte_class, columns, rule_of[:count].copy(), rule_start, others)
