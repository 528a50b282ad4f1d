"""JSON: any value of RFC 8259, to any depth, as a grammar of one recursive rule.

    json     the value that is the whole text
    value    an object, an array, a string, a number or a literal name

There is no whitespace before or after the value. Within it, whitespace is that of
`constraints.json_schema.building.whitespace`, and is bounded, so that no model spends its tokens on blanks. "default"
allows what `json.dumps` and `JSON.stringify` write: no whitespace, one space after commas and colons, or a line for
each item, indented by up to 32 spaces or 8 tabs.

A `\\u` escape may be a lone surrogate: the RFC's ABNF allows this, and leaves its meaning to the reader. The RFC lets
readers bound the depth and the size of numbers; this grammar bounds neither.
"""

from __future__ import annotations

from automata.expressions import Expr, alternation, call, char_set, concat, repeat
from automata.expressions.extensions import quoted_text
from automata.pushdown.grammar import Grammar
from constraints.json_schema.building.whitespace import MAX_DEPTH, Habit, Whitespace, whitespace_at


def json(*, whitespace: Habit | Whitespace = "default") -> Grammar:
    """Return the grammar of any JSON value (RFC 8259), to any depth.

    Args:
        whitespace: the whitespace allowed within the value, as in `json_schema`. With "default", lines may be indented
            by up to 32 spaces or 8 tabs, however deeply they are nested.

    Raises:
        ValueError: `whitespace` is not a known name.
    """
    blanks = whitespace_at(whitespace, MAX_DEPTH)
    value = call("value")
    member = concat(quoted_text(), blanks.before_colon, ":", blanks.after_colon, value)
    kinds = alternation(
        _between("{", member, "}", blanks),
        _between("[", value, "]", blanks),
        quoted_text(),
        _number(),
        "true",
        "false",
        "null",
    )
    return Grammar({"json": value, "value": kinds}, start="json")


def _between(opening: str, item: Expr, closing: str, blanks: Whitespace) -> Expr:
    """Return items between brackets."""
    more = concat(blanks.before_comma, ",", blanks.after_comma, item).star()
    return concat(opening, alternation(concat(blanks.opened, item, more, blanks.closing), blanks.empty), closing)


def _number() -> Expr:
    """Return a number as section 6 of the RFC writes it."""
    digit = char_set((0x30, 0x39))
    integer = alternation("0", concat(char_set((0x31, 0x39)), digit.star()))
    fraction = concat(".", digit.plus()).optional()
    exponent = concat(char_set("eE"), char_set("+-").optional(), digit.plus()).optional()
    return concat(repeat("-", 0, 1), integer, fraction, exponent)
