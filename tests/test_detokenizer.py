"""The start of a text: what decoders do there, the transducer with its two states, and automata that agree with both.

The rule is held, over vocabularies made up here, against the definition by OpenFst and by exhaustive search.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pynini
import pytest
import pywrapfst
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from kinds import complete
from strategies import all_sparse, exprs, relabelled, strings, up_to
from text_start_cases import llama_2, sequences
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

import tokenfst
from automata import (
    ByteAutomaton,
    Expr,
    Label,
    alternation,
    compile_expr,
    concat,
    literal,
    parse,
    repeat,
)
from automata.errors import EmptyLanguage, VocabularyError
from automata.openfst import EPSILON, byte_of_symbol, to_arcs
from decoding import generate, vocabulary_of
from tokenfst import Vocabulary
from tokenfst.drawing import draw_detokenizer
from tokenfst.finite.compile import from_bytes
from tokenfst.reference import Reference
from tokenfst.vocabulary.detokenizer import ROOT, detokenizer
from tokenfst.vocabulary.text_start import TextStart

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
        fast = complete(constraint, vocabulary, at_text_start=True)
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


@given(exprs(), beginnings())
def test_large_automata_begin_texts_as_small_ones_do(expr: Expr, vocabulary: Vocabulary) -> None:
    with all_sparse():
        check(expr, vocabulary, length=1)


@given(st.sampled_from(up_to(3, atoms=("a", " ", "[^ ]"))), beginnings())
def test_small_patterns_under_random_rules_are_exact(pattern: str, vocabulary: Vocabulary) -> None:
    check(pattern, vocabulary)


class LabelledTexts:
    """The definition with labels, by search: where a sequence of tokens can lead, and whether the text has begun."""

    def __init__(self, automaton: ByteAutomaton, vocabulary: Vocabulary, sets: dict[str, set[int]]) -> None:
        assert vocabulary.text_start
        self.automaton, self.vocabulary, self.sets, self.rule = automaton, vocabulary, sets, vocabulary.text_start

    def step(self, place: tuple[int, bool], token_id: int) -> set[tuple[int, bool]]:
        state, begun = place
        token = self.vocabulary.tokens[token_id]
        begins = begun or (bool(token) and token_id not in self.rule.ignored)
        reached = {int(self.automaton.by_label[state, column]) for column in self._labels(token_id)}
        if token:
            reached.add(self.automaton.step(state, token if begun else self.rule.first(token_id, token)))
        return {(target, begins) for target in reached if target >= 0}

    def _labels(self, token_id: int) -> list[int]:
        return [column for column, name in enumerate(self.automaton.labels) if token_id in self.sets[name]]

    def accepts(self, sequence: Sequence[int]) -> bool:
        places = {(self.automaton.start, False)}
        for token_id in sequence:
            places = {target for place in places for target in self.step(place, token_id)}
        return any(self.automaton.final[state] for state, _ in places)


def check_labels(automaton: ByteAutomaton, vocabulary: Vocabulary, sets: dict[str, set[int]]) -> None:
    search, every = LabelledTexts(automaton, vocabulary, sets), range(len(vocabulary))
    matching = {sequence for sequence in sequences(every, 3) if search.accepts(sequence)}
    try:
        fast = from_bytes(automaton, vocabulary, at_text_start=True, terminals=sets)
    except EmptyLanguage:
        assert not matching
        return
    assert {sequence for sequence in sequences(every, 3) if fast.accepts(sequence)} == matching


@given(exprs(), beginnings(), st.data())
def test_labels_at_the_start_are_their_definition(expr: Expr, vocabulary: Vocabulary, data: st.DataObject) -> None:
    automaton = compile_expr(relabelled(expr))
    assume(not automaton.is_empty)
    ids = st.sampled_from(range(len(vocabulary)))
    check_labels(automaton, vocabulary, {name: data.draw(st.sets(ids, max_size=4)) for name in automaton.labels})


@pytest.mark.parametrize("rule", [TextStart(), TextStart(b"a", {3: b""}, frozenset({2})), TextStart(b"ab")], ids=str)
def test_labels_before_texts_are_their_definition(rule: TextStart) -> None:
    vocabulary = Vocabulary([b"", b" a", b" ", b"a", b"b"], text_start=rule)
    a, b, t, u = literal("a"), literal("b"), Label("t"), Label("u")
    for constraint in (
        concat(t, a),
        concat(t, u, alternation(a, concat(a, b))),
        concat(repeat(t, 0, None), repeat(alternation(a, b), 0, 2)),
        concat(t, literal(" a"), u),
        alternation(concat(t, a, b), concat(u, b), literal("ab")),
        concat(repeat(concat(t, u), 0, None), literal("ab")),
    ):
        for sets in ({"t": {0}, "u": {0}}, {"t": {0, 1, 2}, "u": {2, 3}}, {"t": {0, 4}, "u": {0, 2}}):
            automaton = compile_expr(constraint)
            check_labels(automaton, vocabulary, {name: sets[name] for name in automaton.labels})


def test_a_marker_leaves_the_text_to_begin() -> None:
    vocabulary = Vocabulary([b"", b" a", b"a"], special_tokens={"<t>": 0}, text_start=TextStart(b"#"))
    constraint = concat(Label("<t>"), literal("a"))
    automaton = complete(constraint, vocabulary, at_text_start=True)
    assert [sequence for sequence in sequences(range(3), 3) if automaton.accepts(sequence)] == [(0, 1)]
    assert automaton.text([0, 1]) == b"a"
    continued = complete(constraint, vocabulary)
    assert [sequence for sequence in sequences(range(3), 3) if continued.accepts(sequence)] == [(0, 2)]


def test_a_continued_text_knows_no_start() -> None:
    plain, ruled = Vocabulary(TOKENS, ENDS), Vocabulary(TOKENS, ENDS, text_start=TextStart(b"#"))
    for pattern in ("a", " a", "#a", ".*", ""):
        automata = [
            complete(pattern, plain),
            complete(pattern, plain, at_text_start=True),
            complete(pattern, ruled),
        ]
        for sequence in sequences(range(9), 3):
            assert len({automaton.accepts(sequence) for automaton in automata}) == 1
    assert plain.detokenize([3, 3], at_text_start=True) == ruled.detokenize([3, 3]) == b" a a"
    assert ruled.detokenize([9, 3, 3], at_text_start=True) == b"a a"
    assert ruled.detokenize([], at_text_start=True) == b""


def test_texts_may_begin_with_a_token_that_writes_nothing_there() -> None:
    """As T5 writes two spaces with three tokens of one: what is accepted as tokens is accepted as the text."""
    vocabulary = Vocabulary([b" ", b"a", b"b", b""], 3, text_start=TextStart(b"#"))
    automaton = tokenfst.compile(" ab|", vocabulary, at_text_start=True)
    assert vocabulary.detokenize([0, 0, 1, 2], at_text_start=True) == b" ab"
    assert automaton.accepts([0, 0, 1, 2])
    assert automaton.accepts(" ab")
    assert automaton.accepts("")
    assert not automaton.accepts(" a")
    assert (automaton.explain(" a", 2).allowed, automaton.explain(" a", 1).allowed) == (True, False)


@pytest.mark.parametrize("cost", [None, 0.5])
@pytest.mark.parametrize("decoded", [False, True])
def test_a_text_begins_once_although_an_fst_returns_to_its_start(decoded: bool, cost: float | None) -> None:
    change = pynini.cdrewrite(pynini.cross("b", "c"), "", "", pynini.closure(pynini.union("a", "b", "c", " ", "#")))
    decoder = change.optimize() if decoded else None
    vocabulary = Vocabulary([b" a", b"b", b" ", b""], 3, text_start=TextStart(b"#"), detokenizer=decoder)
    fst = pynini.Fst()
    state = fst.add_state()
    fst.set_start(state)
    fst.set_final(state)
    for token in range(3):
        fst.add_arc(state, pywrapfst.Arc(token + 1, token + 1, cost or 0, state))
    automaton = tokenfst.TokenAutomaton.from_fst(fst, vocabulary, at_text_start=True)
    texts: dict[bytes, int] = {}
    for sequence in sequences(range(3), 4):
        texts.setdefault(automaton.text(sequence), len(sequence))
        assert automaton.accepts(sequence)
    for text in strings(b"abc #", 3):
        assert automaton.accepts(text) == (text in texts), text
        if cost:
            assert automaton.weight(text) == cost * texts.get(text, inf)


@pytest.mark.parametrize(("cost", "least"), [(1.0, 0.5), (-1.0, -inf)])
def test_tokens_that_a_decoder_deletes_may_lower_a_cost_without_bound(cost: float, least: float) -> None:
    letters = pynini.closure(pynini.union("a", "b"))
    deleting = pynini.cdrewrite(pynini.cross("b", ""), "", "", letters).optimize()
    vocabulary = Vocabulary([b"a", b"b", b""], 2, detokenizer=deleting)
    fst = pynini.Fst()
    state = fst.add_state()
    fst.set_start(state)
    fst.set_final(state)
    for token, each in enumerate((0.5, cost)):
        fst.add_arc(state, pywrapfst.Arc(token + 1, token + 1, each, state))
    automaton = tokenfst.TokenAutomaton.from_fst(fst, vocabulary)
    assert automaton.weight("a") == least
    assert automaton.weight("b") == inf


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
        automaton = complete("a( b)?", vocabulary, at_text_start=at_text_start)
        automaton.save(tmp_path / "saved")
        for kept in (automaton, tokenfst.load_automaton(tmp_path / "saved", vocabulary)):
            assert kept.at_text_start == at_text_start
            assert kept.accepts([3, 5]) == at_text_start
            assert kept.text([3, 5]) == (b"a b" if at_text_start else b" a b")


def test_the_transducer_has_a_state_for_the_start() -> None:
    vocabulary = Vocabulary([b" ", b" ab", b"c"], text_start=TextStart(b"#", ignored=frozenset({0})))
    start, final, arcs = to_arcs(detokenizer(vocabulary, at_text_start=True))
    assert start != ROOT
    assert {state for state in range(len(final)) if final[state]} == {start, ROOT}
    paths = {
        (source, read, written if written == EPSILON else byte_of_symbol(written), target)
        for source, read, written, target in arcs.T.tolist()
    }
    assert (start, 0, EPSILON, start) in paths  # ignored
    assert (ROOT, 0, ord(" "), ROOT) in paths
    (after_a,) = (target for source, read, written, target in paths if (source, written) == (start, ord("a")))
    assert (after_a, 1, ord("b"), ROOT) in paths
    (after_mark,) = (target for source, read, written, target in paths if (source, written) == (start, ord("#")))
    assert (after_mark, 2, ord("c"), ROOT) in paths
    assert detokenizer(vocabulary).num_states() == 3
    assert detokenizer(vocabulary, at_text_start=True, compact=False).num_states() == 6
    assert "ε" in str(draw_detokenizer(vocabulary, at_text_start=True).dot)


# The loop -------------------------------------------------------------------------------


def test_generate_writes_texts_of_their_own_or_continues_a_prompt() -> None:
    tokenizer = llama_2()
    tokenizer.add_special_tokens(["</s>"])
    fast: Any = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>")
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=len(fast), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2
    )
    model = LlamaForCausalLM(config).eval()
    vocabulary, pattern = vocabulary_of(fast), r" ?[a-z]{1,9}"
    # A piece that begins a word, as models prefer for the first.
    token = next(token for token, text in enumerate(vocabulary.tokens) if re.fullmatch(rb" [a-z]+", text))
    options: dict[str, Any] = {"max_new_tokens": 12, "temperature": 0, "sequence_bias": {(token,): 50.0}}
    for at_text_start in (False, True):
        automaton = complete(pattern, vocabulary, at_text_start=at_text_start)
        for constraint in (pattern, automaton):
            texts = generate(model, fast, ["", "hello"], constraint, at_text_start=at_text_start, **options)
            assert all(re.fullmatch(pattern, text) for text in texts), texts
            word = vocabulary.tokens[token].decode()
            assert all(text.startswith(word[1:] if at_text_start else word) for text in texts), texts
    with pytest.raises(ValueError, match="compile it with at_text_start"):
        generate(model, fast, "", complete(pattern, vocabulary), at_text_start=True)
