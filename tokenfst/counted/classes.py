"""Token classes of a counted byte automaton: tokens with the same function on states and the register form a class.

The walk over the vocabulary's trie is that of `tokenfst.finite.classes`, with guarded functions
(`native/tokenfst/counted/register_functions.h`).
"""

from __future__ import annotations

from automata.counted import CountedByteAutomaton
from automata.errors import LimitExceeded
from automata.limits import Work
from tokenfst import _native
from tokenfst._native import CountedClasses
from tokenfst.vocabulary import Vocabulary


def counted_classes(automaton: CountedByteAutomaton, vocabulary: Vocabulary, work: Work) -> CountedClasses:
    """Sort the tokens of a vocabulary into classes.

    Raises:
        LimitExceeded: the classes take too much memory, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    try:
        return _native.counted_classes(automaton.tables, vocabulary.native, work.budget)
    except LimitExceeded as error:
        raise error.of(f"the effect of tokens on {automaton.num_states:,} states with a register") from None
