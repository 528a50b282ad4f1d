"""Following: where each row of a batch stands in its constraint, found from the tokens of the rows alone.

Whoever calls a logits processor hands it the tokens and says nothing of what became of them: beams change places, draft
tokens are taken back, the same place is asked about twice. So for the last few lengths it is kept which rows there were
and where they stood, and a row that begins like one of them goes on from there; only what is new is read.

    rows         each has its automaton, or none; with several rows for each prompt those of a prompt are neighbours,
                 and take each other's places only
    on a device  automata that the arena holds (`decoding.arena`), side by side
    on the host  the others: automata whose masks are made on demand, and those with a state of their own kind

Rejected: states by the tokens of a row in a table (they would have to be read from the device at each step).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor

from automata.errors import LimitExceeded, TokenNotAllowed, TooManyConfigurations, VocabularyError
from automata.limits import Limits
from decoding.arena import FREE_SLOT, Arena, Sequences
from decoding.arena.arena import MAX_DEPTH
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.token_automaton import TokenAutomaton

Automaton: TypeAlias = TokenAutomaton

# How many lengths are kept, beside that of the prompt: more than any draft is long.
KEPT: Final = 64
# On the host, what is longer than the shortest text by more than this counts as this.
_MOST_EXCESS: Final = 64
# Seconds that completing the tables of an automaton may take; one that takes longer is followed on the host.
MAX_COMPLETING: Final = 0.25


class _Astray:
    """The state of a row that holds a token which was not allowed."""


class _Ended:
    """The state of a row after its end token."""


_ASTRAY, _ENDED = _Astray(), _Ended()


class States(NamedTuple):
    """Where the rows of a batch stand.

    Attributes:
        tokens: `[B, T]`, the rows.
        device: those on the device; the others stand where everything is allowed. None if there are none.
        host: by row, the state of those on the host, None for the others.
    """

    tokens: Tensor
    device: Sequences | None
    host: tuple[Hashable, ...]


class Following:
    """Follows the rows of one call of `generate`.

    Attributes:
        prompt_length: how many tokens of each row are the prompt.
        end_ids: the end tokens.
    """

    def __init__(
        self,
        automata: Sequence[Automaton | None],
        prompts: Tensor,
        device: torch.device,
        width: int,
        max_depth: int | None = None,
    ) -> None:
        """Copies what can be on the device there.

        Args:
            automata: one for each prompt, None where anything may be written; or one for all.
            prompts: `[B, T]`, the rows before anything has been written; B is a multiple of the number of automata.
            device: where the logits are.
            width: their width.
            max_depth: how many symbols the stack of a grammar's automaton may hold; None for what the arena has.

        Raises:
            ValueError: `width` is less than the vocabulary's, or there are not so many rows.
            VocabularyError: the automata are for different vocabularies.
        """
        constrained = [automaton for automaton in automata if automaton is not None]
        if any(automaton.vocabulary.digest != constrained[0].vocabulary.digest for automaton in constrained):
            raise VocabularyError("the constraints of one batch were made for different vocabularies")
        if constrained and width < len(constrained[0].vocabulary):
            size = len(constrained[0].vocabulary)
            raise ValueError(f"logits of width {width} do not cover the vocabulary of {size}")
        times, rest = divmod(len(prompts), len(automata))
        if rest:
            raise ValueError(f"there are {len(automata)} constraints, and {len(prompts)} rows")
        self.automata, self.device, self.width = list(automata), device, width
        self.end_ids = list(constrained[0].vocabulary.eos_ids) if constrained else []
        self.prompt_length, self._prompts = prompts.shape[1], prompts
        # By row, the number of its automaton.
        self._number = [number for number in range(len(automata)) for _ in range(times)]
        self._arena, slots = _arena(automata, device, width, max_depth)
        at = self._arena.starts([slots[number] for number in self._number]) if self._arena is not None else None
        host = [
            None if automaton is None or slot != FREE_SLOT else automaton.start
            for automaton, slot in zip(automata, slots, strict=True)
        ]
        self._on_device = torch.tensor([slots[number] != FREE_SLOT for number in self._number], device=device)
        self._kept: dict[int, States] = {}
        self._keep(States(prompts, at, tuple([host[number] for number in self._number])))

    def states(self, tokens: Tensor) -> States:
        """Where rows stand.

        Args:
            tokens: `[B, T]`, prompts and what has been written.

        Raises:
            ValueError: these are other prompts, or not so many rows.
        """
        if not torch.equal(tokens[:, : self.prompt_length], self._prompts):
            raise ValueError("these are other prompts than before: a processor is made for one call of generate")
        for length in sorted(self._kept, reverse=True):
            known = self._kept[length]
            if length <= tokens.shape[1] and (rows := self._rows(tokens[:, :length], known.tokens)) is not None:
                states = self._selected(known, rows)
                for at in range(length, tokens.shape[1]):
                    states = self._advanced(states, tokens[:, : at + 1])
                return states
        raise AssertionError("the prompts are always known")

    def _keep(self, states: States) -> None:
        length = states.tokens.shape[1]
        self._kept[length] = states
        if length - KEPT > self.prompt_length:
            self._kept.pop(length - KEPT, None)

    def _rows(self, rows: Tensor, known: Tensor) -> Tensor | None:
        """Where each row stood among those known, `[B]`; None if some row was not there."""
        if rows.shape != known.shape:
            return None
        if torch.equal(rows, known):
            return torch.arange(len(rows), device=rows.device)
        groups = rows.unflatten(0, (len(self.automata), -1)), known.unflatten(0, (len(self.automata), -1))
        same = (groups[0][:, :, None] == groups[1][:, None]).all(3)
        if not bool(same.any(2).all()):
            return None
        first = torch.arange(0, len(rows), same.shape[1], device=rows.device)
        found: Tensor = (same.to(torch.uint8).argmax(2) + first[:, None]).flatten()
        return found

    def _selected(self, states: States, rows: Tensor) -> States:
        host = states.host
        if any(state is not None for state in host):
            host = tuple([host[row] for row in rows.tolist()])
        device = states.device.index_select(rows.to(self.device)) if states.device is not None else None
        return States(states.tokens.index_select(0, rows), device, host)

    def _advanced(self, states: States, tokens: Tensor) -> States:
        """Where rows stand with one token more."""
        last, device, host = tokens[:, -1], states.device, states.host
        if self._arena is not None and device is not None:
            device = self._arena.advance(device, last.to(self.device))
        if any(state is not None for state in host):
            rows = zip(self._number, host, last.tolist(), strict=True)
            host = tuple([self._stepped(self.automata[number], state, token) for number, state, token in rows])
        reached = States(tokens, device, host)
        self._keep(reached)
        return reached

    def _stepped(self, automaton: Automaton | None, state: Hashable, token: int) -> Hashable:
        if automaton is None or state is None or state is _ASTRAY or state is _ENDED:
            return state
        try:
            reached: Hashable = automaton.advance(state, token)
        except TokenNotAllowed:
            return _ASTRAY
        return _ENDED if token in automaton.vocabulary.eos_ids else reached

    # What is to be known of rows

    def astray(self, states: States) -> Tensor:
        """Which rows hold a token that was not allowed, `[B]` bool.

        Raises:
            TooManyConfigurations: a row has more derivations side by side than are carried.
        """
        found = torch.tensor([state is _ASTRAY for state in states.host], device=self.device)
        if self._arena is None or states.device is None:
            return found
        rows = states.device.overflowed.nonzero().flatten().tolist()
        if rows:
            raise TooManyConfigurations(
                f"rows {rows} have more derivations side by side than are carried (`max_configurations`)"
            )
        return found | (self._on_device & self._arena.astray(states.device))

    def needs_more(self, states: States, row: int, remaining: int) -> bool:
        """Whether a row that is not astray cannot be completed within so many tokens, whatever the height of the stack.

        The row is read anew on the host: what the device knows is how many tokens it takes within `max_depth`.
        """
        automaton = self.automata[self._number[row]]
        if automaton is None:
            return False
        state = automaton.start
        for token in states.tokens[row, self.prompt_length :].tolist():
            state = automaton.advance(state, token)
        return not automaton.fits(state, remaining)

    def mask(self, states: States, remaining: int | None = None) -> Tensor:
        """The tokens that each row may write next, `[B, V]` bool; all of them for rows without a constraint.

        Args:
            states: where the rows stand.
            remaining: how many tokens may still be written, the next one and the end token included: then a token is
                allowed only if the text can still be completed after it.
        """
        if self._arena is not None and states.device is not None:
            mask = self._arena.mask(states.device, remaining)
        else:
            mask = torch.ones(len(states.tokens), self.width, dtype=torch.bool, device=self.device)
        free = [row for row, number in enumerate(self._number) if self.automata[number] is None]
        mask[free] = True
        for row, state in enumerate(states.host):
            if state is not None:
                mask[row] = self._host_mask(self.automata[self._number[row]], state, remaining).to(self.device)
        return mask

    def excess(self, states: States) -> Tensor:
        """By how many tokens each token makes a text longer than it has to be, `[B, V]` int64; 0 for rows without a
        constraint, and some number for tokens that are not allowed."""
        if self._arena is not None and states.device is not None:
            excess = self._arena.excess(states.device) * self._on_device[:, None]
        else:
            excess = torch.zeros(len(states.tokens), self.width, dtype=torch.int64, device=self.device)
        for row, state in enumerate(states.host):
            if state is not None and state is not _ASTRAY and state is not _ENDED:
                excess[row] = self._host_excess(self.automata[self._number[row]], state).to(self.device)
        return excess

    def _host_excess(self, automaton: Automaton | None, state: Any) -> Tensor:
        """What the masks within budgets say: a token that needs one more than the least is one too many."""
        assert automaton is not None
        allowed, least = automaton.mask(state), automaton.min_tokens(state)
        excess = np.zeros(self.width, np.int64)
        found, more = automaton.mask(state, least), 0
        while more < _MOST_EXCESS and (found != allowed).any():
            more += 1
            excess[: len(allowed)] += ~found
            found = automaton.mask(state, least + more)
        return torch.from_numpy(excess)

    def _host_mask(self, automaton: Automaton | None, state: Any, remaining: int | None) -> Tensor:
        allowed = np.zeros(self.width, np.bool_)
        assert automaton is not None
        if state is _ENDED:
            allowed[list(automaton.vocabulary.eos_ids)] = True
        elif state is not _ASTRAY:
            allowed[: len(automaton.vocabulary)] = automaton.mask(state, remaining)
        return torch.from_numpy(allowed)


def _held(automaton: TokenAutomaton | None) -> TokenAutomaton | None:
    """Return the tables of an automaton that the arena can hold, None if it is followed on the host.

    That is so for canonical automata, and for automata whose tables take long to make.
    """
    if automaton is None:
        return None
    try:
        complete = automaton.complete(limits=Limits(seconds=MAX_COMPLETING))
    except LimitExceeded:
        return None
    return complete if isinstance(complete, FiniteTokenAutomaton | PushdownTokenAutomaton) else None


def _arena(
    automata: Sequence[Automaton | None], device: torch.device, width: int, max_depth: int | None
) -> tuple[Arena | None, list[int]]:
    """The arena of those automata that it can hold, None where there are none, and each automaton's slot."""
    tables = [_held(automaton) for automaton in automata]
    held = {id(one): one for one in tables if one is not None}
    if not held:
        return None, [FREE_SLOT] * len(automata)
    depth = MAX_DEPTH if max_depth is None else max_depth
    arena = Arena.of(list(held.values()), device, width=width, max_depth=depth)
    slots = {key: slot for slot, key in enumerate(held, 1)}
    return arena, [slots.get(id(one), FREE_SLOT) for one in tables]
