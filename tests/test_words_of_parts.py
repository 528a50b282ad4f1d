"""Words in composed constraints: the texts of the whole are those of its parts, each with a lexer of its own."""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata import ByteAutomaton, Grammar, LexicalRule, call, compile_grammar, parse
from automata.errors import EmptyLanguage, GrammarError, NondeterministicGrammar
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.grammar import Ambiguity
from constraints import grammar, optional, sequence, triggered
from constraints.composing import Composed, Parsed

LENGTH = 5
TEXTS = ["".join(letters) for size in range(LENGTH + 1) for letters in product("abc", repeat=size)]

NAMES = 'start: NAME "=" NUMBER\nNAME: /[a-z]+/\nNUMBER: /[0-9]+/'
CONDITION = 'start: "if" "(" NUMBER ")"\nNUMBER: /[0-9]+/'

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
RULES = [
    "A",
    "B",
    "A B",
    "A | B B",
    "A* B",
    "B (A B)*",
    "A? B?",
    "(A | B)+",
    'A "c" | B',
    '"a" A | B',
    "x A",
    "(x | B)+",
    '"a" start? "b"',
    'A start? "b" | B',
]


class Made(NamedTuple):
    """A part, or a constraint composed of some, and its texts by the definition."""

    constraint: Any
    texts: frozenset[str]


@cache
def made_of_grammar(text: str, ambiguity: Ambiguity) -> Made | None:
    """A grammar with the texts that it has by itself; None if there are none, or if it is refused."""
    made = grammar(text, ambiguity=ambiguity, max_configurations=64)
    try:
        alone = compile_grammar(made)
    except (EmptyLanguage, NondeterministicGrammar):
        return None
    return Made(made, frozenset(filter(alone.accepts, TEXTS)))


@st.composite
def grammars(draw: st.DrawFn, ambiguity: Ambiguity) -> Made:
    words = f"A: /{draw(PATTERNS)}/\nB: /{draw(PATTERNS)}/\nx[lazy]: /{draw(PATTERNS)}/"
    blanks = draw(st.sampled_from(["", "", "\nW: /c/\n%ignore W", "\nW: /b+/\n%ignore W"]))
    made = made_of_grammar(f"start: {draw(st.sampled_from(RULES))}\n{words}{blanks}", ambiguity)
    return draw(grammars(ambiguity)) if made is None else made


@st.composite
def patterns(draw: st.DrawFn) -> Made:
    pattern = draw(PATTERNS)
    return Made(parse(pattern), frozenset(text for text in TEXTS if re.fullmatch(pattern, text)))


def composed(part: st.SearchStrategy[Made]) -> st.SearchStrategy[Made]:
    """Sequences, alternatives and optional parts."""

    def row(parts: list[Made]) -> Made:
        texts = {""}
        for each in parts:
            texts = {before + after for before in texts for after in each.texts if len(before) + len(after) <= LENGTH}
        return Made(sequence(*[each.constraint for each in parts]), frozenset(texts))

    def either(first: Made, second: Made) -> Made:
        return Made(sequence(first.constraint) | sequence(second.constraint), first.texts | second.texts)

    return st.one_of(
        st.lists(part, min_size=2, max_size=3).map(row),
        st.tuples(part, part).map(lambda pair: either(*pair)),
        part.map(lambda one: Made(optional(one.constraint), one.texts | {""})),
    )


def accepted(constraint: Composed[Any]) -> frozenset[str]:
    try:
        return frozenset(filter(constraint.to_automaton().accepts, TEXTS))
    except EmptyLanguage:
        return frozenset()


def automaton(constraint: Parsed[Any]) -> ByteAutomaton | PushdownAutomaton:
    return constraint.to_automaton()


@given(composed(st.one_of(grammars("error"), grammars("error"), patterns())))
def test_what_is_not_refused_has_the_texts_of_its_parts(made: Made) -> None:
    try:
        found = accepted(made.constraint)
    except NondeterministicGrammar:
        return
    assert found == made.texts


@given(composed(st.one_of(grammars("parallel"), grammars("parallel"), patterns())))
def test_side_by_side_nothing_is_refused(made: Made) -> None:
    assert accepted(made.constraint) == made.texts


def test_words_of_alternatives_do_not_compete() -> None:
    either = automaton(sequence(grammar(NAMES)) | sequence(grammar(CONDITION)))
    assert all(map(either.accepts, ("if=1", "if(1)", "iffy=1")))
    assert not any(map(either.accepts, ("iffy(1)", "if", "=1")))


