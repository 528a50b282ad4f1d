"""Proposers of forced tokens and forced text (`tokenfst.jump_forward`).

ForcedTokens    proposes tokens that are the only ones in their mask. They are certain: they need no verification and,
                at the beginning or end of a text, no forward pass of their own
ForcedText      proposes text that must follow, in the encoder's tokens. The model may prefer other tokens, so these are
                verified by default. Without verification, the model is not asked, and the distribution of texts differs
                from the model's
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from decoding.speculation.tree import Tree
from tokenfst.jump_forward import ENCODER_CONTEXT, Encode, forced_text, only_token, retokenized, settled
from tokenfst.token_automaton import TokenAutomaton

# The maximum number of states of an automaton whose forced texts are kept.
_MAX_CACHED = 4096


class ForcedTokens:
    """Proposes the allowed token wherever a mask allows only one."""

    forwards = 0

    def propose(self, trees: Sequence[Tree[Any]]) -> None:
        """Add forced tokens, one after another."""
        for tree in trees:
            for leaf in tree.leaves():
                place: int | None = leaf
                while place is not None and tree.is_open(place):
                    token = only_token(tree.mask(place))
                    place = tree.add(place, token, certain=True) if token is not None else None

    def observe(self, automaton: TokenAutomaton, state: Any, before: int | None, token: int) -> None:
        """Learn nothing."""


class ForcedText:
    """Proposes text that must follow."""

    forwards = 0

    def __init__(self, encode: Encode, *, verified: bool = True) -> None:
        """Make a proposer.

        Args:
            encode: encodes a text to token ids, as in the model's training, without special tokens.
            verified: whether the model verifies the tokens. If not, forced text is written without asking the model,
                except for its last piece.
        """
        self.encode = encode
        self.verified = verified
        self._texts: WeakKeyDictionary[TokenAutomaton, dict[Hashable, bytes]] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes to pickle: all but the forced texts, which are found again."""
        return {name: value for name, value in self.__dict__.items() if name != "_texts"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the pickled attributes."""
        self.__dict__.update(state)
        self._texts = WeakKeyDictionary()

    def propose(self, trees: Sequence[Tree[Any]]) -> None:
        """Add the tokens of forced text."""
        for tree in trees:
            for leaf in tree.leaves():
                place: int | None = leaf
                for token in self._tokens(tree, leaf):
                    place = tree.add(place, token, certain=not self.verified) if place is not None else None

    def observe(self, automaton: TokenAutomaton, state: Any, before: int | None, token: int) -> None:
        """Learn nothing."""

    def _tokens(self, tree: Tree[Any], place: int) -> list[int]:
        automaton, state = tree.automaton, tree.state(place)
        text = self._text(automaton, state)
        if not text:
            return []
        before = [*tree.text.tokens[-ENCODER_CONTEXT:], *(tree.tokens[node] for node in tree.path(place))]
        tokens = retokenized(automaton.vocabulary, before, text, self.encode)
        return tokens if self.verified else settled(automaton, state, tokens, tree.remaining(place))

    def _text(self, automaton: TokenAutomaton, state: Any) -> bytes:
        texts = self._texts.setdefault(automaton.shared, {})
        text = texts.get(state)
        if text is None:
            if len(texts) >= _MAX_CACHED:
                texts.clear()
            text = texts[state] = forced_text(automaton, state)
        return text
