"""A limit on the stack holds for every row of a batch, or is refused, however fast the machine is."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from toy_models import LETTERS
from transformers import LlamaConfig, LlamaForCausalLM, LogitsProcessor, LogitsProcessorList

import decoding.masking.batch_tracker
import tokenfst
from automata import IncompleteOutput, LimitExceeded, TooManyConfigurations
from constraints import grammar, json_schema
from decoding import (
    ConstraintLogitsProcessor,
    Speculation,
    beam_search,
    best_of_n,
    bundled_model,
    generate,
    heal,
    stream,
    vocabulary_of,
)
from decoding.inputs.healing import Healed
from decoding.sampling import Sampling
from decoding.speculation import DraftModel, decode_speculatively, tree_masks
from tokenfst import Vocabulary
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.vocabulary.all_bytes import ALL_BYTES

MODEL, TOKENIZER = bundled_model()
NESTED = 'start: "(" start ")" | "x"'


class Opening(LogitsProcessor):
    """Makes the model open as many brackets as it may."""

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        scores = scores.clone()
        scores[:, TOKENIZER("(")["input_ids"][-1]] += 1e4
        return scores


def depth(constraint: Any, **options: Any) -> int:
    opening = LogitsProcessorList([Opening()])
    text: str
    (text,) = generate(
        MODEL, TOKENIZER, ["x"], constraint, max_new_tokens=300, temperature=0, logits_processor=opening, **options
    )
    return text.count("(")


@pytest.mark.parametrize("seconds", [0.25, 1e-9])
def test_a_limit_holds_on_every_machine(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding.masking.batch_tracker, "MAX_COMPLETING", seconds)
    assert [depth(grammar(NESTED), max_depth=most) for most in (2, 140)] == [1, 139]


def test_rows_with_too_many_kinds_of_distances_stay_on_the_host() -> None:
    # After n brackets, the first kind of array ends n tokens sooner than the second.
    arrays = {
        kind: {
            "anyOf": [
                {"const": value},
                {
                    "prefixItems": [{"$ref": f"#/$defs/{kind}"}, *more],
                    "minItems": size,
                    "maxItems": size,
                    "type": "array",
                },
            ]
        }
        for kind, value, more, size in (("A", 1, [], 1), ("B", 2, [{"const": 3}], 2))
    }
    schema = {"$defs": arrays, "anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}
    constraint = json_schema(schema)
    tables = tokenfst.compile(constraint, vocabulary_of(TOKENIZER)).complete()
    assert isinstance(tables, PushdownTokenAutomaton)
    with pytest.raises(LimitExceeded, match="kinds of distances to the end"):
        _ = tables.distances
    for text in generate(MODEL, TOKENIZER, ["x: "] * 4, constraint, max_new_tokens=12, seed=1):
        assert tokenfst.compile(constraint, ALL_BYTES).accepts(text)


def test_automata_without_tables_have_to_be_limited_themselves() -> None:
    vocabulary = vocabulary_of(TOKENIZER)
    nested = tokenfst.compile(grammar(NESTED), vocabulary)
    with pytest.raises(ValueError, match=r"Healed has none: .*complete\(\)\.within\(max_depth\)"):
        depth(Healed(nested, "("), max_depth=2)
    tables = nested.complete()
    assert isinstance(tables, PushdownTokenAutomaton)
    assert depth(Healed(tables.within(3), "(")) == 2


def test_automata_without_a_stack_are_within_any_depth() -> None:
    vocabulary = vocabulary_of(TOKENIZER)
    letters = tokenfst.compile("[ab]{1,5}", vocabulary)
    canonical = tokenfst.compile("[ab]{1,5}", vocabulary, tokenization="canonical")
    for automaton in (letters, canonical, Healed(letters, "a")):
        (text,) = generate(MODEL, TOKENIZER, ["x"], automaton, max_new_tokens=9, max_depth=1, seed=1)
        assert set(text) <= set("ab")


# After "a", letters take many tokens, and brackets take few tokens, but a high stack.
DEEP = grammar('start: "a" (rest | nest)\nrest: "xxxxxx"\nnest: "(" nest ")" | "yyyyyyyy"')
DEEP_TOKENS = Vocabulary([b"", b"a", b"x", b"(", b")", b"y", b"((((yyyyyyyy", b"q", b"qa", b"))))"], eos_ids=[0])


def adversary(seed: int) -> Any:
    """A model with random weights."""
    torch.manual_seed(seed)
    sizes: Any = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=10, eos_token_id=0, bos_token_id=None, **sizes)).eval()


def streamed(*args: Any, **options: Any) -> list[str]:
    return [stream(*args, **options).result()]


def searched(*args: Any, **options: Any) -> list[str]:
    return [one.text for one in beam_search(*args, beams=2, **options)[0]]


def sampled(*args: Any, **options: Any) -> list[str]:
    return [one.text for one in best_of_n(*args, n=2, **options)[0]]


def speculated(*args: Any, **options: Any) -> list[str]:
    texts: list[str] = generate(*args, speculation=Speculation(), **options)
    return texts


def opportunistic(*args: Any, **options: Any) -> list[str]:
    texts: list[str] = generate(*args, speculation=Speculation(opportunistic=True), **options)
    return texts


@pytest.mark.parametrize("write", [generate, streamed, searched, sampled, speculated, opportunistic])
def test_limits_on_depth_and_tokens_that_do_not_go_together_leave_no_part_of_a_text(write: Any) -> None:
    limited: Any = tokenfst.compile(DEEP, DEEP_TOKENS).complete()
    limited = limited.within(1)
    prompt, healed = heal([3, 7], limited)
    refused = list[str]()
    for number in range(12):
        for before, automaton in ((prompt, healed), ([3], limited)):
            limit = (6, 7, 12)[number % 3]
            try:
                texts = write(adversary(number), DEEP_TOKENS, before, automaton, max_new_tokens=limit)
            except IncompleteOutput as error:
                refused.append(str(error))
                continue
            assert texts
            assert all(limited.accepts(text) for text in texts)
    assert 0 < len(refused) < 24
    assert all("within both `max_new_tokens` and `max_depth`" in error for error in refused)


def test_a_row_on_the_host_that_cannot_be_completed_in_time_may_only_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A beam of probability zero may be such a row, as on a device."""
    monkeypatch.setattr(decoding.masking.batch_tracker, "MAX_COMPLETING", 1e-9)
    lazy = tokenfst.compile("a{1,9}b(ab|b)*", LETTERS)
    processor = ConstraintLogitsProcessor(lazy, LETTERS, max_new_tokens=4)
    rows = torch.tensor([[0, 0, 0, 0], [0, 0, 2, 1]])  # three tokens each, and the first row lacks a "b"
    for length in range(1, 5):
        masked = processor(rows[:, :length], torch.zeros(2, len(LETTERS)))
    assert masked.isfinite().nonzero().tolist() == [[0, 5], [1, 5]]


