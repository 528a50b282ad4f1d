"""The arena: every sequence of a batch stands where its own automaton says, whatever lies beside it."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from kinds import complete
from line_interrupts import interrupted
from pushdown_cases import ambiguous, brackets, json, nested, sums

import tokenfst
from automata import Grammar, call, parse
from automata.counted import compile_counted
from automata.errors import LimitExceeded, TokenNotAllowed, VocabularyError
from constraints.grammars.bundled import bundled
from decoding import bundled_model, vocabulary_of
from decoding.arena import FREE_SLOT, Arena
from decoding.arena.heap import Heap
from decoding.arena.parallel import Candidates, keep_distinct
from decoding.arena.sequences import Sequences
from tokenfst import TokenAutomaton, Vocabulary
from tokenfst.counted.automaton import from_counted
from tokenfst.pushdown.automaton import PushdownTokenAutomaton


def vocabulary_of_size(size: int) -> Vocabulary:
    return Vocabulary([bytes([65 + number % 26, 97 + number // 26]) for number in range(size)], [])


PIECES = [b"aa", b"ab", b"abb", b"()", b"([", b"])", b"))", b"((", b"]]]", b'"}', b'{"', b'":', b'"]}', b"[[", b"1,",
          b")*("]  # fmt: skip
VOCABULARY = Vocabulary([*(bytes([byte]) for byte in range(256)), *PIECES, b"", b""], [272, 273])
WIDTH = 300
PATTERNS = ["(ab)*", r"\d{4}-\d\d", '"[^"]*"', "[a-z]{2,5}x|(a|é)+", "(.|\n)*"]
COUNTED = ["a{2,50}b*", '"[^"]{3,90}"', "([a-c]{2,7}1)*"]
GRAMMARS = {"nested": nested, "brackets": brackets, "json": json, "sums": sums, "ambiguous": ambiguous}


def counted(pattern: str) -> TokenAutomaton:
    automaton = compile_counted(parse(pattern), threshold=0)
    assert automaton is not None
    return from_counted(automaton, VOCABULARY)


@pytest.fixture(scope="module")
def automata() -> list[Any]:
    found: list[Any] = [complete(pattern, VOCABULARY) for pattern in PATTERNS]
    found += [counted(pattern) for pattern in COUNTED]
    return [*found, *(complete(case(), VOCABULARY) for case in GRAMMARS.values())]


def after(automaton: Any, state: Any, token: int) -> Any:
    """What is not allowed leads to nothing, None, and the end takes anything and stays."""
    if state is None or state == automaton.end_state:
        return state
    try:
        return automaton.advance(state, token)
    except TokenNotAllowed:
        return None


WEIGHTS = np.where(np.arange(len(VOCABULARY)) < 256, 1, 9)


@pytest.mark.parametrize("on_cpu", [True, False])
@pytest.mark.parametrize("max_depth", [3, 40])
def test_a_batch_of_every_kind_is_what_each_automaton_says(
    automata: list[Any], max_depth: int, on_cpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Arena, "_on_cpu", on_cpu)
    within = [each.within(max_depth) if isinstance(each, PushdownTokenAutomaton) else each for each in automata]
    arena, random = Arena.of(within, width=WIDTH), np.random.default_rng(max_depth)
    assert arena.nbytes == arena.max_bytes
    copies = [each for each in within for _ in range(2)]
    states = [each.start for each in copies]
    at = arena.starts([slot for slot in range(1, len(within) + 1) for _ in range(2)])
    for _ in range(25):
        tokens = []
        masks, forced = arena.mask(at), arena.forced(at).tolist()
        logits = torch.from_numpy(random.standard_normal((len(copies), WIDTH))).float()
        assert torch.equal(arena.apply_(logits.clone(), at), logits.masked_fill(~masks, float("-inf")))
        assert arena.ended(at).tolist() == [state == each.end_state for state, each in zip(states, copies, strict=True)]
        for row, (automaton, state) in enumerate(zip(copies, states, strict=True)):
            expected = automaton.mask(state) if state is not None else np.zeros(len(VOCABULARY), np.bool_)
            assert masks[row].tolist() == [*expected, *[False] * (WIDTH - len(VOCABULARY))]
            assert forced[row] == -1 or np.flatnonzero(expected).tolist() == [forced[row]]
            # Pieces are drawn more often than single bytes, and seldom what is not allowed.
            weights = (expected | (random.random(len(expected)) < 0.0003)) * WEIGHTS
            tokens.append(int(random.choice(len(expected), p=weights / weights.sum())) if weights.any() else 0)
            states[row] = after(automaton, state, tokens[-1])
        at = arena.advance(at, torch.tensor(tokens))
        assert arena.astray(at).tolist() == [state is None for state in states]


@pytest.mark.parametrize("on_cpu", [True, False])
def test_within_a_budget_every_text_is_completed_and_nothing_more_is_forbidden(
    automata: list[Any], on_cpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Arena, "_on_cpu", on_cpu)
    arena, generator = Arena.of(automata, width=WIDTH), torch.Generator().manual_seed(0)
    slots = [slot for slot in range(1, len(automata) + 1) for _ in range(6)]
    at = arena.starts(slots)
    least = torch.tensor([arena.min_tokens(slot) for slot in slots])
    assert torch.equal(arena.min_tokens_left(at), least)
    for slot, automaton in enumerate(automata[: len(PATTERNS) + len(COUNTED)], 1):
        assert arena.min_tokens(slot) == automaton.min_tokens(automaton.start)
    remaining = least + torch.arange(len(slots)) % 6
    written = []
    for _ in range(int(remaining.max())):
        # One token fewer is one choice fewer, and where the fewest are left there is just what leads on to the end.
        tight = arena.mask(at, arena.min_tokens_left(at))
        assert tight.any(1)[~arena.ended(at)].all()
        assert not arena.mask(at, arena.min_tokens_left(at) - 1)[~arena.ended(at)].any()
        logits = torch.randn(len(slots), WIDTH, generator=generator)
        # The end is never wanted.
        logits[:, list(VOCABULARY.eos_ids)] -= 50
        masked = arena.apply_(logits, at, remaining)
        assert (masked > float("-inf")).any(1)[~arena.ended(at)].all()
        tokens = masked.argmax(1)
        after_token = arena.advance(at, tokens)
        nearer = tight[torch.arange(len(slots)), tokens] & ~arena.ended(at)
        assert torch.equal(nearer, arena.min_tokens_left(after_token) == arena.min_tokens_left(at) - 1)
        at, remaining = after_token, remaining - 1
        written.append(tokens)
    assert arena.ended(at).all()
    for slot, row in zip(slots, torch.stack(written, 1).tolist(), strict=True):
        end = next(place for place, token in enumerate(row) if token in VOCABULARY.eos_ids)
        assert automata[slot - 1].accepts(row[:end])


def test_an_endless_soft_close_leaves_the_shortest_texts() -> None:
    automaton = complete("a{0,8}b|cc", VOCABULARY)
    arena = Arena.of([automaton])
    found = arena.apply_(torch.zeros(1, len(VOCABULARY)), arena.starts([1]), wrap_up=torch.tensor([float("inf")]))
    assert torch.equal(found == 0, arena.mask(arena.starts([1]), arena.min_tokens(1)))
    assert not found.isnan().any()


def test_a_soft_close_costs_each_token_what_it_makes_the_text_longer() -> None:
    automaton = complete("a{0,8}b|cc", VOCABULARY)
    arena = Arena.of([automaton])
    at, logits = arena.starts([1, 1]), torch.zeros(2, len(VOCABULARY))
    arena.apply_(logits, at, wrap_up=torch.tensor([0.0, 2.5]))
    for token, mask in enumerate(automaton.mask(automaton.start)):
        if not mask:
            assert logits[:, token].tolist() == [float("-inf")] * 2
            continue
        excess = 1 + automaton.min_tokens(automaton.advance(automaton.start, token)) - arena.min_tokens(1)
        assert logits[:, token].tolist() == [0.0, -2.5 * excess]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_logits_of_every_type_are_masked(automata: list[Any], dtype: torch.dtype) -> None:
    arena = Arena.of(automata, width=WIDTH)
    at = arena.starts(range(len(automata) + 1))
    # Rows need not lie close together.
    logits = torch.randn(len(automata) + 1, WIDTH + 5).to(dtype)[:, :WIDTH]
    expected = logits.masked_fill(~arena.mask(at), float("-inf"))
    assert torch.equal(arena.apply_(logits, at), expected)


def test_automata_come_and_go_while_others_are_in_use(automata: list[Any]) -> None:
    one, other = automata[0], automata[-3]
    sizes = Arena.of(automata, width=WIDTH).slot_sizes
    room = sizes[0] + 2 * max(sizes[1], sizes[len(automata) - 2]) + 64
    arena = Arena(VOCABULARY, width=WIDTH, max_bytes=room, max_slots=4)
    assert (arena.add(one), arena.add(other)) == (1, 2)
    generation, used = arena.generation, arena.nbytes
    at = arena.starts([2, 2, FREE_SLOT])
    state = other.start
    with pytest.raises(LimitExceeded, match="max_bytes"):
        arena.add(automata[-1].within(30)) if sizes[len(automata)] > room - used else arena.add(other)
    for token in b'{"a":[1,':
        arena.drop(1)
        arena.compact()
        assert arena.nbytes == used - sizes[1]
        assert arena.mask(at)[0, : len(VOCABULARY)].tolist() == other.mask(state).tolist()
        assert arena.add(one) == 1
        at, state = arena.advance(at, torch.tensor([token] * 3)), other.advance(state, token)
        assert not arena.astray(at).any()
        # What is new is whole, and what has moved is too.
        assert arena.mask(arena.starts([1]))[0, : len(VOCABULARY)].tolist() == one.mask(one.start).tolist()
    assert arena.generation == generation
    assert arena.slot_sizes == {0: sizes[0], 1: sizes[1], 2: sizes[len(automata) - 2]}
    with pytest.raises(KeyError):
        arena.drop(FREE_SLOT)
    with pytest.raises(KeyError):
        arena.drop(3)


def test_a_block_is_made_beside_the_arena_and_entered_as_often_as_one_likes(automata: list[Any]) -> None:
    one, other = automata[0], automata[-3]
    arena, expected = Arena(VOCABULARY, width=WIDTH), Arena.of([one, other], width=WIDTH)
    with ThreadPoolExecutor(2) as threads:
        blocks = list(threads.map(arena.block, [one, other]))
    assert (arena.nbytes, arena.generation) == (arena.slot_sizes[FREE_SLOT], 1)
    for _ in range(3):
        slots = [arena.enter(block) for block in blocks]
        assert torch.equal(arena.mask(arena.starts(slots)), expected.mask(expected.starts([1, 2])))
        assert [arena.min_tokens(slot) for slot in slots] == [expected.min_tokens(slot) for slot in (1, 2)]
        arena.drop(slots[0])
        arena.drop(slots[1])
    with pytest.raises(VocabularyError, match="another vocabulary"):
        arena.block(complete("Aa", vocabulary_of_size(3)))
    with pytest.raises(LimitExceeded, match="max_bytes"):
        Arena(VOCABULARY, width=WIDTH, max_bytes=arena.nbytes + 16).enter(blocks[0])
    others = Arena(VOCABULARY), Arena(VOCABULARY, width=WIDTH, part=(0, 4)), Arena(vocabulary_of_size(9), width=WIDTH)
    for other in [*others, Arena(VOCABULARY, width=WIDTH, max_depth=2)]:
        with pytest.raises(ValueError, match="made for an arena"):
            other.enter(blocks[0])


def test_sequences_may_be_parts_of_others(automata: list[Any]) -> None:
    arena = Arena.of(automata[:-1], width=WIDTH)
    at = arena.starts([*range(1, len(automata))] * 2)
    every_second = Sequences(*(part[::2] for part in at))
    copied = Sequences(*(part[::2].clone() for part in at))
    tokens = torch.tensor([int(row.nonzero()[0]) for row in arena.mask(copied)])
    assert torch.equal(arena.mask(every_second), arena.mask(copied))
    assert torch.equal(arena.mask(every_second, 5), arena.mask(copied, 5))
    assert torch.equal(arena.min_tokens_left(every_second), arena.min_tokens_left(copied))
    logits = torch.zeros(2, len(tokens), WIDTH)
    for limit in (None, 5):
        assert torch.equal(
            arena.apply_(logits[0].clone(), every_second, limit), arena.apply_(logits[1].clone(), copied, limit)
        )
    for mine, other in zip(arena.advance(every_second, tokens), arena.advance(copied, tokens), strict=True):
        assert torch.equal(mine, other)


def test_what_cannot_stand_in_an_arena_is_refused(automata: list[Any]) -> None:
    arena = Arena(VOCABULARY, max_bytes=1 << 20, max_slots=2)
    with pytest.raises(VocabularyError, match="another vocabulary"):
        arena.add(complete("Aa", vocabulary_of_size(3)))
    for sizes in ((3, 9), (9, 3)):
        with pytest.raises(VocabularyError, match="another vocabulary"):
            Arena.of([complete("Aa", vocabulary_of_size(size)) for size in sizes])
    with pytest.raises(LimitExceeded, match="carry one configuration"):
        arena.add(automata[-1])
    arena.add(automata[0])
    with pytest.raises(LimitExceeded, match="max_slots"):
        arena.add(automata[0])
    with pytest.raises(LimitExceeded, match="max_bytes"):
        Arena(VOCABULARY, max_bytes=64)
    with pytest.raises(ValueError, match="do not cover"):
        Arena(VOCABULARY, width=4)
    with pytest.raises(ValueError, match="not within"):
        Arena(VOCABULARY, part=(5, 5))
    with pytest.raises(ValueError, match="at least one automaton"):
        Arena.of([])
    wrong: Any
    for wrong in ("x", automata[0], [1]):
        with pytest.raises(TypeError, match="automat"):
            Arena.of(wrong)
    wrong = None
    with pytest.raises(TypeError, match="expected a block"):
        Arena(VOCABULARY).enter(wrong)
    for max_slots, max_bytes in ((0, 1 << 20), (-1, 1 << 20), (2, -100)):
        with pytest.raises(ValueError, match="at least one slot"):
            Arena(VOCABULARY, max_slots=max_slots, max_bytes=max_bytes)


def test_parts_of_the_vocabulary_together_are_the_whole(automata: list[Any]) -> None:
    whole = Arena.of(automata, width=WIDTH)
    cuts = [0, 97, 128, 299, WIDTH]
    parts = [
        Arena(VOCABULARY, width=WIDTH, max_bytes=1 << 23, configurations=whole.configurations, part=(begin, end))
        for begin, end in pairwise(cuts)
    ]
    for part in parts:
        assert [part.add(automaton) for automaton in automata] == list(range(1, len(automata) + 1))
    slots = list(range(len(automata) + 1))
    at, each = whole.starts(slots), [part.starts(slots) for part in parts]
    random = np.random.default_rng(2)
    for _ in range(4):
        for remaining in (None, 7):
            mask = whole.mask(at, remaining)
            sharded = [part.mask(place, remaining) for part, place in zip(parts, each, strict=True)]
            assert torch.equal(torch.cat(sharded, 1), mask)
            logits = torch.randn(mask.shape)
            written = [
                part.apply_(logits[:, part.begin : part.end].clone(), place, remaining)
                for part, place in zip(parts, each, strict=True)
            ]
            assert torch.equal(torch.cat(written, 1), logits.masked_fill(~mask, float("-inf")))
        allowed_ids = whole.token_ids(at)
        for row, ids in enumerate(allowed_ids):
            found = [part.token_ids(place)[row] for part, place in zip(parts, each, strict=True)]
            assert torch.equal(torch.cat(found), ids)
        tokens = torch.tensor([int(random.choice(ids.numpy())) for ids in allowed_ids])
        at = whole.advance(at, tokens)
        each = [part.advance(place, tokens) for part, place in zip(parts, each, strict=True)]


def test_patterns_are_matched_by_whatever_is_drawn() -> None:
    patterns = [*PATTERNS, "(foo|ba[rz])+", "[^a]{3}"]
    arena = Arena.of([complete(pattern, VOCABULARY) for pattern in patterns])
    slots = [slot for slot in range(1, len(patterns) + 1) for _ in range(8)]
    at, written = arena.starts(slots), []
    for remaining in range(24, 0, -1):
        probabilities = arena.mask(at, remaining).float()
        tokens = torch.multinomial(probabilities, 1, generator=torch.Generator().manual_seed(remaining))[:, 0]
        at = arena.advance(at, tokens)
        written.append(tokens)
    assert arena.ended(at).all()
    for slot, row in zip(slots, torch.stack(written, 1).tolist(), strict=True):
        text = VOCABULARY.detokenize([token for token in row if token not in VOCABULARY.eos_ids])
        assert re.fullmatch(patterns[slot - 1], text.decode())


def test_a_grammar_takes_as_much_as_its_nodes_and_not_as_the_paths_of_its_stacks() -> None:
    # As paths, of which there are hundreds of thousands, these took 1.5 GB.
    _, tokenizer = bundled_model()
    automaton = complete(bundled("python_expression"), vocabulary_of(tokenizer))
    arena = Arena.of([automaton])
    assert arena.nbytes < 5 * automaton.nbytes
    at, state = arena.starts([1]), automaton.start
    text = "f(x, [i ** 2 for i in (1, 2, 3) if not i in {4: 5}], *args)(lambda y: y[1:2])"
    for token in [*tokenizer(text)["input_ids"], *automaton.vocabulary.eos_ids]:
        assert np.array_equal(arena.mask(at)[0].numpy(), automaton.mask(state))
        assert np.array_equal(arena.mask(at, 12)[0].numpy(), automaton.mask(state, 12))
        at, state = arena.advance(at, torch.tensor([token])), automaton.advance(state, token)
    assert arena.ended(at).all()


def test_candidates_that_cannot_be_compared_are_refused() -> None:
    one = torch.zeros(1, 1, dtype=torch.int64)
    wide = one.expand(1, 70_000)
    many = Candidates(wide, wide, wide, one[..., None].expand(1, 70_000, 1))
    with pytest.raises(LimitExceeded, match="70,000 candidates"):
        keep_distinct(torch.zeros(1, 1, 8, dtype=torch.int64), many)


def test_blocks_are_moved_by_any_distance_whatever_interrupts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("decoding.arena.heap._LEAST_PIECE", 8)
    for gap in (1, 3, 8, 20):
        line, can_continue = 0, True
        while can_continue:
            heap = Heap(200, 3, torch.device("cpu"))
            blocks = np.arange(gap), np.arange(100, 137), np.arange(200, 240)
            for slot, block in enumerate(blocks):
                heap.put(slot, block.astype(np.int32))
            heap.drop(0)
            can_continue = interrupted(heap.compact, line, "arena/heap.py")
            heap.compact()
            for slot in (1, 2):
                begin = int(heap.places[slot])
                assert heap.words[begin : begin + len(blocks[slot])].tolist() == blocks[slot].tolist()
            assert (int(heap.places[1]), int(heap.places[2])) == (0, 37)
            line += 1


def test_automata_that_are_being_moved_or_dropped_survive_an_interrupt() -> None:
    vocabulary = Vocabulary([b"a", b"b", b""], eos_ids=[2])
    first, short, long = (tokenfst.compile(pattern, vocabulary) for pattern in ("ab", "b", "(ab){9}a"))
    line, can_continue = 0, True
    while can_continue:
        arena = Arena(vocabulary, max_bytes=1 << 14)
        slots = [arena.add(first), arena.add(short), arena.add(long)]
        held = arena.slot_sizes
        at = arena.starts([slots[0], slots[2]])
        can_continue = interrupted(partial(arena.drop, slots[1]), line, "arena/heap.py")
        if slots[1] in arena.slot_sizes:
            arena.drop(slots[1])
        assert arena.nbytes == sum(held.values()) - held[slots[1]]
        can_continue |= interrupted(arena.compact, line, "arena/heap.py")
        for token in [0, 1]:
            assert arena.forced(at).tolist() == [token, token]
            at = arena.advance(at, torch.tensor([token, token]))
        assert arena.forced(at).tolist() == [2, 0]
        line += 1
    assert line > 20


@pytest.mark.parametrize("constraint", ["a", "ab*", Grammar({"s": "a" + call("s") + "b" | parse("ab")}, "s")])
def test_budgets_where_no_token_ends_a_text(constraint: str | Grammar) -> None:
    automaton = tokenfst.compile(constraint, Vocabulary([b"a", b"b", b"ab"]))
    arena = Arena(automaton.vocabulary)
    at = arena.starts([arena.add(automaton)])
    assert arena.min_tokens(1) == automaton.min_tokens(automaton.start)
    assert automaton.mask(automaton.start, 2**63 - 1).tolist() == automaton.mask(automaton.start).tolist()
    for limit in range(5):
        assert arena.mask(at, limit)[0].tolist() == automaton.mask(automaton.start, limit).tolist()
    for token in range(3):
        after, state = arena.advance(at, torch.tensor([token])), automaton.step(automaton.start, token)
        if state is not None and not automaton.mask(state).any():
            assert arena.min_tokens_left(after).tolist() == [automaton.min_tokens(state)] == [0]
        elif state is None:
            assert arena.min_tokens_left(after).item() > 1 << 20
