"""The grammar of a request in SGLang's own loops: masks, acceptance, and trees of draft tokens.

Masks are compared with what `accept_token` takes, token by token.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarObject,
    GrammarMask,
    GrammarRow,
    get_vocab_mask_buffer,
)
from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarObject
from sglang.srt.speculative.spec_utils import generate_token_bitmask
from sglang_loops import (
    WIDTH,
    accepted,
    allowed,
    compiled,
    ids,
    manager,
    mask_of,
    published,
    tokenizer,
)

import serving.matcher
from automata.errors import LimitExceeded
from tokenfst import Vocabulary
from tokenfst.batches import fill_bitmasks
from tokenfst.token_automaton import TokenAutomaton

WORDS, END = WIDTH // 32, 0
VOCABULARY = len(tokenizer())
SCHEMA = '{"type": "object", "properties": {"a": {"enum": [1, "x", true]}}, "additionalProperties": false}'
KINDS = [("regex", "(ab|b)*c{1,3}"), ("json", SCHEMA), ("ebnf", 'root ::= "(" root ")" | "a"'), ("regex", "(?s).*")]


@pytest.fixture(scope="module")
def backend() -> Iterator[Any]:
    with published():
        yield manager().grammar_backend


@pytest.fixture
def made(backend: Any) -> Callable[[str, str], Any]:
    return partial(compiled, backend)


# Masks


@pytest.mark.parametrize(("kind", "text"), KINDS)
def test_masks_say_what_is_accepted(made: Any, kind: str, text: str) -> None:
    grammar, rng = made(kind, text), random.Random(text)
    steps = 0
    for _ in range(12):
        tokens = mask_of(grammar)
        assert tokens == accepted(grammar)
        if rng.random() < 0.3 and steps:
            back = rng.randint(1, steps)
            grammar.rollback(back)
            steps -= back
        elif set(tokens) != {END}:
            grammar.accept_token(rng.choice([token for token in tokens if token != END]))
            steps += 1


def test_logits_are_wider_than_the_vocabulary(made: Any) -> None:
    grammar = made("regex", "(?s).*")
    assert max(mask_of(grammar, WIDTH + 500)) < VOCABULARY
    logits = torch.zeros(1, WIDTH + 500)
    mask = grammar.allocate_vocab_mask(WIDTH + 500, 1, "cpu")
    grammar.fill_vocab_mask(mask, 0)
    GrammarMask(grammar, mask).apply(logits)
    assert (logits[0, VOCABULARY:] == float("-inf")).all()
    assert logits[0].isfinite().nonzero().flatten().tolist() == mask_of(grammar)
    # Logits narrower than the vocabulary are not a reason to stop either.
    narrow = torch.zeros(1, 1000)
    grammar.fill_vocab_mask(mask := grammar.allocate_vocab_mask(1000, 1, "cpu"), 0)
    GrammarMask(grammar, mask).apply(narrow)
    assert narrow[0].isfinite().nonzero().flatten().tolist() == [token for token in mask_of(grammar) if token < 1000]


class Everything(BaseGrammarObject):
    """Another backend's grammar."""

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        vocab_mask[idx] = 7


