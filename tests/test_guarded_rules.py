"""Rules with flags: lazy automata, which make states with flags when texts reach them, beside rules in which all of
these are written out, and beside a slow reading of what guarded arcs mean."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from budget_checks import check_budget
from hypothesis import given
from hypothesis import strategies as st
from interpreter import accepts

import tokenfst
from automata import LimitExceeded, compile_expr, parse
from automata import expressions as ex
from automata.limits import Limits, Work
from automata.visibly_pushdown import (
    Conditions,
    CountedUnits,
    GuardedArc,
    VisiblyPushdownCall,
    VisiblyPushdownGrammar,
    VisiblyPushdownRule,
    compile_visibly_pushdown,
)
from automata.visibly_pushdown.conditions import FALSE, TRUE
from automata.visibly_pushdown.grammar import ArcLanguage
from automata.visibly_pushdown.unfolding import unfolded
from tokenfst import Vocabulary
from tokenfst.lazy import LazyTokenAutomaton
from tokenfst.unique_items.language import RulesAlone

NAMES = ["a", "ab", "b", "ba", "c"]
TOKENS = [b"{a", b",a", b",ab:1,", b"b:1", b"c:2}", b",c:2", b"2,", b"2}", b"xx", b"x,b", b"{b:", b"a:x", b":{", b"}}"]
VOCABULARY = Vocabulary([*(bytes([byte]) for byte in range(256)), *TOKENS, b""], eos_ids=[256 + len(TOKENS)])


COUNTED = CountedUnits(compile_expr(parse("x")), 2, 40, b"", b"y")


class Members:
    """An object with some names in any order: which must come, and pairs of which only one may."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.names = self.rng.sample(NAMES, self.rng.randint(1, len(NAMES)))
        self.required = {name for name in self.names if self.rng.random() < 0.4}
        free = [name for name in self.names if name not in self.required]
        self.apart = dict(zip(free[::2], free[1::2], strict=False)) if self.rng.random() < 0.6 else {}
        self.apart |= {other: name for name, other in self.apart.items()}

    def rule(self) -> VisiblyPushdownRule:
        rule, conditions = VisiblyPushdownRule(), Conditions()
        rule.conditions = conditions
        before, after, comma, close, end = (rule.state() for _ in range(5))
        flag = {name: place for place, name in enumerate(self.names)}
        may_come = {}
        for name in self.names:
            own = conditions.not_all_of(1 << flag[name])
            other = conditions.not_all_of(1 << flag[self.apart[name]]) if name in self.apart else TRUE
            may_come[name] = conditions.both(own, other)
        ends = conditions.all_of(sum(1 << flag[name] for name in self.required))
        rule.guarded += [
            GuardedArc(0, close, -1, ends),
            GuardedArc(0, before),
            GuardedArc(after, close, -1, ends),
            GuardedArc(after, comma, -1, conditions.any_of(may_come.values())),
        ]
        closing = self.rng.choice(["}", "};"])  # with two bytes, the rule ends where a chain does
        rule.arcs += [(comma, ex.literal(","), before), (close, ex.literal(closing), end)]
        rule.ends.append((end, 0))
        for name in sorted(self.names, key=lambda name: name not in self.required):
            named, value = rule.state(), rule.state()
            rule.guarded.append(GuardedArc(before, named, flag[name], may_come[name]))
            rule.arcs.append((named, ex.literal(f"{name}:"), value))
            self.add_value(rule, value, after, name in self.required)
        return rule

    def add_value(self, rule: VisiblyPushdownRule, source: int, target: int, is_required: bool) -> None:
        kind = self.rng.randrange(3 if is_required else 4)
        if kind == 3:
            called = rule.state()
            rule.arcs.append((source, ex.literal(self.rng.choice(["{", "[{"])), called))
            rule.calls.append(VisiblyPushdownCall(called, 1, (target,)))
            return
        values: list[ArcLanguage] = [parse("[12]"), parse("x{1,3}"), COUNTED]
        rule.arcs.append((source, values[kind], target))


