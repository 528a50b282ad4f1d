"""Some three hundred inputs that ask for too much, or that are malformed: patterns, schemas and grammars.

    hostile_patterns    nested bounds, alternatives without end, look-around, sizes, mistakes
    hostile_schemas     bounds, huge lists, wide objects, all of everything, references, depths, strange text, mistakes
    hostile_grammars    ambiguity, recursion, sizes, mistakes

`INPUTS` has them by name. All are made by code, the same in every run; what each is comes from what engines' users
have run into (bounds of bounds, lengths beside patterns, references to themselves, constants with NaN), and from what
is known to need large automata (the n-th letter from the end, primes, letters in any order).
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
