"""Constraints that are deliberately naive, for comparison with exact ones.

    Stepwise                what a loop needs of a constraint; exact automata have it, too
    WithinTerminals         no token may cross more than k boundaries between terminals of JSON
    Template                a text with slots: its fixed parts are tokenized separately, a slot filters single tokens

`WithinTerminals` are the constraints of DOMINO with a lookahead of k (Beurer-Kellner, Fischer & Vechev 2024, section
3.4): with k = 0 a token lies within one terminal, with k = 1 it may reach into the next. Blanks are a terminal of their
own, as in the paper's grammar of JSON (appendix C, listing 3). A `Template` is a program of GUIDANCE without token
healing (section 2 and appendix A).

Both also consult an exact automaton, so whatever they allow is valid. They are naive because they forbid tokenizations,
and a template also layouts, that the exact constraint allows. If every byte is a token, `WithinTerminals` never gets
stuck; neither does a template if the schema requires nothing of its strings except a maximum length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary

S = TypeVar("S")
Mask = npt.NDArray[np.bool_]


class Stepwise(Protocol[S]):
    """A constraint that tells, state by state, which tokens may come next.

    Attributes:
        start: the state before the first token.
    """

    start: S

    def mask(self, state: S) -> Mask:
        """Return the mask of the tokens that are allowed in a state, `[V]`."""

    def advance(self, state: S, token: int) -> S:
        """Return the state after a token that is allowed, other than an end token."""


class Terminal(Enum):
    """The terminal that the last byte belongs to; a string and an escape are still open, a mark is complete."""

    NUMBER = auto()
    WORD = auto()
    BLANKS = auto()
    MARK = auto()
    STRING = auto()
    ESCAPE = auto()


# Terminals that a further byte of the same kind continues.
_OPEN = Terminal.NUMBER, Terminal.WORD, Terminal.BLANKS


def crossed(last: Terminal, text: bytes) -> tuple[int, Terminal]:
    """Return the number of boundaries between terminals inside a part of a JSON text, and its last byte's terminal.

    Args:
        last: the terminal of the byte before the part; `MARK` at the beginning of a text.
        text: the part. A boundary at its beginning or end is not inside.
    """
    boundaries = 0
    for place, byte in enumerate(text):
        if last is Terminal.ESCAPE:
            last = Terminal.STRING
        elif last is Terminal.STRING:
            last = {ord('"'): Terminal.MARK, ord("\\"): Terminal.ESCAPE}.get(byte, Terminal.STRING)
        else:
            kind = _kind(last, byte)
            boundaries += place > 0 and not (kind is last and kind in _OPEN)
            last = kind
    return boundaries, last


def _kind(last: Terminal, byte: int) -> Terminal:
    """Return the terminal that a byte outside of strings belongs to."""
    if byte == ord('"'):
        return Terminal.STRING
    if byte in b" \t\r\n":
        return Terminal.BLANKS
    if byte in b"+-.0123456789" or (byte in b"eE" and last is Terminal.NUMBER):
        return Terminal.NUMBER
    return Terminal.WORD if chr(byte).isalpha() else Terminal.MARK


class WithinTerminals(Generic[S]):
    """An automaton over JSON, without the tokens that cross more than a number of boundaries between terminals."""

    def __init__(self, automaton: TokenAutomaton, boundaries: int) -> None:
        """Make the constraint.

        Args:
            automaton: the exact constraint.
            boundaries: k, the number of boundaries that a token may cross.
        """
        self.automaton = automaton
        self.start = automaton.start, Terminal.MARK
        self._few = {last: self._crossing(last, boundaries) for last in Terminal}

    def mask(self, state: tuple[S, Terminal]) -> Mask:
        """Return the mask of the tokens that are allowed in a state, `[V]`."""
        return self.automaton.mask(state[0]) & self._few[state[1]]

    def advance(self, state: tuple[S, Terminal], token: int) -> tuple[S, Terminal]:
        """Return the state after a token that is allowed."""
        text = self.automaton.vocabulary.tokens[token]
        return self.automaton.advance(state[0], token), crossed(state[1], text)[1]

    def _crossing(self, last: Terminal, most: int) -> Mask:
        vocabulary = self.automaton.vocabulary
        few = np.array([crossed(last, text)[0] <= most for text in vocabulary.tokens])
        few[list(vocabulary.eos_ids)] = True
        return few


class Slot(Enum):
    """The kinds of text that a template leaves to the model; the value is the bytes that a slot may consist of."""

    NUMBER = b"0123456789"
    STRING = bytes(byte for byte in range(256) if byte >= 0x20 and byte not in b'"\\')


class Place(NamedTuple):
    """The place of a text in a template.

    Attributes:
        exact: the state of the exact automaton.
        part: the number of the part that the text has reached.
        tokens: the number of the part's tokens that are written; 0 in a slot.
    """

    exact: Any
    part: int
    tokens: int


class Template:
    """A text with slots.

    Every text between slots is forced token by token, as the tokenizer cuts that text alone. In a slot, every token is
    allowed that lies within it, and also the first token of the text that comes next, which closes the slot. A template
    begins and ends with a text, and there is a text between any two slots.
    """

    def __init__(
        self, automaton: TokenAutomaton, parts: Sequence[str | Slot], encode: Callable[[str], list[int]]
    ) -> None:
        """Make the constraint.

        Args:
            automaton: the exact constraint, which allows the texts of the template.
            parts: texts and slots in turn.
            encode: returns the tokens of a text.
        """
        self.automaton = automaton
        self.start = Place(automaton.start, 0, 0)
        vocabulary = automaton.vocabulary
        self._texts = [[] if isinstance(part, Slot) else encode(part) for part in parts]
        self._inside = [_inside(vocabulary, part) if isinstance(part, Slot) else None for part in parts]

    def mask(self, state: Place) -> Mask:
        """Return the mask of the tokens that are allowed in a state, `[V]`."""
        return self.automaton.mask(state.exact) & self._filter(state)

    def advance(self, state: Place, token: int) -> Place:
        """Return the state after a token that is allowed."""
        exact = self.automaton.advance(state.exact, token)
        inside = self._inside[state.part]
        if inside is not None:
            return Place(exact, state.part, 0) if inside[token] else self._behind(exact, state.part + 1, 1)
        return self._behind(exact, state.part, state.tokens + 1)

    def _behind(self, exact: Any, part: int, tokens: int) -> Place:
        """Return the place after some tokens of a text; after the last one it is in the next slot, if there is one."""
        last = len(self._texts) - 1
        if tokens == len(self._texts[part]) and part < last:
            return Place(exact, part + 1, 0)
        return Place(exact, part, tokens)

    def _filter(self, state: Place) -> Mask:
        vocabulary, inside = self.automaton.vocabulary, self._inside[state.part]
        allowed = np.zeros(len(vocabulary), np.bool_) if inside is None else inside.copy()
        if inside is not None:
            allowed[self._texts[state.part + 1][0]] = True
        elif state.tokens < len(self._texts[state.part]):
            allowed[self._texts[state.part][state.tokens]] = True
        else:
            allowed[list(vocabulary.eos_ids)] = True
        return allowed


def _inside(vocabulary: Vocabulary, slot: Slot) -> Mask:
    """Return the mask of the tokens whose bytes may all be in a slot, `[V]`."""
    inside = np.array([bool(text) and set(text) <= set(slot.value) for text in vocabulary.tokens])
    inside[list(vocabulary.eos_ids)] = False
    return inside
