"""The start of a text as real decoders write it, by exhaustion and by walks over real vocabularies.

Every sequence of a few tokens is decoded by the library, and the automaton accepts exactly those whose text is in the
language.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import mistral_common
import pytest
import sentencepiece
from kinds import complete
from text_start_cases import DECODERS, LETTERS, WALKED, check_encodings, check_walks, llama_2, sequences
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    pre_tokenizers,
    trainers,
)

from automata.errors import EmptyLanguage
from tokenfst import Vocabulary, from_sentencepiece, from_transformers

BYTES = ["<0x20>", "<0x61>", "<0xC3>", "<0xA9>"]


PIECES = ["▁", "▁▁", "a", "▁a", "a▁b", "▁b▁", *BYTES, "##a", "##", "##.", ".", " ", "<s>"]


# "a" and "b" with spaces, marks and stops anywhere; every text is one of a few of these.
PATTERNS = [
    r"",
    r" *",
    r"a",
    r" a",
    r"a b|a  b|é",
    r" ?(?:a ?b? ?)*",
    r"(?:##)?a.*",
    r"[^ ].*",
    r".*\.",
    r"[a .é]*",
    r".* ",
    r"(?:[^a]|a[^ ])*",
]


def check_decoder(vocabulary: Vocabulary, decode: Callable[[list[int]], str], tokens: list[int], length: int) -> None:
    """Every sequence of some tokens is accepted at the start of a text exactly if its decoding is in the language."""
    tokens = [token for token in tokens if vocabulary.tokens[token]]
    texts = {}
    for sequence in sequences(tokens, length):
        text, written = decode(list(sequence)), vocabulary.detokenize(sequence, at_text_start=True)
        if "\ufffd" in text:  # no text; each library shows broken characters in its own way
            with pytest.raises(UnicodeDecodeError):
                written.decode()
            continue
        texts[sequence] = text
        assert text == written.decode(), sequence
    for pattern in PATTERNS:
        matching = {sequence for sequence, text in texts.items() if re.fullmatch(pattern, text)}
        try:
            automaton = complete(pattern, vocabulary, at_text_start=True)
        except EmptyLanguage:
            assert not matching
            continue
        assert {sequence for sequence in texts if automaton.accepts(sequence)} == matching, pattern


@pytest.mark.parametrize("name", DECODERS)
def test_hugging_face_decoders_by_exhaustion(name: str) -> None:
    tokenizer = Tokenizer(models.BPE(vocab={piece: i for i, piece in enumerate(PIECES)}, merges=[]))
    tokenizer.decoder = DECODERS[name]
    tokenizer.add_special_tokens(["<s>"])
    vocabulary = from_transformers(tokenizer)
    check_decoder(vocabulary, tokenizer.decode, list(range(len(PIECES))), 3)
    # Special tokens in front are skipped, and the text has still to begin.
    begin = PIECES.index("<s>")
    for token in range(begin):
        ids = [begin, token, begin, token]
        if vocabulary.tokens[token] and "\ufffd" not in tokenizer.decode(ids):
            assert tokenizer.decode(ids) == vocabulary.detokenize(ids, at_text_start=True).decode()


SENTENCEPIECE_SETTINGS = {
    "defaults": {},
    "no dummy prefix": {"add_dummy_prefix": False},
    "spaces kept": {"remove_extra_whitespaces": False},
    "no rule": {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
}


def trained_sentencepiece(path: Path, texts: Iterable[str], **options: Any) -> Any:
    writer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(texts),
        model_writer=writer,
        vocab_size=330,
        hard_vocab_limit=False,
        minloglevel=2,
        byte_fallback=True,
        **options,
    )
    path.write_bytes(writer.getvalue())
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize("name", SENTENCEPIECE_SETTINGS)
def test_sentencepiece_by_exhaustion(tmp_path: Path, name: str, kind: str) -> None:
    symbols = ["▁▁", "a▁b", "▁b▁", "##a", "."]
    processor = trained_sentencepiece(
        tmp_path / "toy.model",
        ["a b", "ab a", "é a"] * 20,
        user_defined_symbols=symbols,
        model_type=kind,
        **SENTENCEPIECE_SETTINGS[name],
    )
    vocabulary = from_sentencepiece(tmp_path / "toy.model")
    assert (vocabulary.text_start is None) == (name == "no rule")
    pieces = [*symbols, "▁", "a", "▁a", *BYTES]
    known = [processor.piece_to_id(piece) for piece in pieces]
    assert processor.unk_id() not in known[:7]
    tokens = [token for token in known if token != processor.unk_id()]
    check_decoder(vocabulary, processor.decode, tokens, 3)
    # Control pieces in front do not count as the start.
    for token in tokens:
        assert processor.decode([1, token]) == processor.decode([token])
        if "\ufffd" not in processor.decode([token]):
            assert vocabulary.detokenize([1, token], at_text_start=True).decode() == processor.decode([1, token])


# Real vocabularies, by walks ------------------------------------------------------------


SAMPLES = ["", "hello", " hello", "hello world", "héllo wörld €", "{\n}", '{"a": [1, 2]}', "a", "日本", ".", "x\ty"]


@pytest.mark.parametrize("name", ["tokenizer.model.v1", "mistral_instruct_tokenizer_241114.model.v7m1"])
def test_mistrals_sentencepieces_at_the_start_of_a_text(name: str) -> None:
    path = Path(mistral_common.__file__).parent / "data" / name
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    vocabulary = from_sentencepiece(path)
    check_encodings(vocabulary, processor.encode, SAMPLES)
    check_walks(vocabulary, processor.decode, WALKED)
    # The piece that begins a word is the natural first one; inside a text it would write its space.
    hello = processor.encode("hello world")
    assert complete("hello world", vocabulary, at_text_start=True).accepts(hello)
    assert not complete("hello world", vocabulary).accepts(hello)
    assert complete(" hello world", vocabulary).accepts(hello)


def t5() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=300, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
    tokenizer.train_from_iterator(LETTERS * 4, trainer)
    return tokenizer


@pytest.mark.parametrize("make", [llama_2, t5])
def test_tokenizers_at_the_start_of_a_text(make: Callable[[], Tokenizer]) -> None:
    tokenizer = make()
    vocabulary = from_transformers(tokenizer)
    assert vocabulary.text_start
    check_encodings(vocabulary, lambda text: tokenizer.encode(text).ids, ["", "hello", "hello world", "red, green"])
    check_walks(vocabulary, tokenizer.decode, WALKED)
