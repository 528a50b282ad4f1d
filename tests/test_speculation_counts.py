"""Counts of what was written: shares, what is forgotten, and files."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kinds import complete
from test_speculation import AUTOMATA
from toy_models import LETTERS

import tokenfst
from automata import AutomatonFileError, TokenNotAllowed
from decoding.speculation import ROOT, CountModel, Tree
from tokenfst import Vocabulary


def test_counts_are_shares_of_what_was_written() -> None:
    automaton = tokenfst.compile("(ab|b)*(a|cc)b?", LETTERS)
    model = CountModel(automaton, threshold=0.4)
    assert model.shares(automaton.start, None) == {}
    model.learn([[0, 5], [0, 5], [1, 0, 1, 5], [2, 0, 5]])
    # After "b" the automaton is back at its start; after "ab" the text might end, too.
    state = {0: 3 / 5, 1: 1 / 5, 2: 1 / 5}
    assert model.shares(automaton.start, None) == pytest.approx({0: (2 + 3 / 5) / 5, 1: 1.2 / 5, 2: 1.2 / 5})
    assert model.shares(automaton.start, 1) == pytest.approx({0: (1 + 3 / 5) / 2, 1: 0.2 / 2, 2: 0.2 / 2})
    assert model.shares(automaton.start, 4) == pytest.approx(state)
    after = model.shares(automaton.advance(automaton.start, 0), 0)
    assert after == pytest.approx({5: 3 / 4, 1: 1 / 4})
    tree = Tree(automaton, automaton.start)
    model.propose([tree])
    assert (tree.tokens, tree.parents) == ([0], [ROOT])
    model.threshold = 0.39
    model.propose([tree])
    likelihood: Any = pytest.approx([0.52, 0.39])
    assert (tree.tokens, tree.parents, tree.likelihood) == ([0, 5], [ROOT, 0], likelihood)


def test_a_text_that_is_forbidden_is_not_counted_nor_is_any_when_learning_is_over() -> None:
    automaton = tokenfst.compile("(ab|b)*(a|cc)b?", LETTERS)
    model = CountModel(automaton)
    model.learn([[0, 5]])
    before = model.shares(automaton.start, None)
    with pytest.raises(TokenNotAllowed):
        model.learn([[4, 0]])
    model.learning = False
    model.observe(automaton, automaton.start, None, 1)
    assert model.shares(automaton.start, None) == before


def test_counts_are_of_one_automaton_alone() -> None:
    """The automata of a batch number their states alike."""
    automaton, other = AUTOMATA["tokens"], complete("a*", LETTERS)
    model = CountModel(automaton)
    model.observe(other, other.start, None, 0)
    assert model.shares(automaton.start, None) == {}
    # The same automaton, as another request gets it.
    again = automaton.with_source(other.source)
    model.observe(again, again.start, None, 0)
    assert model.shares(automaton.start, None)[0] > 0


def test_counts_leave_out_how_far_was_counted_and_what_lies_deep_in_the_stack() -> None:
    counted, stack = AUTOMATA["counted"], AUTOMATA["stack"]
    model = CountModel(counted)
    model.learn([[0, 0, 0, 1, 5]])
    state = counted.start
    for token in [0] * 40:
        state = counted.advance(state, token)
    assert model.shares(state, None)[0] > 0
    model = CountModel(stack)
    model.learn([[0, 0, 0, 0, 4, 1, 1, 1, 1, 5]])
    deep = stack.start
    for token in [0] * 9:
        deep = stack.advance(deep, token)
    assert model.shares(deep, None)[0] > 0


def test_rare_counts_are_forgotten_where_there_are_many(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("decoding.speculation.counts.MAX_COUNTS", 20)
    automaton = tokenfst.compile("[abc]*", LETTERS)
    model, rng = CountModel(automaton), random.Random(4)
    for _ in range(200):
        model.learn([[0] * 9 + [5], [rng.choice((0, 1, 2, 4)) for _ in range(5)] + [5]])
        model.save(tmp_path / "counts.json")
        assert sum(len(entry[-1]) for entry in json.loads((tmp_path / "counts.json").read_text())["counts"]) <= 20
    shares = model.shares(automaton.start, 0)
    assert max(shares, key=lambda token: shares[token]) == 0
    assert sum(shares.values()) == pytest.approx(1)


@pytest.mark.parametrize("name", ["tokens", "counted", "stack", "canonical"])
def test_saved_counts_go_on_where_they_were(name: str, tmp_path: Path) -> None:
    automaton, path = AUTOMATA[name], tmp_path / "counts.json"
    model = CountModel(automaton, threshold=0.05)
    state, before, seen = automaton.start, None, list[tuple[Any, int | None]]()
    for step in range(12):
        tokens = np.flatnonzero(automaton.mask(state, 20 - step))
        token = int(tokens[step % len(tokens)])
        seen.append((state, before))
        model.observe(automaton, state, before, token)
        if token in automaton.vocabulary.eos_ids:
            break
        state, before = automaton.advance(state, token), token
    model.save(path)
    loaded = CountModel.load(path, automaton, threshold=0.05)
    assert [loaded.shares(*pair) for pair in seen] == [model.shares(*pair) for pair in seen]
    trees = Tree(automaton, automaton.start, max_nodes=30), Tree(automaton, automaton.start, max_nodes=30)
    model.propose(trees[:1])
    loaded.propose(trees[1:])
    assert trees[0].tokens == trees[1].tokens != []
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_files_of_other_things_are_refused(tmp_path: Path) -> None:
    automaton, path = AUTOMATA["tokens"], tmp_path / "counts.json"
    model = CountModel(automaton)
    model.learn([[0, 5]])
    model.save(path)
    held = json.loads(path.read_text())
    with pytest.raises(AutomatonFileError, match="another automaton"):
        CountModel.load(path, tokenfst.compile("(ab|b)*(a|cc)", LETTERS))
    with pytest.raises(AutomatonFileError, match="another vocabulary"):
        CountModel.load(path, tokenfst.compile("a", Vocabulary([b"a", b""], eos_ids=[1])))
    change: Any
    for change, message in [
        ({"version": 99}, "format version 99"),
        ({"format": "something"}, "does not hold counts"),
        ({"counts": [[[0], -1, [[0, -3]]]]}, "the counts of state"),
        ({"counts": [[[0], -1, [[77, 3]]]]}, "the counts of state"),
        ({"counts": [[["x"], 0, [[0, 3]]]]}, "the counts of state"),
        ({"counts": [[[0], 0, []]]}, "the counts of state"),
        ({"counts": [[[0], 0, [[0, 10**400]]]]}, "the counts of state"),
        ({"counts": [[[0], 0.5, [[0, 3]]]]}, "the counts of state"),
        ({"counts": [[[0], [[0, 3]]]]}, "readable counts"),
        ({"counts": 5}, "readable counts"),
    ]:
        path.write_text(json.dumps({**held, **change}))
        with pytest.raises(AutomatonFileError, match=message):
            CountModel.load(path, automaton)
    for content in (b"\xff{", b"[" * 200_000):
        path.write_bytes(content)
        with pytest.raises(AutomatonFileError, match="readable counts"):
            CountModel.load(path, automaton)


def test_a_threshold_is_a_probability() -> None:
    for threshold in (0.0, -1.0, 1.5):
        with pytest.raises(ValueError, match="threshold"):
            CountModel(AUTOMATA["tokens"], threshold=threshold)
