"""What vLLM's Model Runner V2 does around a logits processor, in a few lines and at random.

Buffers, slots and the context of a step are filled as the runner fills them: slots are recycled last in first out; rows
come in another order in each step; a prompt is read in pieces, whose rows are sampled in vain; a request has a row more
for each of its drafts, whose refused tail is forgotten; a request that is preempted loses its slot, and comes back with
its prompt and output as what it has to read; where no token has been sampled yet, drafts are placeholders; and after a
request has ended, it may be in one step more.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import NamedTuple, Protocol

import numpy as np
import torch
from vllm.sampling_params import SamplingParams
from vllm.v1.worker.gpu.sample.logits_processor.interface import LogitsContext, LogitsProcRequestState

from decoding.devices import never_waiting

PLACEHOLDER = -1


class Processor(Protocol):
    def add_request(self, req_idx: int, sampling_params: SamplingParams) -> bool: ...
    def apply_staged_writes(self) -> None: ...
    def apply(self, logits: torch.Tensor, ctx: LogitsContext) -> torch.Tensor: ...


@dataclass
class Request:
    """A request, in the engine's eyes.

    Attributes:
        params: what it asks.
        prompt, output: its tokens.
        max_tokens: when it is cut.
        text: what the device holds of it: prompt, output, and what was sampled with the last of it, beyond the end.
        computed: how many tokens the model has read.
        to_read: how many it is given to read when it enters: prompt, and output where it is resumed.
        drafts: proposed for its next step.
        has_ended: whether an end token was written, or `max_tokens` of them.
    """

    params: SamplingParams
    prompt: list[int]
    max_tokens: int
    output: list[int] = field(default_factory=list)
    text: list[int] = field(default_factory=list)
    computed: int = 0
    to_read: int = 0
    drafts: list[int] = field(default_factory=list)
    has_ended: bool = False


class Plan(NamedTuple):
    """What a step does with a request.

    Attributes:
        slot: its slot.
        request: the request.
        text: its tokens up to the last one that is read now, drafts included.
        num_drafts: how many of them are drafts.
        counts: whether what is sampled is output; it is not while a prompt is read in pieces.
    """

    slot: int
    request: Request
    text: list[int]
    num_drafts: int
    counts: bool

    @property
    def places(self) -> range:
        """The positions of its rows."""
        return range(len(self.text) - 1 - self.num_drafts, len(self.text))


class Row(NamedTuple):
    """One row of a step.

    Attributes:
        plan: whose it is.
        place: the position of what was read there.
        given, masked: `[V]`, its logits as the processor was given them, and as it returned them.
    """

    plan: Plan
    place: int
    given: torch.Tensor
    masked: torch.Tensor


class SimulatedRunner:
    """Runs requests to their end, `slots` at a time; looks at no constraint.

    Attributes:
        device: where the buffers are, and the logits that processors get.
        state: the buffers that processors see.
        proposes: what drafts are made of, given a request and how many.
    """

    def __init__(
        self,
        slots: int,
        model_len: int,
        width: int,
        drafts: int,
        seed: int,
        proposes: Callable[[Request, int], list[int]],
        device: str = "cpu",
    ) -> None:
        self.device = torch.device(device)
        self.draw, self.width, self.most_drafts, self.proposes = random.Random(seed), width, drafts, proposes
        self.noise = torch.Generator().manual_seed(seed)
        self.staged: list[tuple[int, Request]] = []
        self.total = SimpleNamespace(gpu=torch.zeros(slots, dtype=torch.int32, device=device))
        self.tokens = SimpleNamespace(gpu=torch.zeros((slots, model_len), dtype=torch.int32, device=device))
        self.prompt, self.prefill = (SimpleNamespace(np=np.zeros(slots, np.int32)) for _ in range(2))
        self.state = LogitsProcRequestState(
            device=self.device, max_num_reqs=slots, vocab_size=width, all_token_ids=self.tokens,
            prompt_len=self.prompt, prefill_len=self.prefill, total_len=self.total,
        )  # fmt: skip
        self.free, self.running = list(range(slots)), dict[int, Request]()

    def run(self, processor: Processor, requests: Sequence[Request], *, bias: torch.Tensor) -> Iterator[list[Row]]:
        """Run requests, and yield the rows of each step."""
        waiting = list(requests)
        while waiting or self.running:
            self.leave(waiting)
            while waiting and self.free and self.draw.random() < 0.7:
                self.enter(processor, waiting.pop(0))
            self.flush(processor)
            batch = [slot for slot in self.running if self.draw.random() < 0.85]
            self.draw.shuffle(batch)
            if batch:
                yield self.step(processor, batch, bias)

    def leave(self, waiting: list[Request]) -> None:
        """Free the slots of what has ended, most of the time at once, and preempt some others."""
        for slot, request in list(self.running.items()):
            if self.draw.random() < (0.7 if request.has_ended else 0.02):
                del self.running[slot]
                self.free.append(slot)
                if not request.has_ended:
                    waiting.insert(0, request)

    def enter(self, processor: Processor, request: Request) -> None:
        slot = self.free.pop()
        self.running[slot] = request
        request.text, request.drafts = request.prompt + request.output, []
        request.to_read = len(request.text)
        # A beginning may be in the cache; the last token is always read.
        request.computed = self.draw.choice([0, self.draw.randrange(request.to_read)])
        self.prompt.np[slot], self.prefill.np[slot] = len(request.prompt), request.to_read
        self.staged.append((slot, request))
        processor.add_request(slot, request.params)

    def flush(self, processor: Processor) -> None:
        for slot, request in self.staged:
            self.total.gpu[slot] = request.to_read
            self.tokens.gpu[slot, : request.to_read] = torch.tensor(request.text, dtype=torch.int32)
        self.staged.clear()
        processor.apply_staged_writes()

    def step(self, processor: Processor, batch: list[int], bias: torch.Tensor) -> list[Row]:
        plans = [self.plan(slot, self.running[slot]) for slot in batch]
        # Drafts of a large batch are verified in pieces.
        cut = self.draw.choice([len(plans), self.draw.randint(1, len(plans))])
        rows = []
        for part in (plans[:cut], plans[cut:]):
            if part:
                size = sum(len(plan.places) for plan in part)
                given = 4 * torch.randn((size, self.width), generator=self.noise) + bias
                logits, described = given.to(self.device, copy=True), context(part, self.device)
                with never_waiting(self.device):
                    masked = processor.apply(logits, described)
                masked = masked.cpu()
                each = [(plan, place) for plan in part for place in plan.places]
                rows += [Row(*one, *logits) for one, *logits in zip(each, given, masked, strict=True)]
        for plan in plans:
            self.update(plan, [row for row in rows if row.plan is plan])
        return rows

    def plan(self, slot: int, request: Request) -> Plan:
        left = request.to_read - request.computed
        if left <= 0:
            return Plan(slot, request, request.text + request.drafts, len(request.drafts), True)
        read = left if self.draw.random() < 0.5 else self.draw.randint(1, left)
        drafts = [PLACEHOLDER] * self.most_drafts if read == left and self.draw.random() < 0.2 else []
        return Plan(slot, request, request.text[: request.computed + read] + drafts, len(drafts), read == left)

    def update(self, plan: Plan, rows: list[Row]) -> None:
        """Verify the drafts of a request, and write what was sampled."""
        request = plan.request
        if not plan.counts:
            request.computed = len(plan.text)
            return
        sampled: list[int] = []
        for row, draft in zip(rows, [*plan.text[plan.places.start + 1 :], None], strict=True):
            token = int(row.masked.argmax())
            if draft is not None and draft >= 0 and row.masked[draft] > -torch.inf and self.draw.random() < 0.8:
                token = draft
            sampled.append(token)
            if token != draft:
                break
        request.computed = len(plan.text) - (len(rows) - len(sampled))
        total = len(request.text)
        self.tokens.gpu[plan.slot, total : total + len(sampled)] = torch.tensor(sampled, dtype=torch.int32)
        self.total.gpu[plan.slot] += len(sampled)
        request.text += sampled
        for token in sampled:
            if not request.has_ended:
                request.output.append(token)
                ends = token in request.params.all_stop_token_ids
                request.has_ended = ends or len(request.output) == request.max_tokens
        request.drafts = self.proposes(request, self.draw.randint(0, self.most_drafts))


def context(plans: Sequence[Plan], device: torch.device | str = "cpu") -> LogitsContext:
    rows = [(plan, number, place) for plan in plans for number, place in enumerate(plan.places)]
    return LogitsContext(
        expanded_idx_mapping=torch.tensor([plan.slot for plan, _, _ in rows], device=device),
        idx_mapping=torch.tensor([plan.slot for plan in plans], device=device),
        idx_mapping_np=np.array([plan.slot for plan in plans], np.intp),
        expanded_local_pos=torch.tensor([number for _, number, _ in rows], dtype=torch.int32, device=device),
        input_ids=torch.tensor([plan.text[place] for plan, _, place in rows], dtype=torch.int32, device=device),
        pos=torch.tensor([place for _, _, place in rows], device=device),
        seq_lens_upper_bound_np=np.array([len(plan.text) for plan in plans], np.int32),
    )
