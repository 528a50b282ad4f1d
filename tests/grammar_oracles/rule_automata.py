"""Deterministic automata of rules over bytes and names, by Thompson's and the subset construction.

They are slow, small, and apart from everything that the package does with rules. Only what no call can stand in, such
as intersections and assertions, is left to `automata.compile_expr`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from automata import compile_expr
from automata.expressions import Alternation, ByteSet, Call, CharSet, Concatenation, Expr, Literal, Repetition

# A byte, or the name of a rule or a lexical rule.
Symbol = int | str


@dataclass(slots=True)
class RuleAutomata:
    """The automata of some rules in one table of rows."""

    next: list[dict[Symbol, int]] = field(default_factory=list)
    final: list[bool] = field(default_factory=list)
    rule_of: list[str] = field(default_factory=list)
    start: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, expr: Expr) -> None:
        """Adds a rule."""
        nfa = _Nfa()
        end = nfa.state()
        begin = nfa.closure({nfa.build(expr, end)})
        numbers = {begin: self._row(name, end in begin)}
        self.start[name] = numbers[begin]
        queue = [begin]
        while queue:
            members = queue.pop()
            for symbol, targets in nfa.moves(members).items():
                target = nfa.closure(targets)
                if target not in numbers:
                    numbers[target] = self._row(name, end in target)
                    queue.append(target)
                self.next[numbers[members]][symbol] = numbers[target]

    def _row(self, name: str, final: bool) -> int:
        self.next.append({})
        self.final.append(final)
        self.rule_of.append(name)
        return len(self.next) - 1


class _Nfa:
    """Arcs by symbol and arcs without; `build` returns the state where an expression begins."""

    def __init__(self) -> None:
        self.arcs: list[dict[Symbol, set[int]]] = []
        self.silent: list[set[int]] = []

    def state(self) -> int:
        self.arcs.append({})
        self.silent.append(set())
        return len(self.arcs) - 1

    def arc(self, source: int, symbol: Symbol, target: int) -> None:
        self.arcs[source].setdefault(symbol, set()).add(target)

    def closure(self, states: set[int]) -> frozenset[int]:
        found, queue = set(states), list(states)
        while queue:
            new = self.silent[queue.pop()] - found
            found |= new
            queue += new
        return frozenset(found)

    def moves(self, states: frozenset[int]) -> dict[Symbol, set[int]]:
        merged: dict[Symbol, set[int]] = {}
        for state in states:
            for symbol, targets in self.arcs[state].items():
                merged.setdefault(symbol, set()).update(targets)
        return merged

    def build(self, expr: Expr, end: int) -> int:
        match expr:
            case Literal(value):
                return self._bytes([(byte, byte) for byte in value], end)
            case Call(name):
                begin = self.state()
                self.arc(begin, name, end)
                return begin
            case CharSet(ranges):
                begin = self.state()
                for low, high in ranges:
                    for sequence in _utf8(low, high):
                        self.silent[begin].add(self._bytes(sequence, end))
                return begin
            case ByteSet(ranges):
                begin = self.state()
                for bounds in ranges:
                    self.silent[begin].add(self._bytes([bounds], end))
                return begin
            case Concatenation(parts):
                for part in reversed(parts):
                    end = self.build(part, end)
                return end
            case Alternation(parts):
                begin = self.state()
                for part in parts:
                    self.silent[begin].add(self.build(part, end))
                return begin
            case Repetition(inner, low, high):
                return self._repeated(inner, low, high, end)
            case _:
                return self._compiled(expr, end)

    def _bytes(self, sequence: list[tuple[int, int]], end: int) -> int:
        for low, high in reversed(sequence):
            begin = self.state()
            for byte in range(low, high + 1):
                self.arc(begin, byte, end)
            end = begin
        return end

    def _repeated(self, inner: Expr, low: int, high: int | None, end: int) -> int:
        begin = end
        if high is None:
            begin = self.state()
            self.silent[begin] |= {end, self.build(inner, begin)}
        else:
            for _ in range(high - low):
                begin = self.build(inner, begin)
                skip = self.state()
                self.silent[skip] |= {begin, end}
                begin = skip
        for _ in range(low):
            begin = self.build(inner, begin)
        return begin

    def _compiled(self, expr: Expr, end: int) -> int:
        automaton = compile_expr(expr)
        states = [self.state() for _ in range(automaton.num_states)]
        for state, row in zip(states, automaton.by_byte().tolist(), strict=True):
            for byte, target in enumerate(row):
                if target >= 0:
                    self.arc(state, byte, states[target])
        for state, final in zip(states, automaton.final.tolist(), strict=True):
            if final:
                self.silent[state].add(end)
        return states[automaton.start]


def _utf8(low: int, high: int) -> list[list[tuple[int, int]]]:
    """Sequences of ranges of bytes that hold just the encodings of the characters from `low` to `high`."""
    for last in (0x7F, 0x7FF, 0xFFFF):
        if low <= last < high:
            return _utf8(low, last) + _utf8(last + 1, high)
    if low <= 0xD7FF and high >= 0xD800:
        return _utf8(low, 0xD7FF) + (_utf8(0xE000, high) if high >= 0xE000 else [])
    if 0xD800 <= low <= 0xDFFF:
        return _utf8(0xE000, high) if high >= 0xE000 else []
    if high <= 0x7F:
        return [[(low, high)]]
    for bits in (6, 12, 18):
        mask = (1 << bits) - 1
        if low >> bits != high >> bits:
            if low & mask:
                return _utf8(low, low | mask) + _utf8((low | mask) + 1, high)
            if high & mask != mask:
                return _utf8(low, (high & ~mask) - 1) + _utf8(high & ~mask, high)
    return [list(zip(chr(low).encode(), chr(high).encode(), strict=True))]
