"""Lists of strings, substrings of texts, sparse automata and their composition with a vocabulary."""

from __future__ import annotations

import random
import unicodedata
from bisect import bisect_left
from importlib.resources import files
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import complete
from strategies import all_sparse, exprs, vocabularies

import tokenfst
from automata import (
    ANY_TEXT,
    EMPTY,
    EPSILON,
    ByteAutomaton,
    EmptyLanguage,
    Expr,
    Label,
    LimitExceeded,
    Limits,
    alternation,
    compile_expr,
    derivative,
    literal,
    parse,
    strings,
)
from automata.expressions.extensions import substring_of
from automata.limits import Work
from automata.queries import equivalent
from constraints import choice
from decoding.arena import Arena
from tokenfst import TokenAutomaton, Vocabulary, _native, from_tekken
from tokenfst.finite.classes import token_classes
from tokenfst.finite.compile import from_bytes
from tokenfst.vocabulary.text_start import TextStart

FEW = settings(max_examples=100)


def sparse(expr: Expr) -> ByteAutomaton:
    with all_sparse():
        automaton = compile_expr(expr)
    assert automaton.is_sparse
    return automaton


def same(left: ByteAutomaton, right: ByteAutomaton) -> bool:
    """Whether both have equal tables, which equal languages have."""
    return (
        left.start == right.start
        and np.array_equal(left.final, right.final)
        and np.array_equal(left.by_byte(), right.by_byte())
        and left.labels == right.labels
        and np.array_equal(left.by_label, right.by_label)
    )


# Lists

BYTES = st.lists(st.sampled_from(b"ab\x00\xff"), max_size=6).map(bytes)


@FEW
@given(st.lists(BYTES, max_size=12))
def test_a_list_is_the_alternation_of_its_strings(values: list[bytes]) -> None:
    expected = compile_expr(alternation(*map(literal, values)))
    assert same(compile_expr(strings(values)), expected)
    if len(set(values)) > 1:
        assert same(sparse(strings(values)), expected)


def test_lists_have_a_normal_form_and_print_as_patterns() -> None:
    assert strings([]) == EMPTY
    assert strings(["é", "é".encode()]) == literal("é")
    assert choice(["b", "a|c", "b", ""]) == strings(["", "a|c", "b"])
    assert hash(strings(["a", "b"])) == hash(strings(["b", "a"]))
    assert str("x" + choice(["b", "a|c"])) == r"x(?:a\|c|b)"
    with pytest.raises(ValueError, match="at least one"):
        choice([])


@FEW
@given(st.lists(BYTES, min_size=2, max_size=8), exprs(max_leaves=3), st.integers(0, 5))
def test_lists_compose_with_other_expressions(values: list[bytes], other: Expr, place: int) -> None:
    combine = [
        lambda own: own & other,
        lambda own: other - own,
        lambda own: own - other,
        lambda own: "<" + own + other,
        lambda own: (own | other).star(),
        lambda own: ~own,
    ][place]
    expected = compile_expr(combine(alternation(*map(literal, values))))
    assert same(compile_expr(combine(strings(values))), expected)
    with all_sparse():
        assert same(compile_expr(combine(strings(values))), expected)


def test_what_is_left_of_a_list_is_a_list() -> None:
    assert derivative(strings(["ab", "ac", "b", "é"]), "a") == strings(["b", "c"])
    assert derivative(strings(["ab", "b"]).star() + "c", b"a") == "b" + strings(["ab", "b"]).star() + "c"


# Substrings


def substrings(text: str, *, words: bool) -> set[str]:
    """By definition."""

    def inside(char: str) -> bool:
        return char.isalnum() or char == "_" or unicodedata.category(char).startswith("M")

    places = [
        place
        for place in range(len(text) + 1)
        if not words or not (0 < place < len(text) and inside(text[place - 1]) and inside(text[place]))
    ]
    return {text[start:end] for start in places for end in places if start <= end}


@settings(max_examples=150)
@given(st.text("abé字 ,_\u0301😀\xd7", max_size=14), st.booleans())
def test_a_substring_is_any_run_of_characters_or_of_words(text: str, words: bool) -> None:
    expected = compile_expr(strings(substrings(text, words=words)))
    assert same(compile_expr(substring_of(text, words=words)), expected)


