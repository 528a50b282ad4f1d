"""A model with its cache says what it says without: any texts and trees, grown, cut back and changed, in any batch."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest
import torch
import transformers
from line_interrupts import interrupted
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, PreTrainedModel

from decoding.speculation import ROOT, CachedModel, Reading

VOCABULARY = 12
WINDOW = 12


def llama(attention: str = "sdpa") -> PreTrainedModel:
    torch.manual_seed(0)
    make: Any = LlamaConfig
    config = make(
        vocab_size=VOCABULARY,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=128,
        initializer_range=0.5,
        attn_implementation=attention,
    )
    model: PreTrainedModel = LlamaForCausalLM(config).eval()
    return model


def gpt2() -> PreTrainedModel:
    """Another architecture, whose positions are learned."""
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=VOCABULARY, n_embd=16, n_layer=2, n_head=2, n_positions=128, initializer_range=0.5)
    model: PreTrainedModel = GPT2LMHeadModel(config).eval()
    return model


SIZES = {"vocab_size": VOCABULARY, "hidden_size": 16, "bos_token_id": None, "eos_token_id": 0, "pad_token_id": 0}
ATTENTION = {"intermediate_size": 16, "num_hidden_layers": 4, "num_attention_heads": 2, "num_key_value_heads": 2}
HEADS = {**SIZES, **ATTENTION, "head_dim": 8}
LAYERS = ["sliding_attention", "full_attention"] * 2
# Models of which some layers see only a part of the text: their configuration, their class and their settings.
WINDOWED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "sliding": ("MistralConfig", "MistralForCausalLM", {**HEADS, "sliding_window": WINDOW}),
    "chunks": (
        "Llama4TextConfig",
        "Llama4ForCausalLM",
        {**HEADS, "intermediate_size_mlp": 16, "num_local_experts": 2, "attention_chunk_size": WINDOW},
    ),
    "local": (
        "GPTNeoConfig",
        "GPTNeoForCausalLM",
        {
            **SIZES,
            "num_layers": 2,
            "num_heads": 2,
            "attention_types": [[["global", "local"], 1]],
            "window_size": WINDOW,
        },
    ),
    "reads images": (
        "Gemma3Config",
        "Gemma3ForConditionalGeneration",
        {
            "text_config": {**HEADS, "sliding_window": WINDOW, "layer_types": LAYERS},
            "vision_config": {"hidden_size": 16, **ATTENTION},
            "image_token_id": VOCABULARY - 1,
        },
    ),
}


def windowed(kind: str) -> PreTrainedModel:
    models: Any = transformers
    config, name, settings = WINDOWED[kind]
    torch.manual_seed(0)
    model: PreTrainedModel = getattr(models, name)(getattr(models, config)(**settings)).eval()
    for weights in model.parameters():
        if weights.dim() > 1:
            torch.nn.init.normal_(weights, std=0.4)
    return model


def expected(model: PreTrainedModel, reading: Reading) -> torch.Tensor:
    """Every place read by itself, without a cache."""
    found = []
    for asked in reading.places:
        path, place = list[int](), asked
        while place != ROOT:
            path.insert(0, reading.tokens[place])
            place = reading.parents[place]
        with torch.no_grad():
            found.append(model(torch.tensor([[*reading.text, *path]])).logits[0, -1])
    return torch.stack(found)


def grown(rng: random.Random, tokens: list[int], parents: list[int], *, chain: bool) -> None:
    for _ in range(rng.randint(1, 4)):
        parents.append(len(tokens) - 1 if chain else rng.randint(-1, len(tokens) - 1))
        tokens.append(rng.randrange(VOCABULARY))


def followed(rng: random.Random, text: list[int], tokens: list[int], parents: list[int]) -> list[int]:
    """What a text may have become: a way down its tree and on, or something else."""
    if rng.random() < 0.15:
        return text[: rng.randint(1, len(text))]
    path, place = list[int](), rng.randint(-1, len(tokens) - 1)
    while place != ROOT:
        path.insert(0, tokens[place])
        place = parents[place]
    return text + path + [rng.randrange(VOCABULARY) for _ in range(rng.randint(0, 2))]


@pytest.mark.parametrize(
    ("model", "batch", "chain"),
    [(llama(), 1, True), (llama(), 1, False), (llama("eager"), 3, False), (llama(), 3, True), (gpt2(), 2, False)],
    ids=["one chain", "one tree", "trees", "chains", "gpt2"],
)
def test_readings_are_those_of_the_model_without_a_cache(model: PreTrainedModel, batch: int, chain: bool) -> None:
    rng = random.Random(7)
    for _ in range(4):
        reader = CachedModel(model, batch)
        texts = [[rng.randrange(VOCABULARY) for _ in range(rng.randint(1, 9))] for _ in range(batch)]
        for _ in range(9):
            trees: list[tuple[list[int], list[int]]] = [([], []) for _ in range(batch)]
            for _ in range(rng.randint(1, 3)):
                readings = list[Reading]()
                for row, (tokens, parents) in enumerate(trees):
                    grown(rng, tokens, parents, chain=chain)
                    places = sorted(rng.sample(range(-1, len(tokens)), rng.randint(1, len(tokens))))
                    if rng.random() < 0.8 or not readings:
                        readings.append(Reading(row, tuple(texts[row]), tuple(tokens), tuple(parents), places))
                before = reader.forwards
                for reading, logits in zip(readings, reader.read(readings), strict=True):
                    torch.testing.assert_close(logits, expected(model, reading), atol=1e-4, rtol=1e-4)
                assert reader.forwards == before + 1
            texts = [followed(rng, text, *tree)[:60] for text, tree in zip(texts, trees, strict=True)]


def test_the_cache_is_gathered_when_most_of_it_is_unused() -> None:
    model, reader, text = llama(), CachedModel(llama(), 2), [3]
    for step in range(40):
        tokens = [(step + index) % VOCABULARY for index in range(6)]
        readings = [Reading(row, text, tokens, [ROOT] * 6, range(-1, 6)) for row in range(2)]
        for reading, logits in zip(readings, reader.read(readings), strict=True):
            torch.testing.assert_close(logits, expected(model, reading), atol=1e-4, rtol=1e-4)
        text = [*text, tokens[-1 - step % 3], 5]
    assert reader._cache.get_seq_length() <= 2 * len(text) + 64 + 8


def test_texts_that_are_not_asked_about_leave_the_batch_and_may_come_back() -> None:
    model, reader, widths = llama(), CachedModel(llama(), 5), list[int]()
    texts = [[row + 1] * (row + 1) for row in range(5)]
    for step in range(40):
        rows = range(5) if step < 3 or step == 30 else (1, 3) if step < 15 else (3,)
        readings = [Reading(row, texts[row], [2, 4], [ROOT, ROOT], [ROOT, 1]) for row in rows]
        for reading, logits in zip(readings, reader.read(readings), strict=True):
            torch.testing.assert_close(logits, expected(model, reading), atol=1e-4, rtol=1e-4)
        widths.append(len(reader._rows))
        texts = [[*text, (4 if step % 2 else step) % VOCABULARY] for text in texts]
    assert (widths[3], widths[12], widths[24], widths[30], widths[39]) == (5, 2, 1, 5, 1)


@pytest.mark.parametrize("file", ["transformers/cache_utils.py", "speculation/cache_slots.py", "speculation/reader.py"])
def test_a_reading_that_is_interrupted_leaves_nothing_behind(file: str) -> None:
    """Ctrl-C may come when some layers have read a token and others have not."""
    model = llama()
    earlier, later = (Reading(0, [1, 2, 3, 4, *more], [5, 6], [-1, 0], [-1, 0, 1]) for more in ([], [5, 7]))
    want, line = expected(model, later), 0
    while True:
        reader = CachedModel(model)
        reader.read([earlier])
        is_interrupted = interrupted(partial(reader.read, [later]), line, file)
        (found,) = reader.read([later])
        torch.testing.assert_close(found, want, atol=1e-5, rtol=0)
        if not is_interrupted:
            break
        line += 4
    assert line > 10


def test_a_chain_that_grows_needs_no_mask_of_slots() -> None:
    model = llama()
    model.config.sliding_window = 8  # with a cache of half of it, a mask of slots is refused
    reader, text = CachedModel(model), [1] * 9
    reader.read([Reading(0, text, [2], [ROOT], [0])])
    reading = Reading(0, text, [2, 3], [ROOT, 0], [1])
    (logits,) = reader.read([reading])
    torch.testing.assert_close(logits, expected(llama(), reading), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", WINDOWED)
@pytest.mark.parametrize("batch", [1, 2])
def test_texts_longer_than_a_window_are_read_right_or_refused(kind: str, batch: int) -> None:
    model, rng, num_read, refused = windowed(kind), random.Random(batch), 0, dict[int, str]()
    for length in range(1, 20):
        reader = CachedModel(model, batch)
        texts = [[rng.randrange(VOCABULARY - 1) for _ in range(length)] for _ in range(batch)]
        for tokens, parents in (([3], [ROOT]), ([3, 5], [ROOT, ROOT])):
            readings = [Reading(row, text, tokens, parents, range(-1, len(tokens))) for row, text in enumerate(texts)]
            try:
                found = reader.read(readings)
            except ValueError as error:
                refused[length] = str(error)
                break
            for reading, logits in zip(readings, found, strict=True):
                torch.testing.assert_close(logits, expected(model, reading), atol=1e-3, rtol=1e-3)
            num_read += 1
    assert num_read > WINDOW
    assert all(f"a window of {WINDOW}" in error for error in refused.values())
    assert WINDOW // 2 < min(refused) <= WINDOW


def test_attention_that_takes_no_masks_is_refused_where_it_needs_them() -> None:
    model = llama()
    model.config._attn_implementation = "flash_attention_2"
    with pytest.raises(ValueError, match="takes no mask of slots"):
        CachedModel(model, 2).read([Reading(0, [1], [], [], [ROOT])])
    model = llama()
    model.config.sliding_window = 8
    reader = CachedModel(model)
    reader.read([Reading(0, [1] * 9, [2, 3], [ROOT, 0], [ROOT, 0, 1])])
    with pytest.raises(ValueError, match="a window of 8"):
        reader.read([Reading(0, [1] * 10, [2, 3], [ROOT, ROOT], [ROOT, 0, 1])])
