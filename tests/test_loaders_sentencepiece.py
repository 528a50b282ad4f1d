"""SentencePiece models: every text comes back, byte for byte; what cannot be exact is refused."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st
from loader_cases import DATA, SENTENCEPIECE, TEXTS, mistral_model, thorough, without_meta

from automata.errors import UnsupportedTokenizer, VocabularyError
from tokenfst.loaders import from_sentencepiece

if TYPE_CHECKING:
    pass


def trained_sentencepiece(folder: Path, **options: Any) -> Path:
    writer = io.BytesIO()
    settings = {"vocab_size": 520, "hard_vocab_limit": False, "minloglevel": 2, "byte_fallback": True}
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(text for text in TEXTS * 4 if "\0" not in text),
        model_writer=writer,
        **(settings | options),
    )
    path = folder / "small.model"
    path.write_bytes(writer.getvalue())
    return path


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", SENTENCEPIECE)
def test_sentencepiece_encodings_are_given_back(name: str, text: str) -> None:
    processor, vocabulary = mistral_model(name)
    # The space is the dummy prefix, which only the start of a text drops.
    assert vocabulary.detokenize(processor.encode("a" + text)) == (" a" + text).encode()


@thorough
@given(without_meta)
@pytest.mark.parametrize("name", SENTENCEPIECE[:2])
def test_sentencepiece_detokenizes_any_text(name: str, text: str) -> None:
    processor, vocabulary = mistral_model(name)
    assert vocabulary.detokenize(processor.encode("a" + text)) == (" a" + text).encode()


def test_text_that_looks_like_a_sentencepiece_byte_or_control_is_text() -> None:
    processor, vocabulary = mistral_model(SENTENCEPIECE[1])
    text = "<0x41>, <s>, [INST]</s>"
    assert vocabulary.detokenize(processor.encode(text)) == (" " + text).encode()


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", SENTENCEPIECE)
def test_sentencepiece_encodings_by_themselves_give_the_text_back(name: str, text: str) -> None:
    processor, vocabulary = mistral_model(name)
    assert vocabulary.detokenize(processor.encode(text), at_text_start=True).decode() == text


@thorough
@given(st.data())
def test_any_sentencepieces_write_what_the_decoder_writes(data: st.DataObject) -> None:
    processor, vocabulary = mistral_model(SENTENCEPIECE[0])
    ids = data.draw(st.lists(st.integers(3, len(vocabulary.tokens) - 1), max_size=8))
    start = processor.encode("a")
    written = b"a" + vocabulary.detokenize(ids)
    if processor.decode([*start, *ids]) != written.decode("utf-8", "replace"):
        with pytest.raises(UnicodeDecodeError):  # broken characters are replaced in another rhythm; text never is
            written.decode()


def test_sentencepiece_silent_pieces_and_end() -> None:
    processor, vocabulary = mistral_model(SENTENCEPIECE[1])
    assert len(vocabulary.tokens) == 32_768
    assert vocabulary.eos_ids == (2,)
    assert vocabulary.tokens[:5] == (b"",) * 5
    assert vocabulary.special_tokens["[INST]"] == 3
    assert vocabulary.special_tokens["<unk>"] == 0
    assert vocabulary.tokens[processor.piece_to_id("<0x0A>")] == b"\n"
    assert vocabulary.tokens[processor.piece_to_id("▁the")] == b" the"
    silent = sum(processor.is_control(i) or processor.is_unknown(i) for i in range(32_768))
    assert vocabulary.tokens.count(b"") == len(vocabulary.special_tokens) == silent
    assert set(from_sentencepiece(DATA / SENTENCEPIECE[1], eos_ids=[2, 4]).eos_ids) == {2, 4}


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
def test_sentencepiece_models_of_other_kinds(tmp_path: Path, kind: str) -> None:
    path = trained_sentencepiece(
        tmp_path,
        model_type=kind,
        user_defined_symbols=["<tool>", "<two▁words>"],
        control_symbols=["<turn>"],
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        eos_id=-1,
    )
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    vocabulary = from_sentencepiece(path)
    assert vocabulary.eos_ids == ()
    assert vocabulary.tokens[processor.piece_to_id("<tool>")] == b"<tool>"
    assert vocabulary.tokens[processor.piece_to_id("<two▁words>")] == b"<two words>"
    assert vocabulary.tokens[processor.piece_to_id("<turn>")] == b""
    for text in TEXTS:
        if "\0" not in text:
            assert vocabulary.detokenize(processor.encode("a" + text)) == (" a" + text).encode()


def test_sentencepiece_models_that_cannot_be_exact_are_refused(tmp_path: Path) -> None:
    suffix = trained_sentencepiece(tmp_path, treat_whitespace_as_suffix=True)
    with pytest.raises(UnsupportedTokenizer, match=r"small\.model: treat_whitespace_as_suffix"):
        from_sentencepiece(suffix)
    rules = tmp_path / "rules.tsv"
    rules.write_text("61\t62\n")
    denormalizing = trained_sentencepiece(tmp_path, denormalization_rule_tsv=str(rules))
    with pytest.raises(UnsupportedTokenizer, match=r"small\.model: its denormalizer"):
        from_sentencepiece(denormalizing)


def test_sentencepiece_models_with_settings_that_change_nothing(tmp_path: Path) -> None:
    path = trained_sentencepiece(tmp_path, user_defined_symbols=["<tool>"])
    vocabulary = from_sentencepiece(path)
    tool = vocabulary.tokens.index(b"<tool>")
    model = path.read_bytes()
    path.write_bytes(model + b"\x2a\x02\x12\x00")  # a denormalizer with an empty map
    assert from_sentencepiece(path).tokens == vocabulary.tokens
    unused = re.sub(rb"(?<=\x06<tool>\x15.{4}\x18)\x04", b"\x05", model, flags=re.DOTALL)
    assert unused != model
    path.write_bytes(unused)
    assert from_sentencepiece(path).tokens[tool] == b""


def test_a_sentencepiece_decoder_that_writes_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentencepiece.SentencePieceProcessor, "decode", lambda _, ids: "a" * len(ids))
    with pytest.raises(UnsupportedTokenizer, match=r"token 3 should write .*, but they decode to 'aaa'"):
        from_sentencepiece(DATA / SENTENCEPIECE[0])


@pytest.mark.parametrize("content", [b"", b"hello world", b"\n\x00", b"\n\x05ab"])
def test_a_damaged_sentencepiece_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "damaged.model"
    path.write_bytes(content)
    with pytest.raises(VocabularyError, match=r"damaged\.model: not a SentencePiece model"):
        from_sentencepiece(path)


def test_a_sentencepiece_file_with_damaged_pieces_is_refused(tmp_path: Path) -> None:
    path = trained_sentencepiece(tmp_path)
    path.write_bytes(path.read_bytes().replace("▁".encode(), b"\xff\xff\xff"))
    with pytest.raises(VocabularyError, match="a damaged SentencePiece model"):
        from_sentencepiece(path)


def test_a_damaged_piece_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = trained_sentencepiece(tmp_path)
    content = path.read_bytes()
    # A piece is the first field of its message: 0A, its length and its bytes.
    for letter in b"ab":
        content = content.replace(bytes([0x0A, 1, letter]), b"\x0a\x01\xff")
    path.write_bytes(content)
    with pytest.raises(VocabularyError, match=r"\.model: not a SentencePiece model"):
        from_sentencepiece(path)


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(ImportError, match=r"pip install 'tokenfst\[sentencepiece\]'"):
        from_sentencepiece(DATA / SENTENCEPIECE[0])
