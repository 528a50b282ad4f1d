"""Pushdown automata over a real vocabulary, and over those that begin texts in their own way, or that lack bytes."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kinds import complete
from pushdown_cases import Configuration, Oracle, brackets, json, naive, nested, to
from pushdown_token_cases import BYTES, allowed_tokens, named_middle

import tokenfst
from automata import (
    EmptyLanguage,
    GrammarError,
    UnsupportedTokenizer,
    VocabularyError,
    concat,
    repeat,
)
from automata.expressions.extensions import token
from automata.pushdown.automaton import PushdownAutomaton
from tokenfst import Vocabulary, from_tekken
from tokenfst.vocabulary.text_start import TextStart


@pytest.fixture(scope="module")
def tekken() -> Vocabulary:
    return from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))


def test_walks_over_a_real_vocabulary(tekken: Vocabulary) -> None:
    automaton = json()
    tokens, oracle, draw = complete(automaton, tekken), Oracle(automaton), random.Random(3)
    for _ in range(3):
        state, configurations = tokens.start, oracle.start
        for _ in range(12):
            mask = tokens.mask(state)
            allowed = np.flatnonzero(mask)
            probes = draw.sample(range(len(tekken)), 150) + draw.choices(allowed.tolist(), k=50)
            for probe in probes:
                readable = bool(tekken.tokens[probe]) and bool(oracle.read(configurations, tekken.tokens[probe]))
                assert mask[probe] == (readable or (probe in tekken.eos_ids and oracle.may_end(configurations)))
            structural = [token for token in allowed.tolist() if set(tekken.tokens[token]) & set(b'{}[]",:')]
            token = draw.choice(structural or allowed.tolist())
            if token in tekken.eos_ids:
                break
            state, configurations = tokens.advance(state, token), oracle.read(configurations, tekken.tokens[token])


# Texts by themselves


_SPACE, _PIECES = 32, 256


RULES = {
    "space": TextStart(),
    "space, as SentencePiece": TextStart(exceptions={_PIECES: b" "}, ignored=frozenset({_SPACE})),
    "prefix": TextStart(b"(", {_PIECES + 1: b"", _PIECES + 2: b"([("}, ignored=frozenset({_PIECES + 3})),
    "all are exceptions": TextStart(b"[", {_PIECES + at: b"[" * at for at in range(5)}),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", [brackets, json])
def test_texts_by_themselves_are_what_the_decoder_writes(rule: str, case: Callable[[], PushdownAutomaton]) -> None:
    tokens = [*BYTES, b" (", b"([", b" [[", b"()", b'[""', b")]", b"[1", b"]]", b""]
    vocabulary = Vocabulary(tokens, [len(tokens) - 1], text_start=RULES[rule])
    oracle = Oracle(case())
    automaton = complete(case(), vocabulary, at_text_start=True)
    useful = [token for token, text in enumerate(tokens) if text and set(text) <= set(b' ()[]"1')]
    draw, accepted = random.Random(rule), 0
    for _ in range(150):
        state, written = automaton.start, list[int]()
        for _ in range(6):
            assert automaton.is_final(state) == oracle.accepts(automaton.text(written))
            accepted += automaton.is_final(state)
            allowed = allowed_tokens(automaton, state)
            for following in useful:
                text = automaton.text([*written, following])
                assert (following in allowed) == bool(oracle.read(oracle.start, text)), text
            token = draw.choice(sorted(allowed & set(useful)) or [-1])
            if token < 0:
                break
            state = automaton.advance(state, token)
            written.append(token)
    assert accepted


def test_a_text_by_itself_may_not_begin_with_a_named_token() -> None:
    vocabulary = Vocabulary([b"a", b"b", b""], special_tokens={"x": 2}, text_start=TextStart())
    with pytest.raises(UnsupportedTokenizer, match="'x'"):
        complete(named_middle(), vocabulary, at_text_start=True)
    inside = naive({"t": ("a" + to("t") + "b") | ("c" + token("x"))}, "t")
    assert complete(
        inside,
        Vocabulary([b" a", b"b", b"c", b"a", b""], special_tokens={"x": 4}, text_start=TextStart()),
        at_text_start=True,
    ).accepts([0, 2, 4, 1])


# Vocabularies that lack bytes


LACKING: dict[str, tuple[Callable[[], PushdownAutomaton], list[bytes]]] = {
    "no way out of one bracket": (brackets, [b"(", b")", b"["]),
    "only both together": (brackets, [b"()", b"[", b"]", b")"]),
    "one bracket in pairs": (brackets, [b"(", b")", b"[", b"]]", b"[["]),
    "letters are missing": (json, [*(bytes([byte]) for byte in b'{}[]:,"123-.et'), b"tr", b"ue", b'"}', b"fals"]),
}


@pytest.mark.parametrize("name", LACKING)
def test_what_cannot_be_completed_is_not_allowed(name: str) -> None:
    case, tokens = LACKING[name]
    vocabulary, oracle = Vocabulary([*tokens, b""], [len(tokens)]), Oracle(case())
    automaton = complete(case(), vocabulary)
    draw, refused = random.Random(name), 0
    for _ in range(6):
        state, configurations = automaton.start, oracle.start
        for _ in range(8):
            readable = {token: oracle.read(configurations, text) for token, text in enumerate(tokens)}
            allowed = {token for token, after in readable.items() if _can_end(oracle, after, tuple(tokens))}
            refused += len(allowed) < sum(map(bool, readable.values()))
            assert allowed_tokens(automaton, state) - {len(tokens)} == allowed
            assert automaton.is_final(state) == oracle.may_end(configurations)
            if not allowed:
                break
            token = draw.choice(sorted(allowed))
            state, configurations = automaton.advance(state, token), readable[token]
    assert bool(refused) == (name in ("no way out of one bracket", "letters are missing"))


@cache
def _can_end(oracle: Oracle, configurations: frozenset[Configuration], tokens: tuple[bytes, ...]) -> bool:
    """Whether some tokens lead to an end without a stack that is much higher than it is."""
    highest = max((len(stack) for _, stack in configurations), default=0) + 2
    seen, todo = {configurations}, [configurations]
    while todo:
        here = todo.pop()
        if oracle.may_end(here):
            return True
        after = {oracle.read(here, text) for text in tokens} - seen - {frozenset()}
        low = [found for found in after if all(len(stack) <= highest for _, stack in found)]
        seen.update(low)
        todo += low
    return False


def test_dead_ends_that_depend_on_the_stack_are_refused() -> None:
    # After an odd number of a the last bb is one b too many.
    with pytest.raises(GrammarError, match="nested"):
        complete(nested(), Vocabulary([b"a", b"bb"]))


def test_a_depth_needs_all_bytes(tmp_path: Path) -> None:
    vocabulary = Vocabulary([b"a", b"ab", b"b"])
    assert complete(nested(), vocabulary).within(3).accepts([0, 1, 2])
    lacking = Vocabulary([b"a", b"bb", b"abb"])
    automaton = complete(naive({"s": concat("a", repeat(to("s"), 0, 1), "bb")}, "s"), lacking)
    automaton.save(tmp_path / "a.safetensors")
    read: Any = tokenfst.load_automaton(tmp_path / "a.safetensors", lacking)
    assert read.accepts([0, 2, 1])
    with pytest.raises(VocabularyError, match="depth"):
        read.within(3)


def test_a_vocabulary_that_spells_no_text_is_refused() -> None:
    with pytest.raises(EmptyLanguage):
        complete(nested(), Vocabulary([b"a", b"c"]))
    with pytest.raises(EmptyLanguage):
        complete(named_middle(), Vocabulary([b"a", b"b"]), terminals={"x": []})
