"""`tokenfst compile`: the sizes of a constraint over a vocabulary, and a time for each stage."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from decoding.command.options import ConstraintOptions, as_json, eos_ids, takes_constraint, takes_vocabulary
from decoding.command.printing import print_json, print_table
from decoding.command.progress import progress

if TYPE_CHECKING:
    from automata.byte_automaton import ByteAutomaton
    from automata.pushdown.automaton import PushdownAutomaton

T = TypeVar("T")
REPEATS = 7  # how many times each stage is timed; the median is shown


@click.command("compile")
@takes_constraint
@takes_vocabulary()
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="Where to save the automaton (safetensors)."
)
@as_json
def compile_(
    options: ConstraintOptions, vocab: Path, eos_id: tuple[int, ...], output: Path | None, as_json: bool
) -> None:
    """Compile a constraint over a vocabulary, and time each stage."""
    from decoding.command.source import opened
    from tokenfst.compile import compile as compile_tokens
    from tokenfst.loaders import load_vocabulary

    with opened(options) as source:
        read = source.read_with_remarks()
        with progress("reading the vocabulary"):
            vocabulary = load_vocabulary(vocab, eos_ids=eos_ids(vocab, eos_id))
        with progress("compiling"):
            # Any: states are numbers, or configurations if there is a stack.
            first: Any = compile_tokens(source.compiled(read), vocabulary)
            least: int = first.min_tokens(first.start)
        _, reading = _timed(source.read)
        over_bytes, determinizing = _timed(lambda: source.compiled(read))
        over_tokens, composing = _timed(lambda: compile_tokens(over_bytes, vocabulary).complete())
        _, masking = _timed(lambda: first.mask(first.start))
        sizes = {"tokens of the vocabulary": len(vocabulary), **_sizes(over_bytes, over_tokens)}
        sizes["tokens at least"] = least
        stages = (*source.stages, "bytes to tokens", "a mask")
        times = dict(zip(stages, (reading, determinizing, composing, masking), strict=True))
        if output:
            over_tokens.save(output)
    if as_json:
        print_json({"sizes": sizes, "seconds": times, "saved": None if output is None else str(output)})
        return
    print_table([(name, f"{size:,}") for name, size in sizes.items()])
    print_table([(name, f"{seconds * 1e3:.3f} ms") for name, seconds in times.items()])
    if output:
        click.echo(f"saved {output}")


def _sizes(over_bytes: ByteAutomaton | PushdownAutomaton, over_tokens: Any) -> dict[str, int]:
    """Return the sizes of the automata, keyed by what they measure; the one over tokens is complete, of any kind."""
    from automata.pushdown.automaton import PushdownAutomaton
    from tokenfst.pushdown.automaton import PushdownTokenAutomaton

    sizes = {"states over bytes": over_bytes.num_states, "classes of bytes": over_bytes.num_classes}
    if isinstance(over_bytes, PushdownAutomaton):
        sizes |= {"steps of the stack": len(over_bytes.step_target), "symbols on the stack": over_bytes.num_symbols}
    if isinstance(over_tokens, PushdownTokenAutomaton):
        sizes["nodes over tokens"] = over_tokens.tables.num_nodes
    else:
        sizes["states over tokens"] = over_tokens.num_states
    return {**sizes, "classes of tokens": over_tokens.num_classes, "bytes of memory": over_tokens.nbytes}


def _timed(run: Callable[[], T]) -> tuple[T, float]:
    """Return the result, and the median time in seconds."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - began)
    return result, statistics.median(times)
