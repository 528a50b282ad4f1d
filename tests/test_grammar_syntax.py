"""GBNF and EBNF: what each construct means, against `re`, brute force and XGrammar; where mistakes are; JSON."""

from __future__ import annotations

import json
import re
import time
from functools import cache
from itertools import product
from random import Random
from typing import Any

import pytest
import xgrammar
import xgrammar.testing
from grammar_printer import written
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import language

import constraints
from automata import (
    ANY_CHAR,
    EPSILON,
    Expr,
    GrammarError,
    LimitExceeded,
    alternation,
    call,
    char_set,
    compile_expr,
    concat,
    difference,
    literal,
    parse,
    repeat,
)
from automata.expressions.extensions import token
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_grammar
from automata.pushdown.grammar import Grammar, Place
from constraints import grammar
from constraints.grammars.dialects import EBNF, GBNF, BnfDialect
from constraints.json_schema import Whitespace

DIALECTS = {"gbnf": GBNF, "ebnf": EBNF}
BOTH = pytest.mark.parametrize("syntax", list(DIALECTS))


def body(text: str, syntax: str = "auto") -> Expr:
    """The expression of a rule's right side, in which `x` and `y` may be called."""
    return grammar(f'root ::= {text}\nx ::= "x"\ny ::= "y"\n', syntax=syntax).rules["root"]


def reading(text: str, syntax: str = "auto") -> dict[str, Expr] | GrammarError:
    """The rules, or what is wrong."""
    try:
        return dict(grammar(text, syntax=syntax).rules)
    except GrammarError as error:
        return error


# Structure

A, B, X, Y = literal("a"), literal("b"), call("x"), call("y")


@BOTH
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a"', A),
        ('""', EPSILON),
        ("()", EPSILON),
        ('"a" "b"', literal("ab")),
        ('"a" x "b" y', concat("a", X, "b", Y)),
        ('"a" | x', alternation("a", X)),
        ('| "a"', alternation("", "a")),
        ('x | | "a"', alternation(X, "", "a")),
        ('"a" ("b" | x) y', concat("a", alternation("b", X), Y)),
        ('x "a" | y "b"', alternation(concat(X, "a"), concat(Y, "b"))),
        ("x*", X.star()),
        ("x +", X.plus()),
        ("x?", X.optional()),
        ('"ab"*', literal("ab").star()),
        ('"a" "b"*', concat("a", B.star())),
        ("x{3}", repeat(X, 3, 3)),
        ("x{2,}", repeat(X, 2)),
        ("x{,4}", repeat(X, 0, 4)),
        ("x{2,4}", repeat(X, 2, 4)),
        ("x{ 2 , 4 }", repeat(X, 2, 4)),
        ("x{2, -1}", repeat(X, 2)),
        ("x{0}", EPSILON),
        ("x{0,0} y", Y),
        ("(x y){2}*", concat(X, Y).repeat(2, 2).star()),
        ("(x*)+", X.star()),
        ("(((x)))", X),
        ("( x # comment ) | \n y ) y", concat(X, Y, Y)),
        ("x |\n\n  # comment\n  y", alternation(X, Y)),
        ("(x\n| y\r\n)", alternation(X, Y)),
        ("\n  x", X),
        (r'"\n\r\t\\\""', literal('\n\r\t\\"')),
        (r'"\x41\u00e9\U0001F600"', literal("Aé😀")),
        ('"é€😀"', literal("é€😀")),
        ('"\'"', literal("'")),
        ("[a]", A),
        ("[ab]", char_set("ab")),
        ("[a-c]", char_set((97, 99))),
        ("[ac-]", char_set("ac-")),
        ("[-ac]", char_set("ac-")),
        ("[a-c-e]", char_set("abc-e")),
        ("[+--]", char_set("+,-")),
        ("[^a]", char_set("a", negated=True)),
        ("[^^]", char_set("^", negated=True)),
        ("[a^]", char_set("a^")),
        (r"[\]\[\\\-]", char_set("]-[\\")),
        (r"[\n-\r\t]", char_set((9, 13))),
        (r"[a\-c]", char_set("a-c")),
        (r'"\[\]\-"', literal("[]-")),
        (r"[\x30-\x39\u0041-\u0046]", char_set("0123456789ABCDEF")),
        (r"[\uD000-\uF000]", char_set((0xD000, 0xF000))),
        (r"[^\U00000000-\U0010FFFE]", literal("\U0010ffff")),
        ('["]', literal('"')),
        ("[(|*]", char_set("(|*")),
        ("[ぁ-ゟ]", char_set((0x3041, 0x309F))),
        (r'"\x41g"', literal("Ag")),
        ("[#x-z#]", char_set((0x78, 0x7A), "#")),
        ("x #xyz", X),
        ("x #xbeef-stew", X),
    ],
)
def test_both_dialects_have(text: str, expected: Expr, syntax: str) -> None:
    assert body(text, syntax) == expected
    assert body(text) == expected


