"""Grammars with their automata, and what these accept."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from itertools import product

from networks import network

from automata import (
    Expr,
    Grammar,
    LexicalRule,
    TooManyConfigurations,
    alternation,
    call,
    concat,
    literal,
    parse,
    repeat,
)
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_network
from automata.pushdown.step_table import Configuration

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
    "equal ends": (
        {"s": alternation(concat(A, "x"), concat(B, "y")), "a": literal("ac"), "b": concat("a", opt("c"))}, b"acxy", 6,
    ),
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
    step, end = cache(automaton.steps_from), automaton.num_classes
    accepted, begun = set[bytes](), set[bytes]()
    level: dict[bytes, list[Configuration]] = {b"": automaton.configurations(b"")}
    for _ in range(length + 1):
        begun |= set(level)
        accepted |= {text for text, found in level.items() if any(step(each, end) for each in found)}
        level = {
            text + bytes([byte]): reached
            for text, found in level.items()
            for byte in alphabet
            if (reached := list({after for each in found for after in step(each, int(automaton.byte_class[byte]))}))
        }
        assert max(map(len, level.values()), default=0) <= automaton.max_configurations
    return accepted, begun


def outcomes(automaton: PushdownAutomaton, alphabet: bytes, length: int) -> set[tuple[bytes, bool]]:
    """The texts up to a length for which the automaton has an answer, and that."""
    found = set()
    for text in all_texts(alphabet, length):
        with suppress(TooManyConfigurations):
            found.add((text, automaton.accepts(text)))
    return found


def prefixes(texts: set[bytes], length: int) -> set[bytes]:
    return {text[:size] for text in texts for size in range(min(len(text), length) + 1)}


NAME, IF, WS = LexicalRule(parse("[a-c]+")), LexicalRule(literal("ab"), (1,)), LexicalRule(parse(" +"))


N, K = call("name"), call("key")


def marks(characters: str) -> dict[str, LexicalRule]:
    return {mark: LexicalRule(literal(mark)) for mark in characters}


WORDS: dict[str, tuple[Mapping[str, Expr], Mapping[str, LexicalRule], tuple[str, ...], bytes, int]] = {
    "keywords across calls": (
        {"s": alternation(concat(K, A, S), concat(A, call(";"))), "a": alternation(N, concat(call("("), A, call(")")))},
        {"name": NAME, "key": IF, "ws": WS, **marks("();")},
        ("ws",), b"abc; ", 5,
    ),
    "no whitespace": (
        {"s": alternation(concat(K, A), A), "a": alternation(N, concat(N, call(";"), A))},
        {"name": NAME, "key": IF, **marks(";")}, (), b"abc;", 5,
    ),
    "a word that never ends": (
        {"s": alternation(concat(N, call("x")), concat(N, call(";")))},
        {"name": NAME, "x": LexicalRule(literal("c"), (2,)), **marks(";")}, (), b"abc;", 5,
    ),
    "ends by what lies below": (
        {
            "s": alternation(concat(call("("), A, call(")")), concat(call("["), A, call("c"), call("]"))),
            "a": alternation(concat(call("-"), A, call("-")), N, call("(")),
        },
        {"name": NAME, **marks("()[]-c")}, (), b"()[]-c", 5,
    ),
}  # fmt: skip
