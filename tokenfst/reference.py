"""The token automaton by its definition: OpenFst composes the detokenizer with the constraint.

    determinize(rmepsilon(project(detokenizer o constraint)))        (Koo, Liu & He 2024, Algorithm 2)

This takes hundreds of milliseconds or more for constraints that allow free text. Tests compare the fast path
(`tokenfst.finite.classes`) with it. This module is a good place to start reading.
"""

from __future__ import annotations

from collections.abc import Iterable

import pynini

from automata.byte_automaton import ByteAutomaton
from automata.errors import EmptyLanguage, TokenNotAllowed
from automata.openfst import Fst, to_arcs
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.detokenizer import detokenizer


def compose_by_definition(automaton: ByteAutomaton, vocabulary: Vocabulary, *, at_text_start: bool = False) -> Fst:
    """Return the deterministic trim acceptor over token ids, without any state if the language is empty.

    Args:
        automaton: the byte automaton of the constraint.
        vocabulary: the tokens.
        at_text_start: as for `tokenfst.compile`.
    """
    composed = detokenizer(vocabulary, at_text_start=at_text_start) @ automaton.fst()
    return pynini.determinize(composed.project("input").rmepsilon()).connect()


class Reference:
    """A token automaton by definition, with some of the methods of `tokenfst.TokenAutomaton`.

    Attributes:
        vocabulary: the tokens.
        start: the state before the first token.
    """

    def __init__(self, automaton: ByteAutomaton, vocabulary: Vocabulary, *, at_text_start: bool = False) -> None:
        """Compose the detokenizer with the constraint; arguments as for `compose_by_definition`.

        Raises:
            EmptyLanguage: no sequence of tokens spells a text of the language.
        """
        self.vocabulary = vocabulary
        self.start, final, arcs = to_arcs(compose_by_definition(automaton, vocabulary, at_text_start=at_text_start))
        if self.start < 0:
            raise EmptyLanguage("no sequence of tokens spells a text of the language")
        self._final: list[bool] = final.tolist()
        self._next: list[dict[int, int]] = [{} for _ in self._final]
        for source, token, _, target in arcs.T.tolist():
            self._next[source][token] = target

    def is_final(self, state: int) -> bool:
        """Return whether the text may end in a state."""
        return self._final[state]

    def allowed(self, state: int) -> set[int]:
        """Return the tokens that may come next, including end tokens."""
        return {*self._next[state], *(self.vocabulary.eos_ids if self._final[state] else ())}

    def advance(self, state: int, token: int) -> int:
        """Return the state after one more token, which is not an end token.

        Raises:
            TokenNotAllowed: the token may not come next.
        """
        try:
            return self._next[state][token]
        except KeyError:
            raise TokenNotAllowed(f"token {token} is not allowed in state {state}") from None

    def accepts(self, token_ids: Iterable[int]) -> bool:
        """Return whether tokens, without an end token, write a text of the language."""
        state = self.start
        for token in token_ids:
            if token not in self._next[state]:
                return False
            state = self._next[state][token]
        return self._final[state]
