"""Vocabularies can be pickled and copied, and refuse tokens that they do not have."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from token_automaton_cases import VOCABULARIES

import tokenfst
from automata.errors import VocabularyError
from tokenfst import BPE, TextStart, Vocabulary
from tokenfst.vocabulary.bpe import NotBPE

BEGINNING = TextStart(prefix=b"#", exceptions={1: b"1"}, ignored=frozenset({2}))
KINDS = {
    **VOCABULARIES,
    "the start of a text": Vocabulary([b" a", b"b", b" ", b"a", b""], 4, text_start=BEGINNING),
    "an encoder": Vocabulary([b"a", b"b", b"ab", b""], 3, bpe=BPE(((0, 1, 2),), None, whole_pieces=True)),
}


def test_the_digest_tells_vocabularies_apart() -> None:
    texts = [bytes([byte]) for byte in b"abcdefgh"]
    # Without the number of end tokens, both wrote the same bytes.
    assert Vocabulary([b"\0" * 8, *texts]).digest != Vocabulary([*texts, b""], 8).digest
    # A file in JSON may name a token by half a character.
    named = {name: Vocabulary([b"a", b""], special_tokens={name: 1}).digest for name in ("\ud83d", "\ude00", "?")}
    assert len(set(named.values())) == 3
    exceptions: Any = {np.int64(1): b"1"}
    ignored: Any = frozenset({np.int32(0)})
    rules = (TextStart(exceptions={1: b"1"}, ignored=frozenset({0})), TextStart(exceptions=exceptions, ignored=ignored))
    assert len({Vocabulary([b"a", b"b"], text_start=rule).digest for rule in rules}) == 1


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_vocabulary_can_be_pickled(name: str, protocol: int) -> None:
    vocabulary = KINDS[name]
    read = pickle.loads(pickle.dumps(vocabulary, protocol))
    assert read.digest == vocabulary.digest
    assert (read.tokens, read.eos_ids, read.special_tokens) == (
        vocabulary.tokens, vocabulary.eos_ids, vocabulary.special_tokens
    )  # fmt: skip
    assert read.bpe == vocabulary.bpe
    tokens = range(len(vocabulary))
    for sequence in (tokens, reversed(tokens)):
        written = list(sequence)
        assert read.detokenize(written, at_text_start=True) == vocabulary.detokenize(written, at_text_start=True)


def test_an_unpickled_vocabulary_has_the_same_automata() -> None:
    vocabulary = KINDS["the start of a text"]
    read = pickle.loads(pickle.dumps(vocabulary))
    for at_text_start in (False, True):
        one, other = (tokenfst.compile("#?1?[ ab]*", v, at_text_start=at_text_start) for v in (vocabulary, read))
        assert np.array_equal(one.mask(one.start), other.mask(other.start))


def test_what_is_made_when_it_is_first_used_is_not_pickled() -> None:
    vocabulary = Vocabulary([b"a", b"b", b""], 2)
    size = len(pickle.dumps(vocabulary))
    tokenfst.compile("a+", vocabulary).accepts("aa")
    assert vocabulary.digest
    assert vocabulary.names
    assert len(pickle.dumps(vocabulary)) == size


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_is_the_vocabulary_itself(copied: Any) -> None:
    vocabulary = KINDS["the start of a text"]
    assert copied([vocabulary])[0] is vocabulary
    assert copied(vocabulary) is vocabulary


def test_the_start_of_a_text_can_be_copied() -> None:
    copies: list[Any] = [pickle.loads(pickle.dumps(BEGINNING)), copy.deepcopy(BEGINNING)]
    for read in copies:
        assert read.fingerprint() == BEGINNING.fingerprint()
        with pytest.raises(TypeError):
            read.exceptions[3] = b""


@pytest.mark.parametrize(
    ("part", "message"), [("bpe", "bpe is BPE or NotBPE, not"), ("text_start", "text_start is TextStart or None, not")]
)
def test_a_part_of_another_kind_is_refused(part: str, message: str) -> None:
    given: Any = {part: str}
    with pytest.raises(TypeError, match=message):
        Vocabulary([b"a"], **given)


@pytest.mark.parametrize("vocabulary", [KINDS["bytes"], KINDS["the start of a text"]])
@pytest.mark.parametrize("at_text_start", [False, True])
@pytest.mark.parametrize("token", [-1, -2, 10**9, 10**30])
def test_tokens_that_there_are_not(vocabulary: Vocabulary, at_text_start: bool, token: int) -> None:
    for make in (vocabulary.detokenize, vocabulary.text):
        with pytest.raises(VocabularyError, match=f"id {token} is outside the {len(vocabulary)} tokens"):
            make([0, token], at_text_start=at_text_start)


@pytest.mark.parametrize("tokens", [["a"], [1.5], [None], "ab"])
def test_tokens_that_are_no_numbers(tokens: Any) -> None:
    with pytest.raises(TypeError, match="integer"):
        KINDS["bytes"].detokenize(tokens)


def test_tokens_of_any_integer_type() -> None:
    assert KINDS["bytes"].detokenize(np.array([0, 1])) == KINDS["bytes"].detokenize(iter([0, 1])) == b"ab"


def test_tokens_that_a_model_has_no_logits_for_are_left_out() -> None:
    rule = TextStart(prefix=b"#", exceptions={1: b"1", 3: b"3"}, ignored=frozenset({2, 4}))
    bpe = BPE(((0, 1, 3),), None, whole_pieces=True)
    names = {"<s>": 2, "<image>": 5}
    whole = Vocabulary([b"a", b"b", b"", b"ab", b" ", b"", b""], [2, 6], special_tokens=names, bpe=bpe, text_start=rule)
    assert whole.truncated(7) is whole
    silent = whole.truncated(5)
    assert (silent.tokens, silent.eos_ids, dict(silent.special_tokens)) == (whole.tokens[:5], (2,), {"<s>": 2})
    assert (silent.bpe, repr(silent.text_start)) == (bpe, repr(rule))
    short = whole.truncated(3)
    rest = TextStart(prefix=b"#", exceptions={1: b"1"}, ignored=frozenset({2}))
    assert isinstance(short.bpe, NotBPE)
    assert short.digest == Vocabulary(whole.tokens[:3], 2, special_tokens={"<s>": 2}, text_start=rest).digest
    assert tokenfst.compile("a|b", short).mask(0).tolist() == [True, True, False]
    with pytest.raises(VocabularyError, match=r"none of the end tokens \(2, 6\) is among the first 2 tokens"):
        whole.truncated(2)
    for none in (0, -1):
        with pytest.raises(VocabularyError):
            whole.truncated(none)
