"""The small language model that the package carries, for demonstrations and tests that need no network.

It is a Llama of 2.6 million parameters with a byte-level BPE tokenizer of 2,048 tokens, 5.3 MB in half precision. It
read 11 million tokens, some 30 MB: JSON documents with their titles and descriptions, and sentences, forms and JSON
records about invented people. Over tokens of 256 documents that it has not seen, its perplexity is 8.1. So it writes
plausible names, dates, addresses and JSON, reads who somebody is out of the sentences that it has learned from, adds
digits, and knows nothing else: it repeats itself and makes up its answers. `scripts/train_bundled_model.py` trains it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files

from transformers import LlamaForCausalLM, PreTrainedModel, PreTrainedTokenizerFast
from transformers.utils import logging


def bundled_model() -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """Return the model, in float32 and evaluation mode, and its tokenizer; read from disk at each call.

    The tokenizer adds no special tokens of its own and spells every string: decoding gives back what was encoded.
    """
    with as_file(files("decoding") / "model") as folder, _without_progress_bars():
        tokenizer = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
        model = LlamaForCausalLM.from_pretrained(folder, local_files_only=True)
    model.float()
    return model, tokenizer


@contextmanager
def _without_progress_bars() -> Iterator[None]:
    """Five megabytes need no bar."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
