"""Tokenizers of Hugging Face: every text comes back, byte for byte; what cannot be exact is refused."""

from __future__ import annotations

import json
import re
import warnings
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from loader_cases import (
    HUGGING_FACE,
    TEXTS,
    anything,
    gpt2,
    hugging_face,
    llama3,
    sentencepiece_decoder,
    thorough,
    token_id,
    with_decoder,
    without_meta,
)
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
)
from transformers import ByT5Tokenizer, PreTrainedTokenizerFast

from automata.errors import UnsupportedTokenizer, VocabularyError
from tokenfst.loaders import from_transformers

if TYPE_CHECKING:
    from collections.abc import Callable


# The first ▁ of these is put there by encoding, and dropped again by decoding.
ADD_A_SPACE = {"llama2", "metaspace"}


def wrapped(tokenizer: Tokenizer, **options: Any) -> Any:
    wrapper: Any = PreTrainedTokenizerFast
    return wrapper(tokenizer_object=tokenizer, **options)


# Hugging Face ----------------------------------------------------------------------------


def check_text(style: str, text: str) -> None:
    tokenizer, vocabulary = hugging_face(style)
    ids = tokenizer.encode("a" + text, add_special_tokens=False).ids
    prefix = " " if style in ADD_A_SPACE else ""
    assert vocabulary.detokenize(ids) == (prefix + "a" + text).encode()


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("style", HUGGING_FACE)
def test_detokenizing_an_encoding_gives_the_text_back(style: str, text: str) -> None:
    check_text(style, text)


@thorough
@given(anything)
@pytest.mark.parametrize("style", ["gpt2", "llama3"])
def test_byte_level_detokenizes_any_text(style: str, text: str) -> None:
    check_text(style, text)


@thorough
@given(without_meta)
@pytest.mark.parametrize("style", ["llama2", "gemma", "unigram"])
def test_byte_fallback_detokenizes_any_text(style: str, text: str) -> None:
    # The Unigram encoder finds every piece of its vocabulary in a text, even those that are not text.
    assume(style != "unigram" or not re.search(r"<(unk|/?s|0x[0-9A-F]{2})>", text))
    check_text(style, text)


@thorough
@given(st.data())
@pytest.mark.parametrize("style", HUGGING_FACE)
def test_any_tokens_write_what_the_decoder_writes(style: str, data: st.DataObject) -> None:
    """Not only the encodings of texts: any sequence of tokens, since any may be generated."""
    tokenizer, vocabulary = hugging_face(style)
    visible = [i for i, token in enumerate(vocabulary.tokens) if token]
    ids = data.draw(st.lists(st.sampled_from(visible), max_size=12))
    start = tokenizer.encode("a", add_special_tokens=False).ids
    written = b"a" + vocabulary.detokenize(ids)
    try:
        expected = written.decode()
    except UnicodeDecodeError:
        if style not in {"gpt2", "llama3"}:
            return  # each library shows broken characters in its own way
        expected = written.decode("utf-8", "replace")
    assert tokenizer.decode([*start, *ids], skip_special_tokens=False) == expected


@thorough
@given(st.data())
@pytest.mark.parametrize("style", HUGGING_FACE)
def test_any_tokens_by_themselves_write_what_the_decoder_writes(style: str, data: st.DataObject) -> None:
    tokenizer, vocabulary = hugging_face(style)
    assert (vocabulary.text_start is not None) == (style in ADD_A_SPACE)
    visible = [i for i, token in enumerate(vocabulary.tokens) if token]
    spaces = [i for i in visible if vocabulary.tokens[i].startswith(b" ")]
    first = data.draw(st.lists(st.sampled_from(spaces), max_size=3))
    ids = first + data.draw(st.lists(st.sampled_from(visible), max_size=6))
    try:
        written = vocabulary.detokenize(ids, at_text_start=True).decode()
    except UnicodeDecodeError:
        return
    assert tokenizer.decode(ids, skip_special_tokens=False) == written


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("style", HUGGING_FACE)
def test_an_encoding_by_itself_gives_the_text_back(style: str, text: str) -> None:
    tokenizer, vocabulary = hugging_face(style)
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    assert vocabulary.detokenize(ids, at_text_start=True).decode() == tokenizer.decode(ids, skip_special_tokens=False)
    # Metaspace puts a space before a text only if it has none, and drops one in any case.
    if style != "metaspace" or not text.startswith(" "):
        assert vocabulary.detokenize(ids, at_text_start=True).decode() == text


