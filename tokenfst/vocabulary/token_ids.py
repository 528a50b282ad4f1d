"""Sets of tokens by number, in the syntax of grammars.

    <[7]>           token 7
    <[7,10-19]>     several tokens; ranges include both ends
    <[^7,10-19]>    all other tokens
    <[*]>           all tokens

The last two do not include end tokens, because nothing can follow them.
"""

from __future__ import annotations

import re

from automata.errors import VocabularyError
from tokenfst.vocabulary.vocabulary import Vocabulary

_NUMBERS = re.compile(r"<\[(\^?)([0-9]{1,9}(?:-[0-9]{1,9})?(?:,[0-9]{1,9}(?:-[0-9]{1,9})?)*)\]>")


def ids_by_number(name: str, vocabulary: Vocabulary) -> list[int] | None:
    """Return the ids that a name in this syntax stands for, ascending; None for any other name.

    Raises:
        VocabularyError: a number is not a token id.
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
    """Return all ids except the given ones and those of end tokens, ascending."""
    return [token for token in range(len(vocabulary)) if token not in ids and token not in vocabulary.eos_ids]
