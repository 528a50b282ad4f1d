"""Objects show in a short line what they are, and public attributes have types."""

from __future__ import annotations

from typing import Any

import pytest

import tokenfst
from automata import errors
from constraints import typed
from constraints.tools.calls import ToolCalls
from constraints.types.typed import Typed
from decoding import Arena, ConstraintLogitsProcessor
from serving.matcher import Matcher
from tokenfst import BPE, Vocabulary

LETTERS = Vocabulary([b"a", b"b", b""], eos_ids=2)


def test_an_encoder_does_not_show_its_merges() -> None:
    merges = tuple((number, number, number) for number in range(1000))
    assert repr(BPE(merges, None, whole_pieces=True)) == "<BPE of 1,000 merges, pattern None, whole_pieces=True>"
    assert repr(BPE(None, "a+", whole_pieces=False)) == "<BPE of ranks as merges, pattern 'a+', whole_pieces=False>"


@pytest.mark.parametrize(
    ("annotation", "shown"), [(list[int], "typed(list[int])"), (int, "typed(int)"), (int | None, "typed(int | None)")]
)
def test_types_show_their_arguments(annotation: Any, shown: str) -> None:
    assert repr(typed(annotation)) == shown


def test_a_matcher_shows_its_automaton_and_how_far_it_is() -> None:
    matcher = Matcher(tokenfst.compile("a+", LETTERS).complete())
    assert matcher.accept([0, 0])
    assert repr(matcher) == f"<Matcher of {matcher.automaton!r}, 2 tokens>"


def test_an_arena_shows_how_full_it_is() -> None:
    arena = Arena(LETTERS, max_bytes=1 << 20)
    arena.add(tokenfst.compile("a+", LETTERS))
    assert repr(arena) == f"<Arena on cpu, 1 automata, {arena.nbytes:,} of 1,048,576 bytes>"


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        (Vocabulary, "tokens eos_ids special_tokens native is_token_byte has_every_byte is_first_byte"),
        (errors.GrammarError, "reason rule line column"),
        (errors.SchemaError, "reason pointer keyword"),
        (errors.LimitExceeded, "limit reason"),
        (errors.TextNotAllowed, "reason text"),
        (Arena, "vocabulary width begin end device max_depth configurations generation"),
        (ConstraintLogitsProcessor, "vocabulary max_new_tokens wrap_up_after max_depth"),
        (Matcher, "automaton stops"),
        (Typed, "annotation adapter schema layout"),
        (ToolCalls, "tools format"),
    ],
)
def test_public_attributes_have_types(owner: type, names: str) -> None:
    assert set(names.split()) <= set(owner.__annotations__)