@pytest.mark.parametrize("style", HUGGING_FACE)
def test_the_wrapper_of_transformers_is_the_same_vocabulary(style: str) -> None:
    tokenizer, vocabulary = hugging_face(style)
    assert from_transformers(wrapped(tokenizer)).tokens == vocabulary.tokens


@pytest.mark.parametrize("style", ["gpt2", "llama3", "llama2", "gemma"])
def test_text_that_looks_like_a_token_is_text(style: str) -> None:
    check_text(style, "<0x41>, <s> and <0x0A></s><|endoftext|>")


def test_byte_pieces_are_bytes_only_where_the_decoder_makes_them() -> None:
    vocabulary = {"a": 0, "<0x41>": 1, "▁": 2}
    bare = Tokenizer(models.BPE(vocab=vocabulary, merges=[], byte_fallback=True))
    for decoder, expected in (
        (decoders.Metaspace(), b"<0x41>"),
        (decoders.Metaspace("4"), b"<0x 1>"),
        (decoders.ByteLevel(), b"<0x41>"),
        (sentencepiece_decoder(False), b"A"),
    ):
        bare.decoder = decoder
        assert from_transformers(bare).tokens[1] == expected
        assert bare.decode([0, 1]) == "a" + expected.decode()


def test_special_and_unknown_tokens_write_nothing() -> None:
    _, vocabulary = hugging_face("llama2")
    assert vocabulary.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}
    assert vocabulary.tokens[:3] == (b"", b"", b"")
    assert vocabulary.tokens[3:6] == (b"\x00", b"\x01", b"\x02")
    pieces = {"a": 0, "<unk>": 1}
    for model in (models.BPE(vocab=pieces, merges=[], unk_token="<unk>"), models.WordLevel(pieces, "<unk>")):
        assert from_transformers(with_decoder(Tokenizer(model), decoders.Fuse())).tokens == (b"a", b"")
    # Of two pieces with this text, only one is the unknown token; the other one is text.
    twice = Tokenizer(models.Unigram([("<unk>", 0.0), ("a", 0.0), ("<unk>", -1.0)], 0, False))
    vocabulary = from_transformers(with_decoder(twice, decoders.Fuse()))
    assert twice.encode("z").ids == [0]
    assert vocabulary.tokens == (b"", b"a", b"<unk>")
    assert vocabulary.special_tokens == {"<unk>": 0}


def test_tokens_that_decoding_skips_write_nothing() -> None:
    """Also those of which the definition does not say it: a special token is skipped even if it is added again."""
    tokenizer = with_decoder(Tokenizer(models.BPE(vocab={"a": 0, "b": 1}, merges=[])), decoders.ByteLevel())
    tokenizer.add_special_tokens(["<x>", "<y>"])
    tokenizer.add_tokens(["<x>", "<z>"])
    assert not tokenizer.get_added_tokens_decoder()[2].special
    assert tokenizer.decode([0, 2, 3, 4, 1]) == "a<z>b"
    vocabulary = from_transformers(tokenizer)
    assert vocabulary.tokens == (b"a", b"b", b"", b"", b"<z>")
    assert vocabulary.special_tokens == {"<x>": 2, "<y>": 3}
    # A special token is skipped by its text, which two tokens of a Unigram model may have.
    listed = [("a", -1.0), ("<x>", -2.0), ("<x>", -3.0), ("<z>", -4.0), ("<z>", -5.0)]
    tokenizer = with_decoder(Tokenizer(models.Unigram(listed, None, False)), decoders.Fuse())
    tokenizer.add_special_tokens(["<x>"])
    tokenizer.add_tokens(["<z>"])
    assert tokenizer.decode([0, 1, 2, 3, 4]) == "a<z><z>"
    vocabulary = from_transformers(tokenizer)
    assert vocabulary.tokens == (b"a", b"", b"", b"<z>", b"<z>")
    assert vocabulary.special_tokens == {"<x>": 2}


ADDED = ["<tool call>", "日本 語", "Ġx", "[PLAIN]", "▁▁", "éé", "日é"]


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("style", ["gpt2", "llama2", "gemma"])
def test_added_tokens_write_what_the_decoder_writes(style: str, normalized: bool) -> None:
    tokenizer = HUGGING_FACE[style]()
    tokenizer.add_tokens([AddedToken(name, normalized=normalized) for name in ADDED])
    tokenizer.add_special_tokens([AddedToken("<hidden>", special=True)])
    vocabulary = from_transformers(tokenizer)
    start = tokenizer.encode("a").ids
    for name in ADDED:
        token = token_id(tokenizer, name)
        assert vocabulary.tokens[token]
        written = b"a" + vocabulary.tokens[token]
        assert tokenizer.decode([*start, token]) == written.decode("utf-8", "replace")
    assert vocabulary.tokens[vocabulary.special_tokens["<hidden>"]] == b""


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("<tool call>", b"<tool call>"),  # a space is not in the table
        ("éé", b"\xe9\xe9"),  # but é is, as the byte E9
        ("日é", "日é".encode()),  # one character outside the table, and all are text
    ],
)
def test_added_tokens_of_byte_level_tokenizers(name: str, written: bytes) -> None:
    tokenizer = gpt2()
    tokenizer.add_tokens([AddedToken(name, normalized=False)])
    assert from_transformers(tokenizer).tokens[token_id(tokenizer, name)] == written


