"""Labels of a pushdown automaton: tokens that are taken by what they are called, and not by their bytes.

As in `tokenfst.finite.terminals`, classes are split so that each is in a set wholly or not at all; what a label's
column does comes to what the bytes do. A token that does something by its bytes and by its name in one configuration
has two moves there. A deterministic automaton cannot make both, so it is refused; side by side they can be.
"""

from __future__ import annotations

import numpy as np

from automata.arrays import IntArray
from automata.errors import NondeterministicGrammar
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from tokenfst import _native
from tokenfst._native import PushdownTables, TokenEffects
from tokenfst.finite.classes import FIRST_CLASS
from tokenfst.finite.terminals import Terminals, members, refined, token_set
from tokenfst.vocabulary import Vocabulary

# Columns of the entries of effects.
CLASS, SOURCE, TREE = range(3)


def with_labels(
    automaton: PushdownAutomaton, effects: TokenEffects, vocabulary: Vocabulary, terminals: Terminals, work: Work
) -> TokenEffects:
    """The effects of an automaton whose labels are sets of tokens.

    Raises:
        UnknownTerminal, VocabularyError: as `tokenfst.finite.terminals.token_set`.
    """
    member = members(automaton.labels, vocabulary, terminals)
    run_end, run_class, bytes_of, sets_of = refined(effects.run_end, effects.run_class, member)
    entries, column_trees = effects.entries, effects.column_trees
    by_label = [_entries_of(column_trees[:, 1 + label]) for label in range(len(automaton.labels))]
    bounds = np.searchsorted(entries[:, CLASS], np.arange(effects.num_classes + 1))
    parts = [entries[:0]]
    for number in range(FIRST_CLASS, len(bytes_of)):
        own = [entries[bounds[bytes_of[number]] : bounds[bytes_of[number] + 1]]]
        part = np.concatenate(own + [by_label[label] for label in np.flatnonzero(sets_of[number])])
        part[:, CLASS] = number
        parts.append(part)
        work.check()
    runs = run_end, run_class, len(bytes_of)
    return TokenEffects(*runs, np.concatenate(parts), effects.trees, column_trees)


def _entries_of(trees: IntArray) -> IntArray:
    """What a column does in each state, as entries of no class."""
    source = np.flatnonzero(trees >= 0).astype(np.int32)
    return np.stack([np.zeros_like(source), source, trees[source]], axis=1)


def all_have_tokens(labels: tuple[str, ...], vocabulary: Vocabulary, terminals: Terminals) -> bool:
    """Whether no label's set is empty."""
    return all(token_set(name, vocabulary, terminals).size for name in labels)


def check_deterministic(
    tables: PushdownTables, run_end: IntArray, run_class: IntArray, vocabulary: Vocabulary, work: Work
) -> None:
    """Raises if a token has two moves in one configuration, and the automaton carries but one.

    Raises:
        NondeterministicGrammar: the message names the token.
    """
    if tables.max_configurations > 1:
        return
    clash = _native.clashing_class(tables, work.budget)
    if clash is not None:
        run = int(np.flatnonzero(run_class == clash)[0])
        token = vocabulary.tokens[vocabulary.token_of_rank[run_end[run] - 1]]
        raise NondeterministicGrammar(
            f"the token {token!r} can be taken by its bytes and as one of a named set of tokens at one place; "
            "leave it out of the set, or give the grammar ambiguity='parallel'"
        )
