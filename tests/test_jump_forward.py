"""What is forced is found from all texts of small languages, and cut as the encoder cuts it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import complete

import tokenfst
from automata import EmptyLanguage
from constraints import grammar
from decoding import bundled_model, vocabulary_of
from tokenfst import Vocabulary
from tokenfst.jump_forward import forced_text, forced_tokens, only_token, retokenized, settled
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary.text_start import TextStart

BYTES = Vocabulary([b"a", b"b", b"ab", b"ba", b"c", b"", b"bb", b"abc"], eos_ids=[5])
# "b" is not a token by itself.
NO_B = Vocabulary([b"a", b"", b"ab", b"ba", b"c", b"", b"bb", b"abc"], eos_ids=[5])
FINITE = ["abab(a|b)", "(a|b)cc(ab)?", "abc", "(ab|abc|abb)c{0,2}", "a(bc){1,2}", "(aab|aac)b", "c(a|b|ab)", ""]
# Nor here: " b" may follow where " " may, which is a token by itself.
SPACED = Vocabulary([b"a", b" ", b"ab", b" b", b"c", b""], eos_ids=[])
NO_END = Vocabulary([b"a", b"b", b"ab", b"ba", b"c", b"", b"bb", b"abc"])
# Names stand for "ab" and "c", which are also read as bytes.
NAMED = [
    r"(?P<TOKEN><\[2\]>)|ac",
    r"(?P<TOKEN><\[2\]>)c|abb",
    r"(?P<TOKEN><\[2\]>)c|abc",
    r"ab(?P<TOKEN><\[4\]>)a|abcb",
]
T = TypeVar("T")
TOKENIZER = bundled_model()[1]
VOCABULARY = vocabulary_of(TOKENIZER)


def encode(text: str) -> list[int]:
    found: list[int] = TOKENIZER(text)["input_ids"]
    return found


def common(texts: Collection[Sequence[T]]) -> Sequence[T]:
    """The longest common beginning."""
    first = min(texts, key=len)
    return first[: next((n for n in range(len(first)) if any(text[n] != first[n] for text in texts)), len(first))]


def texts(pattern: str) -> list[str]:
    letters = ["".join(text) for length in range(9) for text in itertools.product("abc", repeat=length)]
    return [text for text in letters if re.fullmatch(pattern, text)]


@given(st.lists(st.integers(0, 255), max_size=6))
def test_the_only_token_is_the_only_bit(tokens: list[int]) -> None:
    bits = np.zeros(256, np.uint8)
    bits[tokens] = 1
    expected = tokens[0] if len(set(tokens)) == 1 else None
    assert only_token(np.packbits(bits, bitorder="little").view(np.int32)) == expected


@pytest.mark.parametrize("pattern", FINITE)
@pytest.mark.parametrize("lazy", [False, True])
def test_forced_text_is_what_all_texts_go_on_with(pattern: str, lazy: bool) -> None:
    found = texts(pattern)
    assert found
    automaton: TokenAutomaton = tokenfst.compile(pattern, BYTES) if lazy else complete(pattern, BYTES)
    for prefix in sorted({text[:length] for text in found for length in range(len(text) + 1)}):
        state = automaton.start
        for byte in prefix.encode():
            state = automaton.advance(state, BYTES.tokens.index(bytes([byte])))
        expected = common([text for text in found if text.startswith(prefix)])[len(prefix) :]
        assert forced_text(automaton, state).decode() == expected
        assert forced_text(automaton, state, max_bytes=2).decode() == expected[:2]


def continuations(automaton: TokenAutomaton, state: object) -> set[bytes]:
    """What every sequence of tokens writes from a state to an end."""
    found = {b""} if automaton.is_final(state) else set()
    for token in np.flatnonzero(automaton.mask(state)).tolist():
        if token not in automaton.vocabulary.eos_ids:
            written = automaton.vocabulary.tokens[token]
            found |= {written + rest for rest in continuations(automaton, automaton.advance(state, token))}
    return found


def states_of(automaton: TokenAutomaton) -> set[object]:
    found, waiting = {automaton.start}, [automaton.start]
    while waiting:
        state = waiting.pop()
        for token in np.flatnonzero(automaton.mask(state)).tolist():
            after = automaton.advance(state, token)
            if token not in automaton.vocabulary.eos_ids and after not in found:
                found.add(after)
                waiting.append(after)
    return found


@pytest.mark.parametrize("pattern", [*FINITE, " b| ac", *NAMED])
@pytest.mark.parametrize("vocabulary", [BYTES, NO_B, NO_END, SPACED], ids=["bytes", "no b", "no end", "spaced"])
def test_forced_text_is_what_all_tokens_go_on_with(pattern: str, vocabulary: Vocabulary) -> None:
    try:
        automaton = tokenfst.compile(pattern, vocabulary)
    except EmptyLanguage:
        return
    for state in states_of(automaton):
        found, expected = forced_text(automaton, state), common(continuations(automaton, state))
        assert found == expected or (pattern in NAMED and expected[: len(found)] == found)


@pytest.mark.parametrize("pattern", FINITE)
@pytest.mark.parametrize("vocabulary", [BYTES, NO_B], ids=["all bytes", "no b"])
def test_forced_tokens_are_those_of_every_way_to_write(pattern: str, vocabulary: Vocabulary) -> None:
    ways = [way for length in range(6) for way in itertools.product((0, 1, 2, 3, 4, 6, 7), repeat=length)]
    spelled = {way for way in ways if all(vocabulary.tokens[token] for token in way)}
    every = {way for way in spelled if re.fullmatch(pattern, vocabulary.detokenize(way).decode())}
    if not every:
        with pytest.raises(EmptyLanguage):
            tokenfst.compile(pattern, vocabulary)
        return
    automaton = tokenfst.compile(pattern, vocabulary)
    for prefix in {way[:length] for way in every for length in range(len(way) + 1)}:
        state = automaton.start
        for token in prefix:
            state = automaton.advance(state, token)
        following = [(*way, 5) for way in every if way[: len(prefix)] == prefix]
        assert forced_tokens(automaton, state) == list(common(following)[len(prefix) :])
        assert forced_tokens(automaton, state, max_tokens=1) == list(common(following)[len(prefix) :])[:1]


def test_forced_text_of_a_grammar() -> None:
    automaton = tokenfst.compile(grammar('root ::= "a" root "bc" | "ccab"'), BYTES)
    state = automaton.start
    for token in (0, 0, 4):
        state = automaton.advance(state, token)
    assert forced_text(automaton, state) == b"cabbcbc"
    assert forced_text(automaton, state, max_bytes=3) == b"cab"


def test_nothing_is_said_where_tokens_are_more_than_their_bytes() -> None:
    marked = Vocabulary([b" a", b" ", b"a", b""], eos_ids=[3], text_start=TextStart(exceptions={0: b"a"}))
    whole = tokenfst.compile("aa", marked, at_text_start=True)
    assert forced_text(whole, whole.start) == b""
    assert forced_text(whole, whole.advance(whole.start, 0)) == b"a"
    inside = tokenfst.compile("aa", marked)
    assert forced_text(inside, inside.start) == b"aa"
    canonical = tokenfst.compile("name: [a-z]+", VOCABULARY, tokenization="canonical")
    assert forced_text(canonical, canonical.start) == b""
    assert forced_tokens(canonical, canonical.start) == encode("name:")


TEXTS = ["", '{"', '{"name": "Ann", ', "été ", "a", " \n", "名"]


@pytest.mark.parametrize("before", TEXTS)
@pytest.mark.parametrize("text", ['"name": "', "age", ' "country": "France"', "ß and é", "\n\n  ", "前"])
def test_text_is_cut_as_the_encoder_cuts_it(before: str, text: str) -> None:
    tokens = retokenized(VOCABULARY, encode(before), text.encode(), encode)
    assert VOCABULARY.detokenize(tokens) == text.encode()
    whole, head = encode(before + text), encode(before)
    assert tokens == (whole[len(head) :] if whole[: len(head)] == head else encode(text))


def test_bytes_that_are_no_character_are_left_out() -> None:
    assert VOCABULARY.detokenize(retokenized(VOCABULARY, [], "né".encode()[:-1], encode)) == b"n"
    assert retokenized(VOCABULARY, [], b"\xa9", encode) == []
    # What comes before may begin inside a character.
    inside = encode("é")[1:] or [VOCABULARY.tokens.index(b"\xa9")]
    assert VOCABULARY.detokenize(retokenized(VOCABULARY, inside, b"name", encode)) == b"name"


def test_an_encoder_that_adds_what_is_not_there_is_not_believed() -> None:
    assert retokenized(VOCABULARY, [], b"name", lambda text: encode(" " + text)) == []
    assert retokenized(VOCABULARY, [], b"name", lambda text: [*encode(text), VOCABULARY.eos_ids[0]]) == []


@pytest.mark.parametrize("pattern", ['"name": "[a-z ]+"', "The year is [0-9]{4}, and", "abc", "été (chaud|froid)"])
def test_the_last_piece_is_open_where_a_token_could_reach_across(pattern: str) -> None:
    automaton = tokenfst.compile(pattern, VOCABULARY)
    text = forced_text(automaton, automaton.start)
    tokens = retokenized(VOCABULARY, [], text, encode)
    kept = settled(automaton, automaton.start, tokens)
    assert kept == tokens[: len(kept)]
    state = automaton.start
    for place in range(min(len(kept) + 1, len(tokens))):
        rest = text[len(VOCABULARY.detokenize(tokens[:place])) :]
        longest = max(len(VOCABULARY.tokens[token]) for token in np.flatnonzero(automaton.mask(state)))
        assert (longest > len(rest)) == (place == len(kept))
        state = automaton.advance(state, tokens[place])


def test_tokens_that_are_forbidden_are_not_written() -> None:
    automaton = tokenfst.compile("abab", BYTES)
    assert settled(automaton, automaton.start, [0, 1, 0, 1], remaining=5) == [0, 1, 0, 1]
    assert settled(automaton, automaton.start, [0, 1, 0, 1], remaining=4) == [0, 1]
    assert settled(automaton, automaton.start, [2, 3]) == [2]


def test_tokens_are_not_written_where_others_write_something_else_or_the_text_may_end() -> None:
    spaced = tokenfst.compile(" b| ac", SPACED)
    assert settled(spaced, spaced.start, [1, 0]) == []
    for vocabulary in (BYTES, NO_END):
        automaton = tokenfst.compile("aa?", vocabulary)
        assert settled(automaton, automaton.start, [0, 0]) == [0]
