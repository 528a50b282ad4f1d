"""Assembly: a construction becomes a pushdown automaton.

Steps that lead to no end are taken out, states that nothing leads to are left out, the others numbered, and the tables
filled.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence

import numpy as np

from automata.arrays import IntArray
from automata.distance import distances
from automata.errors import GrammarError
from automata.limits import Work
from automata.pushdown.ambiguity import rule_name, shortest_text, shown
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.completion import MAX_LOOKS, Undecided, completed
from automata.pushdown.determinize import Determinizer
from automata.pushdown.grammar import Place
from automata.pushdown.headroom import headrooms, needed
from automata.pushdown.leading_on import Move, SymbolsBelow, doubtful_states
from automata.pushdown.places import Stack
from automata.pushdown.steps import unique
from automata.pushdown.under import UnderSymbols, by_kinds


class Assembly:
    """The tables of a construction, however far it went."""

    def __init__(self, found: Determinizer, max_configurations: int, work: Work, defined: Mapping[str, Place]) -> None:
        """Starts with the steps as they were found.

        Args:
            found: the construction.
            max_configurations: how many configurations are carried.
            work: how the compilation is stopped.
            defined: where rules were defined, for errors.
        """
        self.found, self.max_configurations, self.work, self.defined = found, max_configurations, work, defined
        # `[5, E]`: state, column, pops, pushes, target; those of each state alone, and with those that states share.
        self.own = found.steps.table(found.places.go, found.target_of_place())
        self.steps = found.steps.joined(self.own)

    def complete(self) -> None:
        """Takes out what leads to no end."""
        found, places = self.found, self.found.places
        sharing: dict[int, list[int]] = {}
        for state, other in found.steps.shared:
            sharing.setdefault(other, []).append(state)
        own = unique(self.own[[0, 2, 3, 4]])
        shared = np.array([(state, 0, 0, other) for state, other in found.steps.shared], np.int32).reshape(-1, 4)
        start, end = found.place(places.start), found.place(places.end_state)
        below, sequences = self.below(sharing), found.steps.sequences
        doubtful = doubtful_states(np.concatenate([own.T, shared]), sequences, end, below, self.work)
        doubtful.difference_update(found.too_many)
        if doubtful <= sharing.keys():
            return
        stacks = list(sequences.number)
        moves = [(state, stacks[p], stacks[v], target) for state, p, v, target in self.work.watched(own.T.tolist())]
        try:
            replaced = completed(moves, sharing, start, end, doubtful, below, self.work)
        except Undecided as undecided:
            raise self.undecided(undecided) from None
        if replaced:
            self.replace(replaced)

    def below(self, sharing: Mapping[int, Collection[int]]) -> SymbolsBelow:
        """Which symbols may lie under states and symbols: those that may lie under all rules at the bottom of their
        stacks; under a state that others share the moves of, whatever may lie under one of these."""
        found, watched = self.found, self.work.watched
        kinds: dict[frozenset[int], frozenset[int]] = {}  # equal ones are one
        rules = (found.lowest_rules(elements) for elements in watched(found.elements))
        of_state: list[Hashable] = [kinds.setdefault(kind, kind) for kind in map(frozenset, rules)]
        of_symbol: dict[int, Hashable] = {
            symbol: kinds.setdefault(kind := found.rules_below(symbol), kind)
            for symbol in watched(found.steps.sequences.symbol)
        }
        below: dict[Hashable, Sequence[int]] = {kind: found.under_all(kind) for kind in watched(kinds)}
        for state, states in sharing.items():
            shared = frozenset(of_state[each] for each in states)
            of_state[state] = "any of", shared
            if of_state[state] not in below:
                below[of_state[state]] = sorted(set[int]().union(*(below[each] for each in shared)))
        return SymbolsBelow(of_state, of_symbol, below)

    def replace(self, replaced: Mapping[Move, list[tuple[Stack, Stack]]]) -> None:
        """Replaces the steps of some moves."""
        of = self.found.steps.sequences.of
        by_number = {
            (state, of(pops), of(pushes), target): [(of(p), of(v)) for p, v in stacks]
            for (state, pops, pushes, target), stacks in replaced.items()
        }
        changed = np.isin(self.steps[0], list({move[0] for move in replaced}))
        new = [
            (state, column, *stacks, target)
            for state, column, pops, pushes, target in self.steps[:, changed].T.tolist()
            for stacks in by_number.get((state, pops, pushes, target), [(pops, pushes)])
        ]
        self.steps = unique(np.concatenate([self.steps[:, ~changed], np.array(new, np.int32).reshape(-1, 5).T], axis=1))

    def undecided(self, undecided: Undecided) -> GrammarError:
        """The error where a step would have to look too deep."""
        automaton, numbers = self.automaton()
        state = undecided.move[0]
        name = rule_name(self.found, self.found.elements[state][0][1])
        text = shortest_text(automaton, int(numbers[state]))
        place = self.defined.get(name)
        return GrammarError(
            f"after {shown(text)} a word can be read on by the longest match, and whether the text then ends "
            f"depends on more than {MAX_LOOKS} symbols of the stack",
            rule=name,
            line=place.line if place else None,
            column=place.column if place else None,
        )

    def automaton(self) -> tuple[PushdownAutomaton, IntArray]:
        """The automaton, and the number in it of each state of the construction, -1 for those that are not reached."""
        found, places, sequences = self.found, self.found.places, self.found.steps.sequences
        steps = self.steps
        numbers = self.numbers(steps)
        steps = steps[:, numbers[steps[0]] >= 0]
        num_states = int(numbers.max()) + 1
        # States keep their order, but for the end; so the steps do.
        cell = numbers[steps[0]].astype(np.int64) * places.num_columns + steps[1]
        counts = np.bincount(cell, minlength=num_states * places.num_columns)
        headroom, symbol_headroom = self.headroom(numbers, num_states)
        return PushdownAutomaton(
            start=int(numbers[found.place(places.start)]),
            byte_class=places.network.byte_class,
            labels=places.network.labels,
            num_symbols=len(sequences.symbol),
            step_offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            step_pops=np.ascontiguousarray(steps[2]),
            step_pushes=np.ascontiguousarray(steps[3]),
            step_target=numbers[steps[4]],
            parent=np.array(sequences.parent, np.int32),
            symbol=np.array(sequences.last, np.int32),
            headroom=headroom,
            symbol_headroom=symbol_headroom,
            may_lie_under=self.may_lie_under(),
            max_configurations=self.max_configurations,
        ), numbers

    def headroom(self, numbers: IntArray, num_states: int) -> tuple[IntArray, IntArray]:
        """That of each state and each symbol: the least of their elements' and their stacks'."""
        found, room = self.found, headrooms(self.found.places, self.work)
        # Nearly all states are one of the network alone.
        alone, own = (np.array(list(each), np.int32) for each in (found.state_of_place, found.state_of_place.values()))
        every = np.full(len(numbers), -1, np.int32)
        every[own] = np.maximum(np.array(room, np.int32)[alone], 0)
        for state in self.work.watched(np.flatnonzero(every < 0).tolist()):
            every[state] = min(needed(room, *element) for element in found.elements[state])
        by_state = np.zeros(num_states, np.int32)
        by_state[numbers[numbers >= 0]] = every[numbers >= 0]
        stacks = [found.stacks(symbol) for symbol in found.steps.sequences.symbol]
        by_symbol = [min(needed(room, each[:-1], each[-1]) for each in some) for some in stacks]
        return by_state, np.array(by_symbol, np.int32)

    def may_lie_under(self) -> UnderSymbols:
        """Which symbols may lie directly under which: those that may lie under all rules at the bottom of a symbol."""
        found, symbols = self.found, self.found.steps.sequences.symbol
        kinds = [found.rules_below(symbol) for symbol in self.work.watched(symbols)]
        below = {
            kind: [symbols[each] for each in found.under_all(kind) if each in symbols]
            for kind in self.work.watched(dict.fromkeys(kinds))
        }
        return by_kinds(kinds, below)

    def numbers(self, steps: IntArray) -> IntArray:
        """The final number of each state that can be reached; the state after the end of the text comes last."""
        start, end = (self.found.place(place) for place in (self.found.places.start, self.found.places.end_state))
        num_states = len(self.found.elements)
        begins = np.zeros(num_states, np.bool_)
        begins[start] = True
        kept = distances(steps[4], steps[0], begins, self.work) >= 0
        kept[end] = False
        numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        numbers[end] = kept.sum()
        return numbers
