"""On an accelerator the processor waits for nothing, and what is wrong is found nevertheless, only later.

There need be no accelerator: tensors on torch's `meta` device have no values, so whatever reads one on the host is an
error there. What comes out is compared on the CPU, where the tracker is told that reading would have to wait.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from test_processor import KINDS, LETTERS, WIDTH, adversary, whole, write

import constraints
import tokenfst
from automata import IncompleteOutput, TokenNotAllowed, TooManyConfigurations
from decoding import ConstraintLogitsProcessor, bundled_model, generate, stream
from decoding.arena import Arena
from decoding.masking import batch_tracker
from decoding.masking.batch_tracker import CHECKED_EVERY, BatchTracker
from tokenfst import Vocabulary

ON_DEVICE = [KINDS["dense"], KINDS["counted"], KINDS["stack"], None]


@pytest.fixture
def deferring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_tracker, "_is_host", lambda device: False)


def moved(value: Any, device: torch.device) -> Any:
    """Tensors and devices of an object on another device, where they are found."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, torch.device):
        return device
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(moved(part, device) for part in value))
    if isinstance(value, dict):
        return {key: moved(part, device) for key, part in value.items()}
    return value


def move(holder: Any, device: torch.device) -> None:
    for name, value in list(vars(holder).items()):
        setattr(holder, name, moved(value, device))


@pytest.mark.usefixtures("deferring")
@pytest.mark.parametrize("automata", [ON_DEVICE[:1], ON_DEVICE], ids=["one", "several"])
@pytest.mark.parametrize("remaining", [None, 20])
@pytest.mark.parametrize("price", [0, 2])
def test_nothing_waits_for_a_value(automata: list[Any], remaining: int | None, price: int) -> None:
    device, cpu = torch.device("meta"), torch.device("cpu")
    tracker = BatchTracker(automata, LETTERS, torch.zeros(4, 3, dtype=torch.int64), cpu, WIDTH)
    arena = tracker._arena
    assert isinstance(arena, Arena)
    for holder in (arena, arena._heap, arena._program, tracker):
        move(holder, device)
    tokens = tracker._prompts
    for step in range(CHECKED_EVERY - 1):
        states = tracker.states(tokens)
        left = None if remaining is None else max(1, remaining - step)
        found = tracker.apply_(torch.empty(4, WIDTH, device=device), states, left, price)
        assert found.shape == (4, WIDTH)
        tokens = torch.cat([tokens, torch.empty(4, 1, dtype=torch.int64, device=device)], 1)
    with pytest.raises(RuntimeError, match="meta"):
        tracker.check()


