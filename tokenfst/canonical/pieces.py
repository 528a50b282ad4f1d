"""The automaton of pieces: it reads the characters of a text with marked boundaries and accepts the correct marking.

The engine searches each piece from the end of the previous one, and the end of a piece may depend on later characters:
`\\s+(?!\\S)` matches all spaces before a word except the last, `\\s*[\\r\\n]+` matches any number of spaces if a line
break follows. The automaton therefore guesses: between two characters it may take a transition that says "a piece ends
here". A wrong guess fails later. For every text exactly one sequence of guesses succeeds. A state records:

    items      the threads of the engine: reads and matches of the `PatternProgram`, in order of preference
    failing    reads that must not lead to a match, because they are preferred to an end that was guessed
    allowed    the kinds of characters that may come next, and whether the text may end, given the guesses
    ended      whether the last transition was the end of a piece

A match holds for a character if its look-ahead allows it. After a guess that the piece continues, the first match that
holds removes the less preferred items, and a preferred read has to succeed. After a guess that the piece ends, the
first match that holds is the piece; the reads before it are added to `failing`, and the program restarts.

Characters are of one kind if every set of the pattern contains all of them or none. Equivalent states are merged.

Rejected: writing the automaton of each pattern by hand (error-prone); running the pre-tokenizer on both sides of every
token (infinitely many contexts).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray
from automata.errors import UnsupportedTokenizer
from automata.limits import Work, current_work
from tokenfst.canonical import characters as chars
from tokenfst.canonical.pattern_reader import Fork, Match, PatternProgram, Read, read_pattern

MAX_STATES = 5_000


class _MatchState(NamedTuple):
    """A state of the automaton during its construction; see the module.

    Attributes:
        items: addresses of reads and matches, the preferred one first.
        failing: addresses of reads.
        allowed: one bit for each kind, and the bit above them for the end of the text.
        ended: whether a piece has just ended.
    """

    items: tuple[int, ...]
    failing: frozenset[int]
    allowed: int
    ended: bool


class Pieces(NamedTuple):
    """The automaton over K kinds of characters, with N states, of which 0 is the start.

    Attributes:
        kind: `[0x110000]` int32, the kind of every code point, -1 for those that no text contains.
        next: `[N, K]` int32, the state that a kind leads to, or -1.
        split: `[N]` int32, the state after the end of a piece, or -1.
        final: `[N]` bool, whether the text may end.
    """

    kind: IntArray
    next: IntArray
    split: IntArray
    final: npt.NDArray[np.bool_]


def build_pieces(pattern: str | None, work: Work | None = None) -> Pieces:
    """Return the automaton of pieces of a pre-tokenizer's pattern; for None, a text is one piece.

    Raises:
        UnsupportedTokenizer: the pattern is not supported, or its matches do not cover every text.
        LimitExceeded: the compilation exceeds a limit.
        Cancelled: another thread cancelled the compilation.
    """
    work = current_work(work)
    program = read_pattern(pattern)
    kind, members = _kinds(program)
    simulation = _PatternSimulation(program, members)
    automaton = _merged(*_live(*simulation.explore(work)))
    _require_cover(automaton, pattern, work)
    return Pieces(kind, *automaton)


def _kinds(program: PatternProgram) -> tuple[IntArray, list[int]]:
    """Return the kind of every code point, and for each set of the program the kinds in it as bits."""
    considered = chars.settled() if program.uses_categories else ~chars.category("Cs")
    membership = np.zeros(chars.NUM_CODE_POINTS, np.int64)
    for number, flags in enumerate(program.sets):
        membership |= flags.astype(np.int64) << number
    values, kind = np.unique(membership[considered], return_inverse=True)
    kinds = np.full(chars.NUM_CODE_POINTS, -1, np.int32)
    kinds[considered] = kind
    members = [
        sum(1 << k for k, value in enumerate(values.tolist()) if value >> number & 1)
        for number in range(len(program.sets))
    ]
    return kinds, members


class _PatternSimulation:
    """The transitions between the states of the automaton, computed from a program.

    Attributes:
        ops: the instructions.
        num_kinds: the number of kinds of characters.
        end: the bit for the end of the text.
        everything: the bits of all kinds and of the end.
        holds: by address, the kinds that a read reads, or before which a match holds, as bits.
        begin: the items at the start of a piece.
        start: the state before the first character; a piece may end there.
    """

    def __init__(self, program: PatternProgram, members: list[int]) -> None:
        self.ops = program.ops
        self.num_kinds = max((bits.bit_length() for bits in members), default=0)
        self.end = 1 << self.num_kinds
        self.everything = 2 * self.end - 1
        self.holds = [
            members[op.number]
            if isinstance(op, Read)
            else self.everything & ~members[op.ahead]
            if isinstance(op, Match) and op.ahead >= 0
            else self.everything
            for op in self.ops
        ]
        self.begin = self.follow([program.start])
        unconditional = self.ops.index(Match(-1))
        self.start = _MatchState((unconditional,), frozenset(), self.everything, ended=False)

    def follow(self, addresses: list[int]) -> tuple[int, ...]:
        """Return the reads and matches that forks lead to, in order of preference.

        Those after a match without look-ahead are left out, because the engine never reaches them.
        """
        found: dict[int, None] = {}
        seen: set[int] = set()
        stack = addresses[::-1]
        while stack:
            address = stack.pop()
            if address in seen:
                continue
            seen.add(address)
            op = self.ops[address]
            if isinstance(op, Fork):
                stack += op.targets[::-1]
                continue
            found[address] = None
            if op == Match(-1):
                break
        return tuple(found)

    def is_match(self, address: int) -> bool:
        return isinstance(self.ops[address], Match)

    def matches_before(self, address: int, kind: int) -> bool:
        """Return whether there is a match at an address that holds before a character."""
        return self.is_match(address) and bool(self.holds[address] >> kind & 1)

    def after(self, addresses: list[int], kind: int) -> list[int]:
        """Return the addresses at which reads continue after a character."""
        reads = [op for at in addresses if self.holds[at] >> kind & 1 and isinstance(op := self.ops[at], Read)]
        return [op.then for op in reads]

    def step(self, state: _MatchState, kind: int) -> _MatchState | None:
        """Return the state after a character, None if a guess was wrong."""
        if not state.allowed >> kind & 1:
            return None
        matches = [index for index, address in enumerate(state.items) if self.matches_before(address, kind)]
        before = [address for address in state.items[: matches[0] if matches else None] if not self.is_match(address)]
        failing = state.failing
        if state.ended:
            if not matches:
                return None
            failing, before = failing | set(before), list(self.begin)
        items = self.follow(self.after(before, kind))
        # Every failing read must fail, so their order does not matter, and no match removes another one.
        reached = {end for address in self.after(sorted(failing), kind) for end in self.follow([address])}
        allowed = self.everything
        for address in reached:
            if self.is_match(address):
                allowed &= ~self.holds[address]
        if not items or not allowed:
            return None
        return _MatchState(items, frozenset(at for at in reached if not self.is_match(at)), allowed, ended=False)

    def split(self, state: _MatchState) -> _MatchState | None:
        """Return the state after the guess that a piece ends, None if no piece can end."""
        if state.ended or not any(map(self.is_match, state.items)):
            return None
        return state._replace(ended=True)

    def is_final(self, state: _MatchState) -> bool:
        """Return whether the text may end in a state."""
        ends = any(self.is_match(address) and self.holds[address] & self.end for address in state.items)
        return not state.ended and bool(state.allowed & self.end) and ends

    def explore(self, work: Work) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]]:
        """Return the tables of all reachable states: next `[N, K]`, split `[N]`, final `[N]`.

        Raises:
            UnsupportedTokenizer: there are more than `MAX_STATES`.
        """
        number = {self.start: 0}
        order = [self.start]
        targets: list[list[int]] = []
        for state in order:
            work.check()
            own = []
            for target in (*(self.step(state, kind) for kind in range(self.num_kinds)), self.split(state)):
                if target is not None and target not in number:
                    number[target] = len(order)
                    order.append(target)
                own.append(-1 if target is None else number[target])
            targets.append(own)
            if len(order) > MAX_STATES:
                raise UnsupportedTokenizer(f"the pre-tokenizer's pattern takes more than {MAX_STATES:,} states")
        table = np.array(targets, np.int32)
        return table[:, :-1], table[:, -1], np.array([self.is_final(state) for state in order], np.bool_)


_Tables = tuple[IntArray, IntArray, npt.NDArray[np.bool_]]


def _live(table: IntArray, split: IntArray, final: npt.NDArray[np.bool_]) -> _Tables:
    """Remove the transitions to states from which no end can be reached; the states stay, unreachable."""
    both = np.column_stack([table, split])
    live = final.copy()
    while True:
        more = live | (live[both] & (both >= 0)).any(axis=1)
        if (more == live).all():
            break
        live = more
    both[~live[both]] = -1
    return both[:, :-1], both[:, -1], final


def _merged(table: IntArray, split: IntArray, final: npt.NDArray[np.bool_]) -> _Tables:
    """Merge equivalent states (Moore 1956), and remove unreachable ones."""
    both = np.column_stack([table, split])
    block = final.astype(np.int64)
    count = 0
    while True:
        signature = np.column_stack([block, np.where(both >= 0, block[both], -1)])
        _, block = np.unique(signature, axis=0, return_inverse=True)
        block = block.reshape(-1)
        if block.max() + 1 == count:
            break
        count = int(block.max()) + 1
    owner = np.zeros(count, np.int64)
    owner[block[::-1]] = np.arange(len(block))[::-1]
    merged = np.where(both[owner] >= 0, block[both[owner]], -1)
    order = [int(block[0])]
    for state in order:
        order += [t for t in dict.fromkeys(merged[state].tolist()) if t >= 0 and t not in order]
    number = np.full(count + 1, -1, np.int64)
    number[order] = np.arange(len(order))
    renumbered = number[merged[order]].astype(np.int32)
    return renumbered[:, :-1].copy(), renumbered[:, -1].copy(), final[owner[order]]


def _require_cover(automaton: _Tables, pattern: str | None, work: Work) -> None:
    """Raise unless every text is a concatenation of pieces.

    Raises:
        UnsupportedTokenizer: the matches of the pattern leave out parts of some texts.
    """
    table, split, final = automaton
    waiting = [frozenset({0})]
    known = set(waiting)
    while waiting:
        work.check()
        states = waiting.pop()
        if not any(final[state] for state in states):
            raise UnsupportedTokenizer(f"the matches of {pattern!r} leave out parts of some texts")
        both = {*states, *(int(split[state]) for state in states if split[state] >= 0)}
        for kind in range(table.shape[1]):
            reached = frozenset(int(table[state, kind]) for state in both if table[state, kind] >= 0)
            if reached not in known:
                known.add(reached)
                waiting.append(reached)
