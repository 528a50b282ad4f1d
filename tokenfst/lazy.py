"""LazyTokenAutomaton: an automaton over tokens that computes each mask when it is first needed.

The time to compute complete tables grows with the number of states, but a text visits few of them. A lazy automaton
computes a mask by one walk over the vocabulary's trie from the current configuration, and caches it by state and by the
part of the stack that the walk read, as RE2 builds its DFA. It runs on a byte automaton, on a pushdown automaton, or on
a visibly pushdown grammar whose byte automaton is constructed on the fly (`native/tokenfst/lazy/`). The functions
`lazy_from_...` return None if the result would not be exact.

The complete tables are built on demand (`tokenfst.lazy_tables`).

A budget needs the least number of tokens to the end, which only the tables give exactly. The native core has an upper
bound without tables. If the bound fits the budget, the mask made with it is exact, and no table is needed. Otherwise
the tables are completed if they are small, because the text has to wait for them. If they are not, the bound is used,
and texts still end within their budgets; `complete` makes the tables whatever their size, within its limits.

Rejected: exact distances without tables (computing them takes the same search over all states and tokens); letting the
caller choose (the caller cannot know the size of the tables); making large tables in the background (which masks are
exact would depend on the time).
"""

from __future__ import annotations

from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from automata.arrays import BoolArray
from automata.byte_automaton import ByteAutomaton
from automata.errors import EmptyLanguage, LimitExceeded
from automata.label_bytes import MARKER, without_labels
from automata.limits import Cancellation, Limits, Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.label_bytes import without_labels as pushdown_without_labels
from automata.visibly_pushdown.grammar import VisiblyPushdownGrammar
from automata.visibly_pushdown.inlining import check_calls
from automata.visibly_pushdown.layout import lay_out
from tokenfst import _native
from tokenfst.finite.beginning import with_finite_beginning
from tokenfst.finite.terminals import Terminals
from tokenfst.labels import label_numbers
from tokenfst.lazy_tables import LazyTables, MakeTables
from tokenfst.native_automaton import NativeTokenAutomaton, core_budget
from tokenfst.pushdown.beginning import with_pushdown_beginning
from tokenfst.pushdown.compile import spells_all as pushdown_spells_all
from tokenfst.token_automaton import Source, State, TokenAutomaton
from tokenfst.vocabulary import TextStart, Vocabulary

# The number of states whose masks are cached; a full cache is emptied.
MAX_CACHED_STATES = 1 << 16
# The greatest number of bytes of a text in a message.
_MAX_SHOWN = 60


@runtime_checkable
class SupportsLazy(Protocol):
    """A constraint that is a visibly pushdown grammar; lazy automata run on it without an automaton over bytes."""

    def to_visibly_pushdown(self) -> VisiblyPushdownGrammar:
        """Return the grammar."""
        ...


