"""Find the labels that lazy automata can follow as bytes (`automata.label_bytes`).

A lazy automaton reads bytes. A token that writes nothing can be represented by three bytes that no text contains. A
token that writes bytes cannot, because it may also be taken by its bytes.
"""

from __future__ import annotations

from itertools import chain

from automata.label_bytes import LabelNumbers
from tokenfst.finite.terminals import Terminals, token_set
from tokenfst.vocabulary import Vocabulary


def label_numbers(labels: tuple[str, ...], vocabulary: Vocabulary, terminals: Terminals) -> LabelNumbers | None:
    """Return the numbers of the tokens of each label, as `Vocabulary.label_texts` spells them.

    None if some token writes bytes or belongs to two labels, or if a label has no token.

    Raises:
        UnknownTerminal, VocabularyError: as for `tokenfst.finite.terminals.token_set`.
    """
    sets = [token_set(name, vocabulary, terminals).tolist() for name in labels]
    number_of = vocabulary.silent_numbers
    found = list(chain.from_iterable(sets))
    if len(set(found)) < len(found) or not all(sets) or not all(token in number_of for token in found):
        return None
    return {name: sorted(number_of[token] for token in ids) for name, ids in zip(labels, sets, strict=True)}
