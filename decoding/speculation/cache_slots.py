"""Which slot of a cache holds which token of a text, or of a tree after the text.

    CachedText    the cached tokens of one text
    NewTokens     the tokens to read next for this text: the rest of the text, and then nodes of the tree

Slots are numbered from 0. The slots of a row need not be contiguous, and all rows use the columns of one cache.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from automata.texts import common_prefix_length
from decoding.speculation.tree import ROOT


class CachedText:
    """The cached part of one text: its tokens up to some position, and nodes of a tree after it.

    Attributes:
        text: the tokens of the text in the last request.
        slots: the slots of the first of these tokens.
        nodes: the slots of the nodes that have been read, parents first.
        tokens, parents: the tree in the last request.
    """

    def __init__(self) -> None:
        self.text: list[int] = []
        self.slots: list[int] = []
        self.nodes: dict[int, int] = {}
        self.tokens: list[int] = []
        self.parents: list[int] = []

    def follow(self, text: Sequence[int], tokens: Sequence[int], parents: Sequence[int], places: Sequence[int]) -> None:
        """Change to another text or tree: keep the part that it shares with the last one, and drop the rest.

        If a requested place is cached, it is dropped too, with all nodes, because its logits have not been kept.
        """
        text, tokens, parents = list(text), list(tokens), list(parents)
        known = len(self.tokens)
        if (self.text, self.tokens, self.parents) != (text, tokens[:known], parents[:known]):
            self._settle(text)
        self.text, self.tokens, self.parents = text, tokens, parents
        if ROOT in places and len(self.slots) == len(text):
            self.slots.pop()
            self.nodes.clear()
        if any(place in self.nodes for place in places):
            self.nodes.clear()

    def _settle(self, text: list[int]) -> None:
        """Turn the nodes with which the text continues into text."""
        read = len(self.slots)
        if text[:read] != self.text[:read]:
            del self.slots[common_prefix_length(text, self.text) :]
        elif read == len(self.text):
            place = ROOT
            for token in text[read:]:
                below = [node for node in self.nodes if self.parents[node] == place and self.tokens[node] == token]
                if not below:
                    break
                place = below[0]
                self.slots.append(self.nodes[place])
        self.nodes.clear()

    def used(self) -> list[int]:
        """Return all slots, in the order in which they were read."""
        return [*self.slots, *self.nodes.values()]

    def num_slots(self) -> int:
        """Return the number of the last slot plus 1."""
        return max(self.used(), default=-1) + 1

    def move_to_front(self) -> None:
        """Renumber the slots, in the order of `used`."""
        self.nodes = {node: len(self.slots) + place for place, node in enumerate(self.nodes)}
        self.slots = list(range(len(self.slots)))


class NewTokens:
    """The tokens that must be read for a text.

    Attributes:
        tokens: the tokens.
        positions: the position of each token in the text.
        num_wanted: the number of last tokens that include all tokens whose logits are requested.
    """

    def __init__(self, row: CachedText, places: Sequence[int]) -> None:
        """Find the tokens that the cache lacks.

        Args:
            row: the cached part of the text, after `follow`.
            places: the requested places; only these and their ancestors are read.
        """
        self._row = row
        rest = row.text[len(row.slots) :]
        self._num_text = len(rest)
        wanted = set[int]()
        for asked in places:
            place = asked
            while place != ROOT and place not in wanted:
                wanted.add(place)
                place = row.parents[place]
        self._nodes = sorted(wanted - row.nodes.keys())
        self._index = {node: len(rest) + index for index, node in enumerate(self._nodes)}
        self._index[ROOT] = len(rest) - 1
        depth = {ROOT: len(row.text) - 1}
        for node in sorted(wanted):
            depth[node] = depth[row.parents[node]] + 1
        self.tokens = rest + [row.tokens[node] for node in self._nodes]
        self.positions = [*range(len(row.slots), len(row.text)), *(depth[node] for node in self._nodes)]
        self.num_wanted = len(self) - min(self._index[place] for place in places)

    def __len__(self) -> int:
        """Return N, the number of tokens."""
        return len(self.tokens)

    def from_end(self, places: Sequence[int]) -> list[int]:
        """Return the indices of the tokens of places, counted from the end: -1 is the last."""
        return [self._index[place] - len(self) for place in places]

    def is_chain(self) -> bool:
        """Return whether all cached tokens are in order, slot by slot, and the new tokens continue them."""
        row, read = self._row, [*self._row.nodes]
        nodes = read + self._nodes
        in_order = row.num_slots() == len(row.used()) and (not read or row.nodes[read[-1]] == row.num_slots() - 1)
        return in_order and [row.parents[node] for node in nodes] == [ROOT, *nodes][: len(nodes)]

    def show(self, mask: npt.NDArray[np.bool_]) -> None:
        """Write into a mask which slots the new tokens attend to.

        Args:
            mask: `[N, S]`, a row for each new token; the slots of the new tokens are the last N.
        """
        row, first = self._row, mask.shape[1] - len(self)
        text = np.zeros(mask.shape[1], np.bool_)
        text[row.slots] = True
        mask[: self._num_text] |= text
        mask[: self._num_text, first : first + self._num_text] |= np.tri(self._num_text, dtype=np.bool_)
        text[first : first + self._num_text] = True
        for node in self._nodes:
            seen, parent = mask[self._index[node]], row.parents[node]
            if parent in self._index and parent != ROOT:
                seen |= mask[self._index[parent]]
                continue
            seen |= text
            while parent != ROOT:
                seen[row.nodes[parent]] = True
                parent = row.parents[parent]

    def take(self, first: int) -> None:
        """Record that the tokens have been read, into the slots from `first` on."""
        self._row.slots += range(first, first + self._num_text)
        self._row.nodes |= {node: first + self._index[node] for node in self._nodes}
