"""The grammar of a request to SGLang where a model reasons first, in frames of messages, and where text is forced."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from sglang.srt.constrained.base_grammar_backend import InvalidGrammarObject
from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend, ReasonerGrammarObject
from sglang.srt.environ import envs
from sglang_loops import (
    WIDTH,
    accepted,
    allowed,
    compiled,
    ids,
    manager,
    mask_of,
    published,
    request,
    submitted,
    tokenizer,
    written,
)

WORDS, END = WIDTH // 32, 0
SCHEMA = '{"type": "object", "properties": {"a": {"enum": [1, "x", true]}}, "additionalProperties": false}'


@pytest.fixture(scope="module")
def backend() -> Iterator[Any]:
    with published():
        yield manager().grammar_backend


@pytest.fixture
def made(backend: Any) -> Callable[[str, str], Any]:
    return partial(compiled, backend)


# Text that is forced


def test_forced_text_is_written_in_the_tokenizers_tokens(made: Any) -> None:
    pattern = r'\{"name": "[a-c]{2}", "colour": "red"\}'
    grammar = made("regex", pattern)
    assert made("regex", "[ab]c").try_jump_forward(tokenizer()) is None
    rng, written_ids = random.Random(1), list[int]()
    while not grammar.is_terminated():
        helper = grammar.try_jump_forward(tokenizer())
        if helper is not None:
            text, state = grammar.jump_forward_str_state(helper)
            assert (helper, state) == (([], text), -1)
            # As SGLang did: all that was written, cut again.
            again = ids(tokenizer().decode(written_ids) + text)
            grammar.jump_and_retokenize(written_ids, again, state)
            written_ids = again
        token = rng.choice(mask_of(grammar))
        grammar.accept_token(token)
        written_ids.append(token)
    text = tokenizer().decode(written_ids, skip_special_tokens=True)
    assert re.fullmatch(pattern, text)
    assert written_ids[:-1] == ids(text)


def test_tokens_that_may_not_be_put_there(made: Any) -> None:
    grammar = made("regex", "abc")
    old = [ids("a")[0], ids("b")[0]]
    for token in old:
        grammar.accept_token(token)
    before = mask_of(grammar)
    with pytest.raises(ValueError, match="may not be written in the place of"):
        grammar.jump_and_retokenize(old, [old[0], *ids("x")], -1)
    assert mask_of(grammar) == before
    grammar.jump_and_retokenize(old, old[:1], -1)
    assert mask_of(grammar) == accepted(grammar)
    assert grammar.matcher.num_tokens == 1


# Reasoning


def reasoned(strict: bool = False, **parameters: Any) -> tuple[Any, Any]:
    with published(reasoning_parser="qwen3", enable_strict_thinking=strict):
        grammars = manager(think_end_ids=ids("</think>"))
    requests = [request("1", reasoning=True, **parameters), request("2", **parameters)]
    submitted(grammars, requests)
    return grammars, requests


def test_the_constraint_begins_where_reasoning_ends() -> None:
    _, (thinking, plain) = reasoned(regex="[ab]{3}")
    assert isinstance(thinking.grammar, ReasonerGrammarObject)
    free = thinking.grammar.allocate_vocab_mask(WIDTH, 1, "cpu")
    thinking.grammar.fill_vocab_mask(free, 0)
    assert (free == -1).all()
    for token in [*ids("let me see"), *ids("</think>")]:
        thinking.grammar.accept_token(token)
    assert mask_of(thinking.grammar) == mask_of(plain.grammar)
    thinking.output_ids.extend(ids("</think>"))
    texts = written([thinking, plain])
    assert re.fullmatch("</think>[ab]{3}", texts[0])
    assert re.fullmatch("[ab]{3}", texts[1])
    thinking.grammar.rollback(len(ids("</think>")) + 3)
    assert thinking.grammar.try_jump_forward(tokenizer()) is None


def test_strict_thinking_has_a_budget_and_tokens_that_are_out() -> None:
    with envs.SGLANG_MAX_THINK_TOKENS.override(3):
        grammars, (thinking, _) = reasoned(strict=True, regex="[ab]{3}")
        other = request("3", reasoning=True)
        grammars.process_req_with_grammar(other)
    end = ids("</think>")
    out = grammars.grammar_backend.think_excluded_token_ids
    for grammar in (thinking.grammar, other.grammar):
        for _ in range(3):
            assert mask_of(grammar) == [token for token in range(WIDTH) if token not in set(out or ())]
            grammar.accept_token(ids("x")[0])
        for token in end:
            assert mask_of(grammar) == [token]
            grammar.accept_token(token)
    assert mask_of(thinking.grammar) == accepted(thinking.grammar)
    mask = other.grammar.move_vocab_mask(other.grammar.allocate_vocab_mask(WIDTH, 1, "cpu"), "cpu")
    logits = torch.zeros(1, WIDTH)
    other.grammar.apply_vocab_mask(logits, mask)
    assert (logits == 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_filters_of_tokens(backend: Any, seed: int) -> None:
    rng = random.Random(seed)
    mask = torch.randint(-(1 << 31), 1 << 31, (3, WORDS), dtype=torch.int64).to(torch.int32)
    for _ in range(20):
        before, row = mask.clone(), rng.randrange(3)
        tokens = [*rng.sample(range(WIDTH), rng.randint(0, 5)), 31, 32 * WORDS - 1]
        is_allowed, reset = rng.random() < 0.5, rng.random() < 0.5
        backend.set_token_filter(mask, tokens, row, is_allowed, reset_vocab_mask=reset)
        known = (set() if is_allowed else set(range(WIDTH))) if reset else set(allowed(before, row))
        assert set(allowed(mask, row)) == (known | set(tokens) if is_allowed else known - set(tokens))
        others = [other for other in range(3) if other != row]
        assert mask[others].equal(before[others])


# Frames


class Frame:
    """A frame around answers: perhaps a message of thoughts, and then one with the answer.

    Outside of frames its end is a token that writes text.
    """

    framed_key_types = ("json", "regex")
    think, answer, end = 1000, 1001, ids("c")[0]

    def framing_token_ids(self) -> list[int]:
        return [self.think, self.answer, self.end]

    def ends_in_open_answer_block(self, input_ids: Any) -> bool:
        return bool(input_ids and input_ids[-1] == self.answer)

    def owns_turn(self, structural_tag: str) -> bool:
        return False

    def structural_tag(self, content: Any, *, in_answer_block: bool, max_think_tokens: int) -> Any:
        end = {"type": "token", "token": self.end}
        thoughts: Any = {"type": "any_tokens", "exclude_tokens": [self.end]}
        if max_think_tokens >= 0:
            thoughts["max_tokens"] = max_think_tokens
        think = {"type": "sequence", "elements": [{"type": "token", "token": self.think}, thoughts, end]}
        before = [{"type": "optional", "content": think}, {"type": "token", "token": self.answer}]
        elements = [*([] if in_answer_block else before), content, end]
        return {"type": "structural_tag", "format": {"type": "sequence", "elements": elements}}


@pytest.fixture
def framing(backend: Any) -> Any:
    detector = SimpleNamespace(
        think_end_token="</think>",
        think_excluded_tokens=None,
        get_think_end_token_ids=lambda tokenizer: ids("</think>"),
        get_answer_frame=Frame,
    )
    return ReasonerGrammarBackend(backend, SimpleNamespace(detector=detector), tokenizer())


@pytest.mark.parametrize(("kind", "text", "answer"), [("regex", "[a-c]{2}", "ab"), ("json", SCHEMA, '{"a": 1}')])
def test_answers_in_a_frame(framing: Any, kind: str, text: str, answer: str) -> None:
    grammar = framing.get_cached_or_future_value((kind, text), True)[0].result(60)
    assert mask_of(grammar) == [Frame.think, Frame.answer]
    thoughts = [Frame.think, *ids("so be it"), Frame.think, Frame.end]
    for before in ([], thoughts):
        known = grammar.copy()
        for token in [*before, Frame.answer, *ids(answer)]:
            known.accept_token(token)
            assert token != Frame.answer or Frame.end not in mask_of(known)
        # The frame's tokens write no text there, and only its end may come.
        assert Frame.end in mask_of(known)
        assert not {Frame.think, Frame.answer, END} & set(mask_of(known))
        known.accept_token(Frame.end)
        assert mask_of(known) == [END]
        known.accept_token(END)
        assert known.is_terminated()


def test_answers_in_a_block_that_is_open(framing: Any) -> None:
    key = framing.get_request_grammar_key(("regex", "[ab]"), input_ids=[Frame.answer], thinking_budget=None)
    grammar = framing.get_cached_or_future_value(key, True)[0].result(60)
    for token in (ids("a")[0], Frame.end, END):
        assert token in mask_of(grammar)
        grammar.accept_token(token)
    invalid = framing.get_cached_or_future_value(("json", json.dumps({"type": "x"})), True)[0].result(60)
    assert isinstance(invalid, InvalidGrammarObject)
