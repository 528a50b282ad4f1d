"""Pushdown automata accept what their grammars say, go on wherever a text can, and say so where they cannot be made."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pynini
import pytest
import pywrapfst
from hypothesis import given
from hypothesis import strategies as st
from networks import Plain, language, network
from pushdown_grammars import PLAIN, WORDS, A, B, N, S, all_texts, compiled, opt, prefixes, walk

from automata import (
    EmptyLanguage,
    Grammar,
    Label,
    LexicalRule,
    LimitExceeded,
    Limits,
    TooManyConfigurations,
    alternation,
    call,
    char_set,
    compile_grammar,
    concat,
    includes,
    literal,
    parse,
)
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_network


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
