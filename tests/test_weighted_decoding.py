"""Costs in decoding: the arena, the processor, searches and speculation subtract from logits what tokens cost."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from test_weighted_tokens import random_tokens
from toy_models import LETTERS, PROMPT, Table, chance

import tokenfst
from automata import Limits, parse
from automata import expressions as ex
from automata.expressions import Expr
from decoding import (
    ConstraintLogitsProcessor,
    Speculation,
    beam_search,
    best_of_n,
    bundled_model,
    generate,
    stream,
    vocabulary_of,
)
from decoding.arena import Arena
from decoding.inputs.healing import heal
from decoding.sampling import Sampling
from decoding.speculation import CountModel, DraftModel, ForcedTokens, Proposer, Reading, decode_speculatively
from tokenfst import TokenAutomaton

MODEL, TOKENIZER = bundled_model()
VOCABULARY = vocabulary_of(TOKENIZER)
HOT = (ex.ANY_CHAR | ex.literal("and").weighted(-3) | ex.literal(" the").weighted(2.5)).repeat(0, 40)
NAMES = ex.alternation(*[ex.literal(name).weighted(cost) for name, cost in (("Ada", 9), ("Adam", 9.5), ("Bob", 1.25))])
RECORD = '{"name": "' + NAMES + '", "age": ' + (parse("[0-9]{1,2}") | parse("[0-9]{3}").weighted(4)) + "}"
CONSTRAINTS: dict[str, Expr] = {"hot words": HOT, "names": NAMES, "record": RECORD}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("budget", [None, 30])
def test_the_arena_subtracts_costs(dtype: torch.dtype, budget: int | None) -> None:
    automata = [tokenfst.compile(constraint, VOCABULARY) for constraint in CONSTRAINTS.values()]
    automata.append(tokenfst.compile("[a-z ]+", VOCABULARY))
    arena = Arena.of(automata)
    slots, states = [1, 2, 3, 4, 0], [automaton.start for automaton in automata]
    at, rng = arena.starts(slots), np.random.default_rng(0)
    for _ in range(12):
        logits = torch.from_numpy(rng.standard_normal((5, len(VOCABULARY)))).to(dtype)
        expected = [
            row.to(torch.float64) - torch.from_numpy(automaton.costs(state))
            for row, automaton, state in zip(logits, automata, states, strict=False)
        ]
        free = logits[4].clone()
        for row, (automaton, state) in enumerate(zip(automata, states, strict=True)):
            expected[row][~torch.from_numpy(automaton.mask(state, budget))] = -math.inf
        by_program = logits.clone()
        native = arena.apply_(logits, at, budget)
        _by_tensors(arena, by_program, at, budget)
        for row, wanted in enumerate(expected):
            tolerance = {torch.float16: 4e-3, torch.bfloat16: 4e-2}.get(dtype, 1e-6)
            torch.testing.assert_close(native[row].double(), wanted, atol=tolerance, rtol=tolerance)
        torch.testing.assert_close(native, by_program, equal_nan=True)
        torch.testing.assert_close(native[4], free)
        tokens = [int(rng.choice(np.flatnonzero(a.mask(s, budget)))) for a, s in zip(automata, states, strict=True)]
        at = arena.advance(at, torch.tensor([*tokens, 100]))
        states = [a.advance(s, t) for a, s, t in zip(automata, states, tokens, strict=True)]
        if budget is not None:
            budget = max(budget - 1, 14)


def _by_tensors(arena: Arena, logits: torch.Tensor, at: Any, budget: int | None) -> None:
    """The same by tensor operations, as on a device."""
    logits.masked_fill_(~arena.mask(at, budget), -math.inf)
    arena._program.subtract_weights_(logits, at)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("cost", [7e4, -7e4])
def test_costs_beyond_the_range_of_logits_forbid_nothing(dtype: torch.dtype, cost: float) -> None:
    constraint = ex.literal("aaaa") | ex.literal("b").weighted(cost)
    automaton = tokenfst.compile(constraint, LETTERS)
    arena, only = Arena.of([automaton]), LETTERS.tokens.index(b"b")
    at, logits = arena.starts([1]), torch.zeros((1, len(LETTERS)), dtype=dtype)
    logits[0, LETTERS.tokens.index(b"a")] = -math.inf
    by_program = logits.clone()
    _by_tensors(arena, by_program, at, 2)
    processor = ConstraintLogitsProcessor(automaton, LETTERS, max_new_tokens=2)
    ids = torch.tensor([[only]])
    for found in (arena.apply_(logits.clone(), at, 2), by_program, processor(ids, logits.clone())):
        assert found.isfinite().nonzero().tolist() == [[0, only]]
        assert found.isinf().sum() == len(LETTERS) - 1
    assert Arena.of([automaton]).apply_(logits, at)[0, LETTERS.tokens.index(b"a")] == -math.inf


def test_a_part_of_the_vocabulary_has_its_own_costs() -> None:
    automaton = tokenfst.compile(HOT, VOCABULARY)
    middle = len(VOCABULARY) // 3
    whole = Arena.of([automaton])
    logits = torch.zeros(1, len(VOCABULARY))
    whole.apply_(logits, whole.starts([1]))
    for part in ((0, middle), (middle, len(VOCABULARY))):
        arena = Arena(VOCABULARY, part=part)
        at = arena.starts([arena.add(automaton)])
        found = arena.apply_(torch.zeros(1, part[1] - part[0]), at)
        torch.testing.assert_close(found[0], logits[0, part[0] : part[1]])


def greedy(automaton: TokenAutomaton, prompt: str, limit: int) -> str:
    """The text that the model writes if each token is the likeliest by its logit less its cost."""
    state, ids = automaton.start, TOKENIZER(prompt)["input_ids"]
    written: list[int] = []
    while len(written) < limit:
        with torch.no_grad():
            logits = MODEL(torch.tensor([[*ids, *written]])).logits[0, -1]
        scores = logits - torch.from_numpy(automaton.costs(state))
        scores[~torch.from_numpy(automaton.mask(state, limit - len(written)))] = -math.inf
        written.append(int(scores.argmax()))
        if written[-1] in VOCABULARY.eos_ids:
            break
        state = automaton.advance(state, written[-1])
    return VOCABULARY.detokenize(written).decode()


@pytest.mark.parametrize(("name", "changes"), [("hot words", True), ("names", True), ("record", True)])
def test_generate_subtracts_costs_on_the_device_and_on_the_host(
    name: str, changes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    constraint, prompt = CONSTRAINTS[name], "A person: "
    expected = greedy(tokenfst.compile(constraint, VOCABULARY), prompt, 24)
    unweighted = greedy(tokenfst.compile(constraint, VOCABULARY, scale=0), prompt, 24)
    assert (expected != unweighted) == changes
    assert generate(MODEL, TOKENIZER, prompt, constraint, max_new_tokens=24, temperature=0) == [expected]
    monkeypatch.setattr("decoding.masking.batch_tracker.tables_for_arena", lambda automaton, seconds: None)
    assert generate(MODEL, TOKENIZER, prompt, constraint, max_new_tokens=24, temperature=0) == [expected]


def test_scores_of_beams_are_log_probabilities_less_the_weight() -> None:
    automaton = tokenfst.compile(NAMES, VOCABULARY)
    [found] = beam_search(MODEL, TOKENIZER, "Name: ", automaton, beams=8, max_new_tokens=12)
    plain = tokenfst.compile("Ada|Adam|Bob", VOCABULARY)
    [reference] = beam_search(MODEL, TOKENIZER, "Name: ", plain, beams=8, max_new_tokens=12)
    by_tokens = {hypothesis.tokens: hypothesis.log_probability for hypothesis in reference}
    assert len(found) > 3
    shared = [hypothesis for hypothesis in found if hypothesis.tokens in by_tokens]
    assert shared
    for hypothesis in shared:
        less = by_tokens[hypothesis.tokens] - (automaton.weight(hypothesis.tokens) - automaton.initial_cost)
        assert hypothesis.log_probability == pytest.approx(less, abs=1e-4)


# Distributions, by trying everything

PATTERN = ex.concat(
    (parse("ab").weighted(0.75) | ex.literal("b").weighted(0.25)).star(), parse("a").weighted(1) | "cc", parse("b?")
)
LIMIT, DRAWS = 6, 600
TABLE = Table(seed=4)


def weighted_texts(automaton: TokenAutomaton) -> dict[tuple[int, ...], float]:
    """The probability of every text within a limit: at each step in proportion to exp(logit - cost)."""
    found: dict[tuple[int, ...], float] = {}
    waiting: list[tuple[tuple[int, ...], Any, float]] = [((), automaton.start, 1.0)]
    while waiting:
        tokens, state, share = waiting.pop()
        first, second = [*PROMPT, *tokens][-2:]
        scores = TABLE.logits[first, second].double().numpy() - automaton.costs(state)
        scores = np.where(automaton.mask(state, LIMIT - len(tokens)), np.exp(scores), 0)
        for token, each in enumerate((scores / scores.sum()).tolist()):
            if each and token in LETTERS.eos_ids:
                found[(*tokens, token)] = share * each
            elif each:
                waiting.append(((*tokens, token), automaton.advance(state, token), share * each))
    return found


PROPOSERS: dict[str, Any] = {
    "none": lambda automaton: [],
    "forced": lambda automaton: [ForcedTokens()],
    "counts": lambda automaton: [CountModel(automaton, threshold=0.1)],
    "draft": lambda automaton: [DraftModel(Table(seed=5), (3, 2))],
}


@pytest.mark.parametrize("opportunistic", [False, True])
@pytest.mark.parametrize("name", sorted(PROPOSERS))
def test_speculation_keeps_the_weighted_distribution(name: str, opportunistic: bool) -> None:
    automaton = tokenfst.compile(PATTERN, LETTERS)
    proposers: list[Proposer] = PROPOSERS[name](automaton)
    each = [Sampling(seed=seed) for seed in range(DRAWS)]
    options: dict[str, Any] = {"sampling": each, "max_new_tokens": LIMIT, "opportunistic": opportunistic}
    result = decode_speculatively(TABLE, [PROMPT] * DRAWS, automaton, proposers, **options)
    expected = weighted_texts(automaton)
    assert sum(expected.values()) == pytest.approx(1)
    assert chance(Counter(map(tuple, result.tokens)), expected) > 1e-3


@pytest.mark.parametrize("penalty", [1.0, 1.2, 1.6])
def test_penalties_come_before_costs(penalty: float) -> None:
    automaton = tokenfst.compile(HOT, VOCABULARY)
    options: dict[str, Any] = {"temperature": 0, "max_new_tokens": 20, "repetition_penalty": penalty}
    (expected,) = generate(MODEL, TOKENIZER, "Name: ", automaton, **options)
    assert stream(MODEL, TOKENIZER, "Name: ", automaton, **options).result() == expected
    assert generate(MODEL, TOKENIZER, "Name: ", automaton, speculation=Speculation(), **options) == [expected]
    assert best_of_n(MODEL, TOKENIZER, "Name: ", automaton, n=1, **options)[0][0].text == expected


def test_sampling_prefers_what_costs_less() -> None:
    weights = {"yes": 0.0, "no": 3.0}
    constraint = ex.alternation(*[ex.literal(word).weighted(cost) for word, cost in weights.items()])
    odds = []
    for scale in (0.0, 1.0):
        automaton = tokenfst.compile(constraint, VOCABULARY, scale=scale)
        texts = best_of_n(MODEL, TOKENIZER, "Answer: ", automaton, n=400, max_new_tokens=8, seed=3)[0]
        counts = Counter(hypothesis.text for hypothesis in texts)
        odds.append((counts["yes"] + 0.5) / (counts["no"] + 0.5))
    assert math.log(odds[1] / odds[0]) == pytest.approx(3, abs=1)


def test_a_healed_prompt_has_the_costs_of_what_comes_after_it() -> None:
    automaton = tokenfst.compile(HOT, VOCABULARY)
    prompt = TOKENIZER("He came a")["input_ids"]
    rest, healed = heal(prompt, automaton)
    assert len(rest) < len(prompt)
    assert healed.is_weighted
    rng = __import__("random").Random(0)
    for _ in range(20):
        tokens = random_tokens(healed, rng, 16)
        state, total = healed.start, healed.initial_cost
        for token in tokens:
            total += float(healed.costs(state)[token])
            state = healed.advance(state, token)
        text = VOCABULARY.detokenize(tokens)[len(healed.prefix) :]
        assert total == pytest.approx(automaton.weight(text), abs=1e-4)
        assert healed.weight(tokens) == pytest.approx(automaton.weight(text))


class InBfloat16:
    """A model of half precision that likes `a` and `b` best, and alike."""

    device = torch.device("cpu")

    def __call__(self, input_ids: torch.Tensor, **_: Any) -> Any:
        logits = torch.tensor([32.0, 32.0, 0, 0, 0, 1, 0], dtype=torch.bfloat16)
        return SimpleNamespace(logits=logits.expand(*input_ids.shape, -1), past_key_values=None)

    def read(self, readings: Sequence[Reading]) -> list[torch.Tensor]:
        return [self(torch.zeros(1, len(reading.places))).logits[0] for reading in readings]

    forwards = 0


def test_small_costs_count_with_a_model_of_half_precision() -> None:
    automaton = tokenfst.compile(parse("a").weighted(0.05) | "b", LETTERS)
    assert stream(InBfloat16(), LETTERS, [0], automaton, temperature=0, max_new_tokens=2).result() == "b"
    written = decode_speculatively(InBfloat16(), [[0]], automaton, sampling=Sampling(temperature=0))
    assert written.texts == [b"b"]


def test_large_automata_stay_on_the_host() -> None:
    words = ["".join(letters) for letters in itertools.product("abcdef", repeat=4)]
    lexicon = ex.alternation(*[ex.literal(word).weighted(number / 64) for number, word in enumerate(words)])
    automaton = tokenfst.compile(lexicon, VOCABULARY, limits=Limits(seconds=20))
    assert automaton.weight("abcf") == words.index("abcf") / 64
    assert not automaton.accepts("abcg")
