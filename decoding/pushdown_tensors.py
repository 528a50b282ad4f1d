"""A pushdown token automaton as torch tensors: masks and steps for a batch, with the stacks on the device.

    mask        masks[set[state]]                                                     [B] -> [B, W] or [B, V]
    advance     state, class of the token -> move (pops, pushes, target), one look-up       [B]
                pushes are scattered over the stack above what is left of it               [B, M]
                the top of the new stack leads from the target to the next state            [B, L]

`state` is what the state of the automaton and the top of the stack mean together (`decoding.pushdown_rows`), so it is
all that a mask needs, and the stack is read once for each token. Both are a fixed number of gathers with shapes that
depend on nothing but the batch, and neither reads a value back to the host, so they can stand inside `torch.compile`
and a CUDA graph. As in `decoding.tensors`, the state after the end takes any token and stays, and a token that is not
allowed leads to `dead`, which allows nothing.

The stack holds `max_depth` symbols. A token is allowed only where the text can be completed within that depth after
it, so no text comes to a place where it can only be cut off. In two cases that is not certain near the limit, and a
mask may become empty: in a grammar with words (`automata.pushdown.headroom`), and where the vocabulary lacks bytes.

An automaton with parallel configurations carries P of them for each sequence, `[B, P]` in place of `[B]`; a step goes
to all their outcomes, and equal ones are merged (`decoding.pushdown_parallel`).

Nothing is written in place: to go back, or to branch, keep configurations or select rows of them.

Rejected: stacks as linked cells in one pool, which branch without copies (the pool grows with every token, and
collecting it needs the host).
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from automata.errors import EmptyLanguage, TooManyConfigurations
from decoding.pushdown_budget import Budget
from decoding.pushdown_masks import make_masks
from decoding.pushdown_parallel import Candidates, choose
from decoding.pushdown_rows import DEAD, ENDED, Longs, PushdownRows, make_rows
from decoding.pushdown_steps import StepTables
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.token_classes import END, NEVER

MAX_DEPTH = 256


class Configurations(NamedTuple):
    """Where each sequence of a batch stands; nothing is ever written in place.

    Attributes:
        state: `[B]` int64, or `[B, P]` with parallel configurations.
        stack: `[B, D']` or `[B, P, D']`, D' > `max_depth`, a byte for each symbol where there are less than 256 of
            them, otherwise int32; what lies above the height means nothing.
        height: `[B]` or `[B, P]` int64, how many symbols are on the stack.
        overflowed: `[B]` bool, whether a sequence needed more than P configurations; then it allows nothing.
    """

    state: Tensor
    stack: Tensor
    height: Tensor
    overflowed: Tensor

    def index_select(self, rows: Tensor) -> Configurations:
        """The configurations of some sequences, any of them any number of times, `[n]` int64."""
        return Configurations(*(part.index_select(0, rows) for part in self))


class PushdownTensors:
    """The tensors of one pushdown automaton on one device; E states, K classes, V tokens.

    Attributes:
        width: V, at least the vocabulary's; tokens past the vocabulary are never allowed.
        max_depth: the most symbols that a stack holds.
        dead, end: the states after a token that was not allowed, and after the end.
        is_end: `[V]` bool, the end tokens.
        parallel: P, how many configurations are carried; 1 where the automaton is deterministic.
        mask_number: `[E]`, the number of each state's mask in `masks`.
        masks: the masks (`decoding.pushdown_masks`).
    """

    def __init__(
        self,
        automaton: PushdownTokenAutomaton,
        device: torch.device | str = "cpu",
        width: int | None = None,
        *,
        max_depth: int | None = None,
    ) -> None:
        """Copies an automaton to a device.

        Args:
            automaton: the automaton.
            device: where the tensors live.
            width: the width of the model's logits, where it is more than the vocabulary's.
            max_depth: the most symbols that a stack may hold; what the automaton says, or `MAX_DEPTH` where it says
                nothing. A text that needs more is not allowed, and none is cut off: only what can be completed within
                the depth is allowed.

        Raises:
            ValueError: `width` is less than the vocabulary's.
            EmptyLanguage: every text needs a higher stack than `max_depth`.
            LimitExceeded: the rows of the context trees take more memory than a table may.
        """
        size = len(automaton.token_class)
        self.width = size if width is None else width
        if self.width < size:
            raise ValueError(f"logits of width {self.width} do not cover the vocabulary of {size}")
        tables = automaton.tables
        self.device, self.parallel = torch.device(device), tables.max_configurations
        depths = [depth for depth in (automaton.max_depth, max_depth) if depth is not None]
        self.max_depth = min(depths, default=MAX_DEPTH)
        classes = np.full(self.width, NEVER, np.int64)
        classes[:size] = automaton.token_class
        self.token_class = torch.from_numpy(classes).to(self.device)
        self.is_end = self.token_class == END
        rows = make_rows(tables)
        self.dead, self.end, self._rows, self._automaton = DEAD, ENDED, rows, automaton
        self._steps = StepTables(rows, tables, self.max_depth, self.device)
        self._lay_masks(rows, classes, tables.num_classes)
        # Below the lowest symbol lies as much as is ever read, and above the highest as much as is written at once.
        self._below = max(self._steps.reads, self._steps.longest)
        self._pushed = torch.arange(self._steps.longest, device=self.device) + self._below
        self._read = torch.arange(self._below - 1, self._below - self._steps.reads - 1, -1, device=self.device)
        if bool((self.starts(1).state == self.dead).all()):
            raise EmptyLanguage(f"every text needs a stack of more than {self.max_depth} symbols")

    def _lay_masks(self, rows: PushdownRows, classes: Longs, num_classes: int) -> None:
        sets: dict[bytes, int] = {}
        arrays: list[Longs] = []
        numbers = []
        for state in range(len(rows.offsets) - 1):
            allowed = rows.classes(state) if state != ENDED else np.array([END])
            numbers.append(sets.setdefault(allowed.tobytes(), len(arrays)))
            if numbers[-1] == len(arrays):
                arrays.append(allowed)
        self.mask_number = torch.tensor(numbers, device=self.device)
        self.masks = make_masks(arrays, classes, num_classes, self.device)

    def starts(self, batch: int) -> Configurations:
        """Where each sequence begins, with an empty stack."""
        steps, carried = self._steps, (batch,) if self.parallel == 1 else (batch, self.parallel)
        width = self._below + self.max_depth + steps.longest
        size = (*carried, width + -width % 8)
        stack = torch.full(size, steps.bottom, dtype=steps.pushes.dtype, device=self.device)
        height = torch.zeros(carried, dtype=torch.int64, device=self.device)
        symbols = torch.full((batch, steps.reads), steps.bottom, device=self.device)
        none = torch.zeros(batch, dtype=torch.int64, device=self.device)
        state = steps.state(none + steps.first, symbols, none)
        if self.parallel > 1:
            state = torch.nn.functional.pad(state[:, None], (0, self.parallel - 1), value=self.dead)
        return Configurations(state, stack, height, none.bool())

    def astray(self, configurations: Configurations) -> Tensor:
        """Which sequences hold a token that was not allowed, `[B]` bool."""
        dead = configurations.state == self.dead
        return dead if self.parallel == 1 else dead.all(1)

    def check(self, configurations: Configurations) -> None:
        """Looks whether a sequence has overflowed; the one method that waits for the device.

        Raises:
            TooManyConfigurations: some sequence has.
        """
        rows = configurations.overflowed.nonzero().flatten().tolist()
        if rows:
            raise TooManyConfigurations(
                f"sequences {rows} have more than {self.parallel} derivations side by side (`max_configurations`)"
            )

    def mask(self, configurations: Configurations, remaining: Tensor | int | None = None) -> Tensor:
        """The tokens allowed after each sequence, `[B, V]` bool.

        Args:
            configurations: where the sequences stand.
            remaining: how many tokens may still be written, the next one and the end token included, `[B]` or one
                number: then a token is allowed only if the text can still be completed after it. That supposes that
                the stack has room for the shortest way to do so.

        Raises:
            LimitExceeded: with `remaining`, as `tokenfst.pushdown.distance.distances`.
        """
        if remaining is None:
            return self.masks.tokens(self.mask_numbers(configurations))
        state, stack, height, _ = configurations
        limit = torch.zeros(len(state), dtype=torch.int64, device=self.device) + remaining
        rows = stack.view(state.numel(), -1)[:, self._below : self._below + self.max_depth]
        # The edges of a state are those that the depth allows.
        limits = limit.repeat_interleave(self.parallel)
        classes = self._budget.allowed(state.flatten(), rows, height.flatten(), limits)
        united: Tensor = classes.unflatten(0, (len(state), self.parallel)).any(1)
        return united.index_select(1, self.token_class)

    @cached_property
    def _budget(self) -> Budget:
        distance, tables = self._automaton.distances, self._automaton.tables
        return Budget(distance, self._rows, self._steps, tables.num_classes, self.max_depth)

    def mask_numbers(self, configurations: Configurations) -> Tensor:
        """The number of each mask in `masks`, `[B]`, or `[B, P]`, of which the union counts.

        What applies masks may read the words where they lie (`PackedMasks.table`), and then a step copies none.
        """
        return self.mask_number.index_select(0, configurations.state.flatten()).view_as(configurations.state)

    def bitmask(self, configurations: Configurations) -> Tensor:
        """The same masks as packed words, `[B, W]` int32: bit `i & 31` of word `i >> 5` is token i."""
        return self.masks.words(self.mask_numbers(configurations))

    def advance(self, configurations: Configurations, tokens: Tensor) -> Configurations:
        """Where each sequence stands after one more token.

        Args:
            configurations: where it stood.
            tokens: `[B]` int64, below V.
        """
        number = self.token_class.index_select(0, tokens)
        if self.parallel > 1:
            return self._advance_all(configurations, number)
        steps, (state, stack, height, overflowed) = self._steps, configurations
        move = steps.outcome.look_up(state, number)
        base = height - steps.pops.index_select(0, move)
        height = height + steps.grows.index_select(0, move)
        stack = stack.scatter(1, base[:, None] + self._pushed, steps.pushes.index_select(0, move))
        symbols = stack.gather(1, height[:, None] + self._read)
        state = steps.state(steps.target.index_select(0, move), symbols, height)
        return Configurations(state, stack, height, overflowed)

    def _advance_all(self, configurations: Configurations, number: Tensor) -> Configurations:
        """`advance` for parallel configurations: C = P x R candidates, R for each configuration."""
        steps, (state, stack, height, overflowed) = self._steps, configurations
        outcome = steps.outcome.look_up(state.flatten(), number.repeat_interleave(self.parallel))
        moves = steps.moves.index_select(0, outcome).unflatten(0, state.shape)
        base = (height[:, :, None] - steps.pops[moves]).flatten(1)
        height = (height[:, :, None] + steps.grows[moves]).flatten(1)
        moves, times = moves.flatten(1), moves.shape[2]
        pushes = steps.pushes[moves]
        near = self._near(stack, base.unflatten(1, (-1, times)), height - base, pushes)
        symbols = near[:, :, self._below - steps.reads :].flip(2)
        state = steps.state(steps.target[moves].flatten(), symbols.flatten(0, 1), height.flatten()).view_as(height)
        candidates = Candidates(state, height, base, near)
        order, kept, overflows = choose(stack, self._below, candidates, self.dead)
        overflowed = overflowed | overflows
        state = torch.where(kept & ~overflowed[:, None], state.gather(1, order), self.dead)
        stack = stack.gather(1, (order // times)[:, :, None].expand(-1, -1, stack.shape[2]))
        pushes = pushes.gather(1, order[:, :, None].expand(-1, -1, pushes.shape[2]))
        stack = stack.scatter(2, base.gather(1, order)[:, :, None] + self._pushed, pushes)
        return Configurations(state, stack, height.gather(1, order), overflowed)

    def _near(self, stack: Tensor, base: Tensor, sizes: Tensor, pushes: Tensor) -> Tensor:
        """The topmost symbols of candidates, `[B, C, below]`.

        Args:
            stack: `[B, P, D']`, the old stacks.
            base: `[B, P, R]`, how many symbols are left of them.
            sizes: `[B, C]`, how many symbols are pushed.
            pushes: `[B, C, N]`.
        """
        window = torch.arange(self._below, device=self.device)
        places = (base[:, :, :, None] + window).flatten(2)
        old = stack.gather(2, places).view(*pushes.shape[:2], self._below)
        return torch.cat([old, pushes], 2).gather(2, sizes[:, :, None] + window)
