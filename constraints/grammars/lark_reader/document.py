"""The content of a grammar in Lark's syntax, before its names are resolved.

    Item          one operation of a body
    Range         the strings of a range of characters
    Count         the bounds of a repetition
    Body          the part after the colon, in postfix order
    Definition    a rule, a template or a terminal
    LarkDocument  all definitions and directives

Bodies are in postfix order: each item takes the values that earlier items have made. So they are evaluated with a list
of values, whatever the nesting, once for rules (`rules`) and once for terminals (`terminals`):

    ("a" | b)+      string "a", name b, either 2, repeat 1..

    string, regexp, range       value: the text, with quotes and flags; for a range a `Range`
    name, argument              value: the name, in a body and among the arguments of a template
    token                       value: the name with its angle brackets
    json, substrings            value: the JSON after %json or %regex
    template                    value: name and number of arguments, which the items before it make
    sequence, either, both      value: how many values are taken
    not                         takes one value
    repeat                      value: the bounds; takes one value
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias


class Item(NamedTuple):
    """One operation of a body."""

    operation: str
    value: Any
    position: int


class Range(NamedTuple):
    """The strings at the ends of a range of characters, with their quotes.

    Attributes:
        distance: the number of characters from the beginning of the first string to that of the last one.
    """

    first: str
    last: str
    distance: int


class Count(NamedTuple):
    """The bounds on the number of times that a part occurs.

    Attributes:
        high: the upper bound; None for no bound.
        symbol: the quantifier, if it is a single symbol.
    """

    low: int
    high: int | None
    symbol: str = ""


Body: TypeAlias = list[Item]


@dataclass(slots=True)
class Definition:
    """A rule, a template or a terminal.

    Attributes:
        parameters: the parameters of a template.
        priority: the priority of a terminal.
        attributes: the attributes in brackets after the name, each with its value and position.
        extensions: the bodies that %extend adds, until they are part of `body`.
    """

    name: str
    position: int
    is_terminal: bool
    parameters: tuple[str, ...]
    priority: int
    attributes: dict[str, Item]
    body: Body
    extensions: list[Body] = field(default_factory=list)


@dataclass(slots=True)
class LarkDocument:
    """All definitions and directives of a text.

    Attributes:
        definitions: the definitions by name, in the order of the text.
        imported: the names of Lark's common terminals, by the names that they have in the text.
        declared: the names of tokens that are given when the grammar is compiled, with the positions of their
            declarations.
        ignored: the bodies after %ignore.
    """

    definitions: dict[str, Definition] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)
    declared: dict[str, int] = field(default_factory=dict)
    ignored: list[Body] = field(default_factory=list)
