"""Pushdown automata accept what their grammars say, go on wherever a text can, and say so where they cannot be made."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pytest

from automata import Expr, Grammar, LexicalRule, alternation, call, char_set, compile_grammar, concat, literal, parse, repeat
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_network
from networks import Plain, language, network

A, B, S = call("a"), call("b"), call("s")


def opt(expr: Expr | str) -> Expr:
    return repeat(expr, 0, 1)


def many(expr: Expr | str) -> Expr:
    return repeat(expr, 0)


PLAIN: dict[str, tuple[Mapping[str, Expr], bytes, int]] = {
    "a^n b^n": ({"s": opt(concat("a", S, "b"))}, b"ab", 10),
    "brackets": ({"s": many(alternation(concat("(", S, ")"), concat("[", S, "]")))}, b"()[]", 8),
    "right recursion": ({"s": alternation(concat("a", S), "b")}, b"ab", 8),
    "start called inside": ({"s": alternation("x", concat("(", S, many(concat(",", S)), ")"))}, b"x(,)", 8),
    "sums": (
        {
            "s": concat(A, many(concat("+", A))),
            "a": alternation(concat("-", A), "1", concat("x", opt(concat("(", opt(S), ")"))), concat("(", S, ")")),
        },
        b"+-1x()",
        5,
    ),
    "nullable in the middle": ({"s": concat(A, B, "c"), "a": opt(concat("a", A)), "b": opt(concat("b", S))}, b"abc", 8),
    "equal ends": ({"s": alternation(concat(A, "x"), concat(B, "y")), "a": concat("a", "c"), "b": concat("a", opt("c"))}, b"acxy", 6),
    "two that merge": ({"s": concat(A, opt(S)), "a": concat("a", many("w")), "b": literal("b")}, b"aw", 7),
    "spaces claimed twice": (
        {"s": concat("(", many("w"), opt(concat(S, many("w"))), ")", many("w"))}, b"(w)", 9,
    ),
    "calls that part late": (
        {"s": alternation(concat(A, ";"), concat(B, "=", A, ";")), "a": alternation("x", concat("x", "(", A, ")")),
         "b": alternation("x", concat("x", "[", A, "]"))}, b"x;=()[]", 7,
    ),
    "tail calls": ({"s": concat("a", A), "a": alternation(concat("b", S), concat("(", S, ")"), "c")}, b"abc()", 7),
}  # fmt: skip


def compiled(rules: Mapping[str, Expr]) -> PushdownAutomaton:
    return compile_network(network(Grammar(rules, "s")))


def all_texts(alphabet: bytes, length: int) -> list[bytes]:
    return [bytes(text) for size in range(length + 1) for text in product(alphabet, repeat=size)]


def walk(automaton: PushdownAutomaton, alphabet: bytes, length: int) -> tuple[set[bytes], set[bytes]]:
    """The texts up to a length that are accepted, and those that are begun."""
    accepted, begun, level = set(), set(), [b""]
    for _ in range(length + 1):
        level = [text for text in level if automaton.configurations(text)]
        begun |= set(level)
        accepted |= {text for text in level if automaton.accepts(text)}
        level = [text + bytes([byte]) for text in level for byte in alphabet]
    return accepted, begun


def prefixes(texts: set[bytes], length: int) -> set[bytes]:
    return {text[:size] for text in texts for size in range(min(len(text), length) + 1)}


@pytest.mark.parametrize("inlined", [False, True])
@pytest.mark.parametrize("name", PLAIN)
def test_accepts_what_the_rules_say(name: str, inlined: bool) -> None:
    rules, alphabet, length = PLAIN[name]
    expected = language(Grammar(rules, "s"), length)
    automaton = compile_grammar(Grammar(rules, "s")) if inlined else compiled(rules)
    accepted, begun = walk(automaton, alphabet, length)
    assert accepted == expected
    assert prefixes(expected, length) <= begun
    assert {text for text in begun if len(text) <= length // 3} == prefixes(expected, length // 3)
    assert automaton.max_configurations == 1
