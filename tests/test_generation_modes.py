"""The processor in what `model.generate` of `transformers` does besides its usual modes (tests/test_processor.py).

What is written is checked by `re`, `json` and `jsonschema`.
"""

from __future__ import annotations

import json
import re
from threading import Thread
from typing import Any

import jsonschema
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    ContinuousBatchingConfig,
    LlamaConfig,
    LlamaForCausalLM,
    LogitsProcessorList,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
    TextIteratorStreamer,
)
from transformers.generation.streamers import BaseStreamer

import constraints
from decoding import ConstraintLogitsProcessor, bundled_model

MODEL: Any
TOKENIZER: Any
MODEL, TOKENIZER = bundled_model()
END = "<|endoftext|>"
DATE = r"\d{4}-[01]\d-[0-3]\d"
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "maximum": 120}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
SCHEMA = constraints.json_schema(PERSON)
PROMPTS = ["A person as JSON: ", "2020-10-10 2021-01-10 ", "Yes"]


def write(constraint: Any, prompts: list[str], **options: Any) -> list[str]:
    """The texts behind the prompts, with their ends."""
    limit = options.setdefault("max_new_tokens", 60)
    processor = ConstraintLogitsProcessor(constraint, TOKENIZER, max_new_tokens=limit)
    inputs = TOKENIZER(prompts, return_tensors="pt", padding=True, padding_side="left")
    rows = MODEL.generate(
        input_ids=inputs["input_ids"],
        attention_mask=inputs["attention_mask"],
        logits_processor=LogitsProcessorList([processor]),
        pad_token_id=1,
        **options,
    )
    return [TOKENIZER.decode(row[inputs["input_ids"].shape[1] :]).replace("<|pad|>", "") for row in rows]


def is_date(text: str) -> bool:
    return re.fullmatch(DATE + re.escape(END), text) is not None


def check_person(text: str) -> None:
    assert text.endswith(END)
    jsonschema.validate(json.loads(text.removesuffix(END)), PERSON)


MODES: list[dict[str, Any]] = [
    {"guidance_scale": 1.5},
    {"prefill_chunk_size": 4},
    {"renormalize_logits": True, "repetition_penalty": 1.3, "no_repeat_ngram_size": 9},
    {"typical_p": 0.5, "min_p": 0.2, "epsilon_cutoff": 0.01, "eta_cutoff": 0.01},
    {"top_h": 0.4},
    {"watermarking_config": {"bias": 2.0}},
    {"exponential_decay_length_penalty": (3, 1.5)},
    {"forced_eos_token_id": 0},
    {"num_beams": 3, "length_penalty": -2.0, "early_stopping": True},
    {"num_beams": 3, "num_return_sequences": 3, "length_penalty": 3.0, "early_stopping": "never"},
    {"output_scores": True},
]


@pytest.mark.parametrize("options", MODES, ids=str)
def test_whatever_else_is_asked_for(options: dict[str, Any]) -> None:
    number = options.get("num_return_sequences", 1)
    for seed in range(2):
        torch.manual_seed(seed)
        texts = write([DATE, SCHEMA, DATE], PROMPTS, do_sample=True, **options)
        assert len(texts) == 3 * number
        assert all(map(is_date, texts[:number] + texts[2 * number :]))
        for text in texts[number : 2 * number]:
            check_person(text)


@pytest.mark.parametrize("constraint", [DATE, SCHEMA], ids=["pattern", "schema"])
def test_drafts_of_the_models_own_first_layer(constraint: Any) -> None:
    plain = write(constraint, PROMPTS[:1], do_sample=False)
    assert write(constraint, PROMPTS[:1], do_sample=False, assistant_early_exit=1) == plain
    for seed in range(2):
        torch.manual_seed(seed)
        (text,) = write(constraint, PROMPTS[:1], do_sample=True, assistant_early_exit=1)
        if constraint == DATE:
            assert is_date(text)
        else:
            check_person(text)


