"""Numbers of tokens as arguments of a call."""

from __future__ import annotations

from operator import index
from typing import Final, SupportsIndex

# As good as no limit, and still a number that the native core takes.
_MOST: Final = 1 << 62


def token_count(name: str, value: SupportsIndex) -> int:
    """Return a number of tokens as an integer; one of more than 62 bits means no limit, and so does the result.

    Args:
        name: the name of the argument, for the message.
        value: the number, of any integer type.

    Raises:
        TypeError: `value` is not an integer.
    """
    try:
        return min(index(value), _MOST)
    except TypeError:
        raise TypeError(f"{name} is a number of tokens, not {value!r}") from None
