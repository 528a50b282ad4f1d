"""GBNF and EBNF: what is printed is read back; where mistakes are."""

from __future__ import annotations

from random import Random

import pytest
from grammar_printer import written
from grammar_syntax_cases import BOTH, DIALECTS, reading
from hypothesis import given, settings
from hypothesis import strategies as st

from automata import (
    Expr,
    GrammarError,
    alternation,
    call,
    char_set,
    concat,
    difference,
    literal,
    repeat,
)
from automata.pushdown.grammar import Grammar
from constraints import grammar
from constraints.grammars import Syntax
from constraints.grammars.dialects import EBNF, BnfDialect

NAMES = ["root", "a", "b-1", "C_d"]


CHARACTERS = "ab\"'\\[]-^#x1\n\r\té€😀 "


def is_something(expr: Expr) -> bool:
    return expr != alternation()  # the empty language cannot be written


@st.composite
def bodies(draw: st.DrawFn, dialect: BnfDialect) -> Expr:
    code = st.sampled_from([0, *map(ord, CHARACTERS), 0x7F, 0xD7FF, 0xE000, 0x10FFFF])
    ranges = st.tuples(code, code).map(lambda pair: (min(pair), max(pair)))
    sets = st.builds(
        lambda items, negated: char_set(*items, negated=negated),
        st.lists(ranges, min_size=1, max_size=3),
        st.booleans(),
    ).filter(is_something)
    plain = st.one_of(st.text(CHARACTERS, max_size=3).map(literal), sets)
    leaves = st.one_of(plain, st.sampled_from(NAMES).map(call))
    if dialect is EBNF:
        leaves |= st.builds(difference, plain.map(lambda expr: expr.star()), plain).filter(is_something)
    bounds = st.sampled_from([(0, None), (1, None), (0, 1), (0, 3), (2, 2), (2, None), (2, 5), (1, 1), (0, 0)])
    return draw(
        st.recursive(
            leaves,
            lambda inner: st.one_of(
                st.lists(inner, min_size=1, max_size=3).map(lambda parts: concat(*parts)),
                st.lists(inner, min_size=1, max_size=3).map(lambda parts: alternation(*parts)),
                st.builds(lambda part, pair: repeat(part, *pair), inner, bounds),
            ),
            max_leaves=8,
        )
    )


@BOTH
@settings(max_examples=35, deadline=None)
@given(data=st.data())
def test_what_is_printed_is_read_back(data: st.DataObject, syntax: Syntax) -> None:
    dialect = DIALECTS[syntax]
    rules = {name: data.draw(bodies(dialect)) for name in NAMES}
    text = written(Grammar(rules, "root"), dialect, Random(data.draw(st.integers(0, 2**32))))
    made = grammar(text, syntax=syntax)
    assert made.rules == rules
    assert list(made.rules) == NAMES
    # Where the syntax is certain it is found; otherwise that is said.
    found = reading(text)
    assert found == rules or (isinstance(found, GrammarError) and "say which it is" in found.reason)


PIECES = [
    *("root ::= ", "a ::= ", "\n", "\n", " ", "a", "root", '"b"', "'b'", "[a-c]", "[^]", "[", '"', "(", ")", "|", "*"),
    *("{2}", "{,2}", "-", "# c", "#x41", "/*", "*/", ".", "<a>", "!", r'"\x4142"', r"\n", "é", "(=", "Regex(", "[1] "),
    *(":", "::="),
]


@settings(max_examples=75, deadline=None)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=12))
def test_any_text_is_read_or_refused(pieces: list[str]) -> None:
    text = "root ::= " + "".join(pieces)
    gbnf, ebnf, found = (reading(text, syntax) for syntax in ("gbnf", "ebnf", "auto"))
    for result in (gbnf, ebnf, found):
        if isinstance(result, GrammarError) and result.line is not None:
            assert 1 <= result.line <= text.count("\n") + 1
    if not isinstance(found, GrammarError):
        # It is certain: no dialect has another meaning for the text.
        assert found in (gbnf, ebnf)
        assert all(isinstance(result, GrammarError) or result == found for result in (gbnf, ebnf))