class Pieces(BaseStreamer):
    """What a streamer is handed, piece by piece."""

    def __init__(self) -> None:
        self.pieces: list[list[int]] = []

    def put(self, value: Any) -> None:
        self.pieces.append(value.flatten().tolist())

    def end(self) -> None:
        self.pieces.append([])


@pytest.mark.parametrize("options", [{}, {"prompt_lookup_num_tokens": 4}, {"assistant_early_exit": 1}], ids=str)
def test_streams(options: dict[str, Any]) -> None:
    for seed in range(2):
        torch.manual_seed(seed)
        pieces = Pieces()
        (text,) = write(DATE, PROMPTS[1:2], do_sample=True, streamer=pieces, **options)
        assert is_date(text)
        assert TOKENIZER.decode([token for piece in pieces.pieces[1:] for token in piece]) == text
        streamer = TextIteratorStreamer(TOKENIZER, skip_prompt=True, skip_special_tokens=True)
        thread = Thread(target=write, args=(DATE, PROMPTS[:1]), kwargs={"streamer": streamer, "do_sample": True})
        thread.start()
        assert is_date("".join(streamer) + END)
        thread.join()


@pytest.mark.parametrize("options", [{"do_sample": True}, {"num_beams": 3}], ids=str)
def test_an_encoder_and_a_decoder(options: dict[str, Any]) -> None:
    sizes: Any = {"vocab_size": 2048, "d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    tokens: Any = {"decoder_start_token_id": 1, "eos_token_id": 0, "pad_token_id": 1}
    torch.manual_seed(1)
    config = T5Config(**tokens, **sizes)
    model = T5ForConditionalGeneration(config).eval()
    processor = ConstraintLogitsProcessor([DATE, SCHEMA], TOKENIZER, max_new_tokens=60)
    rows = model.generate(
        input_ids=torch.tensor([[5, 6, 7], [8, 9, 10]]),
        logits_processor=LogitsProcessorList([processor]),
        max_new_tokens=60,
        **options,
    )
    texts = [TOKENIZER.decode(row).replace("<|pad|>", "") for row in rows]
    assert is_date(texts[0])
    check_person(texts[1])


def assistant() -> tuple[Any, Any]:
    """A small model with a tokenizer of its own."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=["<e>", "<p>"], initial_alphabet=alphabet)
    trained.train_from_iterator(["a person as json 2020-10-10"] * 5, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=trained, eos_token="<e>", pad_token="<p>")
    sizes: Any = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = LlamaConfig(vocab_size=len(tokenizer), eos_token_id=0, pad_token_id=1, **sizes)
    return LlamaForCausalLM(config).eval(), tokenizer


@pytest.mark.parametrize("sampled", [True, False])
def test_an_assistant_with_a_tokenizer_of_its_own_is_refused(sampled: bool) -> None:
    """`transformers` hands the processors of the model to the assistant, whose tokens are others."""
    model, tokenizer = assistant()
    options = {"assistant_model": model, "tokenizer": TOKENIZER, "assistant_tokenizer": tokenizer}
    with pytest.raises(ValueError, match="do not cover the vocabulary"):
        write(DATE, PROMPTS[:1], do_sample=sampled, **options)


def test_paged_caches_leave_all_processors_out() -> None:
    """`generate` does not say so; whoever constrains requests in continuous batching needs `constrained_batching`."""

    def never(input_ids: Any, scores: Any) -> Any:
        raise AssertionError("a processor was called")

    small = ContinuousBatchingConfig(num_blocks=8, max_batch_tokens=8)
    options = {"max_new_tokens": 2, "eos_token_id": 0, "pad_token_id": 1, "continuous_batching_config": small}
    processors = LogitsProcessorList([never])
    MODEL.generate(
        input_ids=torch.tensor([[5, 6]]), logits_processor=processors, cache_implementation="paged", **options
    )
