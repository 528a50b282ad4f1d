"""The states of an engine's slots, beside a `Matcher` for each request that reads the same tokens."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch

import tokenfst
from automata import EmptyLanguage, LimitExceeded
from constraints import grammar
from decoding.arena import FREE_SLOT, Arena
from decoding.arena.block import Block
from decoding.devices import never_waiting
from serving.matcher import Matcher
from serving.vllm.residence import Residence
from serving.vllm.slot_states import Entering, Rows, SlotStates
from tokenfst import Vocabulary

TOKENS = [bytes([letter]) for letter in b"abcdx01()"] + [b"ab", b"bc", b"(a", b"))", b"", b""]
VOCABULARY = Vocabulary(TOKENS, [len(TOKENS) - 2, len(TOKENS) - 1])
WIDTH = 20  # of the logits: five more than there are tokens
SLOTS, DRAFTS = 5, 3
NESTED = grammar('start: "a" | "(" start ")"', syntax="lark")
ASKED: list[Any] = ["[a-c]{2,9}", "(ab|cd)*x", "a{3,40}", "x[01]{4}", "(a|bc|x)*", NESTED]


@dataclass
class Text:
    """A request: its automaton's number, None if it is not constrained; its tokens, and which of them it stops at."""

    asked: int | None
    prompt: list[int]
    stops: tuple[int, ...] = ()
    written: list[int] = field(default_factory=list)

    def matcher(self, automata: list[Any]) -> Matcher:
        assert self.asked is not None
        return Matcher(automata[self.asked], self.stops)


@pytest.fixture(scope="module")
def automata() -> list[Any]:
    return [tokenfst.compile(asked, VOCABULARY).complete() for asked in ASKED]


