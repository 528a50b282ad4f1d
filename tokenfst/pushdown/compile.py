"""Compile a pushdown automaton over bytes to one over the tokens of a vocabulary.

    PushdownAutomaton -> TokenEffects -> with terminals and the end -> PushdownTables -> PushdownTokenAutomaton

The end of the text and the labels are columns of the automaton over bytes, after the columns of its bytes. Their steps
are used as they are: they are the effects of the end tokens, and of the tokens in the label's set.

If there is no token for some single byte of the grammar's texts, some texts cannot be completed. Effects that lead to
such dead ends are trimmed (`native/tokenfst/pushdown/trim.h`).
"""

from __future__ import annotations

import numpy as np

from automata.arrays import BoolArray
from automata.errors import EmptyLanguage, GrammarError, LimitExceeded
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from tokenfst import _native
from tokenfst._native import PushdownTables, TokenEffects
from tokenfst.finite.terminals import Terminals
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.pushdown.beginning import with_pushdown_beginning, with_pushdown_exceptions
from tokenfst.pushdown.terminals import all_have_tokens, check_deterministic, with_labels
from tokenfst.vocabulary import Vocabulary


def from_pushdown(
    automaton: PushdownAutomaton,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    terminals: Terminals | None = None,
    work: Work,
) -> PushdownTokenAutomaton:
    """Return the token automaton of a pushdown automaton over bytes; see `tokenfst.compile`."""
    language, rule = automaton, vocabulary.text_start if at_text_start else None
    if rule:
        automaton = with_pushdown_beginning(language, rule)
    effects = token_effects(automaton, vocabulary, work)
    if rule:
        effects = with_pushdown_exceptions(effects, language, rule, vocabulary, work)
    sets = terminals or {}
    if automaton.labels:
        effects = with_labels(automaton, effects, vocabulary, sets, work)
    tables = _tables(automaton, effects, work)
    if automaton.labels:
        check_deterministic(tables, effects.run_end, effects.run_class, vocabulary, work)
    lacks_bytes = not spells_all(automaton, vocabulary.is_first_byte if rule else vocabulary.is_token_byte)
    if lacks_bytes or not all_have_tokens(automaton.labels, vocabulary, sets):
        effects = _trimmed(effects, tables, automaton.overflow_states(), work)
        tables = _tables(automaton, effects, work)
    parts, room = (vocabulary, tables, effects.run_end, effects.run_class), work.limits.memory
    return PushdownTokenAutomaton.from_tables(
        *parts, at_text_start=at_text_start, lacks_bytes=lacks_bytes, max_bytes=room
    )


def token_effects(automaton: PushdownAutomaton, vocabulary: Vocabulary, work: Work) -> TokenEffects:
    """Sort the tokens of a vocabulary into classes with equal effects.

    Raises:
        LimitExceeded: the effects together take too much memory, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    try:
        return _native.token_effects(automaton.tables, vocabulary.native, work.budget)
    except LimitExceeded as error:
        raise error.of(f"the effect of tokens on {automaton.num_states:,} states and their stacks") from None


def _tables(automaton: PushdownAutomaton, effects: TokenEffects, work: Work) -> PushdownTables:
    """Return the tables of effects and of the end tokens."""
    numbers, headroom = (automaton.start, automaton.max_configurations), (automaton.headroom, automaton.symbol_headroom)
    try:
        return _native.context_tables(effects, *numbers, *headroom, work.budget)
    except LimitExceeded as error:
        raise error.of(f"the effect of {effects.num_classes:,} classes of tokens on stacks") from None


def spells_all(automaton: PushdownAutomaton, is_token_byte: BoolArray) -> bool:
    """Return whether there is a token for every single byte that the automaton reads."""
    num_steps = np.diff(automaton.step_offsets).reshape(-1, automaton.num_columns).sum(axis=0)
    return not num_steps[automaton.byte_class[~is_token_byte]].any()


def _trimmed(effects: TokenEffects, tables: PushdownTables, overflow: frozenset[int], work: Work) -> TokenEffects:
    """Remove the effects after which no sequence of tokens reaches an end, and merge classes that become equal.

    Args:
        effects: the effects, without those of the end tokens.
        tables: their tables, with the end tokens.
        overflow: the states that stand for too many configurations; effects that lead there are kept, so that stepping
            into them raises an error.
        work: the compilation that this is part of.

    Raises:
        EmptyLanguage: no sequence of tokens spells a text.
        GrammarError: whether an effect leads to a dead end depends on the stack.
    """
    result, left = _native.trimmed(effects, tables, np.array(sorted(overflow), np.int32), work.budget)
    if result == "empty":
        raise EmptyLanguage("the vocabulary cannot write any text that the constraint allows")
    if left is None:
        raise GrammarError(
            "the vocabulary lacks bytes that the grammar reads, so that some texts cannot be completed, and which "
            "ones depends on what they are nested in; only with a token for each of these bytes can this be exact"
        )
    return left
