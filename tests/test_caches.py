"""The names of a model's cache: transformers calls it `cache` from version 5.24 on, `past_key_values` before."""

from __future__ import annotations

import warnings
from dataclasses import make_dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from decoding import bundled_model
from decoding.inputs.caches import cache_argument, cache_of


def test_a_model_takes_and_returns_its_cache_without_a_warning() -> None:
    model, _ = bundled_model()
    tokens = torch.tensor([[1, 2, 3]])
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        first = model(input_ids=tokens[:, :2], use_cache=True, **{cache_argument(model): None})
        second = model(input_ids=tokens[:, 2:], use_cache=True, **{cache_argument(model): cache_of(model, first)})
        whole = model(input_ids=tokens)
    assert torch.allclose(second.logits[:, -1], whole.logits[:, -1], atol=1e-4)


class _OldNames:
    def forward(self, input_ids: Any, past_key_values: Any = None) -> Any: ...


class _NewNames:
    def forward(self, input_ids: Any, cache: Any = None) -> Any: ...


class _Wrapper:
    def forward(self, *args: Any, **kwargs: Any) -> Any: ...


@pytest.mark.parametrize(
    ("field", "names"),
    [
        ("cache", ["past_key_values", "cache", "cache"]),
        ("past_key_values", ["past_key_values", "past_key_values", "past_key_values"]),
    ],
)
def test_names_in_new_and_old_versions(field: str, names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    output = make_dataclass("Output", ["logits", field])
    monkeypatch.setattr("transformers.modeling_outputs.CausalLMOutputWithPast", output)
    assert [cache_argument(model) for model in (_OldNames(), _NewNames(), _Wrapper())] == names


def test_outputs() -> None:
    assert cache_of(None, SimpleNamespace(cache=1)) == 1
    assert cache_of(None, SimpleNamespace(past_key_values=2)) == 2