def test_the_last_word_of_a_part_may_end_wherever_the_part_may() -> None:
    number = grammar("start: NUMBER\nNUMBER: /[0-9.]+/")
    assert all(map(automaton(sequence(number, "[.]end")).accepts, ("1.end", "1..end", "...end")))
    marked = triggered({"<n>": (grammar('start: W+\nW: /[a-z<]+/\n%ignore " "'), "</n>")})
    assert all(map(automaton(marked).accepts, ("<n>ab</n>", "<n>ab </n>", "x<n>a b</n>y<n><</n>", "<n>ab</n></n>")))
    assert not any(map(automaton(marked).accepts, ("<n>ab", "<n></n>", "<n>ab<n>")))


def test_words_within_a_part_still_take_the_longest_match() -> None:
    alone = 'start: N "0"\nN: /[0-9]+/'
    with pytest.raises(EmptyLanguage):
        automaton(sequence("x", grammar(alone)))
    pair = automaton(sequence("x", grammar('start: N N\nN: /[a-z]+/\n%ignore " "'), "y"))
    assert all(map(pair.accepts, ("xa by", "xay yy", "xa b y")))
    assert not any(map(pair.accepts, ("xaby", "xa y", "xa b")))


def test_characters_of_several_bytes_between_parts() -> None:
    quoted = grammar('start: "«" TEXT\nTEXT: /[^»]+/')
    both = automaton(sequence(quoted, "»é?"))
    assert all(map(both.accepts, ("«a»", "«é»é", "«««»")))
    assert not any(map(both.accepts, ("«»", "«a", "«a»»")))


def test_a_word_that_another_division_would_lengthen_is_refused() -> None:
    words = 'start: A "c" | B B "d"\nA: /ab+/\nB: /b/'
    with pytest.raises(NondeterministicGrammar, match="after 'a' a word may be open while another one begins"):
        automaton(sequence("a?", grammar(words)))
    both_ways = automaton(sequence("a?", grammar(words, ambiguity="parallel")))
    assert all(map(both_ways.accepts, ("bbd", "abbd", "abbc")))
    lazy = 'start: x B\nB: "b"\nx[lazy]: "b"'
    with pytest.raises(NondeterministicGrammar, match="a word may be open while another one begins"):
        automaton(sequence("b?", grammar(lazy)))
    assert all(map(automaton(sequence("b?", grammar(lazy, ambiguity="parallel"))).accepts, ("bb", "bbb")))


def test_a_delimiter_or_blanks_that_the_grammar_ignores_are_not_refused() -> None:
    words = 'start: "{" X "}"\nX: /[a-z]+/\nBLANK: /\\s/\n%ignore BLANK'
    delimited = automaton(sequence("[a-z]*=", grammar(words)))
    assert delimited.accepts("a={b}")
    assert not delimited.accepts("a{b}")
    blanks = automaton(sequence(r"\s*", grammar(words)))
    assert all(map(blanks.accepts, ("  { a }", "{a}")))
    assert not blanks.accepts("  a")


def test_a_composition_of_compositions_keeps_its_lexers() -> None:
    inner = sequence(grammar(NAMES)) | sequence(grammar(CONDITION))
    assert isinstance(inner, Composed)
    nested = automaton(sequence("<", inner, ">", optional(sequence(grammar(NAMES)))))
    assert all(map(nested.accepts, ("<if=1>", "<if(1)>", "<if(1)>if=1")))


def test_a_grammar_twice_in_a_row_is_two_parts() -> None:
    pair = grammar("start: A B?\nA: /b[ab]/\nB: /b?/", ambiguity="parallel", max_configurations=64)
    row = automaton(sequence(pair, pair))
    assert all(map(row.accepts, ("baba", "bbbba", "babbb", "bbbbbb")))
    number = grammar('start: "#" N\nN: /[0-9#]+/')
    within = sequence(number, "-", optional(number))
    both = automaton(sequence(within, ":", within))
    assert all(map(both.accepts, ("#1-:#2-", "#1-#2:#3-#4", "##-##:##-")))
    assert not any(map(both.accepts, ("#-:#2-", "#1-2:#3-")))
    assert all(map(automaton(sequence(within) | sequence(number, "[+]")).accepts, ("#1-", "##1+", "#1-#2")))


def test_a_composing_rule_that_does_not_exist_is_refused() -> None:
    words = {"N": LexicalRule(parse("a+"))}
    with pytest.raises(GrammarError, match="'t' composes grammars and is not a rule"):
        compile_grammar(Grammar({"s": call("N")}, "s", words, composing=("t",)))
