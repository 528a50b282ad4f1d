"""`tokenfst bench`: the time that masks and steps of a constraint over a vocabulary take.

The first compilation over a vocabulary prepares it for all others, so a trivial pattern is compiled before the
constraint, which is compiled once. The command writes random texts of allowed tokens, with a budget, so that they end.
Each state's mask is made when it is first needed, so the times of the first and the second pass over a text are shown
separately.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from decoding.command.options import ConstraintOptions, Mistake, as_json, eos_ids, takes_constraint, takes_vocabulary
from decoding.command.printing import print_json, print_table
from decoding.command.progress import progress

if TYPE_CHECKING:
    from tokenfst.token_automaton import TokenAutomaton


@click.command()
@takes_constraint
@takes_vocabulary()
@click.option("--texts", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="How many texts.")
@click.option("--tokens", type=click.IntRange(min=1), default=100, show_default=True, metavar="N", help="Their length.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="S")
@as_json
def bench(
    options: ConstraintOptions,
    vocab: Path,
    eos_id: tuple[int, ...],
    texts: int,
    tokens: int,
    seed: int,
    as_json: bool,
) -> None:
    """Time the masks and steps of a constraint over a vocabulary."""
    import numpy as np

    from decoding.command.source import opened
    from tokenfst.compile import compile as compile_tokens
    from tokenfst.loaders import load_vocabulary

    with opened(options) as source:
        read = source.read_with_remarks()
        with progress("reading the vocabulary"):
            vocabulary = load_vocabulary(vocab, eos_ids=eos_ids(vocab, eos_id))
            compile_tokens("", vocabulary)
        constraint = source.constraint(read)
        began = time.perf_counter()
        automaton = compile_tokens(constraint, vocabulary)
        times: dict[str, list[float]] = {"compiling": [time.perf_counter() - began]}
        with progress("writing texts"):
            writer = compile_tokens(constraint, vocabulary)
            written = [_written(writer, tokens, random.Random(f"{seed} {number}")) for number in range(texts)]
        if not any(written):
            raise Mistake("tokenfst: there is no step to time: over this vocabulary only the empty text was written")
        with progress("timing"):
            for name in ("first", "again"):
                masks, steps = list[float](), list[float]()
                times |= {f"a mask, {name}": masks, f"a step, {name}": steps}
                for text in written:
                    _follow(automaton, text, masks, steps)
    rows = {name: np.percentile(found, [50, 90, 99, 100]).tolist() for name, found in times.items()}
    if as_json:
        names = ("p50", "p90", "p99", "max")
        print_json(
            {name: {"count": len(times[name]), **dict(zip(names, row, strict=True))} for name, row in rows.items()}
        )
        return
    cells = [(name, f"{len(times[name]):,}", *(f"{value * 1e6:,.1f}" for value in row)) for name, row in rows.items()]
    print_table(cells, ("microseconds", "count", "median", "90 %", "99 %", "most"))


def _written(automaton: TokenAutomaton, length: int, rng: random.Random) -> list[int]:
    """Return a random text of at most `length` tokens, or of as many as the shortest text if that is longer."""
    state, rest, text = automaton.start, max(length, automaton.min_tokens(automaton.start)), list[int]()
    while rest:
        allowed = automaton.mask(state, rest).nonzero()[0].tolist()
        if not allowed:
            break
        text.append(rng.choice(allowed))
        state, rest = automaton.advance(state, text[-1]), rest - 1
    return text


def _follow(automaton: TokenAutomaton, text: list[int], masks: list[float], steps: list[float]) -> None:
    import numpy as np

    words = np.empty_like(automaton.vocabulary.all_words)
    state, clock = automaton.start, time.perf_counter
    for token in text:
        began = clock()
        automaton.fill_bitmask(state, words)
        middle = clock()
        state = automaton.advance(state, token)
        masks.append(middle - began)
        steps.append(clock() - middle)
