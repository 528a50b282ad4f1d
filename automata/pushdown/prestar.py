"""PreStar: steps that lead to configurations from which no text ends are taken out.

Without words there are none, because every place of a network lies on the way to an end. But the longest match can read
on where the grammar needs a word to end: `name: /[a-z]+/` followed by "end" has no text.

    exit        of a state: a symbol, and the control state that some text leads to by the time that it is popped. All
                exits of all states are the least solution of a system of inclusions, and form an automaton that reads
                stacks from the top down and accepts the configurations that can be completed (pre* of Bouajjani,
                Esparza & Maler 1997)
    context     a set of stacks: the top symbol, and the states that can be completed with it. Finitely many

Most states have a simple reason to lead on in every context (`automata.pushdown.coaccessible`); exits and contexts are
found only for the others.

A step is kept if it leads on in every context that it applies in, and dropped if it does in none. Where that depends on
what lies below, it is replaced by steps that look one symbol deeper, and so on up to a bound.

States that go on in the same way after a word share these moves: they are the moves of one more state, whose exits all
of them have. So a boundary of words is looked at once, however many states there are inside the words.

Sets of exits are the bits of integers, so that an inclusion is one operation. What is new in one is passed on, and
nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from automata.arrays import bits_of
from automata.errors import EmptyLanguage
from automata.limits import Work
from automata.pushdown.construction import SymbolsBelow
from automata.pushdown.sequences import Stack

# State, pops, pushes, target: a step without its column.
Move = tuple[int, Stack, Stack, int]

# How deep a step may look for it alone.
MAX_LOOKS = 8
_ENDS_EXIT, _DONE_EXIT = 0, 1
_ENDS, _DONE = 1 << _ENDS_EXIT, 1 << _DONE_EXIT
# Of how many bits `transposed` makes a table of bytes.
_BITS_AT_ONCE = 1024


class Undecided(Exception):
    """A move after which texts end or not depending on more of the stack than a step can look at."""

    def __init__(self, move: Move) -> None:
        super().__init__(move)
        self.move = move


@dataclass(eq=False, slots=True)
class Context:
    """Stacks with one top symbol (-1 for the empty stack), over stacks of some contexts.

    Attributes:
        top: the symbol.
        good: the control states that can be completed, as bits.
        below: the contexts below; what lies on a context that is below itself is found by its identity.
    """

    top: int
    good: int
    below: list[Context] = field(default_factory=list)


class PreStar:
    """What can be completed, of an automaton with these moves.

    A control state is a state, or what is left of a move: pops, pushes and the target.

    Attributes:
        exits: by control state, as the bits of an integer. Two bits are no exits: _ENDS says that the text can end with
            no stack, _DONE that it can be completed with any.
    """

    def __init__(self, num_states: int, moves: Iterable[Move], end: int, always: Collection[int], work: Work) -> None:
        self.always = sum(1 << state for state in always)
        self.exits = [0] * num_states
        self.new: dict[int, int] = {}  # exits that are not passed on yet
        self.readers: list[set[int]] = [set() for _ in range(num_states)]  # who has all its exits as well
        self.followers: list[list[tuple[int, Stack, int]]] = [[] for _ in range(num_states)]
        self.control: dict[tuple[Stack, Stack, int], int] = {}
        # Exits by number, and the numbers of the exits through each symbol as bits.
        self.number: dict[tuple[int, int], int] = {}
        self.reached: list[int] = [-1, -1]
        self.through: dict[int, int] = {}
        for state in always:
            self._add(state, _DONE)
        for state, pops, pushes, target in work.watched(moves):
            if not self.always >> state & 1:
                self._read(state, self._rest(pops, pushes, target))
        self._add(end, _ENDS)
        while self.new:
            work.check()
            self._pass_on(*self.new.popitem())
        # By exit, the control states that have it.
        self.having = transposed(self.exits, len(self.reached))

    def _add(self, control: int, exits: int) -> None:
        new = exits & ~self.exits[control]
        if new:
            self.exits[control] |= new
            self.new[control] = self.new.get(control, 0) | new

    def _read(self, reader: int, control: int) -> None:
        """Give a control state all exits of another."""
        if reader not in self.readers[control]:
            self.readers[control].add(reader)
            self._add(reader, self.exits[control])

    def _pass_on(self, control: int, new: int) -> None:
        for reader in self.readers[control]:
            self._add(reader, new)
        for follower in list(self.followers[control]):
            self._follow(*follower, new)

    def _rest(self, pops: Stack, pushes: Stack, target: int) -> int:
        """Return the control state for what is left of a move."""
        if not pops and not pushes:
            return target
        key = pops, pushes, target
        found = self.control.get(key)
        if found is None:
            found = self.control[key] = len(self.exits)
            self.exits.append(0)
            self.readers.append(set())
            self.followers.append([])
            if pops:
                self._exit(found, pops[0], self._rest(pops[1:], pushes, target))
            else:
                follower = found, pushes[:-1], pushes[-1]
                self.followers[target].append(follower)
                self._follow(*follower, self.exits[target])
        return found

    def _follow(self, control: int, below: Stack, symbol: int, exits: int) -> None:
        """Add to a control state, which pushes symbols on its way to a target, what exits of the target give it."""
        self._add(control, exits & _DONE)
        for number in bits_of(exits & self.through.get(symbol, 0)):
            self._read(control, self._rest((), below, self.reached[number]))

    def _exit(self, control: int, symbol: int, reached: int) -> None:
        number = self.number.get((symbol, reached))
        if number is None:
            number = self.number[symbol, reached] = len(self.number) + 2
            self.reached.append(reached)
            self.through[symbol] = self.through.get(symbol, 0) | 1 << number
        self._add(control, 1 << number)

    def on(self, symbol: int, below: int) -> int:
        """Return the control states, as bits, that can be completed with a symbol on a stack on which `below` can."""
        found = self.always | self.having[_DONE_EXIT]
        for number in bits_of(self.through.get(symbol, 0)):
            if below >> self.reached[number] & 1:
                found |= self.having[number]
        return found

    def at_bottom(self) -> int:
        """Return the control states that can be completed with an empty stack."""
        return self.always | self.having[_ENDS_EXIT] | self.having[_DONE_EXIT]


class Contexts:
    """All contexts of an automaton.

    Attributes:
        empty: the empty stack.
        by_top: the others by their symbols.
    """

    def __init__(
        self, completion: PreStar, lowest: Iterable[int], over: Mapping[int, Iterable[int]], work: Work
    ) -> None:
        """Find them.

        Args:
            completion: what can be completed.
            lowest: the symbols that may be the only one on the stack.
            over: by symbol, those that may lie directly on it.
            work: how the compilation is stopped.
        """
        self.completion = completion
        self.empty = Context(-1, completion.at_bottom())
        self.by_top: dict[int, list[Context]] = {}
        self._next: dict[tuple[int, int], int] = {}
        found: dict[tuple[int, int], Context] = {}
        waiting = [(self.empty, symbol) for symbol in lowest]
        while waiting:
            work.check()
            below, symbol = waiting.pop()
            key = symbol, self.on(symbol, below.good)
            context = found.get(key)
            if context is None:
                context = found[key] = Context(*key)
                self.by_top.setdefault(symbol, []).append(context)
                waiting += [(context, other) for other in over.get(symbol, ())]
            if below not in context.below:
                context.below.append(below)

    def on(self, symbol: int, below: int) -> int:
        """Return the same as `PreStar.on`, which is asked once."""
        key = symbol, below
        if key not in self._next:
            self._next[key] = self.completion.on(symbol, below)
        return self._next[key]

    def failing(self, tops: Sequence[Collection[int]]) -> int:
        """Return the states, as bits, that cannot be completed in some context."""
        lying_on: dict[int, int] = {}
        for state, symbols in enumerate(tops):
            for symbol in symbols or (-1,):
                lying_on[symbol] = lying_on.get(symbol, 0) | 1 << state
        found = 0
        for context in [self.empty, *(each for some in self.by_top.values() for each in some)]:
            found |= lying_on.get(context.top, 0) & ~context.good
        return found

    def of(self, state: int, tops: Iterable[int]) -> tuple[Context, ...]:
        """Return the contexts in which a state can be completed, of those with some top symbols; or the empty stack."""
        symbols = list(tops)
        found = [context for top in symbols for context in self.by_top.get(top, ())] if symbols else [self.empty]
        return tuple(context for context in found if context.good >> state & 1)

    def decided(self, move: Move, where: Collection[Context], looks: int = 0) -> list[tuple[Stack, Stack]] | None:
        """Return the pops and pushes that a move is replaced by; None where it is kept as it is.

        Args:
            move: the move.
            where: the contexts that it is made in.
            looks: how many symbols it looks deeper already.
        """
        _, pops, pushes, target = move
        reached = popped(where, pops)
        outcomes = {self.leads_on(context.good, pushes, target) for context in reached}
        if outcomes == {True}:
            return None
        if True not in outcomes:
            return []
        if looks >= MAX_LOOKS:
            raise Undecided(move)
        found: list[tuple[Stack, Stack]] = []
        for symbol in sorted({context.top for context in reached} - {-1}):
            longer = (*pops, symbol), (symbol, *pushes)
            replaced = self.decided((move[0], *longer, target), where, looks + 1)
            found += [longer] if replaced is None else replaced
        return found

    def leads_on(self, good: int, pushes: Stack, target: int) -> bool:
        """Return whether a target can be completed with some symbols on stacks on which `good` can."""
        for symbol in pushes:
            good = self.on(symbol, good)
        return bool(good >> target & 1)


def popped(contexts: Iterable[Context], pops: Stack) -> set[Context]:
    """Return the contexts that are left when some symbols are popped."""
    level = set(contexts)
    for symbol in pops:
        level = {below for context in level if context.top == symbol for below in context.below}
    return level


def transposed(sets: Sequence[int], num_bits: int) -> list[int]:
    """Return, for each bit, the sets that have it; sets are the bits of integers."""
    found: list[int] = []
    for first in range(0, num_bits, _BITS_AT_ONCE):
        size = min(_BITS_AT_ONCE, num_bits - first) + 7 >> 3
        parts = b"".join([(bits >> first & (1 << 8 * size) - 1).to_bytes(size, "little") for bits in sets])
        table = np.unpackbits(np.frombuffer(parts, np.uint8).reshape(-1, size), axis=1, bitorder="little")
        having = np.packbits(table.T, axis=1, bitorder="little")
        found += [int.from_bytes(row.tobytes(), "little") for row in having[: num_bits - first]]
    return found


def completed(
    moves: Sequence[Move],
    sharing: Mapping[int, Sequence[int]],
    start: int,
    end: int,
    doubtful: Collection[int],
    below: SymbolsBelow,
    work: Work,
) -> dict[Move, list[tuple[Stack, Stack]]]:
    """Return what is to be replaced, and by which pops and pushes, so that every configuration can be completed.

    Args:
        moves: the moves.
        sharing: states that all moves of another one are moves of as well, by the other, which is no state of any
            configuration.
        start, end: states.
        doubtful: the states that may not be complete, with whatever lies under them.
        below: what may lie under states and symbols.
        work: how the compilation is stopped.

    Raises:
        EmptyLanguage: no text ends.
        Undecided: that takes more looks at the stack than `MAX_LOOKS`.
    """
    tops, under = below.tops(), below.under()
    shared = [(state, (), (), other) for other, states in sharing.items() for state in states]
    always = {*range(len(tops))}.difference(doubtful, (end,))
    completion = PreStar(len(tops), [*moves, *shared], end, always, work)
    lowest = [symbol for symbol, lower in under.items() if not lower]
    contexts = Contexts(completion, lowest, lying_over(under, work), work)
    if not contexts.leads_on(contexts.empty.good, (), start):
        raise EmptyLanguage("the grammar has no text: a word that must end can always be read on (longest match)")
    return replacements(contexts, moves, sharing, tops, work)


def replacements(
    contexts: Contexts,
    moves: Sequence[Move],
    sharing: Mapping[int, Sequence[int]],
    tops: Sequence[Collection[int]],
    work: Work,
) -> dict[Move, list[tuple[Stack, Stack]]]:
    """Return what is to be replaced; see `completed`. States that are in the same contexts are decided at once."""
    found: dict[Move, list[tuple[Stack, Stack]]] = {}
    dead = contexts.failing(tops)
    where = [contexts.of(state, symbols) for state, symbols in enumerate(tops)] if dead else []
    for source, pops, pushes, target in moves:
        if not dead >> target & 1:
            continue
        work.check()
        decided: dict[tuple[Context, ...], list[tuple[Stack, Stack]] | None] = {}
        for state in sharing.get(source, (source,)):
            move = state, pops, pushes, target
            if where[state] not in decided:
                decided[where[state]] = contexts.decided(move, where[state])
            stacks = decided[where[state]]
            if stacks is not None:
                found[move] = stacks
    return found


def lying_over(under: Mapping[int, Collection[int]], work: Work) -> dict[int, list[int]]:
    """Return, for each symbol, those that may lie directly on it."""
    over: dict[int, list[int]] = {}
    for symbol, lower in work.watched(under.items()):
        for each_lower in lower:
            over.setdefault(each_lower, []).append(symbol)
    return over
