"""Byte automata: tables, ranges and the OpenFst acceptor are one automaton, and questions about it are answered."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pynini
import pytest
import pywrapfst
from hypothesis import given
from hypothesis import strategies as st
from strategies import accepted, exprs, strings, up_to

from automata import EMPTY, ByteAutomaton, EmptyLanguage, Expr, Label, compile_expr, concat, literal, parse
from automata.queries import equivalent, random_strings, shortest


def compiled(pattern: str) -> ByteAutomaton:
    return compile_expr(parse(pattern))


@given(exprs())
def test_the_tables_are_deterministic_trim_and_minimal(expr: Expr) -> None:
    automaton = compile_expr(expr)
    table = automaton.by_byte()
    assert table.shape == (automaton.num_states, 256)
    assert automaton.next.shape == (automaton.num_states, automaton.num_classes)
    assert automaton.next.max(initial=-1) < automaton.num_states
    columns = {column.tobytes() for column in automaton.next.T}
    assert automaton.is_empty or len(columns) == automaton.num_classes
    fst = automaton.fst()
    assert fst.verify()
    assert fst.properties(pywrapfst.ACCEPTOR | pywrapfst.I_DETERMINISTIC | pywrapfst.NO_EPSILONS, True)
    minimal = pywrapfst.determinize(fst.copy()).connect()
    minimal.minimize()
    assert minimal.num_states() == automaton.num_states == fst.num_states()


@given(exprs(), exprs())
def test_equal_languages_have_equal_tables(expr: Expr, other: Expr) -> None:
    # The long way round goes through OpenFst, over another partition of the bytes.
    around = compile_expr((expr | other) - (other - expr))
    straight = compile_expr(expr)
    assert around.start == straight.start == (-1 if straight.is_empty else 0)
    assert np.array_equal(around.by_byte(), straight.by_byte())
    assert np.array_equal(around.final, straight.final)


@given(exprs())
def test_the_acceptor_accepts_what_the_tables_accept(expr: Expr) -> None:
    automaton = compile_expr(expr)
    fst = automaton.fst()
    for text in [*strings(b"ab\xc3\xa9", 2), *accepted(automaton, b"ab\xc3\xa9", 4)]:
        state = fst.start()
        for byte in text:
            state = (
                next((arc.nextstate for arc in fst.arcs(state) if arc.ilabel == (byte or 256)), -1)
                if state >= 0
                else -1
            )
        ends = state >= 0 and fst.final(state) != pywrapfst.Weight.zero("tropical")
        assert ends == automaton.accepts(text)


def test_pynini_agrees() -> None:
    """A pattern built by hand with pynini is the same language."""
    ours = compiled("(?:ab|c)*b?").fst()
    theirs = pynini.concat(pynini.union("ab", "c").closure(), pynini.union("b", ""))
    assert pynini.equivalent(pynini.determinize(theirs.rmepsilon()), ours)


def test_pynini_reads_the_acceptor_as_one_of_its_own() -> None:
    fst = compiled("gr[ae]y|schwarz").fst()
    assert isinstance(fst, pynini.Fst)
    assert fst.input_symbols() is None
    assert set(fst.paths().ostrings()) == {"gray", "grey", "schwarz"}
    british = pynini.cdrewrite(pynini.cross("a", "e"), "gr", "y", pynini.union(*"abcdefghijklmnopqrstuvwxyz").closure())
    assert set(pynini.project(fst @ british, "output").paths().ostrings()) == {"grey", "schwarz"}


def test_byte_0_has_a_label_of_its_own() -> None:
    fst = compiled(r"a\x00?").fst()
    labels = {arc.ilabel for state in fst.states() for arc in fst.arcs(state)}
    assert labels == {ord("a"), 256}
    # pynini cannot write it, so a composition with what pynini can write has the other texts.
    assert set((fst @ pynini.union(*"abc").closure()).project("output").paths().ostrings()) == {"a"}


def test_a_table_of_symbols_names_the_labels() -> None:
    automaton = compile_expr(concat("a", Label("<call>"), Label("<0x61>")))
    fst = automaton.fst()
    table = fst.input_symbols()
    assert [table.find(label) for label in (0, 256, 257, 258)] == ["<epsilon>", "<0x00>", "<0x61>", "<call>"]
    assert table.find("<0x62>") == ord("b")
    # A label that has the name of a byte keeps it.
    assert table.find("<0x61>") == 257
    assert table.find(ord("a")) == ""
    both = automaton.fst(labels=("<0x61>", "<call>", "more")).input_symbols()
    assert both.find("more") == 259
    with pytest.raises(ValueError, match="include those of the automaton, and '<call>' is missing"):
        automaton.fst(labels=("<0x61>", "more"))


@given(exprs())
def test_range_arcs_are_the_transitions(expr: Expr) -> None:
    automaton = compile_expr(expr)
    table = np.full((automaton.num_states, 256), -1)
    arcs = automaton.range_arcs()
    for source, low, high, target in zip(*arcs, strict=True):
        assert 0 <= low <= high <= 255
        assert (table[source, low : high + 1] == -1).all()
        table[source, low : high + 1] = target
    assert (table == automaton.by_byte()).all()
    # Sorted, and no two that could be one.
    places = [(s, lo) for s, lo in zip(arcs.source.tolist(), arcs.low.tolist(), strict=True)]
    assert places == sorted(places)
    for this, after in zip(range(len(places) - 1), range(1, len(places)), strict=True):
        joined = arcs.source[this] == arcs.source[after] and arcs.high[this] + 1 == arcs.low[after]
        assert not (joined and arcs.target[this] == arcs.target[after])


@pytest.mark.parametrize("pattern", ["(?s).*", r"(?P<BYTES>[\x00-\xff])", r"(?P<BYTES>[\xff]|\x00\xff)", "a"])
def test_runs_may_reach_the_last_byte(pattern: str) -> None:
    automaton = compiled(pattern)
    arcs = automaton.range_arcs()
    assert int((arcs.high - arcs.low + 1).sum()) == int((automaton.by_byte() >= 0).sum())


def test_stepping() -> None:
    automaton = compiled("ab*")
    inside = automaton.step(automaton.start, b"a")
    assert automaton.step(inside, b"bbb") == inside
    assert automaton.step(automaton.start, b"ba") == -1
    assert automaton.step(-1, b"a") == -1
    assert automaton.step(inside, b"") == inside


def test_tables_cannot_be_changed() -> None:
    automaton = compiled("ab*")
    for array in (automaton.byte_class, automaton.next, automaton.final):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


# Questions


@given(exprs(), exprs())
def test_equivalence_is_that_neither_holds_more(left: Expr, right: Expr) -> None:
    same = compile_expr(left - right).is_empty and compile_expr(right - left).is_empty
    assert equivalent(left, right) == same
    assert equivalent(compile_expr(left), right) == same


@pytest.mark.parametrize(("columns", "labels"), [(0, ("x",)), (1, ()), (2, ("x",)), (None, ("x",))])
def test_each_label_has_a_column(columns: int | None, labels: tuple[str, ...]) -> None:
    by_label = None if columns is None else np.full((1, columns), -1, np.int32)
    final, classes = np.array([True]), np.zeros(256, np.uint8)
    with pytest.raises(ValueError, match="no column for each"):
        ByteAutomaton.dense(0, classes, np.array([[-1]], np.int32), final, by_label, labels)
    with pytest.raises(ValueError, match="no column for each"):
        ByteAutomaton.sparse(0, np.zeros(2, np.int32), np.zeros((0, 3), np.int32), final, by_label, labels)


def test_equivalence_over_all_small_patterns() -> None:
    languages: dict[frozenset[bytes], ByteAutomaton] = {}
    for pattern in up_to(3):
        automaton = compiled(pattern)
        # Six letters tell the languages of three nodes apart.
        key = frozenset(accepted(automaton, b"abc", 6))
        assert equivalent(languages.setdefault(key, automaton), automaton)
    automata = list(languages.values())
    for left, right in pairwise(automata):
        assert not equivalent(left, right)


@given(exprs())
def test_the_shortest_text(expr: Expr) -> None:
    automaton = compile_expr(expr)
    found = shortest(automaton)
    assert found == shortest(expr)
    if automaton.is_empty:
        assert found is None
        return
    assert found is not None
    assert automaton.accepts(found)
    # By brute force over the bytes that the automaton tells apart: the first of each class.
    level = {automaton.start: b""}
    while not any(automaton.final[state] for state in level):
        following: dict[int, bytes] = {}
        for state, text in level.items():
            for byte, target in enumerate(automaton.by_byte()[state].tolist()):
                if target >= 0:
                    following[target] = min(following.get(target, text + bytes([byte])), text + bytes([byte]))
        level = following
    assert found == min(text for state, text in level.items() if automaton.final[state])


@pytest.mark.parametrize(("pattern", "text"), [("b|aa|c", b"b"), ("ba|ab|aab", b"ab"), ("a*", b""), ("[z-é]{2}", b"zz"),
                                               ("(cb|ca)x|bbbb", b"cax")])  # fmt: skip
def test_shortest_texts_by_hand(pattern: str, text: bytes) -> None:
    assert shortest(parse(pattern)) == text


@given(exprs(), st.integers(0, 3), st.integers(0, 10))
def test_random_texts_are_texts(expr: Expr, seed: int, max_length: int) -> None:
    automaton = compile_expr(expr)
    if automaton.is_empty:
        with pytest.raises(EmptyLanguage):
            random_strings(automaton, 1, seed=seed)
        return
    texts = random_strings(automaton, 20, seed=seed, max_length=max_length)
    assert len(texts) == 20
    assert all(map(automaton.accepts, texts))
    assert texts == random_strings(expr, 20, seed=seed, max_length=max_length)
    # From max_length on they take the shortest way, which visits no state twice.
    assert max(map(len, texts)) <= max_length + automaton.num_states


def test_random_texts_come_to_an_end_and_are_all_there_is() -> None:
    assert set(random_strings(parse("[abc]{0,2}"), 500, seed=0)) == set(accepted(compiled("[abc]{0,2}"), b"abc", 2))
    assert len(set(random_strings(parse("[ab]*c"), 50, seed=0))) > 10
    assert random_strings(parse("a*b"), 5, seed=0) != random_strings(parse("a*b"), 5, seed=1)
    endless = random_strings(parse("(?:[a-z]{40})*!"), 20, seed=3, max_length=50)
    assert {len(text) for text in endless} <= {1, 41, 81}


def test_nothing_to_choose_from() -> None:
    with pytest.raises(EmptyLanguage):
        random_strings(EMPTY, 3, seed=0)
    assert shortest(EMPTY) is None
    assert equivalent(EMPTY, literal("a") & "b")
    assert not equivalent(EMPTY, literal(""))
