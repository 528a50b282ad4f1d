"""Masks made on demand are those of eager automata, and those that reading every token byte by byte gives."""

from __future__ import annotations

import random
import threading
from importlib.resources import files
from typing import Any

import kinds
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import complete, lazy_over
from pushdown_cases import ambiguous

import constraints
import tokenfst
from automata import (
    ByteAutomaton,
    EmptyLanguage,
    Grammar,
    LimitExceeded,
    Limits,
    TokenNotAllowed,
    compile_expr,
    parse,
)
from automata import expressions as ex
from automata.pushdown.compile import compile_grammar
from automata.visibly_pushdown import VisiblyPushdownGrammar, VisiblyPushdownRule
from constraints.grammars.bundled import bundled
from tokenfst import Vocabulary, from_tekken
from tokenfst.lazy import LazyTokenAutomaton
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary.text_start import TextStart

# What the walks tell apart: text that loops, texts that differ from another, lengths that are counted, with characters
# beyond ASCII and without.
PIECES = (
    r'"[^"\\\x00-\x1f]*"',
    r'"([^"\\\x00-\x1f]|\\["\\n]|\\u[0-9a-f]{4})*"',
    r'"[^"\\]{0,5}"',
    r'"[^"\\]{3,}"',
    r"[a-zA-Z0-9_-]{2,4}",
    r"([ -~]{3})*",
    r'"(?!ab"|abc"|b")[^"]*"',
    r"(?!é|ab)\w+",
    r".*ab.*",
    r"a|b{3}|é+",
    r"-?\d+(\.\d+)?",
    r"[A-Z][a-z]{0,3}[^é]*",
)


def can_be_read(automaton: TokenAutomaton, state: Any, token: int) -> bool:
    return automaton.step(state, token) is not None


def byte_vocabulary(rng: random.Random, alphabet: bytes, count: int) -> Vocabulary:
    """All bytes, and some longer tokens."""
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [bytes(rng.choices(alphabet, k=rng.randint(2, 7))) for _ in range(count)]
    tokens += ["é".encode(), "é".encode() * 2, "aé\U0001f600".encode(), b"\xc3", b'a"\xf0\x9f', b"", b"\xa9b", b""]
    return Vocabulary(tokens, eos_ids=(len(tokens) - 1,))


def walks(automaton: TokenAutomaton, rng: random.Random, count: int, length: int) -> set[tuple[int, ...]]:
    """Random sequences of tokens that the masks allow, with those that begin them."""
    found: set[tuple[int, ...]] = {()}
    for _ in range(count):
        state, tokens = automaton.start, tuple[int, ...]()
        while len(tokens) < length and state != getattr(automaton, "end_state", None):
            token = int(rng.choice(np.flatnonzero(automaton.mask(state))))
            state, tokens = automaton.advance(state, token), (*tokens, token)
            found.add(tokens)
    return found


@given(st.data())
@settings(max_examples=75, deadline=None)
def test_masks_are_the_tokens_that_can_be_read(data: st.DataObject) -> None:
    rng = random.Random(data.draw(st.integers(0, 1 << 30)))
    pattern = "|".join(data.draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=3)))
    pattern = f"({pattern}){data.draw(st.sampled_from(['', '*', '{1,2}']))}"
    vocabulary = byte_vocabulary(rng, 'ab"AZ 0-\\né'.encode(), 150)
    automaton = compile_expr(parse(pattern))
    lazy = lazy_over(automaton, vocabulary)
    eos = vocabulary.eos_ids[0]
    for tokens in walks(lazy, rng, 6, 6):
        if eos in tokens:
            continue
        state = lazy.start
        for token in tokens:
            state = lazy.advance(state, token)
        at = automaton.step(automaton.start, vocabulary.detokenize(tokens))
        expected = [bool(token) and automaton.step(at, token) >= 0 for token in vocabulary.tokens]
        expected[eos] = bool(automaton.final[at])
        assert lazy.mask(state).tolist() == expected
        assert lazy.is_final(state) == expected[eos]
        for token in rng.sample(range(len(vocabulary)), 5):
            if expected[token]:
                lazy.advance(state, token)
            else:
                with pytest.raises(TokenNotAllowed):
                    lazy.advance(state, token)