def check_alone(text: str, syntax: str, other: str, expected: Expr) -> None:
    """One dialect has this meaning; it is found where the other has none, and asked for where it has another."""
    assert body(text, syntax) == expected
    elsewhere = reading(f'root ::= {text}\nx ::= "x"\ny ::= "y"\n', other)
    if isinstance(elsewhere, GrammarError):
        assert body(text) == expected
    else:
        assert elsewhere["root"] != expected
        with pytest.raises(GrammarError, match=r"one thing in GBNF.*line 1, column 1, in rule 'root'"):
            body(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".", ANY_CHAR),
        ("x.y", concat(X, ANY_CHAR, Y)),
        ('"a\nb"', literal("a\nb")),
        ("[a\nb]", char_set("ab\n")),
        (r'"\x414"', literal("A4")),
        ('"a" #x41', A),
        ("<think>", token("<think>")),
        ("</think>*", token("</think>").star()),
        ("<[1000]>", token("<[1000]>")),
        ("!<think>+ x", concat(token("!<think>").plus(), X)),
        ("!<[7]>", token("!<[7]>")),
        ("<|im start|>", token("<|im start|>")),
    ],
)
def test_gbnf_alone_has(text: str, expected: Expr) -> None:
    check_alone(text, "gbnf", "ebnf", expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[^]", ANY_CHAR),
        ("'a\"b'", literal('a"b')),
        (r"'\''", literal("'")),
        (r'"\a\b\f\v\0\e\?\/"', literal("\a\b\f\v\0\x1b?/")),
        (r"[\^\$\.\*\+\?\(\)\[\]\{\}\|\/\-]", char_set("^$.*+?()[]{}|/-")),
        (r'"\x1F600"', literal("\U0001f600")),
        ("x\n y", concat(X, Y)),
        ("x\n | y", alternation(X, Y)),
        ("x /* | \n ' */ y", concat(X, Y)),
        ("#x41", literal("A")),
        ("#x41#x0042 x", concat("AB", X)),
        ("[#x61-#x63#x65]", char_set("abce")),
        ("[#x9#xA#xD]", char_set("\t\n\r")),
        ("[a-c] - 'b'", difference(char_set((97, 99)), "b")),
        ("[a-c] - [b]*", difference(char_set((97, 99)), B.star())),
        ("[a-c] - [bd]", char_set("ac")),
        ("'a'* - 'aa'", difference(A.star(), "aa")),
        ("'c' ('a'* - x) | y", alternation(concat("c", difference(A.star(), "x")), Y)),
        ("([a-c] - [bd])*", char_set("ac").star()),
    ],
)
def test_ebnf_alone_has(text: str, expected: Expr) -> None:
    check_alone(text, "ebnf", "gbnf", expected)


