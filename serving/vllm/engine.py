"""Functions for both adapters for vLLM: the vocabulary of an engine's tokenizer, and the check of a constraint.

The front end checks requests in the thread that serves them all. So it reads a constraint only if it is not long, and
only within a short deadline, and leaves all others to the engine.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from automata.errors import LimitExceeded
from serving.settings import settings_from_environment
from serving.specifications import REFUSED, Kind, constraint_of, refusal
from tokenfst.loaders import from_transformers
from tokenfst.unique_items.language import SupportsUniqueItems
from tokenfst.vocabulary import Vocabulary

# The time that the front end may take to read a constraint, in seconds.
_READING_SECONDS: Final = 0.1
# The greatest length of a constraint that the front end reads, in characters; parsing does not look at the clock.
_LONGEST_READ: Final = 1 << 18
# The greatest length of a constraint whose check is cached, in characters.
_LONGEST_KEPT: Final = 1 << 16


def check_constraint(kind: Kind, text: str, *, on_device: bool = False) -> None:
    """Raise ValueError if reading a constraint for a short time shows that it cannot be honoured.

    Args:
        kind, text: as for `constraint_of`.
        on_device: whether the constraint must have tables, because masks are made on the device.
    """
    if len(text) > _LONGEST_READ:
        return
    try:
        reason = (_kept_reason if len(text) <= _LONGEST_KEPT else _reason)(kind, text, on_device)
    except _OutOfTime:
        return
    if reason:
        raise ValueError(reason)


class _OutOfTime(Exception):
    """The deadline has passed; not cached, because the next attempt may succeed."""


def _reason(kind: Kind, text: str, on_device: bool) -> str:
    """Return why a constraint cannot be honoured; "" if it can.

    Raises:
        _OutOfTime: reading it takes longer than the front end allows.
    """
    limits = replace(settings_from_environment().limits, seconds=_READING_SECONDS)
    try:
        constraint = constraint_of(kind, text, limits=limits)
        if on_device and isinstance(constraint, SupportsUniqueItems) and constraint.unique_arrays() is not None:
            constraint.to_visibly_pushdown()  # raises the reason
    except LimitExceeded as error:
        if error.limit == "seconds":
            raise _OutOfTime from None
        return str(error)
    except REFUSED as error:
        return refusal(error)
    return ""


# Servers get the same constraints again and again.
_kept_reason = lru_cache(1024)(_reason)


def engine_vocabulary(tokenizer: Any, model_config: Any, width: int) -> Vocabulary:
    """Return the vocabulary of the tokens that have logits, with all end tokens in the model's generation settings.

    In the front end, where vLLM's beam search makes a backend, vLLM replaces the methods of the tokenizer's class by
    those of a pool of tokenizers. So this reads a copy with the class from `transformers`.

    Args:
        tokenizer: a fast tokenizer of `transformers`.
        model_config: the engine's settings for the model.
        width: the width of the model's logits.

    Raises:
        UnsupportedTokenizer: the tokenizer cannot be modelled exactly.
    """
    if not type(tokenizer).__module__.startswith("transformers"):
        classes = type(tokenizer).__mro__
        plain = next((each for each in classes if each.__module__.startswith("transformers")), None)
        if plain is not None:
            tokenizer = copy(tokenizer)
            tokenizer.__class__ = plain
    named = model_config.try_get_generation_config().get("eos_token_id")
    ends = set(named if isinstance(named, list) else [named]) | {tokenizer.eos_token_id}
    return from_transformers(tokenizer, eos_ids=sorted(end for end in ends if end is not None)).truncated(width)