def test_a_batch_is_filled_in_one_call_and_others_fill_themselves(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(automata: Any, states: Any, out: Any, *rest: Any, **named: Any) -> None:
        calls.append(len(automata))
        fill_bitmasks(automata, states, out, *rest, **named)

    monkeypatch.setattr(serving.matcher, "fill_bitmasks", counted)
    grammars = [made(*kind) for kind in KINDS]
    reasoner = ReasonerGrammarObject(made("regex", "x"), [5])
    reasoner.maybe_init_reasoning(False)
    thinking = ReasonerGrammarObject(made("regex", "x"), [5])
    thinking.maybe_init_reasoning(True)
    rows = [1, 2, 5, 7, 0, 4, 9]
    mask = grammars[0].allocate_vocab_mask(WIDTH, 10, "cpu")
    batch = [*grammars, Everything(), reasoner, thinking]
    grammars[0].fill_vocab_mask_batched([GrammarRow(*pair) for pair in zip(rows, batch, strict=True)], mask)
    assert calls == [1, 4]  # the reasoner asks for its own row
    for row, grammar in zip(rows, grammars, strict=False):
        assert allowed(mask, row) == accepted(grammar)
    assert (mask[0] == 7).all()
    assert allowed(mask, 4) == ids("x")
    for row in (3, 6, 8, 9):  # nobody named them, or the model still thinks
        assert (mask[row] == -1).all()


def test_many_rows_take_several_threads(made: Any) -> None:
    grammars = [made(*KINDS[number % len(KINDS)]) for number in range(100)]
    grammars[0].threads = 4
    mask = grammars[0].allocate_vocab_mask(WIDTH, 100, "cpu")
    grammars[0].fill_vocab_mask_batched([GrammarRow(*pair) for pair in enumerate(grammars)], mask)
    for kind in range(len(KINDS)):
        assert allowed(mask, kind) == accepted(grammars[kind])
        assert all((mask[row] == mask[kind]).all() for row in range(kind, 100, len(KINDS)))


def test_a_buffer_of_masks(backend: Any, made: Any) -> None:
    grammar = made("regex", "a")
    buffer = backend.initialize_vocab_mask_buffer("test masks", WIDTH, 6, "cpu")
    assert (buffer.shape, buffer.dtype) == ((6, WORDS), torch.int32)
    assert get_vocab_mask_buffer("test masks", 4).data_ptr() == buffer.data_ptr()
    grammar.fill_vocab_mask(buffer, 2)
    assert allowed(buffer, 2) == ids("a")
    assert grammar.move_vocab_mask(buffer, "cpu").equal(buffer)
    grammar.reset_vocab_mask(buffer)
    assert (buffer == -1).all()


# Acceptance, ends, and the way back


def test_ends_and_the_way_back(made: Any) -> None:
    grammar = made("regex", "ab?")
    with pytest.raises(ValueError, match="token 0 may not come after the 0 tokens before it"):
        grammar.accept_token(END)
    for wrong in (-1, VOCABULARY, 1 << 40):
        with pytest.raises(ValueError, match="may not come"):
            grammar.accept_token(wrong)
    assert grammar.current_token is None
    a, b = ids("a")[0], ids("b")[0]
    grammar.accept_token(a)
    other = grammar.copy()
    grammar.accept_token(END)
    assert [grammar.is_terminated(), grammar.finished, grammar.current_token] == [True, False, END]
    assert mask_of(grammar) == [END]
    grammar.accept_token(b)  # SGLang may hand over what comes after the end
    grammar.rollback(1)
    assert not grammar.is_terminated()
    assert mask_of(grammar) == mask_of(other) == [END, b]
    other.accept_token(b)
    assert mask_of(other) == [END]
    assert mask_of(grammar) == [END, b]
    grammar.rollback(1)
    assert mask_of(grammar) == accepted(made("regex", "ab?"))
    with pytest.raises(ValueError, match="cannot be taken back"):
        grammar.rollback(1)


def test_the_end_comes_where_a_request_wants_more(made: Any) -> None:
    grammar = made("regex", "a")
    grammar.accept_token(ids("a")[0])
    mask = grammar.allocate_vocab_mask(WIDTH, 2, "cpu")
    grammar.fill_vocab_mask(mask, 0)
    logits = torch.randn(2, WIDTH)
    logits[:, END] = float("-inf")  # what SGLang does for `min_new_tokens`
    before = logits.clone()
    GrammarMask(grammar, mask).apply(logits)
    assert logits[0].isfinite().nonzero().flatten().tolist() == [END]
    assert logits[1].equal(before[1])


# Automata that exceed their limits


class Exceeding(TokenAutomaton):
    """An automaton that exceeds its limits wherever it is asked."""

    start, end_state, at_text_start, nbytes = 0, -1, False, 0

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def _exceed(self, *_: Any, **__: Any) -> Any:
        raise LimitExceeded("more than 10 states", limit="states")

    advance: Any = _exceed
    fill_bitmask: Any = _exceed
    is_final: Any = _exceed
    key: Any = _exceed
    min_tokens: Any = _exceed
    step: Any = _exceed


def test_what_exceeds_its_limits_ends_alone(made: Any) -> None:
    good, bad = made("regex", "a"), made("regex", "(bc)+")
    bad.matcher.automaton = Exceeding(good.matcher.automaton.vocabulary)
    mask = good.allocate_vocab_mask(WIDTH, 2, "cpu")
    good.fill_vocab_mask_batched([GrammarRow(0, good), GrammarRow(1, bad)], mask)
    assert allowed(mask, 0) == ids("a")
    assert allowed(mask, 1) == []
    logits = torch.zeros(2, WIDTH)
    GrammarMask(good, mask).apply(logits)
    assert logits[0].isfinite().sum() == 1
    assert logits[1].isfinite().all()
    with pytest.raises(ValueError, match="exceeds its limits: more than 10 states"):
        bad.accept_token(5)
    assert bad.try_jump_forward(None) is None
    # No draft token continues it.
    first, following, tokens = torch.tensor([[1, -1]]), torch.tensor([[-1, -1]]), torch.tensor([[-1, 5]])
    found, _ = generate_token_bitmask([SimpleNamespace(grammar=bad)], first, following, tokens, WIDTH)
    assert found is not None
    assert allowed(found, 0) == []


# Draft tokens


def random_tree(rng: random.Random, grammar: Any, size: int) -> tuple[list[int], list[int], list[int], list[int]]:
    """Tokens, parents, first children and next siblings of a tree, most of whose tokens are allowed."""
    tokens, parents = [-1], [-1]
    for _ in range(size - 1):
        parent = rng.randrange(len(tokens))
        at = grammar.copy()
        try:
            for token in path(tokens, parents, parent):
                at.accept_token(token)
            good = accepted(at, rng.sample(range(VOCABULARY), 300)) + mask_of(at)[:3]
        except ValueError:
            good = []
        tokens.append(rng.choice(good) if good and rng.random() < 0.8 else rng.randrange(VOCABULARY))
        parents.append(parent)
    children = [[node for node in range(size) if parents[node] == parent] for parent in range(size)]
    first, following = [-1] * size, [-1] * size
    for parent, nodes in enumerate(children):
        for node, after in zip([None, *nodes], [*nodes, -1], strict=True):
            if node is None:
                first[parent] = after
            else:
                following[node] = after
    return tokens, parents, first, following


def path(tokens: list[int], parents: list[int], node: int) -> list[int]:
    found = []
    while node > 0:
        found.append(tokens[node])
        node = parents[node]
    return found[::-1]


@pytest.mark.parametrize("seed", range(6))
def test_trees_of_draft_tokens(made: Any, seed: int) -> None:
    rng, size = random.Random(seed), 10
    requests, trees = [], []
    for kind in [KINDS[0], KINDS[1], None, KINDS[2]]:
        grammar = made(*kind) if kind else None
        requests.append(SimpleNamespace(grammar=grammar))
        trees.append(random_tree(rng, grammar or made(*KINDS[3]), size))
    tokens, parents, first, following = (list(part) for part in zip(*trees, strict=True))
    mask, _ = generate_token_bitmask(
        requests, torch.tensor(first), torch.tensor(following), torch.tensor(tokens), WIDTH
    )
    assert mask is not None
    for number, each in enumerate(requests):
        if each.grammar is None:
            assert (mask[number * size : (number + 1) * size] == -1).all()
            continue
        assert each.grammar.matcher.num_tokens == 0
        for node in range(size):
            grammar, row = each.grammar.copy(), number * size + node
            try:
                for token in path(tokens[number], parents[number], node):
                    assert not grammar.is_terminated()
                    grammar.accept_token(token)
            except (ValueError, AssertionError):
                assert (mask[row] == -1).all()  # nothing leads there
                continue
            if grammar.is_terminated():
                assert (mask[row] == -1).all()
            else:
                assert allowed(mask, row) == accepted(grammar)
