"""Words and labels of grammars in their networks."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from grammar_network_cases import A, B, accepted, bodies, check_contract, language, network_of, same, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from automata import (
    ANY_CHAR,
    EmptyLanguage,
    Grammar,
    GrammarError,
    Label,
    LexicalRule,
    alternation,
    call,
    concat,
    literal,
    lookahead,
    parse,
)
from automata.pushdown import report


@cache
def words() -> st.SearchStrategy[LexicalRule]:
    return bodies(()).filter(lambda expr: bool(texts(expr, {}) - {b""})).map(LexicalRule)


@st.composite
def lexical_grammars(draw: st.DrawFn) -> Grammar:
    lexical = {name: draw(words()) for name in ("X", "Y")}
    ignored = draw(st.sampled_from([(), ("X",), ("X", "Y")]))
    return Grammar({"A": draw(bodies(("A", "X", "Y")))}, "A", lexical, ignored)


@given(lexical_grammars())
@settings(max_examples=75)
def test_words_with_every_split(grammar: Grammar) -> None:
    try:
        same(grammar)
    except EmptyLanguage:
        assert not language(grammar)
    except GrammarError:
        assert report(grammar).unproductive == ("A",)


def test_a_word_ends_with_its_label() -> None:
    lexical = {
        "name": LexicalRule(parse("[a-z]+")),
        "if": LexicalRule(literal("if"), (1,)),
        "end": LexicalRule(literal("!")),
        "space": LexicalRule(parse(" *")),
    }
    network = network_of(Grammar({"A": (call("name") | call("if")) + call("end")}, "A", lexical, ("space",)))
    assert network.word_names == ("if", "name", "end", "space")

    def ends(text: bytes) -> dict[str, int]:
        state = int(network.rule_start[0])
        for byte in text:
            state = int(network.next[state, network.byte_class[byte]])
        at = range(network.word_offsets[state], network.word_offsets[state + 1])
        return {network.word_names[network.word[place]]: int(network.word_target[place]) for place in at}

    assert ends(b"") == {}
    assert ends(b"i").keys() == {"name"}
    assert ends(b"if").keys() == {"name", "if"}
    assert len(set(ends(b"if").values())) == 1
    assert ends(b" ").keys() == {"space"}


def test_a_large_word_in_many_places_stays_a_rule() -> None:
    lexical = {"name": LexicalRule(parse("[a-z]{200}"))}
    rules = {"A": alternation(*(literal(digit) + call("name") + digit for digit in "0123456789"))}
    network = network_of(Grammar(rules, "A", lexical))
    check_contract(network)
    assert network.rule_names == ("A", "name")


def test_ignored_words_are_not_out_of_reach() -> None:
    lexical = {name: LexicalRule(literal(name)) for name in "xyz"}
    assert report(Grammar({"A": call("x")}, "A", lexical, ("y",))).unreachable == ("z",)


def test_priorities_order_words() -> None:
    lexical = {
        name: LexicalRule(literal(name), priority)
        for name, priority in [("a", (0, 1)), ("b", (1,)), ("c", (0, 1)), ("d", (0, 2))]
    }
    assert network_of(Grammar({"A": call("a")}, "A", lexical)).word_names == ("b", "d", "a", "c")


def test_words_of_the_wrong_type() -> None:
    word: Any = parse("x")
    with pytest.raises(TypeError, match="expected a LexicalRule as lexical rule 'x', not Literal"):
        network_of(Grammar({"A": call("x")}, "A", {"x": word}))
    priority: Any
    for priority in (1, ("a",), [1]):
        lexical = {"x": LexicalRule(parse("x")), "y": LexicalRule(parse("y"), priority)}
        with pytest.raises(TypeError, match="expected a tuple of integers as the priority of lexical rule 'y'"):
            network_of(Grammar({"A": call("x") + call("y")}, "A", lexical))


def test_a_rule_with_assertions_is_a_text_of_its_own() -> None:
    network = network_of(
        Grammar(
            {
                "A": B + "c" + B,
                "B": concat(lookahead("a"), parse("[ab]{2}")) | concat("b", lookahead(ANY_CHAR, negated=True)),
            },
            "A",
        )
    )
    assert accepted(network) == {a + b"c" + b for a in (b"aa", b"ab", b"b") for b in (b"aa", b"ab", b"b")}


def test_a_word_with_assertions_is_a_text_of_its_own() -> None:
    lexical = {"X": LexicalRule(parse("(?=a)[ab]{1,2}(?<!a)"))}
    network = network_of(Grammar({"A": call("X") + "a"}, "A", lexical))
    assert accepted(network) == {b"aba"}


# Labels.


def test_labels_are_columns() -> None:
    network = network_of(Grammar({"A": Label("z") + A + "b" | Label("y") | "a"}, "A"))
    check_contract(network)
    assert network.labels == ("y", "z")
    start = network.rule_start[0]
    assert network.by_label[start].min() >= 0
    assert network.final[network.by_label[start, 0]]
