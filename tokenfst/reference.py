"""The token automaton by definition: OpenFst composes the detokenizer with the constraint, and that is all.

    determinize(rmepsilon(project(detokenizer o constraint)))        (Koo, Liu & He 2024, Algorithm 2)

Slow where free text is allowed, hundreds of milliseconds and more, and without any cleverness: what the fast
path (`tokenfst.finite.classes`) is tested against, and what to read first.
"""

from __future__ import annotations

from collections.abc import Iterable

import pywrapfst

from automata.byte_automaton import ByteAutomaton
from automata.errors import EmptyLanguage, TokenNotAllowed
from automata.openfst import Fst, to_arcs
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.detokenizer import detokenizer


def compose_by_definition(automaton: ByteAutomaton, vocabulary: Vocabulary, *, at_text_start: bool = False) -> Fst:
    """The deterministic trim acceptor over token ids; with no state at all where nothing can be written."""
    transducer = detokenizer(vocabulary, at_text_start=at_text_start)
    # Compose looks up the constraint's bytes by the transducer's outputs: one side must be sorted by them.
    transducer.arcsort("olabel")
    composed = pywrapfst.compose(transducer, automaton.fst())
    composed.project("input")
    composed.rmepsilon()
    result = pywrapfst.determinize(composed)
    return result.connect()


class Reference:
    """The same questions as `tokenfst.TokenAutomaton` answers, asked of the definition.

    Attributes:
        start: the state before the first token.
    """

    def __init__(self, automaton: ByteAutomaton, vocabulary: Vocabulary, *, at_text_start: bool = False) -> None:
        """Composes.

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
        """Whether the text may end here."""
        return self._final[state]

    def allowed(self, state: int) -> set[int]:
        """The tokens that may come next, end tokens included."""
        return {*self._next[state], *(self.vocabulary.eos_ids if self._final[state] else ())}

    def advance(self, state: int, token: int) -> int:
        """The state after one more token, which is not an end token.

        Raises:
            TokenNotAllowed: the token may not come next.
        """
        try:
            return self._next[state][token]
        except KeyError:
            raise TokenNotAllowed(f"token {token} is not allowed in state {state}") from None

    def accepts(self, token_ids: Iterable[int]) -> bool:
        """Whether the tokens, without an end token, are a whole text of the language."""
        state = self.start
        for token in token_ids:
            if token not in self._next[state]:
                return False
            state = self._next[state][token]
        return self._final[state]
