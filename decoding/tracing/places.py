"""The place of a text in its constraint, found by reading the text again.

    StackReader      for a grammar: the rules that are open         from the automaton over bytes, byte by byte
    PointerReader    for JSON: the pointer of the current value     from the text (`decoding.writing.partial_json`)
    NotesReader      for all: what may come, and the part of the pattern, the rule or the schema that requires it
                     (`tokenfst.explanation.following`)
    readers_of(...)  the readers for an automaton

Each reads the tokens of a text in order. They find the constraint in `TokenAutomaton.source`; an automaton from a file
has none.
"""

from __future__ import annotations

import codecs
from typing import NamedTuple, Protocol

from automata.errors import LimitExceeded
from automata.limits import Limits, Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_grammar
from automata.pushdown.grammar import Grammar
from automata.pushdown.step_table import Configuration
from constraints.json_schema.alternatives import JsonTexts
from decoding.writing.partial_json import PartialJson
from tokenfst.explanation.following import Following
from tokenfst.explanation.place_rows import aligned
from tokenfst.token_automaton import TokenAutomaton


class Place(NamedTuple):
    """The place of a text; see `decoding.tracing.traced_text.TraceStep`."""

    stacks: tuple[tuple[str, ...], ...] = ()
    pointer: str | None = None
    notes: tuple[str, ...] = ()


class PlaceReader(Protocol):
    """Follows one text."""

    def place(self, known: Place) -> Place:
        """Return the known place, with what this reader adds to it."""

    def put(self, token: int, written: bytes) -> None:
        """Read a token, and the text that it adds."""


class StackReader:
    """Follows the stack of a grammar."""

    def __init__(self, automaton: PushdownAutomaton) -> None:
        self._automaton = automaton
        self._found: list[Configuration] = automaton.configurations(b"")

    def place(self, known: Place) -> Place:
        """Return the open rules, for each way to read the text."""
        return known._replace(stacks=tuple(dict.fromkeys(map(self._stack, self._found))))

    def put(self, token: int, written: bytes) -> None:
        """Read more of the text."""
        self._found = self._automaton.continued(self._found, written)

    def _stack(self, configuration: Configuration) -> tuple[str, ...]:
        state, stack = configuration
        inside = self._automaton.state_name(state) or f"state {state}"
        return (*map(self._automaton.symbol_name, stack), inside)


class PointerReader:
    """Follows the pointer of a JSON text."""

    def __init__(self) -> None:
        self._json = PartialJson()
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def place(self, known: Place) -> Place:
        """Return the pointer of the value that the text is in."""
        return known._replace(pointer=self._json.pointer)

    def put(self, token: int, written: bytes) -> None:
        """Read more of the text."""
        self._json.feed(self._decoder.decode(written))


class NotesReader:
    """Follows a text through its constraint; if this exceeds the limits, a note says so."""

    def __init__(self, automaton: TokenAutomaton, limits: Limits) -> None:
        self._limits = limits
        self._following: Following | None = None
        self._stopped = ""
        assert automaton.source is not None
        try:
            with Work(limits).current() as work:
                self._following = Following(
                    automaton.source, automaton.vocabulary, work, at_text_start=automaton.at_text_start
                )
        except LimitExceeded as error:
            self._stop(error)

    def _stop(self, error: LimitExceeded) -> None:
        self._following, self._stopped = None, f"the place is not known: {error}"

    def place(self, known: Place) -> Place:
        """Return what may come, and the place in the constraint."""
        if self._following is not None:
            try:
                with Work(self._limits).current():
                    return known._replace(notes=tuple(aligned(self._following.rows())))
            except LimitExceeded as error:
                self._stop(error)
        return known._replace(notes=(self._stopped,))

    def put(self, token: int, written: bytes) -> None:
        """Read a token."""
        if self._following is not None:
            try:
                with Work(self._limits).current():
                    self._following.put(token, written)
            except LimitExceeded as error:
                self._stop(error)


def readers_of(automaton: TokenAutomaton | None, limits: Limits) -> tuple[PlaceReader, ...]:
    """Return the readers for a text of an automaton; none for free text, or if the constraint is not known.

    Args:
        automaton: the automaton that constrained the text.
        limits: the limits of compiling the constraint over bytes, and of finding each place.
    """
    if automaton is None or automaton.source is None:
        return ()
    found: list[PlaceReader] = []
    constraint = automaton.source.constraint
    if isinstance(constraint, JsonTexts):
        found.append(PointerReader())
    if isinstance(constraint, Grammar):
        with Work(limits).current() as work:
            constraint = compile_grammar(constraint, work=work)
    if isinstance(constraint, PushdownAutomaton) and not constraint.labels:
        found.append(StackReader(constraint))
    # With a detokenizer, a text is not what its tokens write one by one.
    return (*found, *([] if automaton.vocabulary.detokenizer is not None else [NotesReader(automaton, limits)]))
