"""CostTable: the costs of tokens in the states of a weighted automaton over bytes.

The cost of a token is the sum of the costs of the arcs along its bytes, and the cost of an end token is that of ending.
Costs along bytes are pushed to the front and add up to the cost of the text, so the costs of tokens do too, and no
construction over tokens is needed. Most tokens cost nothing in most states, and only the others are stored.

    state q >= 0     a state of the weighted automaton over bytes
    state ~q < 0     the same state where no token has begun the text yet, if the decoder treats its start differently;
                     `BEGINNING` is ~0, and only labels lead from it to others

Rejected: token classes refined by costs (in a state with many different costs, nearly every token would be a class).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray
from automata.cache import BoundedCache
from automata.compile.nfa import FIRST_LABEL
from automata.errors import AutomatonFileError
from automata.limits import Work, current_work
from automata.weighted import WeightedByteAutomaton
from automata.weighted.units import NO_COST, UnitArray, from_units
from tokenfst import _native
from tokenfst.vocabulary import Vocabulary

BEGINNING: Final = ~0
# The number of states whose costs are kept. Each takes 12 bytes for each token that does not cost 0.
_MAX_KEPT: Final = 256


class SparseCosts(NamedTuple):
    """The tokens that do not cost 0 in a state.

    Attributes:
        tokens: `[n]` int32, ascending.
        units: `[n]` int64, their costs in units.
    """

    tokens: IntArray
    units: UnitArray

    @property
    def nbytes(self) -> int:
        """The memory of the arrays."""
        return self.tokens.nbytes + self.units.nbytes

    @property
    def costs(self) -> npt.NDArray[np.float32]:
        """`[n]`, the costs."""
        return from_units(self.units).astype(np.float32)


class CostTable:
    """The costs of tokens by state; threads may share one.

    Attributes:
        vocabulary: the tokens.
        weighted: the automaton over bytes.
        label_tokens: the tokens of each label.
        start: the state before the first token.
        is_over_tokens: whether labels stand for tokens that write text, so that a text's cost depends on its tokens.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        weighted: WeightedByteAutomaton,
        label_tokens: Mapping[str, Iterable[int]],
        *,
        begins: bool = False,
    ) -> None:
        """Start with nothing kept.

        Args:
            vocabulary: the tokens.
            weighted: the automaton over bytes; or an automaton over labels alone, where every token has a label.
            label_tokens: the tokens of each label. A token has at most one label; if it has one, its bytes are
                not read.
            begins: whether the tokens begin a text and the decoder treats the start of a text differently.
        """
        self.vocabulary = vocabulary
        self.weighted = weighted
        self.label_tokens = {name: tuple(ids) for name, ids in label_tokens.items()}
        self.start = BEGINNING if begins else 0
        self.is_over_tokens = any(vocabulary.tokens[token] for ids in self.label_tokens.values() for token in ids)
        symbols = {name: FIRST_LABEL + number for number, name in enumerate(weighted.labels)}
        self._symbol_of = {token: symbols[name] for name, ids in self.label_tokens.items() for token in ids}
        self._labels = [(symbols[name], np.array(ids, np.int32)) for name, ids in self.label_tokens.items()]
        self._native = _native.TokenCosts(vocabulary.native, weighted.tables)
        self._kept = BoundedCache[int, SparseCosts](_MAX_KEPT)

    def after(self, state: int, token: int) -> tuple[int, int]:
        """Return the state after a token that is allowed, and what the token costs in units.

        Raises:
            AutomatonFileError: the weights come from a tampered file, and do not cover the token.
        """
        tables, symbol = self.weighted.tables, self._symbol_of.get(token)
        has_begun, at = state >= 0, place_of(state)
        if symbol is not None:
            arc = tables.find(at, symbol)
            if arc < 0:
                raise _not_covered(token)
            target, cost = int(tables.arcs[arc, 2]), int(tables.cost[arc])
            return target if has_begun or not self._is_silent(token) else ~target, cost
        if not has_begun and self._is_silent(token):
            return state, 0
        target, cost = tables.walk(at, self._written(token, has_begun))
        if target < 0:
            raise _not_covered(token)
        return target, cost

    def _is_silent(self, token: int) -> bool:
        """Return whether a token does not begin the text."""
        rule = self.vocabulary.text_start
        return not self.vocabulary.tokens[token] or (rule is not None and token in rule.ignored)

    def _written(self, token: int, has_begun: bool) -> bytes:
        """Return the bytes that a token writes, if it is not silent."""
        text, rule = self.vocabulary.tokens[token], self.vocabulary.text_start
        return text if has_begun or rule is None else rule.first(token, text)

    def cost_from_start(self, text: bytes) -> float:
        """Return the cost of bytes that begin a text."""
        return from_units(self.weighted.tables.walk(0, text)[1])

    def end_cost(self, state: int) -> int:
        """Return the cost of ending in a state, in units; `NO_COST` if no text may end there."""
        return int(self.weighted.tables.final[place_of(state)])

    def costs(self, state: int) -> SparseCosts:
        """Return the tokens that do not cost 0 in a state, including end tokens. Some of them may not be allowed there.

        Raises:
            Cancelled, LimitExceeded: the work was cancelled, or a limit was exceeded.
        """
        return self._kept.get_or_make(state, lambda: self._find(state, current_work()))

    def _find(self, state: int, work: Work) -> SparseCosts:
        if state < 0:
            return self._find_first(state)
        _, tokens, units = self.by_state(np.array([state], np.int32), work)
        return SparseCosts(tokens, units)

    def by_state(self, states: IntArray, work: Work) -> tuple[IntArray, IntArray, UnitArray]:
        """Return the tokens that do not cost 0 in some states over bytes, and their costs.

        Returns:
            `[n]` each, by place and then by token: the place of the state in `states`, the token, and its cost in
            units.
        """
        final = self.weighted.tables.final[states]
        ends = np.flatnonzero((final != NO_COST) & (final != 0)).astype(np.int32)
        found = [self._native.of_states(states, work.budget)]
        found += [(ends, np.full_like(ends, token), final[ends]) for token in self.vocabulary.eos_ids]
        found += [self._named(states, *label) for label in self._labels]
        place, tokens, units = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.lexsort((tokens, place))
        return place[order], tokens[order], units[order]

    def _named(self, states: IntArray, symbol: int, named: IntArray) -> tuple[IntArray, IntArray, UnitArray]:
        """Return the same as `by_state`, but only for `named`, the tokens of the label with this symbol."""
        tables = self.weighted.tables
        arcs = np.flatnonzero((tables.arcs[:, 0] == symbol) & (tables.cost != 0))
        cost_of = np.zeros(self.weighted.num_states, np.int64)
        cost_of[self.weighted.arc_sources[arcs]] = tables.cost[arcs]
        places = np.flatnonzero(cost_of[states]).astype(np.int32)
        repeated = np.repeat(places, len(named))
        return repeated, np.tile(named, len(places)), cost_of[states[repeated]]

    def _find_first(self, state: int) -> SparseCosts:
        """Return the costs before the text has begun, token by token, because each may write different bytes there."""
        found = [(token, self._first_cost(state, token)) for token in range(len(self.vocabulary))]
        kept = [(token, cost) for token, cost in found if cost]
        return SparseCosts(
            np.array([token for token, _ in kept], np.int32), np.array([cost for _, cost in kept], np.int64)
        )

    def _first_cost(self, state: int, token: int) -> int:
        if token in self.vocabulary.eos_ids:
            final = self.end_cost(state)
            return 0 if final == NO_COST else final
        tables, symbol, at = self.weighted.tables, self._symbol_of.get(token), place_of(state)
        if symbol is not None:
            arc = tables.find(at, symbol)
            return 0 if arc < 0 else int(tables.cost[arc])
        return 0 if self._is_silent(token) else tables.walk(at, self._written(token, has_begun=False))[1]


def place_of(state: int) -> int:
    """Return the state of the weighted automaton over bytes that a state of the table stands for."""
    return state if state >= 0 else ~state


def _not_covered(token: int) -> AutomatonFileError:
    return AutomatonFileError(f"the masks allow token {token}, and the weights give it no cost")
