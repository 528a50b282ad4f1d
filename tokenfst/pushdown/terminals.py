"""Labels of a pushdown automaton: tokens that are taken by what they are called, and not by their bytes.

As in `tokenfst.terminals`, classes are split so that each is in a set wholly or not at all; what a label's column does
comes to what the bytes do. A token that does something by its bytes and by its name in one configuration has two moves
there. A deterministic automaton cannot make both, so it is refused; side by side they can be.
"""

from __future__ import annotations

import numpy as np

from automata.errors import NondeterministicGrammar
from automata.pushdown.automaton import PushdownAutomaton
from tokenfst.transition.loops import Ints
from tokenfst.pushdown.contexts import CLASS
from tokenfst.pushdown.tables import PushdownTables
from tokenfst.pushdown.walk import TokenEffects, column_entries
from tokenfst.terminals import Terminals, members, refined, token_set
from tokenfst.transition.token_classes import FIRST_CLASS
from tokenfst.vocabulary import Vocabulary


def with_labels(
    automaton: PushdownAutomaton, effects: TokenEffects, vocabulary: Vocabulary, terminals: Terminals
) -> TokenEffects:
    """The effects of an automaton whose labels are sets of tokens.

    Raises:
        UnknownTerminal, VocabularyError: as `tokenfst.terminals.token_set`.
    """
    member = members(automaton.labels, vocabulary, terminals)
    run_end, run_class, bytes_of, sets_of = refined(effects.run_end, effects.run_class, member)
    by_label = [column_entries(effects, 1 + label) for label in range(len(automaton.labels))]
    bounds = np.searchsorted(effects.entries[:, CLASS], np.arange(effects.num_classes + 1))
    parts = [effects.entries[:0]]
    for number in range(FIRST_CLASS, len(bytes_of)):
        own = [effects.entries[bounds[bytes_of[number]] : bounds[bytes_of[number] + 1]]]
        part = np.concatenate(own + [by_label[label] for label in np.flatnonzero(sets_of[number])])
        part[:, CLASS] = number
        parts.append(part)
    return effects._replace(
        run_end=run_end, run_class=run_class, num_classes=len(bytes_of), entries=np.concatenate(parts)
    )


def all_have_tokens(labels: tuple[str, ...], vocabulary: Vocabulary, terminals: Terminals) -> bool:
    """Whether no label's set is empty."""
    return all(token_set(name, vocabulary, terminals).size for name in labels)


def check_deterministic(tables: PushdownTables, run_end: Ints, run_class: Ints, vocabulary: Vocabulary) -> None:
    """Raises if a token has two moves in one configuration, and the automaton carries but one.

    Raises:
        NondeterministicGrammar: the message names the token.
    """
    if tables.max_configurations > 1:
        return
    several = np.diff(tables.outcome_offsets)[tables.edge_outcome] > 1
    clash = set(tables.edge_class[several].tolist()) or _on_one_path(tables)
    if clash:
        run = int(np.flatnonzero(np.isin(run_class, list(clash)))[0])
        token = vocabulary.tokens[vocabulary.token_of_rank[run_end[run] - 1]]
        raise NondeterministicGrammar(
            f"the token {token!r} can be taken by its bytes and as one of a named set of tokens at one place; "
            "leave it out of the set, or compile with ambiguity='parallel'"
        )


def _on_one_path(tables: PushdownTables) -> set[int]:
    """The classes with edges at two nodes of one path."""
    levels, level = [np.arange(tables.num_states)], np.arange(tables.num_states)
    while level.size:
        level = np.unique(tables.child[level])
        level = level[level >= 0]
        levels.append(level)
    found: dict[int, set[int]] = {}
    for nodes in reversed(levels):
        for node in nodes.tolist():
            own = set(tables.edge_class[tables.row_offsets[node] : tables.row_offsets[node + 1]].tolist())
            below = set().union(*(found[child] for child in set(tables.child[node].tolist()) - {-1}))
            if own & below:
                return own & below
            found[node] = own | below
    return set()
