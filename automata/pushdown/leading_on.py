"""States that lead on to the end of a text for a reason that is simple to find.

Whatever symbol lies under such a state, some text leads to another such state by the time that the symbol has been
popped. So every configuration with such a state can be completed, by induction on the height of its stack.

Which states are such states is found in rounds: each looks for texts that lead to none of the states that were doubtful
in any round before. Once it leaves no other state in doubt, its texts are the reason for all that it leaves in none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from automata.limits import Work
from automata.pushdown.places import Stack

# A step without its column: state, pops, pushes, target.
Move = tuple[int, Stack, Stack, int]


class LeadingOn:
    """For each state and symbol the first text that is found to lead there; so this takes a small part of the time that
    all exits take.

    A step that pops several symbols is a step to a state of its own for each but the last one, which counts once it can
    be completed whatever lies under it.
    """

    def __init__(
        self,
        moves: Iterable[Move],
        end: int,
        tops: Sequence[Collection[int]],
        under: Mapping[int, Collection[int]],
        doubtful: Collection[int],
        work: Work,
    ) -> None:
        self.under, self.doubtful = under, doubtful
        self.tops = list(tops)
        # By state, for each symbol that has been popped the state that follows; the empty stack counts as -1.
        self.after: list[dict[int, int]] = [{} for _ in tops]
        self.readers: list[list[int]] = [[] for _ in tops]
        self.waiting: list[dict[int, list[tuple[Stack, int, int | None]]]] = [{} for _ in tops]
        self.partly: dict[tuple[int, int], int] = {}
        self.whole: dict[int, tuple[int, int]] = {}
        self.todo: list[tuple[int, int, int]] = [(end, -1, end)]
        for state, pops, pushes, target in moves:
            for symbol in pops[:-1]:
                state = self._popping(state, symbol)
            self._go_on(pushes, target, state, pops[-1] if pops else None)
        while self.todo:
            work.check()
            for _ in range(min(len(self.todo), 1000)):
                self._pop(*self.todo.pop())

    def _popping(self, state: int, symbol: int) -> int:
        """The state of its own for one that has popped a symbol."""
        found = self.partly.get((state, symbol))
        if found is None:
            found = self.partly[state, symbol] = len(self.after)
            self.whole[found] = state, symbol
            self.tops.append(self.under[symbol])
            self.after.append({})
            self.readers.append([])
            self.waiting.append({})
        return found

    def _go_on(self, pushed: Stack, at: int, state: int, popped: int | None) -> None:
        """Follows a move from a state until what it pushed is popped, as far as that is known."""
        while pushed:
            after = self.after[at].get(pushed[-1])
            if after is None:
                self.waiting[at].setdefault(pushed[-1], []).append((pushed[:-1], state, popped))
                return
            pushed, at = pushed[:-1], after
        own = self.after[state]
        if popped is None:
            self.readers[at].append(state)
            self.todo += [(state, symbol, after) for symbol, after in self.after[at].items() if symbol not in own]
        elif popped not in own and at not in self.doubtful:
            self.todo.append((state, popped, at))

    def _pop(self, state: int, symbol: int, after: int) -> None:
        if symbol in self.after[state]:
            return
        self.after[state][symbol] = after
        self.todo += [(reader, symbol, after) for reader in self.readers[state] if symbol not in self.after[reader]]
        for pushed, origin, popped in self.waiting[state].pop(symbol, ()):
            self._go_on(pushed, after, origin, popped)
        if state in self.whole and self.completes(state):
            self.todo.append((*self.whole[state], state))

    def completes(self, state: int) -> bool:
        """Whether there is such a text for each symbol; for the empty stack, if there are none."""
        return all(symbol in self.after[state] for symbol in self.tops[state] or (-1,))


def doubtful_states(
    moves: Collection[Move],
    end: int,
    tops: Sequence[Collection[int]],
    under: Mapping[int, Collection[int]],
    work: Work,
) -> set[int]:
    """The states that have no simple reason to be completed in every context; see `LeadingOn`."""
    doubtful = set[int]()
    while True:
        simple = LeadingOn(moves, end, tops, under, doubtful, work)
        found = {state for state in range(len(tops)) if not simple.completes(state)} - {end}
        if found <= doubtful:
            return found
        doubtful |= found
