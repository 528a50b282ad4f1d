"""Nondeterministic calls: lazy automata beside a slow reading of what the rules mean, on all short texts."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from budget_checks import check_budget
from interpreter import accepts

import tokenfst
from automata import EmptyLanguage, LimitExceeded
from automata import expressions as ex
from automata.visibly_pushdown import (
    VisiblyPushdownCall,
    VisiblyPushdownGrammar,
    VisiblyPushdownRule,
)
from tokenfst import Vocabulary
from tokenfst.lazy import LazyTokenAutomaton
from tokenfst.unique_items.language import RulesAlone

BYTES = b"ab{}"
TOKENS = [b"{a", b"ab", b"a}", b"}}", b"b}a", b"{{", b"{}"]
VOCABULARY = Vocabulary([*(bytes([byte]) for byte in range(256)), *TOKENS, b""], eos_ids=[256 + len(TOKENS)])
# The most bytes of the texts that are compared; there are 5,461.
MOST = 6


class RandomRules:
    """Rules that read letters, call some of themselves after `{`, and end with `}` in one of several exits."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.exits = [0, *(self.rng.randint(1, 2) for _ in range(self.rng.randint(2, 4)))]

    def grammar(self) -> VisiblyPushdownGrammar:
        rules = tuple([self.rule(number) for number in range(len(self.exits))])
        return VisiblyPushdownGrammar(rules, has_nondeterministic_calls=True)

    def rule(self, number: int) -> VisiblyPushdownRule:
        rng, rule = self.rng, VisiblyPushdownRule(num_exits=max(self.exits[number], 1))
        inner = [0, *(rule.state() for _ in range(rng.randint(1, 3)))]
        for _ in range(rng.randint(1, 4)):
            rule.arcs.append((rng.choice(inner), ex.literal(rng.choice(["a", "b", "ab"])), rng.choice(inner)))
        for _ in range(rng.randint(1, 2) if number else 2):
            self.add_calls(rule, rng.choice(inner), inner)
        if rng.random() < 0.3:
            rule.epsilon.append((rng.choice(inner), rng.choice(inner)))
        for way in range(rule.num_exits):
            end = rule.state()
            rule.ends.append((end, way))
            if number:
                rule.arcs.append((rng.choice(inner), ex.literal("}"), end))
            else:
                rule.epsilon.append((rng.choice(inner), end))
        return rule

    def add_calls(self, rule: VisiblyPushdownRule, source: int, targets: list[int]) -> None:
        """Add calls of several rules at one place, of which each may come twice."""
        called = rule.state()
        rule.arcs.append((source, ex.literal("{"), called))
        for _ in range(self.rng.randint(1, 3)):
            number, own = self.rng.randrange(1, len(self.exits)), rule.state()
            rule.epsilon.append((called, own))
            ways = [self.rng.choice([*targets, -1]) for _ in range(self.exits[number])]
            rule.calls.append(VisiblyPushdownCall(own, number, tuple(ways)))


def lazily(grammar: VisiblyPushdownGrammar) -> LazyTokenAutomaton | None:
    """Return the automaton; None where the grammar has no text."""
    try:
        found = tokenfst.compile(RulesAlone(grammar), VOCABULARY)
    except EmptyLanguage:
        return None
    assert isinstance(found, LazyTokenAutomaton)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_texts_masks_and_budgets_are_those_that_the_rules_mean(seed: int) -> None:
    grammar = RandomRules(seed).grammar()
    texts = {bytes(text) for size in range(MOST + 1) for text in product(BYTES, repeat=size)}
    accepted = {text for text in texts if accepts(grammar, text)}
    automaton = lazily(grammar)
    if automaton is None:
        assert not accepted
        return
    prefixes = {text[:end] for text in accepted for end in range(len(text) + 1)}
    for text in sorted(prefixes | set(Random(seed).sample(sorted(texts), 300))):
        states = [automaton.start]
        for byte in text:
            state = automaton.step(states[-1], byte)
            if state is None:
                break
            states.append(state)
        reads = len(states) == len(text) + 1
        assert reads or text not in prefixes
        assert (reads and automaton.is_final(states[-1])) == (text in accepted)
        if reads:
            check(automaton, states[-1], text, accepted, prefixes)


def check(automaton: LazyTokenAutomaton, state: Any, text: bytes, accepted: set[bytes], prefixes: set[bytes]) -> None:
    """Compare a state with the texts: what it allows, and how soon it may end."""
    mask = automaton.mask(state)
    for token in np.flatnonzero(mask).tolist():
        assert token == VOCABULARY.eos_ids[0] or automaton.step(state, token) is not None
    for number, token in enumerate(VOCABULARY.tokens[256:-1], 256):
        assert mask[number] or text + token not in prefixes
        assert mask[number] == (automaton.step(state, number) is not None)
    rests = [len(longer) - len(text) for longer in accepted if longer.startswith(text)]
    bound = automaton.core.min_tokens(state)
    assert 0 < bound < 1 << 20  # some text can be written from every state that a text leads to
    assert not rests or bound <= min(rests) + 1
    check_budget(automaton, state, mask, bound)


def test_only_lazy_automata_follow_nondeterministic_calls() -> None:
    automaton = next(filter(None, (lazily(RandomRules(seed).grammar()) for seed in range(9))))
    with pytest.raises(LimitExceeded, match="nondeterministic calls, which only lazy automata follow"):
        automaton.complete()
