"""The start of a text in a pushdown automaton (`tokenfst.text_beginning`).

The construction adds one state, with an empty stack. From it, a space leads to the start state. Any other byte leads to
the configurations that the decoder's prefix and this byte lead to from the start.

A token that is matched by a label and writes nothing does not begin the text. A grammar whose texts can begin with such
a token is refused, because the text after it could begin in any configuration.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from automata.arrays import IntArray
from automata.errors import UnsupportedTokenizer
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.step_table import Configuration
from tokenfst._native import TokenEffects
from tokenfst.finite.classes import NEVER
from tokenfst.pushdown.terminals import CLASS, SOURCE
from tokenfst.text_beginning import moved_ranks, moved_runs
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.text_start import SPACE, TextStart

_Configurations: TypeAlias = frozenset[Configuration]


def with_pushdown_beginning(automaton: PushdownAutomaton, rule: TextStart) -> PushdownAutomaton:
    """Return the automaton of L' (`tokenfst.text_beginning`); its start is the added state, the last but one.

    Raises:
        UnsupportedTokenizer: a text may begin with a token that is matched by a label.
    """
    start, num_classes = (automaton.start, ()), automaton.num_classes
    for label, name in enumerate(automaton.labels, num_classes + 1):
        if automaton.steps_from(start, label):
            raise UnsupportedTokenizer(
                f"a text of the grammar may begin with a token of {name!r}, and what the decoder does at the start of "
                "a text may then be done after it; this is not modelled: compile without at_text_start"
            )
    space = int(automaton.byte_class[SPACE[0]])
    byte_class, columns = automaton.byte_class.copy(), list(range(automaton.num_columns))
    if (byte_class == space).sum() > 1:
        # At the beginning, the space has a class of its own.
        columns.insert(num_classes, space)
        byte_class[SPACE[0]] = num_classes
    after_prefix = _read(automaton, [start], rule.prefix)
    own = [_after(automaton, after_prefix, column) for column in columns]
    own[int(byte_class[SPACE[0]])] = [start]
    end = len(columns) - 1 - len(automaton.labels)
    own[end:] = [[(target + 1, stack) for target, stack in automaton.steps_from(start, num_classes)]]
    own += [[] for _ in automaton.labels]
    return _with_state(automaton, byte_class, columns, own)


def _after(automaton: PushdownAutomaton, configurations: Iterable[Configuration], column: int) -> list[Configuration]:
    found = (after for before in configurations for after in automaton.steps_from(before, column))
    return list(dict.fromkeys(found))


def _read(automaton: PushdownAutomaton, configurations: list[Configuration], text: bytes) -> list[Configuration]:
    for byte in text:
        configurations = _after(automaton, configurations, int(automaton.byte_class[byte]))
    return configurations


def _with_state(
    automaton: PushdownAutomaton, byte_class: np.ndarray, columns: list[int], own: list[list[Configuration]]
) -> PushdownAutomaton:
    """Return an automaton with another choice of columns, and with one more state before the last.

    Args:
        automaton: the automaton.
        byte_class: `[256]`, the new column of each byte.
        columns: the old column that each new one copies.
        own: the configurations that each new column leads to from the added state.
    """
    last, num_columns = automaton.num_states - 1, automaton.num_columns
    begins = automaton.step_offsets[:-1].reshape(-1, num_columns)[:-1, columns].ravel()
    counts = np.diff(automaton.step_offsets).reshape(-1, num_columns)[:-1, columns].ravel()
    kept = np.arange(counts.sum()) + np.repeat(begins - np.cumsum(counts) + counts, counts)
    sequences = _Sequences(automaton.parent, automaton.symbol)
    added = [(sequences.number(stack), target) for found in own for target, stack in found]
    pushes, targets = np.array(added, np.int32).reshape(-1, 2).T
    target = automaton.step_target[kept]
    all_counts = np.concatenate([counts, [len(found) for found in own], np.zeros(len(columns), np.int64)])
    return replace(
        automaton,
        start=last,
        byte_class=byte_class,
        step_offsets=np.append(0, np.cumsum(all_counts)).astype(np.int32),
        step_pops=np.concatenate([automaton.step_pops[kept], np.zeros_like(pushes)]),
        step_pushes=np.concatenate([automaton.step_pushes[kept], pushes]),
        step_target=np.concatenate([target + (target == last).astype(np.int32), targets]),
        parent=np.array(sequences.parent, np.int32),
        symbol=np.array(sequences.symbol, np.int32),
        headroom=np.insert(automaton.headroom, last, automaton.headroom[automaton.start]),
    )


class _Sequences:
    """The sequences of pushed symbols, as a trie to which sequences can be added.

    Attributes:
        parent, symbol: for each sequence, the sequence without its last symbol, and this symbol.
    """

    def __init__(self, parent: IntArray, symbol: IntArray) -> None:
        self.parent, self.symbol = parent.tolist(), symbol.tolist()
        self.known = {both: number for number, both in enumerate(zip(self.parent, self.symbol, strict=True)) if number}

    def number(self, symbols: Iterable[int]) -> int:
        """Return the index of a sequence, added if it is new."""
        found = 0
        for symbol in symbols:
            if (found, symbol) not in self.known:
                self.known[found, symbol] = len(self.parent)
                self.parent.append(found)
                self.symbol.append(symbol)
            found = self.known[found, symbol]
        return found


def with_pushdown_exceptions(
    effects: TokenEffects, automaton: PushdownAutomaton, rule: TextStart, vocabulary: Vocabulary, work: Work
) -> TokenEffects:
    """Correct the effects of the tokens that are exceptions to the rule.

    Args:
        effects: the effects over `with_pushdown_beginning(automaton, rule)`.
        automaton: the automaton of L.
        rule: what the decoder does at the start of a text.
        vocabulary: the tokens.
        work: the compilation that this is part of.
    """
    begin = automaton.num_states - 1
    leads_to = _from_beginning(effects, begin, work)
    nowhere: _Configurations = frozenset()
    still: _Configurations = frozenset([(begin, ())])
    moved = moved_ranks(
        effects,
        rule,
        vocabulary,
        leads_to=lambda number: leads_to.get(number, nowhere),
        read=lambda text: frozenset(_read(automaton, [(automaton.start, ())], text)),
        begin=still,
    )
    return _move(effects, begin, moved, work) if moved else effects


def _from_beginning(effects: TokenEffects, begin: int, work: Work) -> dict[int, _Configurations]:
    """Return the configurations that each class leads to from the beginning, with an empty stack."""
    found: dict[int, set[Configuration]] = {}
    entries = effects.entries
    for number, _, tree in entries[entries[:, SOURCE] == begin].tolist():
        ways = effects.trees.paths(tree, work.budget)
        reached = {(state, pushed) for popped, pushed, state in ways if not popped}
        found.setdefault(number, set()).update(reached)
    return {number: frozenset(reached) for number, reached in found.items() if reached}


def _move(
    effects: TokenEffects, begin: int, moved: dict[tuple[int, _Configurations], list[int]], work: Work
) -> TokenEffects:
    """Make a new class of each list of ranks, with the effects of their old class except at the beginning."""
    paths = [[((), stack, target) for target, stack in sorted(reached)] for _, reached in moved if reached]
    trees, built = effects.trees.build(paths, work.budget)
    tree = iter(built)
    parts, new_class, num_classes = [effects.entries], dict[int, int](), effects.num_classes
    for (old, reached), ranks in moved.items():
        own = parts[0][parts[0][:, CLASS] == old]
        own = own[own[:, SOURCE] != begin]
        if reached:
            own = np.concatenate([own, np.array([[NEVER, begin, next(tree)]], np.int32)])
        own[:, CLASS] = num_classes
        new_class |= dict.fromkeys(ranks, num_classes if len(own) else NEVER)
        num_classes += bool(len(own))
        parts.append(own)
        work.check()
    run_end, run_class = moved_runs(effects, new_class)
    # Drop the entries of classes that have no tokens left.
    entries = np.concatenate(parts)
    entries = entries[np.isin(entries[:, CLASS], run_class)]
    return TokenEffects(run_end, run_class, num_classes, entries, trees, effects.column_trees)