def test_names() -> None:
    made = grammar('root ::= a-b1 | C_d | 0 | -e\na-b1 ::= ""\nC_d ::= ""\n0 ::= ""\n-e ::= ""', syntax="gbnf")
    assert list(made.rules) == ["root", "a-b1", "C_d", "0", "-e"]
    made = grammar("root ::= a.b-c | _d\na.b-c ::= 'x'\n_d ::= 'y'")
    assert made.rules["root"] == alternation(call("a.b-c"), call("_d"))


def test_rules_places_and_start() -> None:
    text = '# first\n\nroot ::= item\r\n  item ::= "a" |\n "b"\n[3] more ::= item\n'
    made = grammar(text, syntax="ebnf")
    assert made.start == "root"
    assert made.places == {"root": Place(3, 1), "item": Place(4, 3), "more": Place(6, 5)}
    assert not made.lexical
    assert not made.ignored
    assert grammar(text, syntax="ebnf", start="more").start == "more"
    assert grammar('a ::= b\n\nb ::= ""', start="a").rules == {"a": call("b"), "b": EPSILON}
    assert grammar("a::=b\rb::='x'", start="a").places["b"] == Place(2, 1)


# Meaning

SETS = [
    ("[a-c]", "[a-c]"),
    ("[^a-c]", "[^a-c]"),
    ("[-a]", "[-a]"),
    ("[a-]", "[a-]"),
    ("[^-]", "[^-]"),
    (r"[\]]", r"[\]]"),
    (r"[^\]\\]", r"[^\]\\]"),
    (r"[\n]", r"[\n]"),
    (r"[^\n]", r"[^\n]"),
    (r"[\\-\]]", r"[\\-\]]"),
    ("[^^]", r"[^^]"),
    ("[a^]", r"[a^]"),
    ("[é-ü]", "[é-ü]"),
    ("[^é]", "[^é]"),
]
REGULAR = [
    ('"a" [b-c]* | "b"+', "a[bc]*|b+"),
    ('("a" | "b" "c")* "a"', "(a|bc)*a"),
    ('"a"{2} "b"{,2} ("c" | "a"){1,}', "a{2}b{0,2}[ca]+"),
    ('("a" ("b" ("c")?)?)?', "(a(b(c)?)?)?"),
    ('("a"{1,2}){2}', "(a{1,2}){2}"),
    ('("a" | )("b" | "")', "a?b?"),
    ('"ab"* "a"', "(ab)*a"),
    ('[^a]* "a"', "[^a]*a"),
]


@BOTH
@pytest.mark.parametrize(("text", "pattern"), SETS + REGULAR)
def test_regular_bodies_match_as_patterns_do(text: str, pattern: str, syntax: str) -> None:
    automaton = compile_expr(body(text, syntax))
    alphabet = "ab\\]^-\né\n" if text.startswith("[") else "abc"
    candidates = ["".join(chars) for length in range(5) for chars in product(sorted(set(alphabet)), repeat=length)]
    for candidate in candidates:
        assert automaton.accepts(candidate.encode()) == bool(re.fullmatch(pattern, candidate)), candidate


def all_texts(alphabet: str, length: int) -> list[str]:
    return ["".join(chars) for n in range(length + 1) for chars in product(alphabet, repeat=n)]


def balanced(text: str) -> bool:
    while "()" in text:
        text = text.replace("()", "")
    return not text


def summed(text: str) -> bool:
    return re.fullmatch(r"\(*a\)*([+*]\(*a\)*)*", text) is not None and balanced(re.sub("[^()]", "", text))


