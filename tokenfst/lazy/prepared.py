"""Prepared: what a vocabulary keeps for lazy automata, shared by all of them and made once."""

from __future__ import annotations

from threading import RLock
from weakref import WeakKeyDictionary

import numpy as np

from tokenfst.lazy.program import ASCII_WORDS
from tokenfst.lazy.text import Text
from tokenfst.lazy.walk import PATH_COLUMNS, Tries
from tokenfst.transition.loops import Ints
from tokenfst.vocabulary import Vocabulary

# A set of characters is prepared when it is met for this time, and so many sets are kept.
_TIMES_MET = 3
_MAX_TEXTS = 256

# What JSON's strings hold as it is: printable ASCII without quotes and backslashes, and all beyond ASCII.
QUOTED = (0, ~(1 << 2), ~(1 << 28), -1, -1)

# The ASCII bytes as bits, and whether characters beyond ASCII are in the set.
TextKey = tuple[int, ...]


class Prepared:
    """The tokens' bytes, the texts, and where walks write what they find.

    Attributes:
        lock: held by whoever walks.
        data, offsets: the tokens' bytes one after the other, and where each begins, `[V + 1]`.
        nothing: the words of an empty mask.
        longest: how many bytes the longest token has.
        tries: what walks look at, and where they write.
        ends: the end tokens.
        all_bytes: whether every byte is a token.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._tokens = vocabulary.tokens
        self.lock = RLock()
        lengths = np.fromiter(map(len, vocabulary.tokens), np.int32, len(vocabulary))
        self.longest = int(lengths.max())
        self.data = np.frombuffer(b"".join(vocabulary.tokens) or b"\0", np.uint8)
        self.offsets: Ints = np.zeros(len(vocabulary) + 1, np.int32)
        np.cumsum(lengths, out=self.offsets[1:])
        self.nothing: Ints = np.zeros_like(vocabulary.all_words)
        self.nothing.setflags(write=False)
        path: Ints = np.zeros((self.longest + 2, PATH_COLUMNS), np.int32)
        found: Ints = np.zeros(len(vocabulary), np.int32)
        self.tries = Tries(
            vocabulary.whole_trie,
            vocabulary.partial_trie,
            vocabulary.token_of_rank,
            path,
            found,
            chain=np.zeros(self.longest + 1, np.int32),
            nothing=np.zeros(ASCII_WORDS + 1, np.int32),
        )
        self.ends: Ints = np.array(vocabulary.eos_ids, np.int32)
        self.all_bytes = bool(vocabulary.is_token_byte.all())
        self._texts: dict[TextKey, Text | None] = {}
        self._met: dict[TextKey, int] = {}
        self.text(QUOTED, _TIMES_MET)

    def text(self, key: TextKey, times: int = 1) -> Text | None:
        """What is kept for a set of characters; None where there is nothing, or it has not been met often enough."""
        if key not in self._texts:
            self._met[key] = times = self._met.get(key, 0) + times
            if times < _TIMES_MET or len(self._texts) == _MAX_TEXTS:
                return None
            text = Text(np.array(key, np.int32), self._tokens, self.data, self.offsets)
            self._texts[key] = text if text.is_short_cut else None
        return self._texts[key]


_all: WeakKeyDictionary[Vocabulary, Prepared] = WeakKeyDictionary()
_making = RLock()


def prepared(vocabulary: Vocabulary) -> Prepared:
    """What a vocabulary keeps; made when first asked for, in some hundredths of a second."""
    with _making:
        found = _all.get(vocabulary)
        if found is None:
            found = _all[vocabulary] = Prepared(vocabulary)
        return found
