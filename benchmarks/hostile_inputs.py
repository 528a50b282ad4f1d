"""More than 400 inputs that ask for too much, or that are malformed: patterns, schemas and grammars.

    hostile_patterns    nested bounds, ambiguous alternatives and repetitions, look-around, sizes, mistakes
    hostile_schemas     bounds, numbers, huge lists, wide objects, combinations, references, depths, strange text,
                        mistakes
    hostile_grammars    ambiguity, recursion, sizes, mistakes

`INPUTS` has them by name. Code makes all of them, so they are the same in every run. Some are what users of engines
have run into (bounds of bounds, lengths in addition to patterns, references to themselves, constants with NaN). Others
are known to need large automata (the n-th letter from the end, primes, letters in any order).
"""

from __future__ import annotations

from typing import Final

import hostile_grammars
import hostile_patterns
import hostile_schemas
from hostile_input import Hostile, Inputs

__all__ = ["INPUTS", "Hostile"]


def _all() -> Inputs:
    inputs = Inputs()
    for part in (hostile_patterns, hostile_schemas, hostile_grammars):
        part.add(inputs)
    return inputs


INPUTS: Final = _all()
