"""What a vocabulary that lacks bytes leaves of the effects: those after which tokens lead on to an end.

Every configuration of the automaton over bytes leads on to an end. Over tokens that need not be so: where a byte is no
token by itself, a text may come to where only that byte could follow. Whether a state is such a dead end depends on its
stack. The nodes that are alive with a stack are one set, and the sets follow each other: that for one symbol more is
made of the symbol and the set below. There are few of them, so the stack is forgotten but for its set:

    configuration    (state, set): a state, and which nodes are alive with its stack
    below            (set, symbol) -> the sets that it may have been made of

All configurations that tokens reach are looked through, and each effect either leads to what is alive in all of them,
or in none and goes, or in some: then one table for all stacks would not be exact, and this is an error.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from automata.errors import EmptyLanguage, GrammarError
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from tokenfst.transition.loops import DEAD
from tokenfst.pushdown.completion import Completion
from tokenfst.pushdown.contexts import CLASS, SOURCE, TREE
from tokenfst.pushdown.planting import ways, with_tree
from tokenfst.pushdown.tables import PushdownTables
from tokenfst.pushdown.walk import TokenEffects
from tokenfst.transition.token_classes import END, FIRST_CLASS, NEVER

_Live = frozenset[int]
# Source, what is popped from the top down, what is pushed, target.
_Effect = tuple[int, tuple[int, ...], tuple[int, ...], int]


def spells_all(automaton: PushdownAutomaton, is_token_byte: npt.NDArray[np.bool_]) -> bool:
    """Whether every byte that the automaton reads is a token by itself."""
    num_steps = np.diff(automaton.step_offsets).reshape(-1, automaton.num_columns).sum(axis=0)
    return not num_steps[automaton.byte_class[~is_token_byte]].any()


def trimmed(effects: TokenEffects, tables: PushdownTables, overflow: frozenset[int], work: Work) -> TokenEffects:
    """The effects after which tokens lead on to an end; classes without a difference merge.

    Args:
        effects: the effects, without those of the end tokens.
        tables: their tables, with the end.
        overflow: the states that stand for more configurations than are carried; what leads there stays, so that
            whoever runs the automaton notices.
        work: how the search is stopped.

    Raises:
        EmptyLanguage: no sequence of tokens spells a text.
        GrammarError: whether an effect leads to a dead end depends on the stack.
    """
    entries, trees = effects.entries, effects.trees
    distinct, which = np.unique(entries[:, [SOURCE, TREE]], axis=0, return_inverse=True)
    said = [ways(trees, tree) for _, tree in distinct.tolist()]
    moves = [(source, *way) for (source, _), some in zip(distinct.tolist(), said, strict=True) for way in some]
    kept = iter(_Search(tables, overflow, Completion(tables)).kept(moves, work).tolist())
    left = [[way for way in some if next(kept)] for some in said]
    # A tree that loses a part becomes another one; one that loses all of it goes.
    new_tree = np.empty(len(distinct), np.int32)
    for number, ((_, tree), before, after) in enumerate(zip(distinct.tolist(), said, left, strict=True)):
        if len(after) == len(before):
            new_tree[number] = tree
        elif after:
            trees, new_tree[number] = with_tree(trees, after)
        else:
            new_tree[number] = DEAD
    entries = entries.copy()
    entries[:, TREE] = new_tree[which.reshape(-1)]
    return _merged(effects._replace(trees=trees), entries[entries[:, TREE] != DEAD])


class _Search:
    """The configurations that tokens reach."""

    def __init__(self, tables: PushdownTables, overflow: frozenset[int], completion: Completion) -> None:
        self.overflow = overflow
        self.start, self.ends = tables.start, completion.ends()
        self.popped = [completion.popped(symbol) for symbol in range(tables.num_symbols)]
        self.above: dict[tuple[_Live, int], _Live] = {}
        self.below: dict[tuple[_Live, int], set[_Live]] = defaultdict(set)

    def kept(self, moves: list[_Effect], work: Work) -> npt.NDArray[np.bool_]:
        """Which moves lead to what is alive, `[M]`."""
        if self.start not in self.ends:
            raise EmptyLanguage("the vocabulary cannot write any text that the constraint allows")
        alive, dead = np.zeros(len(moves), np.bool_), np.zeros(len(moves), np.bool_)
        by_source: dict[int, list[int]] = defaultdict(list)
        for number, (source, _, _, target) in enumerate(moves):
            if source in self.overflow or target in self.overflow:
                alive[number] = True
            else:
                by_source[source].append(number)
        reached, size = {(self.start, self.ends): None}, (0, 0)
        # What lies below is found on the way, so all is looked at again until nothing is new.
        while size != (len(reached), sum(map(len, self.below.values()))):
            size = len(reached), sum(map(len, self.below.values()))
            for state, live in list(reached):
                work.check()
                for number in by_source[state]:
                    _, pops, pushes, target = moves[number]
                    for after in self.after(live, pops, pushes):
                        if target in after:
                            alive[number] = True
                            reached[target, after] = None
                        else:
                            dead[number] = True
        if (alive & dead).any():
            raise GrammarError(
                "the vocabulary lacks bytes that the grammar reads, so that some texts cannot be completed, and which "
                "ones depends on what they are nested in; only with a token for each of these bytes can this be exact"
            )
        return alive

    def after(self, live: _Live, pops: tuple[int, ...], pushes: tuple[int, ...]) -> set[_Live]:
        """The sets that a stack with the set `live` may have after a move."""
        sets = {live}
        for symbol in pops:
            sets = set().union(*(self.below.get((each, symbol), ()) for each in sets))
        for symbol in pushes:
            sets = {self.pushed(each, symbol) for each in sets}
        return sets

    def pushed(self, live: _Live, symbol: int) -> _Live:
        """The set with one symbol more."""
        found = self.above.get((live, symbol))
        if found is None:
            found = frozenset(node for node, reached in self.popped[symbol] if not reached.isdisjoint(live))
            self.above[live, symbol] = found
        self.below[found, symbol].add(live)
        return found


def _merged(effects: TokenEffects, entries: npt.NDArray[np.int32]) -> TokenEffects:
    """The effects with some entries only, and classes that do the same made one."""
    number = np.full(effects.num_classes, NEVER, np.int32)
    number[END] = END
    bounds = np.searchsorted(entries[:, CLASS], np.arange(effects.num_classes + 1))
    known: dict[bytes, int] = {}
    parts = [entries[:0]]
    for old in range(FIRST_CLASS, effects.num_classes):
        own = entries[bounds[old] : bounds[old + 1]]
        if len(own):
            key = own[:, SOURCE:].tobytes()
            if key not in known:
                known[key] = FIRST_CLASS + len(known)
                parts.append(own.copy())
                parts[-1][:, CLASS] = known[key]
            number[old] = known[key]
    return effects._replace(
        run_class=number[effects.run_class],
        num_classes=FIRST_CLASS + len(known),
        entries=np.concatenate(parts),
    )
