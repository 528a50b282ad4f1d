"""From a pushdown automaton over bytes to one over the tokens of a vocabulary.

    PushdownAutomaton -> TokenEffects -> with terminals and the end -> PushdownTables -> PushdownTokenAutomaton

The end of the text and the labels are columns of the automaton over bytes beyond its bytes. What they do is no
composition: the steps of the column are the effects of the end tokens, and of the tokens of the label's set.
"""

from __future__ import annotations

import numpy as np

from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from tokenfst.loops import Ints
from tokenfst.pushdown.actions import NO_ACTION
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.pushdown.contexts import CLASS, context_tables
from tokenfst.pushdown.walk import TokenEffects, token_effects
from tokenfst.terminals import Terminals
from tokenfst.token_classes import END
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
    effects = token_effects(automaton, vocabulary, work)
    entries = np.concatenate([_ends(automaton, effects), effects.entries])
    tables = context_tables(
        entries,
        effects.sequences,
        effects.actions,
        num_states=automaton.num_states,
        num_symbols=automaton.num_symbols,
        num_classes=effects.num_classes,
        start=automaton.start,
        headroom=automaton.headroom,
        symbol_headroom=automaton.symbol_headroom,
        max_configurations=automaton.max_configurations,
    )
    work.check()
    return PushdownTokenAutomaton(vocabulary, tables, effects.run_end, effects.run_class, at_text_start=at_text_start)


def _ends(automaton: PushdownAutomaton, effects: TokenEffects) -> Ints:
    """The entries of the end tokens, which lead to the last state and stay there, `[E, 4]`."""
    last = automaton.num_states - 1
    ends = _column(automaton, effects, automaton.num_columns - 1 - len(automaton.labels))
    ends[:, CLASS] = END
    return np.concatenate([ends, np.array([[END, last, NO_ACTION, last]], np.int32)])


def _column(automaton: PushdownAutomaton, effects: TokenEffects, column: int) -> Ints:
    """The steps of a column as entries, `[E, 4]`, without their class."""
    offsets = automaton.step_offsets
    begins, ends = offsets[:-1][column :: automaton.num_columns], offsets[1:][column :: automaton.num_columns]
    counts = ends - begins
    source = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    steps = np.arange(len(source)) + np.repeat(begins - np.cumsum(counts) + counts, counts)
    number = np.zeros_like(source)
    return np.stack([number, source, effects.step_action[steps], automaton.step_target[steps]], axis=1)