RECURSIVE = [
    ('root ::= ("(" root ")")*', "()", 8, balanced),
    ('root ::= | "(" root ")" root', "()", 8, balanced),
    ('root ::= root root | "(" root ")" | ""', "()", 8, balanced),
    ('root ::= "a" root "a" | "b" root "b" | [ab]?', "ab", 7, lambda text: text == text[::-1]),
    ('root ::= list\nlist ::= "a" | list "b" "a"', "ab", 7, lambda text: re.fullmatch("a(ba)*", text) is not None),
    ('root ::= "a" root "b" | ""', "ab", 8, lambda text: text == "a" * (len(text) // 2) + "b" * (len(text) // 2)),
    (
        'root ::= sum\nsum ::= term ("+" term)*\nterm ::= atom | term "*" atom\natom ::= "a" | "(" sum ")"',
        "a+*()",
        6,
        summed,
    ),
    ('root ::= a{2,3}\na ::= "a" | "(" root ")"', "a()", 6, None),
]


@BOTH
@pytest.mark.parametrize(("text", "alphabet", "length", "oracle"), RECURSIVE[:-1])
def test_recursive_grammars_by_brute_force(text: str, alphabet: str, length: int, oracle, syntax: str) -> None:
    expected = {candidate.encode() for candidate in all_texts(alphabet, length) if oracle(candidate)}
    assert len(expected) > 3
    assert language(grammar(text, syntax=syntax), length) == expected


def test_exclusion_sees_through_calls() -> None:
    text = """
        root ::= '<?' (name - ((X | 'x') [Mm])) (#x20 (any* - (any* '?>' any*)))? '?>'
        name ::= [a-zA-Z]+
        X ::= 'X' - 'Y'
        any ::= [^]
    """
    automaton = compile_expr(grammar(text).rules["root"])  # no calls are left
    for accepted in ("<?a?>", "<?xml?>", "<?php b?>", "<?a ? > ??>", "<?x ?>"):
        assert automaton.accepts(accepted.encode()), accepted
    for refused in ("<?xm?>", "<?XM a?>", "<?a b?>?>", "<??>", "<?a"):
        assert not automaton.accepts(refused.encode()), refused


@pytest.mark.parametrize("pair", ["x{} x{}", "('a' | x{}) x{}", "x{}{{3,5}} x{}"])
def test_exclusion_of_rules_that_double(pair: str) -> None:
    def doubled(levels: int) -> str:
        rules = [f"x{i + 1} ::= {pair.format(i, i)}" for i in range(levels)]
        return "\n".join(["x0 ::= 'b'", *rules, f"root ::= x{levels} - 'b'"])

    assert grammar(doubled(3), syntax="ebnf").rules["root"].size > 3
    with pytest.raises(LimitExceeded, match=r"in rule 'root', written out.*limit `arcs`"):
        grammar(doubled(60), syntax="ebnf")


def test_exclusion_keeps_other_calls() -> None:
    made = grammar("root ::= (a - 'aa') root 'b' | c\na ::= ('a' | d)*\nd ::= 'd' - c\nc ::= 'c' | 'd'")
    a = (A | difference("d", alternation("c", "d"))).star()
    assert made.rules["root"] == alternation(concat(difference(a, "aa"), call("root"), "b"), call("c"))
    assert made.rules["a"] == (A | call("d")).star()


# Grammars as they are written in the wild: the constructs of llama.cpp's own examples.

ARITHMETIC = r"""
root  ::= (expr "=" ws term "\n")+
expr  ::= term ([-+*/] term)*
term  ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]* ws
num   ::= [0-9]+ ws
ws    ::= [ \t\n]*
"""
CHESS = r"""
# moves, numbered
root ::= (
    # the first move
    "1. " move " " move "\n"

    # and all others
    ([1-9] [0-9]? ". " move " " move "\n")+
)
move ::= (pawn | piece | castle) [+#]?
piece ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
pawn ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
castle ::= "O-O" "-O"?
"""
JSON = r"""
root   ::= ws value
value  ::= (object | array | string | number | ("true" | "false" | "null")) ws
object ::= "{" ws (string ws ":" ws value ("," ws string ws ":" ws value)*)? "}"
array  ::= "[" ws (value ("," ws value)*)? "]"
string ::= "\"" ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
ws     ::= [ \t\n\r]*
"""
LIST = 'root ::= item+\nitem ::= "- " [^\\r\\n\\x0b\\x0c\\x85\\u2028\\u2029]+ "\\n" # one line each\n'
KANA = 'root ::= word ("、" word)* "。"?\nword ::= kana | kanji\nkana ::= [ぁ-ゟァ-ヿ]+\nkanji ::= [一-龯]{1,3}\n'
EXAMPLES = [
    (ARITHMETIC, ["1=2\n", "a +b_1*( c)= 3 \n4=x\n"], ["1", "1=2", "=2\n", "(1=2\n", "A=1\n"]),
    (
        CHESS,
        ["1. e4 e5\n2. Nf3 Nc6\n", "1. O-O O-O-O+\n10. exd8=Q# Nbd7\n"],
        ["1. e4 e5\n", "1. e4 e9\n2. a1 a1\n", "1. e4 e5\n0. a1 a1\n"],
    ),
    (LIST, ["- a\n", "- a b\n- é\n"], ["", "- \n", "- a", "- a\x0b\n"]),
    (KANA, ["ひらがな", "漢字、カタカナ。", "漢"], ["", "漢字漢字", "a", "。"]),
]


@pytest.mark.parametrize(("text", "accepted", "refused"), EXAMPLES)
@pytest.mark.parametrize("syntax", ["gbnf", "auto"])
def test_examples(text: str, accepted: list[str], refused: list[str], syntax: str) -> None:
    automaton = compile_grammar(grammar(text, syntax=syntax))
    for candidate in accepted + refused:
        assert automaton.accepts(candidate.encode()) == (candidate in accepted), candidate


def test_xgrammar_reads_the_same() -> None:
    """XGrammar is the reference of its dialect; each text is one that both read."""
    accepts = xgrammar.testing._is_grammar_accept_string
    for text, alphabet, _, _ in RECURSIVE:
        reference = xgrammar.Grammar.from_ebnf(text.replace("::= |", '::= "" |'))
        ours = language(grammar(text, syntax="ebnf"), 4)
        for candidate in all_texts(alphabet, 4):
            assert accepts(reference, candidate) == (candidate.encode() in ours), (text, candidate)
    for text, _ in SETS + REGULAR:
        if "| )" in text or "{,2}" in text:
            continue  # XGrammar has neither
        reference = xgrammar.Grammar.from_ebnf(f"root ::= {text}")
        automaton = compile_expr(body(text, "ebnf"))
        for candidate in all_texts("abc\\]^-\né", 2):
            assert accepts(reference, candidate) == automaton.accepts(candidate.encode()), (text, candidate)
    for escape in (r"\x1F600", r"\x41g", r"\u00e9", r"\U0001F600", r"\e", r"\0", r"\?", r"\'"):
        [text] = language(grammar(f'root ::= "{escape}"', syntax="ebnf"), 4)
        assert accepts(xgrammar.Grammar.from_ebnf(f'root ::= "{escape}"'), text.decode())


# Printing and reading back

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
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_what_is_printed_is_read_back(data: st.DataObject, syntax: str) -> None:
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


@settings(max_examples=300, deadline=None)
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
    text: str, reason: str, line: int | None, column: int | None, rule: str | None, syntax: str
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
def test_mistakes_of_one(text: str, syntax: str, reason: str, line: int, column: int) -> None:
    with pytest.raises(GrammarError, match=reason) as caught:
        grammar(text, syntax=syntax)
    assert (caught.value.line, caught.value.column) == (line, column)


# Which syntax it is


@pytest.mark.parametrize(
    "text",
    [
        'start: "a" | start "b"\n',
        "?start: item+\nitem: WORD\nWORD.2: /[a-z]+/\n%ignore / /\n",
        '_sep{item}: item ("," item)*\nstart: _sep{"a"}',
        '// root ::= "a"\nstart : "a"\n  | "::="',
        "%import common.INT\nstart: INT",
    ],
)
def test_lark_is_found(text: str) -> None:
    assert grammar(text) == grammar(text, syntax="lark")
    with pytest.raises(GrammarError):
        grammar(text, syntax="gbnf")
    with pytest.raises(GrammarError):
        grammar(text, syntax="ebnf")
    for each in (ARITHMETIC, CHESS, JSON, LIST, KANA):
        assert grammar(each) == grammar(each, syntax="gbnf")
        with pytest.raises(GrammarError):
            grammar(each, syntax="lark")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no line that begins with a rule"),
        ("just text", "no line that begins with a rule"),
        ('root ::= "a"\nroot: "a"', "more than one syntax"),
        # The likelier dialect says what is wrong.
        ('root ::= "a" (="b")', "what follows a rule"),
        ("root ::= . $", "no symbol begins"),
        ("root ::= <a> <b", "a token is written"),
        ("root ::= 'a' b", "no rule is named 'b'"),
        ("root ::= a b", "no rule is named 'a'"),
        ("root ::= root - 'a'", "calls itself"),
    ],
)
def test_syntax_that_is_not_found(text: str, reason: str) -> None:
    with pytest.raises(GrammarError, match=reason):
        grammar(text)


