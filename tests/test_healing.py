"""A healed automaton takes all tokenizations of the prompt's end and a text, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import inf
from typing import Any

import numpy as np
import pynini
import pytest
import pywrapfst
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import constraints
import tokenfst
from automata import EmptyLanguage, TokenNotAllowed, VocabularyError, parse
from decoding import bundled_model, vocabulary_of
from decoding.inputs.healing import Healed, heal
from tokenfst import TokenAutomaton, Vocabulary

LETTERS = Vocabulary([b"a", b"b", b"ab", b"aba", b"bb", b"ba", b"", b"abab", b"bab", b"a"], [6])
# Not every byte is a token by itself.
LACKING = Vocabulary([b"a", b"ab", b"aba", b"bb", b"ba", b"", b"babb"], [5])
NEVER = 99


def sequences(vocabulary: Vocabulary, length: int) -> Iterator[list[int]]:
    written = [token for token in range(len(vocabulary)) if token not in vocabulary.eos_ids]
    for count in range(length + 1):
        yield from map(list, product(written, repeat=count))


def made(constraint: Any, vocabulary: Vocabulary, lazy: bool) -> Any:
    automaton = tokenfst.compile(constraint, vocabulary)
    return automaton if lazy else automaton.complete()


BALANCED = constraints.grammar('start: "a" start "b" | "ab"', syntax="lark")
CONSTRAINTS = {"loop": "(ab|b)*", "words": "abab|bb|a", "counted": "a{2,90}b?", "grammar": BALANCED}


@pytest.mark.parametrize("lazy", [False, True], ids=["eager", "lazy"])
@pytest.mark.parametrize("prefix", [b"", b"a", b"ba", b"abb"])
@pytest.mark.parametrize("constraint", CONSTRAINTS.values(), ids=CONSTRAINTS)
def test_all_tokenizations_of_prefix_and_text_and_nothing_else(constraint: Any, prefix: bytes, lazy: bool) -> None:
    inner = made(constraint, LETTERS, lazy)
    healed, bytewise = Healed(inner, prefix), tokenfst.compile(constraint, Vocabulary([b"a", b"b"]))
    found = 0
    for tokens in sequences(LETTERS, 4):
        text = LETTERS.detokenize(tokens)
        rest = [b"ab".index(byte) for byte in text[len(prefix) :]]
        expected = text.startswith(prefix) and bytewise.accepts(rest)
        assert healed.accepts(tokens) == expected, (tokens, text)
        found += expected
        if expected:
            assert healed.text(tokens) == text[len(prefix) :]
    assert found > 1


def overhangs(vocabulary: Vocabulary, prefix: bytes) -> set[bytes]:
    """What tokens write behind a prefix in which they begin."""
    rests = [prefix[at:] for at in range(len(prefix))]
    return {token[len(rest) :] for rest in rests for token in vocabulary.tokens if token.startswith(rest)}


def spells(vocabulary: Vocabulary, text: bytes) -> bool:
    return not text or any(
        token and text.startswith(token) and spells(vocabulary, text[len(token) :]) for token in vocabulary.tokens
    )


@pytest.mark.parametrize("vocabulary", [LETTERS, LACKING], ids=["all bytes", "not all bytes"])
@pytest.mark.parametrize("prefix", [b"ba", b"ab", b"abb", b"bbb", b"baba"])
@pytest.mark.parametrize("pattern", ["(ab|b)*", "abab|bb|a", "a{2,90}b?"])
def test_masks_and_distances_are_those_of_what_can_be_completed(
    pattern: str, prefix: bytes, vocabulary: Vocabulary
) -> None:
    """By definition, from the automaton of prefix and language together."""
    inner, whole = tokenfst.compile(pattern, vocabulary), None
    try:
        whole = tokenfst.compile(f"{prefix.decode()}({pattern})", vocabulary)
    except EmptyLanguage:
        with pytest.raises(EmptyLanguage):
            Healed(inner, prefix)
        return
    if not all(spells(vocabulary, beyond) for beyond in overhangs(vocabulary, prefix)):
        with pytest.raises(VocabularyError, match="which no tokens spell"):
            Healed(inner, prefix)
        return
    healed = Healed(inner, prefix)
    pairs = {(healed.start, whole.start)}
    seen = set(pairs)
    for _ in range(6):
        following = set()
        for one, other in pairs:
            assert healed.is_final(one) == whole.is_final(other)
            assert healed.min_tokens(one) == whole.min_tokens(other)
            for remaining in (None, 0, 1, 2, 3, 5, 60):
                mask = whole.mask(other, remaining)
                assert np.array_equal(healed.mask(one, remaining), mask), (one, remaining)
                out = np.full(3, -1, np.int32)
                healed.fill_bitmask(one, out, remaining)
                assert [token for token in range(32) if out[0] >> token & 1] == np.flatnonzero(mask).tolist()
                assert not out[1:].any()
            for token in range(len(vocabulary)):
                if whole.mask(other)[token]:
                    following.add((healed.advance(one, token), whole.advance(other, token)))
                else:
                    with pytest.raises(TokenNotAllowed):
                        healed.advance(one, token)
        pairs = following - seen
        seen |= pairs
    assert len(seen) > 2


@settings(max_examples=30)
@given(st.lists(st.sampled_from(range(9)), min_size=1, max_size=6), st.integers(0, 4))
def test_what_is_given_back_is_the_longest_end_that_a_longer_token_begins_with(prompt: list[int], most: int) -> None:
    inner = tokenfst.compile("(a|b)*", LETTERS)
    kept, healed = heal(prompt, inner, max_tokens=most)
    assert kept == prompt[: len(kept)]
    assert LETTERS.detokenize(kept) + healed.prefix == LETTERS.detokenize(prompt)

    def can_continue(at: int) -> bool:
        tail = prompt[at:]
        text = LETTERS.detokenize(tail)
        return all(LETTERS.tokens[token] for token in tail) and any(
            token.startswith(text) and token != text for token in LETTERS.tokens
        )

    ends = [at for at in range(max(1, len(prompt) - most), len(prompt)) if can_continue(at)]
    assert len(kept) == min(ends, default=len(prompt))


def spellings(vocabulary: Vocabulary, text: bytes) -> Iterator[list[int]]:
    if not text:
        yield []
    for token, length in vocabulary.tokens_at(text, 0):
        yield from ([token, *rest] for rest in spellings(vocabulary, text[length:]))


def accepts_some(inner: TokenAutomaton, prefix: bytes, tokens: list[int]) -> bool:
    """Whether tokens write the prefix and, in some tokens from its end on, what an automaton accepts."""
    text, place = b"", 0
    while len(text) < len(prefix) and place < len(tokens):
        text, place = text + LETTERS.tokens[tokens[place]], place + 1
    ways = spellings(LETTERS, text[len(prefix) :])
    return text.startswith(prefix) and any(inner.accepts([*way, *tokens[place:]]) for way in ways)


def read(*texts: list[int]) -> TokenAutomaton:
    """The automaton that accepts only these sequences of tokens."""
    fst = pynini.Fst()
    fst.set_start(fst.add_state())
    for text in texts:
        state = fst.start()
        for token in text:
            after = fst.add_state()
            fst.add_arc(state, pywrapfst.Arc(token + 1, token + 1, 0, after))
            state = after
        fst.set_final(state)
    return TokenAutomaton.from_fst(fst, LETTERS)


FREE = {
    "every way": (TokenAutomaton.from_fst(tokenfst.compile("abab|bb|a", LETTERS).fst(), LETTERS), [b"a", b"b", b"ab"]),
    "both": (read([0, 1], [9, 1], [4, 1]), [b"a"]),
    "one way": (read([2, 1]), [b"a"]),
    "a letter": (tokenfst.compile(r"(?P<TOKEN><\[1\]>)b|ab", LETTERS), [b"a", b"ab"]),
    "letters": (tokenfst.compile(r"(?P<TOKEN><\[2\]>)b", LETTERS), [b"a"]),
}
UNFREE = [
    (read([2, 1]), b"b"),  # "bab" may stand for "b" and "ab", but "ba" not for "b" and "a".
    (read([0, 1]), b"b"),  # There are two tokens "a".
    (read([0, 1, 1], [9, 1, 1], [2, 0]), b"b"),
    (tokenfst.compile(r"(?P<TOKEN><\[2\]>)b", LETTERS), b"b"),
]


@pytest.mark.parametrize(("inner", "prefixes"), FREE.values(), ids=FREE)
def test_tokens_across_the_end_of_the_prefix_stand_for_those_of_the_automaton(
    inner: TokenAutomaton, prefixes: list[bytes]
) -> None:
    for prefix in prefixes:
        healed = Healed(inner, prefix)
        for tokens in sequences(LETTERS, 4):
            assert healed.accepts(tokens) == accepts_some(inner, prefix, tokens), (prefix, tokens)


@pytest.mark.parametrize(("inner", "prefix"), UNFREE)
def test_tokens_of_which_only_some_are_allowed_are_refused(inner: TokenAutomaton, prefix: bytes) -> None:
    with pytest.raises(ValueError, match="lead to different states, or only some of them are allowed"):
        Healed(inner, prefix)


@pytest.mark.parametrize("prefix", ["", "b", "ab"])
def test_weights_are_the_costs_along_the_tokens(prefix: str) -> None:
    # Token 6 writes nothing, and yet tells two texts of different costs apart.
    vocabulary = Vocabulary([*LETTERS.tokens[:7], b""], [7])
    language = parse(r"a(?P<TOKEN><\[6\]>)b?").weighted(1.5) | parse("b|ab?").weighted(0.25)
    healed, found = Healed(tokenfst.compile(language, vocabulary), prefix), set()
    for tokens in sequences(vocabulary, 4):
        state, cost = healed.start, healed.initial_cost
        for token in [*tokens, 7]:
            if state is not None:
                cost += float(healed.costs(state)[token])
                state = healed.step(state, token)
        assert healed.weight(tokens) == healed.weight([*tokens, 7]) == cost
        found.add(cost)
    assert found == {0.25, 1.5, inf}


def test_what_cannot_be_healed_is_refused() -> None:
    inner = tokenfst.compile("a+", LACKING)
    with pytest.raises(EmptyLanguage, match=r"b'c' and a text"):
        Healed(inner, b"c")
    model_vocabulary = vocabulary_of(bundled_model()[1])
    with pytest.raises(ValueError, match="canonical"):
        Healed(tokenfst.compile("a+", model_vocabulary, tokenization="canonical"), b"a")
    with pytest.raises(ValueError, match="start of a text"):
        Healed(tokenfst.compile("a+", model_vocabulary, at_text_start=True), b"a")


def test_a_real_prompt_is_healed() -> None:
    _, tokenizer = bundled_model()
    vocabulary = vocabulary_of(tokenizer)
    prompt = tokenizer('{"name": "')["input_ids"]
    kept, healed = heal(prompt, tokenfst.compile(r'[A-Za-z ]+"\}', vocabulary))
    assert vocabulary.detokenize(kept) + healed.prefix == b'{"name": "'
    assert healed.prefix
    for text in ('Zo"}', 'A B"}'):
        tokens = tokenizer(healed.prefix.decode() + text)["input_ids"]
        assert healed.accepts(tokens)
        assert healed.text(tokens).decode() == text
    assert not healed.accepts(tokenizer('A B"}')["input_ids"])


@pytest.mark.parametrize("kind", [list, tuple, np.array, torch.tensor])
def test_a_prompt_may_be_any_sequence_of_ids(kind: Callable[[list[int]], Any]) -> None:
    vocabulary = Vocabulary([b"a", b"ab", b"b", b""], 3)
    kept, healed = heal(kind([2, 0]), tokenfst.compile("b", vocabulary))
    assert (kept, list(map(type, kept)), healed.prefix) == ([2], [int], b"a")


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ([[0, 1]], "and not list of list"),
        ({"input_ids": [0]}, "and not a tokenizer's whole output"),
        ("ab", "and not a text"),
        (None, "and not NoneType"),
        ([0.5], "and not list of float"),
        (torch.tensor([[0, 1]]), r"and not Tensor: prompt.tolist\(\) makes"),
    ],
)
def test_what_is_no_list_of_ids_is_refused(prompt: Any, message: str) -> None:
    vocabulary = Vocabulary([b"a", b"ab", b"b", b""], 3)
    with pytest.raises(TypeError, match=message):
        heal(prompt, tokenfst.compile("b", vocabulary))


def test_a_mask_is_written_into_words() -> None:
    healed = Healed(tokenfst.compile("b", Vocabulary([b"a", b"ab", b"b", b""], 3)), "a")
    assert healed.prefix == b"a"
    for wrong in (np.zeros(1, np.int64), np.zeros((1, 1), np.int32)):
        out: Any = wrong
        with pytest.raises(TypeError, match=r"a mask is int32 \[W\], and not"):
            healed.fill_bitmask(healed.start, out)
