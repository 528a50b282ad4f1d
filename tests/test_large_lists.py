"""A hundred thousand strings over a real vocabulary."""

from __future__ import annotations

import random
from bisect import bisect_left
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from kinds import complete
from large_cases import FEW, names_of, sparse
from strategies import exprs

import tokenfst
from automata import (
    ANY_TEXT,
    Expr,
    Label,
    compile_expr,
    parse,
)
from constraints import choice
from decoding.arena import Arena
from tokenfst import TokenAutomaton, Vocabulary, _native, from_tekken
from tokenfst.finite.compile import from_bytes
from tokenfst.vocabulary.text_start import TextStart


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
    automaton: Any = compiled["names"]
    assert automaton.nbytes < 40e6
    automaton.save(tmp_path / "names")
    loaded: Any = tokenfst.load_automaton(tmp_path / "names", vocabulary)
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
