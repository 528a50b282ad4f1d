"""Pushdown automata accept what their grammars say, go on wherever a text can, and say so where they cannot be made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pynini
import pytest
import pywrapfst
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from networks import Plain, language, network

from automata import (
    EmptyLanguage,
    Expr,
    Grammar,
    Label,
    LexicalRule,
    LimitExceeded,
    Limits,
    NondeterministicGrammar,
    TooManyConfigurations,
    alternation,
    call,
    char_set,
    compile_grammar,
    concat,
    includes,
    literal,
    parse,
    repeat,
)
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_network
from automata.pushdown.grammar import Place
from automata.pushdown.step_table import Configuration
from constraints import grammar

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


def marks(characters: str) -> dict[str, LexicalRule]:
    return {mark: LexicalRule(literal(mark)) for mark in characters}


WORDS: dict[str, tuple[Mapping[str, Expr], Mapping[str, LexicalRule], tuple[str, ...], bytes, int]] = {
    "keywords across calls": (
        {"s": alternation(concat(K, A, S), concat(A, call(";"))), "a": alternation(N, concat(call("("), A, call(")")))},
        {"name": NAME, "key": IF, "ws": WS, **marks("();")},
        ("ws",), b"abc; ", 5,
    ),
    "no white space": (
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
        return bool(max([len(stack) + room[state], *heights]) <= limit)

    moves: dict[Configuration, list[Configuration]] = {}
    todo: list[Configuration] = [(automaton.start, ())] if safe(automaton.start, ()) else []
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


@settings(max_examples=30, deadline=None)
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


LEXICAL = {
    "key": LexicalRule(literal("ab"), (1,)),
    "name": LexicalRule(parse("[ab]+")),
    "b": LexicalRule(literal("b"), (2,)),
    "cs": LexicalRule(parse("c+")),
    **marks("ac"),
}


def lexical_bodies(names: str) -> st.SearchStrategy[Expr]:
    """The same of words."""
    word, calls = st.sampled_from(sorted(LEXICAL)).map(call), st.sampled_from(names).map(call)
    item = st.one_of(word, st.tuples(word, calls).map(lambda pair: concat(*pair)))
    sequence = st.lists(st.one_of(item, item.map(lambda expr: repeat(expr, 0, 1))), min_size=1, max_size=3)
    return st.lists(sequence.map(lambda parts: concat(*parts)), min_size=1, max_size=3).map(lambda x: alternation(*x))


@settings(max_examples=30, deadline=None)
@given(st.fixed_dictionaries({name: lexical_bodies("sx") for name in "sx"}))
def test_random_grammars_of_words(rules: Mapping[str, Expr]) -> None:
    grammar = Grammar(rules, "s", LEXICAL)
    plain = Plain(network(grammar))
    expected = {text for text in all_texts(b"abc", 4) if plain.accepts(text)}
    try:
        automaton = compile_network(plain.network)
    except NondeterministicGrammar:
        return
    except EmptyLanguage:
        assert not expected
        return
    accepted, begun = walk(automaton, b"abc", 4)
    assert accepted == expected
    assert prefixes(expected, 4) <= begun


# Expansion and pictures


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["brackets", "sums", "calls that part late", "tail calls"])
def test_expansion_has_the_texts_of_runs_with_a_low_stack(name: str, depth: int) -> None:
    rules, alphabet, length = PLAIN[name]
    automaton = compiled(rules)
    expanded = automaton.expand(depth)
    for text in all_texts(alphabet, min(length, 5)):
        heights = [len(stack) for size in range(len(text) + 1) for _, stack in automaton.configurations(text[:size])]
        assert expanded.accepts(text) == (automaton.accepts(text) and max(heights) <= depth)
    assert expanded.num_states == 0 or includes(automaton.expand(depth + 1), expanded)


def with_parentheses(automaton: PushdownAutomaton) -> tuple[Any, Any]:
    """The automaton for OpenFst: what a step pops and pushes is written as brackets behind what it reads."""
    fst, parentheses = pynini.Fst(), pynini.PdtParentheses()
    one = pywrapfst.Weight.one(fst.weight_type())
    for symbol in range(automaton.num_symbols):
        parentheses.add_pair(1000 + 2 * symbol, 1001 + 2 * symbol)
    fst.add_states(automaton.num_states)
    fst.set_start(automaton.start)
    fst.set_final(automaton.num_states - 1)
    for state, steps in enumerate(automaton.steps_by_state()):
        for column, pops, pushes, target in steps:
            brackets = [1001 + 2 * symbol for symbol in reversed(pops)] + [1000 + 2 * symbol for symbol in pushes]
            read = (
                [b or 256 for b in range(256) if automaton.byte_class[b] == column]
                if column < automaton.num_classes
                else [0]
            )
            at = fst.add_state()
            for label in read:
                fst.add_arc(state, pywrapfst.Arc(label, label, one, at))
            for label in brackets:
                after = fst.add_state()
                fst.add_arc(at, pywrapfst.Arc(label, label, one, after))
                at = after
            fst.add_arc(at, pywrapfst.Arc(0, 0, one, target))
    return fst, parentheses


def test_expansion_is_what_openfst_expands() -> None:
    rules = {
        "s": alternation(concat("(", A, ")", opt(A)), concat(A, B)),
        "a": concat("[", opt(B), "]", opt("x")),
        "b": alternation(concat("x", opt("y")), concat("y", char_set("xy"))),
    }
    automaton = compiled(rules)
    assert automaton.num_symbols > 2
    expanded = pynini.pdt_expand(*with_parentheses(automaton)).rmepsilon()
    minimal = pynini.determinize(expanded).minimize()
    ours = automaton.expand(10)
    assert minimal.num_states() == ours.num_states
    assert pynini.isomorphic(minimal.arcsort(), ours.fst().arcsort())


def test_expansion_has_limits() -> None:
    automaton = compiled(PLAIN["brackets"][0])
    work = Work(Limits(states=1000))
    with pytest.raises(LimitExceeded):
        automaton.expand(20, work)
    with pytest.raises(ValueError, match="depth"):
        automaton.expand(-1)


def test_the_paper_draws_a_n_b_n() -> None:
    automaton = compiled({"s": alternation("ab", concat("a", S, "b"))})
    dot = automaton.draw(title="a^n b^n").dot
    assert [line.split("label=")[1].replace("\\", "") for line in dot.splitlines() if "->" in line] == [
        '""a" (s.0"];', '""b""];', '""a" (s.1"];', '""b" s.1)"];', '"⊣ s.0)"];'
    ]  # fmt: skip
    assert r"\"a\"-\"b\" (s.0" in compiled({"s": alternation("c", concat(char_set("ab"), S, "d"))}).draw().dot


# Grammars that are not deterministic

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
    with pytest.raises(ValueError, match='"error" or "parallel", not \'maybe\''):
        Grammar(rules, "s", ambiguity="maybe")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1, not 0"):
        Grammar(rules, "s", ambiguity="parallel", max_configurations=0)
    with pytest.raises(ValueError, match="not 'maybe'"):
        grammar('root ::= "a"', ambiguity="maybe")  # type: ignore[arg-type]
    plain = network(Grammar(rules, "s"))
    with pytest.raises(ValueError, match='"error" or "parallel", not \'maybe\''):
        compile_network(plain, ambiguity="maybe")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1"):
        compile_network(plain, ambiguity="parallel", max_configurations=0)


# Words that never end, labels, depth


def test_a_grammar_whose_word_never_ends() -> None:
    words = {"name": LexicalRule(parse("[a-z]+")), "end": LexicalRule(literal("end"))}
    with pytest.raises(EmptyLanguage, match="longest match"):
        compile_grammar(Grammar({"s": concat(N, call("end"))}, "s", words))


def test_labels_are_columns() -> None:
    automaton = compiled({"s": alternation("a", concat("(", S, Label("tool"), ")"))})
    assert automaton.labels == ("tool",)
    (configuration,) = automaton.configurations(b"(a")
    assert automaton.allowed_bytes(b"(a") == frozenset()
    (after,) = automaton.steps_from(configuration, automaton.num_classes + 1)
    assert automaton.steps_from(after, int(automaton.byte_class[ord(")")]))
    assert automaton.expand(3).labels == ("tool",)


def test_texts_nested_ten_thousand_deep() -> None:
    automaton = compiled(PLAIN["a^n b^n"][0])
    ((_, stack),) = automaton.configurations(b"a" * 10_000 + b"b" * 9_999)
    assert len(stack) <= 2
    assert automaton.accepts(b"a" * 10_000 + b"b" * 10_000)


def test_compiling_can_be_limited() -> None:
    work = Work(Limits(states=5))
    with pytest.raises(LimitExceeded, match="states"):
        compile_network(network(Grammar(PLAIN["sums"][0], "s")), work=work)


def test_what_cannot_be_carried_is_not_expanded() -> None:
    automaton = compile_grammar(grammar('root ::= "x" | "i" root ("e" root)?', ambiguity="parallel"))
    assert automaton.overflow_states()
    assert automaton.expand(4).accepts(b"iiix")
    with pytest.raises(TooManyConfigurations):
        automaton.expand(12)


@st.composite
def steps(draw: st.DrawFn) -> PushdownAutomaton:
    """Any tables at all: three states and the last one, two bytes and the others, two symbols."""
    rows = [draw(st.lists(st.tuples(*[st.integers(0, 6)] * 2, st.integers(0, 3)), max_size=2)) for _ in range(12)]
    rows += [[]] * 4
    pops, pushes, target = np.array([step for row in rows for step in row], np.int32).reshape(-1, 3).T.copy()
    byte_class = np.zeros(256, np.uint8)
    byte_class[[97, 98]] = [1, 2]
    return PushdownAutomaton(
        start=draw(st.integers(0, 2)),
        byte_class=byte_class,
        labels=(),
        num_symbols=2,
        step_offsets=np.cumsum([0, *map(len, rows)]).astype(np.int32),
        step_pops=pops,
        step_pushes=pushes,
        step_target=target,
        parent=np.array([0, 0, 0, 1, 1, 2, 3], np.int32),
        symbol=np.array([0, 0, 1, 0, 1, 0, 1], np.int32),
        headroom=np.zeros(4, np.int32),
        symbol_headroom=np.zeros(2, np.int32),
        may_lie_under=np.ones((2, 2), np.bool_),
        max_configurations=draw(st.integers(1, 3)),
    )


@given(steps(), st.lists(st.text("abc", max_size=12).map(str.encode), min_size=1, max_size=20))
def test_the_core_reads_as_the_plainest_way_does(automaton: PushdownAutomaton, texts: list[bytes]) -> None:
    for text in texts:
        try:
            found = automaton.configurations(text)
        except TooManyConfigurations as problem:
            with pytest.raises(TooManyConfigurations, match=re.escape(str(problem))):
                automaton.accepts(text)
        else:
            assert automaton.accepts(text) == any(automaton.steps_from(each, automaton.num_classes) for each in found)
