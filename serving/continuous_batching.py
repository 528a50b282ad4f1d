"""A constraint for each request in the continuous batching of `transformers`.

    manager = constrained_batching(model, tokenizer)
    manager.start()
    manager.add_request(tokens, max_new_tokens=100, constraint=automaton)

`transformers` makes the processors of a batch only from the generation settings, and accepts no others. So a manager is
made as usual, and then `Constraints` is inserted at the front of the manager's own list of processors:

    manager.logit_processor.logits_processor    `Constraints` is its first element, before top-k and top-p
    manager.logit_processor.tensors_required    increased by one
    manager.logit_processor.supported_keys      `constraint`, whose value is a `TokenAutomaton`
    manager.logit_processor.do_processing       True

Nothing else is changed, neither in the model nor in a module.

A request that cannot be honoured must not affect the others, but an exception in the manager's thread would fail all of
them. So end tokens end such a request, and its `GenerationOutput.error` gives the reason.

Not supported: asynchronous batching, which prepares a batch before the tokens of the previous batch are known, so that
the host cannot follow them; accelerator graphs, which would replay old masks; tensor parallelism, which sends requests
to other processes; and a manager that the model keeps from an earlier session.

Rejected: `ConstraintLogitsProcessor` in the list (it would get the last token of each request, without the text before
it); replacing `_get_logits_processor` of the model.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
import transformers
from torch import Tensor

from automata.errors import TokenfstError
from decoding.arena.bits import tokens_of_byte, unpacked
from decoding.devices import sent
from decoding.inputs.constraints import check_has_end, check_limit, check_vocabulary, check_width
from decoding.inputs.vocabularies import vocabulary_of
from decoding.masking.costs import subtract_costs
from serving.sequences import SequenceTracker
from tokenfst.packed_words import set_only
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary

try:
    from transformers import ContinuousBatchingConfig
    from transformers.generation.continuous_batching.cb_logits_processors import ContinuousBatchingLogitsProcessor
except ImportError as error:
    raise ImportError(f"transformers {transformers.__version__} has no processors by request: {error}") from None

logger = logging.getLogger(__name__)

# The methods that `Constraints` implements, with their expected parameters, and the fields that are changed.
_METHODS: Final = {
    "fill_defaults": ["self", "int32_tensor"],
    "prepare_tensor_args": ["self", "requests_with_new_token"],
    "__call__": ["self", "scores", "tensor_arg"],
}
_FIELDS: Final = ("logits_processor", "tensors_required", "supported_keys", "do_processing")
# The share of a device's free memory that a manager takes if logits are processed, as in `transformers`.
_MEMORY: Final = 0.8


def constrained_batching(
    model: Any,
    tokenizer: Any,
    *,
    generation_config: Any = None,
    continuous_batching_config: Any = None,
) -> Any:
    """Return a manager of continuous batching whose requests may have a constraint.

    Its `add_request` takes `constraint`, an automaton over the vocabulary; `start` and `stop` are those of
    `transformers`. A text is complete within the `max_new_tokens` of its request, including the end token. A request
    whose constraint cannot be honoured ends early, and its `GenerationOutput` has an `error`.

    Args:
        model: the model.
        tokenizer: the model's fast tokenizer, or its `Vocabulary`.
        generation_config, continuous_batching_config: as for `model.init_continuous_batching`.

    Raises:
        ValueError: the settings ask for asynchronous batching, accelerator graphs or tensor parallelism; the model
            keeps a manager from an earlier session; or no end token of the vocabulary ends a request.
        VocabularyError: the vocabulary has no end token, or is not the model's.
        RuntimeError: this version of `transformers` is not as expected; the message says what differs.
    """
    vocabulary, width = vocabulary_of(tokenizer, model), model.config.get_text_config().vocab_size
    check_width(width, vocabulary)
    settings = model.generation_config if generation_config is None else generation_config
    _check_ends(vocabulary, settings.eos_token_id)
    config = _synchronous(continuous_batching_config or ContinuousBatchingConfig())
    if getattr(model, "_device_mesh", None) is not None:
        raise ValueError("constraints per request are not supported with tensor parallelism")
    if getattr(model, "_cached_continuous_batching_manager", None) is not None:
        raise ValueError("the model still has a manager: call model.destroy_cached_continuous_batching_manager() first")
    manager = model.init_continuous_batching(generation_config=settings, continuous_batching_config=config)
    problem = _unexpected(manager)
    if problem:
        raise RuntimeError(f"constraints cannot be put into transformers {transformers.__version__}: {problem}")
    masks, processors = Constraints(vocabulary, width, model.device), manager.logit_processor
    processors.logits_processor.insert(0, masks)
    processors.tensors_required += 1
    processors.supported_keys.update(masks.supported_kwargs)
    processors.do_processing = True
    if config.max_memory_percent is None:
        resolved = manager.continuous_batching_config
        resolved.max_memory_percent = min(resolved.max_memory_percent, _MEMORY)
    return manager


def _check_ends(vocabulary: Vocabulary, eos: int | Sequence[int] | None) -> None:
    check_has_end(vocabulary)
    ends = [] if eos is None else [eos] if isinstance(eos, int) else list(eos)
    if not set(ends) & set(vocabulary.eos_ids):
        raise ValueError(f"requests end at {ends} (eos_token_id), the texts of the vocabulary at {vocabulary.eos_ids}")


def _synchronous(config: Any) -> Any:
    """Return the settings without asynchronous batching and accelerator graphs, which the host cannot follow."""
    if config.use_async_batching:
        raise ValueError(
            "use_async_batching prepares a batch before the tokens of the one before are known, so no constraint can "
            "follow them: leave it out, or set it to False"
        )
    graphs = config.use_cuda_graph
    if graphs is True or (isinstance(graphs, tuple) and any(graphs)):
        raise ValueError("use_cuda_graph replays the masks that it has recorded: leave it out, or set it to False")
    return replace(config, use_async_batching=False, use_cuda_graph=False)


def _unexpected(manager: Any) -> str:
    """Return a difference from the `transformers` that this was written for; "" if there is none."""
    for name, expected in _METHODS.items():
        found = list(inspect.signature(getattr(ContinuousBatchingLogitsProcessor, name)).parameters)
        if found != expected:
            return f"{name} of its processors takes ({', '.join(found)}), not ({', '.join(expected)})"
    missing = [name for name in _FIELDS if not hasattr(manager.logit_processor, name)]
    if missing:
        return f"its list of processors has no {missing[0]}"
    if manager.batch_processor is not None:
        return "a manager begins before it is started"
    resolved = manager.continuous_batching_config
    return "use_async_batching is not kept at False" if resolved.use_async_batching else ""


class Constraints(ContinuousBatchingLogitsProcessor):
    """The masks of a batch; made by `constrained_batching`.

    The first rows of the logits are those of the requests that get a token, in order. The rows after them are padding
    and keep the arguments of earlier batches, so arguments are ignored.
    """

    def __init__(self, vocabulary: Vocabulary, width: int, device: torch.device) -> None:
        """Begin without requests.

        Args:
            vocabulary: the tokens.
            width: the width of the logits.
            device: the device of the logits.
        """
        self.supported_kwargs = {"constraint": TokenAutomaton}
        self.ignored_kwargs = ()
        self.vocabulary, self.width = vocabulary, width
        self._trackers: dict[str, SequenceTracker] = {}
        self._words = torch.full((0, -(-width // 32)), -1, dtype=torch.int32)
        self._positions: list[tuple[TokenAutomaton, Any] | None] = []
        self._by_byte = tokens_of_byte(device)
        # A compiled forward pass would keep the masks of the batch for which it was compiled.
        self._masked = torch.compiler.disable(self._masked_now)

    def fill_defaults(self, int32_tensor: Tensor) -> None:
        """Fill in arguments, which are ignored."""
        int32_tensor.zero_()

    def prepare_tensor_args(self, requests_with_new_token: list[Any]) -> Tensor:
        """Make the masks of the requests that get a token, and return arguments, `[n]` int32."""
        words = np.full((len(requests_with_new_token), self._words.shape[1]), -1, np.int32)
        before, self._trackers, self._positions = self._trackers, {}, []
        for row, request in zip(words, requests_with_new_token, strict=True):
            state = request.state
            automaton = state.logit_processor_kwargs.get("constraint")
            tracker = None if automaton is None else self._filled(state, automaton, before.get(state.request_id), row)
            if tracker is not None:
                self._trackers[state.request_id] = tracker
            open_at = None if tracker is None or tracker.matcher.has_ended else (automaton, tracker.matcher.state)
            self._positions.append(open_at)
        self._words = torch.from_numpy(words)
        return torch.zeros(len(words), dtype=torch.int32)

    def _filled(
        self, state: Any, automaton: TokenAutomaton, tracker: SequenceTracker | None, words: npt.NDArray[np.int32]
    ) -> SequenceTracker | None:
        """Write the mask of a request; return its tracker, or None if only end tokens are left."""
        if state.error is None:
            try:
                return self._following(state, automaton, tracker, words)
            except TokenfstError as error:
                state.error = f"{type(error).__name__}: {error}"
                logger.warning("request %s is ended without its constraint: %s", state.request_id, state.error)
        set_only(words, self.vocabulary.eos_words)
        return None

    def _following(
        self, state: Any, automaton: TokenAutomaton, tracker: SequenceTracker | None, words: npt.NDArray[np.int32]
    ) -> SequenceTracker:
        # If the manager evicted the request from its cache, it moved the written tokens to the end of the prompt.
        written = state.to_generation_output().generated_tokens
        remaining = None if state.max_new_tokens is None else state.max_new_tokens - len(state.generated_tokens)
        if tracker is None or tracker.matcher.automaton is not automaton:
            check_vocabulary(automaton, self.vocabulary)
            if remaining is not None and not written:
                check_limit(automaton, remaining)
            tracker = SequenceTracker(automaton)
        tracker.follow(written)
        matcher = tracker.matcher
        automaton.fill_bitmask(matcher.state, words, None if matcher.has_ended else remaining)
        return tracker

    def __call__(self, scores: Tensor, tensor_arg: Tensor) -> Tensor:
        """Return the masked scores, `[rows, V]`, with the costs of tokens subtracted.

        Args:
            scores: the logits of the requests that get a token, and of padding after them.
            tensor_arg: ignored.
        """
        masked: Tensor = self._masked(scores)
        return masked

    def _masked_now(self, scores: Tensor) -> Tensor:
        words = sent(self._words, scores.device)
        if not len(words):
            return scores
        mask = unpacked(words, scores.shape[1], self._by_byte)
        found = subtract_costs(scores, self._positions).clone()
        found[: len(words)].masked_fill_(~mask, float("-inf"))
        return found
