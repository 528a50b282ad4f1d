"""From the deterministic automaton of all rules to a pushdown automaton, at once: there is nothing to be searched for.

    a byte that leads to a place where rule r is called     pushes the symbol of the place, leads to the start of r
    a byte that leads to where rule r ends in exit i        pops, for each symbol of a place where r is called, that
                                                            symbol, and leads to where the place goes on after exit i

The symbol of a place is the state that its call leads to: what may follow, exit by exit. So places where the same rule
is called and the text goes on in the same way share theirs, and no two steps apply at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.arrays import ByteArray
from automata.transition.byte_automaton import merge_columns
from automata.transition.determinize import Transitions
from automata.transition.grouping import grouped
from automata.jit import kernel, plain_kernel
from automata.arrays import IntArray

# What may be wrong with a network; the two rules that it is about come with it.
RIGHT, TWO_RULES, READ_ON, TWO_EXITS, AT_ONCE = range(5)


# What is laid for a place where more than one thing is: bytes and labels, the call of a rule, the end of a rule.
_PLAIN, _CALL, _END = range(3)


class Symbols(NamedTuple):
    """What the symbols of transitions mean: bytes come first, then labels, starts, calls and exits."""

    num_blocks: int
    num_labels: int
    num_rules: int
    first_exit: IntArray  # [R + 1]; the start is rule 0


class Rows(NamedTuple):
    """Transitions by state: those of state q from `offsets[q]` on, by ascending symbols."""

    offsets: IntArray
    symbol: IntArray
    target: IntArray


class Places(NamedTuple):
    """The N states that stay, numbered breadth first from the start, and the S symbols of the stack.

    What a symbol means is a state that a call leads to; `returns[s, i]` is where the text goes on after exit i, or -1,
    a state of the transitions.
    """

    wrong: IntArray  # [3], what is wrong, and two rules
    number: IntArray  # [Q], or -1
    states: IntArray  # [N]
    symbol_of: IntArray  # [Q], or -1
    callee: IntArray  # [S]
    caller: IntArray  # [S]
    returns: IntArray  # [S, M]
    rule_start: IntArray  # [R], a state of the transitions


class Steps(NamedTuple):
    """The steps of a pushdown automaton, and how its N states follow one another."""

    byte_class: ByteArray
    offsets: IntArray
    pops: IntArray
    pushes: IntArray
    target: IntArray
    edges: IntArray  # [n, 2], source and target of steps that leave the stack as it is
    calls: IntArray  # [n, 2], source and symbol of steps that push
    ends: IntArray  # [n, 2], source of steps that pop, or of the end of the text, and how the rule ended


@kernel
def rows_of(automaton: Transitions) -> Rows:
    """Transitions by state and then by symbol."""
    num_symbols = 0
    for arc in range(len(automaton.symbol)):
        num_symbols = max(num_symbols, automaton.symbol[arc] + 1)
    _, by_symbol = grouped(num_symbols, automaton.symbol)
    offsets, rows = grouped(len(automaton.final), automaton.source[by_symbol])
    order = by_symbol[rows]
    return Rows(offsets, automaton.symbol[order], automaton.target[order])


@plain_kernel
def _kind(offsets: IntArray, symbol: IntArray, state: int, first_call: int, first_exit: int) -> int:
    last = symbol[offsets[state + 1] - 1]
    return _END if last >= first_exit else _CALL if last >= first_call else _PLAIN


@kernel
def places_of(start: int, rows: Rows, meaning: Symbols) -> Places:
    """The places of transitions without states that lead nowhere."""
    offsets, symbol, target = rows.offsets, rows.symbol, rows.target
    first_start = meaning.num_blocks + meaning.num_labels
    first_call = first_start + meaning.num_rules
    first_exit = first_call + meaning.num_rules
    num_states, num_rules = len(offsets) - 1, meaning.num_rules
    rule_start = np.full(num_rules, -1, np.int32)
    most = 1
    for rule in range(num_rules):
        most = max(most, meaning.first_exit[rule + 1] - meaning.first_exit[rule])
    for arc in range(offsets[start], offsets[start + 1]):
        rule_start[symbol[arc] - first_start] = target[arc]
    wrong = np.zeros(3, np.int32)
    number, states = np.full(num_states, -1, np.int32), np.empty(num_states, np.int32)
    rule_of, symbol_of = np.full(num_states, -1, np.int32), np.full(num_states, -1, np.int32)
    callee, caller = np.empty(num_states, np.int32), np.empty(num_states, np.int32)
    returns = np.full((64, most), -1, np.int32)
    count, num_symbols, at = 0, 0, 0
    begin = rule_start[0]
    number[begin], states[0], rule_of[begin], count = 0, begin, 0, 1
    while at < count:
        state = states[at]
        at += 1
        rule, before = rule_of[state], -1
        for arc in range(offsets[state], offsets[state + 1]):
            reached = target[arc]
            if reached == before and symbol[arc] < first_start:
                continue
            before = reached
            if symbol[arc] >= first_start:
                if symbol[arc] < first_exit:
                    _note(wrong, AT_ONCE, rule, symbol[arc] - first_call)
                elif rule != 0:
                    _note(wrong, AT_ONCE, rule, rule)
                continue
            kind = _kind(offsets, symbol, reached, first_call, first_exit)
            if kind == _END and rule != 0:
                if offsets[reached + 1] - offsets[reached] > 1:
                    other = symbol[offsets[reached + 1] - 2]
                    _note(wrong, TWO_EXITS if other >= first_exit else READ_ON, rule, rule)
                continue
            if kind == _CALL:
                called = symbol[offsets[reached + 1] - 1] - first_call
                if offsets[reached + 1] - offsets[reached] > 1:
                    other = symbol[offsets[reached + 1] - 2]
                    _note(wrong, TWO_RULES if other >= first_call else READ_ON, called, max(other - first_call, -1))
                    continue
                follows = target[offsets[reached]]
                if symbol_of[follows] < 0:
                    symbol_of[follows], callee[num_symbols], caller[num_symbols] = num_symbols, called, rule
                    if num_symbols == len(returns):
                        returns = np.concatenate((returns, np.full_like(returns, -1)))
                    for place in range(offsets[follows], offsets[follows + 1]):
                        after = target[place]
                        returns[num_symbols, symbol[place] - first_exit - meaning.first_exit[called]] = after
                        if number[after] < 0:
                            number[after], states[count], rule_of[after] = count, after, rule
                            count += 1
                    num_symbols += 1
                reached, rule_reached = rule_start[called], called
            else:
                rule_reached = rule
            if number[reached] < 0:
                number[reached], states[count], rule_of[reached] = count, reached, rule_reached
                count += 1
    return Places(
        wrong,
        number,
        states[:count].copy(),
        symbol_of,
        callee[:num_symbols].copy(),
        caller[:num_symbols].copy(),
        returns[:num_symbols].copy(),
        rule_start,
    )


@plain_kernel
def _note(wrong: IntArray, what: int, rule: int, other: int) -> None:
    if wrong[0] == RIGHT:
        wrong[0], wrong[1], wrong[2] = what, rule, other


@kernel
def steps_of(rows: Rows, places: Places, meaning: Symbols, interval: IntArray) -> Steps:
    """The steps between places."""
    offsets, symbol, target = rows.offsets, rows.symbol, rows.target
    num_blocks, num_labels = meaning.num_blocks, meaning.num_labels
    num_states = len(places.states)
    table = np.full((num_states, num_blocks), -1, np.int32)
    for place in range(num_states):
        state = places.states[place]
        for arc in range(offsets[state], offsets[state + 1]):
            if symbol[arc] < num_blocks:
                table[place, symbol[arc]] = target[arc]
    byte_class, columns = merge_columns(interval[:256], table)
    reads = np.full((num_states, columns.shape[1] + 1 + num_labels), -1, np.int32)
    reads[:, : columns.shape[1]] = columns
    for place in range(num_states):
        state = places.states[place]
        for arc in range(offsets[state], offsets[state + 1]):
            if num_blocks <= symbol[arc] < num_blocks + num_labels:
                reads[place, columns.shape[1] + 1 + symbol[arc] - num_blocks] = target[arc]
    return _written(byte_class, columns.shape[1], reads, rows, places, meaning)


@kernel
def _written(
    byte_class: ByteArray, end_column: int, reads: IntArray, rows: Rows, places: Places, meaning: Symbols
) -> Steps:
    """The steps of places whose columns lead to states of the transitions, `[N, C + 1 + L]`."""
    offsets, symbol = rows.offsets, rows.symbol
    number, symbol_of, rule_start = places.number, places.symbol_of, places.rule_start
    first_call = meaning.num_blocks + meaning.num_labels + meaning.num_rules
    first_exit = first_call + meaning.num_rules
    of_callee, called = grouped(meaning.num_rules, places.callee)
    rule_of, num_pops = np.empty(meaning.first_exit[-1], np.int32), np.zeros(meaning.first_exit[-1], np.int32)
    for rule in range(meaning.num_rules):
        for way in range(meaning.first_exit[rule], meaning.first_exit[rule + 1]):
            rule_of[way] = rule
            for place in range(of_callee[rule], of_callee[rule + 1]):
                num_pops[way] += places.returns[called[place], way - meaning.first_exit[rule]] >= 0
    num_states, width = reads.shape
    # Where each cell's steps begin.
    cells = np.zeros((num_states + 1) * width + 1, np.int32)
    for state in range(num_states):
        origin = places.states[state]
        last = symbol[offsets[origin + 1] - 1]
        for column in range(width):
            cell, reached = state * width + column, reads[state, column]
            count = int(last == first_exit and column == end_column)
            if reached >= 0:
                last_read = symbol[offsets[reached + 1] - 1]
                count = num_pops[last_read - first_exit] if last_read > first_exit else 1
            cells[cell + 1] = cells[cell] + count
    cells[num_states * width + 1 :] = cells[num_states * width]
    num_steps = cells[-1]
    pops, pushes = np.zeros(num_steps, np.int32), np.zeros(num_steps, np.int32)
    leads = np.empty(num_steps, np.int32)
    edges, calls = np.empty((num_states * width, 2), np.int32), np.empty((num_states * width, 2), np.int32)
    ends = np.empty((num_states * width, 2), np.int32)
    num_edges, num_calls, num_ends = 0, 0, 0
    for state in range(num_states):
        before = -1
        for column in range(width):
            step, reached = cells[state * width + column], reads[state, column]
            if column == end_column and cells[state * width + column + 1] > step:
                leads[step] = num_states
                ends[num_ends, 0], ends[num_ends, 1] = state, 0
                num_ends += 1
            if reached < 0:
                continue
            is_new, before = reached != before, reached
            last = symbol[offsets[reached + 1] - 1]
            if last > first_exit:
                way = last - first_exit
                rule = rule_of[way]
                for place in range(of_callee[rule], of_callee[rule + 1]):
                    after = places.returns[called[place], way - meaning.first_exit[rule]]
                    if after >= 0:
                        pops[step], leads[step] = called[place] + 1, number[after]
                        step += 1
                if is_new:
                    ends[num_ends, 0], ends[num_ends, 1] = state, way - meaning.first_exit[rule]
                    num_ends += 1
            elif first_call <= last < first_exit:
                pushed = symbol_of[rows.target[offsets[reached]]]
                pushes[step], leads[step] = pushed + 1, number[rule_start[last - first_call]]
                if is_new:
                    calls[num_calls, 0], calls[num_calls, 1] = state, pushed
                    num_calls += 1
            else:
                leads[step] = number[reached]
                if is_new:
                    edges[num_edges, 0], edges[num_edges, 1] = state, number[reached]
                    num_edges += 1
    return Steps(byte_class, cells, pops, pushes, leads, edges[:num_edges], calls[:num_calls], ends[:num_ends])
