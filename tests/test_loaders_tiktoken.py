"""Encodings and files of tiktoken: every text comes back, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from loader_cases import TEXTS, anything, encoding, small_encoding, thorough, tiktoken_file

from automata.errors import UnsupportedTokenizer, VocabularyError
from tokenfst import Vocabulary
from tokenfst.loaders import from_tiktoken, load_vocabulary


@pytest.mark.parametrize("text", TEXTS)
def test_tiktoken_encodings_are_given_back(text: str) -> None:
    source, vocabulary = small_encoding()
    assert vocabulary.detokenize(source.encode("a" + text, disallowed_special=())) == ("a" + text).encode()


@thorough
@given(anything)
def test_tiktoken_detokenizes_any_text(text: str) -> None:
    source, vocabulary = small_encoding()
    assert vocabulary.detokenize(source.encode("a" + text, disallowed_special=())) == ("a" + text).encode()


def test_tiktoken_special_tokens_and_holes_write_nothing() -> None:
    _, vocabulary = small_encoding()
    assert vocabulary.eos_ids == (20_003,)
    assert vocabulary.special_tokens == {"<|endoftext|>": 20_003, "<|end|>": 20_007}
    assert vocabulary.tokens[20_000:] == (b"",) * 8
    assert b"" not in vocabulary.tokens[:20_000]
    assert from_tiktoken(encoding({"<|end|>": 20_000}), eos_ids=()).eos_ids == ()
    assert set(from_tiktoken(small_encoding()[0], eos_ids=[20_007, 20_003]).eos_ids) == {20_003, 20_007}


def test_a_tiktoken_file_is_the_encodings_tokens(tmp_path: Path) -> None:
    path = tiktoken_file(tmp_path)
    _, expected = small_encoding()
    vocabulary = from_tiktoken(path, eos_ids=[20_003, 20_007])
    assert vocabulary.tokens == expected.tokens
    assert set(vocabulary.eos_ids) == {20_003, 20_007}
    assert from_tiktoken(str(path), eos_ids=()).tokens == expected.tokens[:20_000]
    assert from_tiktoken(path, eos_ids=()).eos_ids == ()


def test_special_tokens_of_tiktoken_are_given_by_name(tmp_path: Path) -> None:
    path = tiktoken_file(tmp_path)
    source, expected = small_encoding()
    vocabulary = from_tiktoken(path, special_tokens={"<|endoftext|>": 20_003, "<|end|>": 20_007})
    assert vocabulary.digest == expected.digest
    # Those of an encoding are there as well.
    more = from_tiktoken(source, special_tokens={"<|turn|>": 20_009}, eos_ids=20_009)
    assert more.special_tokens == {**expected.special_tokens, "<|turn|>": 20_009}
    assert more.eos_ids == (20_009,)
    for origin in (path, source):
        with pytest.raises(VocabularyError, match=r"the special token 'a' has the id 5 of the token b"):
            from_tiktoken(origin, special_tokens={"a": 5})
    wrong: Any = ["<|end|>"]
    with pytest.raises(TypeError, match=r"maps names to ids, as in .*; \['<\|end\|>'\] \(list\) does not"):
        from_tiktoken(path, special_tokens=wrong)
    wrong = {3: "<|end|>"}
    with pytest.raises(TypeError, match=r"special_tokens maps names to ids, and not 3 to '<\|end\|>'"):
        from_tiktoken(path, special_tokens=wrong)


def test_what_ends_a_sequence_of_tiktoken_has_to_be_known(tmp_path: Path) -> None:
    path = tiktoken_file(tmp_path)
    make: Callable[[], Vocabulary]
    for make in (
        lambda: from_tiktoken(path),
        lambda: load_vocabulary(path),
        lambda: from_tiktoken(path, special_tokens={"<|end|>": 20_000}),
        lambda: from_tiktoken(encoding({"<|end|>": 20_000})),
    ):
        with pytest.raises(
            VocabularyError, match=r"not known which token ends a sequence; give eos_ids, or eos_ids=\("
        ):
            make()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"YQ== 0\nYg==\n", "line 2: .*not a token in base64 and its rank"),
        (b"YQ== 0\n\nYg== one\n", "line 3: .*its rank"),
        (b"YQ== 0\nYg== -1\n", "line 2: .*its rank"),
        (b"YQ== 0\nYg== 1 2\n", "line 2: .*its rank"),
        (b"YQ== 0\nYg= 1\n", "line 2: .*not base64"),
        (b"YQ== 0\nY*g== 1\n", "line 2: .*not base64"),
        (b"YQ== 0\nYg== 0\n", "line 2: rank 0"),
        (b"YQ== 0\nYQ== 1\n", "line 2: .*b'a'"),
        (b"", "no token"),
        (b"YQ== 99999999999\n", "99999999999 is not a token id"),
    ],
)
def test_a_damaged_tiktoken_file_is_refused_by_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "damaged.tiktoken"
    path.write_bytes(content)
    with pytest.raises(VocabularyError, match=f"damaged.tiktoken.*{message}"):
        from_tiktoken(path, eos_ids=())


def test_an_id_of_an_encoding_is_a_rank_or_a_special_token() -> None:
    """The library decodes an id that is both to the bytes of the rank, and finds the name of a rank first."""
    ranks = {b"a": 0, b"b": 1, b"<|end|>": 2}

    def with_special(**special: int) -> tiktoken.Encoding:
        named = {f"<|{name}|>": token for name, token in special.items()}
        return tiktoken.Encoding("small", pat_str=".", mergeable_ranks=ranks, special_tokens=named)

    assert with_special(endoftext=1).decode([1]) == "b"
    with pytest.raises(VocabularyError, match=r"'<\|endoftext\|>' has the id 1 of the token b'b'"):
        from_tiktoken(with_special(endoftext=1))
    vocabulary = from_tiktoken(with_special(endoftext=3, end=4))
    assert vocabulary.tokens == (b"a", b"b", b"<|end|>", b"", b"")
    assert vocabulary.special_tokens == {"<|endoftext|>": 3, "<|end|>": 4}
    with pytest.raises(VocabularyError, match="4000000000 is not a token id"):
        from_tiktoken(with_special(endoftext=4_000_000_000))


def test_tiktoken_refuses_other_objects() -> None:
    wrong: Any = 3
    with pytest.raises(UnsupportedTokenizer, match="int: neither"):
        from_tiktoken(wrong)
    with pytest.raises(FileNotFoundError):
        from_tiktoken("missing.tiktoken")