def test_unknown_syntax() -> None:
    with pytest.raises(ValueError, match="not 'bnf'"):
        grammar('root ::= "a"', syntax="bnf")  # type: ignore[arg-type]


# Size


def test_large_grammars_take_linear_time() -> None:
    def seconds(count: int) -> float:
        lines = [f'r{i} ::= "a" r{i * 7 % count} | [a-z]+ (r{i * 3 % count} "b"){{2,5}}' for i in range(count)]
        text = "root ::= r0\n" + "\n".join(lines)
        began = time.process_time()
        assert len(grammar(text).rules) == count + 1
        return time.process_time() - began

    # Sixteen times as much, where squares would be 256 times: far from both, since clocks of busy machines are coarse.
    assert seconds(16_000) < 100 * max(seconds(1_000), 0.05)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 1_000 + '"a"' + ")" * 1_000,
        "(x " * 1_000 + ")*" * 1_000,
        "(x | " * 1_000 + '"b"' + ")" * 1_000,
        '"a"' + "*" * 100_000,
        '"' + "a" * 1_000_000 + '"',
        '"' + r"\n" * 100_000 + '"',
        "[" + "ac" * 200_000 + "]",
        "x | " * 30_000 + "y",
        "x " * 100_000,
    ],
    ids=lambda text: text[:12],
)
def test_large_bodies(text: str) -> None:
    began = time.process_time()
    assert body(text)
    assert time.process_time() - began < 20