@pytest.mark.parametrize("name", ["json", "s_expressions", "xml", "domino_json", "mermaid", "yaml_flow"])
def test_grammars_over_small_vocabularies_equal_the_eager_ones(name: str) -> None:
    grammar = constraints.json() if name == "json" else bundled(name)
    rng = random.Random(name)
    vocabulary = byte_vocabulary(rng, b'{}[]()<>/",: a1\n-', 400)
    eager, lazy = complete(grammar, vocabulary), tokenfst.compile(grammar, vocabulary)
    for tokens in walks(lazy, rng, 30, 25):
        one, other = eager.start, lazy.start
        for token in tokens:
            one, other = eager.advance(one, token), lazy.advance(other, token)
        np.testing.assert_array_equal(eager.mask(one), lazy.mask(other))
        assert eager.is_final(one) == lazy.is_final(other)


@pytest.fixture(scope="module")
def tekken() -> Vocabulary:
    return from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))


@pytest.mark.parametrize("pattern", [*PIECES[:8], r"\d{4}-\d\d-\d\d", "json"])
def test_masks_of_a_real_vocabulary_equal_the_eager_ones(pattern: str, tekken: Vocabulary) -> None:
    constraint = constraints.json() if pattern == "json" else pattern
    eager, lazy = complete(constraint, tekken), tokenfst.compile(constraint, tekken)
    rng = random.Random(pattern)
    words = np.full(-(-len(tekken) // 32) + 2, -1, np.int32)
    for tokens in walks(lazy, rng, 4, 6):
        one, other = eager.start, lazy.start
        for token in tokens:
            one, other = eager.advance(one, token), lazy.advance(other, token)
        np.testing.assert_array_equal(eager.mask(one), lazy.mask(other))
        lazy.fill_bitmask(other, words)
        bits = np.unpackbits(words.view(np.uint8), count=len(tekken), bitorder="little")
        np.testing.assert_array_equal(bits, eager.mask(one))
        assert not words[-2:].any()


SCHEMAS: list[dict[str, Any]] = [
    {"properties": {"a": {"type": "string", "maxLength": 4}, "ab": {"enum": ["a", "b", 11]}}, "required": ["a"]},
    {"type": "array", "items": {"$ref": "#"}, "maxItems": 2, "not": {"contains": {"maxItems": 0}, "minItems": 2}},
    {"oneOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "array", "items": {"minimum": 1}}]},
    {"type": "object", "additionalProperties": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "maxProperties": 2},
    {"not": {"required": ["a"]}, "type": ["object", "string"], "pattern": "^a|b$"},
    {  # blocks of several sizes
        "items": {"type": "string", "anyOf": [{"maxLength": 3}, {"pattern": r"^(\S+\s+){0,2}\S+$", "maxLength": 9}]},
        "type": "array",
        "maxItems": 3,
    },
    {  # listed names beside all others
        "properties": {"ab": {"type": "null"}, "abba1": {"type": "boolean"}, "b1": {"const": "ab"}, "": {"const": 1}},
        "additionalProperties": {"enum": ["a", "b", {"ab": 1}]},
        "maxProperties": 3,
    },
    # characters that are counted, far from the bounds and near them
    {"type": "array", "items": {"type": "string", "minLength": 3, "maxLength": 12}, "maxItems": 2},
    {"items": {"type": "string", "pattern": r"^(a|b1|é{2}){2,9}1?$", "maxLength": 9}, "type": "array", "maxItems": 2},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_grammars_are_made_deterministic_on_demand(schema: dict[str, Any]) -> None:
    rng = random.Random(str(schema))
    vocabulary = byte_vocabulary(rng, b'{}[]",: ab1', 400)
    constraint = constraints.json_schema(schema)
    eager, lazy = complete(constraint, vocabulary), tokenfst.compile(constraint, vocabulary)
    for tokens in walks(lazy, rng, 25, 25):
        one: Any = eager.start
        other = lazy.start
        for token in tokens:
            one, other = eager.advance(one, token), lazy.advance(other, token)
        np.testing.assert_array_equal(eager.mask(one), lazy.mask(other))
        assert eager.is_final(one) == lazy.is_final(other)


def test_kept_masks_do_not_grow_with_the_depth(tekken: Vocabulary) -> None:
    lazy = kinds.lazy(constraints.json(), tekken)
    token = tekken.tokens.index(b"[")
    state, words = lazy.start, np.empty(4096, np.int32)
    for _ in range(3000):
        state = lazy.advance(state, token)
        lazy.fill_bitmask(state, words)
    assert lazy.core.num_masks == 3000
    assert sum(lazy.core.mask_counts.values()) < 8
    assert lazy.core.num_contexts < 16
    close = tekken.tokens.index(b"]")
    for left in range(3000, 0, -1):
        assert not lazy.is_final(state), left
        state = lazy.advance(state, close)
    assert lazy.is_final(state)
    assert state == lazy.advance(lazy.advance(lazy.start, token), close)


def test_the_memory_of_masks_is_counted(tekken: Vocabulary) -> None:
    lazy = tokenfst.compile(constraints.json_schema({"type": "string"}), tekken)
    state, words = lazy.advance(lazy.start, tekken.tokens.index(b'"')), np.empty(4096, np.int32)
    sizes = [lazy.nbytes]
    for _ in range(10):
        lazy.fill_bitmask(state, words)
        sizes.append(lazy.nbytes)
    # First the tokens that close the string; then, where the mask is written often, all of its words.
    assert sizes[0] + 100 < sizes[1] < sizes[2]
    assert sizes[-1] - sizes[1] == 4 * -(-len(tekken.tokens) // 32)


def test_equal_stacks_are_equal_states(tekken: Vocabulary) -> None:
    lazy = tokenfst.compile(constraints.json(), tekken)
    states = []
    for text in (b'[{"a":1},[', b"[1,[", b"[[],["):
        state = lazy.start
        for byte in text:
            state = lazy.advance(state, tekken.tokens.index(bytes([byte])))
        states.append(state)
    assert len(set(states)) == 1
    assert hash(states[0]) == hash(states[1])


def test_what_was_forgotten_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenfst.lazy.MAX_CACHED_STATES", 4)
    rng = random.Random(5)
    vocabulary = byte_vocabulary(rng, b'{}[]",: a1', 300)
    eager = complete(constraints.json(), vocabulary)
    lazy = kinds.lazy(constraints.json(), vocabulary)
    for tokens in walks(lazy, rng, 10, 20):
        one, other = eager.start, lazy.start
        for token in tokens:
            one, other = eager.advance(one, token), lazy.advance(other, token)
        np.testing.assert_array_equal(eager.mask(one), lazy.mask(other))
        assert lazy.core.num_masks <= 5


RULES = {
    "space": TextStart(),
    "ignored": TextStart(exceptions={256: b" "}, ignored=frozenset({270})),
    "mark": TextStart(b"a", {260: b"b", 261: b""}),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("constraint", [r"a*(ab| b){0,3}", '[a"]*', "json"])
def test_the_start_of_a_text_is_that_of_the_eager_ones(rule: str, constraint: str) -> None:
    rng = random.Random(rule)
    plain = byte_vocabulary(rng, b' ab"', 60)
    vocabulary = Vocabulary(plain.tokens, plain.eos_ids, text_start=RULES[rule])
    language = constraints.json() if constraint == "json" else constraint
    try:
        eager = complete(language, vocabulary, at_text_start=True)
    except EmptyLanguage:
        return
    lazy = tokenfst.compile(language, vocabulary, at_text_start=True)
    for tokens in walks(lazy, rng, 20, 6):
        one, other = eager.start, lazy.start
        for token in tokens:
            one, other = eager.advance(one, token), lazy.advance(other, token)
        np.testing.assert_array_equal(eager.mask(one), lazy.mask(other))
        assert eager.text(tokens) == lazy.text(tokens)


def test_the_end() -> None:
    vocabulary = byte_vocabulary(random.Random(1), b"ab", 10)
    lazy = tokenfst.compile("ab?", vocabulary)
    eos = vocabulary.eos_ids[0]
    assert lazy.accepts([97, eos])
    assert lazy.accepts([97, 98])
    assert not lazy.accepts([98])
    end = lazy.advance(lazy.advance(lazy.start, 97), eos)
    assert end == lazy.end_state
    assert lazy.is_final(end)
    assert np.flatnonzero(lazy.mask(end)).tolist() == [eos]
    assert lazy.advance(end, eos) == end
    with pytest.raises(TokenNotAllowed):
        lazy.advance(end, 97)
    with pytest.raises(ValueError, match="words"):
        lazy.fill_bitmask(end, np.zeros(3, np.int32))


def test_tables_are_made_at_once_where_lazy_steps_would_not_be_exact() -> None:
    vocabulary = byte_vocabulary(random.Random(1), b"ab", 10)
    with pytest.raises(EmptyLanguage):
        lazy_over(compile_expr(parse("a(?!b)b")), vocabulary)
    labelled = tokenfst.compile("a(?P<TEXT_TOKEN>)b", vocabulary)
    lacking = tokenfst.compile("(ab)*", Vocabulary([b"a", b"ab"]))
    ambiguous_one = tokenfst.compile(ambiguous(), vocabulary)
    for automaton in (labelled, lacking, ambiguous_one):
        assert not isinstance(automaton, LazyTokenAutomaton)
        assert automaton.complete() is automaton
    # An a alone could not be continued.
    assert lacking.mask(lacking.start).tolist() == [False, True]


@pytest.mark.parametrize("constraint", ['"[a-z]*"|x{3}', constraints.json(), constraints.json_schema({"maxItems": 2})])
def test_complete_automata_have_the_same_masks_and_budgets(constraint: Any) -> None:
    rng = random.Random(2)
    vocabulary = byte_vocabulary(rng, b'{}[]",: ax1', 300)
    lazy = tokenfst.compile(constraint, vocabulary)
    eager = lazy.complete()
    assert lazy.complete() is eager
    for tokens in walks(lazy, rng, 20, 12):
        one, other = eager.start, lazy.start
        for token in tokens:
            one, other = eager.advance(one, token), lazy.advance(other, token)
        least = eager.min_tokens(one)
        assert lazy.min_tokens(other) == least
        assert lazy.fits(other, least)
        assert not lazy.fits(other, least - 1)
        assert lazy.key(other) == eager.key(one)
        for remaining in (least - 1, least, least + 1, least + 4, None):
            np.testing.assert_array_equal(eager.mask(one, remaining), lazy.mask(other, remaining))


def test_tables_that_exceed_the_limits_leave_bounds() -> None:
    vocabulary = byte_vocabulary(random.Random(1), b"ab", 10)
    names = constraints.choice(f"{number:05}" for number in range(3_000))
    lazy = kinds.lazy(names, vocabulary)
    lazy._tables.limits = Limits(memory=1_000)
    with pytest.raises(LimitExceeded):
        lazy.complete()
    assert lazy.min_tokens(lazy.start) == 6
    assert lazy.mask(lazy.start, 6).any()
    assert not lazy.mask(lazy.start, 5).any()
    assert lazy.complete(limits=Limits()).min_tokens(lazy.complete().start) == 6


def test_a_refusal_says_what_was_written_and_what_may_come() -> None:
    vocabulary = Vocabulary([bytes([byte]) for byte in range(256)] + [b""], eos_ids=[256])
    lazy = tokenfst.compile(r"19\d\d-[01]\d", vocabulary)
    state = lazy.start
    for byte in b"1970-":
        state = lazy.advance(state, byte)
    with pytest.raises(
        TokenNotAllowed, match=r"token 57 \(b'9'\) is not allowed after b'1970-'; allowed are b'0', b'1'$"
    ):
        lazy.advance(state, ord("9"))
    with pytest.raises(TokenNotAllowed, match=r"the end of the text is not allowed after b'1970-'"):
        lazy.advance(state, 256)


def test_threads_share_an_automaton(tekken: Vocabulary) -> None:
    automaton = compile_grammar(constraints.json())
    lazy, found = lazy_over(automaton, tekken), dict[int, list[bytes]]()
    texts = [b'{"a": [1, {"b": "c d"}], "e": null}', b'[[[[["x", 1.5, true]]]]]'] * 4

    def read(number: int) -> None:
        state, masks = lazy.start, []
        for byte in texts[number]:
            masks.append(lazy.mask(state).tobytes())
            state = lazy.advance(state, tekken.tokens.index(bytes([byte])))
        found[number] = masks

    threads = [threading.Thread(target=read, args=(number,)) for number in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[2] == found[6]
    assert found[1] == found[5] == found[7]


def test_an_automaton_over_bytes_is_taken_as_it_is() -> None:
    vocabulary = byte_vocabulary(random.Random(1), b"ab", 10)
    automaton = compile_expr(parse("(ab)+"))
    assert isinstance(automaton, ByteAutomaton)
    assert repr(tokenfst.compile(automaton, vocabulary)).startswith("<LazyTokenAutomaton,")


@pytest.mark.parametrize("seed", range(8))
def test_many_languages_side_by_side(seed: int) -> None:
    """So many that the arcs of a set of states are looked at several at once."""
    rng, letters = random.Random(seed), "abcdefghij"
    patterns = []
    for _ in range(rng.choice([20, 40, 90])):
        out, end = rng.sample(letters, rng.randint(1, 4)), rng.choice(letters)
        middle = f"[^{''.join(out)}]" if rng.random() < 0.7 else f"[{''.join(rng.sample(letters, 3))}é-ü]"
        patterns.append(f"{middle}{{{rng.randint(0, 2)},}}{end}[0-9]")
    rule = VisiblyPushdownRule()
    begin, last = rule.state(), rule.state()
    rule.arcs.append((0, ex.literal("<"), begin))
    for pattern in patterns:
        after = rule.state()
        rule.arcs += [(begin, parse(pattern), after), (after, ex.literal(">"), last)]
    rule.ends.append((last, 0))
    vocabulary = byte_vocabulary(rng, letters.encode() + b"<>012", 250)
    lazy = lazy_over(VisiblyPushdownGrammar((rule,)), vocabulary, falls_back=False)
    eager = complete(parse(f"<({'|'.join(patterns)})>"), vocabulary)
    for tokens in walks(lazy, rng, 12, 8):
        state, expected = lazy.start, eager.start
        for token in tokens:
            state, expected = lazy.advance(state, token), eager.advance(expected, token)
        assert np.array_equal(lazy.mask(state), eager.mask(expected))


@pytest.mark.parametrize("tokens", [[b""], [b"", b""], [b"</s>", b""]])
@pytest.mark.parametrize("constraint", ["", "(?:b*){0,0}", Grammar({"s": ex.literal("")}, "s")], ids=str)
def test_vocabularies_in_which_no_token_writes_text(tokens: list[bytes], constraint: Any) -> None:
    vocabulary = Vocabulary(tokens, eos_ids=0)
    automaton = tokenfst.compile(constraint, vocabulary)
    ended = [True, *[False] * (len(tokens) - 1)]
    assert [automaton.mask(automaton.start, most).tolist() for most in (None, 1, 2)] == [ended] * 3
    assert not automaton.mask(automaton.start, 0).any()
    assert automaton.min_tokens(automaton.start) == 1
