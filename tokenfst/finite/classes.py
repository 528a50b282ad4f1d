"""Token classes: the composition of a byte automaton with the detokenizer.

A byte string defines a partial function on the states of a byte automaton. Two tokens with the same function are
equivalent. One walk over the vocabulary's trie computes all functions, extending that of the prefix byte by byte
(`native/tokenfst/walk.h`, `state_functions.h`). The result is `determinize(A o T)` (Koo, Liu & He 2024, Algorithm 2)
over the smallest alphabet: the class of each token and the transitions of each class, kilobytes instead of one mask per
state. Tests compare it with the definition in `tokenfst.reference`.
"""

from __future__ import annotations

from automata.byte_automaton import ByteAutomaton
from automata.errors import LimitExceeded
from automata.limits import Work
from tokenfst import _native
from tokenfst._native import TokenClasses
from tokenfst.vocabulary import Vocabulary

# Class 0 contains the tokens that no state allows, class 1 the end tokens.
NEVER, END, FIRST_CLASS = 0, 1, 2


def token_classes(automaton: ByteAutomaton, vocabulary: Vocabulary, work: Work) -> TokenClasses:
    """Sort the tokens of a vocabulary into classes.

    Raises:
        LimitExceeded: the classes take too much memory, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    try:
        return _native.token_classes(automaton.tables, vocabulary.native, work.budget)
    except LimitExceeded as error:
        raise error.of(f"the effect of tokens on {automaton.num_states:,} states") from None
