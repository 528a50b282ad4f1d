"""Automata with a register over tokens, of the native core: what they do, beside the steps of bytes one by one; and
whatever is thrown at them, an error that says what is wrong, or an answer."""

from __future__ import annotations

import threading
from collections import deque
from random import Random
from typing import Any

import numpy as np
import pytest
from arrays import attempt, budget, corrupted, ints
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from automata import _native as over_bytes
from automata.errors import Cancelled, LimitExceeded
from tokenfst import _native as native

MANY = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEEDS = st.integers(0, 1 << 20)
TOKENS = [b"a", b"b", b"ab", b"aa", b"aaa", b"bab", b"abba", b"", b"c", "\N{SNOWMAN}".encode(), b"\xe2a"]
END, FIRST_CLASS, ROOM = 1, 2, (100, 1 << 26)
FAR = (1 << 31) - 1


def vocabulary(has_end: bool = True, tokens: list[bytes] = TOKENS) -> native.VocabularyTries:
    return native.VocabularyTries([*tokens, b""][: None if has_end else -1], ints([len(tokens)] if has_end else []))


# Automata over bytes, at random.


def register_arguments(dice: Random) -> dict[str, Any]:
    """The arguments of tables over the bytes a, b and all others."""
    size, top, num_classes = dice.randint(1, 4), dice.choice([0, 1, 3, 6]), 3
    byte_class = np.full(256, 2, np.uint8)
    byte_class[list(b"ab")] = 0, 1
    arcs: list[tuple[int, int, int, int]] = []
    offsets = [0]
    for place in range(size * num_classes):
        cuts = sorted(dice.sample(range(top + 2), 2 * dice.randint(0, min(2, top // 2 + 1))))
        for low, end in zip(cuts[::2], cuts[1::2], strict=True):
            if place % num_classes < 2 or dice.random() < 0.3:
                action = dice.choice([0, 1, 2, ~0, ~1, ~dice.randint(0, top)])
                if (end - 1 + action if action >= 0 else ~action) <= top:
                    arcs.append((low, end - 1, dice.randrange(size), action))
        offsets.append(len(arcs))
    final_from = [dice.choice([-1, 0, dice.randint(0, top)]) for _ in range(size)]
    return {
        "start": dice.randrange(size), "max_register": top, "num_classes": num_classes, "byte_class": byte_class,
        "offsets": ints(offsets), "arcs": ints(arcs, -1, 4), "final_from": ints(final_from),
    }  # fmt: skip


def random_tables(dice: Random) -> over_bytes.CountedTables:
    return over_bytes.CountedTables(**register_arguments(dice))


Place = tuple[int, int]


def read(tables: over_bytes.CountedTables, place: Place, token: bytes) -> Place | None:
    """Where the bytes of a token lead from a state with a register value."""
    reached: Place | None = place
    for byte in token:
        if reached is None:
            return None
        reached = tables.step(*reached, byte)
    return reached if token else None


def places(tables: over_bytes.CountedTables) -> list[Place]:
    return [(state, value) for state in range(tables.num_states) for value in range(tables.max_register + 1)]


# What they do


@MANY
@given(SEEDS)
def test_classes_are_the_functions_of_tokens_byte_by_byte(seed: int) -> None:
    tables, tokens = random_tables(Random(seed)), vocabulary()
    classes = native.counted_classes(tables, tokens, budget())
    numbers = classes.run_class[np.searchsorted(classes.run_end, tokens.rank_of_token[: len(TOKENS)], side="right")]
    functions: dict[int, tuple[Place | None, ...]] = {}
    for number, token in zip(numbers.tolist(), TOKENS, strict=True):
        function = tuple(read(tables, place, token) for place in places(tables))
        assert functions.setdefault(number, function) == function
        assert (number == 0) == (not any(function))
        edges = [edge for edge in classes.edges.tolist() if edge[0] == number]
        assert function == tuple(after(edges, *place) for place in places(tables))
    assert len(set(functions.values())) == len(functions)
    assert classes.num_classes == FIRST_CLASS + len(functions.keys() - {0})


def after(edges: list[list[int]], state: int, value: int) -> Place | None:
    """Where the edges of one class lead."""
    found = [edge for edge in edges if edge[1] == state and edge[2] <= value <= edge[3]]
    assert len(found) <= 1
    return (found[0][4], value + found[0][5] if found[0][5] >= 0 else ~found[0][5]) if found else None


def compiled(tables: over_bytes.CountedTables, has_end: bool, *, cut: bool = True) -> native.FiniteCore:
    classes = native.counted_classes(tables, vocabulary(has_end), budget())
    return native.FiniteCore.from_counted(vocabulary(has_end), tables, classes, not cut, 100, budget())


def least_tokens(tables: over_bytes.CountedTables) -> dict[Place, int]:
    """How many tokens each place is from one where the text may end, if it leads there, by going everywhere."""
    entering: dict[Place, set[Place]] = {}
    for place in places(tables):
        for token in TOKENS:
            reached = read(tables, place, token)
            if reached is not None:
                entering.setdefault(reached, set()).add(place)
    least = {(q, v): 0 for q, v in places(tables) if 0 <= tables.final_from[q] <= v}
    waiting = deque(least)
    while waiting:
        place = waiting.popleft()
        for before in entering.get(place, ()):
            if before not in least:
                least[before] = least[place] + 1
                waiting.append(before)
    return least


def mask_of(automaton: native.FiniteCore, state: int, remaining: int | None = None) -> set[int]:
    words = np.full(2, -1, np.int32)
    if remaining is None:
        automaton.fill_bitmask(state, words)
    else:
        automaton.fill_within(state, words, remaining)
    assert words[1] == 0
    return {token for token in range(32) if words[0] >> token & 1}


@MANY
@given(SEEDS, st.booleans())
def test_automata_are_their_steps_as_far_as_they_lead_to_an_end(seed: int, has_end: bool) -> None:
    tables = random_tables(Random(seed))
    automaton, least = compiled(tables, has_end), least_tokens(tables)
    num_places, by_state = tables.num_states + 1, automaton.min_tokens_by_state
    assert len(by_state) == automaton.num_states == num_places * (tables.max_register + 1)
    assert by_state[-1] == automaton.min_tokens(automaton.num_states - 1) == 0
    for state, value in places(tables):
        number = value * num_places + state
        expected = least.get((state, value))
        assert automaton.min_tokens(number) == by_state[number]
        assert by_state[number] == (FAR if expected is None else expected + has_end)
        is_final = automaton.is_final(number)
        assert is_final == (expected == 0)
        reached = {token: read(tables, (state, value), text) for token, text in enumerate(TOKENS)}
        live = {token: place for token, place in reached.items() if place in least}
        for token in range(len(TOKENS)):
            target = live.get(token)
            assert automaton.advance(number, token) == (target[1] * num_places + target[0] if target else None)
        ends = {len(TOKENS)} if has_end and is_final else set()
        assert mask_of(automaton, number) == {*live} | ends == mask_of(automaton, automaton.alike(number))
        for remaining in range(5):
            fits = {token for token, place in live.items() if least[place] + has_end < remaining}
            assert mask_of(automaton, number, remaining) == (fits | ends if remaining > 0 else set())


def test_runs_of_distances_are_those_of_automata_with_a_register() -> None:
    automaton = compiled(random_tables(Random(3)), True)
    key, value = automaton.min_tokens_runs
    assert (np.diff(key) > 0).all()
    assert len(key) == len(value)
    plain = native.FiniteCore.dense(
        vocabulary(), 0, np.array([True, True]), ints([[len(TOKENS), 0]]), ints([[-1, 1], [-1, 1]]), *ROOM
    )
    assert plain.min_tokens_by_state.tolist() == [1, 0]
    with pytest.raises(ValueError, match="register"):
        plain.min_tokens_runs  # noqa: B018


# What is thrown at them


def ask(automaton: native.FiniteCore) -> None:
    """Asks an automaton for all that it knows."""
    steps = dict.fromkeys([0, automaton.start, automaton.num_states // 2, automaton.num_states - 1])
    for state in steps:
        for token in (-1, 0, 3, len(TOKENS), 99):
            reached = automaton.advance(state, token)
            assert reached is None or reached < automaton.num_states
        automaton.is_final(state)
        assert automaton.alike(state) <= state
        numbers, targets = automaton.successors(state)
        assert len(numbers) == len(targets)
        for remaining in (None, 2):
            attempt(mask_of, automaton=automaton, state=state, remaining=remaining)
        attempt(lambda state=state: automaton.min_tokens(state))
    attempt(lambda: automaton.min_tokens_runs)
    if automaton.num_states < 1 << 20:
        attempt(lambda: automaton.min_tokens_by_state)
    for state in (-1, automaton.num_states):
        for method in (automaton.is_final, automaton.min_tokens, automaton.successors, automaton.alike):
            with pytest.raises(ValueError, match="not one of the automaton's"):
                method(state)


@MANY
@given(SEEDS, st.booleans(), st.data())
def test_arguments_are_refused_or_used(seed: int, has_end: bool, data: st.DataObject) -> None:
    tables = attempt(over_bytes.CountedTables, **data.draw(corrupted(register_arguments(Random(seed)))))
    if tables is None:
        return
    attempt(native.spells_all, automaton=tables, **data.draw(corrupted({"is_token_byte": np.ones(256, np.bool_)})))
    classes = attempt(native.counted_classes, automaton=tables, vocabulary=vocabulary(has_end), budget=budget())
    if classes is None:
        return
    names = ("run_end", "run_class", "num_classes", "edges")
    arguments = {name: getattr(classes, name) for name in names}
    classes = attempt(native.CountedClasses, **data.draw(corrupted(arguments)))
    options = data.draw(corrupted({"spells_all": data.draw(st.booleans()), "max_masks": 3}))
    automaton = attempt(
        native.FiniteCore.from_counted,
        vocabulary=vocabulary(has_end), automaton=tables, classes=classes, budget=budget(), **options,
    )  # fmt: skip
    if automaton is not None:
        ask(automaton)


@MANY
@given(SEEDS, st.booleans(), st.data())
def test_guarded_tables_are_refused_or_used(seed: int, has_end: bool, data: st.DataObject) -> None:
    made = compiled(random_tables(Random(seed)), has_end, cut=data.draw(st.booleans()))
    offsets, edges, max_register = made.transitions
    arguments = {
        "start": made.start, "final": made.final, "runs": made.runs, "num_classes": made.num_classes,
        "max_register": max_register, "offsets": offsets, "edges": edges, "max_masks": 3, "max_bytes": 1 << 24,
    }  # fmt: skip
    automaton = attempt(native.FiniteCore.guarded, vocabulary=vocabulary(has_end), **data.draw(corrupted(arguments)))
    if automaton is not None:
        ask(automaton)


def test_classes_of_another_automaton_are_refused() -> None:
    large = next(made for made in map(random_tables, map(Random, range(99))) if made.num_states == 4 and len(made.arcs))
    small = over_bytes.CountedTables(0, 0, 1, np.zeros(256, np.uint8), ints([0, 0]), ints([], 0, 4), ints([0]))
    classes = native.counted_classes(large, vocabulary(), budget())
    with pytest.raises(ValueError, match=r"an edge leads outside of the states|leaves the register"):
        native.FiniteCore.from_counted(vocabulary(), small, classes, True, 9, budget())
    with pytest.raises(ValueError, match="cover"):
        native.FiniteCore.from_counted(vocabulary(tokens=TOKENS[1:]), large, classes, True, 9, budget())
    empty = over_bytes.CountedTables(-1, 0, 1, np.zeros(256, np.uint8), ints([0]), ints([], 0, 4), ints([]))
    with pytest.raises(ValueError, match="no state"):
        native.counted_classes(empty, vocabulary(), budget())
    none = np.zeros(0, np.bool_)
    nothing = over_bytes.ByteTables.dense(-1, np.zeros(256, np.uint8), ints([], 0, 1), none, ints([], 0, 0))
    with pytest.raises(ValueError, match="no state"):
        native.token_classes(nothing, vocabulary(), budget())


def counting(bound: int) -> over_bytes.CountedTables:
    """`a` so many times."""
    byte_class = np.zeros(256, np.uint8)
    byte_class[ord("a")] = 1
    arcs = ints([[0, bound - 1, 0, 1]])
    return over_bytes.CountedTables(0, bound, 2, byte_class, ints([0, 0, 1]), arcs, ints([bound]))


def compile_often(tables: over_bytes.CountedTables, spent: over_bytes.Budget) -> None:
    for _ in range(10_000):
        classes = native.counted_classes(tables, vocabulary(), spent)
        native.FiniteCore.from_counted(vocabulary(), tables, classes, False, 9, spent)


@pytest.mark.parametrize("most", [0, 100, 2000, 5000, 20_000, 100_000])
def test_a_budget_that_is_small_is_an_error(most: int) -> None:
    small = over_bytes.Budget(most, 9.0)
    with pytest.raises(LimitExceeded):
        compile_often(counting((1 << 30) - 1), small)


def test_large_registers_have_few_distances_or_are_refused() -> None:
    tables = counting((1 << 30) - 1)
    automaton = native.FiniteCore.from_counted(
        vocabulary(), tables, native.counted_classes(tables, vocabulary(), budget()), True, 9, budget()
    )
    assert automaton.num_states == 2 << 30
    ask(automaton)
    for _ in range(2):
        with pytest.raises(LimitExceeded):
            automaton.min_tokens(0)
        with pytest.raises(LimitExceeded):
            automaton.fill_within(0, np.zeros(1, np.int32), 5)
    assert mask_of(automaton, 0) == {0, 3, 4}


def test_work_that_is_cancelled_stops() -> None:
    stopped = budget()
    stopped.cancel()
    with pytest.raises(Cancelled):
        compile_often(counting(5000), stopped)


def test_threads_share_an_automaton() -> None:
    tables = counting(3000)
    automaton, errors = compiled(tables, True), list[BaseException]()

    def work(seed: int) -> None:
        try:
            for state in Random(seed).sample(range(3001), 500):
                assert automaton.min_tokens(2 * state) == 1 - (state - 3000) // 3
                assert mask_of(automaton, 2 * state, 2) == _last(3000 - state)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def _last(left: int) -> set[int]:
    """The tokens after which nothing but the end is left."""
    return {0: {len(TOKENS)}, 1: {0}, 2: {3}, 3: {4}}.get(left, set())
