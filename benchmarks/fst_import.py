"""Measure the time from an FST to a byte automaton: for a lexicon of a million arcs, and for names within two edits.

    python benchmarks/fst_import.py [--arcs N]

A lexicon is a trie of random words, such as pynini's `string_map` makes. The lexicon of a million arcs is read and
compiled, which is compared with OpenFst's `determinize` and `minimize` of the same FST. Names are composed with a
transducer of two edits and compiled, which is compared with pynini's `compose`, `project` and `optimize` of the same
FSTs. Finally, a lexicon of 2,000 arcs is composed as a whole with a transducer of one edit, without a comparison.
"""

from __future__ import annotations

import argparse
import string
import time
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, TypeVar

import numpy as np
import pynini
import pywrapfst

from automata import ByteAutomaton, compile_expr, from_fst, image, transducer_of
from automata.openfst import to_fst

T = TypeVar("T")
NAMES = ("elisabeth", "christopher", "maximilianus")


def trie(num_arcs: int) -> Any:
    """Return a trie of random words with at least this many arcs, as an FST."""
    rng = Random(0)
    children: dict[tuple[int, int], int] = {}
    final = [False]
    while len(children) < num_arcs:
        state = 0
        for letter in rng.choices(string.ascii_lowercase.encode(), weights=range(26, 0, -1), k=rng.randint(5, 12)):
            state = children.setdefault((state, letter), len(final))
            if state == len(final):
                final.append(False)
        final[state] = True
    source, letters = np.array([*children], np.int32).T
    target = np.array([*children.values()], np.int32)
    return to_fst(0, np.array(final), source, letters - 1, target)


def within(distance: int) -> Any:
    """Return the transducer of at most `distance` edits, over lower-case letters and the space."""
    letters = pynini.union(*string.ascii_lowercase, " ")
    edit = pynini.union(pynini.cross("", letters), pynini.cross(letters, ""), pynini.cross(letters, letters))
    return (pynini.closure(letters) + (edit + pynini.closure(letters)).closure(0, distance)).optimize()


def timed(function: Callable[[], T], times: int = 1) -> tuple[float, T]:
    """Return the least time of the calls, in seconds, and the result of the last call."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - began)
    return min(seconds), result


def _ours(name: str, edits: Any) -> ByteAutomaton:
    return compile_expr(image(name, edits))


def _theirs(name: str, edits: Any) -> Any:
    return pynini.compose(name, edits).project("output").optimize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arcs", type=int, default=1_000_000)
    lexicon, edits = trie(parser.parse_args().arcs), within(2)
    reading, expr = timed(lambda: from_fst(lexicon))
    compiling, automaton = timed(lambda: compile_expr(expr))
    theirs, _ = timed(lambda: pywrapfst.determinize(lexicon).minimize())
    print(f"lexicon of {lexicon.num_states():,} states: read in {reading:.2f} s, compiled in {compiling:.2f} s to")
    print(f"{automaton.num_states:,} states; {(reading + compiling) / theirs:.2f} x OpenFst's {theirs:.2f} s")
    for name in NAMES:
        ours, _ = timed(partial(_ours, name, edits), times=5)
        theirs, _ = timed(partial(_theirs, name, edits), times=5)
        print(f"{name} within two edits: {1e3 * ours:.2f} ms, {ours / theirs:.2f} x OpenFst's {1e3 * theirs:.2f} ms")
    one = transducer_of(within(1))
    few = from_fst(trie(2_000))
    seconds, made = timed(lambda: compile_expr(image(few, one)))
    print(f"texts within one edit of a lexicon of 2,000 arcs: {seconds:.2f} s, {made.num_states:,} states")


if __name__ == "__main__":
    main()
