"""DeviceProcessor: masks made on the device, as a logits processor of vLLM's Model Runner V2.

    vllm serve MODEL --logits-processors serving.vllm.device:DeviceProcessor
    {"model": ..., "prompt": ..., "vllm_xargs": {"tokenfst": "{\\"json\\": {\\"type\\": \\"integer\\"}}"}}
    SamplingParams(extra_args={"tokenfst": {"regex": "[0-9]+"}})

To the scheduler, such a request has no constraint: no mask is made on the host, none is sent, and no step waits for the
tokens of the previous one. The states of the slots and the automata are on the device (`serving.vllm.slot_states`,
`serving.vllm.residence`), and `apply` reads nothing on the host.

vLLM's interface determines the following:

    where                vLLM calls                  what the call may do
    front end            `validate_params`           refuse a request, with status 400. It serves all requests in this
                                                     thread and gets no tokenizer, so it reads constraints but does not
                                                     compile them
    each worker          `add_request`               not refuse: an exception ends the engine. A request cannot wait
                                                     while others continue, so constraints are compiled in threads
    each worker          `apply_staged_writes`       wait for these before the step, for `TOKENFST_STEP_SECONDS` at most
    each worker          `apply`                     change logits, after biases, penalties and other masks, and before
                                                     temperature

If compiling a constraint fails in a worker, it is too late to refuse the request. Then only the end is allowed: the
text is empty, and the reason is in the log. Likewise, if there is no room for an automaton next to the others of its
step, its text ends at once. To continue without the constraint would silently break it; to raise would end the engine.

If the constraint allows only tokens that others have masked, these are allowed again. Drafts are not checked before
they are verified, unlike those of structured outputs; tokens that are not allowed are then refused, because their
probability is 0. vLLM forces tokens beyond a thinking budget after `apply`, so a request must not have such a budget.

The ranks of tensor parallelism each draw tokens themselves, so they agree on which constraints were compiled in time.

Rejected: the interface of the older runner, which refuses speculative decoding and holds tokens in lists on the host; a
request that is also a structured output (masks would be made on the host); an entry point `vllm.logits_processors`
(each runner refuses the classes of the other, and an installed one would stop engines that do not use it).
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Final, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor
from vllm.distributed import get_tp_group
from vllm.sampling_params import SamplingParams
from vllm.tokenizers import cached_tokenizer_from_config
from vllm.v1.worker.gpu.sample.logits_processor.interface import LogitsContext, LogitsProcessor, LogitsProcRequestState

from automata.errors import EmptyLanguage, LimitExceeded
from decoding.arena import FREE_SLOT, Arena
from decoding.arena.block import Block
from serving.settings import settings_from_environment
from serving.specifications import Kind
from serving.vllm.block_compiler import BlockCompiler
from serving.vllm.engine import check_constraint, engine_vocabulary
from serving.vllm.residence import Residence
from serving.vllm.slot_states import Entering, Rows, SlotStates

# The key in `SamplingParams.extra_args`, and in `vllm_xargs` of requests.
ARGUMENT: Final = "tokenfst"
# The greatest number of stop tokens of a request; each step compares tokens with all of them.
_MAX_STOPS: Final = 128
# Seconds that a step waits for a constraint beyond what its compilation may take.
_GRACE: Final = 0.5
_MAX_SHOWN: Final = 80

logger = logging.getLogger(__name__)


class _Waiting(NamedTuple):
    """A request that enters with the next step.

    Attributes:
        block: a future of the block of its constraint; None for a request without a constraint.
        stops: tokens that end its text.
        shown: the beginning of its constraint.
    """

    block: Future[Block] | None
    stops: tuple[int, ...] = ()
    shown: str = ""


class DeviceProcessor(LogitsProcessor):
    """Masks the logits of requests that have a constraint in `extra_args`.

    Attributes:
        arena: the automata on the device.
        states: the states of requests.
        compiler: compiles constraints.
        agreed: from flags, which of n blocks this rank has made, to flags, which ones all ranks that draw tokens have.
    """

    def __init__(self, vllm_config: Any, req_states: LogitsProcRequestState) -> None:
        """Make an arena of the size given by the settings, while vLLM measures how much memory is left.

        Raises:
            ValueError: a setting of the engine prevents constraints from being guaranteed.
            UnsupportedTokenizer: the engine's tokenizer cannot be modelled exactly.
        """
        _check_engine(vllm_config)
        settings = settings_from_environment()
        model, size = vllm_config.model_config, req_states.max_num_reqs
        self.arena = Arena(
            engine_vocabulary(cached_tokenizer_from_config(model), model, req_states.vocab_size),
            req_states.device,
            width=req_states.vocab_size,
            max_bytes=settings.arena_bytes,
            max_slots=size + 1,
        )
        self.states = SlotStates(self.arena, size, vllm_config.num_speculative_tokens)
        limits = replace(settings.limits, seconds=settings.step_seconds)
        self.compiler = BlockCompiler(
            self.arena, limits=limits, max_bytes=settings.cache_bytes, threads=settings.threads
        )
        self.agreed = _agreement(vllm_config.parallel_config)
        self._engine, self._residence = req_states, Residence(self.arena)
        # By slot: requests whose constraints are being compiled, and those that have not been in a step yet.
        self._waiting, self._new = dict[int, _Waiting](), dict[int, tuple[int, ...]]()
        self._blocks: list[Block | None] = [None] * size
        self._is_constrained = np.zeros(size, bool)
        # A copy of the flags on the device; nothing waits for it, so it may be some steps late.
        self._unfinished = torch.zeros(size, dtype=torch.bool, pin_memory=req_states.device.type == "cuda")
        self._reported = np.zeros(size, bool)

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        """Refuse a request whose constraint cannot be honoured, as far as the front end can tell.

        Raises:
            ValueError: vLLM's answer is a 400 with the place and the reason.
        """
        asked = _asked(sampling_params)
        if asked is None:
            return
        structured = sampling_params.structured_outputs
        if structured is not None and not structured.all_constraints_none():
            raise ValueError(f"a request has a constraint in {ARGUMENT!r} or in structured outputs, not in both")
        if sampling_params.thinking_token_budget is not None:
            raise ValueError(f"{ARGUMENT}: vLLM would force tokens over a constraint to keep a thinking_token_budget")
        if len(sampling_params.stop_token_ids or ()) > _MAX_STOPS:
            raise ValueError(f"{ARGUMENT}: a request with a constraint has at most {_MAX_STOPS} stop tokens")
        try:
            check_constraint(*asked, on_device=True)
        except ValueError as error:
            raise ValueError(f"{ARGUMENT}: {error}") from None

    def add_request(self, req_idx: int, sampling_params: SamplingParams) -> bool:
        """Start compiling the constraint of a request; return whether it has one."""
        is_known = req_idx in self._waiting or req_idx in self._new or self._is_constrained[req_idx]
        for by_slot in (self._waiting, self._new):
            by_slot.pop(req_idx, None)
        self._blocks[req_idx] = None
        try:
            asked = _asked(sampling_params)
        except ValueError as error:  # a request that bypassed the front end
            failed: Future[Block] = Future()
            failed.set_exception(error)
            self._waiting[req_idx] = _Waiting(failed)
            return True
        if asked is None:
            if is_known:
                self._waiting[req_idx] = _Waiting(None)
            return False
        stops = sorted({each for each in sampling_params.stop_token_ids or () if 0 <= each < self.arena.width})
        shown = f"{asked[0]} {asked[1]}"[:_MAX_SHOWN]
        self._waiting[req_idx] = _Waiting(self.compiler.submit(*asked), tuple(stops), shown)
        return True

    def apply_staged_writes(self) -> None:
        """Wait for the constraints of the requests that enter with this step."""
        self._report()
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, {}
        blocks = self._compiled(waiting)
        for slot, each in waiting.items():
            self._new[slot], self._blocks[slot] = each.stops, blocks.get(slot)
            self._is_constrained[slot] = each.block is not None
            self._unfinished[slot] = self._reported[slot] = False

    def apply(self, logits: Tensor, ctx: LogitsContext) -> Tensor:
        """Mask the logits of the requests that have a constraint, in place.

        Args:
            logits: `[R, V]` float32.
            ctx: vLLM's description of the rows.
        """
        if not self._is_constrained[ctx.idx_mapping_np].any():
            return logits
        batch = ctx.idx_mapping_np.tolist()
        self._bring(batch)
        self._enter([slot for slot in batch if slot in self._new])
        number, position = ctx.expanded_local_pos.long(), ctx.pos.long()
        rows = Rows(ctx.idx_mapping, ctx.expanded_idx_mapping, number, ctx.input_ids, position)
        self.states.apply_(logits, rows)
        self._unfinished.copy_(self.states.unfinished, non_blocking=True)
        return logits

    def _compiled(self, waiting: Mapping[int, _Waiting]) -> dict[int, Block]:
        """Return the blocks of requests by slot; those that failed on any rank are logged and left out."""
        until = time.monotonic() + self.compiler.limits.seconds + _GRACE
        found: dict[int, Block | Exception] = {}
        for slot, each in waiting.items():
            if each.block is not None:
                try:
                    found[slot] = each.block.result(max(0.0, until - time.monotonic()))
                except Exception as error:  # whatever it is, it would end the engine
                    found[slot] = error
        agreed = self.agreed([isinstance(each, Block) for each in found.values()]) if found else []
        blocks: dict[int, Block] = {}
        for (slot, one), is_agreed in zip(found.items(), agreed, strict=True):
            if isinstance(one, Block) and is_agreed:
                blocks[slot] = one
            else:
                reason = "it failed on another rank" if isinstance(one, Block) else str(one) or type(one).__name__
                logger.error("the text of a request ends at once. Its constraint (%s): %s", waiting[slot].shown, reason)
        return blocks

    def _bring(self, batch: Sequence[int]) -> None:
        """Bring the automata of a batch into the arena; if one finds no room, close the texts of its requests."""
        # Running requests come first, so that the texts that are closed have hardly begun.
        order = sorted(batch, key=lambda slot: slot in self._new)
        blocks = {id(block): block for slot in order if (block := self._blocks[slot]) is not None}
        missing = [block for block in blocks.values() if self._residence.slot(block) is None]
        self._residence.use([block for block in blocks.values() if self._residence.slot(block) is not None])
        for block in missing:
            users = [slot for slot, each in enumerate(self._blocks) if each is block]
            try:
                automaton = self._residence.bring(block, blocks.values())
            except (LimitExceeded, EmptyLanguage) as error:
                logger.error("the texts of %d requests are ended early: %s", len(users), error)
                self._close(users)
            else:
                self.states.move(users, automaton)

    def _close(self, slots: Sequence[int]) -> None:
        """Allow some requests only the end from now on."""
        self.states.end(slots)
        for slot in slots:
            self._blocks[slot], self._reported[slot] = None, True

    def _enter(self, slots: Sequence[int]) -> None:
        """Begin the texts of requests that are in a step for the first time; their automata are in the arena."""
        entering = []
        for slot in slots:
            stops, block, is_constrained = self._new.pop(slot), self._blocks[slot], bool(self._is_constrained[slot])
            prompt, length = int(self._engine.prompt_len.np[slot]), int(self._engine.prefill_len.np[slot])
            if block is not None:
                entering.append(Entering(slot, self._residence.slot(block), False, prompt, length, stops))
            else:
                automaton = FREE_SLOT if is_constrained else None
                entering.append(Entering(slot, automaton, is_constrained, prompt, prompt, stops))
        if entering:
            self.states.enter(entering, self._engine.all_token_ids.gpu)

    def _report(self) -> None:
        """Log which texts have ended unfinished, as far as the device has reported them."""
        found = np.flatnonzero(self._unfinished.numpy() & self._is_constrained & ~self._reported).tolist()
        for slot in [slot for slot in found if slot not in self._new]:
            self._reported[slot] = True
            logger.error("a text ended unfinished: its constraint allowed none of the tokens that could be written")


def _asked(params: SamplingParams) -> tuple[Kind, str] | None:
    """Return the kind and the text of a request's constraint, as for `constraint_of`; None if it has none.

    Raises:
        ValueError: it cannot be understood.
    """
    value = (params.extra_args or {}).get(ARGUMENT)
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{ARGUMENT} is not JSON: {error}") from None
    if not isinstance(value, dict) or len(value) != 1 or not value.keys() <= set(get_args(Kind)):
        raise ValueError(f"{ARGUMENT} is an object with one of the keys {', '.join(get_args(Kind))}")
    ((kind, asked),) = value.items()
    if kind == "json_object":
        if asked is not True:
            raise ValueError(f"{ARGUMENT}: json_object is true, or not there")
        return kind, ""
    if kind in ("regex", "grammar") and not isinstance(asked, str):
        raise ValueError(f"{ARGUMENT}: {kind} is text")
    try:
        return kind, asked if isinstance(asked, str) else json.dumps(asked)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{ARGUMENT}: {kind} is not JSON: {error}") from None


def _check_engine(config: Any) -> None:
    """Raise ValueError if a setting of an engine prevents constraints from being guaranteed."""
    speculative = config.speculative_config
    reasons = {
        "it starts without a tokenizer": config.model_config.skip_tokenizer_init,
        "its model is a diffusion model, which does not write token by token": config.model_config.is_diffusion,
        "trace replay writes given tokens": config.model_config.enable_trace_replay,
        "rejection sampling is synthetic, which accepts drafts whatever their probability": (
            speculative is not None and speculative.rejection_sample_method == "synthetic"
        ),
        "prefill context parallelism has more ranks that draw tokens than agree on constraints": (
            config.parallel_config.prefill_context_parallel_size > 1
        ),
    }
    for reason, holds in reasons.items():
        if holds:
            raise ValueError(f"tokenfst cannot mask on the device of this engine: {reason}")


def _agreement(parallel_config: Any) -> Callable[[list[bool]], list[bool]]:
    """Return the function `agreed` of a `DeviceProcessor` in an engine with these settings."""
    if parallel_config.tensor_parallel_size == 1:
        return list

    def agreed(able: list[bool]) -> list[bool]:
        flags = torch.tensor(able, dtype=torch.int32)
        torch.distributed.all_reduce(flags, torch.distributed.ReduceOp.MIN, get_tp_group().cpu_group)
        return [flag > 0 for flag in flags.tolist()]

    return agreed
