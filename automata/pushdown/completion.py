"""Completion: steps that lead to configurations from which no text ends are taken out.

Without words there are none, because every place of a network lies on the way to an end. But the longest match can read
on where the grammar needs a word to end: `name: /[a-z]+/` followed by "end" has no text.

    exit        of a state: a symbol, and the control state that some text leads to by the time that it is popped. All
                exits of all states are the least solution of a system of inclusions, and form an automaton that reads
                stacks from the top down and accepts the configurations that can be completed (pre* of Bouajjani,
                Esparza & Maler 1997)
    context     a set of stacks: the top symbol, and the states that can be completed with it. Finitely many

A step is kept if it leads on in every context that it applies in, and dropped if it does in none. Where that depends on
what lies below, it is replaced by steps that look one symbol deeper, and so on up to a bound.

Sets of exits are the bits of integers, so that an inclusion is one operation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from automata.errors import EmptyLanguage
from automata.limits import Work
from automata.pushdown.places import Stack

# A step without its column: state, pops, pushes, target.
Move = tuple[int, Stack, Stack, int]
# How deep a step may look for it alone.
MAX_LOOKS = 8


class Undecided(Exception):  # noqa: N818  # no error but an answer: the caller explains it
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

    A control state is a state, or what is left of a move once its first pops are done.
    """

    def __init__(self, num_states: int, moves: Iterable[Move], end: int, always: Iterable[int], work: Work) -> None:
        self.end = end
        self.always = sum(1 << state for state in always)
        self.control: dict[tuple[Stack, Stack, int], int] = {}
        self.rules: list[list[tuple[int, Stack, int]]] = [[] for _ in range(num_states)]
        self.symbols: dict[int, int] = {}
        for state, pops, pushes, target in moves:
            self._add(state, pops, pushes, target)
        self.size = len(self.rules)
        self.mask = (1 << self.size) - 1
        self._saturate(work)

    def _add(self, state: int, pops: Stack, pushes: Stack, target: int) -> None:
        """Adds a move as rules: (symbol popped or -1, pushes, control state)."""
        if not pops:
            for symbol in pushes:
                self.symbols.setdefault(symbol, len(self.symbols))
            self.rules[state].append((-1, pushes, target))
        else:
            self.symbols.setdefault(pops[0], len(self.symbols))
            self.rules[state].append((pops[0], (), self._rest(pops[1:], pushes, target)))

    def _rest(self, pops: Stack, pushes: Stack, target: int) -> int:
        if not pops and not pushes:
            return target
        found = self.control.get((pops, pushes, target))
        if found is None:
            found = self.control[pops, pushes, target] = len(self.rules)
            self.rules.append([])
            self._add(found, pops, pushes, target)
        return found

    def _saturate(self, work: Work) -> None:
        """Finds the exits: bit `symbol * size + control`; the last bit says that the text can end with no stack."""
        ends = 1 << (len(self.symbols) * self.size)
        self.exits = exits = [0] * self.size
        exits[self.end] = ends
        changed = True
        while changed:
            work.check()
            changed = False
            for control in range(self.size - 1, -1, -1):
                found = exits[control]
                for symbol, pushes, target in self.rules[control]:
                    if symbol >= 0:
                        found |= 1 << (self.symbols[symbol] * self.size + target)
                    elif not pushes:
                        found |= exits[target]
                    else:
                        for after in each(self.after(pushes, target)):
                            found |= exits[after]
                if found != exits[control]:
                    exits[control] = found
                    changed = True
        self.ends = ends

    def after(self, pushes: Stack, target: int) -> int:
        """The control states, as bits, that can follow once all symbols pushed are popped."""
        reached = 1 << target
        for symbol in reversed(pushes):
            shift, found = self.symbols[symbol] * self.size, 0
            for control in each(reached):
                found |= self.exits[control] >> shift & self.mask
            reached = found
        return reached

    def on(self, symbol: int, below: int) -> int:
        """The control states that can be completed with a symbol on a stack on which `below` can."""
        number = self.symbols.get(symbol)
        if number is None:
            return self.always
        shifted = below << (number * self.size)
        return sum(1 << control for control, exits in enumerate(self.exits) if exits & shifted) | self.always

    def at_bottom(self) -> int:
        """The control states that can be completed with an empty stack."""
        return sum(1 << control for control, exits in enumerate(self.exits) if exits & self.ends) | self.always


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
    always: Iterable[int],
    under: Mapping[int, Collection[int]],
    tops: Sequence[Iterable[int]],
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
    completion = Completion(len(tops), moves, end, always, work)
    contexts = Contexts(completion, [symbol for symbol, lower in under.items() if not lower], over)
    if not contexts.empty.good >> start & 1:
        raise EmptyLanguage("the grammar has no text: a word that must end can always be read on (longest match)")
    found: dict[Move, list[tuple[Stack, Stack]]] = {}
    for move in moves:
        work.check()
        replaced = contexts.decided(move, tops[move[0]])
        if replaced is not None:
            found[move] = replaced
    return found
