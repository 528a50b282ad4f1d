"""Groups whose name says what becomes of their content: operations on languages, and whatever else has a name.

`(?P<NAME>content)` with a name of `EXTENSION_GROUPS` is handed to its function when it closes. All others are names
that a pattern gives to its groups, which change no language.

    Content             what stood in the group
    Extension           the function, and how the content is to be read
    EXTENSION_GROUPS    by name

This is the family of the paper's extensions (Koo, Liu & He 2024, section 2.5 and Table 1), which are written so because
no other meaning of these patterns is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from automata import expr as ex
from automata.errors import PatternError
from automata.expr import Expr


@dataclass(frozen=True, slots=True)
class Content:
    """What stood in a group.

    Attributes:
        alternatives: the items of each alternative; a run of plain characters is one item, and so is a group.
        refuse: the error that says what is wrong with the group, to be raised.
    """

    alternatives: list[list[Expr]]
    refuse: Callable[[str], PatternError]

    @property
    def language(self) -> Expr:
        """The content as a pattern."""
        return ex.alternation(*[ex.concat(*items) for items in self.alternatives])

    def pair(self, name: str) -> tuple[Expr, Expr]:
        """The content as two operands.

        Raises:
            PatternError: it is not two items.
        """
        if len(self.alternatives) != 1 or len(self.alternatives[0]) != 2:
            raise self.refuse(f"{name} takes two groups, one after the other")
        left, right = self.alternatives[0]
        return left, right


Build = Callable[[Content], Expr]


@dataclass(frozen=True, slots=True)
class Extension:
    """What a name means.

    Attributes:
        build: the language of the group.
        raw_bytes: whether the characters of the content stand for bytes.
    """

    build: Build
    raw_bytes: bool = False


def _and(content: Content) -> Expr:
    return ex.intersection(*content.pair("AND"))


def _minus(content: Content) -> Expr:
    return ex.difference(*content.pair("MINUS"))


def _not(content: Content) -> Expr:
    return ex.complement(content.language)


def _bytes(content: Content) -> Expr:
    return content.language


EXTENSION_GROUPS: Mapping[str, Extension] = MappingProxyType(
    {
        "AND": Extension(_and),
        "MINUS": Extension(_minus),
        "NOT": Extension(_not),
        "BYTES": Extension(_bytes, raw_bytes=True),
    }
)
