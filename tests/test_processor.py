"""The processor serves every mode of transformers' `generate`: each row keeps to its own constraint, whoever asks."""

from __future__ import annotations

import random
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import complete
from transformers import LlamaConfig, LlamaForCausalLM, LogitsProcessor, LogitsProcessorList

import constraints
import decoding.masking.batch_tracker
import tokenfst
from automata import EmptyLanguage, IncompleteOutput, TokenNotAllowed, VocabularyError
from decoding import ConstraintLogitsProcessor, bundled_model, generate, vocabulary_of
from decoding.compiling import BackgroundCompiler
from decoding.masking.batch_tracker import KEPT
from decoding.speculation import Speculation
from tokenfst import Vocabulary

LETTERS = Vocabulary([b"a", b"b", b"ab", b"aba", b"\xc3", b"\xa9", b"", b"bb", b""], eos_ids=[6, 8])
WIDTH = 12
BALANCED = constraints.grammar('start: "a" start "b" | "ab"', syntax="lark")
PALINDROMES = constraints.grammar('start: "a" start "a" | "b" start "b" | ""', syntax="lark")
LAZY = tokenfst.compile("b(ab|b)+a?", LETTERS)
KINDS: dict[str, Any] = {
    "dense": complete("(ab)*b?", LETTERS),
    "counted": complete("(a|bb){3,200}", LETTERS),
    "stack": complete(BALANCED, LETTERS),
    "parallel": tokenfst.compile(replace(PALINDROMES, ambiguity="parallel", max_configurations=12), LETTERS),
    "lazy": LAZY,
    "none": None,
}


def adversary(width: int, seed: int) -> Any:
    """A model with random weights: whatever it writes, it writes against its will."""
    torch.manual_seed(seed)
    sizes: Any = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=width, max_position_embeddings=256, **sizes)).eval()


def whole(automaton: Any, tokens: list[int]) -> bool:
    """Whether tokens are a text with an end token behind it, and whatever behind that."""
    ends = [place for place, token in enumerate(tokens) if token in LETTERS.eos_ids]
    return automaton is None or (bool(ends) and automaton.accepts(tokens[: ends[0]]))


def write(model: Any, automata: Any, prompts: torch.Tensor, **options: Any) -> list[list[int]]:
    limit = options.setdefault("max_new_tokens", 12)
    processor = ConstraintLogitsProcessor(automata, LETTERS, max_new_tokens=limit)
    written = model.generate(
        input_ids=prompts,
        attention_mask=(prompts != 6).long(),
        logits_processor=LogitsProcessorList([processor]),
        eos_token_id=list(LETTERS.eos_ids),
        pad_token_id=6,
        **options,
    )
    rows: list[list[int]] = written[:, prompts.shape[1] :].tolist()
    return rows


PROMPTS = torch.tensor([[6, 6, 0], [6, 1, 2], [3, 1, 0], [6, 0, 0], [1, 1, 1], [6, 6, 5]])
MODES: list[dict[str, Any]] = [
    {"do_sample": False},
    {"do_sample": True, "temperature": 2.0},
    {"do_sample": True, "top_k": 3, "top_p": 0.9, "num_return_sequences": 3},
    {"num_beams": 3, "do_sample": False},
    {"num_beams": 4, "do_sample": True, "num_return_sequences": 2},
    {"do_sample": True, "cache_implementation": "static"},
    {"num_beams": 2, "do_sample": False, "cache_implementation": "static"},
    {"do_sample": True, "use_cache": False},
]


