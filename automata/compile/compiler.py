"""From an expression to its minimal byte automaton.

The NFA has arcs over byte ranges. The ends of the ranges divide the 256 bytes into intervals whose bytes no arc tells
apart, and automata are built over these intervals instead of bytes. A pattern with `[^"]` has some twenty intervals, so
automata stay small where there would be hundreds of arcs over bytes. Intersection and difference are products of arcs
over bytes (`native/automata/product.h`); lists of strings and substrings of a text have constructions of their own
(`native/automata/word_list.h`, `automata.compile.substring`).

An expression with assertions cannot be laid out part by part: the layout stops at the first assertion, and the text
that it belongs to is resolved as a whole (`automata.assertions`). Expressions without assertions pay nothing for this.

Every step has limits and can be stopped (`automata.limits`). If there are too many states, the error names the smallest
part of the expression that has too many on its own (`automata.compile.blame`).

Rejected: one arc for each byte (twenty times as many arcs for free text); OpenFst for determinization and minimization,
which took a quarter of the time from pattern to token tables for quoted text, and a third for a JSON object. The tests
compare with OpenFst.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from automata import expressions as ex
from automata.assertions import lookaround, simplified
from automata.byte_automaton import ByteAutomaton
from automata.compile.blame import excerpt, numeral, responsible
from automata.compile.composition import composed, tables_of
from automata.compile.constructions import Operand, combination, determinized, product, word_list
from automata.compile.nfa import AssertionMet, NfaBuilder, ThompsonConstruction, acceptor_fragment
from automata.compile.substring import substring_fragment
from automata.errors import LimitExceeded, WeightedLanguage, wrong_type
from automata.expressions import (
    Acceptor,
    Alternation,
    ByteSet,
    CharSet,
    Complement,
    Concatenation,
    Difference,
    Expr,
    Intersection,
    Literal,
    Repetition,
    Strings,
    Substring,
    Transduction,
    is_weighted,
)
from automata.limits import Limits, Work, current_work

# The limits of a trial in the search for the part that is too large, and the time to confirm the result, in seconds.
_TRIAL = Limits(states=20_000, memory=1 << 26, seconds=0.1)
_CONFIRMING_SECONDS = 0.2
# From this depth of nested intersections, differences and complements, the innermost are compiled first.
_MAX_DEPTH = 50
# The expressions whose operands match whole texts.
_OF_TEXTS = Intersection | Difference | Complement | Transduction


def compile_expr(expr: Expr, work: Work | None = None) -> ByteAutomaton:
    """Compile a language to its minimal deterministic trim automaton.

    Args:
        expr: the language.
        work: the limits of the compilation, and the means to stop it; by default, those of the current compilation.

    Raises:
        LimitExceeded: a limit was exceeded; the message names the limit, the amount and the part of the expression.
        Cancelled: another thread cancelled the compilation.
        ExpressionError: the expression combines raw bytes with assertions.
        TypeError: `expr` is not an expression; the message says how to make one.
    """
    if not isinstance(expr, Expr):
        raise wrong_type("an expression", expr)
    compiler = Compiler(current_work(work))
    # The whole is not cached: hashing it takes as long as laying it out.
    try:
        return compiler.construct(expr)
    except AssertionMet:
        return compiler.resolve(expr)


class Compiler:
    """One compilation; equal sub-expressions are compiled once."""

    layout: type[ThompsonConstruction] = ThompsonConstruction

    def __init__(self, work: Work, *, blames: bool = True) -> None:
        """Start with nothing compiled.

        Args:
            work: the limits of the compilation, and the means to stop it.
            blames: whether errors name the part of the expression that is too large; finding it takes more time.
        """
        self.work = work
        self.blames = blames
        self.done: dict[Expr, ByteAutomaton] = {}
        self.resolved: dict[Expr, ByteAutomaton] = {}  # texts with assertions
        self.depth = 0

    def compile(self, expr: Expr) -> ByteAutomaton:
        """Compile an expression whose matches are whole texts."""
        if self.resolved and expr in self.resolved:
            return self.resolved[expr]
        try:
            return self.part(expr)
        except AssertionMet:
            automaton = self.resolved[expr] = self.resolve(expr)
            return automaton

    def part(self, expr: Expr) -> ByteAutomaton:
        """Compile a part of a text.

        Raises:
            AssertionMet: the part depends on the parts around it.
        """
        automaton = self.done.get(expr)
        if automaton is None:
            self.depth += 1
            try:
                if self.depth == _MAX_DEPTH:
                    self.compile_innermost_first(expr)
                automaton = self.done[expr] = self.construct(expr)
            finally:
                self.depth -= 1
        return automaton

    def resolve(self, expr: Expr) -> ByteAutomaton:
        """Compile a text with assertions."""
        try:
            simpler = simplified(expr)
            if ex.has_assertions(simpler):
                return self.determinize(expr, lookaround.fragment(simpler, self.work, self.part))
            return self.part(simpler)
        except RecursionError:
            raise LimitExceeded(f"assertions are nested too deeply in {excerpt(expr)}") from None

    def compile_innermost_first(self, expr: Expr) -> None:
        """Compile all operands within an expression, innermost first, so that no nesting is too deep."""
        found: list[Expr] = []
        stack = [expr]
        while stack:
            node = stack.pop()
            found += node.operands() if isinstance(node, _OF_TEXTS) else ()
            stack += node.operands()
        for node in reversed(found):
            self.compile(node)

    def construct(self, expr: Expr) -> ByteAutomaton:
        """Construct the automaton of an expression that has not been compiled yet."""
        if isinstance(expr, Intersection | Difference):
            operands = self.operands(expr)
            return self.made(expr, lambda: combination(operands, self.work))
        if isinstance(expr, Complement):
            text, inner = self.compile(ex.ANY_TEXT), self.compile(expr.inner)
            return self.made(expr, lambda: product(text, inner, self.work, difference=True))
        if isinstance(expr, Strings):
            return self.made(expr, lambda: word_list(expr.values, self.work))
        if isinstance(expr, Substring):
            return self.determinize(expr, substring_fragment(expr.text, expr.words, self.work))
        if is_weighted(expr):
            raise WeightedLanguage(
                f"{excerpt(expr)} has weights, which only expressions carry (as in 'Hello, ' + names): an automaton "
                "over bytes does not, and neither do constraints composed of others, schemas and grammars"
            )
        if isinstance(expr, Acceptor):
            return self.determinize(expr, acceptor_fragment(expr.tables))
        if isinstance(expr, Transduction):
            return self.image(expr, self.compile(expr.inner))
        most = self.work.limits.states
        if expr.size >= most and (least := least_length(expr)) >= most:
            raise LimitExceeded(
                f"{excerpt(expr)} has texts of {numeral(least)} bytes at least, and so more than {most:,} states "
                "(limit `states`)",
                limit="states",
            )
        return self.determinize(expr, self.layout(self.part, self.work).lay(expr))

    def operands(self, expr: Intersection | Difference) -> list[Operand]:
        """Compile the operands of nested intersections and differences, such as those of several lookaheads.

        A left operand that has been compiled before is one operand, whatever it is made of.
        """
        found: list[Operand] = []
        first: Expr = expr
        while isinstance(first, Intersection | Difference) and (first is expr or first not in self.done):
            found.append(Operand(self.compile(first.right), isinstance(first, Difference)))
            first = first.left
        return [Operand(self.compile(first), False), *reversed(found)]

    def image(self, expr: Transduction, inner: ByteAutomaton) -> ByteAutomaton:
        """Compile a transduction of a compiled language."""

        def constructed() -> ByteAutomaton:
            image = composed(tables_of(inner), expr.transducer, self.work)
            return determinized(acceptor_fragment(image), self.work)

        return self.made(expr, constructed)

    def determinize(self, expr: Expr, fragment: NfaBuilder) -> ByteAutomaton:
        """Determinize and minimize the NFA of an expression."""
        return self.made(expr, lambda: determinized(fragment, self.work))

    def made(self, expr: Expr, construct: Callable[[], ByteAutomaton]) -> ByteAutomaton:
        """Run a construction for an expression, and return its result.

        Raises:
            LimitExceeded: the construction exceeded a limit; the message names the part of the expression.
        """
        try:
            return construct()
        except LimitExceeded as raised:
            error = raised.of("a deterministic automaton")
            if not self.blames or error.limit not in ("states", "memory"):
                raise error from None
            limits, little = self.work.limits, _TRIAL
            few = replace(little, states=min(little.states, limits.states), memory=min(little.memory, limits.memory))
            full = replace(limits, seconds=_CONFIRMING_SECONDS)
            part = responsible(expr, lambda part: self.explodes(part, few), lambda part: self.explodes(part, full))
            raise LimitExceeded(f"{error}; the part responsible is {excerpt(part)}", limit=error.limit) from None

    def explodes(self, expr: Expr, limits: Limits) -> bool:
        """Return whether compiling an expression exceeds the given limits."""
        try:
            Compiler(Work(limits, self.work.cancellation), blames=False).compile(expr)
        except LimitExceeded:
            return True
        return False


def least_length(expr: Expr) -> int:
    """Return a lower bound on the length in bytes of every text."""
    known: dict[int, int] = {}
    stack = [expr]
    while stack:
        node = stack[-1]
        missing = [part for part in node.operands() if id(part) not in known]
        if missing:
            stack += missing
            continue
        of_parts = [known[id(part)] for part in node.operands()]
        known[id(stack.pop())] = _least_length(node, of_parts)
    return known[id(expr)]


def _least_length(node: Expr, of_parts: list[int]) -> int:
    match node:
        case Literal(value):
            return len(value)
        case CharSet() | ByteSet():
            return 1
        case Concatenation():
            return sum(of_parts)
        case Alternation():
            return min(of_parts, default=0)
        case Repetition(_, low, _):
            return of_parts[0] * low
        case Intersection():
            return max(of_parts)
        case Difference():
            return of_parts[0]
        case _:
            return 0
