"""Completion: steps that lead to configurations from which no text ends are taken out.

Without words there are none, because every place of a network lies on the way to an end. But the longest match can read
on where the grammar needs a word to end: `name: /[a-z]+/` followed by "end" has no text.

    exit        of a state: a symbol, and the control state that some text leads to by the time that it is popped. All
                exits of all states are the least solution of a system of inclusions, and form an automaton that reads
                stacks from the top down and accepts the configurations that can be completed (pre* of Bouajjani,
                Esparza & Maler 1997)
    context     a set of stacks: the top symbol, and the states that can be completed with it. Finitely many

Most states have a simple reason to lead on in every context (`automata.pushdown.leading_on`); exits and contexts are
found only for the others.

A step is kept if it leads on in every context that it applies in, and dropped if it does in none. Where that depends on
what lies below, it is replaced by steps that look one symbol deeper, and so on up to a bound.

Sets of exits are the bits of integers, so that an inclusion is one operation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from automata.errors import EmptyLanguage
from automata.limits import Work
from automata.pushdown.leading_on import Move, doubtful_states
from automata.pushdown.places import Stack

# How deep a step may look for it alone.
MAX_LOOKS = 8
_ENDS, _DONE = 1, 2


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


class Completion:
    """What can be completed, of an automaton with these moves.

    A control state is a state, or what is left of a move: pops, pushes and the target.

    Attributes:
        exits: by control state, as the bits of an integer. Two bits are no exits: _ENDS says that the text can end with
            no stack, _DONE that it can be completed with any.
    """

    def __init__(self, num_states: int, moves: Iterable[Move], end: int, always: Collection[int], work: Work) -> None:
        self.always = sum(1 << state for state in always)
        self.exits = [0] * num_states
        self.inputs: list[set[int]] = [set() for _ in range(num_states)]  # whose exits it has as well
        self.readers: list[set[int]] = [set() for _ in range(num_states)]  # who looks at its exits
        self.returning: dict[int, tuple[Stack, int, int]] = {}  # what is pushed below, the last symbol, the target
        self.followed: dict[int, int] = {}  # the exits of the target that are known
        self.control: dict[tuple[Stack, Stack, int], int] = {}
        # Exits by number, and the numbers of the exits through each symbol as bits.
        self.number: dict[tuple[int, int], int] = {}
        self.reached: list[int] = [-1, -1]
        self.through: dict[int, int] = {}
        self.changed = [end]
        for state in always:
            self.exits[state] = _DONE
        for state, pops, pushes, target in moves:
            if not self.always >> state & 1:
                self._read(state, self._rest(pops, pushes, target))
        self.exits[end] = _ENDS
        self.changed += always
        while self.changed:
            work.check()
            control = self.changed.pop()
            for reader in list(self.readers[control]):
                self._update(reader, control)

    def _read(self, reader: int, control: int) -> None:
        """Gives a control state all exits of another."""
        self.inputs[reader].add(control)
        self.readers[control].add(reader)

    def _rest(self, pops: Stack, pushes: Stack, target: int) -> int:
        """The control state for what is left of a move."""
        if not pops and not pushes:
            return target
        key = pops, pushes, target
        found = self.control.get(key)
        if found is None:
            found = self.control[key] = len(self.exits)
            self.exits.append(0)
            self.inputs.append(set())
            self.readers.append(set())
            if pops:
                self._exit(found, pops[0], self._rest(pops[1:], pushes, target))
            else:
                self.returning[found] = pushes[:-1], pushes[-1], target
                self.readers[target].add(found)
        return found

    def _exit(self, control: int, symbol: int, reached: int) -> None:
        number = self.number.get((symbol, reached))
        if number is None:
            number = self.number[symbol, reached] = len(self.number) + 2
            self.reached.append(reached)
            self.through[symbol] = self.through.get(symbol, 0) | 1 << number
        self.exits[control] |= 1 << number
        self.changed.append(control)

    def _update(self, control: int, changed: int) -> None:
        """Brings the exits of a control state up to those of one that it reads."""
        if control in self.returning and self.returning[control][2] == changed:
            below, symbol, target = self.returning[control]
            new = self.exits[target] & self.through.get(symbol, 0) & ~self.followed.get(control, 0)
            self.followed[control] = self.followed.get(control, 0) | new
            for number in each(new):
                after = self._rest((), below, self.reached[number])
                if after not in self.inputs[control]:
                    self._read(control, after)
                    self.changed.append(after)
                    if after in self.returning:
                        self._update_later(after)
        found = self.exits[control]
        if control in self.returning:
            found |= self.exits[self.returning[control][2]] & _DONE
        if changed in self.inputs[control]:
            found |= self.exits[changed]
        if found != self.exits[control]:
            self.exits[control] = found
            self.changed.append(control)

    def _update_later(self, control: int) -> None:
        """Has a new control state look at its target."""
        self.changed.append(self.returning[control][2])

    def on(self, symbol: int, below: int) -> int:
        """The control states, as bits, that can be completed with a symbol on a stack on which `below` can."""
        good = sum(1 << number for number in each(self.through.get(symbol, 0)) if below >> self.reached[number] & 1)
        return self._with(good | _DONE)

    def at_bottom(self) -> int:
        """The control states that can be completed with an empty stack."""
        return self._with(_ENDS | _DONE)

    def _with(self, wanted: int) -> int:
        flags = "".join(["1" if exits & wanted else "0" for exits in reversed(self.exits)])
        return int(flags, 2) | self.always


class Contexts:
    """All contexts of an automaton.

    Attributes:
        empty: the empty stack.
        by_top: the others by their symbols.
    """

    def __init__(self, completion: Completion, lowest: Iterable[int], over: Mapping[int, Iterable[int]]) -> None:
        """Finds them.

        Args:
            completion: what can be completed.
            lowest: the symbols that may be the only one on the stack.
            over: by symbol, those that may lie directly on it.
        """
        self.completion = completion
        self.empty = Context(-1, completion.at_bottom())
        self.by_top: dict[int, list[Context]] = {}
        self._next: dict[tuple[int, int], int] = {}
        found: dict[tuple[int, int], Context] = {}
        todo = [(self.empty, symbol) for symbol in lowest]
        while todo:
            below, symbol = todo.pop()
            key = symbol, self.on(symbol, below.good)
            context = found.get(key)
            if context is None:
                context = found[key] = Context(*key)
                self.by_top.setdefault(symbol, []).append(context)
                todo += [(context, other) for other in over.get(symbol, ())]
            if below not in context.below:
                context.below.append(below)

    def on(self, symbol: int, below: int) -> int:
        """See `Completion.on`."""
        key = symbol, below
        if key not in self._next:
            self._next[key] = self.completion.on(symbol, below)
        return self._next[key]

    def failing(self, tops: Sequence[Collection[int]]) -> int:
        """The states, as bits, that cannot be completed in some context."""
        lying_on: dict[int, int] = {}
        for state, symbols in enumerate(tops):
            for symbol in symbols or (-1,):
                lying_on[symbol] = lying_on.get(symbol, 0) | 1 << state
        found = 0
        for context in [self.empty, *(each for some in self.by_top.values() for each in some)]:
            found |= lying_on.get(context.top, 0) & ~context.good
        return found

    def decided(self, move: Move, tops: Iterable[int], looks: int = 0) -> list[tuple[Stack, Stack]] | None:
        """The pops and pushes that a move is replaced by; None where it is kept as it is.

        Args:
            move: the move.
            tops: the symbols that may lie under its state; the empty stack is one, if there are none.
            looks: how many symbols it looks deeper already.
        """
        state, pops, pushes, target = move
        outcomes = {
            self.leads_on(context.good, pushes, target)
            for top in self.contexts(tops)
            if top.good >> state & 1
            for context in popped(top, pops)
        }
        if outcomes == {True}:
            return None
        if True not in outcomes:
            return []
        if looks >= MAX_LOOKS:
            raise Undecided(move)
        return self._deeper(move, tops, looks)

    def _deeper(self, move: Move, tops: Iterable[int], looks: int) -> list[tuple[Stack, Stack]]:
        state, pops, pushes, target = move
        lying = {
            context.top
            for top in self.contexts(tops)
            if top.good >> state & 1
            for context in popped(top, pops)
            if context.top >= 0
        }
        found: list[tuple[Stack, Stack]] = []
        for symbol in sorted(lying):
            longer = (*pops, symbol), (symbol, *pushes)
            replaced = self.decided((state, *longer, target), tops, looks + 1)
            found += [longer] if replaced is None else replaced
        return found

    def contexts(self, tops: Iterable[int]) -> Sequence[Context]:
        """All contexts with some top symbols; that of the empty stack, if there are none."""
        found = list(tops)
        return [context for top in found for context in self.by_top.get(top, ())] if found else [self.empty]

    def leads_on(self, good: int, pushes: Stack, target: int) -> bool:
        """Whether a target can be completed with some symbols on stacks on which `good` can."""
        for symbol in pushes:
            good = self.on(symbol, good)
        return bool(good >> target & 1)


def popped(context: Context, pops: Stack) -> list[Context]:
    """The contexts that are left when some symbols are popped."""
    level = [context]
    for symbol in pops:
        level = list({id(below): below for each in level if each.top == symbol for below in each.below}.values())
    return level


def each(bits: int) -> list[int]:
    """The numbers of the bits of an integer."""
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


def completed(
    moves: Collection[Move],
    start: int,
    end: int,
    always: Collection[int],
    under: Mapping[int, Collection[int]],
    tops: Sequence[Collection[int]],
    work: Work,
) -> dict[Move, list[tuple[Stack, Stack]]]:
    """What is to be replaced, and by which pops and pushes, so that every configuration can be completed.

    Args:
        moves: the moves.
        start, end: states.
        always: states that count as complete.
        under: by symbol, those that may lie directly under it; for the lowest ones, none.
        tops: by state, the symbols that may lie under it.
        work: how the compilation is stopped.

    Raises:
        EmptyLanguage: no text ends.
        Undecided: that takes more looks at the stack than `MAX_LOOKS`.
    """
    over: dict[int, list[int]] = {}
    for symbol, lower in under.items():
        for each_lower in lower:
            over.setdefault(each_lower, []).append(symbol)
    doubtful = doubtful_states(moves, end, tops, under, work) - set(always)
    if not doubtful:
        return {}
    completion = Completion(len(tops), moves, end, [*set(range(len(tops))) - doubtful - {end}], work)
    contexts = Contexts(completion, [symbol for symbol, lower in under.items() if not lower], over)
    if not contexts.leads_on(contexts.empty.good, (), start):
        raise EmptyLanguage("the grammar has no text: a word that must end can always be read on (longest match)")
    found: dict[Move, list[tuple[Stack, Stack]]] = {}
    dead = contexts.failing(tops)
    for move in moves:
        if not dead >> move[3] & 1:
            continue
        work.check()
        replaced = contexts.decided(move, tops[move[0]])
        if replaced is not None:
            found[move] = replaced
    return found
