"""Pushdown automata accept what their grammars say, go on wherever a text can, and say so where they cannot be made."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from automata import TooManyConfigurations, NondeterministicGrammar, Expr, Grammar, LexicalRule, alternation, call, char_set, compile_grammar, concat, literal, parse, repeat
from automata.pushdown.automaton import Configuration, PushdownAutomaton
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


# Words

NAME, IF, WS = LexicalRule(parse("[a-c]+")), LexicalRule(literal("ab"), (1,)), LexicalRule(parse(" +"))
N, K = call("name"), call("key")
WORDS: dict[str, tuple[Mapping[str, Expr], Mapping[str, LexicalRule], tuple[str, ...], bytes, int]] = {
    "keywords across calls": (
        {"s": alternation(concat(K, A, S), concat(A, call(";"))), "a": alternation(N, concat(call("("), A, call(")")))},
        {"name": NAME, "key": IF, ";": LexicalRule(literal(";")), "(": LexicalRule(literal("(")), ")": LexicalRule(literal(")")), "ws": WS},
        ("ws",), b"abc; ", 6,
    ),
    "no white space": (
        {"s": alternation(concat(K, A), A), "a": alternation(N, concat(N, call(";"), A))},
        {"name": NAME, "key": IF, ";": LexicalRule(literal(";"))}, (), b"abc;", 5,
    ),
    "a word that never ends": (
        {"s": alternation(concat(N, call("x")), concat(N, call(";")))},
        {"name": NAME, "x": LexicalRule(literal("c"), (2,)), ";": LexicalRule(literal(";"))}, (), b"abc;", 5,
    ),
    "ends by what lies below": (
        {"s": alternation(concat(call("("), A, call(")")), concat(call("["), A, call("c"), call("]"))), "a": alternation(concat(call("-"), A, call("-")), N, call("("))},
        {"name": NAME, "c": LexicalRule(literal("c")), **{mark: LexicalRule(literal(mark)) for mark in "()[]-"}}, (), b"()[]-c", 5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("inlined", [False, True])
@pytest.mark.parametrize("name", WORDS)
def test_words_are_resolved_in_all_configurations_at_once(name: str, inlined: bool) -> None:
    rules, lexical, ignored, alphabet, length = WORDS[name]
    grammar = Grammar(rules, "s", lexical, ignored)
    plain = Plain(network(grammar))
    automaton = compile_grammar(grammar) if inlined else compile_network(network(grammar))
    expected = {text for text in all_texts(alphabet, length) if plain.accepts(text)}
    accepted, begun = walk(automaton, alphabet, length)
    assert accepted == expected
    assert prefixes(expected, length) <= begun
    assert {text for text in begun if len(text) <= length // 3} == prefixes(expected, length // 3)


# Random grammars

LETTERS = st.sampled_from("ab")


def rule_bodies(names: str) -> st.SearchStrategy[Expr]:
    """Bodies that begin with a letter wherever they call, so that nothing is left recursive."""
    calls = st.sampled_from(names).map(call)
    item = st.one_of(LETTERS.map(literal), st.tuples(LETTERS, calls).map(lambda pair: concat(*pair)))
    sequence = st.lists(st.one_of(item, item.map(lambda expr: repeat(expr, 0, 1))), min_size=1, max_size=3)
    return st.lists(sequence.map(lambda parts: concat(*parts)), min_size=1, max_size=3).map(lambda x: alternation(*x))


RULES = st.fixed_dictionaries({name: rule_bodies("sx") for name in "sx"})


def has_texts(rules: Mapping[str, Expr]) -> bool:
    return all(language(Grammar(rules, name), 6) for name in rules)


def below_limit(automaton: PushdownAutomaton, limit: int) -> dict[Configuration, list[Configuration]]:
    """The moves that a limit on the height of the stack allows, from each configuration that they lead to."""
    room, symbol_room = automaton.headroom.tolist(), automaton.symbol_headroom.tolist()

    def safe(state: int, stack: tuple[int, ...]) -> bool:
        heights = [height + symbol_room[symbol] for height, symbol in enumerate(stack)]
        return max([len(stack) + room[state], *heights]) <= limit

    moves: dict[Configuration, list[Configuration]] = {}
    todo = [(automaton.start, ())] if safe(automaton.start, ()) else []
    while todo:
        configuration = todo.pop()
        if configuration not in moves:
            reached = [each for c in range(automaton.num_columns) for each in automaton.steps_from(configuration, c)]
            moves[configuration] = [each for each in reached if safe(*each)]
            todo += moves[configuration]
    return moves


def check_room(automaton: PushdownAutomaton, limit: int) -> bool:
    """Whether every configuration below a limit leads to the end of a text below it."""
    moves = below_limit(automaton, limit)
    good = {each for each in moves if each[0] == automaton.num_states - 1}
    while True:
        more = {each for each, reached in moves.items() if each not in good and good.intersection(reached)}
        if not more:
            return good == set(moves)
        good |= more


@pytest.mark.parametrize("name", [*PLAIN, *WORDS])
def test_below_a_limit_every_text_can_be_completed(name: str) -> None:
    grammar = Grammar(PLAIN[name][0], "s") if name in PLAIN else Grammar(WORDS[name][0], "s", *WORDS[name][1:3])
    automaton = compile_network(network(grammar))
    for limit in range(5):
        assert check_room(automaton, limit)
    assert len(below_limit(automaton, 4)) > 1


@settings(max_examples=60, deadline=None)
@given(RULES)
def test_random_grammars(rules: Mapping[str, Expr]) -> None:
    assume(has_texts(rules))
    grammar = Grammar(rules, "s")
    expected = language(grammar, 5)
    plain = network(grammar)
    parallel = compile_network(plain, ambiguity="parallel", max_configurations=4)
    assert outcomes(parallel, b"ab", 5) <= {(text, text in expected) for text in all_texts(b"ab", 5)}
    try:
        automata = [compile_network(plain), compile_grammar(grammar)]
    except NondeterministicGrammar:
        return
    for automaton in automata:
        accepted, begun = walk(automaton, b"ab", 5)
        assert accepted == expected
        assert prefixes(expected, 5) <= begun
        assert all(check_room(automaton, limit) for limit in range(4))
