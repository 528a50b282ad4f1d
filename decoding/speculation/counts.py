"""CountModel: how often each token came next in each state of an automaton (DOMINO, section 3.6).

    P(token | state) = how often this token was written in the state / how often any token was

Structured texts continue in similar ways from equal states, so a few texts are enough to predict most of the text that
is not free. The paper counts by the current terminal and the rule of the parser; the state of the token automaton has
at least this information. With a stack, the key is the state of the tables and the topmost symbol, which says where the
text returns.

In free text, the state predicts little, and the previous token predicts more. So the tokens that followed this token in
the state are counted too, and the share by the state counts as one more observation:

    P(token | state, before) = (N(state, before, token) + P(token | state)) / (N(state, before) + 1)

At each leaf of a tree, the likeliest tokens are added as long as the probability of the whole path to them is at least
a threshold: above 0.5 the result is a chain, below it may branch. Every token that is written is counted, unless
`learning` is off.

Counts are stored by the key of a state in the automaton's tables (`TokenAutomaton.key`), so they belong to one
constraint and one vocabulary, which a file identifies by a fingerprint of the tables.

There are at most `MAX_COUNTS` counts, so a model may learn for as long as a server runs. Beyond that, all counts are
halved, and those that become zero are forgotten: frequent tokens stay, and those that have become rare go first.

Rejected: a threshold for each token, as in the paper (ten tokens of probability 0.9 each are more likely to be refused
than not).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from automata.errors import AutomatonFileError
from decoding.speculation.tree import ROOT, Tree
from tokenfst.token_automaton import TokenAutomaton

FORMAT: Final = "tokenfst counts"
VERSION: Final = 1
# The maximum number of counts that are kept; each takes some 200 bytes.
MAX_COUNTS: Final = 1 << 20

# The key of a state: numbers that mean the same each time the automaton is made. The counts of the tokens that came
# next. The previous token at the start of a text.
Key: TypeAlias = tuple[int, ...]
Counts: TypeAlias = dict[int, int]
_START: Final = -1
# The greatest count in a file, so that sums of counts fit in a float.
_MAX_TIMES: Final = (1 << 63) - 1
K = TypeVar("K")


class CountModel:
    """Proposes the tokens that most often came next. Learns from each text that is written.

    Attributes:
        automaton: the automaton whose states are counted; trees of other automata are left unchanged.
        threshold: the least probability of the path to a proposed token.
        learning: whether tokens that are written are counted.
        forwards: 0, because no model is used.
    """

    forwards = 0

    def __init__(self, automaton: TokenAutomaton, *, threshold: float = 0.5, learning: bool = True) -> None:
        """Make a model without counts.

        Args:
            automaton: the automaton whose states are counted.
            threshold: the least probability of the path to a proposed token, in (0, 1].
            learning: whether tokens that are written are counted.

        Raises:
            ValueError: the threshold is outside (0, 1].
        """
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold {threshold} is not in (0, 1]")
        self.automaton = automaton
        self.threshold = threshold
        self.learning = learning
        self._counts: dict[Key, Counts] = {}
        # By the previous token as well, `_START` for none.
        self._after: dict[tuple[Key, int], Counts] = {}
        self._num_after = 0

    def __repr__(self) -> str:
        return f"<CountModel of {len(self._counts):,} states, {sum(map(len, self._counts.values())):,} tokens>"

    def observe(self, automaton: TokenAutomaton, state: Any, before: int | None, token: int) -> None:
        """Count a token that was written in a state, after another token or as the first one."""
        if self.learning and automaton.shared is self.automaton.shared:
            self._count(automaton.key(state), _START if before is None else before, token, 1)

    def _count(self, key: Key, before: int, token: int, times: int) -> None:
        every, after = self._counts.setdefault(key, {}), self._after.setdefault((key, before), {})
        self._num_after += token not in after
        for counts in every, after:
            counts[token] = counts.get(token, 0) + times
        while self._num_after > MAX_COUNTS:
            self._counts, self._after = _halved(self._counts), _halved(self._after)
            self._num_after = sum(map(len, self._after.values()))

    def learn(self, texts: Iterable[Sequence[int]]) -> None:
        """Count the tokens of whole texts.

        Args:
            texts: the token ids of each text, with or without an end token.

        Raises:
            TokenNotAllowed: the automaton forbids one of a text's tokens; the text is not counted.
        """
        for text in texts:
            state, before, seen = self.automaton.start, None, list[tuple[Any, int | None, int]]()
            for token in text:
                seen.append((state, before, token))
                state, before = self.automaton.advance(state, token), token
            for each in seen:
                self.observe(self.automaton, *each)

    def shares(self, state: Any, before: int | None) -> dict[int, float]:
        """Return the probability of each token that has been written in a state, after a token or as the first one."""
        key = self.automaton.key(state)
        counts, after = self._counts.get(key, {}), self._after.get((key, _START if before is None else before), {})
        every, total = sum(counts.values()), sum(after.values()) + 1
        return {token: (after.get(token, 0) + count / every) / total for token, count in counts.items()}

    def propose(self, trees: Sequence[Tree[Any]]) -> None:
        """Add the likely tokens, the likeliest first."""
        for tree in trees:
            if tree.automaton.shared is self.automaton.shared:
                leaves = tree.leaves()
                while leaves:
                    leaves.sort(key=lambda place: _likelihood(tree, place))
                    leaves += self._add(tree, leaves.pop())

    def _add(self, tree: Tree[Any], place: int) -> list[int]:
        """Add tokens after a leaf; return the new leaves."""
        above, added = _likelihood(tree, place), list[int]()
        shares = self.shares(tree.state(place), tree.token_before(place))
        for token, share in sorted(shares.items(), key=lambda item: (-item[1], item[0])):
            if above * share < self.threshold:
                break
            node = tree.add(place, token, share=share)
            if node is not None and tree.is_open(node):
                added.append(node)
        return added

    # Files

    def save(self, path: str | PathLike[str]) -> None:
        """Write the counts as JSON."""
        held = {
            "format": FORMAT,
            "version": VERSION,
            "vocabulary": self.automaton.vocabulary.digest,
            "automaton": fingerprint(self.automaton),
            "counts": [[*key, sorted(counts.items())] for key, counts in sorted(self._after.items())],
        }
        Path(path).write_text(json.dumps(held, separators=(",", ":")), "utf-8")

    @staticmethod
    def load(
        path: str | PathLike[str], automaton: TokenAutomaton, *, threshold: float = 0.5, learning: bool = True
    ) -> CountModel:
        """Read counts that were saved for the same automaton.

        Raises:
            AutomatonFileError: the file is damaged, or has another format version, vocabulary or automaton.
            ValueError: the threshold is outside (0, 1].
        """
        model = CountModel(automaton, threshold=threshold, learning=learning)
        try:
            held = json.loads(Path(path).read_text("utf-8"))
            _check_header(held, automaton)
            for key, before, counts in held["counts"]:
                _check_counts(key, before, counts, automaton)
                for token, count in counts:
                    model._count(tuple(key), before, token, count)
        except AutomatonFileError:
            raise
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise AutomatonFileError(f"{path} does not hold readable counts: {error}") from error
        return model


def fingerprint(automaton: TokenAutomaton) -> str:
    """Return the fingerprint of an automaton's tables (SHA-256, hexadecimal).

    Raises:
        LimitExceeded: the tables exceed the limits.
    """
    complete = automaton.complete()
    state = hashlib.sha256(type(complete).__name__.encode())
    for name, array in sorted(complete.arrays().items()):
        state.update(f"{name} {array.dtype.str} {array.shape}".encode())
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()


def _halved(table: dict[K, Counts]) -> dict[K, Counts]:
    """Return half of each count, without those that become zero."""
    halved = {key: {token: count // 2 for token, count in counts.items() if count > 1} for key, counts in table.items()}
    return {key: counts for key, counts in halved.items() if counts}


def _likelihood(tree: Tree[Any], place: int) -> float:
    return tree.likelihood[place] if place != ROOT else 1.0


def _check_header(held: Any, automaton: TokenAutomaton) -> None:
    if not isinstance(held, dict) or held.get("format") != FORMAT:
        raise AutomatonFileError("the file does not hold counts")
    if held.get("version") != VERSION:
        raise AutomatonFileError(f"format version {held.get('version')} is not {VERSION}, the one that is read")
    if held.get("vocabulary") != automaton.vocabulary.digest:
        raise AutomatonFileError("the counts were made for another vocabulary")
    if held.get("automaton") != fingerprint(automaton):
        raise AutomatonFileError("the counts were made for another automaton")


def _check_counts(key: Any, before: Any, counts: Any, automaton: TokenAutomaton) -> None:
    """Check one entry of a file.

    Raises:
        AutomatonFileError: it is invalid.
    """
    tokens, times = [token for token, _ in counts], [count for _, count in counts]
    sound = bool(counts) and all(type(number) is int for number in [*key, before, *tokens, *times])
    sound = sound and all(1 <= count <= _MAX_TIMES for count in times)
    if not sound or not all(0 <= token < len(automaton.vocabulary) for token in tokens):
        raise AutomatonFileError(f"the counts of state {key} are invalid")
