"""Texts with assertions in the native core: against the definition of look-around, and with arguments of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import pytest
from arrays import attempt, budget, ints
from hypothesis import given
from hypothesis import strategies as st
from random_automata import MANY, SEEDS, draw_from

from automata import _native
from automata.errors import LimitExceeded

NUM_SYMBOLS, LONGEST, TEXT = 2, 5, -1


def some_skeleton(rng: Random) -> dict[str, Any]:
    """The automata of a text and of up to three assertions; state 0 is the start, and state 1 the end, of the text."""
    owner: list[int] = []
    arcs: list[tuple[int, int, int]] = []
    jumps: list[tuple[int, int, int]] = []
    assertions: list[tuple[int, int, int]] = []
    num_assertions = rng.randint(0, 3)
    for number in (TEXT, *range(num_assertions)):
        first, size = len(owner), rng.randint(2, 4)
        states = range(first, first + size)
        owner += [number] * size
        read = [rng.randrange(NUM_SYMBOLS) for _ in range(rng.randint(1, 2 * size))]
        arcs += [(rng.choice(states), symbol, rng.choice(states)) for symbol in read]
        inner = num_assertions if number == TEXT else number
        guards = rng.choices([-1, *range(2 * inner)], k=rng.randint(1, size))
        jumps += [(rng.choice(states), guard, rng.choice(states)) for guard in guards]
        if number != TEXT:
            assertions.append((rng.randint(0, 1), first, first + 1))
    return {
        "owner": ints(owner),
        "arcs": ints(sorted(arcs), -1, 3),
        "jumps": ints(sorted(jumps), -1, 3),
        "assertions": ints(assertions, -1, 3),
        "start": 0,
        "end": 1,
        "max_states": 10_000,
    }


def reached(skeleton: dict[str, Any], text: tuple[int, ...], start: int, begin: int) -> set[tuple[int, int]]:
    """The places and states that are reached from a state at a place of a text, with guards read as they are meant."""
    seen, waiting = {(begin, start)}, [(begin, start)]
    while waiting:
        place, state = waiting.pop()
        following = [
            (place, target)
            for source, guard, target in skeleton["jumps"].tolist()
            if source == state and (guard < 0 or holds(skeleton, text, guard // 2, place) != bool(guard % 2))
        ]
        if place < len(text):
            arcs = skeleton["arcs"].tolist()
            following += [(place + 1, to) for source, symbol, to in arcs if source == state and symbol == text[place]]
        waiting += [each for each in following if each not in seen]
        seen.update(following)
    return seen


def holds(skeleton: dict[str, Any], text: tuple[int, ...], number: int, place: int) -> bool:
    """Whether an assertion holds at a place of a text."""
    behind, start, end = skeleton["assertions"][number].tolist()
    if behind:
        return any((place, end) in reached(skeleton, text, start, begin) for begin in range(place + 1))
    return any(state == end for _, state in reached(skeleton, text, start, place))


def accepted(offsets: Any, arcs: Any, final: Any, text: tuple[int, ...]) -> bool:
    state = 0
    for symbol in text:
        row = dict(arcs[offsets[state] : offsets[state + 1]].tolist())
        if symbol not in row:
            return False
        state = row[symbol]
    return bool(final[state])


def all_texts() -> Iterator[tuple[int, ...]]:
    for length in range(LONGEST + 1):
        yield from product(range(NUM_SYMBOLS), repeat=length)


@pytest.mark.parametrize("seed", range(150))
def test_texts_are_those_of_the_definition(seed: int) -> None:
    skeleton = some_skeleton(Random(seed))
    found = _native.subsets(**skeleton, budget=budget())
    for text in all_texts():
        assert accepted(*found, text) == ((len(text), 1) in reached(skeleton, text, 0, 0)), (seed, text)


@given(SEEDS, st.data())
@MANY
def test_arguments_of_any_kind(seed: int, data: st.DataObject) -> None:
    arguments = draw_from(data, some_skeleton(Random(seed)))
    found = attempt(_native.subsets, **arguments, budget=budget())
    if found is not None:
        offsets, arcs, final = found
        assert len(offsets) == len(final) + 1
        assert len(arcs) == offsets[-1]
        assert not len(arcs) or 0 <= arcs[:, 1].min() <= arcs[:, 1].max() < len(final)


def test_limits() -> None:
    skeletons = [some_skeleton(Random(seed)) for seed in range(150)]
    largest = max(skeletons, key=lambda skeleton: len(_native.subsets(**skeleton, budget=budget())[2]))
    with pytest.raises(LimitExceeded, match="more than 2 states"):
        _native.subsets(**{**largest, "max_states": 2}, budget=budget())
    with pytest.raises(LimitExceeded, match="bytes"):
        _native.subsets(**largest, budget=budget(0))
    far = ints([(0, 2**31 - 1, 0)], -1, 3)
    with pytest.raises(LimitExceeded, match="bytes"):
        _native.subsets(**{**largest, "arcs": far}, budget=budget())
