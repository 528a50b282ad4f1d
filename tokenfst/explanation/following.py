"""Following: the place of one text in its constraint, token by token, and what may come there.

An explanation answers one question about one prefix. A trace asks the same question after each token of a text, so here
the text is read once, and the parts that were compiled for one place are reused for the next.
"""

from __future__ import annotations

from automata.limits import Work
from automata.places import Place, Walk
from tokenfst.explanation.byte_view import ByteView
from tokenfst.explanation.place_rows import Row, place_rows
from tokenfst.explanation.reasons import SchemaPlace, SupportsPlaces, walk_of
from tokenfst.explanation.wording import symbols_in_words
from tokenfst.token_automaton import Source
from tokenfst.vocabulary import Vocabulary


class Following:
    """Follows one text of a constraint; each call needs a current compilation (`Work.current`)."""

    def __init__(self, source: Source, vocabulary: Vocabulary, work: Work, *, at_text_start: bool = False) -> None:
        """Compile the constraint over bytes, and begin before the first byte.

        Args:
            source: what an automaton was compiled from.
            vocabulary: the tokens; the vocabulary has no `detokenizer`.
            work: the limits.
            at_text_start: whether the tokens begin a text.
        """
        constraint = source.constraint
        self._pattern = constraint if isinstance(constraint, str) else None
        self._view = ByteView(constraint, vocabulary, source.terminals, work, at_text_start=at_text_start)
        self._at, self._text = self._view.start, b""
        self._walk: Walk | None = walk_of(constraint)
        self._find = constraint.place_finder() if isinstance(constraint, SupportsPlaces) else None

    def put(self, token: int, written: bytes) -> None:
        """Read an allowed token.

        Args:
            token: its id.
            written: the bytes that it adds to the text.
        """
        if self._view.is_symbol(token):
            self._at = self._view.step_token(self._at, token)
            if names := self._view.names_of(token):
                self._read(names)
        else:
            self._at, _ = self._view.read(self._at, written)
            for byte in written:
                self._read(byte)
        self._text += written

    def _read(self, symbol: int | frozenset[str]) -> None:
        """Continue the walk with a symbol.

        The walk cannot read a named token that writes text; from then on, places are unknown.
        """
        if self._walk is not None:
            read = self._walk.read(symbol) if isinstance(symbol, int) else self._walk.read_label(symbol)
            self._walk = self._walk if read else None

    def rows(self) -> list[Row]:
        """Return rows that say what may come next, and where the text stands in the constraint."""
        view, at = self._view, self._at
        expected = view.expected(at)
        words = symbols_in_words(expected, view.expected_labels(at), view.may_end(at))
        return [("expected", [words]), *place_rows(self._places(expected), self._pattern, self._text)]

    def _places(self, expected: frozenset[int]) -> tuple[Place | SchemaPlace, ...]:
        if self._walk is not None:
            return self._walk.places(expected)
        return () if self._find is None else self._find(self._text, expected)