def test_what_a_word_is() -> None:
    found = substrings("new York", words=True)
    assert found == {"", "new", " ", "York", "new ", " York", "new York"}
    automaton = compile_expr(substring_of("don't re-use नमस्ते twice", words=True))
    for text in ("don", "'t re-", "use", "नमस्ते", "", "don't re-use नमस्ते twice"):
        assert automaton.accepts(text.encode()), text
    for text in ("do", "नमस", "e नमस्ते", "twic"):
        assert not automaton.accepts(text.encode()), text


def test_substrings_print_and_compose() -> None:
    assert substring_of("") == EPSILON
    assert str(substring_of("a.b\n")) == r"(?P<SUBSTRING_OF>a\.b\n)"
    assert str(substring_of("a b", words=True).star()) == "(?P<SUBSTRING_OF_WORDS>a b)*"
    quoted = compile_expr('"' + (substring_of("abcab") & parse(".{2,3}")) + '"')
    expected = [text for text in substrings("abcab", words=False) if 2 <= len(text) <= 3]
    assert same(quoted, compile_expr(strings([f'"{text}"' for text in expected])))


@pytest.mark.parametrize(
    "text", ["a" * 20_000, "ab" * 10_000, "a" * 10_000 + "b" * 10_000, "字é" * 4_000, "the cat sat. " * 1_500]
)
def test_substrings_are_linear_in_the_text(text: str) -> None:
    size = len(text.encode())
    for words in (False, True):
        automaton = compile_expr(substring_of(text, words=words))
        assert automaton.num_states <= 2 * size
        assert len(automaton.range_arcs().source) <= 3 * size
        assert automaton.accepts(text.encode())
        assert not automaton.accepts((text + "a").encode())


# Sparse automata


@FEW
@given(exprs(), st.lists(st.sampled_from(b"ab\xc3\xa9\xff"), max_size=5).map(bytes))
def test_sparse_and_dense_automata_answer_alike(expr: Expr, text: bytes) -> None:
    expr = expr | Label("mark") + "a"
    dense, other = compile_expr(expr), sparse(expr)
    assert not dense.is_sparse
    assert same(dense, other)
    assert (dense.num_states, dense.num_classes, dense.is_empty) == (
        other.num_states,
        other.num_classes,
        other.is_empty,
    )
    assert np.array_equal(dense.next, other.next)
    assert np.array_equal(dense.byte_class, other.byte_class)
    for state in range(dense.num_states):
        assert dense.step(state, text) == other.step(state, text)
    assert dense.accepts(text) == other.accepts(text)
    for mine, others in zip((*dense.range_arcs(), dense.ranges()), (*other.range_arcs(), other.ranges()), strict=True):
        assert np.array_equal(mine, others)
    assert dense.fst().num_states() == other.fst().num_states()
    assert equivalent(dense, other)


def test_what_would_eat_the_machine_is_refused() -> None:
    names = choice(names_of(3000))
    for expr in (names, "<" + names, substring_of("ab" * 1000), names & parse("[A-M].*"), ~names):
        work = Work(Limits(memory=20_000))
        with pytest.raises(LimitExceeded, match="limit `memory`"):
            compile_expr(expr, work)
    work = Work(Limits(arcs=20_000))
    with pytest.raises(LimitExceeded, match="limit `arcs`"):
        compile_expr((names + ",").repeat(1, 4), work)
    automaton = sparse(names)
    with mock.patch("automata.byte_automaton.DEFAULT_LIMITS", Limits(memory=1000)):
        for ask in (lambda: automaton.next, automaton.by_byte, automaton.fst):
            with pytest.raises(LimitExceeded, match="limit `memory`"):
                ask()
    work = Work(Limits(memory=1000))
    with pytest.raises(LimitExceeded, match="limit `memory`"):
        _native.relation_classes(automaton.tables, Vocabulary([b"A", b"a", b"b", b"ab"]).native, work.budget)


# Composition


@FEW
@given(exprs(), vocabularies())
def test_both_compositions_give_equal_classes(expr: Expr, vocabulary: Vocabulary) -> None:
    dense = compile_expr(expr)
    if dense.is_empty:
        return
    work = Work()
    expected = token_classes(dense, vocabulary, work)
    found = _native.relation_classes(sparse(expr).tables, vocabulary.native, work.budget)
    for name in ("run_end", "run_class", "num_classes", "source", "edge_class", "target"):
        assert np.array_equal(getattr(expected, name), getattr(found, name))