def test_half_characters_are_tokens_even_if_they_come_first() -> None:
    tokenizer = Tokenizer(models.BPE(vocab={"Ã": 0, "©": 1, "a": 2}, merges=[]))
    with_decoder(tokenizer, decoders.ByteLevel())
    assert from_transformers(tokenizer).tokens == (b"\xc3", b"\xa9", b"a")


def test_ids_that_no_piece_has_write_nothing() -> None:
    definition = json.loads(gpt2().to_str())
    last = max(definition["model"]["vocab"].values())
    definition["model"]["vocab"]["ĠĠĠĠĠĠĠ"] = last + 5
    vocabulary = from_transformers(Tokenizer.from_str(json.dumps(definition)))
    assert vocabulary.tokens[last + 1 :] == (b"", b"", b"", b"", b" " * 7)


def test_the_end_is_the_tokenizers_own_or_the_ids_given() -> None:
    tokenizer = llama3()
    fast = wrapped(tokenizer, eos_token="<|eot_id|>")
    end, turn = (token_id(tokenizer, name) for name in ("<|end_of_text|>", "<|eot_id|>"))
    assert from_transformers(tokenizer).eos_ids == ()
    assert from_transformers(fast).eos_ids == (turn,)
    assert set(from_transformers(fast, eos_ids=[end, turn, end]).eos_ids) == {end, turn}
    assert from_transformers(fast, eos_ids=iter([end])).eos_ids == (end,)
    several: Any = SimpleNamespace(backend_tokenizer=tokenizer, eos_token_id=[turn, end])
    assert set(from_transformers(several).eos_ids) == {end, turn}


def test_an_end_writes_nothing_even_if_its_token_has_text() -> None:
    tokenizer = gpt2()
    tokenizer.add_tokens([AddedToken("<end>", special=False)])
    token = token_id(tokenizer, "<end>")
    assert from_transformers(tokenizer).tokens[token] == b"<end>"
    ended = from_transformers(tokenizer, eos_ids=[token])
    assert ended.tokens[token] == b""
    assert ended.special_tokens["<end>"] == token


def test_an_end_beyond_the_tokens_extends_the_vocabulary() -> None:
    tokenizer, vocabulary = hugging_face("gpt2")
    size = len(vocabulary.tokens)
    assert from_transformers(tokenizer, eos_ids=[size + 2]).tokens[size:] == (b"", b"", b"")
    for wrong in (-1, 1 << 40):
        with pytest.raises(VocabularyError, match=f"{wrong} is not a token id"):
            from_transformers(tokenizer, eos_ids=[wrong])


def word_piece() -> Tokenizer:
    pieces = {"[UNK]": 0, "hello": 1, "##s": 2}
    tokenizer = Tokenizer(models.WordPiece(vocab=pieces, unk_token="[UNK]"))
    with_decoder(tokenizer, decoders.WordPiece())
    return tokenizer


