"""PreStar: prunes steps to configurations from which no text can end, by pre* (Bouajjani, Esparza & Maler 1997).

Without words there are no such steps, because every state of a network is coaccessible. But the longest match can
continue a word where the grammar needs it to end: `name: /[a-z]+/` followed by "end" has no text.

    exit        of a state: a symbol, and a control state to which some text leads from the state, popping the symbol.
        The exits of all states are the least solution of a system of inclusions, and form an automaton that reads
        stacks from the top down and accepts the configurations from which a text ends: pre* of the end
    context     a set of stacks: the top symbol, and the states from which a text ends on it. There are finitely many

Most states have a simple reason to be coaccessible in every context (`automata.pushdown.coaccessible`); exits and
contexts are found only for the others.

A step is kept if its target is coaccessible in every context in which the step applies, and dropped if it is in none.
If this depends on lower symbols of the stack, the step is replaced by steps that look one symbol deeper, and so on up
to a bound.

States with the same moves after a word share them: the moves belong to an additional state, whose exits all of these
states have. So the boundary of a word is processed once, however many states the word has.

Sets of exits are the bits of integers, so an inclusion is one operation. Only new exits are propagated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from automata.arrays import ByteArray, bits_of
from automata.errors import EmptyLanguage
from automata.limits import Work
from automata.pushdown.construction import SymbolsBelow
from automata.pushdown.sequences import Stack

# State, pops, pushes, target: a step without its column.
Move = tuple[int, Stack, Stack, int]

# The maximum number of symbols that a step may look deeper.
MAX_LOOKS = 8
_ENDS_EXIT, _DONE_EXIT = 0, 1
_ENDS, _DONE = 1 << _ENDS_EXIT, 1 << _DONE_EXIT
# The numbers of bits and of sets that `transposed` unpacks at a time; the second is a multiple of 8.
_BITS_AT_ONCE, _SETS_AT_ONCE = 1024, 8192


class Undecided(Exception):
    """For a move, too much of the stack determines whether a text can end after it, so no step can decide this."""

    def __init__(self, move: Move) -> None:
        super().__init__(move)
        self.move = move


@dataclass(eq=False, slots=True)
class Context:
    """Stacks with one top symbol (-1 for the empty stack), over stacks of some contexts.

    Attributes:
        top: the symbol.
        good: the control states from which a text ends, as bits.
        below: the contexts below. A context may be below itself, so they are compared by identity.
    """

    top: int
    good: int
    below: list[Context] = field(default_factory=list)


class PreStar:
    """The exits of an automaton with given moves.

    A control state is a state, or the rest of a move: pops, pushes and the target.

    Attributes:
        exits: for each control state, the bits of an integer. Two bits do not stand for exits: _ENDS says that the text
            can end with an empty stack, _DONE that it can end with any stack.
    """

    def __init__(self, num_states: int, moves: Iterable[Move], end: int, always: Collection[int], work: Work) -> None:
        self.always = sum(1 << state for state in always)
        self.exits = [0] * num_states
        self.new: dict[int, int] = {}  # exits that are still to be propagated
        # By control state, the control states that have all of its exits.
        self.readers: list[set[int]] = [set() for _ in range(num_states)]
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
        self.having = transposed(self.exits, len(self.reached), work)

    def _add(self, control: int, exits: int) -> None:
        new = exits & ~self.exits[control]
        if new:
            self.exits[control] |= new
            self.new[control] = self.new.get(control, 0) | new

    def _read(self, reader: int, control: int) -> None:
        """Give the control state `reader` all exits of another, present and future."""
        if reader not in self.readers[control]:
            self.readers[control].add(reader)
            self._add(reader, self.exits[control])

    def _pass_on(self, control: int, new: int) -> None:
        for reader in self.readers[control]:
            self._add(reader, new)
        for follower in list(self.followers[control]):
            self._follow(*follower, new)

    def _rest(self, pops: Stack, pushes: Stack, target: int) -> int:
        """Return the control state for the rest of a move."""
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
        """Propagate new exits of a target to a control state that pushes `below` and then `symbol` on its way there."""
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
        """Return the control states, as bits, from which a text ends with a symbol on top of a stack; `below` are the
        control states from which a text ends on that stack without the symbol."""
        found = self.always | self.having[_DONE_EXIT]
        for number in bits_of(self.through.get(symbol, 0)):
            if below >> self.reached[number] & 1:
                found |= self.having[number]
        return found

    def at_bottom(self) -> int:
        """Return the control states, as bits, from which a text ends with an empty stack."""
        return self.always | self.having[_ENDS_EXIT] | self.having[_DONE_EXIT]


class Contexts:
    """All contexts of an automaton.

    Attributes:
        empty: the empty stack.
        by_top: the others by their symbols.
    """

    def __init__(self, prestar: PreStar, lowest: Iterable[int], over: Mapping[int, Iterable[int]], work: Work) -> None:
        """Find the contexts.

        Args:
            prestar: the exits.
            lowest: the symbols that may be the only one on the stack.
            over: for each symbol, those that may lie directly on it.
            work: the limits, and the means to stop the compilation.
        """
        self.prestar = prestar
        self.empty = Context(-1, prestar.at_bottom())
        self.by_top: dict[int, list[Context]] = {}
        # Sets of control states are numbered, because hashing their bits each time would take most of the time.
        self._number: dict[int, int] = {}
        self._sets: list[int] = []
        self._next: dict[tuple[int, int], int] = {}
        found: dict[tuple[int, int], Context] = {}
        waiting = [(self.empty, symbol) for symbol in lowest]
        while waiting:
            work.check()
            below, symbol = waiting.pop()
            key = symbol, self._sets[self._on(symbol, self._numbered(below.good))]
            context = found.get(key)
            if context is None:
                context = found[key] = Context(*key)
                self.by_top.setdefault(symbol, []).append(context)
                waiting += [(context, other) for other in over.get(symbol, ())]
            if below not in context.below:
                context.below.append(below)

    def _numbered(self, good: int) -> int:
        """Return the number of a set of control states."""
        number = self._number.setdefault(good, len(self._sets))
        if number == len(self._sets):
            self._sets.append(good)
        return number

    def _on(self, symbol: int, below: int) -> int:
        """Return the same as `PreStar.on`, from a table and with numbers of sets."""
        key = symbol, below
        found = self._next.get(key)
        if found is None:
            found = self._next[key] = self._numbered(self.prestar.on(symbol, self._sets[below]))
        return found

    def failing(self, tops: Sequence[Collection[int]]) -> int:
        """Return the states, as bits, from which no text ends in some context."""
        lying_on: dict[int, int] = {}
        for state, symbols in enumerate(tops):
            for symbol in symbols or (-1,):
                lying_on[symbol] = lying_on.get(symbol, 0) | 1 << state
        found = 0
        for context in [self.empty, *(each for some in self.by_top.values() for each in some)]:
            found |= lying_on.get(context.top, 0) & ~context.good
        return found

    def of(self, state: int, tops: Iterable[int]) -> tuple[Context, ...]:
        """Return the contexts in which a text ends from a state, among those with some top symbols; without symbols,
        the only context is the empty stack."""
        symbols = list(tops)
        found = [context for top in symbols for context in self.by_top.get(top, ())] if symbols else [self.empty]
        return tuple(context for context in found if context.good >> state & 1)

    def decided(self, move: Move, where: Collection[Context]) -> list[tuple[Stack, Stack]] | None:
        """Return the pops and pushes that replace those of a move; None if it is kept.

        Args:
            move: the move.
            where: the contexts in which it applies.

        Raises:
            Undecided: it would have to look deeper than `MAX_LOOKS`.
        """
        _, pops, pushes, target = move
        reached = popped(where, pops)
        goods = {context.good for context in reached}
        ends = {good: self.is_coaccessible(good, pushes, target) for good in goods}
        return self._told_apart(move, {context: ends[context.good] for context in reached}, 0)

    def _told_apart(self, move: Move, ends: Mapping[Context, bool], looks: int) -> list[tuple[Stack, Stack]] | None:
        """Return the same for a move that already looks some symbols deeper.

        Args:
            move: the move, with these symbols.
            ends: whether a text ends after it, by the context below these symbols. With the symbols on top, such a
                context is always the same one of those that the original move reaches.
            looks: how many symbols these are.
        """
        outcomes = set(ends.values())
        if outcomes == {True}:
            return None
        if True not in outcomes:
            return []
        if looks >= MAX_LOOKS:
            raise Undecided(move)
        state, pops, pushes, target = move
        deeper: dict[int, dict[Context, bool]] = {context.top: {} for context in ends if context.top >= 0}
        for context, end in ends.items():
            for below in context.below:
                deeper[context.top][below] = end
        found: list[tuple[Stack, Stack]] = []
        for symbol in sorted(deeper):
            longer = (*pops, symbol), (symbol, *pushes)
            replaced = self._told_apart((state, *longer, target), deeper[symbol], looks + 1)
            found += [longer] if replaced is None else replaced
        return found

    def is_coaccessible(self, good: int, pushes: Stack, target: int) -> bool:
        """Return whether a text ends from a target after some pushes, on a stack on which one ends from `good`."""
        number = self._numbered(good)
        for symbol in pushes:
            number = self._on(symbol, number)
        return bool(self._sets[number] >> target & 1)


def popped(contexts: Iterable[Context], pops: Stack) -> set[Context]:
    """Return the contexts that are left after popping some symbols."""
    level = set(contexts)
    for symbol in pops:
        level = {below for context in level if context.top == symbol for below in context.below}
    return level


def transposed(sets: Sequence[int], num_bits: int, work: Work) -> list[int]:
    """Return, for each bit, the sets that have it; the sets, and each set of sets, are the bits of an integer."""
    found: list[int] = []
    for first in range(0, num_bits, _BITS_AT_ONCE):
        size = min(_BITS_AT_ONCE, num_bits - first) + 7 >> 3
        having: list[ByteArray] = []
        for begin in range(0, len(sets), _SETS_AT_ONCE):
            work.check()
            some = sets[begin : begin + _SETS_AT_ONCE]
            parts = b"".join([(bits >> first & (1 << 8 * size) - 1).to_bytes(size, "little") for bits in some])
            table = np.unpackbits(np.frombuffer(parts, np.uint8).reshape(-1, size), axis=1, bitorder="little")
            having.append(np.packbits(table.T, axis=1, bitorder="little"))
        rows = np.concatenate(having, axis=1)[: num_bits - first]
        found += [int.from_bytes(row.tobytes(), "little") for row in rows]
    return found


def pruned(
    moves: Sequence[Move],
    sharing: Mapping[int, Sequence[int]],
    start: int,
    end: int,
    doubtful: Collection[int],
    below: SymbolsBelow,
    work: Work,
) -> dict[Move, list[tuple[Stack, Stack]]]:
    """Return the moves to replace, and the pops and pushes that replace theirs, so that some text ends from every
    configuration.

    Args:
        moves: the moves.
        sharing: for each state whose moves others share, these others; the state itself is in no configuration.
        start, end: states.
        doubtful: the states that may not be coaccessible in every context.
        below: the symbols that may lie under states and symbols.
        work: the limits, and the means to stop the compilation.

    Raises:
        EmptyLanguage: no text can end.
        Undecided: a move would have to look deeper than `MAX_LOOKS`.
    """
    tops, under = below.tops(), below.under()
    shared = [(state, (), (), other) for other, states in sharing.items() for state in states]
    always = {*range(len(tops))}.difference(doubtful, (end,))
    prestar = PreStar(len(tops), [*moves, *shared], end, always, work)
    lowest = [symbol for symbol, lower in under.items() if not lower]
    contexts = Contexts(prestar, lowest, lying_over(under, work), work)
    if not contexts.is_coaccessible(contexts.empty.good, (), start):
        raise EmptyLanguage("the grammar has no text: a word that must end can always be read on (longest match)")
    return replacements(contexts, moves, sharing, tops, work)


def replacements(
    contexts: Contexts,
    moves: Sequence[Move],
    sharing: Mapping[int, Sequence[int]],
    tops: Sequence[Collection[int]],
    work: Work,
) -> dict[Move, list[tuple[Stack, Stack]]]:
    """Return the result of `pruned`; decide once for all states that share a move and have the same contexts."""
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
