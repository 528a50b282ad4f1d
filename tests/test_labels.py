"""Labels are symbols like bytes: an automaton with labels is the one in which unused bytes stand in their places."""

from __future__ import annotations

import numpy as np
import pynini
from hypothesis import given
from strategies import STAND_INS, exprs, relabelled

from automata import ByteAutomaton, Expr, Label, byte_set, compile_expr, from_fst, parse
from automata import expressions as ex
from automata.queries import equivalent


def ascii_only(expr: Expr) -> Expr:
    """The texts of an expression over ASCII and the stand-ins, whose bytes are in no character then."""
    return expr & byte_set([*range(0x80), *STAND_INS]).star()


@given(exprs())
def test_labels_are_symbols_like_bytes(expr: Expr) -> None:
    plain = compile_expr(ascii_only(expr))
    labels = ex.alternation(byte_set(range(0x80)), *map(Label, STAND_INS.values())).star()
    labelled = compile_expr(relabelled(expr) & labels)
    assert labelled.num_states == plain.num_states
    assert bool(labelled.labels == tuple(sorted(labelled.labels)))
    # States are numbered by bytes first, so both automata are walked side by side.
    number = {plain.start: labelled.start}
    queue = [plain.start] if plain.num_states else []
    for state in queue:
        for symbol, target in enumerate(plain.by_byte()[state].tolist()):
            found = step(labelled, number[state], symbol)
            assert (target < 0) == (found < 0)
            if target >= 0 and target not in number:
                number[target] = found
                queue.append(target)
            assert target < 0 or number[target] == found
        assert plain.final[state] == labelled.final[number[state]]
    assert len(number) == max(plain.num_states, 1)


def step(automaton: ByteAutomaton, state: int, symbol: int) -> int:
    if symbol not in STAND_INS:
        return int(automaton.by_byte()[state, symbol])
    name = STAND_INS[symbol]
    return int(automaton.by_label[state, automaton.labels.index(name)]) if name in automaton.labels else -1


@given(exprs(), exprs())
def test_equal_languages_have_equal_tables_with_labels_too(left: Expr, right: Expr) -> None:
    a, b = relabelled(left), relabelled(right)
    around, straight = compile_expr((a | b) - (b - a)), compile_expr(a)
    assert around.labels == straight.labels
    assert np.array_equal(around.by_label, straight.by_label)
    assert np.array_equal(around.by_byte(), straight.by_byte())
    assert equivalent(around, straight)


def test_a_label_prints_and_large_parts_with_labels_are_copied() -> None:
    part = ex.concat("x" * 40, Label("<|call|>"), "y" * 40)
    thrice = compile_expr(ex.repeat(part, 3, 3))
    assert (thrice.num_states, thrice.labels) == (3 * 81 + 1, ("<|call|>",))
    assert (thrice.by_label >= 0).sum() == 3
    assert str(Label("a|b")) == r"(?P<TOKEN>a\|b)"


def test_an_automaton_of_text_has_no_labels() -> None:
    automaton = compile_expr(parse("a[b-z]*"))
    assert automaton.labels == ()
    assert automaton.by_label.shape == (automaton.num_states, 0)
    assert compile_expr(Label("A") & parse("a")).labels == ()


def test_boundaries_of_pynini_are_labels_beside_bytes_and_characters_beside_those() -> None:
    fst = pynini.accep("[BOS]ab[EOS]")
    assert equivalent(from_fst(fst), Label("BOS") + "ab" + Label("EOS"))
    assert equivalent(from_fst(fst, "utf8"), ex.literal("\uf8feab\uf8ff"))
