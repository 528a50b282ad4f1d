"""Every kind of vocabulary file is recognised by its content; importing the loaders imports no library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from loader_cases import (
    DATA,
    SENTENCEPIECE,
    TEKKEN,
    hugging_face,
    llama3,
    mistral_model,
    small_encoding,
    small_tekken,
    tekken,
    tiktoken_file,
    token_id,
    with_decoder,
)
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    pre_tokenizers,
)

from automata.errors import VocabularyError
from tokenfst.loaders import load_vocabulary

if TYPE_CHECKING:
    pass


# The library cuts "##" off every right half, and panics where that is longer.
MARKED = {"type": "BPE", "continuing_subword_prefix": "##", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
PANICKING = json.dumps({"model": MARKED}).encode()


def test_a_full_byte_level_vocabulary_is_the_same_by_every_route(tmp_path: Path) -> None:
    """All of Tekken's ranks as the pieces of a tokenizer.json, in the library's own byte table."""
    _, vocabulary = tekken(TEKKEN[0])
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    # One character for every byte that occurs in UTF-8; the other bytes stand for themselves.
    samples = "".join(map(chr, (*range(0x800), *range(0x800, 0xD800, 64), *range(0xE000, 0x110000, 4096))))
    character = {byte: chr(byte) for byte in range(256)}
    character |= dict(zip(samples.encode(), level.pre_tokenize_str(samples)[0][0], strict=True))
    pieces = {"".join(character[b] for b in token): i for i, token in enumerate(vocabulary.tokens) if token}
    tokenizer = Tokenizer(models.BPE(vocab=pieces, merges=[]))
    with_decoder(tokenizer, decoders.ByteLevel())
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert len(pieces) == 130_072
    assert load_vocabulary(tmp_path).tokens == vocabulary.tokens


# Files ----------------------------------------------------------------------------


def test_load_recognises_every_kind(tmp_path: Path) -> None:
    for name in SENTENCEPIECE:
        assert load_vocabulary(DATA / name).tokens == mistral_model(name)[1].tokens
    assert load_vocabulary(DATA / TEKKEN[1]).tokens == tekken(TEKKEN[1])[1].tokens
    ranks = tiktoken_file(tmp_path)
    expected = small_encoding()[1]
    assert load_vocabulary(ranks, eos_ids=[20_007]).tokens == expected.tokens
    tokenizer, vocabulary = hugging_face("llama2")
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert load_vocabulary(tmp_path / "tokenizer.json").tokens == vocabulary.tokens
    assert load_vocabulary(str(tmp_path)).tokens == vocabulary.tokens


def test_load_goes_by_the_content_and_not_by_the_name(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(tiktoken_file(tmp_path).read_bytes())
    assert load_vocabulary(tmp_path / "tokenizer.model", eos_ids=()).tokens == small_encoding()[1].tokens[:20_000]
    (tmp_path / "renamed.json").write_text(json.dumps(small_tekken()))
    assert load_vocabulary(tmp_path / "renamed.json").eos_ids == (1,)
    # In a directory, tokenizer.model is found.
    assert load_vocabulary(tmp_path, eos_ids=()).tokens == small_encoding()[1].tokens[:20_000]


def test_load_finds_the_end_of_a_tokenizer_json(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer = llama3()
    tokenizer.save(str(path))
    begin, end, turn = (token_id(tokenizer, name) for name in ("<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"))
    assert load_vocabulary(path).eos_ids == ()  # two customary names: which one is not certain
    assert load_vocabulary(path, eos_ids=[begin]).eos_ids == (begin,)
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({"eos_token": "<|eot_id|>"}))
    assert load_vocabulary(path).eos_ids == (turn,)
    config.write_text(json.dumps({"eos_token": {"content": "<|end_of_text|>"}}))
    assert load_vocabulary(tmp_path).eos_ids == (end,)
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [turn, end]}))
    assert set(load_vocabulary(path).eos_ids) == {end, turn}
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": turn}))
    assert load_vocabulary(path).eos_ids == (turn,)


def test_load_refuses_a_damaged_file_beside_a_tokenizer_json(tmp_path: Path) -> None:
    hugging_face("llama2")[0].save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "generation_config.json").write_text("[2]")
    with pytest.raises(VocabularyError, match=r"generation_config\.json: JSON, but not an object"):
        load_vocabulary(tmp_path)


@pytest.mark.parametrize(
    ("beside", "content"),
    [
        ("generation_config.json", '{"eos_token_id": "2"}'),
        ("generation_config.json", '{"eos_token_id": true}'),
        ("tokenizer_config.json", '{"eos_token": "<nope>"}'),
        ("tokenizer_config.json", '{"eos_token": {"id": 2}}'),
        ("tokenizer_config.json", r'{"eos_token": "\ud83d"}'),
    ],
)
def test_load_refuses_ends_that_are_none_beside_a_tokenizer_json(tmp_path: Path, beside: str, content: str) -> None:
    hugging_face("llama2")[0].save(str(tmp_path / "tokenizer.json"))
    (tmp_path / beside).write_text(content)
    with pytest.raises(VocabularyError, match=rf"{beside}: eos_token"):
        load_vocabulary(tmp_path)


def test_load_takes_a_customary_name_only_if_there_is_one(tmp_path: Path) -> None:
    tokenizer, _ = hugging_face("llama2")
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert load_vocabulary(tmp_path).eos_ids == (2,)
    plain = Tokenizer(models.BPE(vocab={"a": 0, "</s>": 1}, merges=[]))
    with_decoder(plain, decoders.Fuse())
    plain.save(str(tmp_path / "tokenizer.json"))
    assert load_vocabulary(tmp_path).eos_ids == ()  # the name is there, but as a piece of text
    plain.add_tokens([AddedToken("</s>", special=False)])
    plain.save(str(tmp_path / "tokenizer.json"))
    assert load_vocabulary(tmp_path).eos_ids == ()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("notes.txt", b"hello", "these are read: .*tokenizer.json.*tiktoken.*Tekken.*SentencePiece"),
        ("empty", b"", "these are read"),
        ("other.json", b'{"a": 1}', "these are read"),
        ("list.json", b"[1, 2]", "these are read"),
        ("cut.json", b'{"model": ', "not JSON"),
        ("latin.json", b'{"model": "\xff"}', "not JSON"),
        ("tokenizer.json", b'{"model": {"type": "BPE"}}', "not a tokenizer.json"),
        ("tokenizer.json", PANICKING, "not a tokenizer.json"),
        ("tokenizer.json", b'{"model": {"vocab": {"a": 1, "b": 2, "c": 1}}}', "'a' and 'c' have the same id, 1"),
        ("tokenizer.json", b'{"model": {"vocab": {"a": 0, "b": 4000000000}}}', "4000000000 is not a token id"),
        ("tokenizer.model.v3", b"hello", "not a SentencePiece model"),
        ("ranks.tiktoken", b"hello", "line 1"),
        ("tokenizer_config.json", b"{}", "these are read"),
        ("vocab.txt", b"hello\n##s\n", r"not a list of WordPieces \(none of them is \[UNK\]"),
        ("vocab.txt", b"[UNK]\n\xff\n", "not a list of WordPieces .*UTF-8"),
    ],
)
def test_load_refuses_what_is_no_vocabulary(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(VocabularyError, match=f"{name}.*{message}"):
        load_vocabulary(tmp_path / name)


def test_load_refuses_a_directory_without_a_vocabulary(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match=r"without any of tokenizer\.json"):
        load_vocabulary(tmp_path)
    with pytest.raises(FileNotFoundError):
        load_vocabulary(tmp_path / "missing")


def test_importing_the_loaders_imports_none_of_the_libraries() -> None:
    program = (
        "import sys, tokenfst.loaders\n"
        "heavy = {'transformers', 'tokenizers', 'tiktoken', 'sentencepiece'} & set(sys.modules)\n"
        "print(*sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("\n", "")
