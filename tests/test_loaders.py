"""Every loader gives back, byte for byte, what the real tokenizer encoded and what the real decoder writes.

The tokenizers are real: small ones trained here in every style that is supported, and the full
SentencePiece and Tekken vocabularies that mistral-common carries. Only the bytes are ours; encoding and
decoding are the libraries'.
"""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import mistral_common
import pytest
import sentencepiece
import tiktoken
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)
from transformers import ByT5Tokenizer, PreTrainedTokenizerFast

from automata.errors import UnsupportedTokenizer, VocabularyError
from tokenfst.loaders import from_sentencepiece, from_tekken, from_tiktoken, from_transformers, load_vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokenfst.vocabulary import Vocabulary

DATA = Path(mistral_common.__file__).parent / "data"
SENTENCEPIECE = [
    "tokenizer.model.v1",
    "mistral_instruct_tokenizer_240323.model.v3",
    "mistral_instruct_tokenizer_241114.model.v7m1",
]
TEKKEN = ["tekken_240718.json", "tekken_240911.json"]

TEXTS = [
    "hello world",
    " leading space",
    "   three   runs   of    spaces   ",
    "\ttabs\t\tand\nnew\n\nlines\r\n\r\n  \n",
    "Grüße aus Köln, größer als 1.234,56 €",
    "e\u0301 combining e\u0301\u0323 n\u0303 a\u030a\u0301",
    "日本語のテキスト、漢字とかな",
    "한국어 텍스트",
    "Русский текст, українська ґ",
    "العربية مع تَشْكِيل",
    "हिन्दी में पाठ",
    "👩‍👩‍👧‍👦 family, 👍🏽 skin, 🏳️‍🌈 flag, 🇩🇪🇫🇷",
    "def f(x: int) -> str:\n    return f'{x!r}'  # ok\n",
    '{"key": [1, 2.5e-3, null, "\\u00e9"]}\n',
    "0123456789 007 1000000",
    "\x00\x01\x7f\u00a0\u00ad\u200b\u2028\ufeff",
    "𝕬𐍈\U0010ffff",
]
# Texts as a model may see them; ▁ is excluded where the tokenizer itself cannot tell it from a space.
anything = st.text(max_size=40)
without_meta = st.text(st.characters(exclude_characters="▁", exclude_categories=["Cs"]), max_size=40)
thorough = settings(max_examples=150, deadline=None)

LLAMA3_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
BYTE_PIECES = [f"<0x{byte:02X}>" for byte in range(256)]


def trained(
    model: Any, trainer: Any, pre_tokenizer: Any = None, decoder: Any = None, normalizer: Any = None
) -> Tokenizer:
    tokenizer = Tokenizer(model)
    for name, part in (("pre_tokenizer", pre_tokenizer), ("decoder", decoder), ("normalizer", normalizer)):
        if part is not None:
            setattr(tokenizer, name, part)
    tokenizer.train_from_iterator(TEXTS * 4, trainer)
    return tokenizer


def byte_level(pre_tokenizer: Any, special: list[str]) -> Tokenizer:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=700, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    return trained(models.BPE(), trainer, pre_tokenizer, decoders.ByteLevel())


def gpt2() -> Tokenizer:
    return byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False), ["<|endoftext|>"])


def llama3() -> Tokenizer:
    split = pre_tokenizers.Split(Regex(LLAMA3_SPLIT), "isolated")
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    special = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"]
    return byte_level(pre_tokenizers.Sequence([split, level]), special)


def with_bytes(tokenizer: Tokenizer, special: tuple[str, ...] = ("<unk>", "<s>", "</s>")) -> Tokenizer:
    """The tokenizer with 256 byte pieces in its model, which training cannot put there."""
    definition = json.loads(tokenizer.to_str())
    model = definition["model"]
    first = [*special, *BYTE_PIECES]
    model["byte_fallback"] = True
    if model["type"] == "Unigram":
        rest = [entry for entry in model["vocab"] if entry[0] not in special]
        model["vocab"] = [[piece, 0.0 if piece in special else -20.0] for piece in first] + rest
        model["unk_id"] = 0
    else:
        pieces = [*first, *(piece for piece in model["vocab"] if piece not in first)]
        model["vocab"] = {piece: i for i, piece in enumerate(pieces)}
        model["unk_token"] = special[0]
    definition["added_tokens"] = []
    result = Tokenizer.from_str(json.dumps(definition))
    result.add_special_tokens(list(special))
    return result


