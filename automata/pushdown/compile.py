"""From a grammar, or its network, to a pushdown automaton."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from automata.distance import distances
from automata.errors import GrammarError
from automata.limits import Work, under_way
from automata.pushdown.ambiguity import explained, rule_name, shortest_text, shown
from automata.openfst import IntArray
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.completion import MAX_LOOKS, Undecided, completed
from automata.pushdown.headroom import headrooms, needed
from automata.pushdown.determinize import Determinizer, Unbounded, target_of_place
from automata.pushdown.grammar import Grammar, Place
from automata.pushdown.network import Network, build_network
from automata.pushdown.parallel import SideBySide
from automata.pushdown.places import Places, Stack

Ambiguity = Literal["error", "parallel"]


def compile_grammar(
    grammar: Grammar,
    *,
    ambiguity: Ambiguity = "error",
    max_configurations: int = 8,
    work: Work | None = None,
) -> PushdownAutomaton:
    """The pushdown automaton of a grammar.

    Args:
        grammar: the grammar.
        ambiguity: "error": the automaton is deterministic, or there is none. "parallel": configurations go on side by
            side, and words are resolved in each by itself.
        max_configurations: how many, for "parallel".
        work: the limits, and how the compilation is stopped; without it, the default limits.

    Raises:
        GrammarError: the grammar cannot be honoured; the message says where and why.
        NondeterministicGrammar: two derivations that cannot be told apart.
        EmptyLanguage: the grammar has no text.
        LimitExceeded: a limit was passed.
        Cancelled: another thread cancelled the compilation.
    """
    with under_way(work) as work:
        return compile_network(
            build_network(grammar, work),
            ambiguity=ambiguity,
            max_configurations=max_configurations,
            places=grammar.places,
            work=work,
        )


def compile_network(
    network: Network,
    *,
    ambiguity: Ambiguity = "error",
    max_configurations: int = 8,
    places: Mapping[str, Place] | None = None,
    work: Work | None = None,
) -> PushdownAutomaton:
    """The pushdown automaton of a network; see `compile_grammar`.

    Args:
        network: the network.
        ambiguity, max_configurations, work: as for `compile_grammar`.
        places: where rules were defined, for errors.
    """
    with under_way(work) as work:
        limits = work.limits
        if ambiguity == "error":
            found, max_configurations = Determinizer(Places(network), limits.states), 1
        elif ambiguity == "parallel" and max_configurations >= 1:
            found = SideBySide(Places(network), limits.states, limits.arcs, max_configurations)
        else:
            raise ValueError('`ambiguity` is "error" or "parallel", and `max_configurations` at least 1')
        made = _Making(found, max_configurations, work, places or {})
        try:
            found.run(found.places.start, work)
        except Unbounded as unbounded:
            raise explained(found, unbounded, *made.automaton(), made.grammar_places) from None
        if any(found.places.words):
            made.complete()
        return made.automaton()[0]


class _Making:
    """The automaton of a construction.

    Attributes:
        steps: `[5, E]`: state, column, pops, pushes, target.
    """

    def __init__(
        self, found: Determinizer, max_configurations: int, work: Work, grammar_places: Mapping[str, Place]
    ) -> None:
        self.found, self.max_configurations, self.work, self.grammar_places = (
            found, max_configurations, work, grammar_places
        )
        self.steps: IntArray | None = None

    def table(self) -> IntArray:
        if self.steps is None:
            self.steps = self.found.steps.table(self.found.places.go, target_of_place(self.found))
        return self.steps

    def complete(self) -> None:
        """Takes out what leads to no end."""
        found, steps = self.found, self.table()
        sequences = list(found.steps.sequences.number)
        rows, which = np.unique(steps[[0, 2, 3, 4]], axis=1, return_inverse=True)
        moves = [(state, sequences[p], sequences[v], target) for state, p, v, target in rows.T.tolist()]
        places = found.places
        tops = [found.symbols_under(elements) for elements in found.elements]
        under = {symbol: found.symbols_below(symbol) for symbol in found.steps.sequences.symbol}
        start, end = found.place(places.start), found.place(places.end_state)
        try:
            replaced = completed(moves, start, end, found.too_many, under, tops, self.work)
        except Undecided as undecided:
            raise self.undecided(undecided) from None
        if replaced:
            self.replace(which.reshape(-1), {moves.index(move): stacks for move, stacks in replaced.items()})

    def replace(self, which: IntArray, replaced: dict[int, list[tuple[Stack, Stack]]]) -> None:
        """Replaces the steps of some moves, given the move of each step."""
        of, steps = self.found.steps.sequences.of, self.table()
        parts = [steps[:, ~np.isin(which, list(replaced))]]
        for move, stacks in replaced.items():
            own = steps[:, which == move]
            for pops, pushes in stacks:
                part = own.copy()
                part[2], part[3] = of(pops), of(pushes)
                parts.append(part)
        steps = np.concatenate(parts, axis=1)
        self.steps = steps[:, np.lexsort((steps[4], steps[3], steps[2], steps[1], steps[0]))]

    def undecided(self, undecided: Undecided) -> GrammarError:
        automaton, numbers = self.automaton()
        state = undecided.move[0]
        name = rule_name(self.found, self.found.elements[state][0][1])
        text = shortest_text(automaton, int(numbers[state]))
        place = self.grammar_places.get(name)
        return GrammarError(
            f"after {shown(text)} a word can be read on by the longest match, and whether the text then ends depends on "
            f"more than {MAX_LOOKS} symbols of the stack",
            rule=name,
            line=place.line if place else None,
            column=place.column if place else None,
        )

    def automaton(self) -> tuple[PushdownAutomaton, IntArray]:
        """The automaton, and the number in it of each state of the construction, -1 for those that are not reached."""
        found, places, sequences = self.found, self.found.places, self.found.steps.sequences
        steps = self.table()
        numbers = self.numbers(steps)
        steps = steps[:, numbers[steps[0]] >= 0]
        num_states = int(numbers.max()) + 1
        room = headrooms(places)
        headroom = np.zeros(num_states, np.int32)
        for number, elements in zip(numbers.tolist(), found.elements, strict=True):
            if number >= 0:
                headroom[number] = min(needed(room, *element) for element in elements)
        # States keep their order, but for the end; so the steps do.
        cell = numbers[steps[0]].astype(np.int64) * places.num_columns + steps[1]
        counts = np.bincount(cell, minlength=num_states * places.num_columns)
        symbols = list(sequences.symbol)
        stacks = [found.stacks(symbol) for symbol in symbols]
        under = np.zeros((len(symbols), len(symbols)), np.bool_)
        for row, symbol in zip(under, symbols, strict=True):
            row[[sequences.symbol[each] for each in found.symbols_below(symbol) if each in sequences.symbol]] = True
        return PushdownAutomaton(
            start=int(numbers[found.place(places.start)]),
            byte_class=places.network.byte_class,
            labels=places.network.labels,
            num_symbols=len(symbols),
            step_offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            step_pops=steps[2],
            step_pushes=steps[3],
            step_target=numbers[steps[4]],
            parent=np.array(sequences.parent, np.int32),
            symbol=np.array(sequences.last, np.int32),
            headroom=headroom,
            symbol_headroom=np.array(
                [min(needed(room, each[:-1], each[-1]) for each in some) for some in stacks], np.int32
            ),
            may_lie_under=under,
            max_configurations=self.max_configurations,
        ), numbers

    def numbers(self, steps: IntArray) -> IntArray:
        """The final number of each state that can be reached; the state after the end of the text comes last."""
        start, end = (self.found.place(place) for place in (self.found.places.start, self.found.places.end_state))
        num_states = len(self.found.elements)
        begins = np.zeros(num_states, np.bool_)
        begins[start] = True
        kept = distances(steps[4], steps[0], begins) >= 0
        kept[end] = False
        numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        numbers[end] = kept.sum()
        return numbers
