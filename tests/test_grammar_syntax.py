"""GBNF and EBNF: what each construct is read as, which syntax a text has, large grammars."""

from __future__ import annotations

import time
from typing import Any

import pytest
import xgrammar
from grammar_syntax_cases import ARITHMETIC, BOTH, CHESS, JSON, KANA, LIST, A, B, X, Y, body, reading

from automata import (
    ANY_CHAR,
    EPSILON,
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
from automata.expressions.extensions import token
from automata.pushdown.grammar import Place
from constraints import grammar
from constraints.grammars import Syntax


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
        ("x{2, # at most, }\n4}", repeat(X, 2, 4)),
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
def test_both_dialects_have(text: str, expected: Expr, syntax: Syntax) -> None:
    assert body(text, syntax) == expected
    assert body(text) == expected


def check_alone(text: str, syntax: Syntax, other: Syntax, expected: Expr) -> None:
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
    text = 'root ::= a-b1 | C_d | 0 | -e\na-b1 ::= ""\nC_d ::= ""\n0 ::= ""\n-e ::= ""'
    for made in (grammar(text, syntax="gbnf"), grammar(text)):
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


@pytest.mark.parametrize("text", ["root ::=", "root ::= # nothing\n", "root ::= ws\nws ::=\n\n"])
@pytest.mark.parametrize("syntax", ["auto", "gbnf", "ebnf"])
def test_rules_are_not_empty(text: str, syntax: Any) -> None:
    with pytest.raises(GrammarError, match=r'the rule is empty; the empty text is written ""'):
        grammar(text, syntax=syntax)


@pytest.mark.parametrize("text", ['root ::= S "a"\nS ::= #x20', "root ::= Char+\nChar ::= #x9 | #xA | [#x20-#xD7FF]"])
def test_characters_by_number_at_the_end(text: str) -> None:
    assert grammar(text) == grammar(text, syntax="ebnf")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("root ::= digit\ndigit ::= #x30 | nine", "no rule is named 'nine'"),
        ('root ::= "a" S\nS ::= #x20 | \'oops', "a string is opened and never closed"),
        ("root ::= #x41 (", "a parenthesis is opened and never closed"),
    ],
)
def test_a_mistake_in_ebnf_does_not_make_it_gbnf(text: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        grammar(text)


def test_sets_after_names_are_scanned_once() -> None:
    text = "root ::= " + 'a[\\"]' * 20_000 + '\na ::= "x"'
    begin = time.perf_counter()
    grammar(text)
    assert time.perf_counter() - begin < 10  # quadratic scanning takes minutes


@pytest.mark.parametrize("between", ["", "\n", "\r\n \t", "# comment\n\n", " # one\n # two ::=\n"])
def test_a_name_and_its_assignment_may_be_on_two_lines_in_ebnf(between: str) -> None:
    text = f'root{between}::= x x{{1, # comment\n2}}\nx{between}::= "a"'
    xgrammar.Grammar.from_ebnf(text)  # it can be read there
    expected = concat(X, repeat(X, 1, 2))
    assert grammar(text, syntax="ebnf").rules == grammar(text).rules == {"root": expected, "x": A}
    assert grammar(text).places["x"].column == 1


def test_comments_and_numbers_of_productions_before_an_assignment() -> None:
    text = "[1] root /* :\n */ ::= x\n[2] x\n::= 'a'"
    assert grammar(text).rules == {"root": X, "x": A}


# Which syntax it is


@pytest.mark.parametrize(
    "text",
    [
        'root ::= Token (" " Token)*\nToken ::= [a-z]+',
        'Regex ::= [a-z] | "(" root ")"\nroot ::= Regex ("," Regex)*',
    ],
)
def test_rules_with_the_names_of_macros_are_gbnf(text: str) -> None:
    assert grammar(text) == grammar(text, syntax="gbnf")
    with pytest.raises(GrammarError, match=r'macros are not supported.*syntax="gbnf"'):
        grammar(text, syntax="ebnf")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        # GBNF reads these, but they may be meant as EBNF.
        ("root ::= Token (Token)* #x41\nToken ::= [a-z]+", "macros are not supported"),
        ('root ::= "a" [VC: a]', "a constraint in prose"),
        # GBNF cannot read these.
        ('root ::= Token("a")', "macros are not supported"),
        ('root[capture="ab"]\n::= "a"', "options of rules are not supported"),
    ],
)
def test_what_ebnf_does_not_support_is_an_error(text: str, reason: str) -> None:
    with pytest.raises(GrammarError, match=reason):
        grammar(text)


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


@pytest.mark.parametrize("text", ['root ::= "a"', 'start: "a"', '%ignore " "\nstart: "a"'])
def test_a_byte_order_mark_is_ignored(text: str) -> None:
    assert grammar("\ufeff" + text) == grammar(text)
    syntaxes: list[Syntax] = ["gbnf", "ebnf"] if "::=" in text else ["lark"]
    for syntax in syntaxes:
        assert grammar("\ufeff" + text, syntax=syntax) == grammar(text, syntax=syntax)
    with pytest.raises(GrammarError):
        grammar("\ufeff\ufeff" + text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no line that begins with a rule"),
        ("just text", "no line that begins with a rule"),
        ('root ::= "a"\nroot: "a"', "more than one syntax"),
        ('/* all:\nroot: a root */ root ::= "a"', "more than one syntax"),
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
    syntax: Any = "bnf"
    with pytest.raises(ValueError, match="not 'bnf'"):
        grammar('root ::= "a"', syntax=syntax)


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
