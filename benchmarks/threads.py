"""Measure how much more several threads do than one if each fills masks of its own lazy automata.

    python benchmarks/threads.py [--vocab FILE] [--threads N] [--automata N] [--rounds N] [--json FILE]

All automata have the same vocabulary but different patterns, and read the same text. Every mask is computed, and none
is looked up: the automata are compiled anew for each round, outside the measured time. A round is the same work by one
thread, and then by all; the figures are medians over the rounds.

    calls    threads of Python, which call `advance` and `fill_bitmask`
    batch    for each token, one call of `tokenfst.fill_bitmasks` for the states of all automata
"""

from __future__ import annotations

import argparse
import json
import statistics
import threading
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np

import tokenfst

TEXT = "The quick brown fox jumps over one lazy dog, and then it rests."


def pattern(number: int) -> str:
    """Return a pattern that matches `TEXT`, different for each number."""
    return rf"(?!.*(cat{number}|mouse{number}))[ -~]{{10,{80 + number}}}"


class Work:
    """Automata, and the tokens that each of them reads."""

    def __init__(self, vocabulary: tokenfst.Vocabulary, count: int) -> None:
        self.automata = [tokenfst.compile(pattern(number), vocabulary) for number in range(count)]
        longest = sorted(range(len(vocabulary)), key=lambda token: -len(vocabulary.tokens[token]))
        known = {vocabulary.tokens[token]: token for token in reversed(longest)}
        self.text = _greedy(TEXT.encode(), known)
        self.words = np.zeros((count, -(-len(vocabulary) // 32)), np.int32)

    def walk(self, rows: range) -> None:
        """Fill the mask of every state that the automata of some rows reach, token by token."""
        for row in rows:
            automaton, words = self.automata[row], self.words[row]
            state = automaton.start
            for token in self.text:
                automaton.fill_bitmask(state, words)
                state = automaton.advance(state, token)

    def calls(self, num_threads: int) -> None:
        """Do so for all automata, on threads of Python."""
        rows = [range(first, len(self.automata), num_threads) for first in range(num_threads)]
        threads = [threading.Thread(target=self.walk, args=(own,)) for own in rows]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def batch(self, num_threads: int) -> None:
        """Fill the masks of all automata token by token, with one call for each token."""
        states = [automaton.start for automaton in self.automata]
        for token in self.text:
            tokenfst.fill_bitmasks(self.automata, states, self.words, num_threads=num_threads)
            states = [automaton.advance(state, token) for automaton, state in zip(self.automata, states, strict=True)]


def _greedy(text: bytes, known: dict[bytes, int]) -> list[int]:
    """Cut a text into tokens from left to right, taking the longest of at most 16 bytes at each place."""
    found, at = [], 0
    while at < len(text):
        size = next(size for size in range(min(16, len(text) - at), 0, -1) if text[at : at + size] in known)
        found.append(known[text[at : at + size]])
        at += size
    return found


def seconds(work: Callable[[int], None], num_threads: int) -> float:
    """Return the seconds that some work takes, by the clock."""
    begun = time.perf_counter()
    work(num_threads)
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocab", help="a vocabulary file; default: Tekken's, from mistral-common")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--automata", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="where to write all times")
    options = parser.parse_args()
    vocabulary = tokenfst.load_vocabulary(
        options.vocab or str(files("mistral_common") / "data" / "tekken_240911.json"), eos_ids=()
    )
    runs: dict[str, list[tuple[float, float]]] = {"calls": [], "batch": []}
    for _ in range(options.rounds):
        for way, times in runs.items():
            one, several = (Work(vocabulary, options.automata) for _ in range(2))
            times.append((seconds(getattr(one, way), 1), seconds(getattr(several, way), options.threads)))
    if options.json:
        options.json.write_text(json.dumps(runs, indent=1))
    print(f"| | one thread, ms | {options.threads} threads, ms | work per time |")
    print("|---|--:|--:|--:|")
    for way, times in runs.items():
        one, several = (1e3 * statistics.median(each) for each in zip(*times, strict=True))
        ratio = statistics.median(one / several for one, several in times)
        print(f"| {way} | {one:.1f} | {several:.1f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
