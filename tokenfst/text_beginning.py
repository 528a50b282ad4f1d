"""The start of a text in automata over tokens, for decoders that treat it differently.

Let L be the language of texts, and let tokens write the bytes u inside a text. By the rule of
`tokenfst.vocabulary.text_start`, at the start of a text they write u without its leading space, or the prefix and u.
Therefore u has to be in

    L' = " " L  |  { u : u does not begin with a space, prefix u in L }

An automaton of L' needs one more state, `begin`. A space leads from it to the start of L, and any other byte b to the
state after the prefix and b. It is final if the start of L is. No transition leads to it. Token classes are then
computed for L' as for any language.

A few tokens are exceptions to the rule. Such a token differs from its class only in the transition from `begin`, which
depends on the bytes that it writes there. Exceptions with the same class and the same transition form a new class.

    with_..._beginning     L -> L'                                in finite, counted and pushdown, module beginning
    moved_ranks            the exceptions by their new classes    here
    with_..._exceptions    the classes of L', corrected           in finite, counted and pushdown, module beginning
    moved_runs             the runs of all classes after that     here

Rejected: a second walk over the bytes of every token at the start of a text (twice the tokens for a few differences).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar

import numpy as np

from automata.arrays import IntArray
from tokenfst.vocabulary import TextStart, Vocabulary

Reached = TypeVar("Reached", bound=Hashable)


class HasRuns(Protocol):
    """The classes of a vocabulary as runs of ranks, `[R]` int32 each."""

    @property
    def run_end(self) -> IntArray: ...

    @property
    def run_class(self) -> IntArray: ...


def moved_ranks(
    classes: HasRuns,
    rule: TextStart,
    vocabulary: Vocabulary,
    leads_to: Callable[[int], Reached],
    read: Callable[[bytes], Reached],
    begin: Reached,
) -> dict[tuple[int, Reached], list[int]]:
    """Return the ranks of the exceptions whose transition from `begin` is not that of their class.

    Args:
        classes: the classes of all tokens by the rule.
        rule: what the decoder does at the start of a text.
        vocabulary: the tokens.
        leads_to: returns the states or configurations that a class leads to from `begin`.
        read: returns those that a text leads to from the start of L.
        begin: those that an ignored token leads to from `begin`.

    Returns:
        The ranks, by their old class and by the states or configurations that they lead to from `begin`.
    """
    moved: dict[tuple[int, Reached], list[int]] = {}
    for token_id in (*rule.exceptions, *rule.ignored):
        if vocabulary.tokens[token_id]:
            text = rule.first(token_id, vocabulary.tokens[token_id])
            reached = begin if token_id in rule.ignored else read(text)
            rank = int(vocabulary.rank_of_token[token_id])
            number = int(classes.run_class[np.searchsorted(classes.run_end, rank, "right")])
            if leads_to(number) != reached:
                moved.setdefault((number, reached), []).append(rank)
    return moved


def moved_runs(classes: HasRuns, new_class: dict[int, int]) -> tuple[IntArray, IntArray]:
    """Return the runs of ranks after some ranks have moved to other classes.

    Args:
        classes: the classes before.
        new_class: the new class of each rank that moves.

    Returns:
        `run_end` and `run_class`, `[R]` int32 each.
    """
    ranks = np.array(list(new_class), np.int32)
    # Split runs before and after each rank that moves, unless a run ends there.
    cut = np.unique(np.concatenate([ranks, ranks + 1]))
    run_end, run_class = classes.run_end, classes.run_class
    run = np.searchsorted(run_end, cut)
    inside = (cut > 0) & (run_end[run] != cut)
    run_end, run_class = (
        np.insert(run_end, run[inside], cut[inside]),
        np.insert(run_class, run[inside], run_class[run[inside]]),
    )
    run_class[np.searchsorted(run_end, ranks, "right")] = list(new_class.values())
    return run_end, run_class
