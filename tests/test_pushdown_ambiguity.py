"""Grammars that are not deterministic: the derivations that are named, and configurations side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from networks import language, network
from pushdown_grammars import PLAIN, A, B, S, all_texts, compiled, many, opt, outcomes, walk

from automata import (
    Expr,
    Grammar,
    Limits,
    NondeterministicGrammar,
    TooManyConfigurations,
    alternation,
    compile_grammar,
    concat,
    literal,
)
from automata.limits import Work
from automata.pushdown.compile import compile_network
from automata.pushdown.grammar import Place
from constraints import grammar

PALINDROMES = {"s": alternation(concat("a", S, "a"), concat("b", S, "b"), "a", "b")}


DANGLING = {"s": alternation(concat("i", S, opt(concat("e", S))), "x", concat("{", many(S), "}"))}


PARTING = {
    "s": alternation(concat(A, "x"), concat(B, "y")),
    "a": concat("(", opt(A), ")"),
    "b": concat("(", opt(B), ")"),
}


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (PALINDROMES, ["after '", "two derivations", "'s'"]),
        (DANGLING, ["after 'x'", "end at once"]),
        (PARTING, ["after '('", "'a', called from 's'", "'b', called from 's'"]),
    ],
)
def test_two_derivations_are_named(rules: Mapping[str, Expr], words: list[str]) -> None:
    with pytest.raises(NondeterministicGrammar) as caught:
        compiled(rules)
    for word in [*words, "parallel", "lexical"]:
        assert word in str(caught.value)
    places = {name: Place(7, 3) for name in rules}
    with pytest.raises(NondeterministicGrammar, match="line 7, column 3, in rule"):
        compile_network(network(Grammar(rules, "s")), places=places)


@pytest.mark.parametrize("rules", [PALINDROMES, DANGLING, PARTING])
def test_configurations_side_by_side(rules: Mapping[str, Expr]) -> None:
    expected = language(Grammar(rules, "s"), 6)
    alphabet = bytes(sorted({byte for text in expected for byte in text}))
    length = 6 if len(alphabet) < 4 else 5
    automaton = compile_network(network(Grammar(rules, "s")), ambiguity="parallel", max_configurations=8)
    found = outcomes(automaton, alphabet, length)
    assert found == {(text, text in expected) for text in all_texts(alphabet, length)}


@pytest.mark.parametrize("name", PLAIN)
def test_derivations_are_carried_side_by_side_only_where_there_are_several(name: str) -> None:
    rules, alphabet, length = PLAIN[name]
    alone = compiled(rules)
    beside = compile_network(network(Grammar(rules, "s")), ambiguity="parallel", max_configurations=8)
    assert walk(beside, alphabet, length) == walk(alone, alphabet, length)  # `walk` counts configurations
    most = max(len(beside.configurations(text)) for text in walk(alone, alphabet, length)[1])
    assert (beside.max_configurations == 1) == (most == 1)


def test_more_configurations_than_may_be_carried() -> None:
    automaton = compile_network(network(Grammar(DANGLING, "s")), ambiguity="parallel", max_configurations=3)
    for text in (b"iixex", b"iiixe", b"{iix}"):
        assert automaton.configurations(text)
    for text in (b"iiiixe", b"iiiixx", b"iiiiiix}"):
        with pytest.raises(TooManyConfigurations, match="max_configurations"):
            automaton.configurations(text)


def test_many_derivations_of_one_text() -> None:
    automaton = compile_grammar(Grammar({"s": alternation(concat(S, S), "a")}, "s"))
    assert automaton.accepts(b"a" * 50)
    assert automaton.max_configurations == 1


def test_mistaken_arguments() -> None:
    rules = {"s": literal("a")}
    ambiguity: Any = "maybe"
    with pytest.raises(ValueError, match='"error" or "parallel", not \'maybe\''):
        Grammar(rules, "s", ambiguity=ambiguity)
    number: Any
    for number in (0, 2**30 + 1, 2**40):
        with pytest.raises(ValueError, match=f"lies between 1 and 1,073,741,824, and is {number:,}"):
            Grammar(rules, "s", ambiguity="parallel", max_configurations=number)
    for number in (1.5, "8", None, True):
        with pytest.raises(TypeError, match=f"`max_configurations` is an integer, not {type(number).__name__}"):
            Grammar(rules, "s", max_configurations=number)
    with pytest.raises(ValueError, match="not 'maybe'"):
        grammar('root ::= "a"', ambiguity=ambiguity)
    plain = network(Grammar(rules, "s"))
    with pytest.raises(ValueError, match='"error" or "parallel", not \'maybe\''):
        compile_network(plain, ambiguity=ambiguity)
    with pytest.raises(ValueError, match="lies between 1"):
        compile_network(plain, ambiguity="parallel", max_configurations=0)


# Words that never end, labels, depth


def test_what_cannot_be_carried_is_not_expanded() -> None:
    automaton = compile_grammar(grammar('root ::= "x" | "i" root ("e" root)?', ambiguity="parallel"))
    assert automaton.overflow_states()
    assert automaton.expand(4).accepts(b"iiix")
    with pytest.raises(TooManyConfigurations):
        automaton.expand(12)


@pytest.mark.parametrize(
    "rules",
    [
        'start: start start start "a" | "b"',
        'start: start start start "c" start "a" | "b"',
        'start: start start start start start | "c" start start | "a"',
        'start: start start "a" | "a" start "c" start "c" | "c" "a" | "a"',
        'start: "a" "a" "a" start | x x start "b" | "c"\nx: x x x x | x "a" | start x "a" x | "a"',
        'start: x "c" start "b" | "a" "a" "b"\nx: x y start "b" | start "b"\ny: "a" start "a" y | x "a" | "a"',
    ],
)
def test_stacks_that_grow_together_are_found_early(rules: str) -> None:
    with pytest.raises(NondeterministicGrammar, match=r"two derivations are open|any number of rules can end at once"):
        compile_grammar(grammar(rules), work=Work(Limits(seconds=5)))
