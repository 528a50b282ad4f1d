"""Arguments of the wrong type are refused, and the message says what was meant; strings mean one thing everywhere."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import pynini
import pytest

import automata
import constraints
from automata import (
    ANY_TEXT,
    ExpressionError,
    alternation,
    compile_expr,
    compile_grammar,
    complement,
    concat,
    derivative,
    equivalent,
    intersection,
    literal,
    parse,
    strings,
    to_expr,
)
from automata.counted import compile_counted
from automata.expressions.extensions import text_until

LETTER: Any = parse("[a-z]")
COMPILED: Any = compile_expr(LETTER)
WRONG: list[tuple[Callable[..., object], object, str]] = [
    (compile_expr, "[a-z]", r"not str: parse\(\.\.\.\) reads a pattern, literal\(\.\.\.\) makes a text of it"),
    (compile_expr, b"a", r"not bytes: literal\(\.\.\.\) makes a text of it"),
    (compile_expr, {"type": "string"}, r"not dict: constraints\.json_schema\(\.\.\.\) reads a JSON Schema"),
    (compile_expr, int, r"not type: constraints\.typed\(\.\.\.\) makes a constraint of a type"),
    (compile_expr, re.compile("a"), r"expected an expression, not Pattern: parse\(\.\.\.\) reads it"),
    (compile_grammar, 'start: "a"', r"expected a grammar, not str: constraints\.grammar\(\.\.\.\) reads"),
    (compile_grammar, LETTER, "expected a grammar, not CharSet"),
    (parse, b"a", r"a pattern is text, not bytes: decode it, and write raw bytes as \(\?P<BYTES>"),
    (parse, re.compile(b"a"), "a pattern is text, not bytes"),
    (parse, LETTER, "a pattern is text, not CharSet"),
    (to_expr, LETTER, "expected an automaton over bytes, not CharSet"),
    (literal, 5, "expected a text or bytes, not int"),
    (strings, "abc", r"expected several strings, not one: literal\(\.\.\.\)"),
    (strings, [1], "expected a text or bytes, not int"),
    (concat, {}, "expected an expression, text or bytes, not dict: constraints.json_schema"),
    (alternation, 3, "expected an expression, text or bytes, not int"),
    (automata.shortest, "a", "expected an automaton or an expression, not str: parse"),
    (automata.count, constraints.integer(1, 9), "not Value: its attribute `expr` is an expression"),
    (COMPILED.accepts, 3, "expected a text or bytes, not int"),
]


@pytest.mark.parametrize(("function", "argument", "message"), WRONG)
def test_the_wrong_type_is_named_with_what_was_meant(
    function: Callable[..., object], argument: object, message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        function(argument)


def test_the_wrong_type_beside_another() -> None:
    text: Any = "a"
    with pytest.raises(TypeError, match="not str: parse"):
        equivalent(text, LETTER)
    text = "ab"
    with pytest.raises(TypeError, match="not str: parse"):
        derivative(text, "a")
    with pytest.raises(TypeError, match="unsupported operand"):
        LETTER & re.compile("a")


def test_texts_are_strings_or_bytes() -> None:
    counted = compile_counted(parse(".{1000}"))
    assert counted is not None
    automaton: Any
    for automaton in (compile_expr(parse(".{1000}")), counted, compile_grammar(_grammar())):
        assert automaton.accepts("é" * 1000)
        assert automaton.accepts(("é" * 1000).encode())
        with pytest.raises(TypeError, match="expected a text or bytes, not list"):
            automaton.accepts([104])


def _grammar() -> automata.Grammar:
    return automata.Grammar({"s": parse(".{1000}")}, "s")


# A string beside an operator


@pytest.mark.parametrize("left", [LETTER, COMPILED])
def test_a_string_is_literal_text(left: Any) -> None:
    accepts = [(left + "a.c", "xa.c"), ("a.c" + left, "a.cx"), (left | "a.c", "a.c"), ("a*" | left, "a*")]
    for language, text in accepts:
        assert equivalent(language, language | literal(text))
        assert not _accepts(language, "abcx")
    assert equivalent(left & "a", literal("a"))
    assert not _accepts(left - "a", "a")
    assert equivalent("ab" - left, literal("ab"))


@pytest.mark.parametrize("left", [LETTER, COMPILED])
@pytest.mark.parametrize("combine", [operator.add, operator.or_, operator.and_, operator.sub])
def test_an_fst_is_no_operand(left: Any, combine: Callable[[Any, Any], object]) -> None:
    with pytest.raises(TypeError, match="expected an operand of the same kind, text or bytes"):
        combine(left, pynini.accep("b"))


def _accepts(language: Any, text: str) -> bool:
    automaton = language if isinstance(language, automata.ByteAutomaton) else compile_expr(language)
    return bool(automaton.accepts(text))


@pytest.mark.parametrize("left", [text_until("END"), COMPILED])
@pytest.mark.parametrize("right", ["(?s).{0,200}", "[a-z]+", "a|b", r"\d"])
def test_a_pattern_as_a_string_is_refused_where_it_would_be_empty(left: Any, right: str) -> None:
    message = r"looks like a pattern: write parse\(\.\.\.\) for the pattern, or literal\(\.\.\.\) for the text"
    for make in (lambda: left & right, lambda: right & left, lambda: left - right, lambda: right - left,
                 lambda: intersection(right, ANY_TEXT), lambda: complement(right)):  # fmt: skip
        with pytest.raises(ExpressionError, match=message):
            make()
    assert equivalent(left & literal(right), left & parse(re.escape(right)))


# Patterns that `re` has compiled


@pytest.mark.parametrize(
    ("compiled", "texts", "others"),
    [
        (re.compile(r"a\d"), ["a1", "a٣"], ["b1", "aa"]),
        (re.compile(r"a\d", re.ASCII), ["a1"], ["a٣"]),
        (re.compile("straße|[k]", re.IGNORECASE), ["STRAßE", "K", "\u212a"], ["s"]),
        (re.compile("a.b # what", re.VERBOSE | re.DOTALL), ["a\nb"], ["a b # what"]),
        (re.compile("(?:^a$\n?)+", re.MULTILINE), ["a\na"], ["aa"]),
        (re.compile("(?i)a"), ["A"], ["b"]),
    ],
)
def test_what_re_has_compiled_is_read_with_its_flags(
    compiled: re.Pattern[str], texts: list[str], others: list[str]
) -> None:
    automaton = compile_expr(parse(compiled))
    for text in [*texts, *others]:
        assert automaton.accepts(text) == (compiled.fullmatch(text) is not None) == (text in texts)


def test_what_re_has_compiled_is_in_its_dialect() -> None:
    with pytest.raises(ValueError, match="dialect"):
        parse(re.compile("a"), dialect="ecma")
