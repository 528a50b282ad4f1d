"""The regular-expression front end: a pattern in the syntax of Python's `re`, or of ECMA-262, becomes an Expr.

A pattern describes a whole text, as in `re.fullmatch`; with `search`, every text that contains a match. Both dialects
have:

    characters      a  \\n \\t \\r \\f \\v \\x41 \\u0041 \\u{1F600} \\cJ \\0, punctuation after a \\
    sets            [a-z] [^"\\\\] . \\d \\D \\w \\W \\s \\S \\p{Letter} \\P{Script=Greek}
    grouping        ( ) (?: ) |
    quantifiers     ? * + {m} {m,} {m,n}, and their lazy forms, which describe the same language
    look-around     (?= ) (?! ) (?<= ) (?<! ), of any length, and \\b \\B
    anchors         ^ where the text begins and $ where it ends; with the flag m, also where a line does
    flags           (?i-s: ) for a group
    operations      (?P<AND>(?:a)(?:b))   what matches both;   (?P<MINUS>(?:a)(?:b))   a and not b;
                    (?P<NOT>a)            every text that does not match a
    raw bytes       (?P<BYTES>[\\x80-\\xff])   characters up to U+00FF stand for the bytes with the same values
    extensions      (?P<QUOTED_TEXT>) (?P<TEXT_UNTIL>a) (?P<TOKEN>name) and others (`extension_groups`)

Only in Python's dialect:

    characters      \\a \\012 \\U00000041 \\N{BULLET}
    sets            [[:alpha:]] [[:^digit:]], as POSIX has them; \\pL
                    \\d \\w \\s, \\b and the POSIX classes are ASCII unless the flag u is set
    grouping        (?P<name> )  (?# comments )
    quantifiers     {,n}
    anchors         \\A and \\Z, whatever the flag m; $ also before a line feed that ends the text
    flags           (?imsxau) at the start, and the same flags for a group

Only in ECMA-262 (`dialect="ecma"`, with the meaning of its flag u):

    characters      \\ud83d\\ude00 is one character; \\/
    sets            [] is nothing and [^] is everything; \\d and \\w are ASCII, \\s is not
    grouping        (?<name> )
    anchors         $ at the very end only

The syntax as a grammar, in which an ATOM is a character, a set, a group or a look-around:

    pattern       = alternative ("|" alternative)*
    alternative   = (ATOM quantifier? | anchor)*
    quantifier    = ("*" | "+" | "?" | "{" bounds "}") "?"?
    group         = "(" pattern ")" | "(?:" pattern ")" | "(?" flags ":" pattern ")" | "(?P<" name ">" pattern ")"

Every pattern describes UTF-8 text, so `.` and `[^"]` match whole characters and never part of one. Syntax that is not
regular or not supported raises a PatternError with the position and the reason: back-references, and conditional,
atomic and possessive groups. `automata.pattern.extension_groups` says what the named groups mean.
`automata.assertions` resolves assertions; the result of `parse` does not depend on the expressions it is combined with.

    CharacterReader     characters, escapes and sets                   character_reader
    GroupReader         groups and flags                               group_reader
    Parser              items, quantifiers, assertions; Python's       parser
    EcmaParser          the differences of ECMA-262                    ecma
    property_ranges     what \\p{...} stands for                          unicode_properties
    ordered             patterns with the order of a backtracking engine, for `automata.preference`

Rejected: Python's own `re._parser`, which is private, does not keep positions, and is slower.
"""

from __future__ import annotations

import re
from typing import Literal

from automata import expressions as ex
from automata.assertions import simplified
from automata.assertions.alphabet import Alphabet
from automata.errors import ExpressionError
from automata.expressions import ANY_TEXT, Alternation, CharSet, Concatenation, Expr, Repetition
from automata.pattern.character_reader import Flags
from automata.pattern.ecma import EcmaParser
from automata.pattern.parser import Parser

Dialect = Literal["python", "ecma"]
# The depth to which `_fewest` searches an expression for repetitions that can be dropped.
_MAX_DEPTH = 20
_RE_FLAGS = {
    "ignore_case": re.IGNORECASE,
    "multiline": re.MULTILINE,
    "dot_all": re.DOTALL,
    "verbose": re.VERBOSE,
    "unicode": re.UNICODE,
    "ascii_case": re.ASCII,
}
_PARSERS: dict[str, type[Parser]] = {"python": Parser, "ecma": EcmaParser}


