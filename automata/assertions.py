"""Look-around and anchors: which texts an expression with assertions describes.

An assertion matches the empty string where it stands in the right place: `Lookahead(inner)` where the rest of the text
begins with `inner`, `Lookbehind(inner)` where what came before ends with it. The rest is put in terms of these two:

    \\A, and ^              (?<!.)       nothing comes before
    \\Z                     (?!.)        nothing comes after
    $                      (?!.) or before a line feed that ends the text
    ^ and $ with flag m    (?<![^\\n]) and (?![^\\n])
    \\b                     a character of \\w on one side and none on the other

The languages stay regular. Most patterns have assertions at their ends only, where they are operations on whole texts:

    (?=a)b  is  b & a.*        (?!a)b  is  b - a.*        b(?<=a)  is  b & .*a        ^ first and \\Z last are nothing

`simplified` does that, and what is left goes to the construction of `automata.lookaround`.
"""

from __future__ import annotations

from automata import expr as ex
from automata.alphabet import nodes, parts_of
from automata.expr import (
    ANY_TEXT,
    EMPTY,
    TEXT_END,
    TEXT_START,
    Alternation,
    ByteSet,
    Complement,
    Concatenation,
    Difference,
    Expr,
    Intersection,
    Label,
    Literal,
    Lookahead,
    Lookbehind,
    Repetition,
)


def holds_assertion(expr: Expr) -> bool:
    """Whether an expression depends on what stands around it; texts of their own within it do not."""
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Lookahead | Lookbehind):
            return True
        if not isinstance(node, Intersection | Difference | Complement):
            stack.extend(parts_of(node))
    return False


def matches_empty(expr: Expr) -> bool:
    """Whether the empty text is in the language of an expression that is a text of its own."""
    if isinstance(expr, Literal):
        return not expr.value
    if isinstance(expr, Concatenation):
        return all(map(matches_empty, expr.parts))
    if isinstance(expr, Alternation):
        return any(map(matches_empty, expr.parts))
    if isinstance(expr, Repetition):
        return expr.low == 0 or matches_empty(expr.inner)
    if isinstance(expr, Intersection):
        return matches_empty(expr.left) and matches_empty(expr.right)
    if isinstance(expr, Difference):
        return matches_empty(expr.left) and not matches_empty(expr.right)
    if isinstance(expr, Complement):
        return not matches_empty(expr.inner)
    if isinstance(expr, Lookahead | Lookbehind):
        return matches_empty(expr.inner) != expr.negated
    return False


def simplified(expr: Expr) -> Expr:
    """The same text with the assertions at its ends resolved, where that takes no more than operations on texts."""
    if isinstance(expr, Alternation):
        return ex.alternation(*map(simplified, expr.parts))
    if not isinstance(expr, Concatenation | Lookahead | Lookbehind):
        return expr
    parts = [*expr.parts] if isinstance(expr, Concatenation) else [expr]
    if not _cut_at_anchors(parts):
        return EMPTY
    while parts and isinstance(first := parts[0], Lookahead | Lookbehind):
        rest = ex.concat(*parts[1:])
        if isinstance(first, Lookahead) and parts[1:]:
            if not _is_text(expr):
                break
            return _operation(first.negated, simplified(rest), simplified(first.inner + ANY_TEXT))
        decided = _at_edge(first)
        if decided is not True:
            return expr if decided is None else EMPTY
        del parts[0]
    while parts and isinstance(last := parts[-1], Lookahead | Lookbehind):
        rest = ex.concat(*parts[:-1])
        if isinstance(last, Lookbehind):
            if not _is_text(expr):
                break
            return _operation(last.negated, simplified(rest), simplified(ANY_TEXT + last.inner))
        decided = _at_edge(last)
        if decided is not True:
            return ex.concat(*parts) if decided is None else EMPTY
        del parts[-1]
    return ex.concat(*parts)


def _at_edge(assertion: Lookahead | Lookbehind) -> bool | None:
    """Whether an assertion that looks past the end of the text holds; None where that is not decided here."""
    if holds_assertion(assertion.inner):
        return None
    return matches_empty(assertion)


def _operation(negated: bool, text: Expr, other: Expr) -> Expr:
    return ex.difference(text, other) if negated else ex.intersection(text, other)


def _is_text(expr: Expr) -> bool:
    """Whether an expression describes text only, without raw bytes and labels."""
    for node in nodes(expr):
        if isinstance(node, ByteSet | Label):
            return False
        if isinstance(node, Literal):
            try:
                node.value.decode()
            except UnicodeDecodeError:
                return False
    return True


def _cut_at_anchors(parts: list[Expr]) -> bool:
    """Takes away what stands before the start of the text or behind its end, which must then be empty; False where it
    cannot be."""
    while TEXT_START in parts:
        place = parts.index(TEXT_START)
        if any(map(holds_assertion, parts[:place])):
            break
        if not all(map(matches_empty, parts[:place])):
            return False
        del parts[: place + 1]
    while TEXT_END in parts:
        place = len(parts) - 1 - parts[::-1].index(TEXT_END)
        if any(map(holds_assertion, parts[place + 1 :])):
            break
        if not all(map(matches_empty, parts[place + 1 :])):
            return False
        del parts[place:]
    return True


def text_of(expr: Expr) -> Expr:
    """The language of a text: an expression that no longer depends on what stands around it."""
    result = simplified(expr)
    return ex.whole(result) if holds_assertion(result) else result