def grammar(seed: int) -> VisiblyPushdownGrammar:
    top = VisiblyPushdownRule()
    opened, end = top.state(), top.state()
    top.arcs.append((0, ex.literal("{"), opened))
    top.calls.append(VisiblyPushdownCall(opened, 1, (end,)))
    top.ends.append((end, 0))
    return VisiblyPushdownGrammar((top, Members(seed).rule()))


def compiled(found: VisiblyPushdownGrammar) -> LazyTokenAutomaton:
    automaton = tokenfst.compile(RulesAlone(found), VOCABULARY)
    assert isinstance(automaton, LazyTokenAutomaton)
    return automaton


@pytest.mark.parametrize("seed", range(60))
def test_masks_and_budgets_are_those_of_the_rules_written_out(seed: int) -> None:
    rng, rules = Random(seed), grammar(seed)
    lazy, written = compiled(rules), compiled(unfolded(rules, Work()))
    tables = written.complete()
    for _ in range(12):
        states = lazy.start, written.start, tables.start
        for _ in range(40):
            mask = lazy.mask(states[0])
            assert np.array_equal(mask, written.mask(states[1]))
            assert np.array_equal(mask, tables.mask(states[2]))
            bound = lazy.core.min_tokens(states[0])
            assert bound >= tables.min_tokens(states[2])
            check_budget(lazy, states[0], mask, bound + rng.choice([0, 1, 5]))
            token = rng.choice(np.flatnonzero(mask).tolist())
            states = (
                lazy.advance(states[0], token),
                written.advance(states[1], token),
                tables.advance(states[2], token),
            )
            if states[0] == lazy.end_state:
                break


@pytest.mark.parametrize("seed", range(30))
def test_texts_are_those_that_guarded_arcs_mean(seed: int) -> None:
    rng, rules = Random(seed), grammar(seed)
    lazy = compiled(rules)
    for _ in range(10):
        text, state = b"", lazy.start
        while state != lazy.end_state and len(text) < 40:
            token = rng.choice(np.flatnonzero(lazy.mask(state)).tolist())
            text += VOCABULARY.tokens[token]
            state = lazy.advance(state, token)
        if state == lazy.end_state:
            assert accepts(rules, text)
            cut = rng.randrange(len(text))
            changed = text[:cut] + rng.choice([b"", b"a:1,", b"b", b"}"]) + text[cut + rng.randrange(3) :]
            assert lazy.accepts(changed) == accepts(rules, changed), (text, changed)


def test_rules_with_too_many_sets_are_not_written_out() -> None:
    rule = VisiblyPushdownRule(conditions=Conditions())
    before, end = rule.state(), rule.state()
    assert rule.conditions is not None
    rule.guarded += [GuardedArc(0, end, -1, rule.conditions.all_of((1 << 24) - 1)), GuardedArc(0, before)]
    for flag in range(24):
        more = rule.state()
        rule.arcs.append((more, ex.literal(bytes([97 + flag])), 0))
        rule.guarded.append(GuardedArc(before, more, flag))
    last = rule.state()
    rule.arcs.append((end, ex.literal("}"), last))
    rule.ends.append((last, 0))
    top = grammar(0).rules[0]
    rules = VisiblyPushdownGrammar((top, rule))
    automaton = compiled(rules)
    letters = bytes(range(97, 121))
    assert automaton.accepts(b"{" + letters[::-1] + b"}")
    assert not automaton.accepts(b"{" + letters[1:] + b"}")
    with pytest.raises(LimitExceeded, match="the rules with all sets of flags has more than 1,000 states"):
        unfolded(rules, Work(Limits(states=1_000)))


def test_the_start_is_a_rule() -> None:
    with pytest.raises(ValueError, match="the start is a rule with one exit, and not 3"):
        compile_visibly_pushdown(VisiblyPushdownGrammar((VisiblyPushdownRule(),), start=3))


def test_the_start_rule_has_no_guarded_arcs() -> None:
    with pytest.raises(ValueError, match="the start rule has guarded arcs"):
        compile_visibly_pushdown(VisiblyPushdownGrammar((Members(1).rule(),)))


