"""Place: a part of an expression or a grammar at which a text continues."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A part that can read the next byte of a text.

    Attributes:
        expected: the bytes that it reads next.
        part: the part, as it is written in the pattern, or printed.
        span: where it begins and ends in the pattern, in characters; None if the constraint is not a pattern.
        count: the number of complete rounds of a repetition that have been read; None for other parts. A repetition
            without an upper bound is not counted beyond its lower bound.
        rest: the rest of a literal text that has been begun; in a repetition, the rest of this round.
        rules: the rules that are open, from the start of the grammar to the one that the part stands in.
        word: the lexical rule that the part belongs to; None if there is none.
        begun: the number of bytes of the word that have been read.
    """

    expected: frozenset[int]
    part: str
    span: tuple[int, int] | None = None
    count: int | None = None
    rest: bytes = b""
    rules: tuple[str, ...] = ()
    word: str | None = None
    begun: int = 0
