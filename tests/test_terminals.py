"""Labels over tokens: exactly the sequences in which each label is one token of its set, against plain search."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import complete
from strategies import exprs, relabelled, vocabularies

import constraints
import tokenfst
from automata import ByteAutomaton, EmptyLanguage, Expr, Label, UnknownTerminal, VocabularyError, compile_expr, concat
from automata.expressions.extensions import image, paragraph_token, text_token, token
from tokenfst import TokenAutomaton, Vocabulary
from tokenfst.finite.compile import from_bytes

States = frozenset[int]


class Search:
    """The definition: a token spells its bytes or stands for a label; sets of states, and those that reach an end."""

    def __init__(self, automaton: ByteAutomaton, vocabulary: Vocabulary, sets: Mapping[str, set[int]]) -> None:
        self.automaton, self.vocabulary, self.sets = automaton, vocabulary, sets
        self.alive = {state for state in range(automaton.num_states) if automaton.final[state]}
        size = -1
        while size < len(self.alive):
            size = len(self.alive)
            for state, token_id in product(range(automaton.num_states), range(len(vocabulary))):
                if self.ways(state, token_id) & self.alive:
                    self.alive.add(state)

    def ways(self, state: int, token_id: int) -> set[int]:
        reached = {self.automaton.step(state, self.vocabulary.tokens[token_id])} - {-1}
        if not self.vocabulary.tokens[token_id]:
            reached = set()
        for number, name in enumerate(self.automaton.labels):
            if token_id in self.sets[name]:
                reached |= {int(self.automaton.by_label[state, number])} - {-1}
        return reached

    def start(self) -> States:
        return frozenset({self.automaton.start} & self.alive)

    def step(self, states: States, token_id: int) -> States:
        return frozenset({target for state in states for target in self.ways(state, token_id)} & self.alive)

    def is_final(self, states: States) -> bool:
        return any(self.automaton.final[state] for state in states)


def agree(automaton: TokenAutomaton, search: Search, most: int = 60) -> None:
    """Walks both side by side from the start, over as many pairs of states as `most`."""
    vocabulary = automaton.vocabulary
    seen = {(automaton.start, search.start())}
    queue = list(seen)
    for state, states in queue:
        assert automaton.is_final(state) == search.is_final(states)
        mask = automaton.mask(state).tolist()
        for token_id in range(len(vocabulary)):
            if token_id in vocabulary.eos_ids:
                assert mask[token_id] == search.is_final(states)
                continue
            target = search.step(states, token_id)
            assert mask[token_id] == bool(target), (token_id, vocabulary.tokens[token_id])
            if target:
                pair = (automaton.advance(state, token_id), target)
                if pair not in seen and len(seen) < most:
                    seen.add(pair)
                    queue.append(pair)


@given(exprs(), vocabularies(), st.data())
def test_sequences_are_exact(expr: Expr, vocabulary: Vocabulary, data: st.DataObject) -> None:
    automaton = compile_expr(relabelled(expr))
    writable = [token_id for token_id in range(len(vocabulary)) if token_id not in vocabulary.eos_ids]
    sets = {name: data.draw(st.sets(st.sampled_from(writable), max_size=4)) if writable else set() for name in "AB"}
    search = Search(automaton, vocabulary, sets)
    if not search.start():
        with pytest.raises(EmptyLanguage):
            from_bytes(automaton, vocabulary, terminals=sets)
        return
    agree(from_bytes(automaton, vocabulary, terminals=sets), search)


TOKENS = [b"a", b"b", b"ab", b"end", b"e", b"nd", b"\n", b"x\n", b"\xc3", b"\xa9", "é".encode(), b"", b"", b""]
CALL, IMAGE_A, EOS = 11, 12, 13
VOCABULARY = Vocabulary(TOKENS, [EOS], special_tokens={"<call>": CALL})


def accepted(expr: Expr, length: int, **terminals: list[int]) -> set[tuple[int, ...]]:
    """All sequences up to a length that the automaton accepts."""
    automaton = complete(expr, VOCABULARY, terminals=terminals)
    sequences = (s for n in range(length + 1) for s in product(range(len(TOKENS) - 1), repeat=n))
    return {sequence for sequence in sequences if automaton.accepts(sequence)}


def test_a_special_token_is_asked_for_by_its_name() -> None:
    assert accepted(concat("a", token("<call>"), "b"), 4) == {(0, CALL, 1)}


def test_a_set_is_given_by_the_caller() -> None:
    assert accepted(image().plus(), 2, IMAGE=[IMAGE_A]) == {(IMAGE_A,), (IMAGE_A, IMAGE_A)}
    # A token may write text and be in a set.
    assert accepted(concat(token("few"), "b"), 2, few=[0, IMAGE_A]) == {(0, 1), (IMAGE_A, 1)}


@pytest.mark.parametrize("members", [[CALL, IMAGE_A], [0, IMAGE_A]], ids=["silent", "writing"])
@pytest.mark.parametrize("expr", [concat("a", token("<few>"), "b"), constraints.grammar('start: "a" <few> "b"')])
def test_a_set_is_read_once(expr: Any, members: list[int]) -> None:
    changed, other = {"<few>": members.copy()}, {"<few>": iter(members)}
    automata = [tokenfst.compile(expr, VOCABULARY, terminals=sets) for sets in (changed, other)]
    changed["<few>"].clear()
    for automaton in automata:
        for same in (automaton, automaton.complete()):
            state = same.advance(same.start, 0)
            assert np.flatnonzero(same.mask(state)).tolist() == members
        assert automaton.explain([0, members[0]]).expected == frozenset(b"b")


def test_text_tokens_are_whole_characters_and_paragraph_tokens_have_no_line_break() -> None:
    assert accepted(text_token(), 1) == {(token_id,) for token_id in (0, 1, 2, 3, 4, 5, 6, 7, 10)}
    assert accepted(paragraph_token(), 1) == {(token_id,) for token_id in (0, 1, 2, 3, 4, 5, 10)}


def test_a_token_that_matches_two_ways_keeps_both() -> None:
    expr = concat(text_token().plus(), "end")
    automaton = complete(expr, VOCABULARY)
    end, a = 3, 0
    assert automaton.accepts([a, end])
    # The first `end` may have been text, and the second one the ending; with one way only, one of these is lost.
    assert automaton.accepts([end, end])
    assert automaton.accepts([a, end, a, 4, 5])
    assert not automaton.accepts([end])


def test_a_label_is_one_whole_token_between_tokens() -> None:
    # b"ab" writes what the label's token a and then b would write, but a label is never part of a token.
    assert accepted(concat(token("A"), "b"), 2, A=[0]) == {(0, 1)}


def test_files_keep_terminals(tmp_path: object) -> None:
    automaton = complete(concat("a", token("<call>"), "b"), VOCABULARY)
    path = f"{tmp_path}/call.safetensors"
    automaton.save(path)
    assert tokenfst.load_automaton(path, VOCABULARY).accepts([0, CALL, 1])


def test_unknown_names_and_wrong_ids_are_errors() -> None:
    with pytest.raises(UnknownTerminal, match=r"'IMAGE'; known are <call>, PARAGRAPH_TOKEN, TEXT_TOKEN, few"):
        complete(image(), VOCABULARY, terminals={"few": [0]})
    with pytest.raises(VocabularyError, match="id 14 is outside the 14 tokens"):
        complete(image(), VOCABULARY, terminals={"IMAGE": [14]})
    with pytest.raises(VocabularyError, match="token 13 ends a sequence"):
        complete(image(), VOCABULARY, terminals={"IMAGE": [EOS]})
    with pytest.raises(EmptyLanguage):
        complete(Label("none"), VOCABULARY, terminals={"none": []})


def test_tokens_by_number() -> None:
    everything = set(range(len(TOKENS))) - {EOS}
    assert accepted(token("<[1]>"), 2) == {(1,)}
    assert accepted(concat(token("<[1,4-5]>"), token("<[12]>")), 2) == {(1, 12), (4, 12), (5, 12)}
    assert accepted(token("<[^0,2-11]>"), 2) == {(1,), (12,)}
    assert accepted(token("<[*]>"), 1) == {(token_id,) for token_id in everything}
    assert accepted(token("!<[3-12]>"), 1) == {(0,), (1,), (2,)}
    assert accepted(token("!<call>"), 1) == {(token_id,) for token_id in everything - {CALL}}
    with pytest.raises(VocabularyError, match="id 14 is outside the 14 tokens"):
        complete(token("<[0-14]>"), VOCABULARY)
    with pytest.raises(VocabularyError, match="token 13 ends a sequence"):
        complete(token("<[13]>"), VOCABULARY)
    for name, unknown in [("!<other>", "<other>"), ("!", ""), ("!!<call>", "!!<call>")]:
        with pytest.raises(UnknownTerminal, match=repr(unknown)):
            complete(token(name), VOCABULARY)


def test_names_may_have_any_form() -> None:
    brackets = Vocabulary([b"a", b"", b"", b""], eos_ids=[3], special_tokens={"[/THINK]": 1, "!x": 2})
    for name, expected in [("[/THINK]", [1]), ("![/THINK]", [0, 2]), ("!x", [2])]:
        automaton = tokenfst.compile(token(name), brackets)
        assert [one for one in range(3) if automaton.accepts([one])] == expected
