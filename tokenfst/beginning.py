"""The automaton for tokens that are a text by themselves, where the decoder treats the start of a text its own way.

If L is the language of texts, let a token sequence write the raw bytes u, as it would inside a text. By the rule of
`tokenfst.text_start` the text is u without its leading space, or the prefix and u. So u has to be in

    L' = " " L  |  { u : u does not begin with a space, prefix u in L }

which takes one more state to read: `begin`, which a space leaves for the start of L, and any other byte b for the state
that prefix b leads to; a text may end there exactly if it may end at the start of L. Nothing leads back to it. Token
classes are then found over L' like over any language.

The tokens that the rule is wrong about are few. Each differs from its class by one transition, the one that leaves
`begin`, so it gets a class of its own, or of those that differ alike: what it writes there decides where it leads.

A token that is taken by a label is no text, but the text that follows it has begun.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from automata.byte_automaton import ByteAutomaton
from tokenfst.text_start import SPACE, TextStart
from tokenfst.token_classes import NEVER, TokenClasses

if TYPE_CHECKING:
    from tokenfst.loops import Ints
    from tokenfst.vocabulary import Vocabulary


def with_beginning(automaton: ByteAutomaton, rule: TextStart) -> ByteAutomaton:
    """The automaton of L': that of L, and one more state, its last, which is the start."""
    begin, table, byte_class = automaton.num_states, automaton.next, automaton.byte_class
    space = byte_class[SPACE[0]]
    if (byte_class == space).sum() > 1:
        # At the beginning a space is like no other byte.
        table = np.concatenate([table, table[:, space : space + 1]], axis=1)
        byte_class = byte_class.copy()
        byte_class[SPACE[0]] = space = table.shape[1] - 1
    after_prefix = automaton.step(automaton.start, rule.prefix)
    row = table[after_prefix].copy() if after_prefix >= 0 else np.full(table.shape[1], -1, np.int32)
    row[space] = automaton.start
    final = np.append(automaton.final, automaton.final[automaton.start])
    by_label = np.concatenate([automaton.by_label, automaton.by_label[automaton.start, None]])
    return ByteAutomaton(begin, byte_class, np.concatenate([table, row[None]]), final, by_label, automaton.labels)


def with_exceptions(
    classes: TokenClasses, automaton: ByteAutomaton, rule: TextStart, vocabulary: Vocabulary
) -> TokenClasses:
    """The classes of L', with what the tokens that are exceptions to the rule do at the beginning put right.

    Args:
        classes: the classes under `with_beginning(automaton, rule)`.
        automaton: the automaton of L.
        rule: what happens at the start of a text.
        vocabulary: the tokens.
    """
    begin = automaton.num_states
    begins = classes.source == begin
    leads_to = np.full(classes.num_classes, -1, np.int32)
    leads_to[classes.edge_class[begins]] = classes.target[begins]
    # The ranks that move from a class to one with another target.
    moved: dict[tuple[int, int], list[int]] = {}
    for token_id in (*rule.exceptions, *rule.ignored):
        if vocabulary.tokens[token_id]:
            first = rule.first(token_id, vocabulary.tokens[token_id])
            target = begin if token_id in rule.ignored else automaton.step(automaton.start, first)
            rank = int(vocabulary.rank_of_token[token_id])
            number = int(classes.run_class[np.searchsorted(classes.run_end, rank, "right")])
            if leads_to[number] != target:
                moved.setdefault((number, target), []).append(rank)
    return _move(classes, begin, moved) if moved else classes


def _move(classes: TokenClasses, begin: int, moved: dict[tuple[int, int], list[int]]) -> TokenClasses:
    """Makes a class of each list of ranks: their old one, but for the transition that leaves `begin`."""
    edges = np.stack([classes.source, classes.edge_class, classes.target])
    added, new_class = [edges], dict[int, int]()
    num_classes = classes.num_classes
    for (old, target), ranks in moved.items():
        low, high = np.searchsorted(classes.edge_class, [old, old + 1])
        kept = edges[:, low:high][:, classes.source[low:high] != begin]
        kept[1] = num_classes
        leaving = np.array([[begin], [num_classes], [target]], np.int32)
        own = np.concatenate([kept, leaving], axis=1) if target >= 0 else kept
        new_class |= dict.fromkeys(ranks, num_classes if own.size else NEVER)
        num_classes += bool(own.size)
        added.append(own)
    run_end, run_class = _moved_runs(classes, new_class)
    edges = np.concatenate(added, axis=1)
    # A class that all its tokens have left leads nowhere.
    taken = np.zeros(num_classes, np.bool_)
    taken[run_class] = True
    source, edge_class, reached = edges[:, taken[edges[1]]]
    return TokenClasses(run_end, run_class, num_classes, source, edge_class, reached)


def _moved_runs(classes: TokenClasses, new_class: dict[int, int]) -> tuple[Ints, Ints]:
    """The runs in which some ranks have another class."""
    ranks = np.array(list(new_class), np.int32)
    # Runs are cut before and behind each of the ranks, if they do not end there.
    cut = np.unique(np.concatenate([ranks, ranks + 1]))
    run = np.searchsorted(classes.run_end, cut)
    inside = (cut > 0) & (classes.run_end[run] != cut)
    run_end = np.insert(classes.run_end, run[inside], cut[inside])
    run_class = np.insert(classes.run_class, run[inside], classes.run_class[run[inside]])
    run_class[np.searchsorted(run_end, ranks, "right")] = list(new_class.values())
    return run_end, run_class
