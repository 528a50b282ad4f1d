"""Models that the loops here cannot read by, and those that only look so: an error by name, or a text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers

from automata.errors import IncompleteOutput
from decoding import Speculation, beam_search, best_of_n, bundled_model, generate, stream

WRITERS: tuple[Any, ...] = (generate, stream, beam_search, best_of_n)

models: Any = transformers
DATE = r"\d{4}-[01]\d-[0-3]\d"
SIZES = {"vocab_size": 2048, "eos_token_id": 0, "pad_token_id": 1, "num_hidden_layers": 2}
STATES = {"hidden_size": 32, "state_size": 8}
ATTENTION = {"hidden_size": 32, "intermediate_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2}


@pytest.fixture(scope="module")
def bundled() -> tuple[Any, Any]:
    return bundled_model()


def recurrent(kind: str) -> Any:
    torch.manual_seed(3)
    if kind == "mamba":
        return models.MambaForCausalLM(models.MambaConfig(**SIZES, **STATES)).eval()
    if kind == "mamba2":
        return models.Mamba2ForCausalLM(
            models.Mamba2Config(**SIZES, **STATES, num_heads=8, head_dim=8, n_groups=1)
        ).eval()
    config = models.JambaConfig(
        **SIZES, **ATTENTION, num_experts=2, attn_layer_period=2, attn_layer_offset=1, use_mamba_kernels=False
    )
    return models.JambaForCausalLM(config).eval()


@pytest.mark.parametrize("kind", ["mamba", "mamba2", "jamba"])
def test_recurrent_models_take_no_proposals(kind: str, bundled: tuple[Any, Any]) -> None:
    model, (_, tokenizer) = recurrent(kind), bundled
    (text,) = generate(model, tokenizer, "Born: ", DATE, max_new_tokens=20, temperature=0)
    assert len(text) == 10
    with pytest.raises(ValueError, match="a state that cannot be taken back"):
        generate(model, tokenizer, "Born: ", DATE, max_new_tokens=20, speculation=Speculation())


def test_models_without_a_cache_are_refused_by_name(bundled: tuple[Any, Any]) -> None:
    model, (_, tokenizer) = recurrent("mamba"), bundled
    with pytest.raises(ValueError, match="MambaForCausalLM returns no cache"):
        stream(model, tokenizer, "Born: ", DATE).result()
    for search in (beam_search, best_of_n):
        with pytest.raises(ValueError, match="MambaForCausalLM returns no cache"):
            search(model, tokenizer, "Born: ", DATE, max_new_tokens=20)


def test_linear_biases_are_read_one_text_at_a_time(bundled: tuple[Any, Any]) -> None:
    model = models.BloomForCausalLM(
        models.BloomConfig(vocab_size=2048, hidden_size=16, n_layer=1, n_head=2, eos_token_id=0)
    ).eval()
    (text,) = generate(model, bundled[1], "Born: ", DATE, max_new_tokens=20, speculation=Speculation())
    assert len(text) == 10
    with pytest.raises(ValueError, match="ALiBi"):
        generate(model, bundled[1], ["a", "b"], DATE, max_new_tokens=20, speculation=Speculation())


def test_models_with_an_encoder_are_refused_by_name(bundled: tuple[Any, Any]) -> None:
    config = models.T5Config(vocab_size=2048, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, pad_token_id=1)
    model = models.T5ForConditionalGeneration(config).eval()
    for write in WRITERS:
        with pytest.raises(TypeError, match="T5ForConditionalGeneration has an encoder"):
            write(model, bundled[1], [5, 6], "[a-z]*", max_new_tokens=8)
        with pytest.raises(TypeError, match="not its name"):
            write("gpt2", bundled[1], [5, 6], "[a-z]*", max_new_tokens=8)


def test_padding_that_only_the_tokenizer_has(bundled: tuple[Any, Any]) -> None:
    model, tokenizer = bundled_model()
    tokenizer.add_special_tokens({"pad_token": "[PAD]"})
    assert tokenizer.pad_token_id >= model.get_input_embeddings().num_embeddings
    texts = generate(model, tokenizer, ["a", "much longer"], ["yes", "maybe later"], max_new_tokens=20)
    assert texts == ["yes", "maybe later"]


@pytest.mark.parametrize("constraint", ["[A-Za-z]*", None])
def test_padding_that_writes_something_is_no_part_of_a_text(constraint: str | None) -> None:
    model, tokenizer = bundled_model()
    options: dict[str, Any] = {"max_new_tokens": 30, "temperature": 0, "stop_strings": ["e"]}
    (alone,) = generate(model, tokenizer, "Name: ", constraint, **options)
    tokenizer.pad_token = "a"
    texts = generate(model, tokenizer, ["Name: ", "Something "], [constraint, "b{20}"], **options)
    assert texts == [alone, "b" * 20]


def test_wrapped_models(bundled: tuple[Any, Any]) -> None:
    model, tokenizer = bundled
    wrapped: Any = torch.compile(model, backend="eager")
    for one in (model, wrapped):
        (found,) = beam_search(one, tokenizer, ["a"], "yes|no", max_new_tokens=6)
        assert {hypothesis.text for hypothesis in found} <= {"yes", "no"}


def test_stop_strings_of_the_model_and_with_beams(bundled: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = bundled
    texts = generate(
        model, tokenizer, ["a", "b"], ["yes", "maybe later"], max_new_tokens=20, stop_strings=["yes"], num_beams=2
    )
    assert texts == ["yes", "maybe later"]
    monkeypatch.setattr(model.generation_config, "stop_strings", ["yes"])
    assert generate(model, tokenizer, "a", "yes", max_new_tokens=20) == ["yes"]
    with pytest.raises(IncompleteOutput):
        generate(model, tokenizer, "a", "yes!", max_new_tokens=20)


def test_numbers_of_numpy_are_token_ids_and_a_limit_of_the_whole_is_refused(bundled: tuple[Any, Any]) -> None:
    model, tokenizer = bundled
    prompts: Any = [[np.int64(5), np.int64(6)]]
    assert generate(model, tokenizer, prompts, "yes", max_new_tokens=8) == ["yes"]
    with pytest.raises(ValueError, match="max_new_tokens"):
        generate(model, tokenizer, "a", "yes", max_length=8)


def test_layers_that_are_no_attention_take_no_proposals(bundled: tuple[Any, Any]) -> None:
    config = models.Lfm2Config(**SIZES, **ATTENTION, layer_types=["conv", "full_attention"])
    model = models.Lfm2ForCausalLM(config).eval()
    with pytest.raises(ValueError, match="a state that cannot be taken back"):
        generate(model, bundled[1], "Born: ", DATE, max_new_tokens=20, speculation=Speculation())