class LazyTokenAutomaton(NativeTokenAutomaton):
    """An automaton over tokens whose masks and tables are computed when they are first needed.

    Threads may share it; calls on one automaton run one at a time.

    Attributes:
        core: the automaton of the native core.
    """

    core: _native.LazyCore

    def __init__(
        self,
        vocabulary: Vocabulary,
        core: _native.LazyCore,
        make_tables: MakeTables,
        limits: Limits,
        *,
        at_text_start: bool = False,
    ) -> None:
        """Initialize the automaton.

        Args:
            vocabulary: the tokens.
            core: the automaton of the native core.
            make_tables: builds the same automaton with complete tables.
            limits: the default limits of `complete`.
            at_text_start: as for `TokenAutomaton`.
        """
        self.vocabulary = vocabulary
        self.core = core
        self.start = core.start
        self.at_text_start = at_text_start
        # Shared by all automata that `with_source` makes of this one.
        self._tables = LazyTables(core, make_tables, limits)
        self._completed: TokenAutomaton | None = None

    def __repr__(self) -> str:
        return f"<LazyTokenAutomaton, {self.core.num_masks:,} states visited>"

    @property
    def end_state(self) -> int:
        """The state after an end token."""
        return self.core.end_state

    @property
    def nbytes(self) -> int:
        """The memory in bytes, with cached masks, and with the tables if they have been made."""
        return self.core.num_bytes + self._tables.nbytes

    # Tables

    def complete(self, *, limits: Limits | None = None, cancellation: Cancellation | None = None) -> TokenAutomaton:
        """Return the same automaton with complete tables; see `TokenAutomaton.complete`."""
        tables = self._tables.made(limits or self._tables.limits, cancellation)
        if self._completed is None or self._completed.shared is not tables:
            self._completed = tables.with_source(self.source)
        return self._completed

    def with_source(self, source: Source | None) -> Self:
        """Return the same automaton with another source; see `TokenAutomaton.with_source`."""
        found = super().with_source(source)
        found._completed = None
        return found

    def key(self, state: State) -> tuple[int, ...]:
        """Return the key of a state; see `TokenAutomaton.key`."""
        tables = self.complete()
        counterpart = self._tables.counterpart(state)
        if counterpart is None:
            raise _no_tokens(state)
        return tables.key(counterpart)

    # Budgets

    def min_tokens(self, state: State) -> int:
        """Return the least number of tokens to the end; see `TokenAutomaton.min_tokens`."""
        bound = super().min_tokens(state)
        tables = self._tables.small()
        counterpart = None if tables is None else self._tables.counterpart(state)
        return bound if tables is None or counterpart is None else tables.min_tokens(counterpart)

    def fits(self, state: State, remaining: int) -> bool:
        """Return whether the text can be completed within a budget; see `TokenAutomaton.fits`."""
        return super().min_tokens(state) <= remaining or self.min_tokens(state) <= remaining

    def _fill_within(self, state: State, out: npt.NDArray[np.int32], remaining: int) -> None:
        if not self.core.fill_within(state, out, core_budget(remaining)):
            tables = self._tables.small()
            counterpart = None if tables is None else self._tables.counterpart(state)
            if tables is not None and counterpart is not None:
                tables.fill_bitmask(counterpart, out, remaining)

    def tokens_to(self, state: State) -> list[int]:
        """Return the tokens by which a state was first reached.

        Raises:
            ValueError: the state belongs to another automaton; is the state after an end token, which is reached in
                many ways; or was reached so long ago that the tokens have been forgotten.
        """
        reverse, at = list[int](), state
        while (last := self.core.last_tokens(at)) is not None:
            at = last[0]
            reverse += reversed(last[1])
        if at != self.start:
            raise _no_tokens(state)
        return reverse[::-1]

    def _where(self, state: Any) -> str:
        if state == self.end_state:
            return " after the end of the text"
        try:
            text = self.text(self.tokens_to(state))
        except ValueError:
            return ""
        return f" after {'...' if len(text) > _MAX_SHOWN else ''}{text[-_MAX_SHOWN:]!r}"


def _no_tokens(state: State) -> ValueError:
    return ValueError(f"no tokens are known that lead to state {state}")


def lazy_from_visibly_pushdown(
    grammar: VisiblyPushdownGrammar,
    vocabulary: Vocabulary,
    terminals: Terminals,
    make_tables: MakeTables,
    work: Work,
    *,
    at_text_start: bool,
) -> LazyTokenAutomaton | None:
    """Return the lazy automaton of a visibly pushdown grammar, None if it would not be exact.

    It is not exact if some byte has no token of its own, if the decoder treats the start of the text differently, or if
    the grammar has labels that cannot be followed as bytes (`tokenfst.labels`). Rules whose calls refuse some of their
    exits are copied, and None is returned if there are too many copies.

    Args:
        grammar: the visibly pushdown grammar.
        vocabulary: the tokens.
        terminals: the token ids of labels, by name.
        make_tables: builds the same automaton with complete tables.
        work: the compilation that this is part of.
        at_text_start: as for `tokenfst.compile`.

    Raises:
        EmptyLanguage: the grammar has no text.
        UnknownTerminal, VocabularyError, LimitExceeded, Cancelled: as for `tokenfst.compile`.
    """
    if (at_text_start and vocabulary.text_start) or not vocabulary.has_every_byte:
        return None
    check_calls(grammar)
    layout, texts = lay_out(grammar, frozenset(), work, written=False), vocabulary.texts
    if layout.labels:
        numbers = label_numbers(layout.labels, vocabulary, terminals)
        if numbers is None or layout.reads(MARKER):
            return None
        layout = lay_out(grammar, frozenset(), work, written=False, label_numbers=numbers)
        texts = vocabulary.label_texts
    try:
        core = _native.LazyCore.from_visibly_pushdown(texts, layout.tables, MAX_CACHED_STATES, work.budget)
    except LimitExceeded as error:
        raise error.of("the rules") from None
    if core is None:
        return None
    if core.is_empty:
        raise EmptyLanguage("the rules have no text")
    return LazyTokenAutomaton(vocabulary, core, make_tables, work.limits, at_text_start=at_text_start)


