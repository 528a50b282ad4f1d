"""Look-around and anchors: which texts an expression with assertions describes.

An assertion matches the empty string at certain positions: `Lookahead(inner)` where the rest of the text begins with
`inner`, `Lookbehind(inner)` where the text so far ends with `inner`. All other assertions are written with these two:

    \\A, and ^              (?<!.)       nothing comes before
    \\Z                     (?!.)        nothing comes after
    $                      (?!.) or before a line feed that ends the text
    ^ and $ with flag m    (?<![^\\n]) and (?![^\\n])
    \\b                     a character of \\w on one side and none on the other

The languages stay regular. Most patterns have assertions only at their ends, where they are operations on whole texts:

    (?=a)b  is  b & a.*        (?!a)b  is  b - a.*        b(?<=a)  is  b & .*a        ^ first and \\Z last are nothing

`simplified` makes these replacements; `automata.assertions.lookaround` handles all other cases, with NFAs (`skeleton`)
over classes of characters (`alphabet`).
"""

from __future__ import annotations

from automata import expressions as ex
from automata.assertions.alphabet import KNOWN_LEAVES, is_utf8, leaves
from automata.expressions import (
    ANY_TEXT,
    EMPTY,
    TEXT_END,
    TEXT_START,
    Alternation,
    CharSet,
    Complement,
    Concatenation,
    Difference,
    Expr,
    Intersection,
    Literal,
    Lookahead,
    Lookbehind,
    Repetition,
    Strings,
    Substring,
)


def matches_empty(expr: Expr) -> bool:
    """Return whether the empty text is in the language of an expression that is a text of its own, without
    recursion."""
    if not expr.operands():
        return _matches_empty(expr, [])
    known: dict[int, bool] = {}  # by identity, to avoid hashing
    stack = [expr]
    while stack:
        node = stack[-1]
        operands = node.operands()
        missing = [part for part in operands if id(part) not in known]
        if missing:
            stack += missing
        else:
            known[id(stack.pop())] = _matches_empty(node, [known[id(part)] for part in operands])
    return known[id(expr)]


def _matches_empty(expr: Expr, operands: list[bool]) -> bool:
    """Return whether an expression matches the empty text, given whether each of its operands does."""
    if isinstance(expr, Literal):
        return not expr.value
    if isinstance(expr, Strings):
        return b"" in expr.values
    if isinstance(expr, Substring):
        return True
    if isinstance(expr, Concatenation | Intersection):
        return all(operands)
    if isinstance(expr, Alternation):
        return any(operands)
    if isinstance(expr, Repetition):
        return expr.low == 0 or operands[0]
    if isinstance(expr, Difference):
        return operands[0] and not operands[1]
    if isinstance(expr, Complement):
        return not operands[0]
    if isinstance(expr, Lookahead | Lookbehind):
        return operands[0] != expr.negated
    return False


def simplified(expr: Expr) -> Expr:
    """Return the same language with the assertions at the ends of its texts resolved, as far as operations on whole
    texts can do that."""
    if isinstance(expr, Alternation):
        return ex.alternation(*map(simplified, expr.parts))
    if not isinstance(expr, Concatenation | Lookahead | Lookbehind):
        return expr
    parts: list[Expr] = [*expr.parts] if isinstance(expr, Concatenation) else [expr]
    if not _cut_at_anchors(parts):
        return EMPTY
    is_text = any(isinstance(end, Lookahead | Lookbehind) for end in (*parts[:1], *parts[-1:])) and _is_text(expr)
    operations: list[tuple[bool, Expr]] = []
    for first in (True, False):
        while parts and isinstance(assertion := parts[0 if first else -1], Lookahead | Lookbehind):
            if isinstance(assertion, Lookahead) == first and len(parts) > 1:  # it looks inwards, at the text
                if not is_text:
                    break
                other = (assertion.inner, ANY_TEXT) if first else (ANY_TEXT, assertion.inner)
                operations.append((assertion.negated, ex.concat(*other)))
            elif not _is_decided(assertion.inner):
                break
            elif not matches_empty(assertion):
                return EMPTY
            del parts[0 if first else -1]
    result = ex.concat(*parts)
    for negated, other_text in reversed(operations):
        result = ex.difference(result, other_text) if negated else ex.intersection(result, other_text)
    return result


def _is_decided(expr: Expr) -> bool:
    """Return whether `matches_empty` can tell if the expression matches the empty text, wherever it stands."""
    return not ex.has_assertions(expr) and all(isinstance(leaf, KNOWN_LEAVES) for leaf in leaves(expr))


def _is_text(expr: Expr) -> bool:
    """Return whether an expression describes text only, without raw bytes and labels."""
    return all(
        (isinstance(leaf, Literal) and is_utf8(leaf.value))
        or (isinstance(leaf, Strings) and all(map(is_utf8, leaf.values)))
        or isinstance(leaf, CharSet | Substring)
        for leaf in leaves(expr)
    )


def _cut_at_anchors(parts: list[Expr]) -> bool:
    """Remove the parts before the start of the text and after its end, which must be empty; return False if one of them
    cannot be empty."""
    while TEXT_START in parts:
        place = parts.index(TEXT_START)
        if not all(map(_is_decided, parts[:place])):
            break
        if not all(map(matches_empty, parts[:place])):
            return False
        del parts[: place + 1]
    while TEXT_END in parts:
        place = len(parts) - 1 - parts[::-1].index(TEXT_END)
        if not all(map(_is_decided, parts[place + 1 :])):
            break
        if not all(map(matches_empty, parts[place + 1 :])):
            return False
        del parts[place:]
    return True