def sentencepiece_decoder(strip: bool) -> Any:
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    return decoders.Sequence([*parts, decoders.Strip(" ", 1, 0)] if strip else parts)


def bpe_trainer() -> Any:
    # A small alphabet, so that most of the texts' characters are spelled in bytes.
    return trainers.BpeTrainer(vocab_size=400, limit_alphabet=60, show_progress=False)


def llama2() -> Tokenizer:
    normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    return with_bytes(trained(models.BPE(), bpe_trainer(), decoder=sentencepiece_decoder(True), normalizer=normalizer))


def gemma() -> Tokenizer:
    normalizer = normalizers.Replace(" ", "▁")
    return with_bytes(trained(models.BPE(), bpe_trainer(), decoder=sentencepiece_decoder(False), normalizer=normalizer))


def unigram() -> Tokenizer:
    trainer = trainers.UnigramTrainer(vocab_size=300, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
    normalizer = normalizers.Replace(" ", "▁")
    return with_bytes(trained(models.Unigram(), trainer, decoder=sentencepiece_decoder(False), normalizer=normalizer))


def metaspace() -> Tokenizer:
    """As T5's and XLM-R's: no bytes, so that it spells only the characters of the texts."""
    trainer = trainers.UnigramTrainer(
        vocab_size=600, unk_token="<unk>", special_tokens=["<unk>", "</s>"], show_progress=False
    )
    return trained(models.Unigram(), trainer, pre_tokenizers.Metaspace(), decoders.Metaspace())


HUGGING_FACE: dict[str, Callable[[], Tokenizer]] = {
    "gpt2": gpt2,
    "llama3": llama3,
    "llama2": llama2,
    "gemma": gemma,
    "unigram": unigram,
    "metaspace": metaspace,
}
# The first ▁ of these is put there by encoding, and dropped again by decoding.
ADD_A_SPACE = {"llama2", "metaspace"}
_cache: dict[str, Any] = {}


def once(key: str, make: Callable[[], Any]) -> Any:
    if key not in _cache:
        _cache[key] = make()
    return _cache[key]


def with_decoder(tokenizer: Tokenizer, decoder: Any) -> Tokenizer:
    tokenizer.decoder = decoder
    return tokenizer


def wrapped(tokenizer: Tokenizer, **options: Any) -> Any:
    wrapper: Any = PreTrainedTokenizerFast
    return wrapper(tokenizer_object=tokenizer, **options)


def token_id(tokenizer: Tokenizer, name: str) -> int:
    token = tokenizer.token_to_id(name)
    assert token is not None
    return token


def hugging_face(style: str) -> tuple[Tokenizer, Vocabulary]:
    def make() -> tuple[Tokenizer, Vocabulary]:
        tokenizer = HUGGING_FACE[style]()
        tokenizer.encode_special_tokens = True  # a text may spell a special token's name, and is to stay text
        return tokenizer, from_transformers(tokenizer)

    pair: tuple[Tokenizer, Vocabulary] = once(f"hf {style}", make)
    return pair


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


# tiktoken ----------------------------------------------------------------------------


def tekken_ranks(name: str = TEKKEN[1], size: int = 20_000) -> tuple[dict[bytes, int], str]:
    def make() -> tuple[dict[bytes, int], str]:
        data = json.loads((DATA / name).read_bytes())
        entries = data["vocab"][:size]
        return {base64.b64decode(e["token_bytes"]): e["rank"] for e in entries}, data["config"]["pattern"]

    pair: tuple[dict[bytes, int], str] = once(f"ranks {name} {size}", make)
    return pair


def encoding(special: dict[str, int]) -> tiktoken.Encoding:
    ranks, pattern = tekken_ranks()
    return tiktoken.Encoding("small", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)


def tiktoken_file(folder: Path) -> Path:
    path = folder / "small.tiktoken"
    lines = [base64.b64encode(token) + b" %d\n" % rank for token, rank in tekken_ranks()[0].items()]
    path.write_bytes(b"".join(lines))
    return path


def small_encoding() -> tuple[tiktoken.Encoding, Vocabulary]:
    def make() -> tuple[tiktoken.Encoding, Vocabulary]:
        source = encoding({"<|endoftext|>": 20_003, "<|end|>": 20_007})
        return source, from_tiktoken(source)

    pair: tuple[tiktoken.Encoding, Vocabulary] = once("encoding", make)
    return pair


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
    with pytest.raises(TypeError, match=r"maps names to ids, as in .*; \['<\|end\|>'\] \(list\) does not"):
        from_tiktoken(path, special_tokens=["<|end|>"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"special_tokens maps names to ids, and not 3 to '<\|end\|>'"):
        from_tiktoken(path, special_tokens={3: "<|end|>"})  # type: ignore[dict-item]


def test_what_ends_a_sequence_of_tiktoken_has_to_be_known(tmp_path: Path) -> None:
    path = tiktoken_file(tmp_path)
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


def test_tiktoken_refuses_other_objects() -> None:
    with pytest.raises(UnsupportedTokenizer, match="int: neither"):
        from_tiktoken(3)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        from_tiktoken("missing.tiktoken")


# SentencePiece ----------------------------------------------------------------------------


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


def mistral_model(name: str) -> tuple[Any, Vocabulary]:
    def make() -> tuple[Any, Vocabulary]:
        path = DATA / name
        return sentencepiece.SentencePieceProcessor(model_file=str(path)), from_sentencepiece(path)

    pair: tuple[Any, Vocabulary] = once(f"sp {name}", make)
    return pair


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


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(ImportError, match=r"pip install tokenfst\[sentencepiece\]"):
        from_sentencepiece(DATA / SENTENCEPIECE[0])


# Tekken ----------------------------------------------------------------------------


def tekken(name: str) -> tuple[Tekkenizer, Vocabulary]:
    def make() -> tuple[Tekkenizer, Vocabulary]:
        return Tekkenizer.from_file(DATA / name), from_tekken(DATA / name)

    pair: tuple[Tekkenizer, Vocabulary] = once(f"tekken {name}", make)
    return pair


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


def small_tekken(**changes: Any) -> dict[str, Any]:
    config = {"default_num_special_tokens": 3, "default_vocab_size": 259, "version": "v11", "pattern": "."}
    tokens = [bytes([byte]) for byte in range(256)] + [b"beyond the default size"]
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    special = [
        {"rank": 0, "token_str": "<s>", "is_control": True},
        {"rank": 1, "token_str": "</s>", "is_control": True},
    ]
    return {"config": config, "vocab": vocab, "special_tokens": special} | changes


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
    "too few tokens": ({"vocab": small_tekken()["vocab"][:200]}, "200 tokens where 256"),
    "order": ({"vocab": small_tekken()["vocab"][::-1]}, "rank 256 in the place of rank 0"),
    "base64": ({"vocab": [{"rank": 0, "token_bytes": "!"}] * 256}, "not base64"),
    "empty token": ({"vocab": [{"rank": 0, "token_bytes": ""}] * 256}, "without bytes"),
    "no list": ({"special_tokens": None}, "no special tokens are listed"),
    "repeated": ({"special_tokens": [{"rank": i, "token_str": "<s>"} for i in (0, 1)]}, "2 special.*3"),
    "special order": ({"special_tokens": [{"rank": 5, "token_str": "<s>"}]}, "ranks of the special"),
}


@pytest.mark.parametrize("case", DAMAGED_TEKKEN)
def test_a_damaged_tekken_file_is_refused(tmp_path: Path, case: str) -> None:
    changes, message = DAMAGED_TEKKEN[case]
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(small_tekken(**changes)))
    with pytest.raises(VocabularyError, match=rf"tekken\.json: not a Tekken vocabulary.*{message}"):
        from_tekken(path)


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