# Mistakes


MISTAKES = [
    ('root ::= "a" b', "no rule is named 'b'", 1, 14, "root"),
    ('root ::= x\nx ::= "a"\n y ::= x zz x', "no rule is named 'zz'", 3, 10, "y"),
    ('root ::= "a"\nroot ::= "b"', "defined before, on line 1", 2, 1, "root"),
    ('x ::= "a"', "no rule is named 'root'.*rules are 'x'", None, None, None),
    ('root ::= "a', "a string is opened and never closed", 1, 10, "root"),
    ('root ::= "a"\n\nx ::= y "a\\"', "a string is opened and never closed", 3, 9, "x"),
    ("root ::= [ab", "a set of characters is opened and never closed", 1, 10, "root"),
    ("root ::= [ab\\]", "a set of characters is opened and never closed", 1, 10, "root"),
    ("root ::= []", "the set of characters is empty", 1, 10, "root"),
    ("root ::= [c-a]", "a range ends before it begins", 1, 11, "root"),
    (r"root ::= [^\x00-\U0010ffff]", "no character is left in the set", 1, 10, "root"),
    (r"root ::= [\uD800-\uDFFF]", "no character is left in the set", 1, 10, "root"),
    (r'root ::= "ab\q"', r"no escape \\q", 1, 13, "root"),
    (r"root ::= [ab\d]", r"no escape \\d", 1, 13, "root"),
    (r'root ::= "a\u12"', r"\\u has too few hexadecimal digits", 1, 12, "root"),
    (r'root ::= "\xg"', r"\\x has too few hexadecimal digits", 1, 11, "root"),
    (r'root ::= "\U00110000"', "no character has the number 00110000", 1, 11, "root"),
    (r'root ::= "a\ud800"', "a surrogate is not a character", 1, 12, "root"),
    ('root ::= "a" "\ud800"', "a surrogate is not a character", 1, 15, "root"),
    ('root ::= "a"{3,2}', r"upper bound of \{3,2\} lies below", 1, 13, "root"),
    ('root ::= "a"{}', "bounds are written", 1, 13, "root"),
    ('root ::= "a"{,}', "bounds are written", 1, 13, "root"),
    ('root ::= "a"{1;2}', "bounds are written", 1, 13, "root"),
    ('root ::= "a"{9999999999}', "more than 1,000,000,000 times", 1, 13, "root"),
    ('root ::= "a"{1,' + "9" * 5000 + "}", "more than 1,000,000,000 times", 1, 13, "root"),
    ("root ::= *", "nothing before this that could be repeated", 1, 10, "root"),
    ('root ::= "a" | {2}', "nothing before this that could be repeated", 1, 16, "root"),
    ('root ::= (?"a")', "nothing before this that could be repeated", 1, 11, "root"),
    ('root ::= ("a" ("b")', "a parenthesis is opened and never closed", 1, 10, "root"),
    ('root ::= (x\nx ::= "a")', "a parenthesis is opened and never closed", 1, 10, "root"),
    ('root ::= "a")', "a parenthesis is closed that was never opened", 1, 13, "root"),
    ('root ::=\nx ::= "a"', "the rule is empty", 1, 1, "root"),
    ('root ::= "a" |\nx ::= "a"', "nothing stands after the last", 2, 1, "root"),
    ('root ::= x x ::= "a"', "a rule begins on a line of its own", 1, 12, "root"),
    ('"a" root ::= "a"', "a grammar begins with a rule", 1, 1, None),
    ('root ::= "a" $', "no symbol begins with this character", 1, 14, "root"),
    ("root ::= " + "(" * 10_000 + ")" * 10_000, "nested more than 1,000 deep", 1, 1010, "root"),
]  # fmt: skip


