"""Labels of a pushdown automaton, which match whole tokens, whatever bytes they write.

As in `tokenfst.finite.terminals`, classes are split so that each set contains a class completely or not at all. The
effects of a class are those of its bytes and of the labels whose sets contain it. A token that matches by its bytes and
by a label in one configuration has two moves. A deterministic automaton with such a token is refused; one that follows
several configurations makes both moves.
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

# The columns of `TokenEffects.entries`.
CLASS, SOURCE, TREE = range(3)


def with_labels(
    automaton: PushdownAutomaton, effects: TokenEffects, vocabulary: Vocabulary, terminals: Terminals, work: Work
) -> TokenEffects:
    """Return the effects of an automaton with those of its labels.

    Args:
        automaton: the automaton over bytes and labels.
        effects: the effects of the tokens by their bytes.
        vocabulary: the tokens.
        terminals: the token ids of labels, by name.
        work: the compilation that this is part of.

    Raises:
        UnknownTerminal, VocabularyError: as for `tokenfst.finite.terminals.token_set`.
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
    """Return the effects of a column in each state, as entries `[N, 3]` whose class is still 0."""
    source = np.flatnonzero(trees >= 0).astype(np.int32)
    return np.stack([np.zeros_like(source), source, trees[source]], axis=1)


def all_have_tokens(labels: tuple[str, ...], vocabulary: Vocabulary, terminals: Terminals) -> bool:
    """Return whether every label stands for at least one token."""
    return all(token_set(name, vocabulary, terminals).size for name in labels)


def check_deterministic(
    tables: PushdownTables, run_end: IntArray, run_class: IntArray, vocabulary: Vocabulary, work: Work
) -> None:
    """Raise if the automaton is deterministic and a token has two moves in one configuration.

    Raises:
        NondeterministicGrammar: there is such a token; the message names it.
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