# JSON


def is_json(text: str) -> bool:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """JSON, and what almost is."""
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t:\r")]))
    text = json.dumps(
        draw(VALUES), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])), separators=separators
    )
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(text)))
        kept = draw(st.integers(0, 1))
        text = (
            text[:place] + draw(st.sampled_from(["", *'{}[]",:\\ u0-1.eE+\t\n\x0b\x1f\xa0é/tn'])) + text[place + kept :]
        )
    return text.encode("utf-8", "replace").decode()


ANYWHERE = Whitespace(*[parse(r"[ \t\n\r]*")] * 7)
BLANKS = " \t\n\r"


@cache
def json_automaton() -> PushdownAutomaton:
    """Any JSON value, with white space wherever RFC 8259 has it within the value."""
    return compile_grammar(constraints.json(whitespace=ANYWHERE))


@settings(max_examples=400, deadline=None)
@given(document=documents())
def test_json_is_what_json_reads(document: str) -> None:
    assert json_automaton().accepts(document.encode()) == (is_json(document) and document == document.strip(BLANKS))


@settings(max_examples=200, deadline=None)
@given(
    value=VALUES,
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
    separators=st.sampled_from([None, (",", ":"), (",", ": ")]),
    place=st.integers(0),
    blank=st.sampled_from([" ", "\n", "\t", "\r", "\n" + 33 * " ", "\n" + 9 * "\t"]),
)
def test_json_has_the_white_space_that_writers_write(
    value: Any, indent: int | str | None, separators: tuple[str, str] | None, place: int, blank: str
) -> None:
    automaton = compiled_json()
    text = json.dumps(value, indent=indent, separators=separators)
    assert automaton.accepts(text.encode())
    for outside in (text + blank, blank + text):
        assert not automaton.accepts(outside.encode())
    # More than a writer writes is either within a string or not allowed.
    spread = re.sub(r'("(?:[^"\\]|\\.)*")|([,:\[{])', lambda found: found[1] or found[2] + 34 * " ", text)
    assert automaton.accepts(spread.encode()) == (spread == text)
    at = place % (len(text) + 1)
    other = text[:at] + blank + text[at:]
    if automaton.accepts(other.encode()):
        assert is_json(other)


