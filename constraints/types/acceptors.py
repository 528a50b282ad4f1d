"""The numbers within bounds, and the language of an automaton as an expression.

An expression of characters and operators can be written as a regular expression. Elimination of states
(`automata.algebra.elimination`) finds it for all bounds and for most round steps, but the multiples of 13 already take
more leaves than its limit. Such an expression holds the automaton itself.
"""

from __future__ import annotations

import numpy as np

from automata.acceptor_tables import AcceptorTables
from automata.algebra.elimination import to_expr
from automata.byte_automaton import ByteAutomaton
from automata.errors import LimitExceeded, UnsupportedSchema
from automata.expressions import Expr, acceptor
from constraints.types.shapes import Bounds

# With a step, more states than this often take too many leaves, and up to a minute to find that out.
_MOST_ELIMINATED = 128


def numbers(bounds: Bounds, *, whole: bool) -> ByteAutomaton | Expr:
    """Return the numbers within bounds, as JSON spells them, which Python reads as well.

    Args:
        bounds: the bounds.
        whole: whether the numbers are integers.

    Raises:
        UnsupportedSchema: a step has too many remainders, or a bound too many digits.
        LimitExceeded, Cancelled: the current compilation has to stop.
    """
    from constraints.json_schema.formulas.connectives import conjunction
    from constraints.json_schema.formulas.statements import IsInteger, Maximum, Minimum, MultipleOf
    from constraints.json_schema.numbers import number_language

    statements = [
        *([IsInteger(plain=True)] if whole else []),
        *([Minimum(bounds.low, bounds.low_exclusive)] if bounds.low is not None else []),
        *([Maximum(bounds.high, bounds.high_exclusive)] if bounds.high is not None else []),
        *([MultipleOf(bounds.step)] if bounds.step is not None else []),
    ]
    try:
        return number_language(conjunction(statements))
    except LimitExceeded as error:
        if error.limit:
            raise
        raise UnsupportedSchema(str(error)) from None


def accepted(language: ByteAutomaton | Expr, *, has_step: bool) -> Expr:
    """Return the texts of an automaton without labels, or of an expression, as an expression.

    Args:
        language: numbers.
        has_step: whether they are the multiples of a step, with states for the remainders.
    """
    if isinstance(language, Expr):
        return language
    if has_step and language.num_states > _MOST_ELIMINATED:
        return _held(language)
    try:
        return to_expr(language)
    except LimitExceeded as error:
        if error.limit:
            raise
        return _held(language)


def _held(language: ByteAutomaton) -> Expr:
    """Return an expression that holds an automaton; the automaton is not empty."""
    arcs, ends = language.range_arcs(), np.flatnonzero(language.final)
    # State 0 is the start of the acceptor and 1 its end; those of the automaton follow.
    rows = np.column_stack([arcs.source + 2, arcs.low, arcs.high, arcs.target + 2])
    epsilon = np.column_stack([np.append(0, ends + 2), np.append(language.start + 2, np.ones_like(ends))])
    return acceptor(AcceptorTables(language.num_states + 2, rows.astype(np.int32), epsilon.astype(np.int32)))
