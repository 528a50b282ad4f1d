"""Words after text that a pattern reads: a word is the longest match from where it begins, wherever that is."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata import ByteAutomaton, compile_grammar
from automata.errors import EmptyLanguage, NondeterministicGrammar
from automata.pushdown.automaton import PushdownAutomaton
from constraints import grammar, sequence
from constraints.composing import Composed

TEXTS = ["".join(letters) for size in range(6) for letters in product("abc", repeat=size)]

LETTERS = st.sampled_from(["a", "b", "c", "[ab]", "[bc]"])
PATTERNS = st.recursive(
    LETTERS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("(?:{0[0]}|{0[1]})".format),
        st.tuples(inner, st.sampled_from("?*+")).map("(?:{0[0]}){0[1]}".format),
    ),
    max_leaves=4,
)
RULES = st.sampled_from(["A", "B", "A B", "A | B B", "A* B", "B (A B)*", "A? B?", "(A | B)+", 'A "c" | B', '"a" A | B'])


def test_a_word_that_another_beginning_would_lengthen_is_refused() -> None:
    words = 'start: A "c" | B B "d"\nA: /ab+/\nB: /b/'
    with pytest.raises(NondeterministicGrammar, match="after 'a' a word may be open while another one begins"):
        _compiled(sequence("a?", grammar(words)))
    both_ways = _compiled(sequence("a?", grammar(words, ambiguity="parallel")))
    assert all(map(both_ways.accepts, ("bbd", "abbd", "abbc")))


def test_a_delimiter_or_blanks_that_the_grammar_ignores_are_not_refused() -> None:
    words = 'start: "{" X "}"\nX: /[a-z]+/\nBLANK: /\\s/\n%ignore BLANK'
    delimited = _compiled(sequence("[a-z]*=", grammar(words)))
    assert delimited.accepts("a={b}")
    assert not delimited.accepts("a{b}")
    blanks = _compiled(sequence(r"\s*", grammar(words)))
    assert all(map(blanks.accepts, ("  { a }", "{a}")))
    assert not blanks.accepts("  a")


@given(before=PATTERNS, first=PATTERNS, second=PATTERNS, rule=RULES)
def test_words_after_a_pattern_against_all_ways_to_divide_a_text(
    before: str, first: str, second: str, rule: str
) -> None:
    """Whatever is not refused is exact; and with the derivations side by side, nothing is refused."""
    text = f"start: {rule}\nA: /{first}/\nB: /{second}/"
    try:
        alone = compile_grammar(grammar(text, ambiguity="parallel", max_configurations=64))
    except EmptyLanguage:
        return
    expected = [
        any(re.fullmatch(before, text[:end]) and alone.accepts(text[end:]) for end in range(len(text) + 1))
        for text in TEXTS
    ]
    together = _compiled(sequence(before, grammar(text, ambiguity="parallel", max_configurations=64)))
    assert [together.accepts(text) for text in TEXTS] == expected
    try:
        one = _compiled(sequence(before, grammar(text)))
    except NondeterministicGrammar:
        return
    assert [one.accepts(text) for text in TEXTS] == expected


def _compiled(constraint: Composed[Any]) -> ByteAutomaton | PushdownAutomaton:
    return constraint.to_automaton()