@pytest.mark.usefixtures("deferring")
@pytest.mark.parametrize(
    "options",
    [
        {"do_sample": True, "temperature": 2.0},
        {"do_sample": True, "num_return_sequences": 3},
        {"num_beams": 4, "do_sample": True, "num_return_sequences": 2},
        {"do_sample": True, "cache_implementation": "static"},
    ],
    ids=str,
)
def test_each_row_keeps_to_its_own_constraint(options: dict[str, Any]) -> None:
    prompts = torch.tensor([[6, 6, 0], [6, 1, 2], [3, 1, 0], [6, 0, 0]])
    for seed in range(3):
        torch.manual_seed(seed)
        rows = write(adversary(WIDTH, 0), ON_DEVICE, prompts, **options)
        for at, row in enumerate(rows):
            assert whole(ON_DEVICE[at // options.get("num_return_sequences", 1)], row), (at, row)


@pytest.mark.parametrize("assistant", [False, True])
@pytest.mark.parametrize("name", ["dense", "stack", "lazy"])
def test_texts_are_those_of_immediate_checks(name: str, assistant: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model, prompts = adversary(WIDTH, 1), torch.tensor([[1, 1, 1]])
    options: dict[str, Any] = {"do_sample": False, "max_new_tokens": 40}
    if assistant:
        model.generation_config.num_assistant_tokens = 4
        model.generation_config.assistant_confidence_threshold = 0
        options["assistant_model"] = model
    expected = write(model, KINDS[name], prompts, **options)
    monkeypatch.setattr(batch_tracker, "_is_host", lambda device: False)
    assert write(model, KINDS[name], prompts, **options) == expected


def continued(processor: ConstraintLogitsProcessor, rows: list[list[int]]) -> torch.Tensor:
    """The masks after rows that begin with two tokens of prompt, asked about token by token."""
    for length in range(2, len(rows[0]) + 1):
        scores = processor(torch.tensor([row[:length] for row in rows]), torch.zeros(len(rows), WIDTH))
    return scores.isfinite()


@pytest.mark.usefixtures("deferring")
def test_what_was_wrong_is_found_later() -> None:
    automaton = tokenfst.compile("(ab){1,90}", LETTERS)
    options: dict[str, Any] = {"max_new_tokens": None}
    processor = ConstraintLogitsProcessor(automaton, LETTERS, **options)
    # One row went astray: it may end, and that is not an error.
    masks = continued(processor, [[0, 0, 1], [0, 0, 2]])
    assert masks[0].nonzero().flatten().tolist() == list(LETTERS.eos_ids)
    processor.check()
    processor = ConstraintLogitsProcessor(automaton, LETTERS, **options)
    continued(processor, [[0, 0, 1], [0, 0, 1]])
    with pytest.raises(TokenNotAllowed, match="every sequence"):
        processor.check()
    # At the latest after so many calls.
    processor = ConstraintLogitsProcessor(automaton, LETTERS, **options)
    with pytest.raises(TokenNotAllowed, match="every sequence"):
        continued(processor, [[0, 0, 1] + [2] * CHECKED_EVERY])


@pytest.mark.usefixtures("deferring")
def test_rows_that_continue_no_other_allow_nothing_but_the_end() -> None:
    processor = ConstraintLogitsProcessor(KINDS["dense"], LETTERS, max_new_tokens=None)
    continued(processor, [[0, 0], [0, 1]])
    masks = processor(torch.tensor([[0, 0, 2], [0, 5, 2]]), torch.zeros(2, WIDTH)).isfinite()
    assert masks[1].nonzero().flatten().tolist() == list(LETTERS.eos_ids)
    assert masks[0].nonzero().flatten().tolist() != list(LETTERS.eos_ids)
    with pytest.raises(ValueError, match="continues none of the rows of the previous call"):
        processor.check()


@pytest.mark.usefixtures("deferring")
def test_limits_that_do_not_go_together_are_found_later() -> None:
    grammar = constraints.grammar('root ::= "[" nested "]" | "aaaaaa"\nnested ::= "x" | "[" nested "]"')
    vocabulary = Vocabulary([b"[", b"]", b"a", b"x", b""], [4])
    processor = ConstraintLogitsProcessor(grammar, vocabulary, max_new_tokens=6, max_depth=0)
    processor(torch.tensor([[4]]), torch.zeros(1, 5))
    with pytest.raises(IncompleteOutput, match="within both"):
        processor.check()


@pytest.mark.usefixtures("deferring")
def test_derivations_that_are_too_many_are_found_later() -> None:
    palindromes = constraints.grammar(
        'start: "a" start "a" | "b" start "b" | ""', syntax="lark", ambiguity="parallel", max_configurations=2
    )
    automaton = tokenfst.compile(palindromes, LETTERS)
    processor = ConstraintLogitsProcessor(automaton, LETTERS, max_new_tokens=None)
    continued(processor, [[0, 0] + [0] * 8])
    with pytest.raises(TooManyConfigurations, match="rows"):
        processor.check()


@pytest.mark.usefixtures("deferring")
def test_generate_checks_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = bundled_model()
    looked: list[ConstraintLogitsProcessor] = []
    check = ConstraintLogitsProcessor.check

    def checked(processor: ConstraintLogitsProcessor) -> None:
        looked.append(processor)
        check(processor)

    monkeypatch.setattr(ConstraintLogitsProcessor, "check", checked)
    texts = generate(model, tokenizer, ["", "Date: "], r"\d{4}-\d\d", max_new_tokens=8, seed=1)
    assert all(len(text) == 7 for text in texts)
    assert len(looked) == 1
    assert stream(model, tokenizer, "", "[ab]{3}", max_new_tokens=8).result()
    assert len(looked) == 2
