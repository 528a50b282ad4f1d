"""CountModel: what has come next in each state of an automaton so far, counted (DOMINO, section 3.6).

    P(token | state) = how often the token was written in the state / how often anything was

Structured texts go on alike from alike states, so a few texts are enough to foresee most of what is not free, and what
is counted is allowed. Counting never stops: every token that is written is one more, unless `learning` is turned off.
From each leaf of a tree the likeliest tokens are added, as long as the whole way to them is likelier than a threshold:
from 0.5 on that is a chain, below it may branch.

The paper counts by the terminal that is being read and the rule of the parser; the state of the token automaton says
as much or more. With a stack it is the state of the tables and the topmost symbol: where the text will return to.

Counts are kept by state numbers, so they belong to one automaton, and a file names it by a fingerprint of its tables.
Automata that are made on demand number their states as they meet them: their counts last as long as they do.

Rejected: a threshold for each token, as in the paper (ten tokens of 0.9 each are likelier refused than not).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from automata.errors import AutomatonFileError
from decoding.speculation.tree import ROOT, Tree
from tokenfst.automaton import TokenAutomaton
from tokenfst.canonical import CanonicalAutomaton
from tokenfst.counted.automaton import CountedAutomaton
from tokenfst.over_tokens import OverTokens
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.pushdown.storage import arrays_of as pushdown_arrays_of
from tokenfst.storage import arrays_of

FORMAT: Final = "tokenfst counts"
VERSION: Final = 1

# What counts are kept by: numbers that mean the same whenever the automaton is made.
Key: TypeAlias = tuple[int, ...]


class CountModel:
    """Proposes what has mostly come next. Learns from each text that is written.

    Attributes:
        automaton: whose states are counted; trees of other automata are left as they are.
        threshold: how likely the way to a proposed token is at least.
        learning: whether tokens that are written are counted.
        forwards: 0.
    """

    forwards = 0

    def __init__(self, automaton: OverTokens[Any], *, threshold: float = 0.5, learning: bool = True) -> None:
        """Makes a model that has counted nothing.

        Args:
            automaton: whose states are counted.
            threshold: how likely the way to a proposed token is at least, in (0, 1].

        Raises:
            ValueError: a threshold outside of that.
        """
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold {threshold} is not in (0, 1]")
        self.automaton = automaton
        self.threshold = threshold
        self.learning = learning
        self._counts: dict[Key, dict[int, int]] = {}

    def __repr__(self) -> str:
        return f"<CountModel of {len(self._counts):,} states, {sum(map(len, self._counts.values())):,} tokens>"

    def observe(self, automaton: OverTokens[Any], state: Any, token: int) -> None:
        """Counts a token that was written in a state."""
        if self.learning and automaton is self.automaton:
            counts = self._counts.setdefault(key_of(self.automaton, state), {})
            counts[token] = counts.get(token, 0) + 1

    def learn(self, texts: Iterable[Sequence[int]]) -> None:
        """Counts whole texts.

        Args:
            texts: token ids of each, with or without an end token.

        Raises:
            TokenNotAllowed: the automaton forbids one of the tokens.
        """
        for text in texts:
            state = self.automaton.start
            for token in text:
                following = self.automaton.advance(state, token)
                self.observe(self.automaton, state, token)
                state = following

    def probability(self, state: Any, token: int) -> float:
        """The share of a token among all that were written in a state; 0 where none was."""
        counts = self._counts.get(key_of(self.automaton, state), {})
        return counts.get(token, 0) / sum(counts.values()) if counts else 0.0

    def propose(self, trees: Sequence[Tree[Any]]) -> None:
        """Adds what is likely, the likeliest first."""
        for tree in trees:
            if tree.automaton is self.automaton:
                leaves = tree.leaves()
                while leaves:
                    leaves.sort(key=lambda place: _likelihood(tree, place))
                    leaves += self._add(tree, leaves.pop())

    def _add(self, tree: Tree[Any], place: int) -> list[int]:
        """Adds tokens after a leaf; returns the new leaves."""
        counts = self._counts.get(key_of(self.automaton, tree.state(place)))
        if not counts:
            return []
        total, added = sum(counts.values()), list[int]()
        for token, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            if _likelihood(tree, place) * count / total < self.threshold:
                break
            node = tree.add(place, token, share=count / total)
            if node is not None and tree.is_open(node):
                added.append(node)
        return added

    # Files

    def save(self, path: str | Path) -> None:
        """Writes the counts as JSON.

        Raises:
            ValueError: the automaton is made on demand, and its states mean nothing to another.
        """
        held = {
            "format": FORMAT,
            "version": VERSION,
            "vocabulary": self.automaton.vocabulary.digest,
            "automaton": fingerprint(self.automaton),
            "counts": [[key, sorted(counts.items())] for key, counts in sorted(self._counts.items())],
        }
        Path(path).write_text(json.dumps(held, separators=(",", ":")), "utf-8")

    @staticmethod
    def load(
        path: str | Path, automaton: OverTokens[Any], *, threshold: float = 0.5, learning: bool = True
    ) -> CountModel:
        """Reads counts that were saved for the same automaton.

        Raises:
            AutomatonFileError: a damaged file, another format version, another vocabulary or automaton.
            ValueError: a threshold outside (0, 1]; an automaton that is made on demand.
        """
        model = CountModel(automaton, threshold=threshold, learning=learning)
        try:
            held = json.loads(Path(path).read_text("utf-8"))
            _check_header(held, automaton)
            model._counts = dict(_checked(key, counts, automaton) for key, counts in held["counts"])
        except AutomatonFileError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise AutomatonFileError(f"{path} does not hold readable counts: {error}") from error
        return model


def key_of(automaton: OverTokens[Any], state: Any) -> Key:
    """What counts are kept by, for one state: numbers, which are the same for all states that are told apart by nothing
    but how far they have counted, or by what lies deeper in their stacks."""
    if isinstance(automaton, CountedAutomaton):
        return (automaton.transitions.alike(state),)
    if isinstance(automaton, PushdownTokenAutomaton):
        return tuple([number for at, stack in state for number in (at, stack.symbol if stack is not None else -1)])
    return (state,)


def fingerprint(automaton: OverTokens[Any]) -> str:
    """What an automaton's tables are known by (SHA-256, hexadecimal).

    Raises:
        ValueError: the automaton is made on demand, and has none.
    """
    if isinstance(automaton, TokenAutomaton):
        arrays = arrays_of(automaton)
    elif isinstance(automaton, PushdownTokenAutomaton):
        arrays = pushdown_arrays_of(automaton)
    elif isinstance(automaton, CanonicalAutomaton):
        arrays = {**automaton.rows._asdict(), "class_of": automaton.class_of}
    else:
        raise ValueError("an automaton that is made on demand numbers its states as it meets them: nothing to save")
    state = hashlib.sha256(type(automaton).__name__.encode())
    for name, array in sorted(arrays.items()):
        state.update(f"{name} {array.dtype.str} {array.shape}".encode())
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()


def _likelihood(tree: Tree[Any], place: int) -> float:
    return tree.likelihood[place] if place != ROOT else 1.0


def _check_header(held: Any, automaton: OverTokens[Any]) -> None:
    if not isinstance(held, dict) or held.get("format") != FORMAT:
        raise AutomatonFileError("the file does not hold counts")
    if held.get("version") != VERSION:
        raise AutomatonFileError(f"format version {held.get('version')} is not {VERSION}, the one that is read")
    if held.get("vocabulary") != automaton.vocabulary.digest:
        raise AutomatonFileError("the counts were made for another vocabulary")
    if held.get("automaton") != fingerprint(automaton):
        raise AutomatonFileError("the counts were made for another automaton")


def _checked(key: Any, counts: Any, automaton: OverTokens[Any]) -> tuple[Key, dict[int, int]]:
    """One entry of a file.

    Raises:
        AutomatonFileError: it is none.
    """
    numbers = [*key, *(number for pair in counts for number in pair)]
    found = {token: count for token, count in counts}  # noqa: C416 (pairs of lists)
    sound = all(type(number) is int for number in numbers) and found and min(found.values()) > 0
    if not sound or not all(0 <= token < len(automaton.vocabulary) for token in found):
        raise AutomatonFileError(f"the counts of state {key} are none")
    return tuple(key), found
