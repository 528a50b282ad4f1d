"""Where the pieces of a text are: an automaton over characters that is told the ends of pieces and refuses wrong ones.

The engine looks for a piece from where the last one ended, so where a piece ends may depend on what comes after it:
`\\s+(?!\\S)` takes all spaces before a word but the last, `\\s*[\\r\\n]+` takes any number of spaces if a line ends
behind them. The automaton therefore reads a text together with the decisions, one at the boundary of any two tokens: a
piece ends here, or it goes on. Decisions may turn out wrong later; for every text exactly one row of decisions never
does.

    items      what the engine has not given up: reads and matches, the most preferred first (`PatternProgram`)
    failing    reads that must not lead to a match, because an end was decided on that they have precedence over
    allowed    the kinds of characters that may come next, and whether the text may end; the rest was decided against
    ended      whether the decision to end a piece has just been taken

Reading a character: matches hold if their look-ahead allows it. If no end was decided on, the first match that holds
cuts off the items behind it, and the reads before it must now come true. If one was, the first match that holds is the
piece, the reads before it join those that must fail, and the program starts anew.

A kind of character is what no set in the pattern tells apart. States with the same future are merged at the end.

Rejected: an automaton for each pattern by hand (three patterns, three mistakes); running the pre-tokenizer on both
sides of every token (not finite).
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
    """A state of the automaton; see the module.

    Attributes:
        items: places of instructions.
        failing: places of reads.
        allowed: a bit for each kind, and one above them for the end of the text.
        ended: whether a piece has just ended.
    """

    items: tuple[int, ...]
    failing: frozenset[int]
    allowed: int
    ended: bool


class Pieces(NamedTuple):
    """The automaton over kinds of characters: N states, of which 0 is the start.

    Attributes:
        kind: `[0x110000]`, the kind of every character, -1 for those that no text may hold.
        next: `[N, kinds]`, the state that a kind leads to, or -1.
        split: `[N]`, the state after deciding that a piece ends here, or -1.
        final: `[N]`, whether the text may end here.
    """

    kind: IntArray
    next: IntArray
    split: IntArray
    final: npt.NDArray[np.bool_]


def build_pieces(pattern: str | None, work: Work | None = None) -> Pieces:
    """The automaton of a pre-tokenizer's pattern.

    Raises:
        UnsupportedTokenizer: the pattern has something that is not modelled, or leaves characters out of all pieces.
        LimitExceeded, Cancelled: the compilation has to stop.
    """
    work = current_work(work)
    program = read_pattern(pattern)
    kind, members = _kinds(program)
    machine = _PatternSimulation(program, members)
    automaton = _merged(*_live(*machine.explore(work)))
    _require_cover(automaton, pattern, work)
    return Pieces(kind, *automaton)


def _kinds(program: PatternProgram) -> tuple[IntArray, list[int]]:
    """The kind of every character, and for every set in the program the kinds in it, as bits."""
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
    """The states of a program and how they follow each other."""

    def __init__(self, program: PatternProgram, members: list[int]) -> None:
        self.ops = program.ops
        self.num_kinds = max((bits.bit_length() for bits in members), default=0)
        self.end = 1 << self.num_kinds
        self.everything = 2 * self.end - 1
        # By place: what a read reads, or where a match holds.
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

    def follow(self, places: list[int]) -> tuple[int, ...]:
        """The reads and matches that forks lead to, in order; nothing behind a match that always holds."""
        found: dict[int, None] = {}
        seen: set[int] = set()
        stack = places[::-1]
        while stack:
            place = stack.pop()
            if place in seen:
                continue
            seen.add(place)
            op = self.ops[place]
            if isinstance(op, Fork):
                stack += op.ways[::-1]
                continue
            found[place] = None
            if op == Match(-1):
                break
        return tuple(found)

    def is_match(self, place: int) -> bool:
        return isinstance(self.ops[place], Match)

    def after(self, places: list[int], kind: int) -> list[int]:
        """Where reads go on after a character."""
        reads = [op for place in places if self.holds[place] >> kind & 1 and isinstance(op := self.ops[place], Read)]
        return [op.then for op in reads]

    def step(self, state: _MatchState, kind: int) -> _MatchState | None:
        """The state after a character, if no decision was wrong."""
        if not state.allowed >> kind & 1:
            return None
        matches = [at for at, place in enumerate(state.items) if self.is_match(place) and self.holds[place] >> kind & 1]
        before = [place for place in state.items[: matches[0] if matches else None] if not self.is_match(place)]
        failing = state.failing
        if state.ended:
            if not matches:
                return None
            failing, before = failing | set(before), list(self.begin)
        items = self.follow(self.after(before, kind))
        # For those that fail the order is nothing, and no match cuts another off.
        reached = {end for place in self.after(sorted(failing), kind) for end in self.follow([place])}
        allowed = self.everything
        for place in reached:
            if self.is_match(place):
                allowed &= ~self.holds[place]
        if not items or not allowed:
            return None
        return _MatchState(items, frozenset(p for p in reached if not self.is_match(p)), allowed, ended=False)

    def split(self, state: _MatchState) -> _MatchState | None:
        """The state after deciding that a piece ends, if one can."""
        if state.ended or not any(map(self.is_match, state.items)):
            return None
        return state._replace(ended=True)

    def is_final(self, state: _MatchState) -> bool:
        """Whether the text may end."""
        ends = any(self.is_match(place) and self.holds[place] & self.end for place in state.items)
        return not state.ended and bool(state.allowed & self.end) and ends

    def explore(self, work: Work) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]]:
        """All states that can be reached: next `[N, kinds]`, split `[N]`, final `[N]`."""
        number = {self.start: 0}
        order = [self.start]
        rows: list[list[int]] = []
        for state in order:
            work.check()
            row = []
            for target in (*(self.step(state, kind) for kind in range(self.num_kinds)), self.split(state)):
                if target is not None and target not in number:
                    number[target] = len(order)
                    order.append(target)
                row.append(-1 if target is None else number[target])
            rows.append(row)
            if len(order) > MAX_STATES:
                raise UnsupportedTokenizer(f"the pre-tokenizer's pattern takes more than {MAX_STATES:,} states")
        table = np.array(rows, np.int32)
        return table[:, :-1], table[:, -1], np.array([self.is_final(state) for state in order], np.bool_)


_Tables = tuple[IntArray, IntArray, npt.NDArray[np.bool_]]


def _live(table: IntArray, split: IntArray, final: npt.NDArray[np.bool_]) -> _Tables:
    """Without transitions to states that lead to no end; those states stay, unreachable."""
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
    """With states merged that have the same future (Moore), and those that cannot be reached left out."""
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
    """Every text is cut into pieces with nothing between them."""
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
