"""The names under which a model takes and returns its cache of keys and values.

transformers calls both `cache` from version 5.24 on, and `past_key_values` before. A model that is not part of
transformers may still use the old name for its argument.
"""

from __future__ import annotations

from dataclasses import fields
from inspect import signature
from typing import Any


def cache_argument(model: Any) -> str:
    """Return the name of the argument that takes the cache of a causal language model."""
    from transformers.modeling_outputs import CausalLMOutputWithPast

    if "past_key_values" in signature(getattr(model, "forward", model)).parameters:
        return "past_key_values"
    return "cache" if "cache" in {field.name for field in fields(CausalLMOutputWithPast)} else "past_key_values"


def cache_of(model: Any, output: Any) -> Any:
    """Return the cache of a model's output; None if the model keeps none and must read the whole text again.

    Raises:
        ValueError: the output has no field for one, as with recurrent models, whose state is of another kind.
    """
    for name in ("cache", "past_key_values"):
        if hasattr(output, name):
            return getattr(output, name)
    raise ValueError(
        f"{type(model).__name__} returns no cache of keys and values, on which this loop depends: "
        "take `generate` without speculation"
    )
