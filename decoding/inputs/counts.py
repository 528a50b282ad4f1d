"""Numbers of tokens, and other counts, as arguments of a call."""

from __future__ import annotations

from operator import index
from typing import Final, SupportsIndex

# Has the effect of no limit, and is still a number that the native core takes.
_MOST: Final = 1 << 62


def token_count(name: str, value: SupportsIndex, *, least: int | None = None, of: str = "tokens") -> int:
    """Return a number of tokens as an integer; a number above 2^62 means no limit, and becomes 2^62.

    Args:
        name: the name of the argument, for the message.
        value: the number, of any integer type.
        least: the least number allowed; None if the caller checks it.
        of: what is counted, for the message.

    Raises:
        TypeError: `value` is not an integer.
        ValueError: it is less than `least`.
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        number = min(index(value), _MOST)
    except TypeError:
        raise TypeError(f"{name} is a number of {of}, not {value!r}") from None
    if least is not None and number < least:
        raise ValueError(f"{name} is {least} or more, not {number}")
    return number