@given(st.lists(st.tuples(st.sampled_from(["and", "or", "not", "all", "some"]), st.integers(0, 31)), max_size=12))
def test_conditions_are_what_they_are_made_of(steps: list[tuple[str, int]]) -> None:
    conditions = Conditions()
    found: list[tuple[int, Any]] = [(TRUE, lambda _: True), (FALSE, lambda _: False)]
    for kind, number in steps:
        one, other = found[number % len(found)], found[number // 2 % len(found)]
        if kind == "all":
            found.append((conditions.all_of(number), lambda flags, own=number: not own & ~flags))
        elif kind == "some":
            found.append((conditions.not_all_of(number), lambda flags, own=number: bool(own & ~flags)))
        elif kind == "not":
            found.append((conditions.negation(one[0]), lambda flags, own=one[1]: not own(flags)))
        else:
            both, which = (one[1], other[1]), all if kind == "and" else any
            made = conditions.both(one[0], other[0]) if kind == "and" else conditions.any_of((one[0], other[0]))
            found.append((made, lambda flags, both=both, which=which: which(own(flags) for own in both)))
    numbers: dict[tuple[bool, ...], int] = {}
    for condition, meaning in found:
        table = tuple(meaning(flags) for flags in range(32))
        assert table == tuple(conditions.holds(condition, flags) for flags in range(32))
        assert numbers.setdefault(table, condition) == condition
        fewest = conditions.fewest(condition)
        counts = [flags.bit_count() for flags in range(32) if table[flags]]
        assert (fewest < 0) == (not counts)
        assert not counts or (table[fewest] and fewest.bit_count() == min(counts))
        for flag in range(5):
            for is_set in (False, True):
                known = conditions.known(condition, flag, is_set)
                for flags in range(32):
                    expected = meaning(flags | 1 << flag if is_set else flags & ~(1 << flag))
                    assert conditions.holds(known, flags) == expected


def test_conditions_of_very_many_flags() -> None:
    conditions, flags = Conditions(), sum(1 << flag for flag in range(0, 3000, 7))
    every, some_not = conditions.all_of(flags), conditions.not_all_of(flags)
    assert conditions.negation(every) == some_not
    assert conditions.both(every, some_not) == FALSE
    assert conditions.any_of([every, some_not]) == TRUE
    assert conditions.any_of(iter(())) == FALSE
    assert conditions.fewest(every) == flags
    assert conditions.holds(every, flags | 1 << 4000)
    assert not conditions.holds(every, flags ^ 1 << 2996)
    assert conditions.known(every, 7, True) == conditions.all_of(flags ^ 1 << 7)
    assert conditions.decision(every) == (0, FALSE, conditions.known(every, 0, True))


def test_what_is_no_condition_or_no_set_of_flags() -> None:
    conditions = Conditions()
    ask: Callable[[], object]
    for wrong in (-1, 2):
        for ask in (
            lambda wrong=wrong: conditions.holds(wrong, 0),
            lambda wrong=wrong: conditions.negation(wrong),
            lambda wrong=wrong: conditions.both(TRUE, wrong),
            lambda wrong=wrong: conditions.any_of([wrong]),
            lambda wrong=wrong: conditions.known(wrong, 0, True),
            lambda wrong=wrong: conditions.fewest(wrong),
            lambda wrong=wrong: conditions.decision(wrong),
        ):
            with pytest.raises(ValueError, match="is not between"):
                ask()
    with pytest.raises(ValueError, match="not a decision"):
        conditions.decision(TRUE)
    for ask in (lambda: conditions.all_of(-1), lambda: conditions.holds(TRUE, -(1 << 80))):
        with pytest.raises(ValueError, match="a set of flags is negative"):
            ask()
    with pytest.raises(ValueError, match="a flag is negative"):
        conditions.known(TRUE, -1, True)
    text: Any = "1"
    with pytest.raises(TypeError):
        conditions.all_of(text)


def test_conditions_of_too_many_decisions() -> None:
    """Any two flags of the halves that are set together: the diagram doubles with each pair."""
    conditions, pairs = Conditions(), 40
    with pytest.raises(LimitExceeded, match="the conditions of a rule take too many decisions"):
        conditions.any_of([conditions.all_of(1 << flag | 1 << flag + pairs) for flag in range(pairs)])
