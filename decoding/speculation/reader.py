"""Readers: from texts and trees of tokens to logits, by a causal model and its cache.

    Reading        a text, a tree of tokens after it, and the places whose logits are wanted
    Reader         from readings to logits; remembers what it has read, and need not be told what was accepted
    CachedModel    a model of `transformers` for a batch of texts

A reader compares a request with the contents of its cache and reads only the rest, in one forward pass for the whole
batch. So nothing has to be undone: a text that does not continue as proposed is just another text.

Each token that was read has a slot in the cache, and each text has a list of its slots in order
(`decoding.speculation.cache_slots`). The slots of refused tokens are masked out, or cut off if they are at the end of
the cache. If less than half of the cache is in use, it is compacted. With one text and only chains, the slots are in
order, and the model is called as for any other text; otherwise, the attention mask lets a token attend to the slots of
its text and of its ancestors in the tree. Texts that have ended are removed from the batch when they are half of it.

Rejected: a batch row for each branch of a tree (the cache would be copied for each); reading a batch one by one (a
forward pass takes as long for one text as for several).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from transformers import DynamicCache

from decoding.inputs.caches import cache_argument
from decoding.speculation.cache_slots import CachedText, NewTokens
from decoding.speculation.tree import Tree

Mask = npt.NDArray[np.bool_]

# The cache is compacted only if it has more unused slots than used ones, and this many besides.
_MIN_HOLES = 64
# Forward passes after which a text that was not asked about may be dropped; if it is needed later, it is read again.
_IDLE = 8
_ALONE = "write one text at a time, and chains"
# The kinds of layers whose part of a cache can be cut back.
_CUT_BACK = frozenset(["full_attention", "sliding_attention", "chunked_attention"])
# Settings that say how many tokens some layers see; `window_size` belongs to GPT-Neo, whose layers may all be global.
_WINDOWS = ("sliding_window", "sliding_window_size", "attention_chunk_size", "keep_window_size", "window_size")
# Models that always have linear biases; others say so in their configuration.
_ALIBI = ("bloom", "mpt")


class Reading(NamedTuple):
    """A request for logits after one text.

    Attributes:
        row: the number of the text in the batch.
        text: the tokens of the text, at least one.
        tokens, parents: the nodes of a tree after the text (`Tree`).
        places: the places whose logits are requested, at least one: nodes, or -1 for the text itself.
    """

    row: int
    text: Sequence[int]
    tokens: Sequence[int]
    parents: Sequence[int]
    places: Sequence[int]


def reading_of(tree: Tree[Any], places: Sequence[int]) -> Reading:
    """Return the request for the logits at some places of a tree."""
    return Reading(tree.text.row, tree.text.tokens, tree.tokens, tree.parents, places)


class Reader(Protocol):
    """Returns the logits of next tokens.

    Attributes:
        forwards: the number of forward passes so far.
    """

    forwards: int

    def read(self, readings: Sequence[Reading]) -> list[Tensor]:
        """Return the logits of the token after each requested place, `[P, V]` for each reading.

        Args:
            readings: requests for different rows, at least one.
        """


class CachedModel:
    """A causal model of `transformers` and its cache for a batch of texts.

    Attributes:
        model: the model; it must have plain causal attention if several texts or branches are read at once. Layers may
            see a window of the text as long as the whole cache fits into it.
        forwards: the number of forward passes so far.
    """

    def __init__(self, model: Any, batch: int = 1) -> None:
        """Make a reader.

        Args:
            model: a causal language model.
            batch: B, the number of texts.

        Raises:
            ValueError: the model has a state that cannot be taken back, as recurrent models have.
        """
        layers = getattr(_text_config(model), "layer_types", None) or ()
        if getattr(model, "_is_stateful", False) or not set(layers) <= _CUT_BACK:
            raise ValueError(_recurrent(model))
        self.model = model
        self.forwards = 0
        self._batch = batch
        # True from the beginning of a reading until its end, and after an exception in between.
        self._is_reading = False
        self._start_over()
        self._cache_argument = cache_argument(model)
        self._keeps_logits = "logits_to_keep" in inspect.signature(model.forward).parameters

    def read(self, readings: Sequence[Reading]) -> list[Tensor]:
        """Return the logits of the token after each requested place, `[P, V]` for each reading.

        Raises:
            ValueError: there are several texts or branches, and the model's attention cannot be masked slot by slot.
        """
        if self._is_reading:
            # An exception may have left layers of the cache with different lengths, or slots with unknown contents.
            self._start_over()
        self._is_reading = True
        self._admit({reading.row for reading in readings})
        for reading in readings:
            self._rows[reading.row].follow(reading.text, reading.tokens, reading.parents, reading.places)
        slots = self._tidy()
        news = {reading.row: NewTokens(self._rows[reading.row], reading.places) for reading in readings}
        width = max(len(new) for new in news.values())
        mask = None if self._is_plain(news) else self._mask(news, slots, width)
        logits = self._forward(news, mask, width)
        for new in news.values():
            new.take(slots + width - len(new))
        self._is_reading = False
        lanes = self._lanes()
        return [logits[lanes[reading.row], news[reading.row].from_end(reading.places)] for reading in readings]

    def _start_over(self) -> None:
        # The texts in the cache, in the order of its batch; and the number of readings since each was last asked about.
        self._rows = {row: CachedText() for row in range(self._batch)}
        self._idle = dict.fromkeys(self._rows, 0)
        self._cache = DynamicCache()

    def _admit(self, asked: set[int]) -> None:
        """Drop the texts that have not been asked about for a while, once they are half of the cache."""
        if not asked <= self._rows.keys():
            self._start_over()
        self._idle = {row: 0 if row in asked else self._idle[row] + 1 for row in self._rows}
        kept = [row for row in self._rows if self._idle[row] < _IDLE]
        if 2 * len(kept) <= len(self._rows):
            lanes = self._lanes(kept)
            index: Any = torch.tensor([*lanes.values()], device=self.model.device)
            self._cache.reorder_cache(index)
            self._rows = {row: self._rows[row] for row in kept}

    def _lanes(self, rows: Iterable[int] | None = None) -> dict[int, int]:
        """Return the places of some rows in the cache's batch, or of all rows."""
        lanes = {row: lane for lane, row in enumerate(self._rows)}
        return lanes if rows is None else {row: lanes[row] for row in rows}

    def _forward(self, news: dict[int, NewTokens], mask: Mask | None, width: int) -> Tensor:
        """Read the new tokens of each row in one forward pass, padded on the left."""
        ids, positions = np.zeros((2, len(self._rows), width), np.int64)
        for row, lane in self._lanes(news).items():
            ids[lane, width - len(news[row]) :] = news[row].tokens
            positions[lane, width - len(news[row]) :] = news[row].positions
        device, options = self.model.device, dict[str, Any]({self._cache_argument: self._cache})
        if mask is not None:
            unseen = torch.from_numpy(~mask).to(device)[:, None]
            options["attention_mask"] = torch.zeros(unseen.shape, dtype=self.model.dtype, device=device)
            options["attention_mask"].masked_fill_(unseen, torch.finfo(self.model.dtype).min)
        if self._keeps_logits:
            options["logits_to_keep"] = max(new.num_wanted for new in news.values())
        with torch.no_grad():
            output = self.model(
                input_ids=torch.from_numpy(ids).to(device),
                position_ids=torch.from_numpy(positions).to(device),
                use_cache=True,
                **options,
            )
        self.forwards += 1
        if self._cache.get_seq_length() == 0:
            raise ValueError(_recurrent(self.model))
        logits: Tensor = output.logits
        return logits

    def _is_plain(self, news: dict[int, NewTokens]) -> bool:
        """Return whether the cache has one text, which the new tokens continue slot by slot."""
        return len(self._rows) == 1 and all(new.is_chain() for new in news.values())

    def _mask(self, news: dict[int, NewTokens], slots: int, width: int) -> Mask:
        """Return which slots each token sees, `[B, N, slots + N]`."""
        self._require_plain_attention(slots + width)
        mask = np.zeros((len(self._rows), width, slots + width), np.bool_)
        # Padding sees itself, because attention to nothing is not defined.
        mask[:, np.arange(width), slots + np.arange(width)] = True
        for row, lane in self._lanes(news).items():
            news[row].show(mask[lane, width - len(news[row]) :])
        return mask

    def _require_plain_attention(self, slots: int) -> None:
        """Raise ValueError unless the model's attention to this many slots is decided by the mask alone."""
        config = _text_config(self.model)
        attention = getattr(config, "_attn_implementation", None) or "eager"
        if attention not in ("eager", "sdpa"):
            raise ValueError(f"attention {attention!r} takes no mask of slots: {_ALONE}")
        if getattr(config, "alibi", False) or getattr(config, "model_type", "") in _ALIBI:
            raise ValueError(f"attention with linear biases (ALiBi) takes no mask of slots: {_ALONE}")
        window = _window(config)
        if window is not None and slots > window:
            raise ValueError(f"attention in a window of {window} takes no mask of slots: {_ALONE}")

    def _tidy(self) -> int:
        """Cut off unused slots at the end; return how many are left."""
        slots = self._cache.get_seq_length()
        used = max(row.num_slots() for row in self._rows.values())
        if not used:
            self._cache = DynamicCache()
        elif used < slots:
            self._cache.crop(used - slots)
        longest = max(len(row.used()) for row in self._rows.values())
        return self._gather(longest) if used > 2 * longest + _MIN_HOLES else used

    def _gather(self, longest: int) -> int:
        """Move the used slots to the front of the cache; return how many slots are left."""
        index = np.zeros((len(self._rows), longest), np.int64)
        for lane, row in enumerate(self._rows.values()):
            index[lane, : len(row.used())] = row.used()
            row.move_to_front()
        where = torch.from_numpy(index).to(self.model.device)[:, None, :, None]
        layers: list[Any] = self._cache.layers
        for layer in layers:
            layer.keys = layer.keys.gather(2, where.expand(-1, layer.keys.shape[1], -1, layer.keys.shape[3]))
            layer.values = layer.values.gather(2, where.expand(-1, layer.values.shape[1], -1, layer.values.shape[3]))
        return longest


def _text_config(model: Any) -> Any:
    """Return the configuration of a model, or of its part for texts if it reads images too; None if there is none."""
    config: Any = getattr(model, "config", None)
    return config.get_text_config(decoder=True) if hasattr(config, "get_text_config") else config


def _window(config: Any) -> int | None:
    """Return the number of tokens that every layer sees at least; None if all layers see all tokens."""
    sizes = {name: getattr(config, name, None) for name in _WINDOWS}
    if "local" not in (getattr(config, "attention_layers", None) or ()):
        del sizes["window_size"]
    return min((size for size in sizes.values() if size is not None), default=None)


def _recurrent(model: Any) -> str:
    return (
        f"{type(model).__name__} has a state that cannot be taken back, and so it cannot read proposals: leave out "
        "`speculation`"
    )
