"""A whole step on a device, masks, sampling and advance: one graph, and nothing of it waits for a value.

There need be no accelerator: tensors on torch's `meta` device have shapes and no values, so whatever reads one on the
host is an error there, and so is an operation on tensors of two devices.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

import constraints
import tokenfst
from decoding.arena import FREE_SLOT, Arena, Sequences
from decoding.sampling import Noise, Sampling, choose, probabilities
from tokenfst import Vocabulary

VOCABULARY = Vocabulary([b"a", b"b", b"ab", b"aba", b"", b"bb"], eos_ids=[4])
WIDTH = 12
NESTED = constraints.grammar('start: "a" start "b" | "ab"', syntax="lark")
PALINDROMES = constraints.grammar('start: "a" start "a" | "b" start "b" | ""', syntax="lark")
SAMPLINGS = [Sampling(), Sampling(temperature=0), Sampling(temperature=0.8, top_k=3, top_p=0.9, min_p=0.01)]


def arena_of(*, is_ambiguous: bool) -> Arena:
    automata: list[Any] = [tokenfst.compile(pattern, VOCABULARY) for pattern in ("(ab)*b?", "(a|bb){3,200}", NESTED)]
    if is_ambiguous:
        automata.append(tokenfst.compile(PALINDROMES, VOCABULARY, ambiguity="parallel", max_configurations=4))
    return Arena.of(automata, width=WIDTH)


def step(
    arena: Arena, at: Sequences, logits: torch.Tensor, remaining: torch.Tensor, noise: Noise, sampling: Sampling
) -> tuple[Sequences, torch.Tensor]:
    masked = arena.apply_(logits.clone(), at, remaining, wrap_up=0.1 * remaining)
    tokens = choose(probabilities(masked, arena.mask(at, remaining), sampling), noise)
    return arena.advance(at, tokens), tokens


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("is_ambiguous", [False, True])
def test_nothing_waits_for_a_value(is_ambiguous: bool, sampling: Sampling) -> None:
    arena, device = arena_of(is_ambiguous=is_ambiguous), torch.device("meta")
    for holder in (arena, arena._program):
        for name, value in list(vars(holder).items()):
            if isinstance(value, torch.Tensor):
                setattr(holder, name, value.to(device))
            elif isinstance(value, torch.device):
                setattr(holder, name, device)
    at, noise = arena.starts([1, 2, 3, FREE_SLOT]), Noise.of([1, 2, 3, 4], device)
    for _ in range(2):
        logits, remaining = torch.empty(4, WIDTH, device=device), torch.empty(4, dtype=torch.int64, device=device)
        at, tokens = step(arena, at, logits, remaining, noise, sampling)
        noise = noise.next()
        found = [tokens, arena.bitmask(at), arena.forced(at), arena.remaining(at), arena.ended(at), arena.astray(at)]
        assert all(one.device == device and len(one) == 4 for one in found)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("is_ambiguous", [False, True])
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
        noise = noise.next()
