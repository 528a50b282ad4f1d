"""From a pushdown automaton over bytes to one over the tokens of a vocabulary.

    PushdownAutomaton -> TokenEffects -> with terminals and the end -> PushdownTables -> PushdownTokenAutomaton

The end of the text and the labels are columns of the automaton over bytes beyond its bytes. What they do is no
composition: the steps of the column are the effects of the end tokens, and of the tokens of the label's set.
"""

from __future__ import annotations

import numpy as np

from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from tokenfst.transition.loops import Ints
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.pushdown.beginning import with_beginning, with_exceptions
from tokenfst.pushdown.contexts import CLASS, context_tables
from tokenfst.pushdown.tables import PushdownTables
from tokenfst.pushdown.terminals import all_have_tokens, check_deterministic, with_labels
from tokenfst.pushdown.trim import spells_all, trimmed
from tokenfst.pushdown.walk import TokenEffects, column_entries, token_effects
from tokenfst.terminals import Terminals
from tokenfst.transition.token_classes import END
from tokenfst.vocabulary import Vocabulary


def from_pushdown(
    automaton: PushdownAutomaton,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    terminals: Terminals | None = None,
    work: Work,
) -> PushdownTokenAutomaton:
    """The token automaton of a pushdown automaton; see `tokenfst.compile`."""
    language, rule = automaton, vocabulary.text_start if at_text_start else None
    if rule:
        automaton = with_beginning(language, rule)
    effects = token_effects(automaton, vocabulary, work)
    if rule:
        effects = with_exceptions(effects, language, rule, vocabulary)
    if automaton.labels:
        effects = with_labels(automaton, effects, vocabulary, terminals or {})
    tables = _tables(automaton, effects)
    work.check()
    if automaton.labels:
        check_deterministic(tables, effects.run_end, effects.run_class, vocabulary)
    lacks_bytes = not spells_all(automaton, vocabulary.is_first_byte if rule else vocabulary.is_token_byte)
    if lacks_bytes or not all_have_tokens(automaton.labels, vocabulary, terminals or {}):
        effects = trimmed(effects, tables, automaton.overflow_states(), work)
        tables = _tables(automaton, effects)
    runs = effects.run_end, effects.run_class
    return PushdownTokenAutomaton(vocabulary, tables, *runs, at_text_start=at_text_start, lacks_bytes=lacks_bytes)


def _tables(automaton: PushdownAutomaton, effects: TokenEffects) -> PushdownTables:
    """The tables of the effects and the end."""
    return context_tables(
        np.concatenate([_ends(automaton, effects), effects.entries]),
        effects.trees,
        num_states=automaton.num_states,
        num_symbols=automaton.num_symbols,
        num_classes=effects.num_classes,
        start=automaton.start,
        headroom=automaton.headroom,
        symbol_headroom=automaton.symbol_headroom,
        max_configurations=automaton.max_configurations,
    )


def _ends(automaton: PushdownAutomaton, effects: TokenEffects) -> Ints:
    """The entries of the end tokens, which lead to the last state and stay there, `[E, 3]`."""
    last = automaton.num_states - 1
    ends = column_entries(effects, 0)
    ends[:, CLASS] = END
    return np.concatenate([ends, np.array([[END, last, last]], np.int32)])