class World:
    """Slots, and what an engine would do with them."""

    def __init__(self, automata: list[Any], seed: int, device: str = "cpu") -> None:
        self.draw, self.automata = random.Random(seed), automata
        self.arena = Arena(VOCABULARY, device, width=WIDTH, max_bytes=1 << 20)
        self.lies = [self.arena.add(automaton) for automaton in automata]
        self.states = SlotStates(self.arena, SLOTS, DRAFTS)
        self.tokens = torch.zeros((SLOTS, 99), dtype=torch.int32, device=device)
        self.texts, self.seen = dict[int, Text](), Counter[str]()

    def enter(self, slot: int, text: Text) -> None:
        whole = text.prompt + text.written
        self.tokens[slot, : len(whole)] = torch.tensor(whole, dtype=torch.int32)
        automaton = None if text.asked is None else self.lies[text.asked]
        length = len(whole) if text.asked is not None else len(text.prompt)
        with never_waiting(self.arena.device):
            self.states.enter([Entering(slot, automaton, False, len(text.prompt), length, text.stops)], self.tokens)
        self.texts[slot] = text

    def step(self, slots: list[int], pieces: bool = False) -> None:
        """One step for requests in some slots, in that order; `pieces`: a prompt is read, and not to its end."""
        rows, texts = [], []
        for slot in slots:
            text = self.texts[slot]
            drafts = [] if pieces else [self.proposed(text, number) for number in range(self.draw.randint(0, DRAFTS))]
            whole = text.prompt + text.written + drafts
            first = len(whole) - 1 - len(drafts) - (self.draw.randint(1, len(text.prompt)) if pieces else 0)
            rows += [(slot, number, whole[first + number], first + number) for number in range(len(drafts) + 1)]
            texts.append((text, drafts))
        slot_of, number, token, position = torch.tensor(rows).unbind(1)
        given = torch.randn(len(rows), WIDTH, generator=torch.Generator().manual_seed(self.draw.randrange(99)))
        here = torch.tensor(slots), slot_of, number, token.int(), position
        there = given.to(self.tokens.device, copy=True), Rows(*(part.to(self.tokens.device) for part in here))
        with never_waiting(self.arena.device):
            masked = self.states.apply_(*there)
        masked = masked.cpu()
        for text, drafts in texts:
            size = len(drafts) + 1
            if not pieces:
                self.check(text, drafts, given[:size], masked[:size])
            given, masked = given[size:], masked[size:]

    def proposed(self, text: Text, number: int) -> int:
        token: int = self.draw.choice([self.draw.randrange(len(TOKENS)), -1, *range(len(TOKENS))])
        return token

    def check(self, text: Text, drafts: list[int], given: torch.Tensor, masked: torch.Tensor) -> None:
        """Compare masks, take a beginning of the drafts, and write one token more."""
        is_taken, begun = True, [*text.written]
        for number in range(len(drafts) + 1):
            before = [*begun, *drafts[:number]]
            expected = None if text.asked is None else self.mask(text, before)
            if text.asked is None:
                assert torch.equal(given[number], masked[number])
            elif expected is None:
                self.seen["not allowed"] += 1
                ends = {*VOCABULARY.eos_ids, *text.stops}
                assert set(torch.nonzero(masked[number].isfinite()).flatten().tolist()) <= ends
            else:
                assert masked[number].isfinite().tolist() == expected.tolist()
                self.seen["drafted" if number else "masked"] += 1
            if is_taken:
                allowed = torch.nonzero(masked[number].isfinite()).flatten().tolist()
                draft = drafts[number] if number < len(drafts) else -1
                is_taken = draft in allowed and self.draw.random() < 0.7
                text.written.append(draft if is_taken else self.draw.choice(allowed))

    def mask(self, text: Text, tokens: list[int]) -> np.ndarray[Any, Any] | None:
        matcher, words = text.matcher(self.automata), np.zeros(1, np.int32)
        if not matcher.accept(tokens):
            return None
        matcher.fill(words)
        mask = np.unpackbits(words.view(np.uint8), bitorder="little")[:WIDTH].astype(bool)
        return mask if mask.any() else None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("device", "is_native"),
    [
        ("cpu", True),
        ("cpu", False),
        pytest.param("cuda", False, marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")),
    ],
)
def test_every_slot_stands_where_its_matcher_stands(
    automata: list[Any], device: str, is_native: bool, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_native:
        monkeypatch.setattr(Arena, "_on_cpu", False)
    world = World(automata, seed, device)
    draw = world.draw
    for _ in range(150):
        for slot in range(SLOTS):
            old = world.texts.get(slot)
            if old is None or len(old.written) > 30 or draw.random() < 0.1:
                prompt = [draw.randrange(len(TOKENS)) for _ in range(draw.randint(1, 4))]
                stops = tuple(draw.sample(range(9), draw.randint(0, 2)))
                world.enter(slot, Text(draw.choice([None, *range(len(ASKED))]), prompt, stops))
            elif old.asked is not None and draw.random() < 0.1:
                world.enter(slot, old)  # resumed
                world.seen["resumed"] += 1
        batch = draw.sample(range(SLOTS), draw.randint(1, SLOTS))
        fresh = [slot for slot in batch if not world.texts[slot].written]
        if fresh:
            world.step(fresh, pieces=True)
        world.step(batch)
    assert min(world.seen[name] for name in ("masked", "drafted", "not allowed", "resumed")) > 20


def test_automata_may_move_and_texts_may_be_closed(automata: list[Any]) -> None:
    world = World(automata, 1)
    for slot in range(3):
        world.enter(slot, Text(2, [1, 2]))
    world.step([0, 1, 2])
    world.arena.drop(world.lies[2])
    moved = world.arena.add(automata[0])  # takes its place
    assert moved == world.lies[2]
    world.states.move([0, 1, 2], world.arena.add(automata[2]))
    world.step([2, 1, 0])
    world.states.end([1])
    assert world.states.unfinished.tolist() == [False, True, False, False, False]
    for _ in range(2):
        world.step([0, 2])
        rows = rows_of((1, 0, 3, len(world.texts[1].written) + 1))
        assert allowed_in_first(world, rows) == [*VOCABULARY.eos_ids]


def rows_of(*rows: tuple[int, int, int, int]) -> Rows:
    """Rows, each with its slot, its number, what was read there and its position."""
    slot, number, token, position = torch.tensor(rows).unbind(1)
    return Rows(slot.unique_consecutive(), slot, number, token, position)


def allowed_in_first(world: World, rows: Rows) -> list[int]:
    masked = world.states.apply_(torch.zeros(len(rows.slot), WIDTH), rows)
    return torch.nonzero(masked[0].isfinite()).flatten().tolist()


def test_positions_that_cannot_be_followed_close_the_text(automata: list[Any]) -> None:
    drafts = [(0, number, 0, number + 1) for number in range(4)]  # "aaa" after two tokens of a prompt
    others = [(1, number, 0, number + 1) for number in range(4)]
    back = [(0, 0, 1, 0), *others]
    for before, last, is_open in [
        ([drafts], (0, 0, 0, 5), True),
        ([drafts], (0, 0, 0, 6), False),  # one token farther
        ([drafts, back], (0, 0, 0, 1), True),  # back in the prompt, and forth again
        ([drafts, back], (0, 0, 0, 3), False),
    ]:
        world = World(automata, 1)
        for slot in (0, 1):
            world.enter(slot, Text(2, [1, 1]))
        for rows in before:
            world.states.apply_(torch.zeros(len(rows), WIDTH), rows_of(*rows))
        allowed = allowed_in_first(world, rows_of(last))
        assert (0 in allowed) == is_open
        assert is_open or allowed == [*VOCABULARY.eos_ids]
        assert world.states.unfinished[0] != is_open


def test_what_is_allowed_stays_finite_whatever_others_have_written(automata: list[Any]) -> None:
    world = World(automata, 1)
    world.enter(0, Text(3, [1]))
    rows = rows_of((0, 0, 1, 0))
    for wider in (0, 7):
        masked = world.states.apply_(torch.full((1, WIDTH + wider), -torch.inf), rows)
        assert torch.nonzero(masked[0].isfinite()).flatten().tolist() == [TOKENS.index(b"x")]
        assert (masked / 1e-5).max().isfinite()


def test_a_vocabulary_without_an_end_token_is_refused() -> None:
    with pytest.raises(ValueError, match="no end-of-sequence token"):
        SlotStates(Arena(Vocabulary([b"a"], [])), 1, 0)


def blocks_of(arena: Arena, texts: list[str]) -> list[Block]:
    return [arena.block(tokenfst.compile(text, VOCABULARY)) for text in texts]


def test_what_was_used_longest_ago_leaves_the_arena() -> None:
    measure = Arena(VOCABULARY, width=WIDTH)
    a, b, c, d = blocks_of(measure, ["aa", "bb", "cc", "xx"])
    arena = Arena(VOCABULARY, width=WIDTH, max_bytes=measure.nbytes + 9 * len(a.words))
    residence = Residence(arena)
    slots = [residence.bring(block, []) for block in (a, b)]
    assert residence.bring(a, []) == slots[0]
    residence.use([a])
    assert residence.bring(c, []) == slots[1]
    assert [residence.slot(block) for block in (a, b, c)] == [slots[0], None, slots[1]]
    with pytest.raises(LimitExceeded, match="max_bytes"):
        residence.bring(b, [a, c])
    assert residence.slot(a) is not None
    assert residence.bring(d, [c]) == slots[0]
    large = arena.block(tokenfst.compile("(a|b|c|d){1,30}x[01]{20}", VOCABULARY))
    with pytest.raises(LimitExceeded, match="max_bytes"):
        residence.bring(large, [])
    assert (residence.slot(c), residence.slot(d)) == (slots[1], slots[0])  # nothing left in vain
    assert arena.slot_sizes.keys() == {FREE_SLOT, *slots}


def test_what_can_never_lie_in_an_arena_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena(VOCABULARY, width=WIDTH)
    residence, (a, b) = Residence(arena), blocks_of(arena, ["aa", "bb"])
    slot = residence.bring(a, [])

    def refused(block: Block) -> int:
        raise EmptyLanguage("every text needs a stack of more than 2 symbols")

    monkeypatch.setattr(arena, "enter", refused)
    with pytest.raises(EmptyLanguage):
        residence.bring(b, [])
    assert (residence.slot(a), residence.slot(b)) == (slot, None)
