"""A limit on the stack holds for every row of a batch, or is refused, however fast the machine is."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from toy_models import LETTERS
from transformers import LogitsProcessor, LogitsProcessorList

import decoding.masking.batch_tracker
import tokenfst
from automata import LimitExceeded, TooManyConfigurations
from constraints import grammar, json_schema
from decoding import ConstraintLogitsProcessor, bundled_model, generate, vocabulary_of
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
