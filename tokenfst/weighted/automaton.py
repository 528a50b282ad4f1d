"""WeightedTokenAutomaton: an exact automaton over tokens in which every token has a cost.

    support        the token automaton of the texts that have a cost; it defines masks, budgets and ends
    state          a state of the support, and the state of the weighted automaton over bytes after the same text
    costs(state)   the amounts to subtract from the logits; infinity for tokens that are not allowed

Costs are paid as early as they can be known, and add up along any tokens: the sum of `initial_cost`, the cost of each
token, and the cost of the end token is exactly the weight of the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from automata.acceptor_tables import CostArray
from automata.arrays import IntArray
from automata.drawing import Drawing
from automata.errors import AutomatonFileError, LimitExceeded
from automata.limits import Cancellation, Limits, Work, current_work
from automata.openfst import Fst
from automata.texts import text_bytes
from automata.weighted.units import NO_COST, UnitArray, from_units
from tokenfst.drawing import PictureCosts
from tokenfst.files import Array
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.to_fst import Prices, to_fst
from tokenfst.token_automaton import State, TokenAutomaton
from tokenfst.tokenizations import Decoding, Decodings, decoded_tokens, first_steps
from tokenfst.weighted.token_costs import BEGINNING, CostTable

# The kind of automaton in the header of a file.
KIND = "weighted"
# Stands for the state over bytes after an end token.
ENDED = int(np.iinfo(np.int32).min)


class WeightedState(NamedTuple):
    """A state of a `WeightedTokenAutomaton`.

    Attributes:
        state: the state of the support.
        byte_state: the state of the weighted automaton over bytes.
    """

    state: Any
    byte_state: int


class PricedStates(NamedTuple):
    """The tokens that do not cost 0 in the states of a weighted automaton.

    Attributes:
        rows: `[Q, 2]`, where the tokens of each state begin and end; states share them.
        tokens: `[n]` int32, ascending within a row.
        units: `[n]` int64, their costs in units.
    """

    rows: IntArray
    tokens: IntArray
    units: UnitArray


class WeightedTokenAutomaton(TokenAutomaton):
    """An automaton over tokens with costs; see the module.

    Attributes:
        support: the same automaton without costs.
        table: the costs.
    """

    def __init__(self, support: TokenAutomaton, table: CostTable) -> None:
        self.support = support
        self.table = table
        self.vocabulary = support.vocabulary
        self.at_text_start = support.at_text_start
        self.start = WeightedState(support.start, table.start)

    def __repr__(self) -> str:
        return f"<WeightedTokenAutomaton of {self.support!r}>"

    # Costs

    @property
    def is_weighted(self) -> bool:
        """Whether tokens have costs."""
        return True

    @cached_property
    def has_rewards(self) -> bool:
        """Whether an arc or an end has a negative cost, so that a longer text may cost less than its beginning."""
        tables = self.table.weighted.tables
        return bool((tables.cost < 0).any() or (tables.final < 0).any())

    @property
    def initial_cost(self) -> float:
        """The cost of every text before its first token; see `TokenAutomaton.initial_cost`.

        In the tropical semiring, this is the least cost of a text, unless a loop lowers the cost.
        """
        return from_units(self.table.weighted.tables.initial)

    def token_costs(self, state: State) -> tuple[IntArray, npt.NDArray[np.float32]]:
        """Return the tokens that do not cost 0 in a state; see `TokenAutomaton.token_costs`."""
        if _checked(state).byte_state == ENDED:
            return super().token_costs(state)
        found = self.table.costs(state.byte_state)
        # The table keeps the tokens.
        return found.tokens.copy(), found.costs

    def weight(self, tokens: Iterable[int] | str | bytes) -> float:
        """Return the cost of a whole text; see `TokenAutomaton.weight`."""
        if isinstance(tokens, str | bytes):
            if self.table.is_over_tokens:
                return self._least_weight(text_bytes(tokens))
            if self.vocabulary.detokenizer is None:
                return self.table.weighted.weight(tokens) if self.accepts(tokens) else inf
            found = decoded_tokens(self, text_bytes(tokens))
            return inf if found is None else self.weight(found)
        ids = list(tokens)
        if not self.accepts(ids):
            return inf
        state, units = self.table.start, self.table.weighted.tables.initial
        for token in ids[:-1] if ids and ids[-1] in self.vocabulary.eos_ids else ids:
            state, cost = self.table.after(state, token)
            units += cost
        return from_units(units + self.table.end_cost(state))

    def _least_weight(self, text: bytes) -> float:
        """Return the least cost of accepted tokens that write a text; infinity if there are none."""
        if self.vocabulary.detokenizer is not None:
            return self._least_decoded_weight(text)
        least: list[dict[WeightedState, float]] = [{} for _ in range(len(text) + 1)]

        def reach(state: WeightedState, cost: float, token: int, end: int, after: WeightedState) -> None:
            more = cost + from_units(self.table.after(state.byte_state, token)[1])
            least[end][after] = min(more, least[end].get(after, inf))

        for token, length, after in first_steps(self, text):
            reach(self.start, self.initial_cost, token, length, after)
        for begin, reached in enumerate(least):
            for state, cost in reached.items():
                for token, length in self.vocabulary.tokens_at(text, begin):
                    after = self.step(state, token)
                    if after is not None:
                        reach(state, cost, token, begin + length, after)
        whole = [*least[-1].items(), *([] if text else [(self.start, self.initial_cost)])]
        ends = [
            cost + from_units(self.table.end_cost(state.byte_state)) for state, cost in whole if self.is_final(state)
        ]
        return min(ends, default=inf)

    def _least_decoded_weight(self, text: bytes) -> float:
        """Return the least cost of accepted tokens for which the detokenizer writes a text; infinity if there are none.

        The detokenizer may write nothing for some tokens, so there may be cycles (Bellman 1958). If a cycle lowers the
        cost, the result is minus infinity. Costs are added up in units, which are integers, so that a cycle that costs
        nothing does not appear to lower the cost.
        """
        decodings = Decodings(self, text)
        order, arcs = [decodings.start], list[tuple[Decoding, Decoding, int]]()
        known = {decodings.start}
        for place in order:
            for token, after in decodings.steps(place):
                arcs.append((place, after, self.table.after(place.state.byte_state, token)[1]))
                if after not in known:
                    known.add(after)
                    order.append(after)
        least: dict[Decoding, float] = dict.fromkeys(order, inf) | {decodings.start: self.table.weighted.tables.initial}
        for _ in order:
            before = list(least.values())
            for place, after, cost in arcs:
                least[after] = min(least[after], least[place] + cost)
            if before == list(least.values()):
                break
        falling = {after for place, after, cost in arcs if least[place] + cost < least[after]}
        while more := {after for place, after, _ in arcs if place in falling} - falling:
            falling |= more
        ends = [place for place in order if decodings.is_end(place)]
        if not falling.isdisjoint(ends):
            return -inf
        wholes = [int(least[place]) + self.table.end_cost(place.state.byte_state) for place in ends]
        return from_units(min(wholes)) if wholes else inf

    # Delegated to the support

    @property
    def end_state(self) -> WeightedState:
        """The state after an end token."""
        return WeightedState(self.support.end_state, ENDED)

    @property
    def nbytes(self) -> int:
        """The memory in bytes; see `TokenAutomaton.nbytes`."""
        return self.support.nbytes + self.table.weighted.nbytes

    def is_final(self, state: State) -> bool:
        """Return whether the text may end in a state."""
        return self.support.is_final(_checked(state).state)

    def advance(self, state: State, token: int) -> WeightedState:
        """Return the state after one more token; see `TokenAutomaton.advance`.

        Raises:
            AutomatonFileError: the automaton comes from a tampered file, whose weights do not cover the token.
        """
        reached = self.support.advance(_checked(state).state, token)
        if state.byte_state == ENDED or token in self.vocabulary.eos_ids:
            return WeightedState(reached, ENDED)
        return WeightedState(reached, self.table.after(state.byte_state, token)[0])

    def min_tokens(self, state: State) -> int:
        """Return the least number of tokens to the end; see `TokenAutomaton.min_tokens`."""
        return self.support.min_tokens(_checked(state).state)

    def fits(self, state: State, remaining: int) -> bool:
        """Return whether the text can be completed within a budget; see `TokenAutomaton.fits`."""
        return self.support.fits(_checked(state).state, remaining)

    def fill_bitmask(self, state: State, out: npt.NDArray[np.int32], remaining: int | None = None) -> None:
        """Write the mask of a state as packed words; see `TokenAutomaton.fill_bitmask`."""
        self.support.fill_bitmask(_checked(state).state, out, remaining)

    def key(self, state: State) -> tuple[int, ...]:
        """Return the key of a state; see `TokenAutomaton.key`."""
        return self.support.key(_checked(state).state)

    # Tables

    def complete(self, *, limits: Limits | None = None, cancellation: Cancellation | None = None) -> TokenAutomaton:
        """Return the same automaton with complete tables; see `TokenAutomaton.complete`."""
        complete = self.support.complete(limits=limits, cancellation=cancellation)
        return self if complete is self.support else WeightedTokenAutomaton(complete, self.table)

    @cached_property
    def byte_states(self) -> IntArray:
        """`[Q - 1]` int32, the state over bytes of each state of the complete support except the last, the end state.

        Raises:
            LimitExceeded: the support has no tables over states.
            AutomatonFileError: the automaton comes from a tampered file, whose weights do not fit its support.
        """
        support = self.support.complete()
        if not isinstance(support, FiniteTokenAutomaton):
            raise LimitExceeded(f"{support!r} has no table of states")
        token_of_class = np.zeros(support.num_classes, np.int32)
        token_of_class[support.token_class] = np.arange(len(self.vocabulary), dtype=np.int32)
        found = np.full(support.num_states - 1, ENDED, np.int32)
        found[support.start], waiting = self.table.start, [support.start]
        while waiting:
            state = waiting.pop()
            for number, target in zip(*(each.tolist() for each in support.moves(state)), strict=True):
                if target == support.end_state:
                    continue
                after = self.table.after(int(found[state]), int(token_of_class[number]))[0]
                if found[target] == ENDED:
                    found[target] = after
                    waiting.append(target)
                elif found[target] != after:
                    raise AutomatonFileError("the weights have other states than the masks")
        return found

    def priced_states(self, work: Work) -> PricedStates:
        """Return the tokens that do not cost 0 in each state of the complete support except the last, the end state.

        Raises:
            LimitExceeded: the support has no table of states, or the costs take too much memory.
        """
        kinds, kind_of_state = np.unique(self.byte_states, return_inverse=True)
        not_begun = kinds[kinds < 0].tolist()
        place, tokens, units = self.table.by_state(kinds[len(not_begun) :], work)
        if not_begun:
            first = [self.table.costs(state) for state in not_begun]
            places = np.repeat(np.arange(len(first), dtype=np.int32), [len(costs.tokens) for costs in first])
            place = np.append(places, place + len(first))
            tokens = np.concatenate([*(costs.tokens for costs in first), tokens])
            units = np.concatenate([*(costs.units for costs in first), units])
        ends = np.cumsum(np.bincount(place, minlength=len(kinds)))
        rows = np.stack([np.append(0, ends[:-1]), ends], axis=1)
        return PricedStates(rows[kind_of_state], tokens, units)

    def fst(self) -> Fst:
        """Return the acceptor over tokens, with costs; see `TokenAutomaton.fst` and `WeightedByteAutomaton.fst`.

        Raises:
            FstError, LimitExceeded: as for `TokenAutomaton.fst`.
        """
        support = self.support.complete()
        if not isinstance(support, FiniteTokenAutomaton):
            return support.fst()
        priced, tables = self.priced_states(current_work()), self.table.weighted.tables
        size = len(self.vocabulary)
        states = np.repeat(np.arange(len(priced.rows)), priced.rows[:, 1] - priced.rows[:, 0])
        own = np.concatenate([np.arange(*row) for row in priced.rows.tolist()]).astype(np.int64)
        keys, units = states * size + priced.tokens[own], np.append(priced.units[own], 0)

        def of_arcs(source: IntArray, token: IntArray) -> CostArray:
            wanted = source.astype(np.int64) * size + token
            at = np.searchsorted(keys, wanted)
            found = np.append(keys, -1)[at] == wanted
            return from_units(np.where(found, units[at], 0))

        ends = tables.final[np.where(self.byte_states < 0, ~self.byte_states, self.byte_states)]
        prices = Prices(
            of_arcs, from_units(np.where(ends == NO_COST, 0, ends)), self.initial_cost, self.table.weighted.semiring
        )
        parts = support.start, support.end_state, support.is_final, support.transitions, support.token_class
        return to_fst(self.vocabulary, *parts, prices)

    def arrays(self) -> dict[str, Array]:
        """Return the tables by name; see `TokenAutomaton.arrays`."""
        tables = self.table.weighted.tables
        weights: dict[str, Array] = {
            "weight_initial": np.array([tables.initial], np.int64),
            "weight_offsets": tables.offsets,
            "weight_arcs": tables.arcs,
            "weight_cost": tables.cost,
            "weight_final": tables.final,
        }
        return self.support.arrays() | weights

    def _header(self) -> dict[str, str]:
        own = {
            "kind": KIND,
            "labels": json.dumps({name: list(ids) for name, ids in self.table.label_tokens.items()}),
            "semiring": self.table.weighted.semiring,
            "begins": str(self.table.start == BEGINNING),
        }
        support = self.support._header()
        return support | own | {"support": support["kind"]}

    def draw(
        self,
        *,
        title: str | None = None,
        around: int | None = None,
        radius: int = 2,
        path: Iterable[int] | None = None,
    ) -> Drawing:
        """Return a picture of the complete automaton; see `TokenAutomaton.draw`."""
        complete = self.complete()
        assert isinstance(complete, WeightedTokenAutomaton)
        support, states = complete.support, complete.byte_states.tolist()
        assert isinstance(support, FiniteTokenAutomaton)

        def of_tokens(state: int) -> dict[int, float]:
            found = self.table.costs(states[state])
            return dict(zip(found.tokens.tolist(), found.costs.tolist(), strict=True))

        ends = np.flatnonzero(support.final[:-1]).tolist() if not self.vocabulary.eos_ids else []
        of_ends = {state: from_units(self.table.end_cost(states[state])) for state in ends}
        costs = PictureCosts(of_tokens, of_ends, self.initial_cost)
        return support.draw(title=title, around=around, radius=radius, path=path, costs=costs)

    def _where(self, state: State) -> str:
        return self.support._where(state.state)


def _checked(state: State) -> WeightedState:
    """Return a state unchanged; raise TypeError, as the native core does, if it is not a state."""
    if not isinstance(state, WeightedState):
        raise TypeError(f"{state!r} is not a state of an automaton with weights")
    return state
