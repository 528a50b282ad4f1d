"""Arrays and automata at random for every function of `constraints._native`: an error that says what is wrong, or an
answer."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from automata import _native as automata
from automata._native import Budget, ByteTables
from automata.errors import LimitExceeded
from constraints import _native

REFUSALS = (TypeError, ValueError, LimitExceeded)
DENSE_BYTES = 1 << 20
# From the second state of a character on (RFC 3629).
UTF8 = [
    (2, 0x00, 0x7F, 2), (2, 0xC2, 0xDF, 3), (3, 0x80, 0xBF, 2),
    (2, 0xE0, 0xE0, 4), (4, 0xA0, 0xBF, 3), (2, 0xE1, 0xEC, 5), (2, 0xEE, 0xEF, 5), (5, 0x80, 0xBF, 3),
    (2, 0xED, 0xED, 6), (6, 0x80, 0x9F, 3),
    (2, 0xF0, 0xF0, 7), (7, 0x90, 0xBF, 5), (2, 0xF1, 0xF3, 8), (8, 0x80, 0xBF, 5), (2, 0xF4, 0xF4, 9),
    (9, 0x80, 0x8F, 5),
]  # fmt: skip


def budget(memory: int = 1 << 24) -> Budget:
    return Budget(memory, 10.0)


def automaton(num_states: int, arcs: list[tuple[int, int, int, int]], epsilon: list[tuple[int, int]]) -> ByteTables:
    ranges = np.array(arcs, np.int32).reshape(-1, 4)
    empty = np.array(epsilon, np.int32).reshape(-1, 2)
    return automata.minimal(num_states, ranges, empty, 0, 100_000, DENSE_BYTES, budget())


ANY_TEXT = automaton(10, UTF8, [(0, 2), (2, 1)])
EVERY = _native.spelled(ANY_TEXT, False, budget())
USUAL = _native.spelled(ANY_TEXT, True, budget())


def listed(texts: list[str], every: Any = EVERY, besides: Any = False) -> ByteTables:
    codes = np.array([ord(letter) for text in texts for letter in text], np.int32)
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    return _native.listed_spellings(codes, offsets, every, besides, budget())


def word_list(texts: list[str]) -> ByteTables:
    return automata.word_list(tuple(sorted({text.encode() for text in texts})), DENSE_BYTES, budget())


def refused_or_done(call: Any, *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except REFUSALS:
        return None


# Few letters, so that strings have beginnings in common; of every length in UTF-8, with and without short escapes.
letters = st.sampled_from('abAF09"\\/\n\t\x00\x1f\x7fé߿ࠀ漢￿𐀀😀\U0010ffff')
texts = st.lists(st.text(letters, max_size=4), min_size=1, max_size=12, unique=True).map(sorted)


def spellings(text: str) -> list[str]:
    """Some spellings of a string, in quotes."""
    in_digits = "".join(f"\\u{unit:04x}" for unit in units(text))
    plain, ascii_only = (json.dumps(text, ensure_ascii=flag) for flag in (False, True))
    return [
        plain,
        ascii_only,
        ascii_only.replace("/", "\\/"),
        f'"{in_digits}"',
        f'"{in_digits.upper()}"'.replace("U", "u"),
    ]


def units(text: str) -> list[int]:
    data = text.encode("utf-16-be")
    return [data[at] << 8 | data[at + 1] for at in range(0, len(data), 2)]


@settings(max_examples=100, deadline=None)
@given(texts, st.text(letters, max_size=4))
def test_lists_and_spellings_of_lists_are_one_language(words: list[str], other: str) -> None:
    spelled, found = _native.spelled(word_list(words), False, budget()), listed(words)
    assert np.array_equal(spelled.arcs, found.arcs)
    assert np.array_equal(spelled.final, found.final)
    besides, usual = listed(words, besides=True), listed(words, USUAL, besides=True)
    for text in [*words, other]:
        for spelling in spellings(text):
            assert found.accepts(spelling.encode()) == (text in words)
            assert besides.accepts(spelling.encode()) == (text not in words)
        assert usual.accepts(json.dumps(text).encode()) == (text not in words)


@settings(max_examples=60, deadline=None)
@given(texts)
def test_states_between_two_characters_are_those_where_one_is_spelled(words: list[str]) -> None:
    found = listed(words)
    between = _native.between_characters(found, EVERY, budget())
    for word in words:
        for end in range(len(word) + 1):
            # Without the quote behind it.
            state = found.walk(found.start, json.dumps(word[:end]).encode()[:-1])
            assert between[state]
    assert not between[found.start]
    assert not between[found.final].any()


# Automata of any kind.

bytes_of_text = st.one_of(st.integers(0, 255), st.sampled_from([0x22, 0x5C, 0x75, 0x80, 0xBF, 0xC2, 0xE0, 0xED, 0xF4]))


@st.composite
def automata_of_any_kind(draw: st.DrawFn) -> ByteTables:
    if draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from([ANY_TEXT, EVERY, USUAL, word_list(["a", "b😀"])]))
    num_states = draw(st.integers(2, 8))
    states, arcs = st.integers(0, num_states - 1), []
    for _ in range(draw(st.integers(0, 14))):
        low, high = sorted([draw(bytes_of_text), draw(bytes_of_text)])
        arcs.append((draw(states), low, draw(st.sampled_from([low, high])), draw(states)))
    if draw(st.booleans()):
        # Most of it reads text.
        arcs += [(source % num_states, low, high, target % num_states) for source, low, high, target in UTF8]
    return automaton(num_states, arcs, [(0, draw(states)), (draw(states), 1)])


@settings(max_examples=100, deadline=None)
@given(automata_of_any_kind(), st.booleans())
def test_spellings_of_automata_of_any_kind(content: ByteTables, usual: bool) -> None:
    found = refused_or_done(_native.spelled, content, usual, budget())
    if found is not None:
        assert found.num_states >= 3
        assert not found.accepts(b"")


@settings(max_examples=100, deadline=None)
@given(automata_of_any_kind(), automata_of_any_kind(), texts, st.booleans())
def test_lists_within_automata_of_any_kind(one: ByteTables, other: ByteTables, words: list[str], besides: bool) -> None:
    for found in (one, other, refused_or_done(listed, words, one, besides)):
        if found is not None:
            refused_or_done(_native.between_characters, found, one, budget())
            refused_or_done(_native.between_characters, one, found, budget())
            refused_or_done(_native.spelled, found, besides, budget())


numbers = st.one_of(st.integers(-2, 200), st.sampled_from([-(1 << 31), 0x10FFFF, 0x110000, (1 << 31) - 1, 0xD800]))
KINDS = [np.int32, np.int64, np.uint32, np.float64, np.uint8]


@st.composite
def arrays(draw: Any) -> Any:
    if draw(st.integers(0, 9)) == 0:
        return draw(
            st.sampled_from([None, 7, b"abc", [1], np.zeros((2, 2), np.int32), np.arange(6, dtype=np.int32)[::2]])
        )
    values = np.array(draw(st.lists(numbers, max_size=9)), np.int64)
    with np.errstate(all="ignore"):
        return values.astype(draw(st.sampled_from(KINDS)) if draw(st.integers(0, 4)) == 0 else np.int32)


@settings(max_examples=100, deadline=None)
@given(arrays(), st.one_of(arrays(), st.lists(st.integers(0, 4), max_size=4)), st.booleans())
def test_lists_of_any_arrays(codes: Any, offsets: Any, besides: bool) -> None:
    if isinstance(offsets, list):
        offsets = np.cumsum([0, *offsets], dtype=np.int32)
        assume(isinstance(codes, np.ndarray))
        codes = codes[: offsets[-1]]
    refused_or_done(_native.listed_spellings, codes, offsets, EVERY, besides, budget())


@pytest.mark.parametrize("wrong", [None, 3, "x", np.zeros(3, np.int32)])
def test_what_is_no_automaton_is_a_type_error(wrong: Any) -> None:
    for call, arguments in (
        (_native.spelled, (wrong, False, budget())),
        (_native.spelled, (ANY_TEXT, False, wrong)),
        (_native.spelled, (ANY_TEXT, "no", budget())),
        (_native.between_characters, (wrong, EVERY, budget())),
        (_native.between_characters, (EVERY, wrong, budget())),
    ):
        with pytest.raises(TypeError):
            call(*arguments)


def test_empty_and_labelled_automata_are_refused() -> None:
    empty = automaton(2, [], [])
    labelled = automata.minimal(
        2, np.array([(0, 256, 256, 1)], np.int32), np.zeros((0, 2), np.int32), 1, 9, DENSE_BYTES, budget()
    )
    for wrong in (empty, labelled):
        with pytest.raises(ValueError, match=r"labels|no state"):
            _native.spelled(wrong, False, budget())
        with pytest.raises(ValueError, match=r"labels|no state"):
            listed(["a"], wrong)
        with pytest.raises(ValueError, match=r"labels|no state"):
            _native.between_characters(wrong, EVERY, budget())
    with pytest.raises(ValueError, match="does not come after"):
        listed(["b", "a"])
    with pytest.raises(ValueError, match="no string"):
        listed([])


def test_budgets_bound_what_is_made() -> None:
    words = sorted({f"{number * 7919 % 100_003:x}" for number in range(3000)})
    codes = np.array([ord(letter) for word in words for letter in word], np.int32)
    offsets = np.cumsum([0, *map(len, words)], dtype=np.int32)
    for besides in (False, True):
        whole = Budget(1 << 30, 60.0)
        _native.listed_spellings(codes, offsets, EVERY, besides, whole)
        with pytest.raises(LimitExceeded):
            _native.listed_spellings(codes, offsets, EVERY, besides, Budget(whole.peak_bytes // 2, 60.0))
        with pytest.raises(LimitExceeded):
            _native.listed_spellings(codes, offsets, EVERY, besides, Budget(1 << 30, 0.0))
    with pytest.raises(LimitExceeded):
        _native.spelled(word_list(words), False, Budget(10_000, 60.0))


_TRUTHS = st.sampled_from([True, False, None])
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["constant", "place", "integer", "plain", "multiple", "negation", "every", "some"]),
        st.integers(-1, 3),
        st.lists(st.integers(0, 7), max_size=3),
    ),
    min_size=1,
    max_size=8,
)


def _three_valued(kind: str, parts: list[bool | None]) -> bool | None:
    decisive = kind == "some"
    return decisive if decisive in parts else None if None in parts else not decisive


@given(_STEPS, st.tuples(st.integers(1, 7), st.integers(1, 7)), _TRUTHS, _TRUTHS, st.tuples(_TRUTHS, _TRUTHS))
def test_formulas_in_kleenes_logic(
    steps: list[tuple[str, int, list[int]]],
    places: tuple[int, int],
    integer: bool | None,
    plain: bool | None,
    multiples: tuple[bool | None, bool | None],
) -> None:
    formula = _native.KleeneFormula()
    values: list[bool | None] = []
    asked_too_much = False
    for kind, number, parts in steps:
        try:
            if kind == "constant":
                made, value = formula.constant(number > 0), number > 0
            elif kind == "place":
                made, value = formula.place(number, 3), None
                asked_too_much |= number > 1
                if number <= 1:
                    at = places[number]
                    value = True if not at & ~3 else None if at & 3 else False
            elif kind == "multiple":
                made, value = formula.multiple(number), multiples[number] if number <= 1 else None
                asked_too_much |= number > 1
            elif kind == "negation":
                made, value = formula.negation(number), None if values[number] is None else not values[number]
            elif kind in ("every", "some"):
                made = getattr(formula, kind)(parts)
                value = _three_valued(kind, [values[part] for part in parts])
            else:
                made, value = getattr(formula, kind)(), integer if kind == "integer" else plain
        except ValueError:
            continue  # a number below 0, or of a step that is not there
        assert made == len(values)
        values.append(value)
    known = places, integer, plain, multiples
    if not values or asked_too_much:
        with pytest.raises(ValueError, match=r"is missing|has a step"):
            formula(known)
    else:
        assert formula(known) is values[-1]
