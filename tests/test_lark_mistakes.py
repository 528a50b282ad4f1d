"""Mistakes and hostile texts in Lark's syntax are refused with their place."""

from __future__ import annotations

import random
import re

import pytest
from lark_cases import GRAMMARS
from lark_reading import CONSTRUCTS, refused

from automata import (
    Grammar,
    GrammarError,
)
from constraints.grammars.lark_reader import read_lark

MISTAKES = [
    ("", "no rule is named 'start'", None, None, None),
    ('a: "x"', "rules are a", None, None, None),
    ("start: a", "the rule a is not defined", 1, 8, "start"),
    ("start: A", "the terminal A is not defined", 1, 8, "start"),
    ("start: WS", "%import common.WS", 1, 8, "start"),
    ('start: A\nA: "a" B', "the terminal B is not defined", 2, 8, "A"),
    ('start: "a"\n start: "b"', "the rule start is defined more than once", 2, 2, "start"),
    ('start: A\nA: "a"\nA: "b"', "the terminal A is defined more than once", 3, 1, "A"),
    ('start: INT\nINT: "a"\n%import common.INT', "the terminal INT is defined more than once", 2, 1, "INT"),
    ("start: A\nA: B\nB: C\nC: A", "the terminal A is made of itself", 4, 4, "C"),
    ("start: A\nA: start", "a terminal cannot be made of the rule start", 2, 4, "A"),
    ('start: A\nA: "a" -> b', "a terminal's alternatives have no names", 2, 8, "A"),
    ("start: A\nA: <|x|>", "a token is not made of characters", 2, 4, "A"),
    ("start: A\n%declare B\nA: B", "a token is not made of characters", 3, 4, "A"),
    ("start: A\nA: %json {}", "%json stands for a rule", 2, 4, "A"),
    ("start: A\nA: t{A}\nt{x}: x", "a terminal cannot use a template", 2, 4, "A"),
    ("start: A\nA[lazy]: /a/", "attributes are for rules", 2, 3, "A"),
    ("start: A\nA{x}: /a/", "a terminal has no parameters", 2, 3, "A"),
    # Templates
    ("start: t{start}\nt{x, y}: x y", "t takes 2 arguments, not 1", 1, 8, "start"),
    ("start: t\nt{x}: x", "the template t is used without arguments", 1, 8, "start"),
    ("start: t{u}\nt{x}: x\nu{x}: x", "the template u is used without arguments", 2, 7, "t{u}"),
    ("start: start{start}", "no template is named start", 1, 8, "start"),
    ("start: t{start}\nt{f}: f{f}", "no template is named start", 2, 7, "t{start}"),
    ("start: t{start}\nt{x, x}: x", "the parameter x occurs twice", 2, 6, "t"),
    ("start: t{start}\nt{start}: start", "the parameter start has the name of a rule", 2, 1, "t"),
    ('start: t{"a" "b"}\nt{x}: x', "expected , or }", 1, 14, "start"),
    ('start: t{("a")}\nt{x}: x', "expected an argument", 1, 10, "start"),
    ('start: t{"a"}\nt{x}: x t{t{x}}', "the arguments of t nest templates more than 100 deep", 2, 9, None),
    ("start: start\nt{x}: x y", "the rule y is not defined", 2, 9, "t"),
    ("start: start\nt{x}: x{WS}", "the terminal WS is not defined", 2, 9, "t"),
    # Syntax
    ('start: ("a"', "( is not closed on its line", 1, 8, "start"),
    ('start: ["a"\n"b"]', "[ is not closed on its line", 1, 8, "start"),
    ('start: "a")', "expected a value, | or the end of the line, found )", 1, 11, "start"),
    ('start: ("a"]', "expected a value, | or )", 1, 12, "start"),
    ('start: "a"??', "one quantifier", 1, 12, "start"),
    ("start: *", "expected a value", 1, 8, "start"),
    ('start "a"', "expected :, found", 1, 7, "start"),
    ('start: "a" : "b"', "found :", 1, 12, "start"),
    ('"a": "b"', "expected a rule, a terminal or a directive", 1, 1, None),
    ('| start: "a"', "expected a rule, a terminal or a directive, found |", 1, 1, None),
    ('\n| start: "a"', "expected a rule, a terminal or a directive, found |", 2, 1, None),
    ("Start: A", "a name is written in small letters", 1, 1, None),
    ("__start: A", "a name is written in small letters", 1, 1, None),
    ('start: "a', "a string is opened and not closed", 1, 8, None),
    ("start: /a", "a regular expression is opened and never closed", 1, 8, None),
    ('start: "a" ; "b"', "a rule ends with its line", 1, 12, None),
    ("start: 'a'", "a string has double quotes", 1, 8, None),
    ("start: [a-z]+", "the rule a-z is not defined; a set of characters is written /[a-z]/", 1, 9, "start"),
    ('start: a -> "b"\na: "a"', "expected a name in small letters", 1, 13, "start"),
    ('start: a -> b "c"\na: "a"', "expected | or the end of the alternative", 1, 15, "start"),
    ('start: "a" & "b"', "& is for terminals", 1, 12, "start"),
    ('start: "a"~2~3', "one quantifier", 1, 13, "start"),
    ('start: "a"{2}{3}', "one quantifier", 1, 14, "start"),
    ('start: "a"*?', "one quantifier", 1, 12, "start"),
    ('start: ~"a"', "~ is for terminals", 1, 8, "start"),
    ("start: A\nA: ~ | /a/", "expected what ~ is before", 2, 6, "A"),
    ('start: "a"~3..2', "no number of repetitions lies between 3 and 2", 1, 11, "start"),
    ('start: "a"{2,1}', "no number of repetitions lies between 2 and 1", 1, 11, "start"),
    ('start: "a"{}', "expected a number or a comma, found }", 1, 12, "start"),
    ('start: "a"~-1', "a number of repetitions lies between 0", 1, 12, "start"),
    ('start: "a"~99999999999999', "a number of repetitions lies between 0", 1, 12, "start"),
    ('start.x: "a"', "expected a number, the priority", 1, 7, "start"),
    ('start.1.5: "a"', "a priority is a whole number", 1, 7, "start"),
    # Literals
    ("start: /a(?P=x)/", "a back-reference is not regular", 1, 10, "start"),
    ("start: /(a)\\1/i", "", 1, 12, "start"),
    ("start: /ab[/", "", 1, 11, "start"),
    ("start: /a/l", "the flag l (locale) is not supported", 1, 10, "start"),
    ("start: /a\nb/", "only with the flag x", 1, 8, "start"),
    ("start: /a\nb(/x", "opened and never closed", 2, 2, "start"),
    ("start: A\nA: /x[a-c&&b]/", "llguidance read && differently: in a set, write \\& for &", 2, 10, "A"),
    ("start: /.[(+--]/i", "llguidance read -- differently: in a set, write \\- for -", 1, 13, "start"),
    ("start: /[^a~~b]/", "llguidance read ~~ differently", 1, 12, "start"),
    ("start: /[[a]b]/", "llguidance read [[ differently: in a set, write \\[ for [", 1, 10, "start"),
    ('start: "a".."bc"', "is not a single character", 1, 13, "start"),
    ('start: "ab".."c"', "is not a single character", 1, 8, "start"),
    ('start: A\nA: "b"\n  | "a" .. "\\xZZ"', "\\x needs 2 hexadecimal digits", 3, 13, "A"),
    ('start: "a"i.."c"', "is not a single character", 1, 8, "start"),
    ('start: "c".."a"', "goes backwards", 1, 8, "start"),
    ('start: "a\\b"', "Lark and llguidance read \\b in a string differently", 1, 10, "start"),
    ('start: "\\x4"', "\\x needs 2 hexadecimal digits", 1, 9, "start"),
    ('start: "\\U00110000"', "no character has the number", 1, 9, "start"),
    ('start: "\\ud83d"', "half of a surrogate pair", 1, 8, "start"),
    ('start: "\ud83d"', "half of a surrogate pair", 1, 9, None),
    ("start: A\nA: /a.*?/ & /a+/", "depends on the order in which its lazy quantifiers are tried", 2, 1, "A"),
    ("start: A\nA: /(?P<AND>(?:a.*?)(?:a+))/", "operations on languages have none", 2, 1, "A"),
    # Directives
    ("%ignore", "%ignore needs a terminal", 1, 1, None),
    ('%ignore a\na: "x"\nstart: a', "a terminal cannot be made of the rule a", 1, 9, None),
    ("%ignore A\nstart: start", "the terminal A is not defined", 1, 9, None),
    ("%import common.NOTHING", "NOTHING is not one of Lark's common terminals", 1, 16, None),
    ("%import python.NAME", "only Lark's common terminals can be imported", 1, 9, None),
    ("%import .other.NAME", "other files cannot be imported", 1, 9, None),
    ("%import common.INT -> int", "expected a name in capitals", 1, 23, None),
    ("%import common.INT -> A\n%import common.WS -> A", "the terminal A is defined more than once", 2, 22, None),
    ("%override start: A", "start cannot be overridden", 1, 1, "start"),
    ("%extend start: A", "start cannot be extended", 1, 1, "start"),
    ('start: "a"\n%extend start{x}: x', "other parameters", 2, 1, "start"),
    ("%declare", "expected the name of a token", 1, 9, None),
    ("%declare a", "expected the name of a token", 1, 10, None),
    ('A: "a"\n%declare A', "the terminal A is defined more than once", 2, 10, None),
    ("%nothing", "no directive is named %nothing", 1, 1, None),
    ('start: "a" %ignore "b"', "%ignore cannot stand in a rule", 1, 12, "start"),
    ('%llguidance {"allow_invalid_utf8": true}', "'allow_invalid_utf8' of %llguidance is not supported", 1, 1, None),
    ('%llguidance {"ignore_once": true}', "'ignore_once' of %llguidance is not supported", 1, 1, None),
    ("%llguidance 1", "the options of %llguidance are a JSON object", 1, 1, None),
    ("start: @other", "found @other", 1, 8, "start"),
    ('start::_: "a"', "numbers for parameters is not supported", 1, 6, None),
    ('start: "a" %if true', "%if cannot stand in a rule", 1, 12, "start"),
    # JSON
    ('start: "x"\n  | %json {"items": {"type": "text"}}', "there is no type 'text' (at /items/type", 2, 5, "start"),
    ('start: %json {"uniqueItems": true}', "needs memory of all items (at /uniqueItems", 1, 8, "start"),
    ("start: %json false", "no value satisfies", 1, 8, "start"),
    ("start: %json {", "this is not JSON", 1, 15, None),
    ('start: %regex {"substring_chars": 1}', "is not supported", 1, 8, "start"),
    ('start: %json {"maximum": ' + "1" * 5_000 + "}", "has a number with too many digits", 1, 14, None),
    ('start: "a"\n%llguidance {"a": ' + "1" * 5_000 + "}", "has a number with too many digits", 2, 13, None),
    ('start: %regex {"substring_chars": "\\ud800"}', "half of a surrogate pair", 1, 8, "start"),
    ('start: %regex {"substring_words": "a \\udfff"}', "half of a surrogate pair", 1, 8, "start"),
    ('start: %regex {"substring_chunks": ["a", "\\ud800"]}', "half of a surrogate pair", 1, 8, "start"),
    ("start: %regex {}", "%regex needs a JSON object", 1, 8, "start"),
    ('start: %regex {"substring_chars": "a", "substring_words": "b"}', "%regex needs a JSON object", 1, 8, "start"),
    # Tokens
    ('start: "a" <[9-5]>', "the range 9-5 of token ids goes backwards", 1, 12, "start"),
    ("start: <[a]>", "<[a]> is not a list of token ids", 1, 8, "start"),
    ("start: <[^*]>", "is not a list of token ids", 1, 8, "start"),
    ("start: <[1,20-10]>", "the range 20-10 of token ids goes backwards", 1, 8, "start"),
    # Attributes
    ('start[max_tokens=3]: "a"', "the attribute max_tokens is not supported", 1, 18, "start"),
    ('start[stop="b"]: "a"', "the attribute stop takes back", 1, 12, "start"),
    ('start[other]: "a"', "no attribute is named other", 1, 7, "start"),
    ('start[lazy, lazy]: "a"', "the attribute lazy occurs twice", 1, 13, "start"),
    ('start[,]: "a"', "expected the name of an attribute or ], found ,", 1, 7, "start"),
    ('start[suffix=1]: "a"', "expected a value for suffix: string or regexp or terminal", 1, 14, "start"),
    ('start[suffix=""]: "a"', "a suffix has a text", 1, 14, "start"),
    ('start[lazy]: t{a}\nt{x}: x\na: "a"', "a terminal cannot use a template", 1, 16, "start"),
    ('start[lazy]: t{"a"}\nt{x}: x', "a terminal cannot use a template", 1, 14, "start"),
    ('start[lazy]: a\na: "a"', "a terminal cannot be made of the rule a", 1, 14, "start"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason", "line", "column", "rule"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes(text: str, reason: str, line: int | None, column: int | None, rule: str | None) -> None:
    error = refused(text)
    assert reason in error.reason
    assert (error.line, error.column) == (line, column)
    if rule is not None or line is None:
        assert error.rule == rule


# Bad input


def many_rules(number: int) -> str:
    rules = [f'r{i}: "a{i}" r{i * 7 % number} | B{i % 50} ("x" r{i // 2})*\n' for i in range(number)]
    return "start: r0\n" + "".join(rules) + "".join(f"B{i}: /[a-z]{{{i + 1}}}/\n" for i in range(50))


def test_many_rules() -> None:
    grammar = read_lark(many_rules(20_000))
    assert len(grammar.rules) == 20_001
    assert len(grammar.lexical) == 20_000 + 50 + 1


def test_many_extensions() -> None:
    extensions = "".join(f'%extend start: "{i}"\n%extend A: "{i}"\n' for i in range(20_000))
    grammar = read_lark(f'start: A | "a"\nA: "a"\n{extensions}')
    assert len(grammar.rules["start"].operands()) == 20_002
    assert len(grammar.lexical["A"].expr.operands()) == 20_001


def test_templates_within_templates_up_to_the_limit() -> None:
    assert len(read_lark("start: " + "t{" * 100 + '"a"' + "}" * 100 + "\nt{x}: x").rules) == 101


@pytest.mark.parametrize(
    "text",
    [
        "start: " + "(" * 10_000 + '"a"' + ")" * 10_000,
        "start: " + "(" * 10_000 + '"a"' + ' "b")' * 10_000,
        "start: " + "(" * 10_000 + '"a"' + ")?" * 10_000,
        "start: A\nA: " + "[" * 10_000 + '"a"' + ' "b"]' * 10_000,
        "start: A0\n" + "".join(f'A{i}: A{i + 1} "x" | "y"\n' for i in range(3_000)) + 'A3000: "z"',
        "start: A\nA: " + "~" * 10_000 + '"a"',
    ],
)
def test_deep_nesting_is_read(text: str) -> None:
    assert isinstance(read_lark(text), Grammar)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("start: " + "(" * 10_000, "is not closed"),
        ("start: " + "t{" * 10_000 + '"a"' + "}" * 10_000 + "\nt{x}: x", "more than 100 deep"),
        ('start: t{"a"}\nt{x}: t{a{x}} | t{b{x}}\na{x}: x\nb{x}: x', "more than 100 deep"),
        ("start: " + " ".join(f't{{"{i}"}}' for i in range(100_001)) + "\nt{x}: x", "more than 100,000 lists"),
        ('start: %regex {"substring_chunks": [' + '"a",' * 10_000 + '"a"]}', "more than 10,000 chunks"),
        ("start: A0\n" + "".join(f"A{i}: A{i + 1} A{i + 1}\n" for i in range(60)) + 'A60: "z"', "has more than"),
        ("start: %json " + "[" * 100_000, "nested too deeply"),
        ("start: /" + "a" * 300_000, "opened and never closed"),
    ],
)
def test_hostile_texts_are_refused(text: str, reason: str) -> None:
    assert reason in refused(text).reason


