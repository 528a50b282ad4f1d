"""A whole step on a device, masks, sampling and advance: one graph, and nothing of it waits for a value.

There need be no accelerator: tensors on torch's `meta` device have shapes and no values, so whatever reads one on the
host is an error there, and so is an operation on tensors of two devices. And a tape does what a CUDA graph does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import pytest
import torch
from kinds import complete
from tape import Tape
from torch._dynamo.backends.common import aot_autograd
from torch._functorch._aot_autograd.utils import make_boxed_func

import constraints
from decoding.arena import FREE_SLOT, Arena, Sequences
from decoding.sampling import Noise, Sampling, choose, probabilities
from tokenfst import Vocabulary

VOCABULARY = Vocabulary([b"a", b"b", b"ab", b"aba", b"", b"bb"], eos_ids=[4])
WIDTH = 12
NESTED = constraints.grammar('start: "a" start "b" | "ab"', syntax="lark")
PALINDROMES = constraints.grammar('start: "a" start "a" | "b" start "b" | ""', syntax="lark")
LIMITS = torch.tensor([9, 12, 8, 20])
SAMPLINGS = [Sampling(), Sampling(temperature=0), Sampling(temperature=0.8, top_k=3, top_p=0.9, min_p=0.01)]


def arena_of(device: str = "cpu", *, is_ambiguous: bool, width: int = WIDTH) -> Arena:
    automata: list[Any] = [complete(pattern, VOCABULARY) for pattern in ("(ab)*b?", "(a|bb){3,200}", NESTED)]
    if is_ambiguous:
        automata.append(complete(replace(PALINDROMES, ambiguity="parallel", max_configurations=4), VOCABULARY))
    return Arena.of(automata, device, width=width)


def step(
    arena: Arena, at: Sequences, logits: torch.Tensor, remaining: torch.Tensor, noise: Noise, sampling: Sampling
) -> tuple[Sequences, torch.Tensor]:
    masked = arena.apply_(logits.clone(), at, remaining, wrap_up=0.1 * remaining)
    # What remains tells the step: every sequence has drawn as many tokens less.
    tokens = choose(probabilities(masked, arena.mask(at, remaining), sampling), noise, 30 - remaining)
    return arena.advance(at, tokens), tokens


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("is_ambiguous", [False, True])
def test_nothing_waits_for_a_value(is_ambiguous: bool, sampling: Sampling) -> None:
    arena, device = arena_of(is_ambiguous=is_ambiguous), torch.device("meta")
    for holder in (arena, arena._heap, arena._program):
        for name, value in list(vars(holder).items()):
            if isinstance(value, torch.Tensor):
                setattr(holder, name, value.to(device))
            elif isinstance(value, torch.device):
                setattr(holder, name, device)
    at, noise = arena.starts([1, 2, 3, FREE_SLOT]), Noise.of([1, 2, 3, 4], device)
    for _ in range(2):
        logits, remaining = torch.empty(4, WIDTH, device=device), torch.empty(4, dtype=torch.int64, device=device)
        at, tokens = step(arena, at, logits, remaining, noise, sampling)
        found = [
            tokens,
            arena.bitmask(at),
            arena.forced(at),
            arena.min_tokens_left(at),
            arena.ended(at),
            arena.astray(at),
        ]
        assert all(one.device == device and len(one) == 4 for one in found)


# Every sampling, and both kinds of arenas.
@pytest.mark.parametrize(
    ("is_ambiguous", "sampling"),
    [(False, SAMPLINGS[0]), (False, SAMPLINGS[1]), (True, SAMPLINGS[2])],
)
def test_masks_sampling_and_advance_are_one_graph(is_ambiguous: bool, sampling: Sampling) -> None:
    arena = arena_of(is_ambiguous=is_ambiguous)

    def one(
        at: Sequences, logits: torch.Tensor, remaining: torch.Tensor, noise: Noise
    ) -> tuple[Sequences, torch.Tensor]:
        return step(arena, at, logits, remaining, noise, sampling)

    # Graphs are kept by function and count against a limit.
    torch._dynamo.reset()
    # fullgraph: a read of a tensor on the host would break the graph, and that is an error here.
    compiled = torch.compile(one, fullgraph=True, backend="aot_eager", dynamic=False)
    at = compiled_at = arena.starts([1, 2, 3, FREE_SLOT])
    noise = Noise.of([1, 2, 3, 4])
    for number in range(5):
        logits = torch.randn(4, WIDTH, generator=torch.Generator().manual_seed(number))
        remaining = torch.tensor([9, 12, 8, 20]) - number
        at, tokens = one(at, logits, remaining, noise)
        compiled_at, compiled_tokens = compiled(compiled_at, logits, remaining, noise)
        assert torch.equal(tokens, compiled_tokens)


def test_what_is_as_large_as_the_logits_is_elementwise() -> None:
    # So that compilers make one kernel of it, which reads packed masks and writes logits.
    arena = arena_of(is_ambiguous=True, width=3000)
    seen: list[Any] = []

    def inspect(graph: torch.fx.GraphModule, _: Any) -> Any:
        for node in graph.graph.nodes:
            value = node.meta.get("val")
            if node.op == "call_function" and isinstance(value, torch.Tensor) and value.numel() >= logits.numel():
                assert torch.Tag.pointwise in node.target.tags or node.target.is_view, node.target
                seen.append(node.target)
        return make_boxed_func(graph.forward)

    at, logits = arena.starts([1, 2, 3, FREE_SLOT]), torch.randn(4, 3000)
    expected = arena.apply_(logits.clone(), at)
    torch._dynamo.reset()
    compiled = torch.compile(arena.apply_, fullgraph=True, backend=aot_autograd(fw_compiler=inspect), dynamic=False)
    assert torch.equal(compiled(logits.clone(), at), expected)
    assert torch.ops.aten.bitwise_and.Scalar in seen


def written(
    arena: Arena, at: Sequences, remaining: torch.Tensor, noise: Noise, sampling: Sampling, *, in_place: bool
) -> tuple[torch.Tensor, Sequences]:
    """What a model writes that knows the last token alone, `[B, 6]`, and where the texts end: in `at` itself, or in
    sequences of their own."""
    weights = torch.sin(torch.arange(WIDTH * WIDTH, dtype=torch.float32, device=at.slot.device) * 12.9898) * 3
    tokens, found = torch.zeros_like(at.slot), []
    for number in range(6):
        logits = weights.view(WIDTH, WIDTH).index_select(0, tokens)
        after, tokens = step(arena, at, logits, remaining - number, noise, sampling)
        at = at.copy_(after) if in_place else after
        found.append(tokens)
    return torch.stack(found, 1), at


class Captured(Protocol):
    """A program that was recorded once, `Tape` or `torch.cuda.CUDAGraph`."""

    def replay(self) -> None: ...


def check_replays(
    arena: Arena, sampling: Sampling, capture: Callable[[Callable[[], torch.Tensor]], tuple[torch.Tensor, Captured]]
) -> None:
    """A whole loop that `capture` records writes, for batches that it was not recorded with, what the loop writes."""
    device, seeds = arena.device, torch.tensor([1, 2, 3, 4])
    at, remaining, noise = arena.starts([1, 2, 3, FREE_SLOT]), LIMITS.to(device), Noise(seeds.to(device))
    tokens, program = capture(lambda: written(arena, at, remaining, noise, sampling, in_place=True)[0])
    seen = set()
    last = len(arena.slot_sizes) - 1
    for number, slots in enumerate([[1, 2, 3, FREE_SLOT], [last, 1, 1, 2], [FREE_SLOT, 3, last, 1]]):
        # Another batch, other limits, other seeds, and automata that lie elsewhere.
        if number == 2:
            arena.drop(2)
            arena.compact()
        starts, limits = arena.starts(slots), (LIMITS + number).to(device)
        others = Noise((seeds + 10 * number).to(device))
        at.copy_(starts)
        remaining.copy_(limits)
        noise.seeds.copy_(others.seeds)
        program.replay()
        expected, after = written(arena, starts, limits, others, sampling, in_place=False)
        assert torch.equal(tokens, expected)
        assert all(torch.equal(mine, other) for mine, other in zip(at, after, strict=True))
        seen.add(tuple(tokens.flatten().tolist()))
    assert len(seen) == 3


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("is_ambiguous", [False, True])
def test_a_whole_loop_is_captured_once(is_ambiguous: bool, sampling: Sampling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Arena, "_on_cpu", False)

    def capture(loop: Callable[[], torch.Tensor]) -> tuple[torch.Tensor, Captured]:
        with Tape() as tape:
            return loop(), tape

    check_replays(arena_of(is_ambiguous=is_ambiguous), sampling, capture)


def test_steps_in_place_count() -> None:
    arena = arena_of(is_ambiguous=False)
    at = arena.starts([2])
    allowed = []
    for _ in range(4):
        allowed.append(arena.mask(at)[0, 4].item())
        at.copy_(arena.advance(at, torch.tensor([0])))
    assert allowed == [False, False, False, True]
