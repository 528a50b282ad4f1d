"""Groups whose names apply functions to their content: operations on languages, and other extensions.

When `(?P<NAME>content)` with a name in `EXTENSION_GROUPS` closes, its content is passed to the function with this name.
Other names are those that a pattern gives to its groups, and do not change the language.

    Content             the content of the group
    Extension           the function, and how to read the content
    EXTENSION_GROUPS    the extensions by name

These follow the extensions of the paper (Koo, Liu & He 2024, section 2.5 and Table 1), which use this syntax because it
does not conflict with another meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from automata import expressions as ex
from automata.errors import PatternError
from automata.expressions import Expr, Literal, extensions


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a group.

    Attributes:
        alternatives: the items of each alternative; a run of plain characters is one item, and so is a group.
        refuse: returns the error at the position of the group, given the reason.
    """

    alternatives: list[list[Expr]]
    refuse: Callable[[str], PatternError]

    @property
    def language(self) -> Expr:
        """The language of the content, read as a pattern."""
        return ex.alternation(*[ex.concat(*items) for items in self.alternatives])

    def pair(self, name: str) -> tuple[Expr, Expr]:
        """Return the content as two operands.

        Raises:
            PatternError: the content is not two items.
        """
        if len(self.alternatives) != 1 or len(self.alternatives[0]) != 2:
            raise self.refuse(f"{name} takes two groups, one after the other")
        left, right = self.alternatives[0]
        return left, right

    def text(self, name: str) -> str:
        """Return the content as plain text.

        Raises:
            PatternError: it is a pattern and not plain text, or its bytes are not UTF-8.
        """
        language = self.language
        if not isinstance(language, Literal):
            raise self.refuse(f"{name} takes plain text, in one case, in which special characters have a backslash")
        try:
            return language.value.decode()
        except UnicodeDecodeError:
            raise self.refuse(f"{name} takes text, and not any bytes") from None

    def nothing(self, name: str) -> None:
        """Check that the group is empty.

        Raises:
            PatternError: the group has content.
        """
        if self.alternatives != [[]]:
            raise self.refuse(f"{name} takes nothing between its brackets")


Build = Callable[[Content], Expr]


@dataclass(frozen=True, slots=True)
class Extension:
    """The meaning of a group's name.

    Attributes:
        build: the function from the content to the language of the group.
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


def _quoted_text(content: Content) -> Expr:
    content.nothing("QUOTED_TEXT")
    return extensions.quoted_text()


def _unquoted_text(content: Content) -> Expr:
    content.nothing("UNQUOTED_TEXT")
    return extensions.unquoted_text()


def _text_until(content: Content) -> Expr:
    return extensions.text_until(content.language)


def _substring_of(content: Content) -> Expr:
    return extensions.substring_of(content.text("SUBSTRING_OF"))


def _substring_of_words(content: Content) -> Expr:
    return extensions.substring_of(content.text("SUBSTRING_OF_WORDS"), words=True)


def _delimited_list(content: Content) -> Expr:
    return extensions.delimited_list(*content.pair("DELIMITED_LIST"))


def _delimited_subsequence_of(content: Content) -> Expr:
    if len(content.alternatives) != 1 or len(content.alternatives[0]) < 2:
        raise content.refuse("DELIMITED_SUBSEQUENCE_OF takes groups, one for each item and the last for the delimiter")
    *items, delimiter = content.alternatives[0]
    return extensions.delimited_subsequence_of(items, delimiter)


def _token(content: Content) -> Expr:
    name = content.text("TOKEN")
    if not name:
        raise content.refuse("TOKEN takes the name of a token")
    return extensions.token(name)


def _named_token(name: str) -> Build:
    """Return the function for a group whose own name is the name of its set of tokens."""

    def build(content: Content) -> Expr:
        content.nothing(name)
        return extensions.token(name)

    return build


EXTENSION_GROUPS: Mapping[str, Extension] = MappingProxyType(
    {
        "AND": Extension(_and),
        "MINUS": Extension(_minus),
        "NOT": Extension(_not),
        "BYTES": Extension(_bytes, raw_bytes=True),
        "QUOTED_TEXT": Extension(_quoted_text),
        "UNQUOTED_TEXT": Extension(_unquoted_text),
        "TEXT_UNTIL": Extension(_text_until),
        "SUBSTRING_OF": Extension(_substring_of),
        "SUBSTRING_OF_WORDS": Extension(_substring_of_words),
        "DELIMITED_LIST": Extension(_delimited_list),
        "DELIMITED_SUBSEQUENCE_OF": Extension(_delimited_subsequence_of),
        "TOKEN": Extension(_token),
        **{name: Extension(_named_token(name)) for name in extensions.NAMED_TOKENS},
    }
)
