"""Automata of random grammars: every text, every prefix, and the room below a limit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from networks import Plain, SideBySide, language, network
from pushdown_grammars import PLAIN, WORDS, all_texts, marks, outcomes, prefixes, walk

from automata import (
    EmptyLanguage,
    Expr,
    Grammar,
    GrammarError,
    LexicalRule,
    LimitExceeded,
    Limits,
    NondeterministicGrammar,
    TooManyConfigurations,
    alternation,
    call,
    compile_grammar,
    concat,
    literal,
    parse,
    repeat,
)
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_network
from automata.pushdown.step_table import Configuration

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


def lexical_bodies(names: str, words: Mapping[str, LexicalRule]) -> st.SearchStrategy[Expr]:
    """The same of words."""
    word, calls = st.sampled_from(sorted(words)).map(call), st.sampled_from(names).map(call)
    item = st.one_of(word, st.tuples(word, calls).map(lambda pair: concat(*pair)))
    sequence = st.lists(st.one_of(item, item.map(lambda expr: repeat(expr, 0, 1))), min_size=1, max_size=3)
    return st.lists(sequence.map(lambda parts: concat(*parts)), min_size=1, max_size=3).map(lambda x: alternation(*x))


def lexical_rules(words: Mapping[str, LexicalRule]) -> st.SearchStrategy[Mapping[str, Expr]]:
    return st.fixed_dictionaries({name: lexical_bodies("sx", words) for name in "sx"})


def check_words(grammar: Grammar, texts: list[bytes]) -> None:
    """Compare the automata of a grammar of words with its definition."""
    plain, beside = Plain(network(grammar)), SideBySide(network(grammar))
    alphabet, length = bytes(sorted({byte for text in texts for byte in text})), max(map(len, texts))
    expected = {text for text in texts if plain.accepts(text)}
    try:
        work = Work(Limits(seconds=1))
        parallel = compile_network(plain.network, ambiguity="parallel", max_configurations=4, work=work)
    except EmptyLanguage:
        assert not any(map(beside.accepts, texts))
    except (GrammarError, LimitExceeded):
        pass  # an end depends on more of the stack than is looked at, or that takes too long to find out
    else:
        for text in texts:
            with suppress(TooManyConfigurations):
                assert parallel.accepts(text) == beside.accepts(text)
    try:
        automaton = compile_network(plain.network)
    except EmptyLanguage:
        assert not expected
        return
    except GrammarError:
        return
    accepted, begun = walk(automaton, alphabet, length)
    assert accepted == expected
    assert prefixes(expected, length) <= begun


@settings(max_examples=30, deadline=None)
@given(lexical_rules(LEXICAL))
def test_random_grammars_of_words(rules: Mapping[str, Expr]) -> None:
    check_words(Grammar(rules, "s", LEXICAL), all_texts(b"abc", 4))


# Characters with common first bytes: C3 A9, C3 AB, E2 82 AC, E2 82 AD and E2 80 9A.
CHARACTERS = "éë€₭‚"
WIDE = {
    "name": LexicalRule(parse("[é€]+")),
    "key": LexicalRule(parse("é[é€]"), (1,)),
    "other": LexicalRule(parse("[ë‚]+é?")),
    "euro": LexicalRule(parse("€₭?"), (2,)),
    "any": LexicalRule(parse("[éë₭‚]")),
    **marks("ë₭‚"),
}


def texts_of(characters: str, length: int) -> list[bytes]:
    """All texts of some characters with a number of bytes at most."""
    found, level = [b""], [b""]
    while level:
        level = [text + each.encode() for text in level for each in characters if len(text + each.encode()) <= length]
        found += level
    return found


@settings(max_examples=40, deadline=None)
@given(lexical_rules(WIDE))
def test_words_end_between_characters_that_begin_alike(rules: Mapping[str, Expr]) -> None:
    check_words(Grammar(rules, "s", WIDE), texts_of(CHARACTERS, 9))


PATTERNS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", "[ab]", "[abc]", "é", "[éë]", "[^a]"]), st.sampled_from(["", "*", "?"])),
    min_size=1,
    max_size=4,
).map(lambda atoms: "".join(map("".join, atoms)))


@settings(max_examples=30, deadline=None)
@given(lexical_rules({**LEXICAL, "e": LexicalRule(parse("[éë]+é?"))}), st.booleans(), st.booleans(), PATTERNS)
def test_words_end_whatever_is_read_beside_them(
    rules: Mapping[str, Expr], is_lazy: bool, is_parallel: bool, pattern: str
) -> None:
    lexical = {**LEXICAL, "name": replace(LEXICAL["name"], lazy=is_lazy), "e": LexicalRule(parse("[éë]+é?"))}
    grammar = Grammar(rules, "s", lexical, ambiguity="parallel" if is_parallel else "error")
    either = "!" + alternation(call("s") + "!", parse(pattern) + "?")
    both = replace(grammar, rules={"either": either, **rules}, start="either")
    try:
        alone, together = (compile_grammar(each, work=Work(Limits(seconds=1))) for each in (grammar, both))
    except (GrammarError, EmptyLanguage, LimitExceeded):
        assume(False)
        return
    for text in map("".join, product("abcéë", repeat=3)):
        with suppress(TooManyConfigurations):
            assert together.accepts(f"!{text}!") == alone.accepts(text)
            assert together.accepts(f"!{text}?") == bool(re.fullmatch(pattern, text))