@FEW
@given(exprs(), vocabularies())
def test_token_automata_of_sparse_automata_are_those_of_dense_ones(expr: Expr, vocabulary: Vocabulary) -> None:
    made = []
    for automaton in (compile_expr(expr), sparse(expr)):
        try:
            made.append(from_bytes(automaton, vocabulary))
        except EmptyLanguage:
            made.append(None)
    expected, found = made
    assert (expected is None) == (found is None)
    if expected is not None and found is not None:
        for mine, others in zip(expected.transitions.edges(), found.transitions.edges(), strict=True):
            assert np.array_equal(mine, others)
        for state in range(expected.num_states):
            assert np.array_equal(expected.mask(state), found.mask(state))


@FEW
@given(
    exprs(),
    st.lists(st.text(" ab", min_size=1, max_size=3), min_size=1, max_size=6),
    st.sampled_from([b" ", b"#", b"a"]),
)
def test_texts_begin_alike_over_sparse_automata(expr: Expr, tokens: list[str], prefix: bytes) -> None:
    expr = expr | Label("mark") + "a"
    vocabulary = Vocabulary(
        [*(token.encode() for token in tokens), *(bytes([byte]) for byte in range(256)), b"", b""],
        [len(tokens) + 256],
        special_tokens={"mark": len(tokens) + 257},
        text_start=TextStart(prefix),
    )
    expected, found = [
        from_bytes(automaton, vocabulary, at_text_start=True) for automaton in (compile_expr(expr), sparse(expr))
    ]
    for mine, others in zip(expected.transitions.edges(), found.transitions.edges(), strict=True):
        assert np.array_equal(mine, others)
    assert np.array_equal(expected.token_class, found.token_class)
    assert expected.start == found.start


# A hundred thousand strings over a real vocabulary


def names_of(count: int) -> list[str]:
    """Names of two words, from as many made-up words as people have first and last names."""
    generator = random.Random(7)

    def word() -> str:
        onsets = (generator.choice(("b", "d", "k", "l", "m", "n", "r", "s", "t", "br", "st")) for _ in range(3))
        return "".join(onset + generator.choice(("a", "e", "i", "o", "u", "é", "an", "er")) for onset in onsets)

    first, last = ([word().capitalize() for _ in range(number)] for number in (500, 20_000))
    return sorted({f"{generator.choice(first)} {generator.choice(last)}" for _ in range(count)})


def identifiers_of(count: int) -> list[str]:
    return sorted(f"{number:08}" for number in random.Random(11).sample(range(10**8), count))


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))


@pytest.fixture(scope="module")
def lists() -> dict[str, list[bytes]]:
    made = {"names": names_of(100_000), "identifiers": identifiers_of(100_000)}
    return {kind: sorted(text.encode() for text in texts) for kind, texts in made.items()}


@pytest.fixture(scope="module")
def compiled(vocabulary: Vocabulary, lists: dict[str, list[bytes]]) -> dict[str, TokenAutomaton]:
    return {kind: complete(choice(text.decode() for text in texts), vocabulary) for kind, texts in lists.items()}


@pytest.fixture(scope="module")
def ids(vocabulary: Vocabulary) -> dict[bytes, int]:
    return {token: token_id for token_id, token in enumerate(vocabulary.tokens) if token}


def cut(text: bytes, ids: dict[bytes, int], generator: random.Random | None) -> list[int]:
    """A tokenization: the longest token at each place, or with a generator any."""
    place, found = 0, []
    while place < len(text):
        ends = [end for end in range(min(place + 20, len(text)), place, -1) if text[place:end] in ids]
        end = generator.choice(ends) if generator else ends[0]
        found.append(ids[text[place:end]])
        place = end
    return found


KINDS = ("names", "identifiers")


@pytest.mark.parametrize("kind", KINDS)
def test_every_string_of_a_large_list_is_accepted_and_near_misses_are_not(
    kind: str, compiled: dict[str, TokenAutomaton], lists: dict[str, list[bytes]], ids: dict[bytes, int]
) -> None:
    texts, automaton, generator = lists[kind], compiled[kind], random.Random(3)
    known = set(texts)
    for text in texts[::10]:
        assert automaton.accepts(cut(text, ids, None))
    for text in generator.sample(texts, 1000):
        assert automaton.accepts(cut(text, ids, generator))
        place = generator.randrange(len(text))
        misses = {
            text[:-1],
            text + b"a",
            text + b" ",
            text[:place] + text[place + 1 :],
            text[:place] + b"7" + text[place + 1 :],
        }
        for miss in misses - known:
            assert not automaton.accepts(cut(miss, ids, generator)), miss


