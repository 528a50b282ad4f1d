"""CanonicalAutomaton: of the texts of a language, the one tokenization that the vocabulary's encoder produces.

The states of a `TokenAutomaton` times the tokens of the vocabulary would be tables of gigabytes. So a state here is a
pair, packed into one integer, and the two parts are kept apart:

    row      the text so far, and where its pieces may end (`tokenfst.canonical.sets`): S of them, the last for the end
    token    the last token, where what may come next depends on it; 0 elsewhere
    mask     the classes that the row allows apart, and of those that it allows besides, what may follow the token

What may not follow a token is a few intervals of positions (`tokenfst.canonical.pairs`), so a mask of a new state is
two masks that the row keeps and a few thousand bits cleared.

Everything is read-only but bounded caches of masks, so automata may be shared by threads.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from pathlib import Path

import numpy as np

from automata.errors import TokenNotAllowed
from automata.transition.grouping import grouped
from automata.jit import kernel
from tokenfst.canonical.derivations import Flags
from tokenfst.canonical.liveness import NO_END
from tokenfst.canonical.pairs import Pairs
from tokenfst.canonical.sets import Rows
from tokenfst.kept import Kept
from tokenfst.transition.loops import Ints
from tokenfst.over_tokens import OverTokens
from tokenfst.vocabulary import Vocabulary

# Pairs of masks kept for rows that have been visited; 32 KiB each with a vocabulary of 128,000 tokens.
MAX_CACHED_ROWS = 1024
MAX_CACHED_LEVELS = 1 << 16
APART, ANY = 0, 1


class CanonicalAutomaton(OverTokens[int]):
    """An exact deterministic automaton over tokens; made by `compile(..., tokenization="canonical")` or `load`.

    Attributes:
        vocabulary: the tokens.
        start: the state before the first token.
        rows: states of the text, and their edges by class; the row for the end of the sequence has none.
        class_of: `[V]`, the class of each token, -1 for tokens that are never written.
        pairs: which tokens may follow each other inside a piece.
        at_text_start: true; byte-level BPE writes the same inside a text and at its start.
        needs_token: `[S]`, whether what may come next depends on the last token.
    """

    at_text_start = True

    def __init__(self, vocabulary: Vocabulary, rows: Rows, class_of: Ints, pairs: Pairs) -> None:
        self.vocabulary = vocabulary
        self.start = 0
        self.rows = rows
        self.class_of = class_of
        self.pairs = pairs
        for array in (*rows, class_of):
            array.setflags(write=False)
        differs = np.append(rows.targets[APART] != rows.targets[ANY], False)
        # [S], whether what may come next depends on the last token.
        self.needs_token: Flags = np.logical_or.reduceat(differs, rows.offsets[:-1]) & (np.diff(rows.offsets) > 0)
        self._size, self._needs_token = len(vocabulary), self.needs_token.data
        # By row; within a budget by row, and how many of the row's levels fit (`tokenfst.over_tokens`).
        self._masks: Kept[int | tuple[int, int], tuple[Ints, Ints]] = Kept(MAX_CACHED_ROWS)
        self._levels: Kept[int, list[int]] = Kept(MAX_CACHED_LEVELS)
        self._class_of, self._number = class_of.data, rows.number.data
        self._apart, self._any = (targets.data for targets in rows.targets)
        self._offsets, self._position = rows.offsets.data, pairs.position.data
        self._pair_offsets, (self._low, self._high) = pairs.offsets.data, (bound.data for bound in pairs.intervals)

    def __repr__(self) -> str:
        sizes = f"{len(self.rows.final):,} rows and {self.num_classes:,} classes, {self.nbytes:,} bytes"
        return f"<CanonicalAutomaton of {sizes}>"

    # Sizes

    @property
    def num_states(self) -> int:
        """Every state is below this; not every number below it is a state."""
        return len(self.rows.final) * len(self.vocabulary)

    @property
    def num_classes(self) -> int:
        """K."""
        return int(self.class_of.max()) + 1

    @property
    def nbytes(self) -> int:
        """Memory of the tables in bytes, without the vocabulary's, which all its automata share, and cached masks."""
        return sum(array.nbytes for array in self.rows) + self.class_of.nbytes + sum(m.nbytes for m in self._members)

    @property
    def end_state(self) -> int:
        """The state after an end token."""
        return self.num_states - len(self.vocabulary)

    # Steps

    def is_final(self, state: int) -> bool:
        """Whether the text may end here."""
        return bool(self.rows.final[state // self._size])

    def advance(self, state: int, token: int) -> int:
        """The state after one more token.

        Raises:
            TokenNotAllowed: the mask of `state` does not allow the token.
        """
        row, last = divmod(state, self._size)
        if 0 <= token < self._size:
            number = self._class_of[token]
            begin, end = self._offsets[row], self._offsets[row + 1]
            edge = bisect_left(self._number, number, begin, end)
            if number >= 0 and edge < end and self._number[edge] == number:
                target, either = self._apart[edge], self._any[edge]
                if target != either and self._may_follow(last, token):
                    target = either
                if target >= 0:
                    return int(target * self._size + (token if self._needs_token[target] else 0))
            elif token in self.vocabulary.eos_ids and self.rows.final[row]:
                return self.end_state
        raise TokenNotAllowed(self._refusal(state, token))

    def _may_follow(self, last: int, token: int) -> bool:
        begin, end = self._pair_offsets[last], self._pair_offsets[last + 1]
        place = self._position[token]
        at = bisect_right(self._low, place, begin, end) - 1
        return at < begin or place >= self._high[at]

    # Masks

    def _words(self, state: int) -> Ints:
        return self._after(state, self._row_words(state // self._size))

    def _words_within(self, state: int, remaining: int) -> Ints:
        row = state // self._size
        levels = self._levels.get(row)
        if levels is None:
            levels = self._levels.keep(row, self._levels_of(row))
        number = bisect_left(levels, remaining)
        if number == len(levels):
            return self._words(state)
        words = self._masks.get((row, number)) or self._masks.keep((row, number), self._made(row, remaining))
        return self._after(state, words)

    def _after(self, state: int, words: tuple[Ints, Ints]) -> Ints:
        """The mask of a state from those of its row."""
        (apart, besides), (row, last) = words, divmod(state, self._size)
        if not self.needs_token[row]:
            return apart
        begin, end = self.pairs.offsets[last], self.pairs.offsets[last + 1]
        return _joined(apart, besides, self.pairs.intervals[:, begin:end], self.pairs.token_at)

    def _row_words(self, row: int) -> tuple[Ints, Ints]:
        """The mask of what a row allows after any token, and that of what it allows, or leads elsewhere, after some."""
        return self._masks.get(row) or self._masks.keep(row, self._made(row, NO_END))

    def _made(self, row: int, remaining: int) -> tuple[Ints, Ints]:
        """The two masks of a row, of what is at most `remaining` tokens from the end with the one that is allowed."""
        edges = slice(self.rows.offsets[row], self.rows.offsets[row + 1])
        number, (apart, either) = self.rows.number[edges], self.rows.targets[:, edges]
        near, nearest = self.rows.least[:, edges] < remaining
        size = len(self.vocabulary.all_words)
        after_any = _words(number[near], *self._members, size)
        if self.rows.final[row] and remaining > 0:
            after_any |= self.vocabulary.eos_words
        after_some = _words(number[nearest & (apart != either)], *self._members, size)
        for words in (after_any, after_some):
            words.setflags(write=False)
        return after_any, after_some

    def _levels_of(self, row: int) -> list[int]:
        """The different numbers of tokens to the end behind what a row allows, ascending."""
        least = self.rows.least[:, self.rows.offsets[row] : self.rows.offsets[row + 1]]
        found = least[least < NO_END]
        levels: list[int] = np.unique(np.append(found, 0) if self.rows.final[row] else found).tolist()
        return levels

    @cached_property
    def _members(self) -> tuple[Ints, Ints]:
        """Where the tokens of each class begin, `[K + 1]`, and the tokens."""
        written = np.flatnonzero(self.class_of >= 0).astype(np.int32)
        offsets, order = grouped(self.num_classes, self.class_of[written])
        return offsets, written[order]

    # Files

    def save(self, path: str | Path) -> None:
        """Writes the automaton as a safetensors file that names its format version, its vocabulary and its encoder."""
        from tokenfst.canonical.storage import save

        save(self, path)

    @staticmethod
    def load(path: str | Path, vocabulary: Vocabulary) -> CanonicalAutomaton:
        """Reads an automaton that was saved for the same vocabulary and encoder.

        Raises:
            AutomatonFileError: a damaged file, another format version, another vocabulary or another encoder.
            UnsupportedTokenizer: the vocabulary's encoder is not known.
        """
        from tokenfst.canonical.storage import load

        return load(path, vocabulary)

    # Distances

    def min_tokens(self, state: int) -> int:
        """The least number of tokens from a state to the end of the text, the end token counted."""
        row, last = divmod(state, self._size)
        if row == len(self.rows.final) - 1:
            return 0
        if self.rows.final[row]:
            return 1 if self.vocabulary.eos_ids else 0
        edges = slice(self.rows.offsets[row], self.rows.offsets[row + 1])
        apart, besides = self.rows.least[:, edges]
        best = int(apart.min(initial=NO_END))
        offsets, members = self._members
        for number in np.argsort(besides, kind="stable").tolist():
            if besides[number] >= best:
                break
            tokens = members[offsets[self.rows.number[edges][number]] : offsets[self.rows.number[edges][number] + 1]]
            if any(self._may_follow(last, token) for token in tokens.tolist()):
                best = int(besides[number])
        return best + 1


@kernel
def _words(numbers: Ints, offsets: Ints, members: Ints, size: int) -> Ints:
    """The mask of some classes, `[W]`."""
    words = np.zeros(size, np.int32)
    for number in numbers:
        for at in range(offsets[number], offsets[number + 1]):
            words[members[at] >> 5] |= np.int32(np.uint32(1) << np.uint32(members[at] & 31))
    return words


@kernel
def _joined(apart: Ints, besides: Ints, intervals: Ints, token_at: Ints) -> Ints:
    """What is allowed after any token, and of what is allowed besides all that is in no interval, `[W]`."""
    words = besides.copy()
    for interval in range(intervals.shape[1]):
        for place in range(intervals[0, interval], intervals[1, interval]):
            token = token_at[place]
            words[token >> 5] &= ~np.int32(np.uint32(1) << np.uint32(token & 31))
    return words | apart
