"""On a GPU of NVIDIA's: what other tests check on the CPU, and with a tape in place of a CUDA graph."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import fields, replace
from typing import Any

import pytest
import torch
from arena_walks import check_side_by_side
from kinds import complete
from test_device_step import PALINDROMES, SAMPLINGS, VOCABULARY, Captured, arena_of, check_replays, written

import constraints
from decoding import Speculation, beam_search, best_of_n, bundled_model, generate
from decoding.arena import FREE_SLOT, Arena
from decoding.devices import never_waiting
from decoding.difficulty import Difficulty
from decoding.sampling import History, Noise, Sampling, Samplings, choose, probabilities

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU that torch can use")

WIDTH = 3000
KINDS: dict[str, Any] = {
    "finite": r"(ab)*b?|a{2,5}bb",
    "counted": "(a|bb){3,200}",
    "weighted": constraints.choice({"ab": 5, "abab": 2, "bba": 1}),
    "stacked": constraints.grammar('start: "a" start "b" | "ab"'),
    "ambiguous": replace(PALINDROMES, ambiguity="parallel", max_configurations=4),
}
PROMPTS = ["Name: ", "Born on a ", "A point as JSON: "]
PATTERNS = ["[A-Z][a-z]+ [A-Z][a-z]+", "(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day", r'\{"x": [0-9]+, "y": [0-9]+\}']


@pytest.mark.parametrize("kinds", [*([kind] for kind in KINDS), [*KINDS][:-1], [*KINDS]], ids="+".join)
def test_masks_and_steps_are_those_of_the_cpu(kinds: list[str]) -> None:
    automata = [complete(KINDS[kind], VOCABULARY) for kind in kinds]
    mine, other = Arena.of(automata, width=WIDTH), Arena.of(automata, "cuda", width=WIDTH)
    slots = [number % (len(kinds) + 1) for number in range(64)]
    check_side_by_side(mine, other, slots, steps=12, step=never_waiting)


def test_a_batch_may_be_empty() -> None:
    arena = Arena.of([complete(KINDS["stacked"], VOCABULARY)], "cuda", width=WIDTH)
    at, nothing = arena.starts([]), torch.empty(0, dtype=torch.int64, device="cuda")
    logits = arena.apply_(torch.empty(0, WIDTH, device="cuda"), arena.advance(at, nothing), 3)
    assert logits.shape == arena.mask(at).shape == (0, WIDTH)


def graph_of(loop: Callable[[], torch.Tensor]) -> tuple[torch.Tensor, Captured]:
    """A CUDA graph of a loop, and the tensor that it writes."""
    loop()  # kernels are loaded when they first run, which no capture allows
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = loop()
    return found, graph


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("is_ambiguous", [False, True])
def test_a_whole_loop_is_captured_in_a_graph(is_ambiguous: bool, sampling: Sampling) -> None:
    check_replays(arena_of("cuda", is_ambiguous=is_ambiguous), sampling, graph_of)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("is_ambiguous", [False, True])
def test_a_whole_loop_never_waits_and_writes_what_the_cpu_does(is_ambiguous: bool, sampling: Sampling) -> None:
    texts = []
    for device in ("cpu", "cuda"):
        arena, remaining = arena_of(device, is_ambiguous=is_ambiguous), torch.tensor([9, 12, 8, 20], device=device)
        at, noise = arena.starts([1, 2, 3, FREE_SLOT]), Noise.of([1, 2, 3, 4], device)
        with never_waiting():
            tokens, _ = written(arena, at, remaining, noise, sampling, in_place=True)
        texts.append(tokens.tolist())
    assert texts[0] == texts[1]


def test_what_joins_a_batch_is_sent_without_waiting() -> None:
    automata = [complete(kind, VOCABULARY) for kind in [*KINDS.values()][:-1]]
    mine, other = (Arena(VOCABULARY, device, width=WIDTH) for device in ("cpu", "cuda"))
    blocks = [other.block(automaton) for automaton in automata]
    with never_waiting():
        for number, block in enumerate([blocks[0], *blocks]):
            other.enter(block)
            if number == 0:
                other.drop(1)
        other.drop(2)
        other.compact()
        at = other.starts([1, 3, 4])
        columns, noise = Samplings.of(SETTINGS, "cuda"), Noise.of([1, 5], "cuda")
        history = History.of([[1, 2], [3]], [[4], [5, 6]], "cuda")
    for automaton in automata:
        mine.add(automaton)
    assert torch.equal(other.mask(at).cpu(), mine.mask(mine.starts([1, 3, 4])))
    expected = Samplings.of(SETTINGS)
    for field in fields(Samplings)[:-1]:
        column = getattr(columns, field.name)
        assert column is not None
        assert torch.equal(column.cpu(), getattr(expected, field.name))
    assert (noise.seeds.tolist(), history.written.tolist()) == ([1, 5], [[1, 2], [3, -1]])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("temperatures", [[1.0], [0.6], [0.0, 1.3, 1.0, 1e-20]])
def test_distributions_are_those_of_the_cpu(temperatures: list[float], masked: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(3)
    logits, mask = (4 * torch.randn(4, 50_001)).to(dtype), None
    logits[1, ::3], logits[1, 1::3], logits[2, :40_000] = -torch.inf, torch.nan, -torch.inf
    if masked:
        mask = torch.rand(4, 50_001) < 0.01
        mask[3] = False
    samplings = [Samplings.of([Sampling(one) for one in temperatures], device) for device in ("cpu", "cuda")]
    expected = probabilities(logits, mask, samplings[0], end_token=7)
    own, allowed = logits.cuda(), None if mask is None else mask.cuda()
    probabilities(own, allowed, samplings[1], end_token=7)  # compiles the kernels
    with never_waiting():
        found = probabilities(own, allowed, samplings[1], end_token=7)
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-4, atol=1e-9)
    assert torch.equal(found.cpu() > 0, expected > 0)


TRUNCATIONS: list[dict[str, Any]] = [
    {"top_k": 50},
    {"top_p": 0.9},
    {"min_p": 0.05},
    {"top_k": 400, "top_p": 0.95, "min_p": 0.001},
    {"top_p": 1e-9},
    {"top_k": 10**6, "top_p": 0.9999},
    {"temperature": 0, "top_k": 3},
    {},
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("ones", [*([one] for one in TRUNCATIONS), TRUNCATIONS], ids=str)
def test_truncations_are_those_of_the_cpu(ones: list[dict[str, Any]], masked: bool, dtype: torch.dtype) -> None:
    dice = torch.Generator().manual_seed(5)
    logits = (4 * torch.randn(8, 50_001, generator=dice)).to(dtype)
    # Many are equal where rows are cut.
    logits[1:3] = logits[1:3].float().round().to(dtype)
    logits[4, 10:], logits[5] = -torch.inf, 1.5
    mask = torch.rand(8, 50_001, generator=dice) < 0.01 if masked else None
    if mask is not None:
        mask[6] = False
    settings = [Sampling(**({"temperature": 0.8} | one)) for one in ones]
    found: list[torch.Tensor] = []
    for device in ("cpu", "cuda"):
        columns = Samplings.of(settings, device)
        given, allowed = logits.to(device), None if mask is None else mask.to(device)
        with never_waiting():
            chances = probabilities(given, allowed, columns, end_token=7)
        found.append(chances.cpu())
    torch.testing.assert_close(found[1], found[0], rtol=2e-4, atol=1e-5)
    # Sums are rounded otherwise, so the last token of a nucleus may be another one.
    kept = [chances > 0 for chances in found]
    assert torch.where(kept[0] != kept[1], found[0] + found[1], 0.0).sum(1).max() < 1e-5


@pytest.mark.parametrize("width", [1, 100, 50_001, 262_144])
def test_draws_are_those_of_the_cpu(width: int) -> None:
    torch.manual_seed(width)
    chances = torch.randn(64, width).softmax(1) * (torch.rand(64, width) < 0.5)
    chances[5] = 0
    noise, steps = Noise.of([*range(60), None, -1, 1 << 63, 99]), torch.arange(64)
    own = Noise(noise.seeds.cuda())
    for stream in (0, 3):
        found = choose(chances.cuda(), own, 7, stream), choose(chances.cuda(), own, steps.cuda(), stream)
        assert torch.equal(found[0].cpu(), choose(chances, noise, 7, stream))
        assert torch.equal(found[1].cpu(), choose(chances, noise, steps, stream))


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_sampling_can_be_compiled(sampling: Sampling) -> None:
    def drawn(logits: torch.Tensor, noise: Noise, step: torch.Tensor) -> torch.Tensor:
        return choose(probabilities(logits, None, settings), noise, step)

    settings = sampling.on("cuda")
    noise, step = Noise.of(range(8), "cuda"), torch.full((8,), 5, device="cuda")
    torch._dynamo.reset()
    compiled: Any = torch.compile(drawn, fullgraph=True, dynamic=False)
    logits = torch.randn(8, WIDTH, device="cuda")
    assert torch.equal(compiled(logits, noise, step), drawn(logits, noise, step))


def test_programs_can_be_compiled() -> None:
    arena = arena_of("cuda", is_ambiguous=False, width=WIDTH)
    at, tokens = arena.starts([1, 2, 3, FREE_SLOT]), torch.tensor([0, 2, 0, 1], device="cuda")
    torch._dynamo.reset()
    masked: Any = torch.compile(arena.apply_, fullgraph=True, dynamic=False)
    advance: Any = torch.compile(arena.advance, fullgraph=True, dynamic=False)
    for number in range(4):
        logits = torch.randn(4, WIDTH, device="cuda")
        # The compiler itself waits.
        with never_waiting() if number else nullcontext():
            found, made = masked(logits.clone(), at), advance(at, tokens)
        assert torch.equal(found, arena.apply_(logits.clone(), at))
        at = arena.advance(at, tokens)
        assert all(torch.equal(mine, other) for mine, other in zip(at[:4], made[:4], strict=True))


SETTINGS = [
    Sampling(),
    Sampling(temperature=0),
    Sampling(temperature=0.7, top_k=5),
    Sampling(top_p=0.8),
    Sampling(min_p=0.1),
    Sampling(typical_p=0.6),
    Sampling(repetition_penalty=1.5, presence_penalty=0.4, frequency_penalty=0.3),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("one", [*SETTINGS, None], ids=str)
def test_samples_are_those_of_the_cpu(one: Sampling | None, dtype: torch.dtype) -> None:
    dice, batch = torch.Generator().manual_seed(3), len(SETTINGS)
    logits = (3 * torch.randn(batch, WIDTH, generator=dice)).to(dtype)
    mask = torch.rand(batch, WIDTH, generator=dice) < 0.3
    mask[1] = False
    chances: list[torch.Tensor] = []
    drawn: list[torch.Tensor] = []
    for device in ("cpu", "cuda"):
        sampling = Samplings.of(SETTINGS, device, every=True) if one is None else one
        history = History.blank(batch, 4, device=device)
        given, allowed, noise = logits.to(device), mask.to(device), Noise.of(range(batch), device)
        step = torch.arange(batch, device=device)
        with never_waiting():
            history.put(0, step)
            chances.append(probabilities(given, allowed, sampling, history))
            drawn.append(choose(chances[-1], noise, step))
        assert torch.equal(noise.uniform(step).cpu(), Noise.of(range(batch)).uniform(torch.arange(batch)))
    assert torch.allclose(chances[0], chances[1].cpu(), rtol=1e-4, atol=1e-7)
    assert torch.equal(drawn[0], drawn[1].cpu())
    assert drawn[0][1] == -1


def bundled() -> tuple[Any, Any]:
    model: Any
    model, tokenizer = bundled_model()
    return model.to("cuda"), tokenizer


OPTIONS: list[dict[str, Any]] = [
    {"seed": 1},
    {"temperature": 0},
    {"seed": 2, "wrap_up_after": 4},
    {"num_beams": 3, "temperature": 0},
    {"seed": 3, "drafts": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids="+".join)
def test_a_model_writes_texts_of_the_constraints(options: dict[str, Any]) -> None:
    model, tokenizer = bundled()
    given = {name: value for name, value in options.items() if name != "drafts"} | {"max_new_tokens": 16}
    if "drafts" in options:
        given["speculation"] = Speculation(draft_model=model)
    texts = generate(model, tokenizer, PROMPTS, PATTERNS, **given)
    assert all(re.fullmatch(pattern, text) for pattern, text in zip(PATTERNS, texts, strict=True)), texts
    lists = {"type": "array", "items": {"$ref": "#"}}
    for text in generate(model, tokenizer, PROMPTS, constraints.json_schema(lists), **given):
        assert set(json.dumps(json.loads(text))) <= set("[], "), text


def test_searches_find_texts_of_the_constraints() -> None:
    model, tokenizer = bundled()
    difficulty, given = Difficulty(), (model, tokenizer, PROMPTS, PATTERNS)
    beams = beam_search(*given, max_new_tokens=16, beams=3)
    samples = best_of_n(*given, max_new_tokens=16, n=3, seed=1, difficulty=difficulty)
    for pattern, *ranked in zip(PATTERNS, beams, samples, strict=True):
        assert all(re.fullmatch(pattern, one.text) for each in ranked for one in each)
    assert len(difficulty.texts()) == 9


def test_continuous_batches_keep_to_their_constraints() -> None:
    import test_continuous_batching as batching

    batching.MODEL.to("cuda")
    try:
        for sampling, options in batching.MODES:
            batching.test_each_request_keeps_to_its_own(sampling, options)
    finally:
        batching.MODEL.to("cpu")
