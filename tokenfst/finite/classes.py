"""Token classes: the composition of a constraint with a detokenizer, fast and exact.

A byte automaton gives every byte string a partial function on its states. Two tokens with the same function are one
letter to the automaton, so the vocabulary's trie is walked once, carrying the function of the prefix
(`native/tokenfst/walk.h`, `state_functions.h`). The result is the minimal-alphabet form of `determinize(A o T)` (Koo,
Liu & He 2024, Algorithm 2): a class for each token and the transitions of each class, kilobytes in place of a mask for
each state. `tokenfst.reference` is the definition that this is tested against.
"""

from __future__ import annotations

from automata.byte_automaton import ByteAutomaton
from automata.errors import LimitExceeded
from automata.limits import Work
from tokenfst import _native
from tokenfst._native import TokenClasses
from tokenfst.vocabulary import Vocabulary

# Class 0 is every token that no state allows; class 1 is the end of the sequence.
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
        raise error.of(f"what tokens do to {automaton.num_states:,} states") from None
