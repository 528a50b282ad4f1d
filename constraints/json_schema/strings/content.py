"""From a formula about strings to the automaton over their characters, in UTF-8.

Every statement has an automaton of its own, which is cached, because the same patterns, formats and lengths recur.
Combinations are operations on these automata. A list of strings is filtered by the other statements, without an
automaton.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache, reduce
from typing import TypeAlias

from automata import _native
from automata import expressions as ex
from automata._native import ByteTables
from automata.algebra import operations as algebra
from automata.byte_automaton import ByteAutomaton
from automata.cache import kept
from automata.compile.compiler import compile_expr
from automata.errors import LimitExceeded, PatternError
from automata.expressions import CharSet, Expr, Repetition
from automata.expressions.ranges import Ranges
from automata.limits import current_work
from automata.pattern import parse
from constraints.json_schema.formulas.connectives import (
    FALSE,
    TRUE,
    Always,
    And,
    Formula,
    Never,
    Not,
    Or,
    conjunction,
    disjunction,
    fold,
    negation,
    parts_of,
    truth,
)
from constraints.json_schema.formulas.statements import Format, Matches, Pattern, StringIn, TextLength
from constraints.json_schema.strings.formats import INEXACT_FORMATS, format_automaton
from constraints.json_schema.strings.lengths import length_automaton
from constraints.json_schema.strings.spelling import encodable
from constraints.recursion import Task, run

# A pattern up to its first group that begins with (?P, outside of sets and escapes.
_OWN_GROUP = re.compile(r"(?:[^\\\[(]|\\.|\[(?:[^\\\]]|\\.)*\]|\((?!\?P))*\(\?P", re.DOTALL)


class Lacks(Format):
    """The string certainly lacks a format that is not exact."""

    __slots__ = ()


def normalized(formula: Formula) -> Formula:
    """Return a formula about strings in its normal form.

    Negations stand only before statements, so that a format that is not exact means the strings that certainly have it,
    and its negation (`Lacks`) those that certainly lack it. If it is a conjunction, its bounds on the length are merged
    (`with_one_length`).
    """
    if not all(map(_is_normal, parts_of(formula))):
        formula, _ = fold(formula, _with_negation, _with_negations)
    return with_one_length(formula)


def _is_normal(part: Formula) -> bool:
    if isinstance(part, Not):
        part = part.part
        return not isinstance(part, And | Or | Format)
    return not isinstance(part, And | Or)


# A formula and its negation, both in normal form.
_Both: TypeAlias = tuple[Formula, Formula]


def _with_negation(statement: Formula) -> _Both:
    if isinstance(statement, Format) and statement.name in INEXACT_FORMATS:
        return statement, Lacks(statement.name)
    return statement, negation(statement)


def _with_negations(formula: Formula, parts: list[_Both]) -> _Both:
    if isinstance(formula, Not):
        positive, negative = parts[0]
        return negative, positive
    positives, negatives = zip(*parts, strict=True)
    if isinstance(formula, And):
        return conjunction(positives), disjunction(negatives)
    return disjunction(positives), conjunction(negatives)


def content(formula: Formula) -> ByteAutomaton:
    """Return the automaton of the strings for which a formula about strings holds.

    Raises:
        PatternError: a pattern is malformed, or is not regular.
        LimitExceeded: an automaton is too large.
        TypeError: the formula is about something else.
    """
    return _content(normalized(formula))


def combinations(strings: Formula, formulas: Sequence[Formula], most: int) -> list[list[bool]]:
    """Return the combinations of truth values that formulas can have on the strings for which another formula holds.
    Each lists the truth of every formula; combinations in which the first formula is true come first.

    A string that neither certainly has a format nor certainly lacks it belongs to no combination.

    Args:
        strings: the other formula.
        formulas: formulas that are neither TRUE nor FALSE.
        most: the most states of the automata of all formulas, run side by side, that are explored.

    Raises:
        LimitExceeded: there are more states, or an automaton is too large.
        PatternError, TypeError: as for `content`.
    """
    languages: list[ByteTables] = []
    columns: list[tuple[int, int | None]] = []  # for each formula, its language and that of its negation, if it has one
    for formula in formulas:
        own = len(languages)
        languages.append(content(formula).tables)
        negative = normalized(negation(formula))
        if type(negative) is not Not:
            languages.append(_content(negative).tables)
        columns.append((own, None if len(languages) == own + 1 else own + 1))
        if languages[own].num_states > most:  # so others, which may be larger still, need not be made
            raise _side_by_side(most)
    try:
        rows = _native.combinations(content(strings).tables, languages, most, current_work().budget)
    except LimitExceeded as error:
        raise (_side_by_side(most) if error.limit == "states" else error) from None
    return [
        [row[own] for own, _ in columns]
        for row in rows.astype(bool).tolist()
        if all(denied is None or row[own] != row[denied] for own, denied in columns)
    ]


def _side_by_side(most: int) -> LimitExceeded:
    return LimitExceeded(f"telling apart which patterns match a string takes more than {most:,} states")


@kept(1024)
def _content(formula: Formula) -> ByteAutomaton:
    return run(_automaton(formula, {}))


def _automaton(formula: Formula, done: dict[Formula, ByteAutomaton]) -> Task[ByteAutomaton]:
    """Return the automaton of a normalized formula; `done` holds those of the combinations that are made already."""
    if formula in done:
        return done[formula]
    texts = listed(formula)
    if texts is not None:
        found = compile_expr(ex.strings(texts))
    elif isinstance(formula, Not):
        found = algebra.difference(_any_text(), (yield _automaton(formula.part, done)))
    elif isinstance(formula, Or) and all(isinstance(part, Not) for part in formula.parts):
        # The complement of a conjunction (De Morgan): products of deterministic automata need no determinization.
        found = algebra.difference(
            _any_text(), (yield _automaton(with_one_length(conjunction(map(negation, formula.parts))), done))
        )
    elif isinstance(formula, Or):
        # All lists together make one list, which needs no determinization.
        words = {text for part in formula.parts if isinstance(part, StringIn) for text in part.texts}
        parts = [compile_expr(ex.strings(encodable(words)))] if words else []
        for part in formula.parts:
            if not isinstance(part, StringIn):
                parts += [(yield _automaton(part, done))]
        found = algebra.alternation(*parts)
    elif isinstance(formula, And):
        found = yield from _intersection(formula.parts, done)
    else:
        return _statement(formula)
    done[formula] = found
    return found


def _intersection(parts: tuple[Formula, ...], done: dict[Formula, ByteAutomaton]) -> Task[ByteAutomaton]:
    """Return the automaton of a conjunction: the intersection of the positive parts, the smallest first, less the texts
    of the negated ones."""
    positive: list[ByteAutomaton] = []
    negative: list[ByteAutomaton] = []
    for part in parts:
        if isinstance(part, Not):
            negative.append((yield _automaton(part.part, done)))
        else:
            positive.append((yield _automaton(part, done)))
    positive.sort(key=lambda automaton: automaton.num_states)
    found = reduce(algebra.intersection, positive or [_any_text()])
    return reduce(algebra.difference, negative, found)


@kept(1024)
def _statement(formula: Formula) -> ByteAutomaton:
    match formula:
        case Always():
            return _any_text()
        case Never():
            return compile_expr(ex.EMPTY)
        case Pattern():
            return compile_expr(_parsed(formula.source))
        case Matches():
            return algebra.intersection(_any_text(), expression_automaton(formula.expr))
        case Lacks():
            return algebra.difference(_any_text(), format_automaton(formula.name, at_most=True))
        case Format():
            return format_automaton(formula.name)
        case TextLength():
            return length_automaton(formula.low, formula.high)
    raise TypeError(f"{type(formula).__name__} says nothing about strings alone")


@kept(256)
def expression_automaton(expr: Expr) -> ByteAutomaton:
    """Return the automaton of an expression that a schema has in place of a pattern."""
    return compile_expr(expr)


def string_matches(formula: Formula, text: str) -> bool:
    """Return whether a formula about strings holds for one string.

    UTF-8 cannot encode a string with half of a surrogate pair. Lists and lengths may hold for such a string; patterns,
    expressions and formats do not.

    Raises: as for `content`.
    """

    def statement(part: Formula) -> bool:
        if isinstance(part, StringIn):
            return text in part.texts
        if isinstance(part, TextLength):
            return part.low <= len(text) and (part.high is None or len(text) <= part.high)
        return _statement(part).accepts(text.encode(errors="surrogatepass"))

    return truth(normalized(formula), statement)


def with_one_length(formula: Formula) -> Formula:
    """Merge the bounds on the length in a conjunction, and simplify the disjunctions beside them accordingly.

    A negated bound becomes a bound if one can express it. Any other formula is returned as it is.
    """
    if not isinstance(formula, And):
        return _length(formula) or formula
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
    if not low and high is None:
        return conjunction(others)
    own = TextLength(low, high)
    left = [_given_length(part, own) if isinstance(part, Or) else part for part in others]
    found = conjunction([own, *left])
    return found if left == others else with_one_length(found)


def _given_length(formula: Or, known: TextLength) -> Formula:
    """Simplify a disjunction about strings whose length is within known bounds."""
    left = []
    for part in formula.parts:
        length = _length(part)
        if length is None or _overlaps(length, known):
            left.append(part)
        if length is not None and _includes(length, known):
            return TRUE
    return disjunction(left)


def _overlaps(one: TextLength, other: TextLength) -> bool:
    """Return whether some length is within the bounds of both."""
    return (one.high is None or other.low <= one.high) and (other.high is None or one.low <= other.high)


def _includes(outer: TextLength, inner: TextLength) -> bool:
    """Return whether the outer bounds include the inner ones."""
    return outer.low <= inner.low and (outer.high is None or (inner.high is not None and inner.high <= outer.high))


def _length(formula: Formula) -> TextLength | None:
    """Return a formula as one statement about the length, if it is one or the negation of one; None if it cannot be
    expressed so."""
    if isinstance(formula, TextLength):
        return formula
    part = formula.part if isinstance(formula, Not) else None
    if not isinstance(part, TextLength):
        return None
    if part.low == 0 and part.high is not None:
        return TextLength(part.high + 1, None)
    return TextLength(0, part.low - 1) if part.low and part.high is None else None


def listed(formula: Formula) -> list[str] | None:
    """Return the strings for which a formula holds, if it is a list or a conjunction with a list; otherwise None.
    Strings that UTF-8 cannot encode are left out."""
    lists = [part for part in parts_of(formula) if isinstance(part, StringIn)]
    if not lists:
        return None
    smallest = min(lists, key=lambda part: len(part.texts))
    others = conjunction(part for part in parts_of(formula) if part is not smallest)
    return [text for text in encodable(smallest.texts) if string_matches(others, text)]


@kept(1024)
def repeated_set(source: str) -> tuple[Ranges, int, int | None] | None:
    """Return the characters and the bounds of a pattern that only repeats one set of characters, as `^[a-z]{2,5}$`
    does; None for any other pattern."""
    try:
        expr = _parsed(source)
    except RecursionError:
        return None
    if isinstance(expr, Repetition) and isinstance(expr.inner, CharSet) and expr.inner.ranges:
        return expr.inner.ranges, expr.low, expr.high
    return None


@lru_cache(maxsize=1)  # each pattern is asked for twice in a row, and a long one is large
def _parsed(source: str) -> Expr:
    """Parse a pattern of ECMA-262, in which this project's own groups `(?P...` are errors."""
    own = _OWN_GROUP.match(source)
    if own:
        raise PatternError("this kind of group is unknown", source, own.end() - len("(?P"))
    return parse(source, dialect="ecma", search=True)


@lru_cache(maxsize=1)
def _any_text() -> ByteAutomaton:
    return compile_expr(ex.ANY_TEXT)
