"""The wrong thing passed in is an error that says what was meant."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

import constraints
import tokenfst
from automata import Cancelled, IncompleteOutput, VocabularyError
from decoding import (
    BackgroundCompiler,
    ConstraintLogitsProcessor,
    Speculation,
    beam_search,
    best_of_n,
    bundled_model,
    generate,
    heal,
    retokenize,
    stream,
    vocabulary_of,
)
from decoding.arena import Arena
from decoding.speculation import ForcedTokens
from tokenfst import Vocabulary

MODEL: Any
MODEL, TOKENIZER = bundled_model()
SMALL = Vocabulary([b"a", b"b", b""], eos_ids=[2])
WRITERS: dict[str, Callable[..., Any]] = {
    "generate": generate,
    "beam_search": beam_search,
    "best_of_n": best_of_n,
    "stream": stream,
}


@dataclass
class Point:
    x: int


every_writer = pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)


@every_writer
@pytest.mark.parametrize(
    ("prompts", "error", "message"),
    [
        (TOKENIZER("Name: "), TypeError, r"prompts are texts, and this is a tokenizer's output: pass the texts"),
        (torch.tensor([[1, 2]]), TypeError, "prompts are texts or lists of token ids, not Tensor"),
        (b"Name: ", TypeError, "prompts are texts or lists of token ids, not bytes"),
        (7, TypeError, "prompts are texts or lists of token ids, not int"),
        (torch.tensor([[5]]), TypeError, r"prompts are .*, not Tensor: ids\.tolist\(\) makes lists of them"),
        ([torch.tensor([5])], TypeError, r"prompt 0 is .*, not Tensor: prompt\.tolist\(\) makes a list of them"),
        ([{"role": "user", "content": "Hi"}], TypeError, r"not dict: .* tokenizer\.apply_chat_template\(messages"),
        ([[{"role": "user", "content": "Hi"}]], TypeError, r"not list: .* tokenizer\.apply_chat_template\(messages"),
        ([b"Name: "], TypeError, "prompt 0 is a text or a list of token ids, not bytes"),
        (["Name: ", None], TypeError, "prompt 1 is a text or a list of token ids, not NoneType"),
        ([[5], []], ValueError, "prompt 1 has no tokens: begin with the model's first special token"),
        ([[5], [5, 10**6]], ValueError, "prompt 1 has the token 1000000, which the model does not have"),
        ([-1], ValueError, "prompt 0 has the token -1, which the model does not have"),
    ],
    ids=str,
)
def test_prompts(write: Callable[..., Any], prompts: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        write(MODEL, TOKENIZER, prompts, "a")


@every_writer
def test_tokenizers_and_vocabularies(write: Callable[..., Any]) -> None:
    with pytest.raises(
        TypeError, match=r"expected a fast tokenizer of transformers or a tokenfst\.Vocabulary, not str"
    ):
        write(MODEL, "gpt2", "Name: ", "a")
    with pytest.raises(TypeError, match="prompt 0 is a text, and a vocabulary encodes none: pass the tokenizer"):
        write(MODEL, vocabulary_of(TOKENIZER), "Name: ", "a")
    with pytest.raises(VocabularyError, match=r"another vocabulary than the tokenizer's, of 3 tokens and not 2,048"):
        write(MODEL, TOKENIZER, "Name: ", tokenfst.compile("a", SMALL))
    with pytest.raises(VocabularyError, match="no end-of-sequence token, so no text could end"):
        write(MODEL, Vocabulary([b"a"]), [0], "a")


@every_writer
def test_numbers_of_constraints(write: Callable[..., Any]) -> None:
    message = r"2 constraints for 1 prompt: give one for all, or one for each; constraints\.choice\(\["
    with pytest.raises(ValueError, match=message):
        write(MODEL, TOKENIZER, "Name: ", ["a", "b"])


@every_writer
def test_limits(write: Callable[..., Any]) -> None:
    with pytest.raises(IncompleteOutput, match=r"at least \d+ tokens, and the limit is 2"):
        write(MODEL, TOKENIZER, [5], "zqxjvkzqxjvk", max_new_tokens=2)
    with pytest.raises(ValueError, match="automaton continues a text: compile it with at_text_start=True"):
        write(MODEL, TOKENIZER, "", tokenfst.compile("a", vocabulary_of(TOKENIZER)), at_text_start=True)


@every_writer
@pytest.mark.parametrize("limit", [1.5, "5", None, [5]], ids=str)
def test_limits_that_are_no_numbers(write: Callable[..., Any], limit: Any) -> None:
    with pytest.raises(TypeError, match=re.escape(f"max_new_tokens is a number of tokens, not {limit!r}")):
        write(MODEL, TOKENIZER, "Name: ", "a", max_new_tokens=limit)


@pytest.mark.parametrize("write", [generate, stream])
def test_a_limit_is_at_least_one_token(write: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="max_new_tokens is 1 or more, not 0"):
        write(MODEL, TOKENIZER, "Name: ", "a*", max_new_tokens=0)


def speculated(*arguments: Any, **options: Any) -> list[str]:
    texts: list[str] = generate(*arguments, speculation=Speculation(), **options)
    return texts


@pytest.mark.parametrize("write", [*WRITERS.values(), speculated])
@pytest.mark.parametrize("limit", [np.int64(5), np.uint8(5), torch.tensor(5), 10**30, sys.maxsize], ids=str)
def test_limits_of_any_integer_type(write: Callable[..., Any], limit: Any) -> None:
    written = list(write(MODEL, TOKENIZER, "Name: ", "ab?", max_new_tokens=limit))
    assert written
    if write is generate:
        assert written[0] in ("a", "ab")


def test_healing_tokens_that_no_vocabulary_has() -> None:
    """A model may read tokens that it cannot write, so these are no mistakes."""
    automaton = tokenfst.compile("[a-z]+", vocabulary_of(TOKENIZER))
    with pytest.raises(ValueError, match="the prompt has the token -5, which no vocabulary has"):
        heal([5, -5], automaton)
    assert heal([5, 10**6], automaton)[0] == [5, 10**6]


@every_writer
def test_seeds_that_are_no_integers(write: Callable[..., Any]) -> None:
    if write is not beam_search:
        with pytest.raises(TypeError, match=r"seed is an integer or None, not 1\.5"):
            write(MODEL, TOKENIZER, "Name: ", "a", seed=1.5)


@pytest.mark.parametrize("write", [beam_search, best_of_n])
@pytest.mark.parametrize("penalty", [33, -33.0, math.nan])
def test_penalties_of_lengths(write: Callable[..., Any], penalty: float) -> None:
    with pytest.raises(ValueError, match="length_penalty is from -32 to 32, not"):
        write(MODEL, TOKENIZER, "Name: ", "a", length_penalty=penalty)
    assert all(math.isfinite(one.score) for one in write(MODEL, TOKENIZER, "Name: ", "a", length_penalty=-32)[0])


@pytest.mark.parametrize("write", [generate, stream])
def test_depths_of_stacks(write: Callable[..., Any]) -> None:
    for constraint in (r"\d", constraints.json()):
        with pytest.raises(TypeError, match="max_depth is a number of symbols, not '3'"):
            write(MODEL, TOKENIZER, "Name: ", constraint, max_depth="3")
        with pytest.raises(ValueError, match="max_depth is 0 or more, not -1"):
            write(MODEL, TOKENIZER, "Name: ", constraint, max_depth=-1)


def test_numbers_of_beams_and_proposals() -> None:
    with pytest.raises(ValueError, match="num_beams is 1 or more, not 0"):
        generate(MODEL, TOKENIZER, "Name: ", "a", num_beams=0)
    with pytest.raises(IncompleteOutput, match="asked for more sequences than there are"):
        generate(MODEL, TOKENIZER, "Hello ", "", num_beams=4, num_return_sequences=4, temperature=0, max_new_tokens=8)
    with pytest.raises(ValueError, match="an assistant has the model's vocabulary"):
        generate(MODEL, TOKENIZER, "Name: ", "a", assistant_model=MODEL, assistant_tokenizer=TOKENIZER)
    with pytest.raises(ValueError, match="`token_healing` changes the prompt"):
        generate(MODEL, TOKENIZER, "Name: ", "a", token_healing=True)
    most: Any = "a"
    with pytest.raises(TypeError, match="max_proposed is a number of tokens, not 'a'"):
        Speculation(max_proposed=most)
    with pytest.raises(ValueError, match="max_proposed is 0 or more, not -1"):
        Speculation(max_proposed=-1)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"proposers": ForcedTokens()}, "`proposers` is a list, even if there is one"),
        ({"proposers": [3]}, "3 is not a proposer"),
        ({"draft_widths": 3}, "`draft_widths` is a list"),
        ({"draft_widths": (1.5,)}, "each of the widths of a draft is a number of tokens, not 1.5"),
    ]
    for options, message in wrong:
        with pytest.raises(TypeError, match=message):
            Speculation(**options)


@every_writer
def test_futures(write: Callable[..., Any]) -> None:
    """What a future brings is checked as what is passed itself."""
    future = Future[Any]()
    future.set_result(tokenfst.compile("a", vocabulary_of(TOKENIZER)))
    with pytest.raises(ValueError, match="automaton continues a text: compile it with at_text_start=True"):
        list(write(MODEL, TOKENIZER, "Name: ", future, at_text_start=True))
    other = Future[Any]()
    other.set_result("a")
    with pytest.raises(TypeError, match="the result of the future is no automaton: it is of type str"):
        list(write(MODEL, TOKENIZER, "Name: ", other))
    given_up = Future[Any]()
    given_up.cancel()
    with pytest.raises(Cancelled, match="given up before it was done"):
        list(write(MODEL, TOKENIZER, "Name: ", given_up))


def test_a_processor_without_a_constraint() -> None:
    with pytest.raises(ValueError, match="there is no constraint: give one for all prompts, or one for each"):
        ConstraintLogitsProcessor([], TOKENIZER, max_new_tokens=9)


@pytest.mark.parametrize("after", [1.5, "5"])
def test_wrapping_up_after_what_is_no_number(after: Any) -> None:
    for write in (generate, stream):
        with pytest.raises(TypeError, match=f"wrap_up_after is a number of tokens, not {after!r}"):
            write(MODEL, TOKENIZER, "Name: ", "a", wrap_up_after=after)
    one: Any = np.int64(1)
    assert generate(MODEL, TOKENIZER, "Name: ", "ab", wrap_up_after=one) == ["ab"]


@pytest.mark.parametrize("write", [generate, speculated, best_of_n, stream])
@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("temperature", -1, "0 or more"),
        ("temperature", math.nan, "0 or more"),
        ("temperature", math.inf, "finite"),
        ("top_p", 1.5, "above 0 and at most 1"),
        ("min_p", -0.5, "from 0 to 1"),
        ("typical_p", 2, "above 0 and at most 1"),
        ("top_k", -1, "1 or more"),
        ("repetition_penalty", 0, "above 0"),
    ],
)
def test_settings_out_of_their_ranges(write: Callable[..., Any], name: str, value: float, expected: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is {expected}, and {value!r} is not"):
        write(MODEL, TOKENIZER, "Name: ", "a", **{name: value})


@pytest.mark.parametrize("speculation", [None, Speculation()])
def test_the_neutral_settings_of_transformers(speculation: Speculation | None) -> None:
    neutral: dict[str, Any] = {"top_k": 0, "top_p": 1.0, "min_p": None, "typical_p": 1.0}
    assert generate(MODEL, TOKENIZER, "Name: ", "ab", speculation=speculation, **neutral) == ["ab"]


@pytest.mark.parametrize("write", [generate, stream, best_of_n, speculated])
@pytest.mark.parametrize("seed", [np.int64(5), np.uint8(5), 2**70 + 5, -(2**64) + 5], ids=str)
def test_seeds_of_any_integer_type_and_size(write: Callable[..., Any], seed: Any) -> None:
    options: dict[str, Any] = {"max_new_tokens": 8, "temperature": 2.0}
    found, expected = (write(MODEL, TOKENIZER, "Name: ", "[a-z]{3,9}", seed=one, **options) for one in (seed, 5))
    assert [*found] == [*expected]


@pytest.mark.parametrize("write", [generate, stream, best_of_n, speculated])
@pytest.mark.parametrize("name", ["temperature", "top_p", "repetition_penalty"])
def test_settings_that_are_no_numbers(write: Callable[..., Any], name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} is a number, not '1'"):
        write(MODEL, TOKENIZER, "Name: ", "a", **{name: "1"})


@pytest.mark.parametrize("write", [beam_search, best_of_n])
def test_searches_without_a_constraint(write: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"prompt 1 has no constraint: r'\(\?s:\.\)\*' allows any text"):
        write(MODEL, TOKENIZER, ["a", "b"], ["a", None])


def test_a_stream_of_several_prompts() -> None:
    prompts: Any = ["a", "b"]
    with pytest.raises(ValueError, match="a stream is one text, and there are 2 prompts: use `generate`"):
        stream(MODEL, TOKENIZER, prompts, "a")


@pytest.mark.parametrize(
    "options", [{"num_beams": 2}, {"wrap_up_after": 3}, {"max_depth": 3}, {"cache_implementation": "static"}], ids=str
)
def test_options_that_do_not_go_with_speculation(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"`{next(iter(options))}` cannot be combined with `speculation`"):
        generate(MODEL, TOKENIZER, "Name: ", "a", speculation=Speculation(), **options)


def test_settings_that_transformers_does_not_have() -> None:
    with pytest.raises(ValueError, match="presence_penalty is a setting of `stream`"):
        generate(MODEL, TOKENIZER, "Name: ", "a", presence_penalty=1.0)


# The processor


@pytest.mark.parametrize(
    "constraint", [constraints.typed(Point), constraints.json(), r"\d+"], ids=["type", "grammar", "pattern"]
)
def test_the_processor_takes_what_compiles(constraint: Any) -> None:
    prompt = TOKENIZER("Value: ", return_tensors="pt")
    processor = ConstraintLogitsProcessor(constraint, TOKENIZER, max_new_tokens=12)
    written = MODEL.generate(**prompt, logits_processor=[processor], max_new_tokens=12, do_sample=False)
    tokens = written[0, prompt["input_ids"].shape[1] :].tolist()
    automaton = tokenfst.compile(constraint, vocabulary_of(TOKENIZER))
    ends = [place for place, token in enumerate(tokens) if token in automaton.vocabulary.eos_ids]
    assert automaton.accepts(tokens[: ends[0] + 1])


def test_the_processor_knows_its_limit_and_its_vocabulary() -> None:
    make: Any = ConstraintLogitsProcessor
    with pytest.raises(TypeError, match="max_new_tokens"):
        make(r"\d+", TOKENIZER)
    with pytest.raises(IncompleteOutput, match=r"at least \d+ tokens, and the limit is 3"):
        ConstraintLogitsProcessor("zqxjvkzqxjvk", TOKENIZER, max_new_tokens=3)
    with pytest.raises(ValueError, match="max_new_tokens is 1 or more, not 0"):
        ConstraintLogitsProcessor("a*", TOKENIZER, max_new_tokens=0)
    with pytest.raises(VocabularyError, match="another vocabulary than the tokenizer's"):
        ConstraintLogitsProcessor(tokenfst.compile("a", SMALL), TOKENIZER, max_new_tokens=5)
    with pytest.raises(TypeError, match=r"expected a fast tokenizer of transformers or a tokenfst.Vocabulary"):
        ConstraintLogitsProcessor("a", MODEL, max_new_tokens=5)
    with pytest.raises(ValueError, match=r"logits of width 100 do not cover the vocabulary of 2048"):
        ConstraintLogitsProcessor("a", TOKENIZER, max_new_tokens=5)(torch.tensor([[0]]), torch.zeros(1, 100))
    with pytest.raises(VocabularyError, match=r"width 5000 are another model's: the vocabulary has 2048 tokens"):
        ConstraintLogitsProcessor("a", TOKENIZER, max_new_tokens=5)(torch.tensor([[0]]), torch.zeros(1, 5000))


def test_a_limit_that_the_processor_knows_is_kept() -> None:
    prompt = TOKENIZER("Born: ", return_tensors="pt")
    processor = ConstraintLogitsProcessor(r"\d{4}(-\d\d(-\d\d)?)?", TOKENIZER, max_new_tokens=5)
    written = MODEL.generate(**prompt, logits_processor=[processor], max_new_tokens=5, do_sample=False)
    text = TOKENIZER.decode(written[0, prompt["input_ids"].shape[1] :], skip_special_tokens=True)
    assert len(text) in (4, 7, 10)


def test_scores_stay_as_they_are_unless_they_are_masked_in_place() -> None:
    processor = ConstraintLogitsProcessor("a", SMALL, max_new_tokens=2)
    scores = torch.zeros(1, 3)
    assert processor(torch.tensor([[0]]), scores).tolist() == [[0.0, float("-inf"), float("-inf")]]
    assert scores.tolist() == [[0.0, 0.0, 0.0]]
    assert processor.apply_(torch.tensor([[0]]), scores) is scores
    assert scores.tolist() == [[0.0, float("-inf"), float("-inf")]]


# Vocabularies


@pytest.mark.parametrize(
    "use",
    [
        lambda wrong: Arena(wrong),
        lambda wrong: retokenize(MODEL, wrong, [0], "a"),
        lambda wrong: BackgroundCompiler().submit("a", wrong),
    ],
    ids=["arena", "retokenize", "background"],
)
def test_a_tokenizer_where_a_vocabulary_is_expected(use: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"not a tokenizer: pass decoding\.vocabulary_of\(tokenizer\)"):
        use(TOKENIZER)
    with pytest.raises(TypeError, match=r"expected a tokenfst\.Vocabulary, not list"):
        use([b"a"])


# One signature


def test_speculation_writes_whole_texts_and_counts() -> None:
    speculation = Speculation([ForcedTokens()], draft_model=MODEL)
    texts = generate(MODEL, TOKENIZER, ["Name: ", "Name: "], "[A-Z][a-z]{2,9}", seed=3, speculation=speculation)
    assert all(text.isalpha() and text.istitle() for text in texts)
    statistics = speculation.statistics
    assert 0 < statistics.accepted <= statistics.proposed
    assert statistics.forwards < statistics.tokens
    assert texts == generate(MODEL, TOKENIZER, ["Name: ", "Name: "], "[A-Z][a-z]{2,9}", seed=3, speculation=speculation)
    # Texts that share a seed are drawn independently.
    plain = generate(MODEL, TOKENIZER, ["Name: "] * 12, "[A-Z][a-z]{2,9}", seed=3, speculation=Speculation())
    assert len(set(plain)) > 1


def test_a_text_with_a_seed_of_its_own_is_the_same_in_any_batch() -> None:
    def write(seeds: Sequence[int]) -> list[str]:
        options: Any = {"speculation": Speculation([ForcedTokens()]), "seed": seeds}
        texts: list[str] = generate(MODEL, TOKENIZER, ["Name: "] * len(seeds), "[A-Z][a-z]{2,9}", **options)
        return texts

    alone = {seed: write([seed])[0] for seed in range(4)}
    assert len(set(alone.values())) > 1
    assert write([3, 1, 0, 2, 1]) == [alone[seed] for seed in (3, 1, 0, 2, 1)]


def test_seeds_are_as_many_as_prompts_and_need_speculation() -> None:
    with pytest.raises(ValueError, match="there are 1 seeds for 2 prompts"):
        generate(MODEL, TOKENIZER, ["a", "b"], "a|b", seed=[1], speculation=Speculation())
    with pytest.raises(ValueError, match="a list of seeds needs `speculation`"):
        generate(MODEL, TOKENIZER, ["a", "b"], "a|b", seed=[1, 2])


@pytest.mark.parametrize("count", [1, 2])
def test_all_take_futures_and_token_ids(count: int) -> None:
    prompts, vocabulary = [TOKENIZER("Say: ")["input_ids"]] * count, vocabulary_of(TOKENIZER)
    with BackgroundCompiler() as compiler:
        options: dict[str, Any] = {"max_new_tokens": 4}

        def request() -> Any:
            return compiler.submit("yes|no", vocabulary)

        assert set(generate(MODEL, vocabulary, prompts, request(), **options)) <= {"yes", "no"}
        assert set(generate(MODEL, vocabulary, prompts, request(), speculation=Speculation(), **options)) <= {
            "yes",
            "no",
        }
        for search in (beam_search, best_of_n):
            found = search(MODEL, vocabulary, prompts, request(), **options)
            assert len(found) == count
            assert {str(one) for each in found for one in each} <= {"yes", "no"}
        assert stream(MODEL, vocabulary, prompts[0], request(), **options).result() in ("yes", "no")


@every_writer
def test_no_prompts(write: Callable[..., Any]) -> None:
    if write is stream:
        with pytest.raises(ValueError, match="there are 0 prompts"):
            write(MODEL, TOKENIZER, [], "a")
    else:
        assert write(MODEL, TOKENIZER, [], "a") == []


def test_settings_mean_the_same_in_all() -> None:
    """With the likeliest token alone left, all ways of drawing write what greedy search writes."""
    options: dict[str, Any] = {"max_new_tokens": 10}
    (greedy,) = generate(MODEL, TOKENIZER, "Name: ", "[A-Z][a-z]+", temperature=0, **options)
    assert generate(MODEL, TOKENIZER, "Name: ", "[A-Z][a-z]+", temperature=1e-40, **options) == [greedy]
    options |= {"top_k": 1, "temperature": 2.0}
    assert generate(MODEL, TOKENIZER, "Name: ", "[A-Z][a-z]+", **options) == [greedy]
    assert generate(MODEL, TOKENIZER, "Name: ", "[A-Z][a-z]+", speculation=Speculation(), **options) == [greedy]
    assert stream(MODEL, TOKENIZER, "Name: ", "[A-Z][a-z]+", **options).result() == greedy
    assert {str(one) for one in best_of_n(MODEL, TOKENIZER, "Name: ", "[A-Z][a-z]+", n=3, **options)[0]} == {greedy}


def test_names_are_listed() -> None:
    import decoding

    assert dir(decoding) == sorted(decoding.__all__)
    assert all(getattr(decoding, name) for name in decoding.__all__)
