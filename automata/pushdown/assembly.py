"""Assembly: from a construction to a pushdown automaton.

Steps that lead to no end are pruned, unreachable states are left out, the other states are numbered, and the tables are
filled.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from automata import _native
from automata.arrays import IntArray, offsets_of
from automata.errors import GrammarError
from automata.graph import distances
from automata.limits import Work
from automata.pushdown.ambiguity import shortest_text, shown
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.coaccessible import doubtful_states
from automata.pushdown.construction import Construction
from automata.pushdown.grammar import Place
from automata.pushdown.prestar import MAX_LOOKS, Move, Undecided, pruned
from automata.pushdown.sequences import Sequences, Stack
from automata.pushdown.under import UnderSymbols


class Assembly:
    """The tables of a construction, as far as it went."""

    def __init__(self, found: Construction, max_configurations: int, work: Work, defined: Mapping[str, Place]) -> None:
        """Start with the steps of the construction.

        Args:
            found: the construction.
            max_configurations: the maximum number of configurations that are followed side by side.
            work: the limits, and the means to stop the compilation.
            defined: where rules were defined, for errors.
        """
        self.found, self.max_configurations, self.work, self.defined = found, max_configurations, work, defined
        # `[E, 5]`: state, column, pops, pushes, target; and the sequences that are popped and pushed.
        self.steps = found.steps
        self.parent, self.last = found.tables.parent, found.tables.last

    def prune(self) -> None:
        """Prune the steps that lead to no end."""
        found, tables, sharing = self.found, self.found.tables, self.found.sharing
        own = _native.moves_of(tables.steps, self.work.budget)
        shared = np.zeros((len(tables.shared), 4), np.int32)
        shared[:, [0, 3]] = tables.shared
        below = found.below()
        moves = np.concatenate([own, shared])
        doubtful = doubtful_states(moves, self.parent, self.last, tables.end, below, self.work)
        doubtful.difference_update(tables.too_many.tolist())
        if doubtful <= sharing.keys():
            return
        sequences = Sequences(self.parent, self.last, self.work)
        stacks = sequences.stacks
        named = [(state, stacks[p], stacks[v], target) for state, p, v, target in self.work.watched(own.tolist())]
        try:
            replaced = pruned(named, sharing, tables.start, tables.end, doubtful, below, self.work)
        except Undecided as undecided:
            raise self.undecided(undecided) from None
        if replaced:
            self.replace(replaced, sequences)

    def replace(self, replaced: Mapping[Move, list[tuple[Stack, Stack]]], sequences: Sequences) -> None:
        """Replace the steps of some moves."""
        of = sequences.of
        by_number = {
            (state, of(pops), of(pushes), target): [(of(p), of(v)) for p, v in stacks]
            for (state, pops, pushes, target), stacks in replaced.items()
        }
        changed = np.isin(self.steps[:, 0], list({move[0] for move in replaced}))
        new = [
            (state, column, *stacks, target)
            for state, column, pops, pushes, target in self.steps[changed].tolist()
            for stacks in by_number.get((state, pops, pushes, target), [(pops, pushes)])
        ]
        steps = np.concatenate([self.steps[~changed], np.array(new, np.int32).reshape(-1, 5)])
        none = np.zeros((0, 2), np.int32)
        self.steps = _native.with_shared(steps, none, self.found.num_states, self.work.budget)
        self.parent, self.last = np.array(sequences.parent, np.int32), np.array(sequences.last, np.int32)

    def undecided(self, undecided: Undecided) -> GrammarError:
        """Return the error for a step that would have to look too deep."""
        automaton, numbers = self.automaton()
        state = undecided.move[0]
        name = self.found.rule_name(self.found.elements(state)[0][1])
        text = shortest_text(automaton, int(numbers[state]), self.work)
        place = self.defined.get(name)
        return GrammarError(
            f"after {shown(text)} the longest match can continue a word, and whether the text can end after that "
            f"depends on more than {MAX_LOOKS} symbols of the stack",
            rule=name,
            line=place.line if place else None,
            column=place.column if place else None,
        )

    def automaton(self) -> tuple[PushdownAutomaton, IntArray]:
        """Return the automaton, and the number in it of each state of the construction, -1 for those that are not
        reached."""
        found, tables = self.found, self.found.tables
        numbers = self.numbers()
        steps = self.steps[numbers[self.steps[:, 0]] >= 0]
        # All states but the end keep their order, and so do the steps.
        cell = numbers[steps[:, 0]].astype(np.int64) * found.num_columns + steps[:, 1]
        num_states = int(numbers.max()) + 1
        counts = np.bincount(cell, minlength=num_states * found.num_columns)
        step_offsets, pops = offsets_of(counts), np.ascontiguousarray(steps[:, 2])
        headroom = np.zeros(num_states, np.int32)
        headroom[numbers[numbers >= 0]] = tables.headroom[numbers >= 0]
        return PushdownAutomaton(
            start=int(numbers[tables.start]),
            byte_class=found.network.byte_class,
            labels=found.network.labels,
            num_symbols=len(tables.symbol_kind),
            step_offsets=step_offsets,
            step_pops=pops,
            step_pushes=np.ascontiguousarray(steps[:, 3]),
            step_target=numbers[steps[:, 4]],
            # Copies, because a view would keep the construction.
            parent=self.parent.copy(),
            symbol=self.last.copy(),
            headroom=headroom,
            symbol_headroom=tables.symbol_headroom.copy(),
            may_lie_under=self.may_lie_under(),
            max_configurations=self.carried(step_offsets, pops),
            rule_names=found.network.rule_names,
            state_rule=self.state_rule(numbers, num_states),
            symbol_rule=found.rule_of[: len(tables.symbol_kind)],
        ), numbers

    def carried(self, step_offsets: IntArray, pops: IntArray) -> int:
        """Return the maximum number of configurations: 1 if no text has several derivations at any place, even if more
        are allowed."""
        may_be_one = self.max_configurations > 1 and not len(self.found.tables.too_many)
        if may_be_one and _native.is_deterministic(step_offsets, pops, self.parent, self.work.budget):
            return 1
        return self.max_configurations

    def state_rule(self, numbers: IntArray, num_states: int) -> IntArray:
        """Return `[num_states]`, the rule that the first element of each state is in, or -1."""
        tables = self.found.tables
        begin = tables.element_offsets[:-1]
        states = np.flatnonzero((numbers >= 0) & (begin < tables.element_offsets[1:]))
        # An element is the size of its stack, the symbols on it, and a state of the network.
        places = tables.elements[begin[states] + 1 + tables.elements[begin[states]]]
        result = np.full(num_states, -1, np.int32)
        result[numbers[states]] = self.found.rule_of[places]
        return result

    def may_lie_under(self) -> UnderSymbols:
        """Return which symbols may lie directly under which, of those that steps pop or push."""
        tables = self.found.tables
        kind, offsets = tables.symbol_kind.copy(), tables.below_offsets
        offsets = offsets[: int(kind.max(initial=-1)) + 2]
        below = tables.below[: offsets[-1]]
        is_used = below < len(kind)
        return UnderSymbols(kind, offsets_of(is_used)[offsets], below[is_used])

    def numbers(self) -> IntArray:
        """Return the final number of each state that can be reached, -1 for others; the state after the end of the text
        comes last."""
        tables, num_states = self.found.tables, self.found.num_states
        begins = np.zeros(num_states, np.bool_)
        begins[tables.start] = True
        kept = distances(self.steps[:, 4], self.steps[:, 0], begins, self.work) >= 0
        kept[tables.end] = False
        numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        numbers[tables.end] = kept.sum()
        return numbers
