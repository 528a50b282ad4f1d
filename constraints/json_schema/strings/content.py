"""From a formula about strings to the automaton over their characters, in UTF-8.

Every statement has an automaton of its own, cached, since the same patterns, formats and lengths recur; combinations
are operations on these. Lists of strings are filtered by what else is asked of them, in place of any automaton.
"""

from __future__ import annotations

import re
from functools import lru_cache

from automata import expressions as ex
from automata.algebra import operations as algebra
from automata.assertions import simplified
from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.errors import PatternError
from automata.expressions import CharSet, Expr, Repetition
from automata.expressions.ranges import Ranges
from automata.pattern import parse
from constraints.json_schema.formula import (
    FALSE,
    Always,
    And,
    Format,
    Formula,
    Never,
    Not,
    Or,
    Pattern,
    StringIn,
    TextLength,
    conjunction,
)
from constraints.json_schema.strings.formats import INEXACT_FORMATS, format_automaton
from constraints.json_schema.strings.lengths import length_automaton

# Up to the first group that begins with (?P, outside of sets and escapes.
_OWN_GROUP = re.compile(r"(?:[^\\\[(]|\\.|\[(?:[^\\\]]|\\.)*\]|\((?!\?P))*\(\?P", re.DOTALL)


def content(formula: Formula, at_most: bool = False) -> ByteAutomaton:
    """The automaton of all strings for which a formula about strings holds.

    Args:
        formula: about strings alone.
        at_most: where a format is not exact, all strings for which the formula holds and more, in place of none but
            those for which it does (`formats`).

    Raises:
        PatternError: a pattern that is none, or is not regular.
        LimitExceeded: an automaton is too large.
        TypeError: the formula is about something else.
    """
    return _content(with_one_length(formula), at_most and not _is_exact(formula))


@lru_cache(maxsize=1024)
def _content(formula: Formula, at_most: bool) -> ByteAutomaton:
    if isinstance(formula, Always):
        return _any_text()
    if isinstance(formula, Never):
        return compile_expr(ex.EMPTY)
    texts = listed(formula, at_most)
    if texts is not None:
        return compile_expr(ex.strings(texts))
    if isinstance(formula, Pattern):
        return _pattern(formula.source)
    if isinstance(formula, Format):
        return format_automaton(formula.name, at_most=at_most)
    if isinstance(formula, TextLength):
        return length_automaton(formula.low, formula.high)
    if isinstance(formula, Not):
        return algebra.difference(_any_text(), content(formula.part, not at_most))
    if isinstance(formula, Or):
        return algebra.alternation(*[content(part, at_most) for part in formula.parts])
    if isinstance(formula, And):
        return _intersection(formula.parts, at_most)
    raise TypeError(f"{type(formula).__name__} says nothing about strings alone")


def holds(formula: Formula, text: str, at_most: bool = False) -> bool:
    """Whether a formula about strings holds for one string; of strings that are no characters, only lists know.

    Args, Raises: as `content`.
    """
    if isinstance(formula, Always | Never):
        return isinstance(formula, Always)
    if isinstance(formula, StringIn):
        return text in formula.texts
    if isinstance(formula, TextLength):
        return formula.low <= len(text) and (formula.high is None or len(text) <= formula.high)
    if isinstance(formula, Not):
        return not holds(formula.part, text, not at_most)
    if isinstance(formula, And):
        return all(holds(part, text, at_most) for part in formula.parts)
    if isinstance(formula, Or):
        return any(holds(part, text, at_most) for part in formula.parts)
    return content(formula, at_most).accepts(text.encode(errors="surrogatepass"))


def with_one_length(formula: Formula) -> Formula:
    """A conjunction with all that it says about the length in one statement; any other formula as it is."""
    if not isinstance(formula, And):
        return formula
    low, high, others = 0, None, []
    for part in formula.parts:
        length = _length(part)
        if length is None:
            others.append(part)
        else:
            low = max(low, length.low)
            high = length.high if high is None or (length.high is not None and length.high < high) else high
    if high is not None and low > high:
        return FALSE
    return conjunction([*([TextLength(low, high)] if low or high is not None else []), *others])


def _length(formula: Formula) -> TextLength | None:
    """The one statement about the length that a formula or its negation is."""
    if isinstance(formula, TextLength):
        return formula
    part = formula.part if isinstance(formula, Not) else None
    if not isinstance(part, TextLength):
        return None
    if part.low == 0 and part.high is not None:
        return TextLength(part.high + 1, None)
    return TextLength(0, part.low - 1) if part.low and part.high is None else None


def written(texts: frozenset[str]) -> list[str]:
    """The strings that UTF-8 can write: those without halves of surrogate pairs."""
    return [text for text in texts if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)]


def listed(formula: Formula, at_most: bool = False) -> list[str] | None:
    """The strings that UTF-8 can write for which a formula holds, where it is a list of strings, or asks for one."""
    parts = formula.parts if isinstance(formula, And) else (formula,)
    lists = [part for part in parts if isinstance(part, StringIn)]
    if not lists:
        return None
    smallest = min(lists, key=lambda part: len(part.texts))
    others = conjunction(part for part in parts if part is not smallest)
    return [text for text in written(smallest.texts) if holds(others, text, at_most)]


def _intersection(parts: tuple[Formula, ...], at_most: bool) -> ByteAutomaton:
    """What all parts hold for: the positive ones, and then without the others."""
    positive = [content(part, at_most) for part in parts if not isinstance(part, Not)] or [_any_text()]
    result = positive[0]
    for other in positive[1:]:
        result = algebra.intersection(result, other)
    for part in parts:
        if isinstance(part, Not):
            result = algebra.difference(result, content(part.part, not at_most))
    return result


def _pattern(source: str) -> ByteAutomaton:
    """The automaton of a pattern."""
    return compile_expr(_parsed(source))


@lru_cache(maxsize=1024)
def repeated_set(source: str) -> tuple[Ranges, int, int | None] | None:
    """The characters and the bounds of a pattern that says how many of some characters a string has, and no more."""
    try:
        expr = simplified(_parsed(source))
    except RecursionError:
        return None
    if isinstance(expr, Repetition) and isinstance(expr.inner, CharSet) and expr.inner.ranges:
        return expr.inner.ranges, expr.low, expr.high
    return None


def _parsed(source: str) -> Expr:
    """A pattern of ECMA-262, where this project's own groups mean nothing."""
    own = _OWN_GROUP.match(source)
    if own:
        raise PatternError("this kind of group is unknown", source, own.end() - len("(?P"))
    return parse(source, dialect="ecma", search=True)


def _is_exact(formula: Formula) -> bool:
    """Whether no format in a formula has two languages."""
    if isinstance(formula, Format):
        return formula.name not in INEXACT_FORMATS
    if isinstance(formula, Not):
        return _is_exact(formula.part)
    return not isinstance(formula, And | Or) or all(map(_is_exact, formula.parts))


@lru_cache(maxsize=1)
def _any_text() -> ByteAutomaton:
    return compile_expr(ex.ANY_TEXT)
