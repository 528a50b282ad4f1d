"""Real encoders, and texts for them.

The encoders are Mistral's Tekken (131,072 tokens, mistral-common's own code) and two of tokenizers: GPT-2's
pre-tokenizer over merges that are trained here, and the bundled model's tokenizer, which has Llama 3's.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from tokenfst import Vocabulary, from_tekken, from_transformers

ANYTHING = r"(.|\n)*"


class Real(NamedTuple):
    vocabulary: Vocabulary
    encode: Callable[[str], list[int]]


def tekken() -> Real:
    path = str(files("mistral_common") / "data" / "tekken_240911.json")
    encoder = Tekkenizer.from_file(path)
    return Real(from_tekken(path), lambda text: encoder.encode(text, bos=False, eos=False))


def trained() -> Real:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=3000,
        special_tokens=["<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(source_texts(400_000), trainer)
    return of_tokenizers(tokenizer)


def bundled() -> Real:
    return of_tokenizers(Tokenizer.from_file(str(files("decoding") / "model" / "tokenizer.json")))


def of_tokenizers(tokenizer: Tokenizer) -> Real:
    return Real(
        from_transformers(tokenizer, eos_ids=[0]), lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    )


def source_texts(size: int) -> list[str]:
    """Python files that are installed everywhere that Python is."""
    texts: list[str] = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("[a-i]*.py")):
        texts.append(path.read_text("utf-8"))
        if sum(map(len, texts)) > size:
            break
    return texts
