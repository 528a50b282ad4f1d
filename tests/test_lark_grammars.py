"""Grammars in Lark's syntax: what each construct means. Lazy quantifiers are in test_preferred_words."""

from __future__ import annotations

import pytest
from lark_reading import CONSTRUCTS, accepted

import tokenfst
from automata import (
    EPSILON,
    LexicalRule,
    call,
    compile_grammar,
    concat,
    parse,
    repeat,
)
from automata.expressions import Label
from constraints import grammar
from constraints.grammars.lark_reader import read_lark
from tokenfst import Vocabulary


def accepts_and_refuses(text: str, good: list[str], bad: list[str]) -> None:
    assert accepted(text, *good, *bad) == [True] * len(good) + [False] * len(bad)


# Constructs


@pytest.mark.parametrize(("text", "good", "bad"), CONSTRUCTS, ids=range(len(CONSTRUCTS)))
def test_constructs(text: str, good: list[str], bad: list[str]) -> None:
    accepts_and_refuses(text, good, bad)


def test_names_and_places() -> None:
    grammar = read_lark(
        'start: "if" _l{NAME, /,/} ["x"i] END\n_l{x, sep}: x (sep x)*\nNAME.2: /[a-z]+/\nEND: "end"\n'
        'other: "end" | "if" | NUMBERS\nNUMBERS: DIGIT+\nDIGIT: "0".."9"\n%ignore /[ ]/\n%ignore NAME\n'
    )
    assert list(grammar.rules) == ["start", "_l{NAME, /,/}", "other"]
    assert list(grammar.lexical) == ["END", '"if"', "NAME", "NUMBERS", '"x"i', "/,/", "/[ ]/"]
    assert grammar.ignored == ("/[ ]/", "NAME")
    assert grammar.rules["start"] == concat(
        call('"if"'), call("_l{NAME, /,/}"), repeat(call('"x"i'), 0, 1), call("END")
    )
    assert grammar.rules["_l{NAME, /,/}"] == concat(call("NAME"), repeat(concat(call("/,/"), call("NAME")), 0))
    assert {name: (place.line, place.column) for name, place in grammar.places.items()} == {
        "start": (1, 1),
        "_l{NAME, /,/}": (2, 1),
        "other": (5, 1),
        '"if"': (1, 8),
        '"x"i': (1, 28),
        "/,/": (1, 22),
        "/[ ]/": (8, 9),
        "END": (4, 1),
        "NAME": (3, 1),
        "NUMBERS": (6, 1),
    }


def test_strings_that_are_written_in_two_ways_are_one_word() -> None:
    grammar = read_lark('start: "A" "\\x41" "a"i /A/ A | "\\n" NL B\nA: "A"\nNL: /\\n/\nB: ("A")\n')
    assert sorted(grammar.lexical) == ['"\\n"', '"a"i', "/A/", "A", "B", "NL"]
    assert grammar.rules["start"].operands()[0].operands()[:2] == (call("B"), call("B"))  # the last one, as in Lark


def test_equal_lists_of_substrings_are_one_word() -> None:
    grammar = read_lark(
        'start: %regex {"substring_chars": "ab"} "1" | %regex  { "substring_chars": "ab"} "2"'
        f' | %regex {{"substring_chars": "{"b" * 200}"}}'
    )
    assert list(grammar.lexical) == ['%regex {"substring_chars": "ab"}', '"1"', '"2"', "%regex at 87"]


def test_tokens_are_labels() -> None:
    grammar = read_lark("start: <|a|> TOOL (<think> | <[12,20-29]>)\n%declare TOOL OTHER\n")
    found, stack = [], [grammar.rules["start"]]
    while stack:
        node = stack.pop()
        stack += node.operands()
        found += [node.name] if isinstance(node, Label) else []
    assert sorted(found) == ["<[12,20-29]>", "<think>", "<|a|>", "TOOL"]


def test_a_range_may_hold_one_token_id() -> None:
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(128)), b""], 128)
    automaton = tokenfst.compile(grammar('start: "x" <[97-97]>'), vocabulary)
    assert [automaton.accepts([ord("x"), token]) for token in (96, 97, 98)] == [False, True, False]


def test_the_start_may_be_any_rule() -> None:
    assert read_lark('a: "x"\nb: "y"', "b").start == "b"
    assert read_lark('start: "x"').start == "start"


def test_words_that_may_be_empty_may_be_missing() -> None:
    grammar = read_lark("start: A B C\nA: /a*/\nB: /b+/\nC: /(?:)/")
    assert grammar.rules["start"] == concat(repeat(call("A"), 0, 1), call("B"))
    assert read_lark("start: a\na[lazy]: /.*/").rules["a"] == EPSILON


@pytest.mark.parametrize(
    "words",
    ['""', "/b{0}/", "/b*?/", '%regex {"substring_chars": ""}'],
)
def test_words_whose_only_text_is_empty_are_missing(words: str) -> None:
    grammar = read_lark(f'start: T "a"\nT: {words}\n%ignore {words}\n%ignore T\n%ignore " "')
    assert grammar.rules["start"] == call('"a"')
    assert grammar.ignored == ('" "',)
    assert sorted(grammar.lexical) == ['" "', '"a"']


def test_lazy_rules_with_the_same_words_share_one() -> None:
    grammar = read_lark('start: a "1" | b "2"\na[lazy]: /x*y/\nb[suffix="y"]: /x*/\nc: "c"')
    assert grammar.rules["a"] == grammar.rules["b"] == call("a[lazy]")
    word = grammar.lexical["a[lazy]"]
    assert word == LexicalRule(parse("x*y"), word.priority, lazy=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('one.1[lazy]: /[a-c]/ "a"', "other[lazy]: /ba|zzzz/"),
        ("one[lazy]: /[b-l]/ /a|zzzz/", 'other[lazy]: /[ab]/ "a"'),
        ('one[lazy]: "ba"', "other[lazy]: /ba|c/"),
        ("one[lazy]: /(?:ba|d)/", "other[lazy]: /ba|c/"),
    ],
    ids=["priority", "longer text", "string", "longer pattern"],
)
def test_lazy_words_of_one_text_have_the_order_of_words(one: str, other: str) -> None:
    for names in ("l1", "l2"), ("l2", "l1"):
        text = f"{one}\n{other}".replace("one", names[0]).replace("other", names[1])
        automaton = compile_grammar(read_lark(f'start: {names[0]} "x" | {names[1]} "y"\n{text}'))
        assert (automaton.accepts("bax"), automaton.accepts("bay")) == (True, False)
