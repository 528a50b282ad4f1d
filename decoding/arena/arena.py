"""Arena: automata side by side in one memory on a device, so that every sequence of a batch may have its own, or none.

    slot = arena.add(automaton)                 a number; slot 0 allows everything
    at = arena.starts([slot, 0, slot])          the state of each sequence
    arena.apply_(logits, at)                    forbids tokens (minus infinity), and subtracts the costs of others
    at = arena.advance(at, tokens)

Automata may be added and dropped while others are in use, because the state of a sequence does not depend on where the
tables are in memory. The memory is one tensor of fixed size, so a captured graph stays valid as long as `generation`
does not change. It changes only if an automaton needs larger shapes than all earlier ones
(`decoding.arena.program.Shape`).

One thread at a time may change an arena (`add`, `enter`, `drop`, `compact`); `block`, which takes most of the time of
`add`, may run in any.

Steps run in the native core on the CPU (`decoding.arena.on_cpu`), and as kernels on a GPU (`decoding.arena.on_gpu`).
Elsewhere, and inside `torch.compile` on the CPU, they are tensor operations (`decoding.arena.program`).

Arguments are checked before they are used: types, shapes and devices always, and values if they are on the host (on the
CPU, all of them). Every method raises TypeError or ValueError for arguments that do not fit the arena.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

import torch
from torch import Tensor

from automata.copying import NotCopied
from automata.errors import EmptyLanguage, LimitExceeded, TooManyConfigurations
from automata.limits import DEFAULT_LIMITS, Limits, Work
from decoding.arena.bits import packed, tokens_of_byte, unpacked
from decoding.arena.block import ArenaKind, Block, block_of
from decoding.arena.budgets import allowed_within, distances, excess
from decoding.arena.checks import Carried, check_logits, check_sequences, check_tokens, check_vector, checked_remaining
from decoding.arena.from_automata import check_vocabulary, configurations_of, machine_of, unconstrained
from decoding.arena.heap import Heap
from decoding.arena.layout import DEAD, ENDED
from decoding.arena.machine import Machine
from decoding.arena.mask_chunks import num_chunks
from decoding.arena.on_cpu import OnCpu, contiguous, lies_in_rows, unless_refused
from decoding.arena.on_gpu import on_gpu
from decoding.arena.program import Program, Shape, rounded
from decoding.arena.sequences import Sequences
from decoding.devices import sent
from decoding.inputs.vocabularies import checked_vocabulary
from tokenfst.misuse import check_automaton
from tokenfst.pushdown.distance import FAR
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary

MAX_BYTES = 1 << 28
MAX_DEPTH = 127
FREE_SLOT = 0
"""The slot that allows every token."""

_NO_LIMITS = Limits(memory=1 << 60, seconds=inf)


class Arena(NotCopied):
    """Automata on one device, for sequences of one vocabulary.

    Attributes:
        vocabulary: the tokens.
        width: the width of the model's logits; tokens past the vocabulary are never allowed.
        begin, end: the range of tokens that masks and logits cover, all tokens or this process's part; V is its length.
        device: the device of the tables and of the states of sequences.
        max_depth: the maximum number of symbols on a stack; 0 for no stack.
        configurations: P, the number of configurations that a sequence carries.
        generation: how many times the shapes of a step have changed.
    """

    vocabulary: Vocabulary
    width: int
    begin: int
    end: int
    device: torch.device
    max_depth: int
    configurations: int
    generation: int
    _instead = "make another one, and add the automata to it"

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
        """Make an arena with only slot 0.

        Args:
            vocabulary: the tokens.
            device: the device of tables and states.
            width: the width of the model's logits, if it is greater than that of the vocabulary.
            max_bytes: the memory for all automata together, in bytes.
            max_depth: the maximum number of symbols on a stack, also within a token; texts that need more are not
                allowed.
            configurations: the maximum number of configurations of a sequence, for the most ambiguous grammar.
            max_slots: the maximum number of automata at once, counting slot 0 as one.
            part: for logits that are sharded over the vocabulary, this process's tokens, from the first number up to
                but excluding the second. Masks cover these tokens; tokens keep their numbers.

        Raises:
            TypeError: `vocabulary` is not a vocabulary.
            ValueError: `width` is less than that of the vocabulary, `part` is not within `width`, `max_slots` is less
                than 1, or another size is negative.
            LimitExceeded: not even slot 0 fits.
        """
        self.vocabulary = checked_vocabulary(vocabulary)
        self.width = len(vocabulary) if width is None else width
        if self.width < len(vocabulary):
            raise ValueError(f"logits of width {self.width} do not cover the vocabulary of {len(vocabulary)}")
        if max_slots < 1 or max_bytes < 0 or max_depth < 0:
            given = f"max_slots={max_slots}, max_bytes={max_bytes}, max_depth={max_depth}"
            raise ValueError(f"an arena has at least one slot, and no negative sizes, not {given}")
        self.begin, self.end = part or (0, self.width)
        if not 0 <= self.begin < self.end <= self.width:
            raise ValueError(f"part {part} is not within logits of width {self.width}")
        self.device, self.generation = torch.device(device), 0
        self.max_depth, self.configurations = max_depth, configurations
        self._heap = Heap(max_bytes // 4, max_slots, self.device)
        # An automaton that fits the arena must not be refused because making its block takes memory or time.
        self._limits = Limits(memory=max(4 * max_bytes, DEFAULT_LIMITS.memory), seconds=inf)
        # The last entry is never read, and stacks are compared eight symbols at a time.
        depth = (max_depth + 8) // 8 * 8 - 1 if max_depth or configurations > 1 else 0
        self._program = Program(self._heap.words, self._heap.places, depth)
        sizes = configurations, depth + 1, self.begin, self.end
        self._steps = OnCpu(self._heap, *sizes) if self.device.type == "cpu" else None
        self._kernels = on_gpu(self._program, self.begin, self.end, self.width)
        self._least, self._tokens_of_byte = dict[int, int](), tokens_of_byte(self.device)
        self._put(FREE_SLOT, self._block_of(unconstrained(vocabulary)))

    @classmethod
    def of(
        cls,
        automata: Sequence[TokenAutomaton],
        device: torch.device | str = "cpu",
        *,
        width: int | None = None,
        max_depth: int = MAX_DEPTH,
    ) -> Arena:
        """Make an arena of the size that the given automata take, and add them in order, as slots 1, 2, ...

        Args:
            automata: at least one automaton, all over one vocabulary.
            device, width, max_depth: as for the constructor.

        Raises:
            TypeError: `automata` is not a list of token automata.
            ValueError, VocabularyError, EmptyLanguage, LimitExceeded: as for the constructor and `add`.
        """
        if isinstance(automata, TokenAutomaton) or not isinstance(automata, Sequence):
            raise TypeError(f"an arena is made of a list of automata, not of a {type(automata).__name__}")
        if not automata:
            raise ValueError("an arena is made of at least one automaton")
        check_automaton(automata[0])
        vocabulary = automata[0].vocabulary
        for automaton in automata:
            check_vocabulary(automaton, vocabulary)
        machines = [machine_of(automaton, max_depth, Work(_NO_LIMITS)) for automaton in automata]
        size, every = len(vocabulary) if width is None else width, [*machines, unconstrained(vocabulary)]
        *blocks, first = [block_of(machine, size, 0, size, Work(_NO_LIMITS)) for machine in every]
        arena = cls(
            vocabulary,
            device,
            width=width,
            max_bytes=4 * sum(len(block.words) for block in [first, *blocks]),
            max_depth=max(block.depth for block in blocks),
            configurations=max(configurations_of(automaton) for automaton in automata),
            max_slots=len(machines) + 1,
        )
        for block in blocks:
            arena.enter(block)
        return arena

    def __repr__(self) -> str:
        sizes = f"{len(self._heap.slots) - 1:,} automata, {self.nbytes:,} of {self.max_bytes:,} bytes"
        return f"<Arena on {self.device}, {sizes}>"

    # Automata

    @property
    def kind(self) -> ArenaKind:
        """The properties of the arena on which blocks depend."""
        return ArenaKind(self.vocabulary.digest, self.width, self.begin, self.end, self.max_depth)

    @property
    def nbytes(self) -> int:
        """The bytes that the automata take, at most `max_bytes`."""
        return 4 * self._heap.taken

    @property
    def max_bytes(self) -> int:
        """The bytes that automata may take."""
        return 4 * len(self._heap.words)

    @property
    def slot_sizes(self) -> dict[int, int]:
        """The size in bytes of each slot that is in use."""
        return {slot: 4 * int(self._heap.sizes[slot]) for slot in self._heap.slots}

    def add(self, automaton: TokenAutomaton) -> int:
        """Copy an automaton into the arena.

        Returns:
            Its slot, for `starts`.

        Raises:
            VocabularyError: the automaton is over another vocabulary.
            ValueError: the arena cannot hold this kind of automaton: a canonical one, one with a memory of items that
                must differ (`tokenfst.unique_items`), a healed one (`decoding.heal`), or one without tables.
            EmptyLanguage: every text needs more than `max_depth` symbols on the stack.
            LimitExceeded: no memory or no slot is left, or the grammar is ambiguous and sequences carry one
                configuration. `check` reports a text that needs more than they carry.
        """
        return self.enter(self.block(automaton))

    def block(self, automaton: TokenAutomaton) -> Block:
        """Return the block that `enter` copies into the arena. Any thread may make it; it may be entered repeatedly.

        Raises:
            VocabularyError, ValueError, LimitExceeded: as for `add`.
        """
        check_vocabulary(automaton, self.vocabulary)
        block = self._block_of(machine_of(automaton, self.max_depth, Work(self._limits)))
        return block._replace(made_for=self.kind)

    def _block_of(self, machine: Machine) -> Block:
        return block_of(machine, self.width, self.begin, self.end, Work(self._limits))

    def enter(self, block: Block) -> int:
        """Copy a block, made by `block`, into the arena; the result and the errors are those of `add`.

        Raises:
            TypeError: it is not a block.
            ValueError: the block was made by an arena over another vocabulary, or with other arguments.
        """
        if not isinstance(block, Block):
            raise TypeError(f"expected a block, which `block` makes of an automaton, not {type(block).__name__}")
        if block.made_for not in (None, self.kind):
            raise ValueError(f"the block was made for an arena with {block.made_for}, and this one has {self.kind}")
        if block.is_empty:
            raise EmptyLanguage(f"every text needs a stack of more than {block.depth} symbols")
        slot = self._heap.free_slot()
        self._put(slot, block)
        return slot

    def drop(self, slot: int) -> None:
        """Remove an automaton. No sequence may use it afterwards.

        Raises:
            KeyError: the slot is not in use, or is 0.
        """
        if slot == FREE_SLOT or slot not in self._heap.slots:
            raise KeyError(f"slot {slot} cannot be dropped; those in use are {self._heap.slots}")
        self._heap.drop(slot)
        self._least.pop(slot, None)

    def compact(self) -> None:
        """Move the automata together in memory; the states of sequences stay valid."""
        self._heap.compact()

    def _put(self, slot: int, block: Block) -> None:
        if block.is_ambiguous and self.configurations == 1:
            raise LimitExceeded("the grammar is ambiguous, and sequences carry one configuration (`configurations`)")
        self._heap.put(slot, block.words)
        self._least[slot] = block.least
        shape = Shape(*map(max, block.shape, self._program.shape))
        self.generation += shape != self._program.shape
        self._program.shape = shape

    # Sequences

    def starts(self, slots: Sequence[int] | Tensor) -> Sequences:
        """Return the start states of sequences, each in the automaton of its slot, `[B]`.

        Raises:
            TypeError: `slots` is neither a list nor a tensor of integers.
            ValueError: a slot is not in use (not checked for a tensor on an accelerator), or `slots` is not a vector.
        """
        if isinstance(slots, Tensor):
            check_vector("slots", slots, slots.numel(), slots.device)
            numbers = slots.tolist() if slots.device.type == "cpu" and not torch.compiler.is_compiling() else ()
            slot = slots.long()
        else:
            if not isinstance(slots, Iterable):
                raise TypeError(f"slots are a list, even if there is one: [slot], not {slots!r}")
            numbers = list(slots)
            slot = torch.tensor(numbers, dtype=torch.int64)
        for number in numbers:
            self._heap.check(number)
        return self._program.starts(sent(slot, self.device), self.configurations)

    def _check_shapes(self, at: Sequences) -> None:
        """Check the types, shapes and devices of sequences."""
        shape, device = self._program.shape, self._heap.places.device
        check_sequences(at, Carried(self.configurations, shape.parts, self._program.depth, device))

    def _check_values(self, at: Sequences) -> None:
        """Check sequences, and on the CPU their values."""
        self._check_shapes(at)
        if (steps := self._native) is not None:
            steps.check(at)

    def min_tokens(self, slot: int) -> int:
        """Return the length in tokens of the shortest text of a slot's automaton, including the end token.

        Raises:
            ValueError: the slot is not in use.
        """
        self._heap.check(slot)
        return self._least[slot]

    def min_tokens_left(self, at: Sequences) -> Tensor:
        """Return the least number of tokens that each sequence still needs, including the end token, `[B]`.

        If the vocabulary has no end token, the device cannot tell whether a text may end where it is. The result then
        is the number of tokens, at least one, to the next place where it may end, or 0 if none can follow.
        """
        self._check_values(at)
        least = distances(self._program, at).amin(1) + 1
        is_over = self.ended(at)
        if not self.vocabulary.eos_ids:
            is_over = is_over | ((least > FAR) & ~self.astray(at))
        return torch.where(is_over, 0, least)

    def ended(self, at: Sequences) -> Tensor:
        """Return whether each sequence has written its end token, `[B]` bool."""
        self._check_shapes(at)
        return (at.row[:, :, 0] == ENDED).any(1)

    def astray(self, at: Sequences) -> Tensor:
        """Return whether each sequence contains a token that was not allowed, or has overflowed, `[B]` bool."""
        self._check_shapes(at)
        return (at.row[:, :, 0] == DEAD).all(1)

    def check(self, at: Sequences) -> None:
        """Raise if a sequence has overflowed. This waits for the device.

        Raises:
            TooManyConfigurations: a sequence has more derivations side by side than it may carry.
        """
        self._check_shapes(at)
        if rows := at.overflowed.nonzero().flatten().tolist():
            raise TooManyConfigurations(
                f"sequences {rows} have more than {self.configurations} derivations side by side (`configurations`)"
            )

    def forced(self, at: Sequences) -> Tensor:
        """Return the only token that each sequence may write next, or -1 if there are several or none, `[B]`."""
        self._check_values(at)
        return self._program.forced(at)

    def advance(self, at: Sequences, tokens: Tensor) -> Sequences:
        """Return the state of each sequence after one more token, `[B]` integers below `width`; `at` is unchanged.

        A token that is not allowed leads to a state that allows nothing. After the end token, every token leads to the
        same state.

        Raises:
            TypeError, ValueError: there are too many or too few tokens, or (on the CPU) a token is not below `width`.
            LimitExceeded: an ambiguous grammar has too many configurations to tell apart in one step.
        """
        steps = self._native if self.configurations == 1 else None
        if steps is not None and (after := unless_refused(steps.advance, at, tokens)) is not None:
            return after
        self._check_values(at)
        check_vector("tokens", tokens, len(at.slot), self._heap.places.device)
        if steps is not None:
            return steps.advance(contiguous(at), tokens.long().contiguous())
        if self._on_cpu:
            check_tokens(tokens, self.width)
        if (kernels := self._kernels) is not None and self.configurations == 1:
            return kernels.advance(at, tokens.long())
        return self._program.advance(at, tokens.long())

    @property
    def _on_cpu(self) -> bool:
        return self.device.type == "cpu" and not torch.compiler.is_compiling()

    @property
    def _native(self) -> OnCpu | None:
        """The steps of the native core; None on other devices, and inside `torch.compile`."""
        return self._steps if self._on_cpu else None

    # Masks, in every form

    def bitmask(self, at: Sequences, remaining: Tensor | int | None = None) -> Tensor:
        """Return packed masks, `[B, W]` int32: bit `i & 31` of word `i >> 5` is token `begin + i`.

        Args:
            at: the states of the sequences.
            remaining: the number of tokens that may still be written, including the next one and the end token, `[B]`
                or one number. A token is then allowed only if the text can still be completed after it.
        """
        num_words = -(-(self.end - self.begin) // 32)
        if (kernels := self._kernels) is not None:
            self._check_shapes(at)
            return kernels.mask_words(at, self._checked(at, remaining))[:, :num_words]
        if remaining is None:
            self._check_shapes(at)
            chunks = num_chunks(self.end - self.begin)
            make = self._program.mask_words if (steps := self._native) is None else steps.mask_words
            return make(at, chunks)[:, :num_words]
        return packed(self.mask(at, remaining))

    def mask(self, at: Sequences, remaining: Tensor | int | None = None) -> Tensor:
        """Return masks, `[B, V]` bool; arguments as for `bitmask`."""
        if remaining is None or self._kernels is not None:
            return unpacked(self.bitmask(at, remaining), self.end - self.begin, self._tokens_of_byte)
        self._check_values(at)
        remaining = checked_remaining(remaining, len(at.slot), self._heap.places.device)
        return allowed_within(self._program, at, remaining, self.begin, self.end)

    def _checked(self, at: Sequences, remaining: Tensor | int | None) -> Tensor | int | None:
        return None if remaining is None else checked_remaining(remaining, len(at.slot), self._heap.places.device)

    def token_ids(self, at: Sequences, remaining: Tensor | int | None = None) -> list[Tensor]:
        """Return the allowed tokens of each sequence, in ascending order. This waits for the device."""
        return [row.nonzero().flatten() + self.begin for row in self.mask(at, remaining)]

    def excess(self, at: Sequences) -> Tensor:
        """Return by how many tokens each token makes the text longer than the shortest text, `[B, V]`.

        The values of tokens that are not allowed have no meaning.
        """
        self._check_values(at)
        return excess(self._program, at, self.begin, self.end)

    def apply_(
        self,
        logits: Tensor,
        at: Sequences,
        remaining: Tensor | int | None = None,
        *,
        wrap_up: Tensor | None = None,
    ) -> Tensor:
        """Set the logits of forbidden tokens to minus infinity and subtract the costs of the others, in place.

        Args:
            logits: `[B, V]`, of any floating type, as wide as the arena's part of the tokens; elements must not share
                memory, as in the result of `Tensor.expand`.
            at: the states of the sequences.
            remaining: as for `bitmask`.
            wrap_up: `[B]` float32, the amount to subtract from a token's logit for each token by which it lengthens the
                text beyond the shortest text; 0 changes nothing, infinity allows only the shortest texts.

        Returns:
            `logits`.
        """
        steps = self._native
        quick = steps if wrap_up is None else None
        if quick is not None and unless_refused(quick.mask_logits, logits, at, remaining) is not None:
            return logits
        self._check_values(at)
        size, device = len(at.slot), self._heap.places.device
        check_logits(logits, size, self.end - self.begin, device)
        remaining = self._checked(at, remaining)
        if wrap_up is not None:
            check_vector("wrap_up", wrap_up, size, device, is_float=True)
            more = self.excess(at)
            price = torch.where(more == 0, 0.0, more * wrap_up[:, None])
            logits.copy_(rounded(logits - price, logits.dtype))
        if steps is not None and lies_in_rows(logits):
            return steps.mask_logits(logits, contiguous(at), remaining)
        if (kernels := self._kernels) is not None and lies_in_rows(logits):
            kernels.mask_logits(logits, at, remaining)
        else:
            logits.masked_fill_(~self.mask(at, remaining), float("-inf"))
        return self._program.subtract_weights_(logits, at)
