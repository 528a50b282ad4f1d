"""What has no copies says what to do in place of one, and what is not hashable has no hash for type checkers either."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import tokenfst
from automata import Cancellation, Cancelled, literal
from constraints import grammar
from constraints.tools import ToolCall
from decoding import Arena, bundled_model, stream
from decoding.compiling import BackgroundCompiler
from serving.matcher import Matcher
from tokenfst.vocabulary.all_bytes import ALL_BYTES

COPIES: list[Callable[[Any], object]] = [copy.copy, copy.deepcopy, pickle.dumps]


@pytest.mark.parametrize("copied", COPIES)
def test_what_works_on_a_device_or_in_threads_is_not_copied(copied: Callable[[Any], object]) -> None:
    with BackgroundCompiler() as compiler:
        objects: list[tuple[object, str]] = [
            (Arena(ALL_BYTES, max_bytes=1 << 20), "Arena objects cannot be copied or pickled: make another one"),
            (compiler, "BackgroundCompiler objects cannot be copied or pickled: share it between threads"),
            (
                compiler.submit("a", ALL_BYTES),
                "Compiling objects cannot be copied or pickled: submit the constraint",
            ),
            (stream(*bundled_model(), "", "[ab]", at_text_start=True), "Stream objects cannot be copied or pickled"),
        ]
        for one, message in objects:
            with pytest.raises(TypeError, match=message):
                copied(one)


def test_a_copied_cancellation_is_the_same_one() -> None:
    cancellation = Cancellation()
    assert copy.copy(cancellation) is cancellation
    assert copy.deepcopy([cancellation])[0] is cancellation
    with pytest.raises(TypeError, match="a Cancellation cannot be pickled: create a new one"):
        pickle.dumps(cancellation)
    copy.deepcopy(cancellation).cancel()
    with pytest.raises(Cancelled):
        tokenfst.compile("a", ALL_BYTES, cancellation=cancellation)


def test_a_position_is_a_value_that_is_not_pickled() -> None:
    position = Matcher(tokenfst.compile(grammar('start: "(" start ")" | "x"'), ALL_BYTES)).position
    assert copy.copy(position) is copy.deepcopy(position) is position
    with pytest.raises(TypeError, match="a position cannot be pickled: pickle the automaton"):
        pickle.dumps(position)


def test_an_expression_is_copied_however_deep_it_is() -> None:
    deep = literal("a")
    for _ in range(5000):
        deep = (deep - "b") | "c"
    assert copy.copy(deep) is copy.deepcopy(deep) is deep
    assert copy.deepcopy([deep])[0] is deep


@pytest.mark.parametrize("value", [grammar('start: "a"'), ToolCall("f", {"x": 1})])
def test_what_holds_mappings_is_not_hashable(value: Any) -> None:
    assert type(value).__hash__ is None
    assert copy.deepcopy(value) == value
    with pytest.raises(TypeError, match="unhashable type"):
        hash(value)
