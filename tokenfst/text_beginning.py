"""The start of a text in the automata of its tokens, for decoders that treat it their own way.

If L is the language of texts, let a token sequence write the raw bytes u, as it would within a text. By the rule of
`tokenfst.vocabulary.text_start` the text is u without its leading space, or the prefix and u. So u has to be in

    L' = " " L  |  { u : u does not begin with a space, prefix u in L }

Reading L' takes one more state: `begin`. A space leads from it to the start of L, and any other byte b to the state
that the prefix and b lead to. A text may end there exactly if it may end at the start of L. Nothing leads back to it.
Token classes are then found over L' like over any language.

The tokens that the rule does not apply to are few. Each differs from its class by one transition, the one from `begin`:
what it writes there decides where it leads. It moves to a class of its own, together with those that differ alike.

    with_beginning      L -> L'                               finite.beginning, counted.beginning, pushdown.beginning
    moved_ranks         the tokens that leave their class      here
    with_exceptions     the classes of L' without them         in the same three modules
    moved_runs          the classes of all tokens after that   here

Rejected: a second walk with the text of every token as the first one (twice the tokens for a few differences).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar

import numpy as np

from automata.arrays import IntArray
from tokenfst.vocabulary import TextStart, Vocabulary

Reached = TypeVar("Reached", bound=Hashable)


class HasRuns(Protocol):
    """The classes of a vocabulary, as runs of ranks."""

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
    """Return the ranks of the exceptions that lead elsewhere from the beginning than their class does.

    Args:
        classes: the classes of all tokens by the rule.
        rule: what happens at the start of a text.
        vocabulary: the tokens.
        leads_to: where a class leads from the beginning.
        read: where a text leads from the start of the language.
        begin: where an ignored token leads.

    Returns:
        The ranks by their old class and by where they lead.
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
    """Return the runs in which some ranks have another class."""
    ranks = np.array(list(new_class), np.int32)
    # Runs are cut before and after each of the ranks, unless they end there.
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