@pytest.mark.parametrize("kind", KINDS)
def test_masks_of_a_large_list_are_what_bisection_finds(
    kind: str,
    compiled: dict[str, TokenAutomaton],
    lists: dict[str, list[bytes]],
    ids: dict[bytes, int],
    vocabulary: Vocabulary,
) -> None:
    texts, automaton, generator = lists[kind], compiled[kind], random.Random(5)
    words = np.zeros(-(-len(vocabulary) // 32), np.int32)
    arena = Arena.of([automaton])
    for text in generator.sample(texts, 2):
        state, at, written = automaton.start, arena.starts([1]), b""
        for token in [*cut(text, ids, generator), None]:
            follow = continuations(texts, written)
            allowed = np.array([piece in follow for piece in vocabulary.tokens])
            allowed[list(vocabulary.eos_ids)] = written in texts[bisect_left(texts, written) :][:1]
            assert np.array_equal(automaton.mask(state), allowed)
            automaton.fill_bitmask(state, words)
            assert np.array_equal(np.unpackbits(words.view(np.uint8), bitorder="little").astype(np.bool_), allowed)
            assert np.array_equal(arena.mask(at)[0].numpy(), allowed)
            if token is not None:
                following = automaton.advance(state, token)
                at = arena.advance(at, torch.tensor([token]))
                assert not arena.astray(at).any()
                assert automaton.min_tokens(state) <= 1 + automaton.min_tokens(following)
                state, written = following, written + vocabulary.tokens[token]
        assert automaton.is_final(state)


def continuations(texts: list[bytes], prefix: bytes) -> set[bytes]:
    """What can follow a prefix within some text, down to one byte."""
    matching = texts[bisect_left(texts, prefix) : bisect_left(texts, prefix + b"\xff")]
    return {text[len(prefix) : end] for text in matching for end in range(len(prefix) + 1, len(text) + 1)}


def test_a_large_list_is_small_and_survives_a_file(
    compiled: dict[str, TokenAutomaton], vocabulary: Vocabulary, tmp_path: Path
) -> None:
    automaton = compiled["names"]
    assert automaton.nbytes < 40e6
    automaton.save(tmp_path / "names")
    loaded = tokenfst.load_automaton(tmp_path / "names", vocabulary)
    for mine, others in zip(automaton.transitions.edges(), loaded.transitions.edges(), strict=True):
        assert np.array_equal(mine, others)


def test_a_large_list_within_an_object(
    vocabulary: Vocabulary, lists: dict[str, list[bytes]], ids: dict[bytes, int]
) -> None:
    names = choice(text.decode() for text in lists["names"])
    quoted = parse(r'"(?:[^"\\\x00-\x1f\x7f]|\\["\\/bfnrt])*"')
    expr = '{"name": "' + names + '", "said": ' + quoted + "}"
    byte_automaton = compile_expr(expr)
    assert byte_automaton.is_sparse
    assert _native.is_list_like(byte_automaton.tables, vocabulary.native)
    automaton = complete(expr, vocabulary)
    for name in lists["names"][::5000]:
        text = b'{"name": "' + name + b'", "said": "so \xc3\xa9 \\"x\\""}'
        assert automaton.accepts(cut(text, ids, None))
        assert not automaton.accepts(cut(text.replace(name, name + b"q"), ids, None))


def test_free_text_beside_a_large_list_takes_the_walk_for_free_text(vocabulary: Vocabulary) -> None:
    names = names_of(2000)
    automaton = sparse(ANY_TEXT - choice(names))
    assert not _native.is_list_like(automaton.tables, vocabulary.native)
    tokens = Vocabulary([bytes([byte]) for byte in range(256)] + [b"er", b"an ", b""], [258])
    found = from_bytes(automaton, tokens)
    assert not found.accepts(list(names[5].encode()))
    assert found.accepts([*names[5].encode()[:-1], 65])
