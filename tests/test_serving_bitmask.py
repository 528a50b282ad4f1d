"""Masks that are filled when somebody looks, beside masks that are filled at once."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

import serving.vllm.bitmask
import tokenfst
from automata import LimitExceeded, Limits
from constraints import grammar
from serving.matcher import Matcher, fill_masks
from serving.vllm.bitmask import Bitmask
from tokenfst import Vocabulary

LETTERS = Vocabulary([bytes([letter]) for letter in b"abcdefghijklmnopqrstuvwxyz0123456789"] + [b""], 36)
PATTERNS = ["[a-c]{2,5}", "(ab|cd)*", "x[0-9]+", "[a-z]*9", "a|b|c"]
WORDS = 3  # one more than the vocabulary takes
ROWS = 24


def matcher(draw: random.Random) -> Matcher:
    return Matcher(tokenfst.compile(draw.choice(PATTERNS), LETTERS), draw.choice([(), (1, 5)]))


def walk(matcher: Matcher, draw: random.Random) -> None:
    """Read a token that is allowed, if there is one beside the end."""
    words = np.zeros(WORDS, np.int32)
    matcher.fill(words)
    allowed = [token for token in range(36) if words[token >> 5] >> (token & 31) & 1 and token not in matcher.stops]
    if allowed:
        assert matcher.accept([draw.choice(allowed)])


@pytest.mark.parametrize("seed", range(40))
def test_masks_are_those_of_the_moment_when_they_were_noted(seed: int) -> None:
    draw = random.Random(seed)
    late, early = Bitmask.of(ROWS, WORDS, 2), torch.full((ROWS, WORDS), -1, dtype=torch.int32)
    matchers = [matcher(draw) for _ in range(8)]
    for _ in range(60):
        row, other, one = draw.randrange(ROWS), draw.randrange(ROWS), draw.choice(matchers)
        action = draw.choice(["note", "note", "note", "walk", "back", "open", "copy"])
        if action == "note":
            late.note(row, one)
            one.fill(early[row].numpy())
        elif action == "walk":
            walk(one, draw)
        elif action == "back":
            one.rollback(draw.randint(0, one.num_tokens))
        elif action == "open":
            late[row].fill_(-1)
            early[row].fill_(-1)
        else:
            late[row].copy_(late[other])
            early[row].copy_(early[other])
    assert np.array_equal(late[:20].numpy(), early[:20].numpy())
    assert torch.equal(late, early)


LOOKS: dict[str, Any] = {
    "numpy": lambda masks: masks.numpy(),
    "a slice": lambda masks: masks[0:2],
    "a row": lambda masks: masks[1],
    "indices": lambda masks: masks[[0, 1]],
    "clone": lambda masks: masks.clone(),
    "to": lambda masks: masks.to(torch.int64),
    "in a list": lambda masks: torch.cat([masks, masks]),
    "by name": lambda masks: torch.cat(tensors=(masks, masks)),
    "arithmetic": lambda masks: 1 * masks,
    "tolist": lambda masks: np.array(masks.tolist()),
}


@pytest.mark.parametrize("look", LOOKS)
def test_whoever_looks_sees_masks(look: str) -> None:
    masks = Bitmask.of(2, WORDS, 1)
    one = Matcher(tokenfst.compile("a|b|c", LETTERS))
    masks.note(0, one)
    masks.note(1, one)
    assert np.asarray(LOOKS[look](masks)).reshape(-1, WORDS).tolist() in ([[7, 0, 0]] * 2, [[7, 0, 0]] * 4, [[7, 0, 0]])
    assert not masks.notes


def test_a_batch_is_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(positions: Any, out: Any, threads: int) -> list[int]:
        calls.append((sorted(positions), threads))
        return fill_masks(positions, out, threads)

    monkeypatch.setattr(serving.vllm.bitmask, "fill_masks", counted)
    masks = Bitmask.of(64, WORDS, 3)
    one = Matcher(tokenfst.compile("a|b|c", LETTERS))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda row: masks.note(row, one), range(40)))
    masks[50].fill_(-1)
    assert masks[:51].numpy()[:, 0].tolist() == [7] * 40 + [-1] * 11
    assert calls == [(list(range(40)), 3)]


def drawn(one: Matcher) -> list[int]:
    """The tokens that a mask allows; all other tokens are refused."""
    words = np.zeros(WORDS, np.int32)
    assert one.fill(words)
    allowed = [token for token in range(32 * WORDS) if words[token >> 5] >> (token & 31) & 1]
    assert [token for token in range(-2, 32 * WORDS) if one.validate([token])] == allowed
    return allowed


@pytest.mark.parametrize("seed", range(20))
def test_no_mask_is_empty_whatever_stops(seed: int) -> None:
    draw = random.Random(seed)
    stops = draw.sample([*range(40), -3, 70, 10**6], 25)
    automaton = tokenfst.compile(draw.choice(PATTERNS), LETTERS)
    one, plain = Matcher(automaton, stops), Matcher(automaton)
    for _ in range(6):
        allowed, otherwise = [token for token in drawn(one) if token < 37], drawn(plain)
        assert allowed
        if not set(otherwise) <= set(stops):
            assert set(allowed) - set(stops) == set(otherwise) - set(stops)
        token = draw.choice(allowed)
        assert one.accept([token])
        assert one.has_ended == (token in (*one.stops, 36))
        if one.has_ended:
            break
        assert plain.accept([token])


def test_stops_that_the_constraint_needs_are_written_and_end_the_text() -> None:
    a, b, c, end = 0, 1, 2, 36
    one = Matcher(tokenfst.compile("a(b|c)d", LETTERS), [b, c, 35, 80, 10**9, -1])
    assert drawn(one) == [a]
    assert one.accept([a])
    assert drawn(one) == [b, c]
    assert one.validate([b, end]) == 2
    assert one.accept([b])
    assert one.has_ended
    assert drawn(one) == [b, c, 35, end, 80]
    # Where another token can be written, they stay masked.
    other = Matcher(tokenfst.compile("a(b|x)", LETTERS), [b])
    assert other.accept([a])
    assert drawn(other) == [23]


def test_an_automaton_beyond_its_limits_spoils_no_other_row() -> None:
    nested, opening = Vocabulary([*LETTERS.tokens[:36], b"", b"(", b"[", b")", b"]"], 36), 37
    rules = 'root ::= "a" | "(" root ")" | "[" root "]"'
    doomed, rng = tokenfst.compile(grammar(rules), nested, limits=Limits(memory=1 << 15)), random.Random(1)
    one, other = Matcher(doomed), Matcher(tokenfst.compile("a|b|c", LETTERS), [1, 30])
    with pytest.raises(LimitExceeded):
        all(one.accept([opening]) for _ in range(1000))
    for _ in range(100):  # until the state of the first text is forgotten
        assert Matcher(doomed).accept(rng.choices([opening, opening + 1], k=20))
    masks = np.zeros((3, WORDS), np.int32)
    assert fill_masks({0: other.position, 1: one.position, 2: other.position}, masks) == [1]
    assert masks.tolist() == [[5, 0, 0], [-1, -1, -1], [5, 0, 0]]
    assert not one.fill(masks[0])
    for rows in ((0, 1), (0, 2)):
        wrong: Any = np.zeros((3, WORDS), np.int64)
        with pytest.raises(TypeError, match="masks are written into int32, not int64"):
            fill_masks(dict.fromkeys(rows, other.position), wrong)
