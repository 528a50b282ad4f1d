"""The automaton of the spellings of numbers for which a formula holds.

Its states are what is known about the digits so far: how they compare with each cut, whether all of them are zeros,
whether those after the point are, and the remainder by each step. It is deterministic by construction, and is then
minimized.

The value of every accepted spelling satisfies the formula. All spellings without an exponent of all numbers that
satisfy it are accepted. A spelling with an exponent is left out

    where more than one digit stands before the point, or a zero does, unless the formula holds for numbers of any size,
    or for integers of any size
    where the digits after the point must be counted to tell an integer or a multiple: 1.5e+16 as an integer
    for exponents from -4 to 15, unless the formula holds for all exponents from -1 down, or from 0 up
    of zero, unless the formula holds for zero and for numbers of its sign of any size: -0e5 as a minimum of 0

Nothing bounds the number of digits, as nothing in JSON does.

Rejected: products of one automaton for each statement (most states of each are dead in the product); counting the
digits of a mantissa up to 17, which takes thirty states in every integer of a schema.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from typing import Final, TypeAlias

from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import Compiler
from automata.compile.nfa import NfaBuilder
from automata.errors import LimitExceeded
from automata.expressions import EMPTY
from automata.limits import current_work, spend
from constraints.json_schema.formulas.connectives import Formula
from constraints.json_schema.formulas.statements import IsInteger, Minimum, MultipleOf, NumberIn
from constraints.json_schema.numbers.exponents import exponent_automaton
from constraints.json_schema.numbers.knowledge import Knowledge, atoms
from constraints.json_schema.numbers.multiples import FAILED, MAX_STATES, Step
from constraints.json_schema.numbers.order import Left, Prefix
from constraints.json_schema.numbers.sides import Side

_HOPELESS: Final = -1

# A state in the integer part: the side (0, or 1 after "-"), the comparison with cuts, that of the mantissa if it is one
# digit and no zero, whether the number so far is zero, the state of each step.
_Whole: TypeAlias = tuple[int, Prefix, Left | None, bool, tuple[int, ...]]
# A state after the point: the same, whether all digits after the point are zeros, whether there are any.
_Fraction: TypeAlias = tuple[int, Left, Left | None, bool, tuple[int, ...], bool, bool]


def number_automaton(formula: Formula) -> ByteAutomaton:
    """Return the automaton of the spellings of all numbers for which a formula about numbers holds.

    Raises:
        TypeError: the formula says something about values that are not numbers.
        LimitExceeded: there are too many remainders or digits.
    """
    spelling = _Spelling(formula)
    spelling.explore()
    fragment = NfaBuilder(spelling.num_states, spelling.arcs, spelling.epsilon)
    return Compiler(current_work(), blames=False).determinize(EMPTY, fragment)


class _Spelling:
    """A deterministic automaton, while it is explored: state 0 is the start, and epsilon arcs lead from ends to 1."""

    def __init__(self, formula: Formula) -> None:
        statements = list(dict.fromkeys(atoms(formula)))
        sizes = [part.step for part in statements if isinstance(part, MultipleOf) and part.step != 1]
        self.steps = [Step(size) for size in sizes]
        # Whether zeros after the point are told apart from other digits.
        self.counts_zeros = any(isinstance(part, IsInteger | MultipleOf) for part in statements)
        # Without cuts the sign means nothing.
        signs = (False, True) if any(isinstance(part, Minimum | NumberIn) for part in statements) else (False,)
        self.sides = [Side(formula, statements, self.steps, sizes, negative) for negative in signs]
        self.num_states = 2
        self.arcs: list[int] = []
        self.epsilon: list[int] = []
        self.numbers: dict[object, int] = {}
        self.whole: list[_Whole] = []
        self.fractions: list[_Fraction] = []
        self.exponents: dict[object, int] = {}

    def state(self) -> int:
        self.num_states += 1
        return self.num_states - 1

    def explore(self) -> None:
        """Find all states."""
        self.first_digit(0, 0)
        minus = self.state()
        self.arcs += (0, 0x2D, 0x2D, minus)
        self.first_digit(minus, len(self.sides) - 1)
        while self.whole or self.fractions:
            if len(self.numbers) > MAX_STATES:
                raise LimitExceeded(self.too_many())
            spend(1000)
            if self.whole:
                self.expand_whole(self.whole.pop())
            else:
                self.expand_fraction(self.fractions.pop())

    def too_many(self) -> str:
        """Return why there are more states than are explored."""
        most = max(self.steps, key=lambda step: step.fewest, default=None)
        if most is None:
            return f"comparing digits with the bounds of a number takes more than {MAX_STATES:,} states"
        what = f"telling the multiples of {Decimal(most.size.numerator) / most.size.denominator} by their digits"
        if most.fewest <= MAX_STATES:
            return f"{what}, together with the other keywords, takes more than {MAX_STATES:,} states"
        return f"{what} takes some {most.fewest:,} states, more than the {MAX_STATES:,} that are looked at"

    def first_digit(self, source: int, number: int) -> None:
        side = self.sides[number]
        if side.hopeless:
            return
        first = tuple([step.first for step in self.steps])
        breaks = side.cuts.next_digits(side.cuts.first) + side.mantissas.next_digits(side.mantissas.first)
        for step, state in zip(self.steps, first, strict=True):
            breaks += step.next_digits(state)
        prefixes, mantissas = side.cuts.after(side.cuts.first), side.mantissas.after(side.mantissas.first)
        for low, high in _digit_ranges([0, *breaks]):
            prefix = prefixes[low]
            mantissa = side.mantissas.at_point(mantissas[low]) if low else None
            held = tuple([step.after(state)[low] for step, state in zip(self.steps, first, strict=True)])
            self.arc(source, low, high, (number, prefix, mantissa, not low, held))

    def arc(self, source: int, low: int, high: int, state: _Whole) -> None:
        """Add an arc to a state within the integer part."""
        target = self.numbers.get(state)
        if target is None:
            target = self.numbers[state] = self.state()
            self.whole.append(state)
        self.arcs += (source, 0x30 + low, 0x30 + high, target)

    def expand_whole(self, state: _Whole) -> None:
        source = self.numbers[state]
        number, prefix, mantissa, zero, held = state
        side = self.sides[number]
        left = side.cuts.at_point(prefix)
        steps = tuple([step.at_point(at, mantissa is not None) for step, at in zip(self.steps, held, strict=True)])
        after = (number, left, mantissa, zero, steps, True, False)
        self.ending(source, side, left, mantissa, zero, held, True, True)
        self.fraction_arc(source, 0x2E, 0x2E, after)
        if zero or not side.hopeful(side.cuts.beyond(prefix), None, True, None, side.unknown):
            return
        breaks = side.cuts.next_digits(prefix)
        for step, at in zip(self.steps, held, strict=True):
            breaks += step.next_digits(at)
        rows = [step.after(at) for step, at in zip(self.steps, held, strict=True)]
        prefixes = side.cuts.after(prefix)
        for low, high in _digit_ranges(breaks):
            longer = tuple([row[low] for row in rows])
            self.arc(source, low, high, (number, prefixes[low], None, False, longer))

    def fraction_arc(self, source: int, low: int, high: int, state: _Fraction) -> None:
        """Add an arc to a state after the point, unless nothing satisfies the formula there."""
        target = self.numbers.get(state)
        if target is None:
            number, left, mantissa, _, held, whole, _ = state
            side = self.sides[number]
            multiples = tuple([False if at == FAILED else None for at in held])
            if side.hopeful(side.cuts.beyond_fraction(left), mantissa, whole, False, multiples):
                target = self.state()
                self.fractions.append(state)
            else:
                target = _HOPELESS
            self.numbers[state] = target
        if target != _HOPELESS:
            self.arcs += (source, low, high, target)

    def expand_fraction(self, state: _Fraction) -> None:
        source = self.numbers[state]
        number, left, mantissa, zero, held, whole, ended = state
        side = self.sides[number]
        if ended:
            self.ending(source, side, left, mantissa, zero, held, whole, False)
        breaks = side.cuts.next_fraction_digits(left)
        if mantissa is not None:
            breaks += side.mantissas.next_fraction_digits(mantissa)
        if zero or (whole and self.counts_zeros):
            breaks.append(0)
        for step, at in zip(self.steps, held, strict=True):
            breaks += step.next_fraction_digits(at)
        for low, high in _digit_ranges(breaks):
            after = side.cuts.after_fraction(left, low)
            scaled = None if mantissa is None else side.mantissas.after_fraction(mantissa, low)
            still = whole and not (low and self.counts_zeros)
            longer = tuple([step.after_fraction(at, low, still) for step, at in zip(self.steps, held, strict=True)])
            reached = (number, after, scaled, zero and not low, longer, still, True)
            self.fraction_arc(source, 0x30 + low, 0x30 + high, reached)

    def ending(
        self,
        source: int,
        side: Side,
        left: Left,
        mantissa: Left | None,
        zero: bool,
        held: tuple[int, ...],
        whole: bool,
        plain: bool,
    ) -> None:
        """Add the end of the number here, and the exponents that may follow."""
        multiples = tuple([step.holds(state) for step, state in zip(self.steps, held, strict=True)])
        if side.truth(Knowledge(side.cuts.at_end(left), whole, plain, multiples)):
            self.epsilon += (source, 1)
        exponents = side.exponents(mantissa, zero, whole, held)
        if not exponents:
            return
        start = self.exponents.get(exponents)
        if start is None:
            rows = exponent_automaton(exponents)
            start = self.exponents[exponents] = self.num_states
            self.num_states += rows.num_states
            arcs = list(rows.arcs)
            arcs[::4] = [state + start for state in arcs[::4]]
            arcs[3::4] = [state + start for state in arcs[3::4]]
            self.arcs += arcs
            for end in rows.ends:
                self.epsilon += (start + end, 1)
        self.arcs += (source, 0x65, 0x65, start, source, 0x45, 0x45, start)


def _digit_ranges(breaks: Iterable[int]) -> list[tuple[int, int]]:
    """Return the digits from 0 to 9 as ranges, in which each digit of `breaks` has a range of its own."""
    return _ranges_around(frozenset(breaks))


@cache
def _ranges_around(alone: frozenset[int]) -> list[tuple[int, int]]:
    if not alone:
        return [(0, 9)]
    starts = sorted({0, *alone, *[digit + 1 for digit in alone if digit < 9]})
    return list(zip(starts, [start - 1 for start in starts[1:]] + [9], strict=True))
