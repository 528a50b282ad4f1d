"""The states of plain arrays and objects, beside what their definition says, set by set; and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraints._native import PlainStates, in_any_order, in_order, items_in_order

MOST = 10_000


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    listed = draw(st.integers(0, 5))
    names = st.lists(st.integers(0, max(listed - 1, 0)), unique=True, max_size=listed)
    required = draw(names)
    remembered = sorted({*required, *draw(names)})
    order = st.permutations(remembered).flatmap(lambda all_: st.integers(0, len(all_)).map(lambda end: all_[:end]))
    return {
        "num_listed": listed,
        "num_members": listed + draw(st.integers(0, 2)),
        "possible": sorted(draw(names)),
        "required": required,
        "remembered": remembered,
        "orders": draw(st.lists(order, min_size=1, max_size=2)),
        "ahead": draw(st.sampled_from([None, 0, 1, 2])),
    }


def ahead(waiting: frozenset[int], order: list[int]) -> int:
    """How many names have come of which one that stands before them waits."""
    return sum(name not in waiting and any(other in waiting for other in order[:at]) for at, name in enumerate(order))


def sets(said: dict[str, Any], waiting: frozenset[int]) -> Iterator[tuple[int, frozenset[int]]]:
    """The members that may come next, and the names that wait after each."""
    for name in said["possible"]:
        if name not in said["remembered"]:
            yield name, waiting
        elif name in waiting:
            left = waiting - {name}
            if said["ahead"] is None or any(ahead(left, order) <= said["ahead"] for order in said["orders"]):
                yield name, left
    for other in range(said["num_listed"], said["num_members"]):
        yield other, waiting


@given(objects())
def test_an_object_has_a_state_for_each_set_of_names_that_wait(said: dict[str, Any]) -> None:
    states, (num_moves, is_all) = in_any_order(**said, most=MOST)
    assert is_all
    start = frozenset(said["remembered"])
    numbers, waiting = {start: 0}, [start]
    moves = 0
    while waiting:
        at = waiting.pop()
        expected = list(sets(said, at))
        found = states.following(numbers[at])
        assert [member for member, _ in found] == [member for member, _ in expected]
        for (_, number), (_, left) in zip(found, expected, strict=True):
            if left not in numbers:
                numbers[left] = number
                waiting.append(left)
            assert numbers[left] == number
        assert states.is_end(numbers[at]) == at.isdisjoint(said["required"])
        assert states.skips(numbers[at]) == []
        moves += len(expected)
    assert sorted(numbers.values()) == list(range(states.num_states))
    assert num_moves == moves
    for most in (0, moves - 1, moves):
        _, (counted, is_all) = in_any_order(**said, most=most)
        assert is_all == (moves <= most)
        assert counted == moves if is_all else most < counted <= moves


def texts(states: PlainStates, length: int) -> set[tuple[int, ...]]:
    """The sequences of members, up to a length, after which the end may be."""
    found = set()
    waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    while waiting:
        state, text = waiting.pop()
        waiting += [(skipped, text) for skipped in states.skips(state)]
        if states.is_end(state):
            found.add(text)
        if len(text) < length:
            waiting += [(target, (*text, member)) for member, target in states.following(state)]
    return found


@given(objects(), st.booleans())
def test_names_come_in_one_order_or_in_a_second_one(said: dict[str, Any], has_second: bool) -> None:
    listed, members, length = said["num_listed"], said["num_members"], 4
    possible, required = set(said["possible"]), said["required"]
    others = range(listed, members)

    def is_first(text: tuple[int, ...]) -> bool:
        own = [member for member in text if member < listed]
        return list(text[: len(own)]) == own == sorted(set(own)) and set(required) <= set(own) <= possible

    def is_second(text: tuple[int, ...]) -> bool:
        rest = {*(possible - set(required)), *others}
        begins = list(text[: len(required)]) == required and set(required) <= possible
        return has_second and begins and rest.issuperset(text[len(required) :])

    alphabet = range(members)
    every: list[tuple[int, ...]] = [()]
    for _ in range(length):
        every += [(*text, member) for text in every for member in alphabet if len(text) < length]
    states = in_order(listed, members, said["possible"], required, required if has_second else None)
    assert texts(states, length) == {text for text in every if is_first(text) or is_second(text)}


@given(st.lists(st.booleans(), min_size=1, max_size=4), st.integers(0, 5), st.none() | st.integers(0, 6))
def test_an_array_has_a_state_for_each_number_of_items(possible: list[bool], low: int, high: int | None) -> None:
    last = max(low, len(possible) - 1) if high is None else high
    states = items_in_order(possible, low, high, last)
    expected = {
        tuple(min(place, len(possible) - 1) for place in range(length))
        for length in range(8)
        if low <= length
        and (high is None or length <= high)
        and all(possible[min(place, len(possible) - 1)] for place in range(length))
    }
    assert texts(states, 7) == expected


def test_states_after_a_place_without_items_are_not_made() -> None:
    assert items_in_order([True, False], 0, None, 1 << 30).num_states == 2


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"possible": [3]}, "name"),
        ({"required": [-1]}, "name"),
        ({"remembered": [0, 1]}, "required and not remembered"),
        ({"orders": [[0, 0]]}, "each once"),
        ({"orders": [[5]]}, "name"),
        ({"num_members": 2}, "as many members"),
        ({"num_listed": 600, "num_members": 600, "remembered": list(range(600))}, "too many names"),
    ],
)
def test_what_is_no_object_is_refused(changed: dict[str, Any], message: str) -> None:
    said: dict[str, Any] = {"num_listed": 3, "num_members": 3, "possible": [0, 1, 2], "required": [2]}
    said |= {"remembered": [0, 1, 2], "orders": [[0, 1, 2]], "ahead": 0} | changed
    with pytest.raises(ValueError, match=message):
        in_any_order(**said, most=MOST)


def test_a_state_that_is_not_there_is_refused() -> None:
    states = items_in_order([True], 0, 3, 3)
    for call in (states.following, states.skips, states.is_end):
        with pytest.raises(ValueError, match="state"):
            call(4)