def parse(pattern: str | re.Pattern[str], *, dialect: Dialect = "python", search: bool = False) -> Expr:
    """Return the language of the texts that match the whole pattern or, with `search`, that contain a match.

    Args:
        pattern: the pattern: a string, or a pattern compiled by `re`, whose flags apply (including `re.UNICODE`).
        dialect: the syntax, "python" or "ecma".
        search: whether any text may come before and after the match.

    Raises:
        PatternError: the pattern is malformed, not regular, or not supported; the error has the position and reason.
        ValueError: the dialect is unknown, or it is not "python" and the pattern was compiled by `re`.
        TypeError: the pattern is not a string; the message says what was probably meant.
    """
    if dialect not in _PARSERS:
        raise ValueError(f"the dialect {dialect!r} is not one of {', '.join(_PARSERS)}")
    parser = _parser(pattern, dialect)
    result = parser.parse()
    if search:
        if not parser.has_assertion and parser.bytes_position is None:
            result = _fewest(_fewest(result, 0), -1)
        result = _anywhere(result)
    return _text(result, parser) if parser.has_assertion else result


def _parser(pattern: str | re.Pattern[str], dialect: Dialect) -> Parser:
    if isinstance(pattern, re.Pattern):
        if dialect != "python":
            raise ValueError('what `re` has compiled is in the dialect "python"')
        flags = pattern.flags
        pattern = pattern.pattern
        if isinstance(pattern, str):
            return Parser(pattern, Flags(**{name: bool(flags & flag) for name, flag in _RE_FLAGS.items()}))
    if isinstance(pattern, str):
        return _PARSERS[dialect](pattern)
    if isinstance(pattern, bytes):
        raise TypeError("a pattern is text, not bytes: decode it, and write raw bytes as (?P<BYTES>[\\x80-\\xff])")
    raise TypeError(f"a pattern is text, not {type(pattern).__name__}")


def _anywhere(expr: Expr) -> Expr:
    """Return a match of `expr` with any text around it. Alternatives with assertions are treated one by one, because
    the text around an assertion often resolves it."""
    if not (isinstance(expr, Alternation) and ex.has_assertions(expr)):
        return ex.concat(ANY_TEXT, expr, ANY_TEXT)
    plain = [part for part in expr.parts if not ex.has_assertions(part)]
    others = [part for part in expr.parts if ex.has_assertions(part)]
    each = [ex.alternation(*plain), *others] if plain else others
    return ex.alternation(*[ex.concat(ANY_TEXT, part, ANY_TEXT) for part in each])


def _fewest(expr: Expr, end: int, depth: int = 0) -> Expr:
    """Return `expr` with the fewest repetitions at an end (0: the first, -1: the last) next to which any text is
    allowed: `ab` for `ab+c*` and -1. This avoids needless counting."""
    if depth > _MAX_DEPTH:
        return expr
    if isinstance(expr, Alternation):
        return ex.alternation(*[_fewest(part, end, depth + 1) for part in expr.parts])
    if isinstance(expr, Repetition) and _is_text(expr.inner):
        if expr.low > 1:
            return ex.repeat(expr.inner, expr.low, expr.low)
        return _fewest(expr.inner, end, depth + 1) if expr.low else ex.EPSILON
    if isinstance(expr, Concatenation):
        kept = list(expr.parts)
        while kept:
            kept[end] = _fewest(kept[end], end, depth + 1)
            if not ex.is_epsilon(kept[end]):
                break
            kept.pop(end)
        return ex.concat(*kept)
    return expr


def _is_text(expr: Expr) -> bool:
    """Return whether an expression is made only of literals and sets of characters."""
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ex.Literal | CharSet | Concatenation | Alternation | Repetition):
            return False
        waiting += node.operands()
    return True


def _text(expr: Expr, parser: Parser) -> Expr:
    """Return an expression with assertions as a text of its own: they see nothing around it."""
    result = simplified(expr)
    if not ex.has_assertions(result):
        return result
    if parser.bytes_position is not None:
        try:
            Alphabet([result])
        except ExpressionError as error:
            raise parser.error(str(error), parser.bytes_position) from None
    return ex.whole(result)
