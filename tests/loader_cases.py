"""Tokenizers of every kind, texts for them, and checks of what loads them.

The tokenizers are real: small ones trained here in every style that is supported, and the full
SentencePiece and Tekken vocabularies that mistral-common carries. Only the bytes are ours; encoding and
decoding are the libraries'.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mistral_common
import sentencepiece
import tiktoken
from hypothesis import settings
from hypothesis import strategies as st
from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

from tokenfst.loaders import from_sentencepiece, from_tekken, from_tiktoken, from_transformers

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


thorough = settings(max_examples=75, deadline=None)


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


_cache: dict[str, Any] = {}


def once(key: str, make: Callable[[], Any]) -> Any:
    if key not in _cache:
        _cache[key] = make()
    return _cache[key]


def with_decoder(tokenizer: Tokenizer, decoder: Any) -> Tokenizer:
    tokenizer.decoder = decoder
    return tokenizer


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


def mistral_model(name: str) -> tuple[Any, Vocabulary]:
    def make() -> tuple[Any, Vocabulary]:
        path = DATA / name
        return sentencepiece.SentencePieceProcessor(model_file=str(path)), from_sentencepiece(path)

    pair: tuple[Any, Vocabulary] = once(f"sp {name}", make)
    return pair


def tekken(name: str) -> tuple[Tekkenizer, Vocabulary]:
    def make() -> tuple[Tekkenizer, Vocabulary]:
        return Tekkenizer.from_file(DATA / name), from_tekken(DATA / name)

    pair: tuple[Tekkenizer, Vocabulary] = once(f"tekken {name}", make)
    return pair


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