@pytest.mark.parametrize("options", MODES, ids=str)
def test_each_row_keeps_to_its_own_constraint(options: dict[str, Any]) -> None:
    automata, model = list(KINDS.values()), adversary(WIDTH, 0)
    for seed in range(3):
        torch.manual_seed(seed)
        rows = write(model, automata, PROMPTS, **options)
        times = options.get("num_return_sequences", 1)
        assert len(rows) == times * len(automata)
        for at, row in enumerate(rows):
            assert whole(automata[at // times], row), (at, row)


@pytest.mark.parametrize("automaton", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("assistant", ["itself", "another", "lookup"])
def test_assisted_generation_writes_what_plain_generation_writes(automaton: Any, assistant: str) -> None:
    model, options = adversary(WIDTH, 1), dict[str, Any]()
    if assistant == "lookup":
        options["prompt_lookup_num_tokens"] = 3
    else:
        other = model if assistant == "itself" else adversary(WIDTH, 2)
        other.generation_config.num_assistant_tokens = 4
        other.generation_config.assistant_confidence_threshold = 0
        options["assistant_model"] = other
    for prompt in PROMPTS[[2, 4]].unflatten(0, (-1, 1)):
        plain = write(model, automaton, prompt, do_sample=False)
        assert write(model, automaton, prompt, do_sample=False, **options) == plain
        for seed in range(2):
            torch.manual_seed(seed)
            (row,) = write(model, automaton, prompt, do_sample=True, temperature=2.0, **options)
            assert whole(automaton, row)


@pytest.mark.parametrize("sampled", [True, False])
def test_a_text_ends_where_another_processor_forbids_the_rest(sampled: bool) -> None:
    """The constraint forbids what the other processor leaves: the end, before the least length, or a letter."""
    automaton, model = tokenfst.compile("bb", LETTERS), adversary(WIDTH, 0)
    (row,) = write(model, automaton, PROMPTS[:1], do_sample=sampled, min_new_tokens=8)
    assert whole(automaton, row)
    prompts, temperature = [PROMPTS[0].tolist()], float(sampled)
    letters = [token for token, text in enumerate(LETTERS.tokens) if b"b" in text]
    with pytest.raises(IncompleteOutput, match="another option stopped it"):
        generate(model, LETTERS, prompts, automaton, max_new_tokens=9, temperature=temperature, suppress_tokens=letters)


def test_options_beside_a_constraint() -> None:
    model, tokenizer = bundled_model()

    def written(**options: Any) -> str:
        text: str
        (text,) = generate(model, tokenizer, "a", r"\d{3,9}", seed=3, max_new_tokens=20, **options)
        return text

    class Sevens(LogitsProcessor):
        def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
            return scores.masked_fill(torch.tensor([bool(text.strip(b"7")) for text in texts]), -99.0)

    texts = vocabulary_of(tokenizer).tokens
    assert set(written(logits_processor=[Sevens()])) == {"7"}
    stopped = written(stop_strings=["5", "6"])
    assert not {"5", "6"} & set(stopped[:-1])
    # A row that is over before the others is filled with padding, which is no part of its text.
    both = ["yes", "maybe later"]
    assert generate(model, tokenizer, ["a", "b"], both, max_new_tokens=20, stop_strings=["yes"]) == both
    for name in ("assistant_model", "prompt_lookup_num_tokens"):
        with pytest.raises(ValueError, match=f"`trace` cannot be combined with `{name}`"):
            written(trace=True, **{name: 3})
    for name in ("eos_token_id", "pad_token_id", "return_dict_in_generate", "input_ids", "generation_config"):
        with pytest.raises(ValueError, match=f"{name} is set by `generate`"):
            written(**{name: 1})
    for temperature, do_sample in ((0, True), (1.0, False)):
        with pytest.raises(ValueError, match=f"do_sample={do_sample} contradicts temperature={temperature}"):
            written(temperature=temperature, do_sample=do_sample)
    model.generation_config.return_dict_in_generate = True
    assert written(do_sample=True) == written()
    with pytest.raises(TypeError, match=r"`speculation` is a `Speculation\(proposers\)`, not list"):
        written(speculation=[])
    with pytest.raises(ValueError, match="widths of a draft is 1 or more"):
        Speculation(draft_widths=(2, 0))


def test_models_with_logits_of_other_widths_take_turns() -> None:
    automaton, prompt = KINDS["dense"], torch.tensor([[0, 1]])
    processor = ConstraintLogitsProcessor([automaton], LETTERS, max_new_tokens=9)
    rows = [[0, 1], [0, 1, 2], [0, 1, 0, 1], [0, 1, 0], [0, 1, 2]]
    for at, row in enumerate(rows):
        found = processor(torch.tensor([row]), torch.zeros(1, WIDTH + at % 2))[0]
        state = automaton.start
        for token in row[2:]:
            state = automaton.advance(state, token)
        expected = np.flatnonzero(automaton.mask(state)).tolist()
        assert torch.isfinite(found).nonzero().flatten().tolist() == expected
    assert processor(prompt, torch.zeros(1, WIDTH)).shape == (1, WIDTH)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_masks_are_those_of_the_rows_in_whatever_order_they_come(seed: int, beams: int) -> None:
    """Rows go on, go back, change places among those of their prompt, and are asked about again."""
    rng = random.Random(seed)
    automata = list(KINDS.values())
    limit = 40
    processor = ConstraintLogitsProcessor(automata, LETTERS, max_new_tokens=limit)
    written: list[list[list[int]]] = [[[] for _ in range(beams)] for _ in automata]
    for _ in range(12):
        rows = [[1, 0, *row] for group in written for row in group]
        found = torch.isfinite(processor(torch.tensor(rows), torch.zeros(len(rows), WIDTH)))
        for number, (automaton, group) in enumerate(zip(automata, written, strict=True)):
            for place, row in enumerate(group):
                mask = found[number * beams + place].tolist()
                assert mask == expected_mask(automaton, row, limit), (number, row)
        count = len(written[0][0])
        step = rng.choice(["on", "on", "on", "back", "again", "shuffle"])
        if step == "back":
            count = rng.randrange(count + 1)
            written = [[row[:count] for row in group] for group in written]
        elif step == "shuffle":
            written = [[list(rng.choice(group)) for _ in group] for group in written]
        elif step == "on":
            for automaton, group in zip(automata, written, strict=True):
                for row in group:
                    row.append(rng.choice(np.flatnonzero(expected_mask(automaton, row, limit)).tolist()))
            written = [[list(row) for row in group] for group in written]


def expected_mask(automaton: Any, row: list[int], limit: int) -> list[bool]:
    """What an automaton allows behind a row, and what may be written behind its end."""
    if automaton is None:
        return [number < len(LETTERS) for number in range(WIDTH)]
    state = automaton.start
    for token in row:
        if token in LETTERS.eos_ids:
            return [number in LETTERS.eos_ids for number in range(WIDTH)]
        state = automaton.advance(state, token)
    allowed: list[bool] = automaton.mask(state, limit - len(row)).tolist()
    return allowed + [False] * (WIDTH - len(LETTERS))


def test_rows_are_found_again_however_far_back() -> None:
    automaton = tokenfst.compile("(ab|b){0,200}", LETTERS)
    for one in (automaton, LAZY):
        processor, scores = ConstraintLogitsProcessor(one, LETTERS, max_new_tokens=None), torch.zeros(1, WIDTH)
        text = [1] + [2] * (2 * KEPT)
        for count in range(len(text)):
            processor(torch.tensor([[0, *text[:count]]]), scores)
        for count in (2 * KEPT, KEPT, 1, 0, KEPT + 3):
            found = torch.isfinite(processor(torch.tensor([[0, *text[:count]]]), scores))[0]
            state = one.start
            for token in text[:count]:
                state = one.advance(state, token)
            assert found[: len(LETTERS)].tolist() == one.mask(state).tolist()


def test_what_is_being_compiled_is_waited_for_at_the_first_call() -> None:
    model, tokenizer = bundled_model()
    vocabulary = vocabulary_of(tokenizer)
    schema = constraints.json_schema({"enum": ["yes", "no"]})
    with BackgroundCompiler() as compiler:
        requests = [compiler.submit(schema, vocabulary), None, compiler.submit("[ab]{3}", vocabulary)]
        texts = generate(model, tokenizer, ["Say: ", "", "x"], requests, max_new_tokens=8, seed=1)
        assert texts[0] in ('"yes"', '"no"')
        assert set(texts[2]) <= {"a", "b"}
        failing = compiler.submit("(?P<NOT>(.|\\n)*)", vocabulary)
        with pytest.raises(EmptyLanguage):
            generate(model, tokenizer, "x", failing)
    late: Future[Any] = Future()
    processor = ConstraintLogitsProcessor(late, LETTERS, max_new_tokens=2)
    late.set_result(tokenfst.compile("abababab", LETTERS))
    with pytest.raises(IncompleteOutput, match="at least 5 tokens, and the limit is 2"):
        processor(torch.tensor([[0]]), torch.zeros(1, WIDTH))


def test_generate_takes_a_constraint_for_each_prompt() -> None:
    model, tokenizer = bundled_model()
    lazy = tokenfst.compile(constraints.typed(list[int]), vocabulary_of(tokenizer))
    texts = generate(
        model, tokenizer, ["a", "b", "c"], [r"\d{3}", lazy, None], seed=2, max_new_tokens=9, num_return_sequences=2
    )
    assert all(text.isdigit() and len(text) == 3 for text in texts[:2])
    assert all(text[0] == "[" and text[-1] == "]" for text in texts[2:4])
    with pytest.raises(ValueError, match="2 constraints for 1 prompt:"):
        generate(model, tokenizer, "a", ["x", "y"])


@given(seed=st.integers(0, 10**6), number=st.integers(0, 6), after=st.integers(0, 4))
@settings(max_examples=30, deadline=None)
def test_length_is_charged_for_token_by_token(seed: int, number: int, after: int) -> None:
    """Each row's scores are less by the tokens that its text becomes longer than it has to be, times the price."""
    rng, kinds = random.Random(seed), [name for name in KINDS if name != "none"]
    prompts, rows = torch.zeros(len(kinds) + 1, 2, dtype=torch.int64), list[list[int]]()
    automata = [*(KINDS[name] for name in kinds), None]
    states = []
    for automaton in automata:
        tokens: list[int] = []
        state = automaton.start if automaton is not None else None
        while len(tokens) < number:
            allowed = [0] if automaton is None else np.flatnonzero(automaton.mask(state)).tolist()
            allowed = [token for token in allowed if token not in LETTERS.eos_ids]
            if not allowed:
                return
            tokens.append(rng.choice(allowed))
            state = automaton.advance(state, tokens[-1]) if automaton is not None else None
        rows.append(tokens)
        states.append(state)
    ids = torch.cat([prompts, torch.tensor(rows, dtype=torch.int64).view(len(rows), number)], 1)
    scores = torch.randn(len(rows), WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    processor = ConstraintLogitsProcessor(automata, LETTERS, max_new_tokens=None, wrap_up_after=after)
    processor(prompts, scores)
    found = processor(ids, scores)
    price = max(0, number - after + 1)
    for row, (automaton, state) in enumerate(zip(automata, states, strict=True)):
        if automaton is None:
            assert found[row, : len(LETTERS)].equal(scores[row, : len(LETTERS)])
            assert found[row, len(LETTERS) :].isneginf().all()
            continue
        least = automaton.min_tokens(state)
        for token in np.flatnonzero(automaton.mask(state)).tolist():
            behind = 0 if token in LETTERS.eos_ids else automaton.min_tokens(automaton.advance(state, token))
            excess = max(0, behind + 1 - least)
            assert found[row, token] == scores[row, token] - price * excess, (kinds[row], token)


@pytest.mark.parametrize("seconds", [0.25, 1e-9], ids=["on the device", "on the host"])
def test_no_price_of_length_forbids_a_token(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The price of 40 more tokens is beyond float16."""
    monkeypatch.setattr(decoding.masking.batch_tracker, "MAX_COMPLETING", seconds)
    rows, scores, masks = torch.tensor([[6] + [0] * 2000]), torch.zeros(1, WIDTH, dtype=torch.float16), []
    for wrap_up_after in (None, 0):
        options: dict[str, Any] = {"max_new_tokens": None, "wrap_up_after": wrap_up_after}
        processor = ConstraintLogitsProcessor("a*(b|éb{80})", LETTERS, **options)
        processor(rows[:, :1], scores)
        masks.append(processor(rows, scores).isfinite())
    assert masks[0].equal(masks[1])
    assert masks[0].sum() == 4


@pytest.mark.parametrize("lazy", [False, True])
def test_a_soft_close_ends_what_would_go_on(lazy: bool) -> None:
    model, tokenizer = bundled_model()
    vocabulary = vocabulary_of(tokenizer)
    text: Any = tokenfst.compile(r"[^.]+\.", vocabulary)
    text = text if lazy else text.complete()

    def longest(after: int | None) -> int:
        texts = generate(model, tokenizer, ["Question: "] * 8, text, max_new_tokens=150, wrap_up_after=after, seed=1)
        return max(len(tokenizer(written)["input_ids"]) for written in texts)

    assert longest(None) > 60
    assert longest(20) < 50


def test_mistakes_are_said() -> None:
    with pytest.raises(ValueError, match="wrap_up_after"):
        ConstraintLogitsProcessor(KINDS["dense"], LETTERS, max_new_tokens=None, wrap_up_after=-1)
    scores = torch.zeros(2, WIDTH)
    processor = ConstraintLogitsProcessor(KINDS["dense"], LETTERS, max_new_tokens=None)
    processor(torch.tensor([[0, 1], [1, 1]]), scores)
    for other in ([[1, 1], [1, 1]], [[0, 1]], [[0], [1]]):
        with pytest.raises(ValueError, match="one call of generate"):
            processor(torch.tensor(other), scores)
    with pytest.raises(ValueError, match="3 constraints, and 2 rows"):
        ConstraintLogitsProcessor([None] * 3, LETTERS, max_new_tokens=None)(torch.tensor([[0], [1]]), scores)
    with pytest.raises(ValueError, match="do not cover"):
        ConstraintLogitsProcessor(KINDS["lazy"], LETTERS, max_new_tokens=None)(torch.tensor([[0]]), torch.zeros(1, 5))
    other_vocabulary = tokenfst.compile("a", Vocabulary([b"a", b""], [1]))
    with pytest.raises(VocabularyError, match="another vocabulary than the tokenizer's, of 2 tokens and not 9"):
        ConstraintLogitsProcessor([KINDS["dense"], other_vocabulary], LETTERS, max_new_tokens=None)
    for kind in ("dense", "lazy", "stack"):
        processor = ConstraintLogitsProcessor(KINDS[kind], LETTERS, max_new_tokens=None)
        processor(torch.tensor([[0]]), scores[:1])
        with pytest.raises(TokenNotAllowed):
            processor(torch.tensor([[0, 4]]), scores[:1])
