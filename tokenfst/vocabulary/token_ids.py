"""Sets of tokens by number, as grammars write them.

    <[7]>           token 7
    <[7,10-19]>     several tokens, ranges with both ends
    <[^7,10-19]>    all others
    <[*]>           all

Tokens that end a sequence are in none of the last two, since nothing could follow them.
"""

from __future__ import annotations

import re

from automata.errors import VocabularyError
from tokenfst.vocabulary.vocabulary import Vocabulary

_NUMBERS = re.compile(r"<\[(\^?)([0-9]{1,9}(?:-[0-9]{1,9})?(?:,[0-9]{1,9}(?:-[0-9]{1,9})?)*)\]>")


def ids_by_number(name: str, vocabulary: Vocabulary) -> list[int] | None:
    """The ids that such a name stands for, ascending; None for other names.

    Raises:
        VocabularyError: a number that is no token's.
    """
    if name == "<[*]>":
        return others(set(), vocabulary)
    match = _NUMBERS.fullmatch(name)
    if match is None:
        return None
    ids: set[int] = set()
    for part in match[2].split(","):
        low, _, high = part.partition("-")
        first, last = int(low), int(high or low)
        if last >= len(vocabulary):
            raise VocabularyError(f"terminal {name!r}: id {last} is outside the {len(vocabulary):,} tokens")
        ids.update(range(first, last + 1))
    return others(ids, vocabulary) if match[1] else sorted(ids)


def others(ids: set[int], vocabulary: Vocabulary) -> list[int]:
    """All ids but these, and but those that end a sequence."""
    return [token for token in range(len(vocabulary)) if token not in ids and token not in vocabulary.eos_ids]
