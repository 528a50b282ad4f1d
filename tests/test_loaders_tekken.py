"""Tekken files: every text comes back, byte for byte; damaged files are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from loader_cases import TEKKEN, TEXTS, anything, small_tekken, tekken, thorough
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

from automata.errors import VocabularyError
from tokenfst.loaders import from_tekken

if TYPE_CHECKING:
    pass


@pytest.mark.parametrize("name", TEKKEN)
def test_tekken_tokens_are_mistrals(name: str) -> None:
    tokenizer, vocabulary = tekken(name)
    assert len(vocabulary.tokens) == tokenizer.n_words == 131_072
    assert vocabulary.eos_ids == (tokenizer.eos_id,)
    assert list(vocabulary.tokens) == [tokenizer.id_to_byte_piece(i) for i in range(tokenizer.n_words)]
    assert vocabulary.special_tokens == tokenizer._special_tokens_reverse_vocab


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", TEKKEN)
def test_tekken_encodings_are_given_back(name: str, text: str) -> None:
    tokenizer, vocabulary = tekken(name)
    assert vocabulary.detokenize(tokenizer.encode("a" + text, bos=True, eos=True)) == ("a" + text).encode()


@thorough
@given(anything)
def test_tekken_detokenizes_any_text(text: str) -> None:
    tokenizer, vocabulary = tekken(TEKKEN[1])
    assert vocabulary.detokenize(tokenizer.encode("a" + text, bos=True, eos=True)) == ("a" + text).encode()


def test_tekken_lists_special_tokens_and_fills_up(tmp_path: Path) -> None:
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(small_tekken()))
    vocabulary = from_tekken(path)
    assert vocabulary.special_tokens == {"<s>": 0, "</s>": 1, "<SPECIAL_2>": 2}
    assert vocabulary.special_tokens == Tekkenizer.from_file(path)._special_tokens_reverse_vocab
    assert vocabulary.tokens == (b"",) * 3 + tuple(bytes([byte]) for byte in range(256))
    assert vocabulary.eos_ids == (1,)
    assert set(from_tekken(path, eos_ids=[0, 2]).eos_ids) == {0, 2}


DAMAGED_TEKKEN: dict[str, tuple[dict[str, Any], str]] = {
    "no config": ({"config": None}, "TypeError"),
    "no count": ({"config": {"default_vocab_size": 259}}, "default_num_special_tokens"),
    "counts": (
        {"config": {"default_num_special_tokens": 3, "default_vocab_size": 3}},
        "3 special tokens in a vocabulary of 3",
    ),
    "no number": ({"config": {"default_num_special_tokens": True, "default_vocab_size": 259}}, "not both numbers"),
    "no whole number": ({"config": {"default_num_special_tokens": 3, "default_vocab_size": 259.0}}, "not both numbers"),
    "no tokens": ({"vocab": {"a": 1}}, "dict in the place of a list"),
    "twice": ({"vocab": [{"rank": rank, "token_bytes": "YQ=="} for rank in range(256)]}, "b'a' occurs twice"),
    "too few tokens": ({"vocab": small_tekken()["vocab"][:200]}, "200 tokens where 256"),
    "order": ({"vocab": small_tekken()["vocab"][::-1]}, "rank 256 in the place of rank 0"),
    "base64": ({"vocab": [{"rank": 0, "token_bytes": "!"}] * 256}, "not base64"),
    "empty token": ({"vocab": [{"rank": 0, "token_bytes": ""}] * 256}, "without bytes"),
    "no list": ({"special_tokens": None}, "no special tokens are listed"),
    "repeated": ({"special_tokens": [{"rank": i, "token_str": "<s>"} for i in (0, 1)]}, "2 special.*3"),
    "special name": ({"special_tokens": [{"rank": 0, "token_str": 5}]}, "5 in the place of a text"),
    "pattern": ({"config": {**small_tekken()["config"], "pattern": None}}, "None in the place of a text"),
    "special order": ({"special_tokens": [{"rank": 5, "token_str": "<s>"}]}, "ranks of the special"),
}


@pytest.mark.parametrize("case", DAMAGED_TEKKEN)
def test_a_damaged_tekken_file_is_refused(tmp_path: Path, case: str) -> None:
    changes, message = DAMAGED_TEKKEN[case]
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(small_tekken(**changes)))
    with pytest.raises(VocabularyError, match=rf"tekken\.json: not a Tekken vocabulary.*{message}"):
        from_tekken(path)


def test_a_tekken_file_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tekken.json"
    path.write_text('{"config": ' + "[" * 100_000)
    with pytest.raises(VocabularyError, match=r"tekken\.json: not a Tekken vocabulary.*(recursion|Stack overflow)"):
        from_tekken(path)
