"""Tags: how the members of an object are written between tags."""

from __future__ import annotations

from typing import Final, NamedTuple


class Tags(NamedTuple):
    """How the members of an object are written. All texts are patterns, both for `automata` and for Python's `re`.

    Attributes:
        name: what stands before a name.
        text: what stands between a name and a value.
        close: what stands after a value.
        own: the tags themselves, which no string may contain.
        value: what stands between a name and a value that is not a string, if the tags say which values are strings;
            `text` then stands only before strings. None if they do not say so.
        is_padded: whether one line break at the beginning of a value, and one at its end, belong to the tags.
    """

    name: str
    text: str
    close: str
    own: str
    value: str | None = None
    is_padded: bool = False

    @property
    def marks_strings(self) -> bool:
        """Whether the tags say which values are strings."""
        return self.value is not None


# A line break may stand between two members, and after the last one.
BREAK: Final = r"\n?"
