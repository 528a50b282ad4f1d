"""The small language model that the package includes, for demonstrations and tests without a network.

It is a Llama model of 2.6 million parameters with a byte-level BPE tokenizer of 2,048 tokens, 5.3 MB in half precision.
It was trained on 11 million tokens, about 30 MB: JSON documents with their titles and descriptions, and sentences,
forms and JSON records about invented people. On 256 held-out documents, its perplexity per token is 8.1. So it writes
plausible names, dates, addresses and JSON, extracts facts about people from the kinds of sentences in its training
data, adds digits, and knows nothing else: it repeats itself and makes up its answers. `scripts/train_bundled_model.py`
trains it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files

from transformers import LlamaForCausalLM, PreTrainedModel, PreTrainedTokenizerFast
from transformers.utils import logging


def bundled_model() -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """Return the model, in float32 and evaluation mode, and its tokenizer. Every call reads them from disk.

    The tokenizer adds no special tokens and can encode every string; decoding returns the original string.
    """
    with as_file(files("decoding") / "model") as folder, _without_progress_bars():
        tokenizer = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
        model = LlamaForCausalLM.from_pretrained(folder, local_files_only=True)
    model.float()
    return model, tokenizer


@contextmanager
def _without_progress_bars() -> Iterator[None]:
    """Turn the progress bars of `transformers` off in the body: five megabytes need none."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
