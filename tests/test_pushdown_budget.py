"""The least number of tokens to the end, for any stack, and masks that leave room for them; beside a search of all."""

from __future__ import annotations

from collections import deque
from json import loads
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from budget_checks import check_state
from kinds import complete, lazy_over
from pushdown_cases import ambiguous, brackets, json, nested, sums
from pushdown_tables import children
from transformers import LlamaConfig, LlamaForCausalLM, LogitsProcessorList
from visibly_pushdown_cases import random_grammar

import constraints
from automata import IncompleteOutput
from automata.limits import Work
from automata.visibly_pushdown import compile_visibly_pushdown
from constraints.grammars.bundled import bundled
from decoding import ConstraintLogitsProcessor, bundled_model, generate, vocabulary_of
from decoding.arena import Arena
from tokenfst import Vocabulary, _native
from tokenfst._native import PushdownTables
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.pushdown.distance import FAR

CASES = {"nested": nested, "brackets": brackets, "json": json, "sums": sums, "ambiguous": ambiguous}
# Tokens that close several brackets, or close some and open others, make distances depend on what lies deeper.
PIECES = [b"aa", b"abb", b"bbb", b"([", b"])", b"))", b")))", b"]]", b'"}', b'{"', b'":', b'"]}', b"[[", b"1,", b")*("]
BYTES = [bytes([byte]) for byte in range(256)]


def compiled(name: str) -> PushdownTokenAutomaton:
    tokens = [*dict.fromkeys(BYTES), *PIECES, b""]
    automaton = complete(CASES[name](), Vocabulary(tokens, [len(tokens) - 1]))
    assert isinstance(automaton, PushdownTokenAutomaton)
    return automaton


def all_states(automaton: PushdownTokenAutomaton) -> tuple[dict[Any, dict[int, Any]], dict[Any, int]]:
    """What each class leads to from every state within the depth, and the least number of tokens to the end."""
    token_of = {number: token for token, number in enumerate(automaton.token_class.tolist())}
    found: dict[Any, dict[int, Any]] = {}
    before: dict[Any, list[Any]] = {}
    queue = deque([automaton.start])
    while queue:
        state = queue.popleft()
        if state in found:
            continue
        found[state] = {}
        for number in np.unique(automaton.token_class[automaton.mask(state)]).tolist():
            reached = found[state][number] = automaton.advance(state, token_of[number])
            before.setdefault(reached, []).append(state)
            queue.append(reached)
    least, queue = {automaton.end_state: 0}, deque([automaton.end_state])
    while queue:
        state = queue.popleft()
        for earlier in before.get(state, []):
            if earlier not in least:
                least[earlier] = least[state] + 1
                queue.append(earlier)
    return found, least


@pytest.mark.parametrize("name", CASES)
def test_a_budget_allows_exactly_what_can_still_be_completed(name: str) -> None:
    automaton, random = compiled(name).within(6), np.random.default_rng(0)
    following, least = all_states(automaton)
    assert automaton.distances.first == least[automaton.start]
    arena, low = Arena.of([automaton]), automaton.within(3)
    states: list[Any] = [automaton.start] * 24
    at = arena.starts([1] * 24)
    bites = 0
    for _ in range(12):
        remaining = np.array([least[state] for state in states]) + random.integers(-1, 4, len(states))
        masks = arena.mask(at, torch.from_numpy(remaining))
        assert torch.equal(arena.mask(at, 3)[3], arena.mask(at, torch.full((24,), 3))[3])
        tokens = []
        for row, state in enumerate(states):
            nearer = {number for number, target in following[state].items() if least[target] < remaining[row]}
            assert masks[row].tolist() == np.isin(automaton.token_class, sorted(nearer)).tolist()
            bites += 0 < len(nearer) < len(following[state])
            tokens.append(int(random.choice(np.flatnonzero(low.mask(state)))))
            states[row] = low.advance(state, tokens[-1])
        at = arena.advance(at, torch.tensor(tokens))
    assert bites > 10