PIECES = [
    '"', "/", "(", ")", "[", "]", "{", "}", "|", "~", "&", "->", "..", ".", ":", ",", "%json", "%regex", "<", ">",
    "\\", "i", "?", "*", "!", "=", "5", "a", "A", "_", "é", "%ignore", "[lazy]", "{x}", "::", "@", "(?",
    "\n", " ", "\ud800",
]  # fmt: skip


def mistake(text: str) -> GrammarError | None:
    try:
        read_lark(text)
    except GrammarError as error:
        return error
    return None


def test_whatever_is_written_is_a_grammar_or_a_mistake_with_a_place() -> None:
    chosen = random.Random(5)
    texts = [*GRAMMARS.values(), *(text for text, *_ in CONSTRUCTS), *(text for text, *_ in MISTAKES)]
    read = 0
    for _ in range(1_500):
        text = chosen.choice(texts)
        for _ in range(chosen.randint(1, 4)):
            at = chosen.randrange(len(text) + 1)
            other = chosen.choice(texts)
            cut = chosen.randrange(len(other) + 1)
            inserted = chosen.choice(["", chosen.choice(PIECES), other[cut : cut + 10]])
            text = text[:at] + inserted + text[at + chosen.randrange(4) :]
        error = mistake(text)
        if error is None:
            read += 1
        elif error.line is None or error.column is None:
            assert "where texts would begin" in error.reason
        else:
            lines = re.split(r"\r\n?|\n", text)
            assert 1 <= error.line <= len(lines)
            assert 1 <= error.column <= len(lines[error.line - 1]) + 2
    assert read > 20
