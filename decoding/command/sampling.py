"""`tokenfst sample`: random texts of a constraint.

For patterns, and for schemas and types that need no stack, all texts of the requested lengths are equally likely. For
other constraints, texts are written by random steps, byte by byte, within the longest requested length: all texts are
possible, and short ones are more likely.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import click

from decoding.command.options import ConstraintOptions, Mistake, as_json, read_lengths, takes_constraint
from decoding.command.printing import print_json, print_text
from decoding.command.progress import progress

if TYPE_CHECKING:
    from automata.pushdown.automaton import PushdownAutomaton

# The longest text, in bytes, if no length is requested; the shortest text of the constraint if that is longer.
LONGEST = 80
# The most texts written by random steps for each one that is requested; those of another length are dropped.
TRIES = 1_000


@click.command()
@takes_constraint
@click.option("-n", "--number", type=click.IntRange(min=1), default=5, show_default=True, metavar="N")
@click.option(
    "--length",
    metavar="N or N-M",
    callback=read_lengths,
    help=f"In bytes; by default up to {LONGEST}, or the shortest.",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="S")
@as_json
def sample(options: ConstraintOptions, number: int, length: range | None, seed: int, as_json: bool) -> None:
    """Write random texts of a constraint."""
    from automata import queries
    from automata.byte_automaton import ByteAutomaton
    from automata.errors import EmptyLanguage
    from automata.texts import readable
    from decoding.command.source import opened

    with opened(options) as source, progress("sampling"):
        automaton = source.compiled(source.read_with_remarks())
        if isinstance(automaton, ByteAutomaton):
            shortest = queries.shortest(automaton)
            if shortest is None:
                raise Mistake("tokenfst: the constraint has no text")
            lengths = length or range(max(LONGEST, len(shortest)) + 1)
            try:
                texts = queries.sample(automaton, number, length=lengths, seed=seed)
            except EmptyLanguage:
                sizes = " to ".join(f"{size:,}" for size in sorted({lengths[0], lengths[-1]}))
                raise Mistake(f"tokenfst: no text has {sizes} bytes; the shortest has {len(shortest):,}") from None
        else:
            texts = _written(automaton, number, length, random.Random(seed))
    if as_json:
        print_json([readable(text) for text in texts])
    else:
        print_text("\n".join(readable(text) for text in texts))


def _written(automaton: PushdownAutomaton, number: int, length: range | None, rng: random.Random) -> list[bytes]:
    """Return texts that are written by random steps.

    Raises:
        Mistake: the shortest text is too long, or too few of `TRIES * number` texts have a requested length.
        LimitExceeded: this takes longer than a compilation may take.
    """
    from automata.limits import current_work
    from tokenfst.compile import compile as compile_tokens
    from tokenfst.vocabulary.all_bytes import ALL_BYTES

    over, work = compile_tokens(automaton, ALL_BYTES), current_work()
    shortest = over.min_tokens(over.start) - 1
    longest = length[-1] if length else max(LONGEST, shortest)
    if longest < shortest:
        raise Mistake(f"tokenfst: the shortest text has {shortest:,} bytes")
    found: list[bytes] = []
    for _ in range(TRIES * number):
        state, text, rest = over.start, b"", rng.randint(max(shortest, length[0] if length else 0), longest) + 1
        while (token := rng.choice(over.mask(state, rest).nonzero()[0].tolist())) != ALL_BYTES.eos_ids[0]:
            work.check()
            state, text, rest = over.advance(state, token), text + bytes([token]), rest - 1
        if length is None or len(text) in length:
            found.append(text)
            if len(found) == number:
                return found
    raise Mistake(f"tokenfst: no text of such a length was found in {TRIES * number:,} tries")
