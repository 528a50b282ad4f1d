"""Lazy quantifiers: where a word ends that ends as early as it can.

Words of a grammar continue where they can, so a word that ends early must be one that cannot continue: no word of its
terminal begins with another one. For a terminal with lazy quantifiers there are three cases:

    no word begins with another       however an engine looks for the end, it finds the same one
    the shortest word is meant        the words that begin with no other one: `shortest`
    anything else                     refused

Lark leaves the end to Python's `re`, which tries things in an order. What it finds first is the shortest word where
every quantifier is lazy, repeats single characters without an upper bound, and nothing else leaves a choice:

    /\\*(.|\\n)*?\\*/      and not      (ab|a)c*?      which finds `ab` first, and `a` is shorter

Of two ways to match such an expression, the one that ends a loop earlier continues through characters that the other
reads in the same loops or in earlier ones, so it comes to the end no later. With bodies of several characters that is
not so: in `.*?x(..)*?z` the engine may step over the first z. One such expression is taken nevertheless, since it is in
many grammars, Lark's own library included: a string that ends in a quote which no backslash escapes,

    ".*?(?<!\\\\)(\\\\\\\\)*?"

Where the quote stands decides where the loop before it ends, at the first of the backslashes, if their number is even;
so the argument holds with this end in place of a character.
"""

from __future__ import annotations

from automata.compile.compiler import compile_expr
from automata.expressions import (
    ANY_CHAR,
    ANY_TEXT,
    Alternation,
    CharSet,
    Concatenation,
    Expr,
    Literal,
    Repetition,
    concat,
    difference,
    intersection,
    lookbehind,
    repeat,
)
from automata.queries import is_empty

# (?<!\\)(\\\\)*
_NOT_ESCAPED = (lookbehind("\\", negated=True), repeat("\\\\", 0))


def shortest(words: Expr) -> Expr:
    """Return the words that begin with no other word."""
    return difference(words, concat(words, ANY_CHAR, ANY_TEXT))


def begins_with_another(words: Expr) -> bool:
    """Return whether some word begins with another one.

    Raises:
        LimitExceeded: finding out takes too much.
    """
    return not is_empty(compile_expr(intersection(words, concat(words, ANY_CHAR, ANY_TEXT))))


def finds_shortest(words: Expr) -> bool:
    """Return whether an expression whose quantifiers are all lazy finds the shortest word first."""
    parts = words.parts if isinstance(words, Concatenation) else (words,)
    if parts[-3:-1] == _NOT_ESCAPED and isinstance(parts[-1], Literal) and b"\\" not in parts[-1].value:
        parts = parts[:-3]
    return all(_leaves_no_choice(part) for part in parts)


def _leaves_no_choice(part: Expr) -> bool:
    if isinstance(part, Repetition):
        return (part.high is None or part.high == part.low) and _is_character(part.inner)
    return isinstance(part, Literal) or _is_character(part)


def _is_character(part: Expr) -> bool:
    """Return whether an expression is a set of characters."""
    if isinstance(part, Alternation):
        return all(_is_character(choice) for choice in part.parts)
    return isinstance(part, CharSet) or (isinstance(part, Literal) and _is_single(part.value))


def _is_single(value: bytes) -> bool:
    try:
        return len(value.decode()) == 1
    except UnicodeDecodeError:
        return False