@pytest.mark.parametrize("scores", [torch.zeros(5), torch.zeros(1, 5, dtype=torch.int64)])
def test_scores_of_another_shape_or_type_are_refused(scores: torch.Tensor) -> None:
    processor = ConstraintLogitsProcessor("[ab]*", LETTERS, max_new_tokens=3)
    with pytest.raises(ValueError, match=r"the scores are \[B, V\] floating-point numbers"):
        processor(torch.zeros(1, 1, dtype=torch.int64), scores)


class Preferring:
    """A model that always says the same."""

    forwards = 0

    def __init__(self, logits: list[float]) -> None:
        self.logits = logits

    def read(self, readings: Any) -> list[torch.Tensor]:
        return [torch.tensor([self.logits] * len(reading.places)) for reading in readings]


def test_a_proposal_that_is_too_ambiguous_is_not_added() -> None:
    """A mask may allow a token after which there are too many derivations; only writing it is an error."""
    vocabulary = Vocabulary([b"a", b"b", b"c", b"a" * 24, b""], eos_ids=[4])
    even = tokenfst.compile(grammar('start: "a" start "a" | "b" start "b" | ', ambiguity="parallel"), vocabulary)
    with pytest.raises(TooManyConfigurations):
        even.advance(even.start, 3)
    masks = tree_masks(even, even.start, [3, 0], [-1, -1])
    assert masks[:2, 0].tolist() == [0b11011, 0]
    assert masks[2, 0]
    settings: Any = {"max_new_tokens": 8, "sampling": Sampling(temperature=0)}
    target = Preferring([0.0, 5.0, 0.0, -50.0, 3.0])
    plain = decode_speculatively(target, [[0]], even, [], **settings).texts
    draft = DraftModel(Preferring([0.0, 0.0, 0.0, 9.0, 0.0]), (1,))
    assert decode_speculatively(target, [[0]], even, [draft], **settings).texts == plain
