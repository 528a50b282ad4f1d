"""No argument makes a binding of `automata._native` read or write out of bounds: calls are refused or give results.

What is made of tables that were taken, however odd they are, is called as well. A crash ends the process, so there is
little to assert; `make sanitize` runs these tests with the core built so that it reports what it would get away with.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from arrays import attempt, budget, ints
from hypothesis import given
from hypothesis import strategies as st
from random_automata import MANY, SEEDS, draw_from, some_layout, some_piece, some_tables

from automata import _native
from automata.errors import Cancelled, LimitExceeded


@given(SEEDS, st.data())
@MANY
def test_layouts(seed: int, data: st.DataObject) -> None:
    layout = attempt(_native.VisiblyPushdownLayout, **draw_from(data, some_layout(Random(seed))), budget=budget())
    if layout is None:
        return
    assert len(layout.starts) + 1 == len(layout.first_exit)
    assert len(layout.text) == layout.text_offsets[-1]
    rest = draw_from(data, {"max_states": 1000, "dense_bytes": 1 << 20})
    attempt(_native.compile_regular, layout=layout, **rest, budget=budget())
    found = attempt(_native.compile_visibly_pushdown, layout=layout, max_states=rest["max_states"], budget=budget())
    if found is not None and found[1] and not found[0][0]:
        check_steps(*found[2:])


def check_steps(
    byte_class: Any, offsets: Any, pops: Any, pushes: Any, target: Any, symbols: Any, headroom: Any, below: Any
) -> None:
    """The tables of an automaton make one, which reads texts."""
    num_states, num_symbols = len(headroom), len(symbols)
    assert len(below) == num_symbols
    num_classes, num_columns = int(byte_class.max()) + 1, (len(offsets) - 1) // num_states
    automaton = _native.PushdownTables(
        num_states, 0, byte_class, num_classes, num_columns - num_classes - 1, num_symbols, offsets, pops, pushes,
        target, np.zeros(num_symbols + 1, np.int32), ints([0, *range(num_symbols)]), 1, budget(),
    )  # fmt: skip
    for text in (b"", b"a", b"(a)", b"((ab))"):
        assert automaton.read(text, budget())[1] == -1


@given(SEEDS, st.data())
@MANY
def test_what_is_counted_in_grammars(seed: int, data: st.DataObject) -> None:
    rng = Random(seed)
    automaton = some_tables(rng)
    size = automaton.num_states
    is_counted = np.array([rng.random() < 0.7 for _ in range(size)])
    arguments = draw_from(data, {"is_counted": is_counted})
    found = attempt(_native.path_numbers, automaton=automaton, **arguments, budget=budget())
    _, least, most = found if found is not None else (False, *np.zeros((2, size), np.int32))
    numbers = np.stack([is_counted[: len(least)], least, most], axis=1).astype(np.int32)
    bounds = {"low": rng.randint(0, 4), "high": rng.choice([-1, 6])}
    rest = {"numbers": numbers, "start": rng.randrange(size), **bounds, "dense_bytes": rng.choice([0, 1 << 20])}
    attempt(_native.expanded_paths, automaton=automaton, **draw_from(data, rest), budget=budget())
    labelled = some_tables(rng, labels=rng.randint(0, 2))
    piece = attempt(_native.nfa_fragment, automaton=labelled, **draw_from(data, {"start": 0}), budget=budget())
    if piece is not None:
        assert len(piece[3]) == labelled.num_states
        assert max(piece[3]) < piece[0]


# Grammars.


def some_rules(rng: Random) -> dict[str, Any]:
    """The parts of a few rules: a start and an end for each, arcs, epsilon arcs, and labels between."""
    num_rules, num_others = rng.randint(1, 3), rng.randint(0, 3)
    num_states = 2 + 3 * num_rules
    own = range(2, num_states)
    arcs = [(rng.choice(own), low := rng.randint(97, 99), rng.randint(low, 99), rng.choice(own)) for _ in range(6)]
    first = 256
    arcs += [(0, first + rule, first + rule, 2 + 3 * rule) for rule in range(num_rules)]
    first += num_rules
    arcs += [(3 + 3 * rule, first + rule, first + rule, 1) for rule in range(num_rules)]
    first += num_rules
    labels = [first + rng.randrange(num_others) for _ in range(rng.randint(0, 4) if num_others else 0)]
    arcs += [(rng.choice(own), label, label, rng.choice(own)) for label in labels]
    return {
        "num_states": num_states,
        "ranges": ints(arcs, -1, 4),
        "epsilon": ints([(rng.choice(own), rng.choice(own)) for _ in range(rng.randint(0, 3))], -1, 2),
        "num_rules": num_rules,
        "num_labels": 2 * num_rules + num_others,
        "max_states": 1000,
    }


@given(SEEDS, st.data())
@MANY
def test_rules_of_grammars(seed: int, data: st.DataObject) -> None:
    rng = Random(seed)
    found = attempt(_native.rule_tables, **draw_from(data, some_rules(rng)), budget=budget())
    if found is not None:
        byte_class, next_, rule_of, rule_start, others = found
        assert next_.shape == (len(rule_of), int(byte_class.max()) + 1 if len(rule_of) else next_.shape[1])
        assert max([-1, *next_.reshape(-1), *rule_start, *others[:, 0], *others[:, 2]]) < len(rule_of)
    size, exits = rng.randint(1, 8), rng.randint(1, 3)

    def rows(count: int, *ends: int) -> np.ndarray:
        return ints([[rng.randrange(end) for end in ends] for _ in range(count)], -1, len(ends))

    productive = {
        "num_states": size,
        "num_exits": exits,
        "edges": rows(rng.randint(0, 9), size, size),
        "returns": rows(rng.randint(0, 4), size, exits, size),
        "starts": rows(rng.randint(0, 2), size)[:, 0].copy(),
        "ends": rows(rng.randint(0, 4), size, exits),
    }
    attempt(_native.productive_exits, **draw_from(data, productive), budget=budget())


def some_trie(rng: Random, num_symbols: int) -> dict[str, Any]:
    size = rng.randint(1, 5)
    return {
        "parent": ints([0, *(rng.randrange(place) for place in range(1, size))]),
        "symbol": ints([0, *(rng.randrange(max(num_symbols, 1)) for _ in range(1, size))]),
    }


@given(SEEDS, st.binary(max_size=20), st.data())
@MANY
def test_pushdown_tables(seed: int, text: bytes, data: st.DataObject) -> None:
    rng = Random(seed)
    num_states, num_classes, num_labels, num_symbols = rng.randint(1, 4), 3, rng.randint(0, 1), rng.randint(1, 3)
    trie = some_trie(rng, num_symbols)
    counts = [rng.choice([0, 1, 1, 2]) for _ in range(num_states * (num_classes + 1 + num_labels))]
    byte_class = np.zeros(256, np.uint8)
    byte_class[97:99] = [1, 2]

    def numbers(end: int) -> np.ndarray:
        return ints([rng.randrange(end) for _ in range(sum(counts))])

    arguments = {
        "num_states": num_states,
        "start": rng.randrange(num_states),
        "byte_class": byte_class,
        "num_classes": num_classes,
        "num_labels": num_labels,
        "num_symbols": num_symbols,
        "step_offsets": ints(np.cumsum([0, *counts])),
        "pops": numbers(len(trie["parent"])),
        "pushes": numbers(len(trie["parent"])),
        "targets": numbers(num_states),
        **trie,
        "max_configurations": rng.randint(1, 3),
    }
    tables = attempt(_native.PushdownTables, **draw_from(data, arguments), budget=budget())
    if tables is not None:
        for each in (b"", b"ab" * 8, text):
            accepts, too_many = tables.read(each, budget())
            assert not accepts or too_many == -1


@given(SEEDS, st.data())
@MANY
def test_doubtful_states(seed: int, data: st.DataObject) -> None:
    rng = Random(seed)
    num_states, num_symbols, num_kinds = rng.randint(1, 5), rng.randint(0, 3), rng.randint(1, 3)
    trie = some_trie(rng, num_symbols) if num_symbols else {"parent": ints([0]), "symbol": ints([0])}
    below = [sorted(rng.sample(range(num_symbols), rng.randint(0, num_symbols))) for _ in range(num_kinds)]
    sequences = len(trie["parent"])
    moves = [[rng.randrange(end) for end in (num_states, sequences, sequences, num_states)] for _ in range(8)]
    arguments = {
        "moves": ints(moves, -1, 4),
        **trie,
        "end": rng.randrange(num_states),
        "state_kind": ints([rng.randrange(num_kinds) for _ in range(num_states)]),
        "symbol_kind": ints([rng.randrange(num_kinds) for _ in range(num_symbols)]),
        "below_offsets": ints(np.cumsum([0, *map(len, below)])),
        "below": ints([symbol for symbols in below for symbol in symbols]),
    }
    attempt(_native.possibly_dead_states, **draw_from(data, arguments), budget=budget())


def test_arguments_of_any_kind() -> None:
    """What is not an array, or one of another type, is a TypeError that names the types."""
    wide, narrow = (np.zeros((0, width), np.int32) for width in (5, 2))
    others: list[Any] = ["x", wide.astype(np.int64), narrow]
    for other in others:
        with pytest.raises(TypeError, match="incompatible function arguments"):
            _native.with_shared(other, narrow, 1, budget())
    with pytest.raises(ValueError, match="there are no negative numbers"):
        _native.with_shared(wide, narrow, -1, budget())


RULES: Any = {
    "count": 6,
    "arcs": [(0, "a", 1), (1, "b", 2), (1, "c", 3), (0, "d", 5)],
    "epsilon": [(1, 4)],
    "calls": [(3, 1, (4,)), (4, 1, (-1,))],
    "ends": [(5, 0)],
    "guarded": [(2, 4, -1, 3), (2, 3, 1, 0)],
}
PIECES: Any = {"a": [b"xy"], "b": [0, b"", b"z"], "c": [(0, 0, 1, 3, 0)], "d": [1]}
WRONG = st.sampled_from([None, (), (0,), "abc", -1, 7, 2**31 - 1, 2**40, (0, 0, 0), (1, "a", -1), [(0, 9, 9, 9, 9)]])


def lay_rules(rules: Any, pieces: Any) -> _native.VisiblyPushdownLayout:
    """Two rules with the same lists, one after the other."""
    made, work, conditions = _native.LayoutWriter(), budget(), _native.Conditions()
    assert conditions.all_of(0b11) == 3
    for _ in range(2):
        made.rule(1)
        first = made.states(rules["count"])
        made.arcs(rules["arcs"], first, lambda language: pieces.get(language, []), work)
        made.epsilon(rules["epsilon"], first, work)
        made.calls(rules["calls"], first, ints([0, 1]), work)
        made.guarded(rules["guarded"], first, conditions, work)
        made.ends(rules["ends"], first)
    for _ in range(2):
        made.fragment(_native.Fragment(2, ints([(0, 97, 98, 1)]), ints([], 0, 2), budget()))
    made.numbers(ints([(0, 0, 1), (1, 0, 1)]))
    return made.layout(0, work)


def test_rules_are_laid_out() -> None:
    layout = lay_rules(RULES, PIECES)
    assert layout.text.tobytes() == b"xyzxyz"
    # Two states before the rules; in each, two between the pieces of "b" and one where the counter is entered.
    assert (layout.num_states, layout.starts.tolist()) == (2 + 2 * (6 + 2 + 1), [2, 11])
    assert layout.chains.tolist() == [[2, 3], [8, 9], [9, 4], [11, 12], [17, 18], [18, 13]]
    assert layout.copies.tolist() == [[0, 3, 8], [1, 2, 7], [0, 12, 17], [1, 11, 16]]
    assert layout.counters.tolist() == [[10, 5, 0, 0, 1, 3, 0], [19, 14, 0, 0, 1, 3, 0]]
    assert layout.calls.tolist() == [[5, 1, 0], [6, 1, 1], [14, 1, 2], [15, 1, 3]]
    assert layout.targets.tolist() == [6, -1, 15, -1]
    assert layout.ends.tolist() == [[7, 0], [16, 1]]


@given(st.data())
@MANY
def test_odd_rules_are_refused_or_laid_out(data: st.DataObject) -> None:
    """One element of a list, or a piece of a language, is something else."""
    rules, pieces = {name: list(value) if name != "count" else value for name, value in RULES.items()}, dict(PIECES)
    where = data.draw(st.sampled_from([*rules, "pieces"]))
    if where == "count":
        rules["count"] = data.draw(WRONG)
    elif where == "pieces":
        pieces[data.draw(st.sampled_from("abcd"))] = data.draw(st.lists(WRONG, max_size=2))
    else:
        rules[where][0] = data.draw(WRONG)
    layout = attempt(lay_rules, rules=rules, pieces=pieces)
    if layout is not None:
        attempt(_native.compile_visibly_pushdown, layout=layout, max_states=1000, budget=budget())


def chain_of_rules(num_rules: int) -> dict[str, Any]:
    """Rules each of which calls the next one behind a bracket, and is closed by another."""
    rules = range(num_rules)
    return {
        "num_states": 2 + 4 * num_rules,
        "num_labels": 0,
        "starts": ints([2 + 4 * rule for rule in rules]),
        "first_exit": ints(range(num_rules + 1)),
        "text": np.frombuffer(b"()" * num_rules, np.uint8).copy(),
        "text_offsets": ints(range(2 * num_rules + 1)),
        "chains": ints([(2 + 4 * r + s, 3 + 4 * r + s) for r in rules for s in (0, 2)], -1, 2),
        "fragments": [],
        "copies": ints([], 0, 3),
        "epsilon": ints([(3 + 4 * (num_rules - 1), 4 + 4 * (num_rules - 1))], 1, 2),
        "calls": ints([(3 + 4 * r, r + 1, r) for r in rules[:-1]], -1, 3),
        "targets": ints([4 + 4 * r for r in rules[:-1]]),
        "ends": ints([(5 + 4 * r, r) for r in rules], -1, 2),
        "prepared": ints([], 0, 2),
        "counters": ints([], 0, 7),
        "numbers": ints([], 0, 3),
    }


def test_a_chain_of_rules() -> None:
    depth = 50
    layout = _native.VisiblyPushdownLayout(**chain_of_rules(depth), budget=budget())
    (wrong, _, _), has_text, byte_class, offsets, pops, pushes, target, symbols, headroom, below = (
        _native.compile_visibly_pushdown(layout, 10_000, budget())
    )
    assert (wrong, has_text, len(symbols)) == (0, True, depth - 1)
    # Each call is closed by its own bracket, and all that is open takes room.
    assert headroom[0] == depth - 1
    num_symbols = len(symbols)
    automaton = _native.PushdownTables(
        len(headroom), 0, byte_class, 3, 0, num_symbols, offsets, pops, pushes, target,
        np.zeros(num_symbols + 1, np.int32), ints([0, *range(num_symbols)]), 1, budget(),
    )  # fmt: skip
    assert automaton.read(b"(" * depth + b")" * depth, budget()) == (True, -1)
    assert automaton.read(b"(" * depth + b")" * (depth - 1), budget()) == (False, -1)
    assert len(below) == num_symbols


@pytest.mark.parametrize(("limit", "message"), [("memory", "bytes"), ("states", "states"), ("seconds", "seconds")])
def test_limits_are_errors(limit: str, message: str) -> None:
    layout = _native.VisiblyPushdownLayout(**chain_of_rules(3000), budget=budget())
    memory, seconds = (1 if limit == "memory" else 64), (0.0 if limit == "seconds" else 5.0)
    with pytest.raises(LimitExceeded, match=message) as caught:
        _native.compile_visibly_pushdown(layout, 100 if limit == "states" else 1 << 20, budget(memory, seconds))
    assert caught.value.limit == limit


def test_cancelled_work_ends() -> None:
    layout = _native.VisiblyPushdownLayout(**chain_of_rules(3000), budget=budget())
    cancelled = budget()
    cancelled.cancel()
    with pytest.raises(Cancelled):
        _native.compile_visibly_pushdown(layout, 1 << 20, cancelled)


def test_results_outlive_what_they_came_from() -> None:
    """Arrays keep alive what they show."""
    layout = _native.VisiblyPushdownLayout(**chain_of_rules(10), budget=budget())
    views: list[np.ndarray] = [layout.chains, layout.starts, layout.text]
    before = [view.copy() for view in views]
    del layout
    churn = [np.ones(1000, np.int32) for _ in range(100)]
    assert all(np.array_equal(view, copy) for view, copy in zip(views, before, strict=True))
    assert not any(view.flags.writeable for view in views)
    assert len(churn) == 100


@given(SEEDS, st.data())
@MANY
def test_images(seed: int, data: st.DataObject) -> None:
    rng = Random(seed)
    num_labels = rng.randint(0, 2)
    nfa_states, nfa_arcs, nfa_epsilon = some_piece(rng, num_labels)
    num_states, ranges, epsilon = some_piece(rng, num_labels)
    arcs = sorted(
        (source, *rng.choice([(low, high), (-1, -1)]), *rng.choice([(98, 99), (-1, -1)]), target)
        for source, low, high, target in ranges
    )
    arcs += [(num_states - 1, 97, 101, -2, -2, 0)] if arcs and arcs[-1][0] < num_states - 1 else []
    weighted = rng.random() < 0.5

    def costs(count: int) -> Any:
        return np.array([rng.random() for _ in range(count)] if weighted else [])

    arguments = {
        "nfa_states": nfa_states,
        "nfa_arcs": ints(nfa_arcs, -1, 4),
        "nfa_epsilon": ints(nfa_epsilon, -1, 2),
        "nfa_arc_costs": costs(len(nfa_arcs)),
        "nfa_epsilon_costs": costs(len(nfa_epsilon)),
        "num_states": num_states,
        "arcs": ints(arcs, -1, 6),
        "epsilon": ints(epsilon, -1, 2),
        "arc_costs": costs(len(arcs)),
        "epsilon_costs": costs(len(epsilon)),
        "num_labels": num_labels,
        "weighted": weighted,
        "each_path_once": rng.random() < 0.5,
        "max_states": 1000,
    }
    found = attempt(_native.image, **draw_from(data, arguments), budget=budget())
    if found is None:
        return
    size, made, edges, arc_costs, epsilon_costs = found
    assert len(arc_costs) in (0, len(made))
    assert len(epsilon_costs) in (0, len(edges))
    attempt(_native.minimal, num_states=size, ranges=made, epsilon=edges, num_labels=num_labels, max_states=1000,
            dense_bytes=1 << 20, budget=budget())  # fmt: skip
    with pytest.raises(LimitExceeded):
        _native.image(**arguments, budget=budget(0))
