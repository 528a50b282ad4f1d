"""JSON: any value of RFC 8259, to any depth, as a grammar of one recursive rule.

Texts are those of the RFC's ABNF (`JSON-text`, section 2), in UTF-8:

    json     white space, then a value                                  the rule that whole texts match
    value    an object, an array, a string, a number or a literal name, and the white space after it

White space belongs to what it follows. So a value ends where the next character is none of its own, and reading the
white space after it moves no stack; a grammar with white space before and after each bracket would allow the same
texts, and leave it open whose white space it is.

A `\\u` escape may write half of a surrogate pair: the ABNF allows it, and leaves what it means to the reader. The RFC
lets readers bound the depth and the size of numbers; nothing is bounded here.
"""

from __future__ import annotations

from automata.expressions import Expr, alternation, call, char_set, concat, repeat
from automata.expressions.extensions import delimited_list, quoted_text
from automata.pushdown.grammar import Grammar


def json() -> Grammar:
    """Any JSON value (RFC 8259), to any depth, with white space wherever the RFC has it."""
    space = char_set(" \t\n\r").star()
    value = call("value")
    comma = concat(",", space)
    member = concat(quoted_text(), space, ":", space, value)
    kinds = alternation(
        concat("{", space, delimited_list(member, comma).optional(), "}"),
        concat("[", space, delimited_list(value, comma).optional(), "]"),
        quoted_text(),
        _number(),
        "true",
        "false",
        "null",
    )
    return Grammar({"json": concat(space, value), "value": concat(kinds, space)}, start="json")


def _number() -> Expr:
    """A number as section 6 of the RFC writes it."""
    digit = char_set((0x30, 0x39))
    integer = alternation("0", concat(char_set((0x31, 0x39)), digit.star()))
    fraction = concat(".", digit.plus()).optional()
    exponent = concat(char_set("eE"), char_set("+-").optional(), digit.plus()).optional()
    return concat(repeat("-", 0, 1), integer, fraction, exponent)
