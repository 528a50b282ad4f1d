"""Masks within a budget of tokens, for every automaton: exactly what can still be completed, and never a dead end."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from json import loads
from random import Random
from typing import Any

import kinds
import numpy as np
import pytest
from budget_checks import anything, check_state, farthest, written
from counted_cases import PATTERNS as COUNTED
from counted_cases import VOCABULARIES, both
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from kinds import complete, lazy_over
from pushdown_cases import ambiguous, brackets, json, nested, sums
from strategies import up_to
from test_lazy import PIECES, SCHEMAS, byte_vocabulary
from visibly_pushdown_cases import random_grammar

import constraints
import tokenfst
from automata import EmptyLanguage, LimitExceeded, Limits, compile_expr, literal, parse
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.visibly_pushdown import VisiblyPushdownGrammar, VisiblyPushdownRule
from constraints.grammars.bundled import bundled
from decoding import bundled_model, vocabulary_of
from tokenfst import Vocabulary, from_tekken
from tokenfst.lazy import LazyTokenAutomaton
from tokenfst.pushdown import distance
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary.text_start import TextStart

STACKED: dict[str, Callable[[], PushdownAutomaton]] = {
    "nested": nested, "brackets": brackets, "json": json, "sums": sums, "ambiguous": ambiguous
}  # fmt: skip
# Tokens that close several brackets, or close some and open others, make distances depend on what lies deeper.
CLOSERS = [b"aa", b"abb", b"bbb", b"([", b"])", b"))", b")))", b"]]", b'"}', b'{"', b'":', b'"]}', b"[[", b"1,", b")*("]


def reached(automaton: TokenAutomaton, most: int = 400, longest: int = 6) -> list[Any]:
    """States that few tokens lead to, one token of each distinct target."""
    found, level = {automaton.start: None}, [automaton.start]
    for _ in range(longest):
        following: dict[Any, None] = {}
        for state in level:
            for token in np.flatnonzero(automaton.mask(state)).tolist():
                following[automaton.advance(state, token)] = None
        level = [state for state in following if state not in found][:most]
        found |= dict.fromkeys(level)
    return list(found)[:most]


@pytest.mark.parametrize("name", VOCABULARIES)
def test_regular_ones_of_all_small_patterns(name: str) -> None:
    bites = 0
    for pattern in up_to(3, quantifiers=("*", "?", "{2}", "{2,}")):
        try:
            automaton = complete(pattern, VOCABULARIES[name])
        except EmptyLanguage:
            continue
        for state in range(automaton.num_states):
            bites += check_state(automaton, state)
    assert bites > 25


@pytest.mark.parametrize("name", ["bytes", "tokens across bounds", "pairs only", "no end token"])
def test_counted_ones(name: str) -> None:
    bites = 0
    for pattern in COUNTED:
        automata = both(pattern, VOCABULARIES[name])
        if automata is not None:
            for state in reached(automata[0], most=40):
                bites += check_state(automata[0], state)
    assert bites > 50


@pytest.mark.parametrize("has_end", [True, False])
@pytest.mark.parametrize("name", STACKED)
def test_those_with_a_stack(name: str, has_end: bool) -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), *CLOSERS, b""]
    automaton = complete(STACKED[name](), Vocabulary(tokens, [len(tokens) - 1] * has_end))
    assert isinstance(automaton, PushdownTokenAutomaton)
    bites = sum(check_state(automaton, state) for state in reached(automaton, most=60, longest=5))
    assert bites > 15


def test_canonical_ones() -> None:
    vocabulary, dice = vocabulary_of(bundled_model()[1]), Random(0)
    bites = 0
    for pattern in (r'"[a-z ]{3,9}"', r"(\d{1,3})(, \d{1,3})*", r'\{"name": "[A-Z][a-z]+", "age": \d+\}'):
        automaton = tokenfst.compile(pattern, vocabulary, tokenization="canonical")
        for _ in range(4):
            states: list[int] = []
            budget = automaton.min_tokens(automaton.start) + dice.randint(0, 6)
            tokens = written(automaton, budget, anything, dice, states.append)
            assert re.fullmatch(pattern, automaton.text(tokens).decode())
            bites += sum(check_state(automaton, state) for state in dice.sample(states, min(3, len(states))))
    assert bites > 20


@given(st.integers(0, 1 << 30))
# Loops over characters some of which lead to other states, from which the end is nearer or farther.
@example(26)
@example(68)
@example(81)
@settings(max_examples=30)
def test_lazy_ones_of_patterns(seed: int) -> None:
    dice = Random(seed)
    pattern = f"({dice.choice(PIECES)}|{dice.choice(PIECES)}){dice.choice(['', '{1,2}', '{3}'])}"
    vocabulary = byte_vocabulary(dice, 'ab"AZ 0-\\né'.encode(), 100)
    lazy = lazy_over(compile_expr(parse(pattern)), vocabulary)
    eager = complete(pattern, vocabulary)
    _check_lazily(lazy, eager, dice)


@pytest.mark.parametrize("name", ["json", "xml", "s_expressions", "yaml_flow"])
def test_lazy_ones_with_a_stack(name: str) -> None:
    grammar, dice = constraints.json() if name == "json" else bundled(name), Random(name)
    vocabulary = byte_vocabulary(dice, b'{}[]()<>/",: a1\n-', 200)
    lazy, eager = kinds.lazy(grammar, vocabulary), complete(grammar, vocabulary)
    for _ in range(3):
        _check_lazily(lazy, eager, dice)


@given(st.integers(0, 1 << 30))
@settings(max_examples=30)
def test_lazy_ones_of_grammars_with_several_exits(seed: int) -> None:
    dice = Random(seed)
    vocabulary = byte_vocabulary(dice, b"ab([{)]", 60)
    try:
        lazy = lazy_over(random_grammar(seed), vocabulary)
    except EmptyLanguage:
        return
    _check_lazily(lazy, None, dice)


MORE_SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"a": {"type": "string", "pattern": "[a-z]{9}"}}, "required": ["a"]},
    {"type": "array", "contains": {"const": 7}, "minContains": 2, "items": {"type": ["integer", "array"]}},
    {"properties": {"a": {"type": "string", "minLength": 12, "maxLength": 60}}, "required": ["a", "bbbb"]},
    {"type": "object", "anyOf": [{"required": ["first", "second"]}, {"minProperties": 5}], "maxProperties": 6},
    {"properties": {"a": {"$ref": "#"}, "b": {"items": {"$ref": "#"}}, "ab1": {"enum": ["ab1ab1", "1ab1"]}}},
]


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("schema", [*SCHEMAS, *MORE_SCHEMAS], ids=str)
def test_lazy_ones_of_schemas(schema: dict[str, Any], order: Any) -> None:
    dice = Random(f"{schema} {order}")
    vocabulary = byte_vocabulary(dice, b'{}[]",: ab1', 200)
    constraint = constraints.json_schema(schema, property_order=order)
    lazy, eager = kinds.lazy(constraint, vocabulary), complete(constraint, vocabulary)
    for _ in range(3):
        pairs: list[list[tuple[str, Any]]] = []
        value = loads(_check_lazily(lazy, eager, dice), object_pairs_hook=_noted(pairs))
        # Names that the schema does not list may be written twice.
        repeats = any(len(dict(own)) < len(own) for own in pairs)
        assert repeats or Draft202012Validator(schema).is_valid(value)


FAR: list[dict[str, Any]] = [
    *MORE_SCHEMAS,
    {
        "properties": {name: {"type": "string", "minLength": 4} for name in ("a", "b", "1", "ab1")},
        "required": ["a", "b", "ab1"],
        "additionalProperties": False,
        "type": "object",
    },
    {
        "properties": {"a": {"const": 1}},
        "required": ["a"],
        "patternProperties": {"^ba*$": {"const": 11}},
        "propertyNames": {"anyOf": [{"minLength": 12}, {"const": "a"}]},
        "additionalProperties": {"type": "string", "minLength": 12},
        "type": "object",
    },
    {"type": "array", "items": {"type": "object"}, "contains": {"required": ["ab1ab1", "1ab1ab"]}},
]


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("schema", FAR, ids=str)
def test_only_the_farthest_tokens_are_excluded(schema: dict[str, Any], order: Any) -> None:
    dice = Random(f"{schema} {order}")
    vocabulary = byte_vocabulary(dice, b'{}[]",: ab1', 200)
    lazy = kinds.bounded(kinds.lazy(constraints.json_schema(schema, property_order=order), vocabulary))
    for _ in range(8):
        state = lazy.start
        for _ in range(25):
            mask = lazy.mask(state)
            behind = {token: lazy.min_tokens(lazy.advance(state, token)) for token in np.flatnonzero(mask).tolist()}
            most = max(behind.values())
            assert np.flatnonzero(lazy.mask(state, most)).tolist() == [t for t in behind if behind[t] < most]
            assert np.array_equal(lazy.mask(state, most + 1), mask)
            state = lazy.advance(state, dice.choice(list(behind)))
            if state == lazy.end_state:
                break


def _noted(pairs: list[list[tuple[str, Any]]]) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """Makes dictionaries, and notes the pairs that they are made of."""

    def make(own: list[tuple[str, Any]]) -> dict[str, Any]:
        pairs.append(own)
        return dict(own)

    return make


def _check_lazily(lazy: LazyTokenAutomaton, eager: TokenAutomaton | None, dice: Random) -> bytes:
    """Writes a text within a budget, and looks at some of the states on the way; with tables and with bounds alone."""
    is_bounded = Random(repr(dice.getstate())).random() < 0.5
    lazy._tables.are_refused, lazy._tables.known = is_bounded, None
    states: list[int] = []
    least = lazy.min_tokens(lazy.start)
    writer = dice.choice([farthest, anything])
    tokens = written(lazy, least + dice.choice([0, 1, 5, 30]), writer, dice, states.append)
    for state in dice.sample(states, min(4, len(states))):
        check_state(lazy, state, exact=not is_bounded, budgets=5, seed=dice.randrange(100))
    check_state(lazy, lazy.end_state)
    if eager is not None:
        assert eager.accepts(tokens)
        assert eager.min_tokens(eager.start) <= least < 200
    return lazy.text(tokens)


def test_at_the_start_of_a_text() -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), b"aa", b"ab", b" a", b"bab", b" ", b""]
    rule = TextStart(exceptions={256: b"a", 259: b"b"}, ignored=frozenset({258}))
    vocabulary = Vocabulary(tokens, [len(tokens) - 1], text_start=rule)
    for pattern in ("a{3,7}b", "(ab){2,4}", " ?(b|ab)*c"):
        eager = complete(pattern, vocabulary, at_text_start=True)
        lazy = kinds.lazy(pattern, vocabulary, at_text_start=True)
        bites = sum(check_state(eager, state) for state in reached(eager, most=30))
        assert bites + sum(check_state(lazy, state) for state in reached(lazy, most=30)) > 10
        bounds = kinds.bounded(kinds.lazy(pattern, vocabulary, at_text_start=True))
        assert sum(check_state(bounds, state, exact=False) for state in reached(bounds, most=30)) > 3


@pytest.fixture(scope="module")
def tekken() -> Vocabulary:
    return from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))


def test_literal_texts_of_a_grammar_take_few_tokens(tekken: Vocabulary) -> None:
    rule, text = VisiblyPushdownRule(), b"the number of apples, pears, cherries, plums and quinces"
    end = rule.state()
    rule.arcs.append((0, literal(text), end))
    rule.ends.append((end, 0))
    lazy = lazy_over(VisiblyPushdownGrammar((rule,)), tekken)
    least = kinds.bounded(lazy).min_tokens(lazy.start)
    assert least == complete(text.decode(), tekken).min_tokens(0) < 20
    assert lazy.text(written(lazy, least, anything, Random(1))) == text


def test_a_real_vocabulary(tekken: Vocabulary) -> None:
    schema = constraints.json_schema({"type": "array", "items": {"type": "string", "minLength": 20}, "minItems": 2})
    dice = Random(0)
    for constraint in (schema, r'"[^"\\\x00-\x1f]{60,}"'):
        for make in (complete, kinds.lazy, lambda *both: kinds.bounded(kinds.lazy(*both))):
            automaton: TokenAutomaton = make(constraint, tekken)
            least = automaton.min_tokens(automaton.start)
            tokens = written(automaton, least + 5, anything, dice)
            assert loads(automaton.text(tokens)) is not NotImplemented


def test_what_is_kept_may_be_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance, "MAX_BYTES", 600)
    monkeypatch.setattr("tokenfst.pushdown.automaton.MAX_CACHED_MASKS", 2)
    tokens = [*(bytes([byte]) for byte in range(256)), *CLOSERS, b""]
    automaton = complete(brackets(), Vocabulary(tokens, [len(tokens) - 1]))
    assert isinstance(automaton, PushdownTokenAutomaton)
    for state in reached(automaton, most=60, longest=5):
        check_state(automaton, state)


def test_contexts_without_a_limit_where_tensors_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance, "MAX_CONTEXTS", 1)
    automaton = complete(constraints.json(), byte_vocabulary(Random(0), b'[]{}",:1', 50))
    with pytest.raises(LimitExceeded, match="kinds of distances"):
        automaton.distances  # noqa: B018
    written(automaton, 30, farthest, Random(1), lambda state: check_state(automaton, state, budgets=3))


@pytest.mark.parametrize(
    "bounds", [{"maxLength": 40}, {"minLength": 3, "maxLength": 40}, {"minLength": 38, "maxLength": 40}]
)
def test_counts_on_the_way_to_a_maximum(bounds: dict[str, int]) -> None:
    """Masks within a budget are those of the tables at every count."""
    tokens = [*(bytes([byte]) for byte in range(256)), b"ab", b"abc", b'a"', b'",', b'":', b"x" * 9, b""]
    vocabulary = Vocabulary(tokens, eos_ids=len(tokens) - 1)
    properties = {"a": {"type": "string", **bounds}, "b": {"const": 17}}
    schema = {"type": "object", "properties": properties, "required": ["b"]}
    lazy = tokenfst.compile(constraints.json_schema(schema, property_order="schema"), vocabulary)
    complete = lazy.complete()
    state, other = lazy.start, complete.start
    for token in [*b'{"a": "', *b"y" * 40, *b'", "b": 17}']:
        for remaining in (1, 2, 8, 12, 13, 14, 20, 45, 60, 1000):
            assert (lazy.mask(state, remaining) == complete.mask(other, remaining)).all(), (token, remaining)
        state, other = lazy.advance(state, token), complete.advance(other, token)
    assert lazy.is_final(state)
    long = tokenfst.compile(constraints.json_schema({"type": "string", "maxLength": 5000}), vocabulary)
    state = long.advance(long.start, ord('"'))
    for _ in range(400):
        assert (long.mask(state, 10**6) == long.mask(state)).all()
        state = long.advance(state, ord("y"))


@pytest.mark.parametrize("bounds", [{"minLength": 40}, {"minLength": 60, "maxLength": 70}], ids=str)
def test_counts_on_the_way_to_a_minimum(bounds: dict[str, int]) -> None:
    """What is found at one count holds, by the difference in distance, at all that are as far below the minimum."""
    tokens = [*(bytes([byte]) for byte in range(256)), b"ab", b"abc", b'a"', b'",', "éé".encode(), b"x" * 9, b""]
    vocabulary = Vocabulary(tokens, eos_ids=len(tokens) - 1)
    schema = {"type": "array", "items": {"type": "string", **bounds}, "minItems": 2}
    lazy = tokenfst.compile(constraints.json_schema(schema), vocabulary)
    state = lazy.start
    for token in [*b'["', *b"y" * 30, 256, *b"\\n", *b"z" * 29, *b'", "', *b"y" * 5]:
        least = lazy.min_tokens(state)
        for remaining in (1, least - 3, least, least + 1, least + 2, least + 3, least + 9, 1000):
            allowed = np.flatnonzero(lazy.mask(state)).tolist()
            expected = [each for each in allowed if lazy.min_tokens(lazy.advance(state, each)) < remaining]
            assert np.flatnonzero(lazy.mask(state, remaining)).tolist() == expected, (token, remaining)
        state = lazy.advance(state, token)


@pytest.mark.parametrize(
    "pattern",
    [
        "[a-p]{2,9}-[a-p]{3}",
        "[a-p]{4,}(-[a-pé]{1,5})?",
        "[a-z]{1,6}[0-9]{2,}",
        "(ab|[c-z]{3,8}|[c-p]{2}é)+",
        "[^a]{3,12}a?",
        "([a-z]{2,4}-){2,6}[a-p]{0,40}",
    ],
)
def test_texts_of_limited_length_in_patterns(pattern: str) -> None:
    """The way to the end may be longer or shorter after each character."""
    dice = Random(0)
    texts = {"".join(dice.choices("abcdmnpz-é09", k=dice.randint(2, 7))).encode() for _ in range(400)}
    cut = {text[:-1] for text in texts if text.endswith("é".encode())}
    tokens = [*(bytes([byte]) for byte in range(256)), *sorted(texts | cut - {b""}), b""]
    automaton = kinds.lazy(pattern, Vocabulary(tokens, eos_ids=len(tokens) - 1))
    bites = 0
    for text in range(12):
        state = automaton.start
        for place in range(14):
            bites += check_state(automaton, state, exact=False, seed=100 * text + place)
            allowed = np.flatnonzero(automaton.mask(state)[:-1]).tolist()
            if not allowed:
                break
            state = automaton.advance(state, dice.choice(allowed))
    assert bites > 50


# Pairs of letters are tokens, so the number of bytes to an end is not the number of tokens.
PAIRS = Vocabulary([b"ab", *(bytes([byte]) for byte in range(256)), b""], 257)


def test_tables_that_somebody_elses_deadline_stopped_are_made_later() -> None:
    automaton = tokenfst.compile("(ab){2,5}", PAIRS)
    with Work(Limits(seconds=0.01)).current():
        time.sleep(0.02)
        with pytest.raises(LimitExceeded):
            automaton.fits(automaton.start, 3)
    assert automaton.min_tokens(automaton.start) == 3


def test_tables_that_another_thread_makes_are_waited_for_again() -> None:
    automaton: Any = tokenfst.compile("(ab){2,5}", PAIRS)
    with automaton._tables._lock, ThreadPoolExecutor(1) as other:
        assert other.submit(automaton.min_tokens, automaton.start).result() == 5  # an upper bound
    assert automaton.min_tokens(automaton.start) == 3