def adversary(width: int) -> Any:
    """A model with random weights: whatever it writes, it writes against its will."""
    torch.manual_seed(5)
    sizes: Any = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=width, max_position_embeddings=256, **sizes)).eval()


@pytest.mark.parametrize(
    "options",
    [{"do_sample": True, "temperature": 2.0}, {"num_beams": 4, "do_sample": True, "num_return_sequences": 2}],
    ids=str,
)
@pytest.mark.parametrize("name", CASES)
def test_transformers_generate_writes_whole_texts_whatever_the_limit(name: str, options: dict[str, Any]) -> None:
    automaton = compiled(name)
    end = automaton.vocabulary.eos_ids[0]
    prompts = torch.tensor([[end, end, 0], [end, 1, 2], [3, 1, 0]])
    for limit in (automaton.distances.first, 12):
        processor = ConstraintLogitsProcessor(automaton, automaton.vocabulary, max_new_tokens=limit, max_depth=40)
        written = adversary(len(automaton.vocabulary) + 3).generate(
            input_ids=prompts,
            attention_mask=(prompts != end).long(),
            logits_processor=LogitsProcessorList([processor]),
            max_new_tokens=limit,
            eos_token_id=end,
            pad_token_id=end,
            **options,
        )
        for row in written[:, 3:].tolist():
            assert end in row, "every text ends within the limit"
            assert automaton.accepts(row[: row.index(end) + 1])


def test_a_limit_too_small_is_an_error_with_the_minimum() -> None:
    with pytest.raises(IncompleteOutput, match="at least 2 tokens, and the limit is 1"):
        ConstraintLogitsProcessor(compiled("json"), compiled("json").vocabulary, max_new_tokens=1)


def test_the_bundled_model_writes_json() -> None:
    model, tokenizer = bundled_model()
    prompts, grammar = ["", "Answer: "], constraints.json()
    limits: dict[str, Any] = {"max_new_tokens": 14, "max_depth": 4}
    texts = generate(model, tokenizer, prompts, grammar, temperature=1.5, seed=1, num_return_sequences=2, **limits)
    assert len(texts) == 4
    assert len(set(map(str, map(loads, texts)))) > 1
    (beam,) = generate(model, tokenizer, "Answer: ", grammar, max_new_tokens=8, num_beams=2, temperature=0)
    assert str(loads(beam))


def test_a_limit_on_tokens_and_one_on_depth_that_do_not_go_together_are_noticed() -> None:
    # Three tokens with a stack, seven without.
    grammar = constraints.grammar('root ::= "[" nested "]" | "aaaaaa"\nnested ::= "x" | "[" nested "]"')
    vocabulary = Vocabulary([b"[", b"]", b"a", b"x", b""], [4])
    automaton = complete(grammar, vocabulary)
    prompt, scores = torch.tensor([[4]]), torch.zeros(1, 5)
    for limit, depth, allowed in [(4, 1, [0]), (6, 1, [0]), (7, 0, [2]), (7, 1, [0, 2])]:
        masked = ConstraintLogitsProcessor(automaton, vocabulary, max_new_tokens=limit, max_depth=depth)(prompt, scores)
        assert torch.isfinite(masked[0]).nonzero().flatten().tolist() == allowed
    with pytest.raises(IncompleteOutput, match="within both"):
        ConstraintLogitsProcessor(automaton, vocabulary, max_new_tokens=6, max_depth=0)(prompt, scores)


class PopDistances:
    """The least number of tokens from each node until a symbol has been popped.

    Attributes:
        tables: the tables of the automaton.
        across: `[N, J + 1]` int32, by node and column. A column is a pair of a symbol and the node after popping it, in
            order of symbols; the last column is the end of the sequence without popping anything.
        nodes: `[J]` int32, the node of each column.
        offsets: `[S + 1]` int32, the index of the first column of each symbol.
    """

    def __init__(self, tables: PushdownTables) -> None:
        self.tables = tables
        self.across, self.nodes, self.offsets = _native.pop_distances(tables, Work().budget)


