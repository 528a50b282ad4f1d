"""The tokens nearest to a text, beside their definition."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from tokenfst.explanation.nearest import nearest


def distance(left: bytes, right: bytes) -> int:
    if not left or not right:
        return len(left) + len(right)
    rest = distance(left[1:], right[1:]) + (left[0] != right[0])
    return min(rest, distance(left[1:], right) + 1, distance(left, right[1:]) + 1)


def by_definition(text: bytes, tokens: list[bytes], allowed: list[int]) -> Iterator[int]:
    def order(token: int) -> tuple[int, int, int, int]:
        own = tokens[token]
        shared = next((at for at in range(len(own), -1, -1) if text[:at] == own[:at] and len(text) >= at), 0)
        return -shared, distance(text, own), len(own), token

    return iter(sorted((token for token in allowed if tokens[token]), key=order))


TEXTS = st.binary(max_size=5).map(lambda text: bytes(97 + byte % 3 for byte in text))


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=12), st.integers(1, 4))
@settings(max_examples=100)
def test_nearest_tokens_are_those_of_the_definition(text: bytes, tokens: list[bytes], number: int) -> None:
    allowed = list(range(0, len(tokens), 2))
    assert nearest(text, tokens, allowed, number) == list(by_definition(text, tokens, allowed))[:number]
