"""Arena: the automata of a batch side by side in one memory, so that every sequence may have its own, or none.

    slot = arena.add(automaton)                 a number; slot 0 allows everything
    at = arena.starts([slot, 0, slot])          where each sequence stands
    arena.apply_(logits, at)                    minus infinity for what is forbidden
    at = arena.advance(at, tokens)

Automata come and go while others are in use: what sequences hold does not say where tables lie. The memory is one
tensor of a fixed size, so a graph that was captured stays valid as long as `generation` is the same: it changes only
when an automaton needs more of something than any before (`decoding.arena.program.Shape`).

On the CPU the native core makes the steps (`decoding.arena.on_cpu`); elsewhere, and inside `torch.compile`, they are
tensor operations.

Whatever is given is checked before it is used: types, shapes and devices everywhere, and values where they are on the
host, so on the CPU all of them. A method raises TypeError or ValueError for what does not fit the arena.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import torch
from torch import Tensor

from automata.arrays import IntArray
from automata.errors import EmptyLanguage, LimitExceeded, TooManyConfigurations, VocabularyError
from automata.limits import DEFAULT_LIMITS, Limits, Work
from decoding import _native
from decoding.arena import layout
from decoding.arena.bits import packed, tokens_of_byte, unpacked
from decoding.arena.block import block_of
from decoding.arena.budgets import distances
from decoding.arena.checks import Carried, check_logits, check_sequences, check_vector, limit_of
from decoding.arena.heap import Heap
from decoding.arena.layout import DEAD, ENDED
from decoding.arena.machine import Machine
from decoding.arena.machines import Automaton, machine_of, unconstrained
from decoding.arena.mask_chunks import num_chunks
from decoding.arena.on_cpu import OnCpu, lies_in_rows, tried
from decoding.arena.program import Program, Shape
from decoding.arena.sequences import Sequences
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.vocabulary import Vocabulary

MAX_BYTES = 1 << 28
MAX_DEPTH = 127
FREE_SLOT = 0
"""The slot that allows every token."""

_NO_LIMITS = Limits(memory=1 << 60, seconds=inf)


class Arena:
    """Automata on one device, for sequences of one vocabulary.

    Attributes:
        vocabulary: the tokens.
        width: V, the width of the model's logits; tokens past the vocabulary are never allowed.
        begin, end: the tokens that masks and logits are about: all, or this process's part of them.
        device: where everything lies.
        max_depth: the most symbols on a stack; 0 for none.
        configurations: P, how many configurations a sequence carries.
        generation: how often the shapes of a step have changed.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        device: torch.device | str = "cpu",
        *,
        width: int | None = None,
        max_bytes: int = MAX_BYTES,
        max_depth: int = MAX_DEPTH,
        configurations: int = 1,
        max_slots: int = 1024,
        part: tuple[int, int] | None = None,
    ) -> None:
        """Makes an arena with nothing in it but slot 0.

        Args:
            vocabulary: the tokens.
            device: where everything is to lie.
            width: the width of the model's logits, where it is more than the vocabulary's.
            max_bytes: the memory of all automata together.
            max_depth: the most symbols that a stack may hold; texts that need more are not allowed.
            configurations: how many configurations a sequence may have: what the most ambiguous grammar needs.
            max_slots: how many automata there may be at once.
            part: where logits are sharded over the vocabulary, the tokens from the first number to the second are this
                process's. Masks are of those; tokens are numbered as without it.

        Raises:
            ValueError: `width` is less than the vocabulary's, or `part` is not inside of it.
            LimitExceeded: not even slot 0 fits.
        """
        self.vocabulary = vocabulary
        self.width = len(vocabulary) if width is None else width
        if self.width < len(vocabulary):
            raise ValueError(f"logits of width {self.width} do not cover the vocabulary of {len(vocabulary)}")
        self.begin, self.end = part or (0, self.width)
        if not 0 <= self.begin < self.end <= self.width:
            raise ValueError(f"part {part} is not inside of logits of width {self.width}")
        self.device, self.max_depth, self.configurations = torch.device(device), max_depth, configurations
        self.generation = 0
        self._heap = Heap(max_bytes // 4, max_slots, self.device)
        # Nothing that fits the arena is refused for the memory and the time that it takes to make.
        self._limits = Limits(memory=max(4 * max_bytes, DEFAULT_LIMITS.memory), seconds=inf)
        # One entry more is where nothing is read; and stacks are compared eight symbols at a time.
        depth = (max_depth + 8) // 8 * 8 - 1 if max_depth or configurations > 1 else 0
        self._program = Program(self._heap.words, self._heap.places, depth)
        self._steps = OnCpu(self._memory(depth + 1)) if self.device.type == "cpu" else None
        self._least: dict[int, int] = {}
        self._tokens_of_byte = tokens_of_byte(self.device)
        free = unconstrained(vocabulary)
        self._put(FREE_SLOT, free, self._block_of(free))

    @classmethod
    def of(
        cls,
        automata: Sequence[Automaton],
        device: torch.device | str = "cpu",
        *,
        width: int | None = None,
        max_depth: int = MAX_DEPTH,
    ) -> Arena:
        """An arena for some automata and no others: slots 1, 2, ... in their order.

        Args:
            automata: the automata, at least one, all for one vocabulary.
            device: where everything is to lie.
            width: the width of the model's logits, where it is more than the vocabulary's.
            max_depth: the most symbols that a stack may hold; texts that need more are not allowed.

        Raises:
            ValueError, VocabularyError, EmptyLanguage, LimitExceeded: as the constructor and `add`.
        """
        vocabulary = automata[0].vocabulary
        machines = [machine_of(automaton, max_depth) for automaton in automata]
        size = len(vocabulary) if width is None else width
        *blocks, first = [
            block_of(machine, size, 0, size, Work(_NO_LIMITS)) for machine in [*machines, unconstrained(vocabulary)]
        ]
        arena = cls(
            vocabulary,
            device,
            width=width,
            max_bytes=4 * sum(map(len, [first, *blocks])),
            max_depth=max(machine.depth for machine in machines),
            configurations=max(_carried(automaton) for automaton in automata),
            max_slots=len(machines) + 1,
        )
        for automaton, machine, block in zip(automata, machines, blocks, strict=True):
            arena._check_vocabulary(automaton)
            arena._enter(machine, block)
        return arena

    def _memory(self, stack_size: int) -> _native.ArenaMemory:
        arrays = self._heap.words.numpy(), self._heap.places.numpy(), self._heap.sizes
        return _native.ArenaMemory(*arrays, self.configurations, stack_size, self.begin, self.end)

    # Automata

    @property
    def nbytes(self) -> int:
        """Bytes that automata take, of `max_bytes`."""
        return 4 * self._heap.taken

    @property
    def max_bytes(self) -> int:
        """Bytes that automata may take."""
        return 4 * len(self._heap.words)

    @property
    def slots(self) -> dict[int, int]:
        """The bytes of each slot that is in use."""
        return {slot: 4 * int(self._heap.sizes[slot]) for slot in self._heap.slots}

    def add(self, automaton: Automaton) -> int:
        """Copies an automaton in.

        Returns:
            Its slot, by which sequences begin.

        Raises:
            VocabularyError: the automaton is for another vocabulary.
            EmptyLanguage: every text needs a higher stack than there is.
            LimitExceeded: there is no room, no slot, or an automaton needs more configurations than sequences carry.
        """
        self._check_vocabulary(automaton)
        return self.put(machine_of(automaton, self.max_depth))

    def put(self, machine: Machine) -> int:
        """Copies a machine in; returns and raises as `add`."""
        return self._enter(machine, self._block_of(machine))

    def _block_of(self, machine: Machine) -> IntArray:
        return block_of(machine, self.width, self.begin, self.end, Work(self._limits))

    def _check_vocabulary(self, automaton: Automaton) -> None:
        if automaton.vocabulary.digest != self.vocabulary.digest:
            raise VocabularyError("the automaton was made for another vocabulary than the arena's")

    def _enter(self, machine: Machine, block: IntArray) -> int:
        slot = self._heap.free_slot()
        self._put(slot, machine, block)
        if bool((self.starts([slot]).row == DEAD).all()):
            self.drop(slot)
            raise EmptyLanguage(f"every text needs a stack of more than {machine.depth} symbols")
        return slot

    def drop(self, slot: int) -> None:
        """Forgets an automaton; no sequence may stand in it any more.

        Raises:
            KeyError: the slot is not in use, or is 0.
        """
        if slot == FREE_SLOT:
            raise KeyError("slot 0 is always there")
        del self._least[slot]
        self._heap.drop(slot)

    def compact(self) -> None:
        """Moves automata together; sequences do not notice."""
        self._heap.compact()

    def _put(self, slot: int, machine: Machine, block: IntArray) -> None:
        if machine.is_ambiguous and self.configurations == 1:
            raise LimitExceeded("the grammar is ambiguous, and sequences carry one configuration (`configurations`)")
        self._heap.put(slot, block)
        self._least[slot] = machine.least
        needs = Shape(
            times=machine.outcomes.shape[1],
            reads=machine.reads,
            longest=machine.longest,
            cuts=int(machine.nodes[:, layout.NUM_CUTS].max()),
            classes=machine.num_classes,
            runs=int(machine.node_runs[:, 1].max(initial=0)),
            parts=machine.parts,
            at_once=machine.at_once,
        )
        shape = Shape(*map(max, needs, self._program.shape))
        self.generation += shape != self._program.shape
        self._program.shape = shape

    # Sequences

    def starts(self, slots: Sequence[int] | Tensor) -> Sequences:
        """Where sequences begin, each in the automaton of its slot, `[B]`.

        Raises:
            TypeError, ValueError: slots are no numbers of slots in use. Of tensors on a device nobody looks at those.
        """
        if isinstance(slots, Tensor):
            check_vector("slots", slots, slots.numel(), slots.device)
            numbers = slots.tolist() if slots.device.type == "cpu" and not torch.compiler.is_compiling() else ()
            slot = slots.long()
        else:
            numbers = list(slots)
            slot = torch.tensor(numbers, dtype=torch.int64)
        for number in numbers:
            self._heap.check(number)
        return self._program.starts(slot.to(self._heap.places.device), self.configurations)

    def _check(self, at: Sequences) -> None:
        """Looks at sequences; of those on a device, not at what they hold."""
        shape, device = self._program.shape, self._heap.places.device
        check_sequences(at, Carried(self.configurations, shape.parts, self._program.depth, device))

    def _check_all(self, at: Sequences) -> None:
        """Looks at sequences, where that can be done at what they hold as well."""
        self._check(at)
        if (steps := self._native) is not None:
            steps.check(at)

    def min_tokens(self, slot: int) -> int:
        """The fewest tokens of a text of a slot's automaton, the end token counted.

        Raises:
            ValueError: the slot is not in use.
        """
        self._heap.check(slot)
        return self._least[slot]

    def remaining(self, at: Sequences) -> Tensor:
        """The fewest tokens that each sequence still needs, the end token counted, `[B]`."""
        self._check_all(at)
        return torch.where(self.ended(at), 0, distances(self._program, at).amin(1) + 1)

    def ended(self, at: Sequences) -> Tensor:
        """Which sequences have come to their end, `[B]` bool."""
        self._check(at)
        return (at.row[:, :, 0] == ENDED).any(1)

    def astray(self, at: Sequences) -> Tensor:
        """Which sequences hold a token that was not allowed, or have overflowed, `[B]` bool."""
        self._check(at)
        return (at.row[:, :, 0] == DEAD).all(1)

    def check(self, at: Sequences) -> None:
        """Looks whether a sequence has overflowed; waits for the device.

        Raises:
            TooManyConfigurations: some sequence has.
        """
        self._check(at)
        rows = at.overflowed.nonzero().flatten().tolist()
        if rows:
            raise TooManyConfigurations(
                f"sequences {rows} have more than {self.configurations} derivations side by side (`configurations`)"
            )

    def forced(self, at: Sequences) -> Tensor:
        """The only token that each sequence may write, or -1 where there are several, `[B]`."""
        self._check_all(at)
        return self._program.forced(at)

    def advance(self, at: Sequences, tokens: Tensor) -> Sequences:
        """Where each sequence stands after one more token, `[B]` integers below V.

        A new object, and `at` stays as it is. A token that is not allowed leads to where nothing is allowed; behind the
        end any token stays there.

        Raises:
            TypeError, ValueError: there are too many or too few tokens, or on the CPU one that is not below V.
        """
        steps = self._native if self.configurations == 1 else None
        if steps is not None:
            after = tried(steps.advance, at, tokens)
            if after is not None:
                return after
        self._check_all(at)
        check_vector("tokens", tokens, len(at.slot), self._heap.places.device)
        if steps is not None:
            return steps.advance(at, tokens.long().contiguous())
        self._check_tokens(tokens)
        return self._program.advance(at, tokens.long())

    def _check_tokens(self, tokens: Tensor) -> None:
        if not self._on_cpu:
            return
        wrong = [token for token in tokens.tolist() if not 0 <= token < self.width]
        if wrong:
            raise ValueError(f"token {wrong[0]} is none of the {self.width}")

    @property
    def _on_cpu(self) -> bool:
        return self.device.type == "cpu" and not torch.compiler.is_compiling()

    @property
    def _native(self) -> OnCpu | None:
        """The steps of the native core, where it makes them."""
        return self._steps if self._on_cpu else None

    # Masks, in every form

    def bitmask(self, at: Sequences, remaining: Tensor | int | None = None) -> Tensor:
        """Packed masks, `[B, W]` int32: bit `i & 31` of word `i >> 5` is token i.

        Args:
            at: where the sequences stand.
            remaining: how many tokens may still be written, the next one and the end token included, `[B]` or one
                number: then a token is allowed only if the text can still be completed after it.
        """
        num_words = -(-(self.end - self.begin) // 32)
        if remaining is None:
            self._check(at)
            chunks = num_chunks(self.end - self.begin)
            make = self._program.mask_words if (steps := self._native) is None else steps.mask_words
            return make(at, chunks)[:, :num_words]
        return packed(self.mask(at, remaining))

    def mask(self, at: Sequences, remaining: Tensor | int | None = None) -> Tensor:
        """Masks, `[B, V]` bool; arguments as for `bitmask`."""
        if remaining is None:
            return unpacked(self.bitmask(at), self.end - self.begin, self._tokens_of_byte)
        self._check_all(at)
        limit = limit_of(remaining, len(at.slot), self._heap.places.device)
        if isinstance(limit, Tensor):
            limit = limit[:, None]
        return (distances(self._program, at) < limit).gather(1, self._classes(at))

    def _classes(self, at: Sequences) -> Tensor:
        """The class of each token for each sequence, `[B, V]`."""
        tables = self._program.tables(at.slot)
        tokens = torch.arange(self.begin, self.end, device=self.device)
        return self._program.read(tables.place(layout.CLASSES) + tokens)

    def token_ids(self, at: Sequences, remaining: Tensor | int | None = None) -> list[Tensor]:
        """The allowed tokens of each sequence, ascending; waits for the device."""
        return [row.nonzero().flatten() + self.begin for row in self.mask(at, remaining)]

    def excess(self, at: Sequences) -> Tensor:
        """By how many tokens each token makes a text longer than it has to be, `[B, V]`; what is not allowed has some
        number too."""
        self._check_all(at)
        rest = distances(self._program, at)
        return (rest - rest.amin(1, keepdim=True)).clamp(max=1 << 20).gather(1, self._classes(at))

    def apply_(
        self,
        logits: Tensor,
        at: Sequences,
        remaining: Tensor | int | None = None,
        *,
        wrap_up: Tensor | None = None,
    ) -> Tensor:
        """Writes minus infinity over the logits of forbidden tokens, in place.

        Args:
            logits: `[B, V]`, of any floating type.
            at: where the sequences stand.
            remaining: as for `bitmask`.
            wrap_up: `[B]` float32, a soft close: what each token costs by which the text becomes longer than it has to
                be, taken off the logits; 0 for none.

        Returns:
            The logits.

        Raises:
            TypeError, ValueError: there are not as many rows of logits as sequences, each as wide as the arena's part
                of the tokens, or something else that does not fit.
        """
        steps = self._native
        if steps is not None and wrap_up is None and tried(steps.mask_logits, logits, at, remaining) is not None:
            return logits
        self._check_all(at)
        size, device = len(at.slot), self._heap.places.device
        check_logits(logits, size, self.end - self.begin, device)
        limit = None if remaining is None else limit_of(remaining, size, device)
        if wrap_up is not None:
            check_vector("wrap_up", wrap_up, size, device, is_float=True)
            logits.sub_((self.excess(at) * wrap_up[:, None]).to(logits.dtype))
        if steps is not None and lies_in_rows(logits):
            return steps.mask_logits(logits, at, limit)
        return logits.masked_fill_(~self.mask(at, limit), float("-inf"))


def _carried(automaton: Automaton) -> int:
    """How many configurations a sequence needs to carry."""
    return automaton.tables.max_configurations if isinstance(automaton, PushdownTokenAutomaton) else 1