@BOTH
@pytest.mark.parametrize(("text", "reason", "line", "column", "rule"), MISTAKES)
def test_mistakes_of_both(
    text: str, reason: str, line: int | None, column: int | None, rule: str | None, syntax: Syntax
) -> None:
    with pytest.raises(GrammarError, match=reason) as caught:
        grammar(text, syntax=syntax)
    assert (caught.value.line, caught.value.column, caught.value.rule) == (line, column, rule)


@pytest.mark.parametrize(
    ("text", "syntax", "reason", "line", "column"),
    [
        ('root ::= "a"\n  "b"', "gbnf", "a rule continues on the next line only after", 2, 3),
        ('root ::= "a"\n  | "b"', "gbnf", "a rule continues on the next line only after", 2, 3),
        ("root ::= [^]", "gbnf", "the set of characters is empty", 1, 10),
        ("root ::= 'a'", "gbnf", "no symbol begins", 1, 10),
        ("root ::= <>", "gbnf", "a token is written", 1, 10),
        ("root ::= ! <a>", "gbnf", "a token is written", 1, 10),
        ("root ::= <[a]>", "gbnf", "a token is written", 1, 10),
        (r"root ::= [\^]", "gbnf", r"GBNF has no escape \\\^", 1, 11),
        ("root ::= <a>", "ebnf", "no symbol begins", 1, 10),
        ("root ::= .", "ebnf", "no symbol begins", 1, 10),
        ('root ::= "a\nb"', "ebnf", "a string is opened and never closed", 1, 10),
        ('root ::= "a" /* b', "ebnf", "a comment is opened and never closed", 1, 14),
        ("root ::= #xD800", "ebnf", "a surrogate is not a character", 1, 10),
        ("root ::= #x110000", "ebnf", "no character has the number 110000", 1, 10),
        ("root ::= [a#x110000]", "ebnf", "no character has the number 110000", 1, 12),
        ('root ::= "a" (="b")', "ebnf", "what follows a rule is not supported", 1, 14),
        ('root ::= TagDispatch(("a", root))', "ebnf", "macros are not supported", 1, 10),
        ('root ::= "a" Regex ("[a-z]")', "ebnf", "macros are not supported", 1, 14),
        ('root[lazy, temperature=0.7] ::= "a"', "ebnf", "options of rules are not supported", 1, 1),
        ('root[capture="ab", x=\'"\'] ::= "a"', "ebnf", "options of rules are not supported", 1, 1),
        ("root ::=", "ebnf", "the rule is empty", 1, 1),
        ("root\n::= 'a'", "gbnf", "a grammar begins with a rule", 1, 1),
        ("root ::= 'a' [ WFC: No < in Attribute Values ]", "ebnf", "a constraint in prose", 1, 14),
        ("root ::= 'a' 'b' - 'c'", "ebnf", "A - B stands alone", 1, 18),
        ("root ::= 'a' - 'b' 'c'", "ebnf", "A - B stands alone", 1, 14),
        ("root ::= 'a' - 'b' - 'c'", "ebnf", "A - B stands alone", 1, 20),
        ("root ::= - 'b'", "ebnf", "A - B stands alone", 1, 10),
        ("root ::= ('a' - )", "ebnf", "A - B stands alone", 1, 15),
        ("root ::= 'a' - *", "ebnf", "nothing before this", 1, 16),
        ("root ::= 'a' - x\nx ::= '(' y ')'\ny ::= x?", "ebnf", "'x' calls itself", 1, 14),
    ],
)
def test_mistakes_of_one(text: str, syntax: Syntax, reason: str, line: int, column: int) -> None:
    with pytest.raises(GrammarError, match=reason) as caught:
        grammar(text, syntax=syntax)
    assert (caught.value.line, caught.value.column) == (line, column)
