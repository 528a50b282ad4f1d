"""Numbers of tokens as arguments of a call."""

from __future__ import annotations

from operator import index
from typing import Final, SupportsIndex

# Has the effect of no limit, and is still a number that the native core takes.
_MOST: Final = 1 << 62


def token_count(name: str, value: SupportsIndex) -> int:
    """Return a number of tokens as an integer; a number above 2^62 means no limit, and becomes 2^62.

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