def bpe(decoder: Any = None, **options: Any) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(vocab={"a": 0, "b</w>": 1, "▁": 2, "ab": 3}, merges=[], **options))
    if decoder is not None:
        tokenizer.decoder = decoder
    return tokenizer


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "WordPiece model": (
        lambda: Tokenizer.from_str(json.dumps(json.loads(word_piece().to_str()) | {"decoder": {"type": "Fuse"}})),
        "Tokenizer: model WordPiece: its marks inside of words need the decoder WordPiece",
    ),
    "WordPiece of another mark": (
        lambda: with_decoder(word_piece(), decoders.WordPiece("@@")),
        "model WordPiece with continuing_subword_prefix '##'",
    ),
    "two rules for the start": (
        lambda: bpe(decoders.Sequence([decoders.Metaspace(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])),
        r"decoders Metaspace \+ Strip: each changes the start",
    ),
    "suffix": (lambda: bpe(decoders.ByteLevel(), end_of_word_suffix="</w>"), "end_of_word_suffix '</w>'"),
    "prefix": (
        lambda: bpe(decoders.Fuse(), continuing_subword_prefix="##"),
        "continuing_subword_prefix '##'",
    ),
    "BPEDecoder": (lambda: bpe(decoders.BPEDecoder()), "decoder BPEDecoder"),
    "CTC": (lambda: bpe(decoders.CTC()), "decoder CTC.*merges repeated"),
    "no decoder": (bpe, "no decoder"),
    "replaced across tokens": (
        lambda: bpe(decoders.Sequence([decoders.Fuse(), decoders.Replace("ab", "c")])),
        r"Fuse \+ Replace.*order",
    ),
    "replaced after bytes": (
        lambda: bpe(decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])),
        r"ByteFallback \+ Metaspace.*order",
    ),
    "strip of every token": (lambda: bpe(decoders.Strip(" ", 1, 0)), "decoder Strip.*order"),
    "strip at the end": (
        lambda: bpe(decoders.Sequence([decoders.Fuse(), decoders.Strip(" ", 0, 1)])),
        "Strip removes more",
    ),
    "strip of two spaces": (
        lambda: bpe(decoders.Sequence([decoders.Fuse(), decoders.Strip(" ", 2, 0)])),
        "Strip removes more",
    ),
    "strip of letters": (
        lambda: bpe(decoders.Sequence([decoders.Fuse(), decoders.Strip("a", 1, 0)])),
        "Strip removes more",
    ),
    "pattern": (lambda: bpe(decoders.Replace(Regex("a+"), "b")), "Replace with the pattern"),
    "after ByteLevel": (
        lambda: bpe(decoders.Sequence([decoders.ByteLevel(), decoders.Strip(" ", 1, 0)])),
        "decoder ByteLevel in ByteLevel . Strip",
    ),
    "slow": (ByT5Tokenizer, "ByT5Tokenizer: not a fast tokenizer"),
    "not a tokenizer": (lambda: 7, "int: not a fast tokenizer"),
    "nothing to compare with": (
        lambda: with_decoder(Tokenizer(models.BPE(vocab={"▁": 0}, merges=[])), decoders.Metaspace()),
        "no token is ordinary text",
    ),
    "odd byte piece": (
        # The library's parser takes a sign for a digit, so this piece is the byte 1.
        lambda: with_decoder(Tokenizer(models.BPE(vocab={"a": 0, "<0x+1>": 1}, merges=[])), decoders.ByteFallback()),
        r"token 1 should write b'<0x\+1>', and .* but they decode to",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_exact_is_refused_with_the_reason(case: str) -> None:
    make, message = REFUSED[case]
    with pytest.raises(UnsupportedTokenizer, match=message):
        from_transformers(make())


def test_the_refusal_names_the_class_of_transformers() -> None:
    fast = wrapped(bpe(decoders.CTC()))
    with pytest.raises(UnsupportedTokenizer, match=f"{type(fast).__name__}: decoder CTC"):
        from_transformers(fast)


def test_a_class_with_its_own_decoding_is_refused() -> None:
    def shout(self: Any, *args: Any, **options: Any) -> str:
        return str(PreTrainedTokenizerFast._decode(self, *args, **options)).upper()

    shouting: Any = type("Shouting", (PreTrainedTokenizerFast,), {"_decode": shout})
    with pytest.raises(UnsupportedTokenizer, match=r"Shouting: Shouting\._decode"):
        from_transformers(shouting(tokenizer_object=gpt2()))
    renamed: Any = type("CodeGenTokenizer", (PreTrainedTokenizerFast,), {"decode": shout})
    assert from_transformers(renamed(tokenizer_object=gpt2())).tokens == hugging_face("gpt2")[1].tokens


@pytest.mark.parametrize("style", ["unigram", "gpt2"])
def test_clean_up_is_warned_of_exactly_where_decode_does_it(style: str) -> None:
    """The vocabulary is the same, but `decode` rewrites finished text unless told not to."""
    tokenizer, vocabulary = hugging_face(style)
    fast = wrapped(tokenizer, clean_up_tokenization_spaces=True)
    ids = fast.encode("a .", add_special_tokens=False)
    # Whether it does so for BPE depends on the version of transformers.
    rewritten = fast.decode(ids) != fast.decode(ids, clean_up_tokenization_spaces=False)
    assert rewritten or style == "gpt2"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert from_transformers(fast).tokens == vocabulary.tokens
    assert rewritten == any("clean_up_tokenization_spaces=False" in str(w.message) for w in caught)