@cache
def compiled_json() -> PushdownAutomaton:
    return compile_grammar(constraints.json())


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ('{"a": [1, 2]}', True),
        ('{"a":[1,2]}', True),
        ("[\n" + " " * 32 + "1,\n\t\t2\n]", True),
        ("[\n" + " " * 33 + "1]", False),
        ("[\n\t\t\t\t\t\t\t\t1\n]", True),
        ("[\n\t\t\t\t\t\t\t\t\t1\n]", False),
        ("[ 1]", False),
        ("[1 ,2]", False),
        ("[1,  2]", False),
        ("[1,\n\n2]", False),
        ("[\n]", False),
        ("1 ", False),
        (" 1", False),
        ("1\n", False),
    ],
)
def test_json_has_bounded_white_space(text: str, allowed: bool) -> None:
    assert compiled_json().accepts(text.encode()) == allowed


def test_json_to_any_depth() -> None:
    deep = '[{"a":' * 2_000 + "[1, 2]" + "}]" * 2_000
    for automaton in (json_automaton(), compiled_json()):
        assert automaton.accepts(deep.encode())
        assert not automaton.accepts(deep[:-1].encode())
        assert not automaton.accepts((deep + "]").encode())


@pytest.mark.parametrize(
    "document",
    [
        " \t\n\r1 \t\n\r",
        '{"":{"a":[]},"":[{}]}',
        "[ ]",
        "{ }",
        '"\\ud800\\u0000\\"\\\\\\/\\b\\f\\n\\r\\t"',
        '"\u2028\x7f\U0010ffff"',
        "-0.0e-00",
        "1E400",
        "[1,[2,[3,[4]]]]",
        "",
        " ",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1e",
        "0x1",
        "NaN",
        "-Infinity",
        "True",
        "[1,]",
        "[,1]",
        "{1:2}",
        '{"a"}',
        '{"a":1,}',
        "[1 2]",
        "1 2",
        "[",
        "]",
        '"',
        '"\t"',
        '"\x00"',
        '"\\x"',
        '"\\u12"',
        '"\\U0041"',
        "'a'",
        "\ufeff1",
        "\xa01",
        "1\x0c",
        "/**/1",
    ],
)
def test_json_where_readers_go_wrong(document: str) -> None:
    assert json_automaton().accepts(document.encode()) == (is_json(document) and document == document.strip(BLANKS))


def test_json_is_small_and_deterministic() -> None:
    made = constraints.json()
    assert made == constraints.json()
    assert list(made.rules) == ["json", "value"]
    assert made.start == "json"
    assert json_automaton().max_configurations == 1
    assert json_automaton().num_states < 64
    assert compiled_json().max_configurations == 1
    assert compiled_json().num_states < 256
    with pytest.raises(ValueError, match=r"whitespace is one of 'default', .* not 'much'"):
        constraints.json(whitespace="much")  # type: ignore[arg-type]


def test_json_as_it_is_written_in_gbnf() -> None:
    """Two grammars of one language, on every text of a few characters."""
    theirs = compile_grammar(grammar(JSON))
    for document in all_texts('[]{}":,1-', 4):
        text = document.encode()
        assert json_automaton().accepts(text) == theirs.accepts(text) == is_json(document), document
