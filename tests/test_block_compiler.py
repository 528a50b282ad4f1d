"""Constraints of requests as blocks of an arena: shared, bounded in time and bytes, and checked in a front end."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import serving.vllm.engine
import tokenfst
from automata import LimitExceeded, Limits
from decoding.arena import Arena
from serving.specifications import constraint_of
from serving.vllm.block_compiler import BlockCompiler
from serving.vllm.engine import check_constraint
from tokenfst import Vocabulary

VOCABULARY = Vocabulary([bytes([byte]) for byte in range(128)] + [b""], 128)
HOSTILE = "(a|b)*a" + "(a|b)" * 60


@pytest.fixture
def compiler() -> Iterator[BlockCompiler]:
    made = BlockCompiler(Arena(VOCABULARY), limits=Limits(seconds=60), max_bytes=1 << 20, threads=2)
    yield made
    made.close()


def test_requests_for_the_same_share_a_block(compiler: BlockCompiler) -> None:
    asked: list[tuple[Any, str]] = [
        ("regex", "[a-c]{3}"),
        ("choice", '["x"]'),
        ("json_object", ""),
        ("regex", "[a-c]{3}"),
    ]
    one, *others, again = [compiler.submit(*each).result() for each in asked]
    assert one is again
    assert all(block is not one for block in others)
    arena = compiler._arena
    for (kind, text), block in zip(asked, [one, *others, again], strict=True):
        automaton = tokenfst.compile(constraint_of(kind, text), VOCABULARY)
        slot = arena.enter(block)
        assert torch.equal(arena.mask(arena.starts([slot]))[0], torch.from_numpy(automaton.mask(automaton.start)))


def test_errors_are_handed_on_and_not_kept(compiler: BlockCompiler) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="never closed"):
            compiler.submit("regex", "(a").result()
        with pytest.raises(LimitExceeded, match="states"):
            compiler.submit("regex", HOSTILE).result()


def test_there_is_one_deadline_for_all() -> None:
    compiler = BlockCompiler(
        Arena(VOCABULARY), limits=Limits(states=1 << 40, seconds=0.4), max_bytes=1 << 20, threads=1
    )
    begun = time.monotonic()
    hostile = [compiler.submit("regex", HOSTILE + f"{number}") for number in range(9)]
    assert compiler.submit("choice", '["a"]').result() is not None
    for each in hostile:
        with pytest.raises(LimitExceeded):
            each.result()
    assert time.monotonic() - begun < 4  # and not nine times as long as one may take
    compiler.close()


def test_blocks_are_kept_up_to_a_number_of_bytes(compiler: BlockCompiler) -> None:
    first = compiler.submit("choice", '["a"]').result()
    compiler._blocks.max_bytes = 3 * compiler._blocks.nbytes
    assert compiler._blocks.nbytes > first.words.nbytes
    for letter in "bc":
        compiler.submit("choice", f'["{letter}"]').result()
    assert compiler.submit("choice", '["a"]').result() is first
    compiler.submit("choice", '["d"]').result()
    assert compiler.submit("choice", '["a"]').result() is first
    assert [text for _, text in compiler._blocks] == ['["c"]', '["d"]', '["a"]']


def test_a_front_end_reads_for_a_short_time(monkeypatch: pytest.MonkeyPatch) -> None:
    large = '{"enum": [' + ",".join(f'"{number}"' for number in range(20000)) + "]}"
    with pytest.raises(ValueError, match="at /uniqueItems"):
        check_constraint("json", '{"type": "array", "uniqueItems": true}', on_device=True)
    check_constraint("json", '{"type": "array", "uniqueItems": true}')
    with pytest.raises(ValueError, match="the choices are a list"):
        check_constraint("choice", "1")
    check_constraint("regex", "a")
    monkeypatch.setattr(serving.vllm.engine, "_READING_SECONDS", 1e-9)
    check_constraint("json", large)
    monkeypatch.setattr(serving.vllm.engine, "_READING_SECONDS", 60)
    monkeypatch.setenv("TOKENFST_COMPILE_BYTES", "1000")
    with pytest.raises(ValueError, match="memory"):
        check_constraint("json", large)
    check_constraint("json", large + " " * (1 << 18))  # which takes too long to parse


@pytest.mark.parametrize("bounds", [(0, 200_000), (10**6, 10**7)])
def test_a_front_end_stops_reading_what_is_written_out(bounds: tuple[int, int]) -> None:
    content = {"type": "json_schema", "json_schema": {}}
    repeat = {"type": "repeat", "min": bounds[0], "max": bounds[1], "content": content}
    began = time.thread_time()
    check_constraint("structural_tag", json.dumps({"type": "structural_tag", "format": repeat}))
    assert time.thread_time() - began < 1  # an engine's front end serves all requests in this thread


def test_a_front_end_looks_again_at_what_took_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '{"enum": [' + ",".join(f'"{number}"' for number in range(4000)) + "]}"
    monkeypatch.setattr(serving.vllm.engine, "_READING_SECONDS", 1e-9)
    check_constraint("json", text)
    monkeypatch.setattr(serving.vllm.engine, "_READING_SECONDS", 60)
    monkeypatch.setenv("TOKENFST_COMPILE_BYTES", "1000")
    for _ in range(2):
        with pytest.raises(ValueError, match="memory"):
            check_constraint("json", text)
