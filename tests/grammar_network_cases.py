"""The texts of a grammar up to a length, by definition, and what every network keeps to."""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import strategies as st

from automata import (
    EPSILON,
    Expr,
    Grammar,
    Limits,
    alternation,
    call,
    concat,
    literal,
    repeat,
)
from automata.expressions.nodes import Alternation, ByteSet, Call, CharSet, Concatenation, Literal, Repetition
from automata.graph import components
from automata.limits import Work
from automata.pushdown.network import Network, build_network

LONGEST = 5


Texts = frozenset[bytes]


@cache
def joined(left: Texts, right: Texts) -> Texts:
    return frozenset(a + b for a in left for b in right if len(a) + len(b) <= LONGEST)


def texts(expr: Expr, known: dict[str, Texts]) -> Texts:
    if isinstance(expr, Literal):
        return frozenset({expr.value} if len(expr.value) <= LONGEST else ())
    if isinstance(expr, CharSet | ByteSet):
        return frozenset(bytes([byte]) for low, high in expr.ranges for byte in range(low, high + 1))
    if isinstance(expr, Call):
        return known[expr.name]
    if isinstance(expr, Concatenation):
        result = frozenset({b""})
        for part in expr.parts:
            result = joined(result, texts(part, known))
        return result
    if isinstance(expr, Alternation):
        return frozenset().union(*(texts(part, known) for part in expr.parts))
    assert isinstance(expr, Repetition)
    once, result, total = texts(expr.inner, known), frozenset({b""}), Texts()
    for count in range((expr.low + LONGEST if expr.high is None else expr.high) + 1):
        total |= result if count >= expr.low else frozenset()
        result = joined(result, once)
    return total


def language(grammar: Grammar) -> Texts:
    """The grammar's texts up to a length, every split into words allowed."""
    words = {name: texts(rule.expr, {}) - {b""} for name, rule in grammar.lexical.items()}
    between = frozenset({b""})
    for _ in range(LONGEST):
        between |= joined(between, frozenset().union(*(words[name] for name in grammar.ignored)))
    known = {name: Texts() for name in grammar.rules} | {name: joined(words[name], between) for name in words}
    while True:
        more = {name: texts(expr, known) for name, expr in grammar.rules.items()}
        if all(more[name] == known[name] for name in more):
            return joined(between, known[grammar.start])
        known |= more


def accepted(network: Network) -> Texts:
    """The network's texts up to a length, by least fixed point over its states; ends of words are nothing."""
    table = network.next[:, network.byte_class]
    moves = [[(bytes([b]), int(row[b])) for b in np.flatnonzero(row >= 0)] for row in table]
    known = [frozenset({b""}) if final else frozenset() for final in network.final]
    while True:
        more = list(known)
        for state in reversed(range(network.num_states)):
            found = set(more[state])
            for byte, target in moves[state]:
                found |= joined(frozenset({byte}), more[target])
            for at in range(network.call_offsets[state], network.call_offsets[state + 1]):
                start = network.rule_start[network.call_rule[at]]
                found |= joined(more[start], more[network.call_return[at]])
            for at in range(network.word_offsets[state], network.word_offsets[state + 1]):
                found |= more[network.word_target[at]]
            more[state] = frozenset(found)
        if more == known:
            return known[int(network.rule_start[network.start_rule])]
        known = more


def check_contract(network: Network) -> None:
    """What `Network` promises."""
    num_states, num_rules = network.num_states, len(network.rule_names)
    calls = [network.call_rule[network.call_offsets[q] : network.call_offsets[q + 1]] for q in range(num_states)]
    first = [[int(rule) for rule in calls[start]] for start in network.rule_start]
    assert all(len(group) == 1 for group in components(first))
    assert all(rule not in first[rule] for rule in range(num_rules))
    called, waiting = {network.start_rule}, [network.start_rule]
    while waiting:
        rule = waiting.pop()
        for state in np.flatnonzero(network.rule_of == rule):
            for callee in calls[state]:
                if callee not in called:
                    called.add(int(callee))
                    waiting.append(int(callee))
    assert called == set(range(num_rules))
    starts = {int(state) for rule, state in enumerate(network.rule_start) if rule != network.start_rule}
    assert not any(network.final[state] for state in starts)
    # Every state is reached from its rule's start and reaches one of its ends, within the rule.
    behind: list[set[int]] = [set() for _ in range(num_states)]
    for q in range(num_states):
        behind[q] |= {int(target) for target in network.next[q] if target >= 0}
        behind[q] |= {int(target) for target in network.by_label[q] if target >= 0}
        behind[q] |= {int(t) for t in network.call_return[network.call_offsets[q] : network.call_offsets[q + 1]]}
        behind[q] |= {int(t) for t in network.word_target[network.word_offsets[q] : network.word_offsets[q + 1]]}
        assert all(network.rule_of[target] == network.rule_of[q] for target in behind[q])
    ahead: list[set[int]] = [set() for _ in range(num_states)]
    for q in range(num_states):
        for target in behind[q]:
            ahead[target].add(q)
    assert _reached(behind, [int(start) for start in network.rule_start]) == set(range(num_states))
    assert _reached(ahead, np.flatnonzero(network.final).tolist()) == set(range(num_states))


def _reached(after: list[set[int]], states: list[int]) -> set[int]:
    seen, waiting = set(states), list(states)
    while waiting:
        for target in after[waiting.pop()] - seen:
            seen.add(target)
            waiting.append(target)
    return seen


def network_of(grammar: Grammar, limits: Limits | None = None) -> Network:
    return build_network(grammar, Work(limits or Limits()))


def same(grammar: Grammar) -> Network:
    """The network of a grammar, which has the same texts."""
    network = network_of(grammar)
    check_contract(network)
    assert accepted(network) == language(grammar)
    return network


@cache
def bodies(names: tuple[str, ...]) -> st.SearchStrategy[Expr]:
    leaves = st.sampled_from([EPSILON, *map(literal, ("a", "b", "ab")), *map(call, names * 2)])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: concat(*parts)),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: alternation(*parts)),
            st.tuples(inner, st.sampled_from([(0, None), (1, None), (0, 1), (2, 3)])).map(
                lambda pair: repeat(pair[0], *pair[1])
            ),
        ),
        max_leaves=6,
    )


A, B = call("A"), call("B")
