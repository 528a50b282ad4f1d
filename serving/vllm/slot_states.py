"""SlotStates: the states of an engine's requests, by slot, on its device.

An engine's runner gives each request a slot, and each step a batch of rows of logits: one for each request, and one
more for each draft token. It passes the positions of rows in their sequences and the tokens that were read there, all
on the device, and never says which drafts it accepted. So a slot keeps the states after the last tokens that it saw:

    kept     the states after the positions `base`, `base + 1`, ...: up to the longest draft
    count    the number of kept states

    position of the first row    kept states        its state
    before `base`                stay               none is needed: a prompt is being read in pieces
    `base`                       are replaced       the first one: the step is repeated, or a prompt has been read
    `base + k`                   are replaced       one token after the k-th one: k - 1 drafts were accepted
    farther                      are replaced       unknown, so only the end is allowed from here on

Nothing is read on the host: the host knows only the numbers of requests and rows of a step.

Rejected: advancing by the tokens that the runner has committed, and then by the drafts again (twice the steps); states
in a table by token position (memory for whole sequences).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import torch
from torch import Tensor

from decoding.arena import FREE_SLOT, Arena, Sequences
from decoding.arena.layout import DEAD, ENDED
from decoding.devices import sent
from decoding.inputs.constraints import check_has_end

# The columns of a slot's request: the arena's slot of its automaton, the position of the first kept state, the number
# of kept states, and whether the request is constrained.
_AUTOMATON, _BASE, _COUNT, _IS_CONSTRAINED = range(4)
# Far below any logit, and still finite when it is divided by a temperature.
_LEAST: Final = -1e30


class Rows(NamedTuple):
    """The rows of one step, on the device; the rows of a request are adjacent, in the order of their positions.

    Attributes:
        slots: `[N]` int64, the slot of each request of the batch, all different.
        slot: `[R]` int64, the slot of each row.
        number: `[R]` int64, the number of each row among the rows of its request, from 0.
        token: `[R]`, the token that the model read there; -1 for the padding of drafts.
        position: `[R]` int64, the position of each row in its sequence, including the prompt.
    """

    slots: Tensor
    slot: Tensor
    number: Tensor
    token: Tensor
    position: Tensor


class Entering(NamedTuple):
    """A request that enters a slot.

    Attributes:
        slot: the slot of the request.
        automaton: the arena's slot of its automaton; None for a request that is not constrained.
        has_ended: whether only the end is allowed from its beginning.
        prompt: the number of tokens of its prompt.
        length: the number of tokens of prompt and output; more than `prompt` if a request is resumed.
        stops: tokens that end its text where it may end, in addition to the end tokens of the vocabulary.
    """

    slot: int
    automaton: int | None
    has_ended: bool
    prompt: int
    length: int
    stops: tuple[int, ...]


class SlotStates:
    """The states of all slots.

    Attributes:
        arena: the automata.
        num_slots: S, the number of slots.
        unfinished: `[S]` bool on the device, whether only the end was allowed for a request before its text was
            complete: because of tokens that the constraint does not allow, of positions that skip some, or because only
            stop tokens of the request could be written.
    """

    def __init__(self, arena: Arena, num_slots: int, most_drafts: int) -> None:
        """Make slots whose requests are not constrained.

        Args:
            arena: the automata; its vocabulary has an end token.
            num_slots: S, the number of slots.
            most_drafts: the maximum number of draft tokens of a request in one step.

        Raises:
            VocabularyError: the vocabulary has no end token.
        """
        check_has_end(arena.vocabulary)
        self.arena, self._kept, self.num_slots = arena, most_drafts + 1, num_slots
        self._requests = self._sent([[FREE_SLOT, 0, 1, False]]).repeat(num_slots, 1)
        self._at = arena.starts(self._zeros(num_slots * self._kept))
        # The tokens that end a text: those of the vocabulary first; unused places repeat one of them.
        self._ends = self._sent(sorted(arena.vocabulary.eos_ids))
        self._stops = self._ends.repeat(num_slots, 1)
        self.unfinished = self._zeros(num_slots).bool()

    def _zeros(self, size: int) -> Tensor:
        return torch.zeros(size, dtype=torch.int64, device=self.arena.device)

    def _sent(self, values: Sequence[Sequence[int]] | Sequence[int]) -> Tensor:
        return sent(torch.tensor(values, dtype=torch.int64), self.arena.device)

    # Requests come, and their automata move

    def enter(self, entering: Sequence[Entering], tokens: Tensor) -> None:
        """Begin the texts of requests in their slots, and read the outputs of those that are resumed.

        Args:
            entering: the requests; their slots are all different.
            tokens: `[S, T]`, the tokens of each slot, prompt and output; on the device.
        """
        values = self._sent([_numbers(each) for each in entering])
        slots, begin, has_ended = values[:, :3].unbind(1)
        self._requests.index_copy_(0, slots, values[:, 3:])
        self.unfinished.index_fill_(0, slots, False)
        self._put_stops(slots, [each.stops for each in entering])
        at = self.arena.starts(values[:, 3 + _AUTOMATON].contiguous())
        at = at._replace(row=torch.where(has_ended[:, None, None] > 0, _ended(at.row), at.row))
        for number in range(max(each.length - each.prompt for each in entering)):
            place = begin + number
            token = tokens[slots, place.clamp(max=tokens.shape[1] - 1)]
            at = _either(place <= values[:, 3 + _BASE], self._advanced(at, token, slots), at)
        self._keep(at, slots * self._kept)

    def _put_stops(self, slots: Tensor, stops: Sequence[tuple[int, ...]]) -> None:
        ends = sorted(self.arena.vocabulary.eos_ids)
        missing = len(ends) + max(map(len, stops)) - self._stops.shape[1]
        if missing > 0:
            self._stops = torch.cat([self._stops, self._ends[:1].expand(self.num_slots, missing)], 1)
        rows = [[*ends, *each] for each in stops]
        filled = [[*row, *ends[:1] * (self._stops.shape[1] - len(row))] for row in rows]
        self._stops.index_copy_(0, slots, self._sent(filled))

    def move(self, slots: Sequence[int], automaton: int) -> None:
        """Record that the automaton of some requests has moved to another slot of the arena."""
        self._requests[:, _AUTOMATON].index_fill_(0, self._sent(slots), automaton)

    def end(self, slots: Sequence[int]) -> None:
        """Allow some requests only the end from now on; their automata are not used any more."""
        self.move(slots, FREE_SLOT)
        chosen = self._sent(slots)
        self.unfinished.index_fill_(0, chosen, True)
        places = (chosen[:, None] * self._kept + torch.arange(self._kept, device=chosen.device)).flatten()
        at = self.arena.starts(torch.zeros_like(places))
        self._keep(at._replace(row=_ended(at.row)), places)

    # Steps

    def apply_(self, logits: Tensor, rows: Rows) -> Tensor:
        """Read the tokens of a step, and mask its logits in place; rows that are not constrained are unchanged.

        Args:
            logits: `[R, V]`, at least as wide as the arena.
            rows: the rows of the logits.

        Returns:
            `logits`: minus infinity for tokens that are not allowed. The logits of allowed tokens are finite, even if
            other processors have masked them, so an allowed token is always drawn. If only stop tokens of a request may
            be written, they are allowed, as in `serving.matcher`. If nothing is allowed, the tokens that end a text
            are.
        """
        size, most = len(rows.slots), min(self._kept, 1 + len(rows.slot) - len(rows.slots))
        order = torch.arange(len(rows.slot), device=logits.device)
        request = self._zeros(self.num_slots).index_copy_(0, rows.slots, order[:size]).index_select(0, rows.slot)
        first = self._zeros(size).scatter_(0, request, order - rows.number)
        number_of_rows = self._zeros(size).index_add_(0, request, torch.ones_like(request))
        states = [self._first(rows, first)]
        for number in range(1, most):
            # Past the last row of a request, the token belongs to another one, and the state is not counted as kept.
            token = rows.token.index_select(0, (first + number).clamp(max=len(order) - 1))
            states.append(self._advanced(states[-1], token, rows.slots))
        steps = Sequences(*(torch.stack(parts, 1).flatten(0, 1) for parts in zip(*states, strict=True)))
        self._keep_step(steps, rows.slots, rows.position.index_select(0, first), number_of_rows)
        allowed = self._allowed(steps.index_select(request * most + rows.number), rows, first)
        is_constrained = self._requests[:, _IS_CONSTRAINED].index_select(0, rows.slot)[:, None] > 0
        return _mask_(logits, allowed, is_constrained)

    def _first(self, rows: Rows, first: Tensor) -> Sequences:
        """Return the states of the first row of each request, `[N]`."""
        automaton, base, count, _ = self._requests.index_select(0, rows.slots).unbind(1)
        ahead = rows.position.index_select(0, first) - base
        is_lost = ahead > count
        place = torch.where(is_lost, 0, (ahead - 1).clamp(min=0))
        at = self._at.index_select(rows.slots * self._kept + place)._replace(slot=automaton.contiguous())
        at = _either(ahead > 0, self._advanced(at, rows.token.index_select(0, first), rows.slots), at)
        return at._replace(row=torch.where(is_lost[:, None, None], DEAD, at.row))

    def _advanced(self, at: Sequences, token: Tensor, slots: Tensor) -> Sequences:
        """Return the states after one more token, `[n]`; after a token that does not exist, nothing is allowed."""
        is_stop = (token[:, None] == self._stops.index_select(0, slots)).any(1)
        is_token = (token >= 0) & (token < self.arena.width)
        token = torch.where(is_stop, self._ends[0], torch.where(is_token, token, 0).long())
        after = self.arena.advance(at, token)
        return after._replace(row=torch.where(is_token[:, None, None], after.row, DEAD))

    def _keep_step(self, steps: Sequences, slots: Tensor, position: Tensor, count: Tensor) -> None:
        """Replace the kept states by those of a step, of which each request has the same number.

        Args:
            steps: `[N * most]`, those of each request side by side.
            slots, position, count: `[N]` each, by request: its slot, the position of its first row, its number of rows.
        """
        before = self._requests.index_select(0, slots)
        # While a prompt is read in pieces, the state before the text stays.
        is_behind = position < before[:, _BASE]
        base, count = torch.where(is_behind, before[:, _BASE], position), torch.where(is_behind, 1, count)
        now = torch.stack([before[:, _AUTOMATON], base, count, before[:, _IS_CONSTRAINED]], 1)
        self._requests.index_copy_(0, slots, now)
        number = torch.arange(len(steps.slot) // len(slots), device=slots.device)
        self._keep(steps, (slots[:, None] * self._kept + number).flatten())

    def _keep(self, at: Sequences, places: Tensor) -> None:
        """Keep states in some places; all become as wide as the widest."""
        width = max(at.row.shape[2], self._at.row.shape[2])
        self._at, at = (each._replace(row=_widened(each.row, width)) for each in (self._at, at))
        for table, part in zip(self._at, at, strict=True):
            table.index_copy_(0, places, part)

    def _allowed(self, at: Sequences, rows: Rows, first: Tensor) -> Tensor:
        """Return which tokens each row may write, `[R, V]` bool, and note which requests are left with none."""
        allowed, stops = self.arena.mask(at), self._stops.index_select(0, rows.slot)
        may_end, written = allowed.index_select(1, self._ends[:1]), allowed.gather(1, stops)
        is_stuck = ~allowed.scatter_(1, stops, may_end.expand_as(stops)).any(1)
        noted = self.unfinished.index_select(0, rows.slots) | is_stuck.index_select(0, first)
        self.unfinished.index_copy_(0, rows.slots, noted)
        left = written | ~written.any(1, keepdim=True)
        return allowed.scatter_(1, stops, may_end | (is_stuck[:, None] & left))


def _numbers(entering: Entering) -> list[int]:
    """Return the numbers of a request for the device: slot, prompt, whether it has ended, and its columns."""
    automaton = FREE_SLOT if entering.automaton is None else entering.automaton
    columns = [automaton, entering.length - 1, 1, entering.automaton is not None]
    return [entering.slot, entering.prompt, entering.has_ended, *columns]


def _mask_(logits: Tensor, allowed: Tensor, is_constrained: Tensor) -> Tensor:
    """Mask the rows that are constrained, `[R, 1]`, in place; `allowed` is overwritten."""
    if logits.shape[1] > allowed.shape[1]:
        allowed = torch.nn.functional.pad(allowed, (0, logits.shape[1] - allowed.shape[1]))
    logits.clamp_(min=torch.where(is_constrained, _LEAST, float("-inf")))
    return logits.masked_fill_(allowed.logical_not_().logical_and_(is_constrained), float("-inf"))


def _either(which: Tensor, one: Sequences, other: Sequences) -> Sequences:
    """Return the first states where `which`, `[n]` bool, is true, and the second ones elsewhere."""
    width = max(one.row.shape[2], other.row.shape[2])
    pairs = zip(*(each._replace(row=_widened(each.row, width)) for each in (one, other)), strict=True)
    return Sequences(*(torch.where(which.view(-1, *[1] * (a.dim() - 1)), a, b) for a, b in pairs))


def _ended(row: Tensor) -> Tensor:
    """Return the rows of the same number of states, all after the end."""
    ended = torch.full_like(row, DEAD)
    ended[:, 0, 0] = ENDED
    return ended


def _widened(row: Tensor, width: int) -> Tensor:
    """Return the rows of states, padded to `width` per configuration; `row` itself if it is wide enough."""
    missing = width - row.shape[2]
    return torch.nn.functional.pad(row, (0, missing), value=DEAD) if missing > 0 else row
