"""Walks through expressions and grammars: they read what the language allows, and say which parts read next.

The oracles are Python's `re`, and the automata that the same constraint is compiled to, which know nothing of its
parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pytest
from grammar_oracles.corpus import corpus
from hypothesis import assume, given, settings
from pushdown_grammars import PLAIN, WORDS, all_texts
from strategies import exprs, strings, up_to
from test_pushdown_random import CHARACTERS, LEXICAL, PATTERNS, RULES, WIDE, has_texts, lexical_rules, texts_of

from automata import (
    ByteAutomaton,
    EmptyLanguage,
    Expr,
    Grammar,
    GrammarError,
    NondeterministicGrammar,
    alternation,
    call,
    compile_expr,
    compile_grammar,
    parse,
)
from automata.expressions import Call
from automata.places import Walk, spanned_pattern, walk_through
from automata.pushdown.automaton import PushdownAutomaton
from constraints import grammar as read_grammar
from constraints import json as json_grammar
from constraints.grammars.bundled import BUNDLED, bundled


def after(constraint: str | Expr | Grammar, text: bytes) -> Walk | None:
    """The walk after a text; None where no way reads it."""
    walk = walk_through(constraint)
    return walk if all(walk.read(byte) for byte in text) else None


def union(walk: Walk, allowed: frozenset[int] | None = None) -> frozenset[int]:
    return frozenset[int]().union(*(place.expected for place in walk.places(allowed)))


def next_bytes(automaton: ByteAutomaton, state: int) -> frozenset[int]:
    return frozenset(np.flatnonzero(automaton.next[state, automaton.byte_class] >= 0).tolist())


@pytest.mark.parametrize("pattern", up_to(3))
def test_a_walk_reads_what_matches(pattern: str) -> None:
    for text in strings(b"ab", 4):
        walk = after(pattern, text)
        assert (walk is not None and walk.may_end) == (re.fullmatch(pattern, text.decode()) is not None), text


@pytest.mark.parametrize("pattern", up_to(3))
def test_spans_are_parts_of_the_pattern_that_read_these_bytes(pattern: str) -> None:
    for text in strings(b"ab", 2):
        walk = after(pattern, text)
        for place in walk.places() if walk else ():
            assert place.span is not None
            assert place.part == pattern[slice(*place.span)]
            # A part stands by itself, and reads these bytes somewhere: at its beginning, but for literals begun before.
            automaton = compile_expr(parse(place.part))
            read = frozenset[int]().union(*(next_bytes(automaton, state) for state in range(automaton.num_states)))
            assert place.expected <= read


@given(exprs())
@settings(max_examples=75, deadline=None)
def test_the_parts_of_any_expression_read_its_next_bytes(expr: Expr) -> None:
    automaton = compile_expr(expr)
    assume(not automaton.is_empty)
    for text in strings(b"ab", 3):
        state = automaton.step(automaton.start, text)
        walk = after(expr, text)
        # A walk may enter parts that lead to no end; these are what `allowed` leaves out.
        assert walk is not None or state < 0
        if state >= 0 and walk is not None:
            assert walk.may_end == automaton.final[state]
            assert union(walk, next_bytes(automaton, state)) == next_bytes(automaton, state)


@pytest.mark.parametrize(
    ("pattern", "text", "part", "span", "count", "rest"),
    [
        (r"\d{4}-[01]\d", b"20", r"\d{4}", (0, 5), 2, b""),
        (r"\d{4}-[01]\d", b"2020-", "[01]", (6, 10), None, b""),
        ("born in|on", b"bor", "born in", (0, 7), None, b"n in"),
        ("ab+c", b"abb", "b+", (1, 3), 1, b""),
        (r"(?:x|yy){3}z", b"xx", "x", (3, 4), None, b""),
        (r"(?x) a  [b ]*  # comment", b"a", "[b ]*", (8, 13), 0, b""),
        ("(?i)AbC", b"a", "AbC", (4, 7), None, b""),
        (r"é{2}", "é".encode(), "é{2}", (0, 4), 1, b""),
        (r"a(?P<NOT>b*)", b"a", "(?P<NOT>b*)", (1, 12), None, b""),
        (r"(?=a)[ab]c", b"", "[ab]", (5, 9), None, b""),
        (r"a\x41\u0042", b"a", r"\x41", (1, 5), None, b""),
        ("a{0}b", b"", "b", (4, 5), None, b""),
    ],
)
def test_a_place_says_what_is_read(
    pattern: str, text: bytes, part: str, span: tuple[int, int], count: int | None, rest: bytes
) -> None:
    walk = after(pattern, text)
    assert walk is not None
    place = walk.places()[0]
    assert (place.part, place.span, place.count, place.rest) == (part, span, count, rest)


def test_counts_with_large_bounds_are_numbers() -> None:
    walk = after(r'"[^"]{0,100000}"', b'"' + b"a" * 500)
    assert walk is not None
    assert {place.count for place in walk.places()} == {None, 500}
    assert after(r"(a?){0,100000}b", b"aaab") is not None


def test_patterns_are_read_as_the_parser_reads_them() -> None:
    for pattern in (r"[]a]", r"a\]b}c", "x{,2}", "a{b}", "(?:a(b)c)*", "(?s:.)*", r"(?P<QUOTED_TEXT>)"):
        spanned_pattern(pattern)
        walk = after(pattern, b"")
        assert walk is not None
        assert union(walk) == next_bytes(compile_expr(parse(pattern)), compile_expr(parse(pattern)).start)


# Grammars


def check_text(grammar: Grammar, automaton: PushdownAutomaton, text: bytes) -> None:
    """At each byte of a text that the automaton reads, the places read the allowed bytes, and rules call each other."""
    walk, read = walk_through(grammar), b""
    for byte in text:
        allowed = automaton.allowed_bytes(read)
        assert union(walk, allowed) == allowed, read
        for place in walk.places(allowed):
            check_rules(grammar, place.rules, place.word)
        if byte not in allowed:
            return
        assert walk.read(byte)
        read += bytes([byte])
    if automaton.accepts(text):
        assert walk.may_end


def check_rules(grammar: Grammar, rules: tuple[str, ...], word: str | None) -> None:
    """Each open rule is called by the one around it; the words that are ignored may stand anywhere."""
    for outer, inner in pairwise(rules):
        assert inner in called(grammar.rules[outer])
    if rules:
        assert rules[0] == grammar.start
    if word is not None and rules and word not in grammar.ignored:
        assert word in called(grammar.rules[rules[-1]])


def called(expr: Expr) -> set[str]:
    names, waiting = set[str](), [expr]
    while waiting:
        node = waiting.pop()
        names |= {node.name} if isinstance(node, Call) else set()
        waiting += node.operands()
    return names


@pytest.mark.parametrize("name", [*PLAIN, *WORDS])
def test_small_grammars(name: str) -> None:
    grammar = Grammar(PLAIN[name][0], "s") if name in PLAIN else Grammar(WORDS[name][0], "s", *WORDS[name][1:3])
    try:
        automaton = compile_grammar(grammar)
    except NondeterministicGrammar:
        grammar = Grammar(grammar.rules, "s", grammar.lexical, grammar.ignored, ambiguity="parallel")
        automaton = compile_grammar(grammar)
    for text in all_texts(b"abc", 5)[::3]:
        check_text(grammar, automaton, text)


@settings(max_examples=30, deadline=None)
@given(RULES)
def test_random_grammars(rules: Mapping[str, Expr]) -> None:
    assume(has_texts(rules))
    check_random(Grammar(rules, "s"), all_texts(b"ab", 4))


@settings(max_examples=30, deadline=None)
@given(lexical_rules(LEXICAL))
def test_random_grammars_of_words(rules: Mapping[str, Expr]) -> None:
    check_random(Grammar(rules, "s", LEXICAL), all_texts(b"abc", 4))


@settings(max_examples=30, deadline=None)
@given(lexical_rules(WIDE))
def test_words_of_characters_that_begin_alike(rules: Mapping[str, Expr]) -> None:
    check_random(Grammar(rules, "s", WIDE), texts_of(CHARACTERS, 8))


@settings(max_examples=30, deadline=None)
@given(lexical_rules(LEXICAL), PATTERNS)
def test_words_beside_a_pattern(rules: Mapping[str, Expr], pattern: str) -> None:
    either = alternation("!" + call("s") + "!", "!" + parse(pattern) + "?")
    check_random(Grammar({"either": either, **rules}, "either", LEXICAL), all_texts(b"abc!", 4))


def check_random(grammar: Grammar, texts: list[bytes]) -> None:
    try:
        automaton = compile_grammar(grammar)
    except (GrammarError, EmptyLanguage):
        return
    for text in texts:
        check_text(grammar, automaton, text)


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_grammars(name: str) -> None:
    grammar = bundled(name)
    automaton = compile_grammar(grammar)
    for text in sorted(corpus(name).accepted, key=len)[-60::15]:
        check_text(grammar, automaton, text[:150])


def test_rules_and_words_by_name() -> None:
    grammar = read_grammar(
        'start: stmt+\nstmt: "return" expr ";" | NAME "=" expr ";"\nexpr: expr "+" atom | atom\n'
        'atom: NAME | NUMBER | "(" expr ")"\nNAME: /[a-z]+/\nNUMBER: /[0-9]+/\n%ignore " "'
    )
    walk = after(grammar, b"x = (1+ retur")
    assert walk is not None
    names = {(place.rules, place.word, place.begun) for place in walk.places()}
    inside = ("start", "stmt", "expr", "atom", "expr")
    assert ((*inside, "atom"), "NAME", 5) in names
    assert (inside, '"+"', 0) in names
    # The longest match: after `return` the next letter goes on with a name.
    walk = after(grammar, b"return")
    assert walk is not None
    letters = [place for place in walk.places() if ord("x") in place.expected]
    assert [(place.rules, place.word, place.begun) for place in letters] == [(("start", "stmt"), "NAME", 6)]


def test_left_recursion_and_long_texts() -> None:
    walk = after(Grammar({"s": Call("s") + "a" | "a"}, "s"), b"a" * 300)
    assert walk is not None
    assert walk.may_end
    assert [place.rules for place in walk.places()] == [("s",)]
    text = b'{"a": [' + b"1, " * 300
    assert after(json_grammar(), text) is not None
