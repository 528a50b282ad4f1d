"""The tokens that a model prefers are those of the algorithm as it is printed, in fewer forward passes."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from automata import EmptyLanguage
from decoding import bundled_model, vocabulary_of
from decoding.inputs.retokenize import retokenize
from tokenfst import Vocabulary

TEXTS = ['{"name": "Zoë", "age": 31}', "a", " the address of Größe 😀", "aaaaaaaa  \n\n  bbbb", '"}\n']


@pytest.fixture(scope="module")
def bundled() -> tuple[Any, Vocabulary]:
    model, tokenizer = bundled_model()
    return model, vocabulary_of(tokenizer)


def as_printed(model: Any, vocabulary: Vocabulary, prompt: list[int], text: bytes) -> tuple[tuple[int, ...], float]:
    """Algorithm 3: a forward pass over everything for each token."""
    written: list[int] = []
    total = 0.0
    while text:
        with torch.no_grad():
            scores = model(input_ids=torch.tensor([[*prompt, *written]])).logits[0, -1].log_softmax(-1)
        choices = [token for token, value in enumerate(vocabulary.tokens) if value and text.startswith(value)]
        best = max(choices, key=lambda token: float(scores[token]))
        written.append(best)
        total += float(scores[best])
        text = text[len(vocabulary.tokens[best]) :]
    return tuple(written), total


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("prompt", [[5], [300, 301, 2, 40, 50]], ids=["one token", "five tokens"])
def test_it_is_the_algorithm_as_it_is_printed(bundled: tuple[Any, Vocabulary], prompt: list[int], text: str) -> None:
    found = retokenize(*bundled, prompt, text)
    tokens, total = as_printed(*bundled, prompt, text.encode())
    assert found.tokens == tokens
    assert math.isclose(found.log_probability, total, rel_tol=1e-3)
    assert bundled[1].detokenize(found.tokens).decode() == text
    assert found.forwards <= len(tokens)


def test_it_takes_few_forward_passes_where_the_model_likes_long_tokens(bundled: tuple[Any, Vocabulary]) -> None:
    found = [retokenize(*bundled, [5], text) for text in TEXTS]
    assert 2 * sum(one.forwards for one in found) < sum(len(one.tokens) for one in found)


def test_a_model_against_its_will_prefers_other_tokens() -> None:
    vocabulary = Vocabulary([b"a", b"ab", b"b", b"ba", b"aba", b"", b"a"], [5])
    torch.manual_seed(0)
    sizes: Any = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=8, max_position_embeddings=64, **sizes)).eval()
    seen = set()
    for first in range(5):
        text = b"abaabbabab"
        found = retokenize(model, vocabulary, [first], text)
        assert found.tokens == as_printed(model, vocabulary, [first], text)[0]
        seen.add(found.tokens)
    assert len(seen) > 1


def test_no_choice_leads_to_where_the_text_cannot_be_finished() -> None:
    vocabulary = Vocabulary([b"a", b"ab", b"bc", b""], [3])

    class LikesTheSecond:
        forwards = 0

        def read(self, readings: Any) -> list[torch.Tensor]:
            self.forwards += 1
            return [torch.tensor([[0.0, 9.0, 1.0, 0.0]] * len(readings[0].places))]

    assert retokenize(LikesTheSecond(), vocabulary, [0], "abc").tokens == (0, 2)
    assert retokenize(LikesTheSecond(), vocabulary, [0], "").tokens == ()
    with pytest.raises(EmptyLanguage, match="spell b'cab'"):
        retokenize(LikesTheSecond(), vocabulary, [0], "cab")
    with pytest.raises(ValueError, match="prompt is empty"):
        retokenize(LikesTheSecond(), vocabulary, [], "a")


@pytest.mark.parametrize(
    ("prompt", "kind", "message"),
    [
        ([10**6], ValueError, "the token 1000000, which the model does not have"),
        ([-1], ValueError, "the token -1, which the model does not have"),
        ([[1]], TypeError, "and not list of list"),
        ("abc", TypeError, "and not a text"),
    ],
)
def test_what_is_no_prompt_is_refused(prompt: Any, kind: type[Exception], message: str) -> None:
    model, tokenizer = bundled_model()
    with pytest.raises(kind, match=message):
        retokenize(model, vocabulary_of(tokenizer, model), prompt, "ab")


def test_a_prompt_may_be_a_tensor() -> None:
    model, tokenizer = bundled_model()
    vocabulary, ids = vocabulary_of(tokenizer, model), tokenizer("The name")["input_ids"]
    given: Any = torch.tensor(ids)
    assert retokenize(model, vocabulary, given, " is") == retokenize(model, vocabulary, ids, " is")