def test_ways_across_symbols_are_one_token_more_than_what_follows() -> None:
    # Every edge costs a token, so only the least ways satisfy their equations, which are written out here.
    automaton = complete(bundled("python_expression"), vocabulary_of(bundled_model()[1]))
    tables, ways = automaton.tables, PopDistances(automaton.tables)
    children_of = [children(tables, node) for node in range(tables.num_nodes)]
    assert ways.across.shape[1] > 1000
    expected = np.full_like(ways.across, FAR)
    expected[tables.num_states - 1, -1] = 0
    for symbol in range(tables.num_symbols):
        for column in range(ways.offsets[symbol], ways.offsets[symbol + 1]):
            above = [node for node, own in enumerate(children_of) if own.get(symbol) == ways.nodes[column]]
            expected[above, column] = 0
    following: dict[tuple[int, int], Any] = {}
    for node in range(tables.num_nodes):
        for edge in range(tables.row_offsets[node], tables.row_offsets[node + 1]):
            outcome = tables.edge_outcome[edge]
            for move in range(tables.outcome_offsets[outcome], tables.outcome_offsets[outcome + 1]):
                push = int(tables.move_target[move]), int(tables.move_push[move])
                if push not in following:
                    following[push] = after_push(ways, *push)
                expected[node] = np.minimum(expected[node], 1 + following[push])
    assert np.array_equal(ways.across, expected)


def after_push(ways: PopDistances, target: int, push: int) -> Any:
    """How many tokens it takes from a target to each column, over all that was pushed."""
    bounds = ways.tables.push_offsets
    nodes, costs, end = np.array([target]), np.zeros(1, np.int64), FAR
    for symbol in ways.tables.push_symbols[bounds[push] : bounds[push + 1]][::-1].tolist():
        columns = slice(ways.offsets[symbol], ways.offsets[symbol + 1])
        end = min(end, int((ways.across[nodes, -1] + costs).min(initial=FAR)))
        costs = (ways.across[nodes, columns] + costs[:, None]).min(0, initial=FAR)
        nodes = ways.nodes[columns]
    found = np.minimum((ways.across[nodes] + costs[:, None]).min(0, initial=FAR), FAR)
    found[-1] = min(found[-1], end)
    # One more is FAR.
    return np.minimum(found, FAR - 1)


@pytest.mark.parametrize("seed", [1288, 0, 1, 2, 3, 4, 6, 9, 10, 11])
def test_budgets_do_not_depend_on_what_was_asked_before(seed: int) -> None:
    # Different stacks may allow tokens by the same paths, at different distances below their tops.
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), b"(a", b"((", b""], eos_ids=258)
    automaton = lazy_over(compile_visibly_pushdown(random_grammar(seed)), vocabulary).complete()
    dice = Random(seed)
    for _ in range(40):
        state = automaton.start
        for _ in range(dice.randint(0, 12)):
            check_state(automaton, state, budgets=4, seed=dice.randrange(100))
            allowed = np.flatnonzero(automaton.mask(state)).tolist()
            state = automaton.advance(state, dice.choice(allowed))
            if state == automaton.end_state:
                break


def test_one_path_of_tokens_may_lead_through_different_stacks() -> None:
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), b"(a", b"((", b""], eos_ids=258)
    automaton = lazy_over(compile_visibly_pushdown(random_grammar(1288)), vocabulary).complete()

    def after(*tokens: bytes) -> Any:
        state = automaton.start
        for token in tokens:
            state = automaton.advance(state, vocabulary.tokens.index(token))
        return state

    automaton.mask(after(b"(a", b"(a", b"(", b"(a", b"]", b"(", b")", b"(", b"a"), 11)
    mask = automaton.mask(after(b"((", b"(", b"(a"), 7)
    assert {vocabulary.tokens[token] for token in np.flatnonzero(mask)} == {b"]", b"(a"}
