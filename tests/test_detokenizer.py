"""The start of a text: what decoders do there, the transducer with its two states, and automata that agree with both.

First the rule over vocabularies made up here, against the definition by OpenFst and by exhaustive search; then the
decoders themselves: every sequence of a few tokens is decoded by the library, and the automaton accepts exactly those
whose text is in the language.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import exprs, up_to

import tokenfst
from automata import Expr, compile_expr, parse
from automata.errors import EmptyLanguage, VocabularyError
from automata.openfst import EPSILON, to_arcs
from tokenfst import TokenAutomaton, Vocabulary
from tokenfst.detokenizer import ROOT, detokenizer
from tokenfst.drawing import draw_detokenizer
from tokenfst.reference import Reference
from tokenfst.text_start import TextStart

# The rule, by definition ----------------------------------------------------------------

TOKENS = (b" ", b"  ", b"a", b" a", b"ab", b" b", b"a b", b"#", b"#a", b"", b" ", b"\xc3", b" \xc3", b"\xa9")
ENDS = (9,)
RULES = {
    "space": TextStart(),
    "space, as SentencePiece": TextStart(exceptions={10: b" "}, ignored=frozenset({0})),
    "all spaces of a token": TextStart(exceptions={1: b"", 6: b"ab"}),
    "mark": TextStart(b"#"),
    "mark, with exceptions": TextStart(b"#", {2: b"a", 4: b"ab"}),
    "long mark": TextStart(b"##a"),
    "nothing but exceptions": TextStart(exceptions=dict(enumerate(TOKENS))),
    "ignored": TextStart(ignored=frozenset({0, 1, 9, 10})),
}


def check(constraint: str | Expr, vocabulary: Vocabulary, length: int = 3) -> None:
    """The fast path is the definition by OpenFst, and both accept what detokenizes to a text of the language."""
    byte_automaton = compile_expr(parse(constraint) if isinstance(constraint, str) else constraint)
    try:
        fast = tokenfst.compile(constraint, vocabulary, at_text_start=True)
    except EmptyLanguage:
        with pytest.raises(EmptyLanguage):
            Reference(byte_automaton, vocabulary, at_text_start=True)
        return
    reference = Reference(byte_automaton, vocabulary, at_text_start=True)
    pairs = {(fast.start, reference.start)}
    waiting = list(pairs)
    while waiting:
        state, by_definition = waiting.pop()
        allowed = set(np.flatnonzero(fast.mask(state)).tolist())
        assert allowed == reference.allowed(by_definition), (constraint, state)
        assert fast.is_final(state) == reference.is_final(by_definition), (constraint, state)
        for token in allowed - set(vocabulary.eos_ids):
            pair = fast.advance(state, token), reference.advance(by_definition, token)
            if pair not in pairs:
                pairs.add(pair)
                waiting.append(pair)
    assert {state for state, _ in pairs} == set(range(fast.num_states - 1)), constraint
    visible = [token for token, text in enumerate(vocabulary.tokens) if text]
    for sequence in sequences(visible, length):
        text = vocabulary.detokenize(sequence, at_text_start=True)
        assert fast.accepts(sequence) == byte_automaton.accepts(text), (constraint, sequence, text)


def sequences(tokens: Sequence[int], length: int) -> Iterable[tuple[int, ...]]:
    return (sequence for n in range(length + 1) for sequence in product(tokens, repeat=n))


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    "pattern",
    [r"", r" *", r"a", r" a| b", r"#?a(b| b)?", r"(?: ?[ab])*", r"##a.*", r".*", r"é| é", r"[^ ].*", r"[^#]*", r"a b"],
)
def test_the_rule_is_its_definition(pattern: str, name: str) -> None:
    check(pattern, Vocabulary(TOKENS, ENDS, text_start=RULES[name]), length=2)


@st.composite
def beginnings(draw: st.DrawFn) -> Vocabulary:
    """Vocabularies of a few tokens with spaces, and any rule at all."""
    tokens = draw(st.lists(st.text(" aé", max_size=3).map(str.encode), min_size=1, max_size=6))
    ids = st.integers(0, len(tokens) - 1)
    exceptions = draw(st.dictionaries(ids, st.text(" a", max_size=2).map(str.encode), max_size=3))
    rule = TextStart(draw(st.sampled_from([b"", b"a", b" a"])), exceptions, draw(st.frozensets(ids, max_size=2)))
    return Vocabulary(tokens, text_start=rule)


@given(exprs(), beginnings())
def test_random_rules_are_their_definition(expr: Expr, vocabulary: Vocabulary) -> None:
    check(expr, vocabulary, length=2)


@given(st.sampled_from(up_to(3, atoms=("a", " ", "[^ ]"))), beginnings())
def test_small_patterns_under_random_rules_are_exact(pattern: str, vocabulary: Vocabulary) -> None:
    check(pattern, vocabulary)


def test_a_continued_text_knows_no_start() -> None:
    plain, ruled = Vocabulary(TOKENS, ENDS), Vocabulary(TOKENS, ENDS, text_start=TextStart(b"#"))
    for pattern in ("a", " a", "#a", ".*", ""):
        automata = [
            tokenfst.compile(pattern, plain),
            tokenfst.compile(pattern, plain, at_text_start=True),
            tokenfst.compile(pattern, ruled),
        ]
        for sequence in sequences(range(9), 3):
            assert len({automaton.accepts(sequence) for automaton in automata}) == 1
    assert plain.detokenize([3, 3], at_text_start=True) == ruled.detokenize([3, 3]) == b" a a"
    assert ruled.detokenize([9, 3, 3], at_text_start=True) == b"a a"
    assert ruled.detokenize([], at_text_start=True) == b""


def test_the_rule_belongs_to_the_digest() -> None:
    rules: list[TextStart | None] = [None, *RULES.values()]
    assert len({Vocabulary(TOKENS, ENDS, text_start=rule).digest for rule in rules}) == len(rules)
    again = TextStart(b"#", {4: b"ab", 2: b"a"})
    same = [Vocabulary(TOKENS, ENDS, text_start=rule).digest for rule in (again, RULES["mark, with exceptions"])]
    assert same[0] == same[1]


def test_rules_are_immutable_and_about_tokens_that_exist() -> None:
    exceptions = {1: b""}
    rule = TextStart(exceptions=exceptions)
    exceptions[2] = b"x"
    assert dict(rule.exceptions) == {1: b""}
    for wrong in (TextStart(exceptions={len(TOKENS): b""}), TextStart(ignored=frozenset({-1}))):
        with pytest.raises(VocabularyError, match="is outside the 14 tokens"):
            Vocabulary(TOKENS, text_start=wrong)


def test_automata_remember_where_they_begin(tmp_path: Path) -> None:
    vocabulary = Vocabulary(TOKENS, ENDS, text_start=RULES["space, as SentencePiece"])
    for at_text_start in (False, True):
        automaton = tokenfst.compile("a( b)?", vocabulary, at_text_start=at_text_start)
        automaton.save(tmp_path / "saved")
        for kept in (automaton, TokenAutomaton.load(tmp_path / "saved", vocabulary)):
            assert kept.at_text_start == at_text_start
            assert kept.accepts([3, 5]) == at_text_start
            assert kept.text([3, 5]) == (b"a b" if at_text_start else b" a b")


def test_the_transducer_has_a_state_for_the_start() -> None:
    vocabulary = Vocabulary([b" ", b" ab", b"c"], text_start=TextStart(b"#", ignored=frozenset({0})))
    start, final, arcs = to_arcs(detokenizer(vocabulary, at_text_start=True))
    assert start != ROOT
    assert {state for state in range(len(final)) if final[state]} == {start, ROOT}
    paths = {(source, read, written, target) for source, read, written, target in arcs.T.tolist()}
    assert (start, 0, EPSILON, start) in paths  # ignored
    assert (ROOT, 0, ord(" "), ROOT) in paths
    (after_a,) = (target for source, read, written, target in paths if (source, written) == (start, ord("a")))
    assert (after_a, 1, ord("b"), ROOT) in paths
    (after_mark,) = (target for source, read, written, target in paths if (source, written) == (start, ord("#")))
    assert (after_mark, 2, ord("c"), ROOT) in paths
    assert detokenizer(vocabulary).num_states() == 3
    assert detokenizer(vocabulary, at_text_start=True, compact=False).num_states() == 6
    assert "ε" in str(draw_detokenizer(vocabulary, at_text_start=True).dot)