def lazy_from_automaton(
    automaton: ByteAutomaton | PushdownAutomaton,
    vocabulary: Vocabulary,
    terminals: Terminals,
    make_tables: MakeTables,
    work: Work,
    *,
    at_text_start: bool,
) -> LazyTokenAutomaton | None:
    """Return the lazy automaton of an automaton over bytes, None if it would not be exact.

    It is not exact if the states of the automaton have several configurations, if it has labels that cannot be followed
    as bytes (`tokenfst.labels`), if it has labels and the decoder treats the start of the text differently, or if some
    byte that it reads has no token of its own. In these cases only complete tables show which tokens lead to an end.

    Args:
        automaton: the automaton over bytes.
        vocabulary, terminals, make_tables, work, at_text_start: as for `lazy_from_visibly_pushdown`.

    Raises:
        EmptyLanguage: the automaton accepts no text.
        UnknownTerminal, VocabularyError, LimitExceeded, Cancelled: as for `tokenfst.compile`.
    """
    rule = vocabulary.text_start if at_text_start else None
    if isinstance(automaton, PushdownAutomaton):
        if automaton.max_configurations > 1:
            return None
    elif automaton.is_empty:
        raise EmptyLanguage("the constraint allows no text at all")
    if not automaton.labels:
        core = _core(automaton, vocabulary.texts, rule, work)
        if not _spells_all(core, vocabulary.is_first_byte if rule else vocabulary.is_token_byte):
            return None
    else:
        unlabelled = None if rule else _without_labels(automaton, vocabulary, terminals, work)
        if unlabelled is None:
            return None
        core = _core(unlabelled, vocabulary.label_texts, None, work)
    if rule:
        core.set_beginnings(_beginnings(rule, vocabulary, core.start, automaton.start))
    return LazyTokenAutomaton(vocabulary, core, make_tables, work.limits, at_text_start=at_text_start)


def _core(
    automaton: ByteAutomaton | PushdownAutomaton, texts: _native.TextLibrary, rule: TextStart | None, work: Work
) -> _native.LazyCore:
    room = MAX_CACHED_STATES, work.budget
    if isinstance(automaton, PushdownAutomaton):
        stacked = with_pushdown_beginning(automaton, rule) if rule else automaton
        return _native.LazyCore.from_pushdown(texts, stacked.tables, *room)
    plain = with_finite_beginning(automaton, rule)[0] if rule else automaton
    return _native.LazyCore.from_bytes(texts, plain.tables, *room)


def _spells_all(core: _native.LazyCore, is_token_byte: BoolArray) -> bool:
    """Return whether there is a token for every single byte that the automaton reads."""
    return bool(is_token_byte.all()) or not (core.bytes_read & ~is_token_byte).any()


def _without_labels(
    automaton: ByteAutomaton | PushdownAutomaton, vocabulary: Vocabulary, terminals: Terminals, work: Work
) -> ByteAutomaton | PushdownAutomaton | None:
    """Return the automaton with its labels as bytes; None if it would not be exact."""
    numbers = label_numbers(automaton.labels, vocabulary, terminals)
    is_token_byte = vocabulary.is_token_byte & (np.arange(256) != MARKER)
    if isinstance(automaton, PushdownAutomaton):
        if numbers is None or not pushdown_spells_all(automaton, is_token_byte):
            return None
        return pushdown_without_labels(automaton, numbers, work)
    if numbers is None or not _native.spells_all(automaton.tables, is_token_byte):
        return None
    return without_labels(automaton, numbers, work)


def _beginnings(rule: TextStart, vocabulary: Vocabulary, start: int, inside: int) -> list[tuple[int, bytes, int]]:
    """Return the exceptions to the rule for the start of a text, for the native core.

    Args:
        rule: what the decoder does at the start of a text.
        vocabulary: the tokens.
        start: the state in which the text has not begun.
        inside: the start of the automaton over bytes.

    Returns:
        Each token with its bytes at the start of a text, and the state from which it reads them.
    """
    found = [(token, b"", start) for token in rule.ignored]
    for token, text in rule.exceptions.items():
        if token not in rule.ignored:
            found.append((token, text, inside))
    return [each for each in found if vocabulary.tokens[each[0]]]
