"""The states of plain arrays and objects, beside what their definition says; and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraints._native import PlainStates, in_order, items_in_order


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    listed = draw(st.integers(0, 5))
    names = st.lists(st.integers(0, max(listed - 1, 0)), unique=True, max_size=listed)
    others = draw(st.integers(0, 2))
    return {
        "num_listed": listed,
        "num_members": listed + others,
        "possible": sorted(draw(names)),
        "required": draw(names),
    }


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


@given(objects())
def test_names_come_in_one_order(said: dict[str, Any]) -> None:
    listed, members, length = said["num_listed"], said["num_members"], 4
    possible, required = set(said["possible"]), said["required"]

    def is_read(text: tuple[int, ...]) -> bool:
        own = [member for member in text if member < listed]
        return list(text[: len(own)]) == own == sorted(set(own)) and set(required) <= set(own) <= possible

    every: list[tuple[int, ...]] = [()]
    for _ in range(length):
        every += [(*text, member) for text in every for member in range(members) if len(text) < length]
    assert texts(in_order(**said), length) == set(filter(is_read, every))


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
        ({"num_members": 2}, "as many members"),
    ],
)
def test_what_is_no_object_is_refused(changed: dict[str, Any], message: str) -> None:
    said: dict[str, Any] = {"num_listed": 3, "num_members": 3, "possible": [0, 1, 2], "required": [2]}
    with pytest.raises(ValueError, match=message):
        in_order(**(said | changed))


def test_a_state_that_is_not_there_is_refused() -> None:
    states = items_in_order([True], 0, 3, 3)
    for call in (states.following, states.skips, states.is_end):
        with pytest.raises(ValueError, match="state"):
            call(4)
