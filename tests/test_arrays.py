"""What makes arrays: places of bits, beside their definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from automata.arrays import bits_of


@given(st.integers(0, 1 << 600) | st.integers(0, 600).map(lambda place: 1 << place))
def test_the_places_of_bits_ascend(number: int) -> None:
    assert bits_of(number) == [place for place in range(601) if number >> place & 1]
