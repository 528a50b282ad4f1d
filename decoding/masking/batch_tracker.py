"""BatchTracker: finds the state of each row of a batch from the tokens of the rows alone, and masks logits.

The caller of a logits processor passes tokens and does not say how they relate to earlier ones: beams change places,
draft tokens are taken back, the same position is passed twice. So the tracker keeps what was written and the states
at the last lengths, and a row that continues one of those rows starts from its state.

    rows         each has its automaton, or none; the rows of one prompt are adjacent and change places only among
                 themselves
    on a device  automata that the arena holds (`decoding.arena`), side by side
    on the host  the others (`decoding.masking.host_masks`): canonical and healed automata, and automata whose tables
                 would take longer than `MAX_COMPLETING` to make; if `max_depth` is given, none of them has a stack

A row is looked up among the earlier ones by a hash of its tokens, and then compared, so a collision does not go
unnoticed. In the usual case, the rows of a call are one token longer than those of the previous call. Then, on an
accelerator, everything is computed there and nothing waits for it: errors are recorded on the device and read every
`CHECKED_EVERY` calls and by `check`. Until then, a row that continues no earlier row may write only an end token. On
the CPU, and in all other cases, the host checks at once.

Rejected: states in a table by the tokens of the row (the tokens would have to be read from the device at each step).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import torch
from torch import Tensor

from automata.errors import TokenNotAllowed, TooManyConfigurations
from decoding.arena import FREE_SLOT, Arena, Sequences, tables_for_arena
from decoding.arena.arena import MAX_DEPTH
from decoding.arena.bits import tokens_of_byte, unpacked
from decoding.arena.layout import DEAD
from decoding.arena.program import rounded
from decoding.devices import sent
from decoding.inputs.constraints import check_vocabulary, check_width, dead_end
from decoding.inputs.healing import Healed
from decoding.masking.costs import subtract_costs
from decoding.masking.host_masks import ASTRAY, ENDED, HostState, advanced, host_excess, packed_masks
from tokenfst.canonical.automaton import CanonicalTokenAutomaton
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary
from tokenfst.weighted.automaton import WeightedTokenAutomaton

# How many lengths are kept besides that of the prompt: more than the tokens of any draft.
KEPT: Final = 64
# The number of calls after which the errors that were recorded on a device are read.
CHECKED_EVERY: Final = 32
# Seconds for building the tables of an automaton; beyond that it stays on the host.
MAX_COMPLETING: Final = 0.25
# An odd number; rows are hashed as polynomials in it, modulo 2^64.
_BASE: Final = 0x5851F42D4C957F2D


class BatchStates(NamedTuple):
    """The states of the rows of a batch.

    Attributes:
        written: `[B, W]`, the tokens of the rows after the prompts.
        device: the states of the rows on the device; other rows are in the slot that allows everything. None if no row
            is on the device.
        host: by row, the state of a row on the host; None for the others.
        lost: `[B]` bool, the rows that continue no earlier row; None if every row is known to continue one.
    """

    written: Tensor
    device: Sequences | None
    host: tuple[HostState, ...]
    lost: Tensor | None = None


class BatchTracker:
    """Tracks the rows of one call of `model.generate`.

    Attributes:
        automata: one for each prompt, None if anything may be written; or one for all.
        device, width: the device and the width of the logits.
        prompt_length: the number of tokens of each row that belong to the prompt.
    """

    def __init__(
        self,
        automata: Sequence[TokenAutomaton | None],
        vocabulary: Vocabulary,
        prompts: Tensor,
        device: torch.device,
        width: int,
        max_depth: int | None = None,
    ) -> None:
        """Copy the automata that the arena can hold to the device.

        Args:
            automata: one for each prompt, None if anything may be written; or one for all.
            vocabulary: the tokens, which the automata are over.
            prompts: `[B, T]`, the rows before anything is written; B is a multiple of the number of automata.
            device: the device of the logits.
            width: V, the width of the logits.
            max_depth: the maximum number of symbols on the stack of a grammar's automaton; None for the arena's
                default.

        Raises:
            ValueError: `width` is less than the size of the vocabulary, or B does not match the number of automata.
                Or `max_depth` is given, and an automaton with a stack has no tables, so it would not be limited.
            LimitExceeded: `max_depth` is given, and an automaton's tables exceed the default limits.
            VocabularyError: an automaton is over another vocabulary, or `width` is far more than the vocabulary's size.
        """
        for automaton in automata:
            if automaton is not None:
                check_vocabulary(automaton, vocabulary)
        check_width(width, vocabulary)
        self._num_tokens = len(vocabulary)
        self._end_ids = torch.tensor(vocabulary.eos_ids, dtype=torch.int64, device=device)
        times, rest = divmod(len(prompts), len(automata))
        if rest:
            raise ValueError(f"there are {len(automata)} constraints, and {len(prompts)} rows")
        self.automata, self.device, self.width = list(automata), device, width
        self.prompt_length, self._prompts = prompts.shape[1], prompts
        numbers = [number for number in range(len(automata)) for _ in range(times)]
        self._by_row = [automata[number] for number in numbers]
        self._arena, slots = _arena(automata, device, width, max_depth)
        at = self._arena.starts([slots[number] for number in numbers]) if self._arena is not None else None
        held = [slots[number] != FREE_SLOT for number in numbers]
        rows = zip(self._by_row, held, strict=True)
        host = [None if one is None or is_held else one.start for one, is_held in rows]
        self._has_host = any(state is not None for state in host)
        self._all_held, self._held = all(held), torch.tensor(held, device=device)
        self._by_byte = tokens_of_byte(device)
        self._first = torch.arange(0, len(prompts), times, device=prompts.device)
        # Rows on the host read their tokens there anyway, so deferring gains nothing.
        self._defers = not _is_host(device) and not self._has_host
        self._noted: Tensor | None = None
        self._unchecked: list[tuple[BatchStates, int | None]] = []
        # By the number of tokens written.
        self._kept: dict[int, BatchStates] = {}
        self._last = 0
        self._keep(BatchStates(prompts[:, self.prompt_length :], at, tuple(host)))

    # The states of rows

    def states(self, tokens: Tensor) -> BatchStates:
        """Return the states of the rows.

        Args:
            tokens: `[B, T]`, the prompts and the tokens written so far.

        Raises:
            ValueError: the prompts differ from those before, or there are more or fewer rows.
        """
        prompts, written = tokens[:, : self.prompt_length], tokens[:, self.prompt_length :]
        if self._defers:
            if tokens is self._prompts:
                return self._kept[0]
            if written.shape == (len(self._prompts), self._last + 1):
                known = self._kept[self._last]
                place, found = self._places(written[:, :-1], known.written)
                found = found & (prompts == self._prompts).all(1)
                return self._advanced(self._selected(known, place, found), written)
        if not torch.equal(prompts, self._prompts):
            raise ValueError("the prompts differ from those before: a processor is made for one call of generate")
        for length in sorted(self._kept, reverse=True):
            known = self._kept[length]
            if length <= written.shape[1]:
                place, found = self._places(written[:, :length], known.written)
                if bool(found.all()):
                    states = self._selected(known, place, None)
                    for at in range(length, written.shape[1]):
                        states = self._advanced(states, written[:, : at + 1])
                    self._last = written.shape[1]
                    return states
        raise AssertionError("the prompts are always known")

    def _keep(self, states: BatchStates) -> None:
        length = states.written.shape[1]
        # A copy: a view would keep the prompts as well.
        self._kept[length] = states._replace(written=states.written.clone())
        self._last = length
        if length > KEPT:
            self._kept.pop(length - KEPT, None)

    def _places(self, rows: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
        """Find each row among the known ones of its prompt.

        Args:
            rows, known: `[B, W]`, of the same length.

        Returns:
            `[B]` int64, the place of each row; and `[B]` bool, whether the row at that place is the same.
        """
        powers = torch.full((rows.shape[1],), _BASE, device=rows.device).cumprod(0)
        new, old = ((each * powers).sum(1).unflatten(0, (len(self.automata), -1)) for each in (rows, known))
        place = (new[:, :, None] == old[:, None]).to(torch.uint8).argmax(2) + self._first[:, None]
        place = place.flatten()
        return place, (known.index_select(0, place) == rows).all(1)

    def _selected(self, states: BatchStates, place: Tensor, found: Tensor | None) -> BatchStates:
        """Return the states of rows at some places; rows that are not found there are dead."""
        host, device, lost = states.host, states.device, None
        if self._has_host:
            host = tuple([host[row] for row in place.tolist()])
        if device is not None:
            device = device.index_select(place.to(self.device))
        if found is not None:
            lost = ~found.to(self.device)
            if states.lost is not None:
                lost = lost | states.lost.index_select(0, place.to(self.device))
            if device is not None:
                device = device._replace(row=device.row.masked_fill(lost[:, None, None], DEAD))
        return BatchStates(states.written.index_select(0, place), device, host, lost)

    def _advanced(self, states: BatchStates, written: Tensor) -> BatchStates:
        """Return the states after one more token."""
        last, device, host = written[:, -1], states.device, states.host
        if self._arena is not None and device is not None:
            device = self._arena.advance(device, last.to(self.device))
        if self._has_host:
            rows = zip(self._by_row, host, last.tolist(), strict=True)
            host = tuple([advanced(automaton, state, token) for automaton, state, token in rows])
        reached = BatchStates(written, device, host, states.lost)
        self._keep(reached)
        return reached

    # Masks

    def apply_(self, scores: Tensor, states: BatchStates, remaining: int | None, wrap_up: int = 0) -> Tensor:
        """Set the scores of forbidden tokens to minus infinity and subtract the costs of the others, in place.

        Scores past the vocabulary, which models pad, belong to no token, and are forbidden in all rows.
        A row that holds a token that is not allowed (a beam of probability zero) allows only the end token; so does one
        in which every allowed token was forbidden before.

        Args:
            scores: `[B, V]`, logits or log-probabilities.
            states: the states of the rows.
            remaining: the number of tokens that may still be written, including the next one and the end token; a token
                is then allowed only if the text can still be completed after it. None for any number.
            wrap_up: the amount subtracted from a score for each token by which the text becomes longer than necessary.

        Raises:
            TokenNotAllowed, IncompleteOutput, TooManyConfigurations, ValueError: as for `check`; at once on the CPU,
                later on an accelerator.
        """
        scores[:, self._num_tokens :] = float("-inf")
        if self._arena is None and not self._has_host:
            return scores
        astray = self._examined(states, remaining)
        ends = scores.index_select(1, self._end_ids)
        if self._arena is not None and states.device is not None:
            before = None if self._all_held else scores.clone()
            amounts = self._held.float().mul(wrap_up) if wrap_up else None
            self._arena.apply_(scores, states.device, remaining, wrap_up=amounts)
            if before is not None:
                scores.copy_(torch.where(self._held[:, None], scores, before))
        if self._has_host:
            self._apply_host_(scores, states.host, remaining, wrap_up)
        kept = scores.index_select(1, self._end_ids)
        if astray is not None:
            kept = torch.where(astray[:, None], ends, kept)
        stuck = scores.amax(dim=1, keepdim=True).isneginf()
        return scores.index_copy_(1, self._end_ids, kept.masked_fill(stuck, 0))

    def _apply_host_(self, scores: Tensor, host: Sequence[HostState], remaining: int | None, wrap_up: int) -> None:
        if wrap_up:
            for row, state in enumerate(host):
                if not _is_idle(state):
                    more = host_excess(self._by_row[row], state, self.width).to(self.device)
                    scores[row] = rounded(scores[row] - (wrap_up * more).float(), scores.dtype)
        if any(automaton is not None and automaton.is_weighted for automaton in self.automata):
            rows = zip(self._by_row, host, strict=True)
            live = [None if one is None or _is_idle(state) else (one, state) for one, state in rows]
            scores.copy_(rounded(subtract_costs(scores, live), scores.dtype))
        words = sent(packed_masks(self._by_row, host, self.width, remaining), self.device)
        scores.masked_fill_(~unpacked(words, self.width, self._by_byte), float("-inf"))

    # Errors in rows

    def check(self) -> None:
        """Read the errors that were recorded on the device since the last check, and raise if there are any.

        Raises:
            TokenNotAllowed: every row has a token that the constraint forbids.
            IncompleteOutput: a row can be completed within the remaining tokens, but only with a stack higher than
                `max_depth`, or than that of its automaton (`within`).
            TooManyConfigurations: a row has more derivations side by side than the automaton may carry.
            ValueError: a row continues none of the rows of the previous call.
        """
        noted, unchecked = self._noted, self._unchecked
        self._noted, self._unchecked = None, []
        if noted is None or not bool(noted):
            return
        for states, remaining in unchecked:
            if states.lost is not None and bool(states.lost.any()):
                raise ValueError("a row continues none of the rows of the previous call")
            self._astray_now(states, remaining)

    def _examined(self, states: BatchStates, remaining: int | None) -> Tensor | None:
        """Return which rows have gone astray or cannot be completed, `[B]` bool; None if none are.

        On an accelerator, in the usual case, the host reads nothing, and errors are recorded for `check`.
        """
        if not self._defers:
            return self._astray_now(states, remaining)
        astray = self._astray(states)
        wrong = astray.all()
        if self._arena is not None and states.device is not None:
            wrong = wrong | states.device.overflowed.any()
            if remaining is not None:
                stuck = self._held & ~astray & (self._arena.min_tokens_left(states.device) > remaining)
                wrong, astray = wrong | stuck.any(), astray | stuck
        if states.lost is not None:
            wrong = wrong | states.lost.any()
        self._noted = wrong if self._noted is None else self._noted | wrong
        self._unchecked.append((states, remaining))
        if len(self._unchecked) >= CHECKED_EVERY:
            self.check()
        return astray

    def _astray(self, states: BatchStates) -> Tensor:
        """Return which rows hold a token that was not allowed, `[B]` bool."""
        if self._has_host:
            astray = torch.tensor([state is ASTRAY for state in states.host], device=self.device)
        else:
            astray = torch.zeros(len(states.written), dtype=torch.bool, device=self.device)
        if self._arena is not None and states.device is not None:
            astray = astray | (self._held & self._arena.astray(states.device))
        return astray

    def _astray_now(self, states: BatchStates, remaining: int | None) -> Tensor | None:
        """Return what `_examined` returns, after the host has checked every row; errors are those of `check`."""
        astray = self._astray(states)
        if self._arena is not None and states.device is not None:
            rows = states.device.overflowed.nonzero().flatten().tolist()
            if rows:
                raise TooManyConfigurations(
                    f"rows {rows} have more derivations side by side than are carried (`max_configurations`)"
                )
            astray = astray | self._stuck(self._arena, states, states.device, astray, remaining)
        if not bool(astray.any()):
            return None
        if bool(astray.all()):
            raise TokenNotAllowed(
                "every sequence holds a token that the constraint forbids; "
                "if the prompt has grown, make a processor for each call of generate"
            )
        return astray

    def _stuck(self, arena: Arena, states: BatchStates, at: Sequences, astray: Tensor, remaining: int | None) -> Tensor:
        """Return which rows cannot be completed in time, `[B]` bool; a beam of probability zero may be such a row.

        Raises:
            IncompleteOutput: a row can be completed in time, but only with a stack higher than `max_depth`.
        """
        has_way = arena.mask(at).any(1) if remaining is None else arena.min_tokens_left(at) <= remaining
        stuck = self._held & ~astray & ~has_way
        for row in stuck.nonzero().flatten().tolist():
            if remaining is None or not self._needs_more(states, row, remaining):
                raise dead_end()
        return stuck

    def _needs_more(self, states: BatchStates, row: int, remaining: int) -> bool:
        """Return whether a row cannot be completed within the tokens that are left, whatever the height of its stack.

        The row is read again on the host: the device only knows how many tokens it takes within `max_depth`.
        """
        automaton = self._by_row[row]
        assert automaton is not None
        state = automaton.start
        for token in states.written[row].tolist():
            state = automaton.advance(state, token)
        return not automaton.fits(state, remaining)


def _is_host(device: torch.device) -> bool:
    """Return whether tensors on a device can be read without waiting."""
    return device.type == "cpu"


def _arena(
    automata: Sequence[TokenAutomaton | None], device: torch.device, width: int, max_depth: int | None
) -> tuple[Arena | None, list[int]]:
    """Return the arena of the automata that it can hold, or None if there are none, and the slot of each automaton.

    Raises:
        ValueError, LimitExceeded: `max_depth` is given, and the arena cannot hold an automaton with a stack.
    """
    if max_depth is not None:
        automata = [None if one is None else _complete(one) for one in automata]
    tables = [None if one is None else tables_for_arena(one, MAX_COMPLETING) for one in automata]
    held = {id(one): one for one in tables if one is not None}
    if not held:
        return None, [FREE_SLOT] * len(automata)
    depth = MAX_DEPTH if max_depth is None else max_depth
    arena = Arena.of(list(held.values()), device, width=width, max_depth=depth)
    slots = {key: slot for slot, key in enumerate(held, 1)}
    return arena, [slots.get(id(one), FREE_SLOT) for one in tables]


def _complete(automaton: TokenAutomaton) -> TokenAutomaton:
    """Return an automaton with its tables, so that the arena limits its stack; rows on the host have no limit.

    Raises:
        ValueError: it has a stack and no tables.
        LimitExceeded: the tables exceed the default limits.
    """
    complete = automaton.complete()
    inner = complete.inner.complete() if isinstance(complete, Healed) else complete
    tables = inner.support if isinstance(inner, WeightedTokenAutomaton) else inner
    is_held = complete is inner and isinstance(tables, PushdownTokenAutomaton)
    if not is_held and not isinstance(tables, FiniteTokenAutomaton | CanonicalTokenAutomaton):
        raise ValueError(
            f"`max_depth` limits automata that have tables, and {type(automaton).__name__} has none: leave it out, and "
            "limit the automaton itself by automaton.complete().within(max_depth), for example before healing"
        )
    return complete


def _is_idle(state: HostState) -> bool:
    """Return whether a row is not kept on the host, or is astray or ended."""
    return state is None or state is ASTRAY or state is ENDED
