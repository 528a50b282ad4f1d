"""Terminals: from bodies to the lexical rules of a grammar.

    Terminals    the words of a document: the terminal of each name and each literal, and which of them are used

A terminal is one language, made of literals and other terminals, so a terminal is evaluated after those that it
mentions. A literal in a rule is also a terminal, named by its text, unless a defined terminal is the same literal. A
terminal that matches the empty text is optional where it is used.

If several words match the same text, Lark's order decides: the greater priority; a string before a regular expression;
the pattern that can match the longer text; the longer pattern; the name that comes first. (Lark takes the first in this
order that matches at all. Here the longest match wins, and this order decides among equally long ones.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NoReturn

from automata import expressions as ex
from automata.assertions import matches_empty, simplified
from automata.compile.compiler import compile_expr
from automata.errors import ExpressionError, GrammarError
from automata.expressions import (
    Alternation,
    Call,
    Concatenation,
    Expr,
    Literal,
)
from automata.expressions.extensions import token
from automata.pattern.ordered import ordered
from automata.pattern.parser import Parser
from automata.preference import preferred
from automata.preference.nodes import Choice, Loop
from automata.pushdown.grammar import LexicalRule, Place
from automata.queries import is_empty
from constraints.grammars.lark_reader.common import COMMON
from constraints.grammars.lark_reader.document import Body, Definition, Item, LarkDocument
from constraints.grammars.lark_reader.literals import (
    LiteralMistake,
    Terminal,
    character_range,
    regexp,
    string,
    substrings,
)
from constraints.grammars.lark_reader.naming import lark_names
from constraints.grammars.lark_reader.widths import max_width, widths
from constraints.grammars.line_index import LineIndex

MAX_SIZE = 5_000_000
_LONG = 100

_NOT_IN_TERMINALS = {
    "token": "a token is not made of characters and cannot be part of a terminal",
    "json": "%json stands for a rule and cannot be part of a terminal",
    "argument": "a terminal cannot use a template",
    "template": "a terminal cannot use a template",
}


class Terminals:
    """The words of a document.

    Attributes:
        lexical: the words that are used, by name.
        found: the places where they are defined or first used, by name.
    """

    def __init__(self, document: LarkDocument, lines: LineIndex) -> None:
        self.document = document
        self.lines = lines
        self.lexical: dict[str, LexicalRule] = {}
        self.found: dict[str, Place] = {}
        self.terminals: dict[str, Terminal] = {}
        self.names: dict[tuple[str, str, str], str] = {}  # of terminals that are one literal, by its key
        self.references: dict[str, Expr] = {}
        self.lazy_words: dict[Expr, Call] = {}
        self.literals: dict[tuple[str, object], Terminal] = {}
        for name, definition in document.definitions.items():
            if definition.is_terminal:
                self.evaluate_named(name)
        for name in self.document.imported:
            self.evaluate_named(name)
        for name, terminal in self.terminals.items():
            if terminal.key is not None:
                self.names[terminal.key] = name

    def in_order(self, ignored: Sequence[str]) -> dict[str, LexicalRule]:
        """Return the lexical rules in the order of the names that they have in Lark.

        Args:
            ignored: the names of the rules that are ignored.
        """
        defined = {*self.document.definitions, *self.document.imported}
        written = sorted(self.terminals.keys() & self.found.keys() - defined, key=self._place)
        names = lark_names({name: self.terminals[name] for name in written}, ignored, defined)
        return {name: self.lexical[name] for name in sorted(self.lexical, key=lambda name: names.get(name, name))}

    def _place(self, name: str) -> tuple[int, int]:
        return self.found[name].line, self.found[name].column

    # References

    def named(self, item: Item) -> Expr:
        """Return the call that the name of a defined terminal stands for in a rule."""
        name = item.value
        if name in self.document.declared:
            return token(name)
        definition = self.document.definitions.get(name)
        priority = definition.priority if definition else 0
        position = definition.position if definition else item.position
        return self.reference(name, self.terminals[name], priority, position)

    def literal(self, item: Item, rule: str | None) -> Expr:
        """Return the call that a literal in a rule stands for."""
        terminal = self.terminal_of(item, rule)
        assert terminal.key
        if terminal.key in self.names:
            return self.named(Item("name", self.names[terminal.key], item.position))
        written = f"{item.value.first}..{item.value.last}" if item.operation == "range" else str(item.value)
        if item.operation == "substrings":
            written = f"%regex {terminal.key[1]}" if len(terminal.key[1]) < _LONG else f"%regex at {item.position}"
        self.names[terminal.key] = written
        self.terminals[written] = terminal
        return self.reference(written, terminal, 0, item.position)

    def ignored(self, body: Body) -> str | None:
        """Return the name of the word after %ignore; None if its only text is the empty one."""
        item = body[0]
        if len(body) == 1 and item.operation in ("string", "regexp", "range"):
            self.literal(item, None)
            name = self.names[self.terminal_of(item, None).key or ("", "", "")]
        elif len(body) == 1 and item.operation == "name" and item.value in self.terminals:
            name = item.value
            self.named(item)
        else:
            name = f"%ignore at {self.lines.place(item.position).line}"
            self.reference(name, self.evaluate(body, None), 0, item.position)
        return name if name in self.lexical else None

    def lazy(self, definition: Definition) -> Expr:
        """Return the call for a rule with the attribute lazy or suffix: a word that ends as soon as it can."""
        name, position = definition.name, definition.position
        terminal = self.evaluate(definition.body, name)
        suffix = definition.attributes.get("suffix")
        if suffix is not None:
            last = self.evaluate([suffix], name)
            if ex.is_epsilon(last.expr):
                self.fail("a suffix has a text", suffix, name)
            terminal = _joined([terminal, last], ex.concat(terminal.expr, last.expr), terminal.length)
        words = _as_text(terminal.expr)
        if matches_empty(words):
            return ex.EPSILON
        # Rules with the same words share one word, with the first of their orders, so that the text after it tells the
        # rules apart.
        rule = LexicalRule(words, _order(definition.priority, terminal), lazy=True)
        known = self.lazy_words.get(words)
        if known is None:
            self.lazy_words[words] = self.called(f"{name}[lazy]", rule, position)
        elif rule.priority > self.lexical[known.name].priority:
            self.lexical[known.name] = rule
        return self.lazy_words[words]

    def reference(self, name: str, terminal: Terminal, priority: int, position: int) -> Expr:
        """Return a call of a word, and make it a lexical rule of the grammar on first use."""
        if name not in self.references:
            words = self.words(name, terminal, position)
            if ex.is_epsilon(words):
                self.references[name] = ex.EPSILON
            else:
                called = self.called(name, LexicalRule(words, _order(priority, terminal)), position)
                self.references[name] = called.optional() if matches_empty(words) else called
        return self.references[name]

    def called(self, name: str, rule: LexicalRule, position: int) -> Call:
        """Return a call of a word that becomes a lexical rule of the grammar."""
        self.lexical[name] = rule
        self.found[name] = self.lines.place(position)
        return Call(name)

    def words(self, name: str, terminal: Terminal, position: int) -> Expr:
        """Return the words of a terminal: its expression as a text of its own, with lazy quantifiers resolved."""
        if not terminal.lazy:
            return _as_text(terminal.expr)
        try:
            return preferred(terminal.in_order)
        except ExpressionError:
            return self.words_without_order(name, terminal, position)

    def words_without_order(self, name: str, terminal: Terminal, position: int) -> Expr:
        """Return the words of a terminal that has lazy quantifiers, and operations on languages, which have no order.

        Raises:
            GrammarError: a word begins with another word, so that only an order could tell where the word ends.
        """
        words = _as_text(terminal.expr)
        if is_empty(compile_expr(ex.intersection(words, ex.concat(words, ex.ANY_CHAR, ex.ANY_TEXT)))):
            return words
        raise self.lines.error(
            f"where a word of {name} ends depends on the order in which its lazy quantifiers are tried, and operations "
            'on languages have none: write what may not be in it, as in /"[^"]*"/',
            position,
            name,
        )

    # Evaluation

    def undefined(self, item: Item, rule: str | None) -> GrammarError:
        hint = f": write `%import common.{item.value}`" if item.value in COMMON else ""
        return self.lines.error(f"the terminal {item.value} is not defined{hint}", item.position, rule)

    def evaluate_named(self, name: str) -> None:
        """Evaluate a terminal, after those that it mentions."""
        open_names: dict[str, Iterator[Item]] = {name: self.mentioned(name)}
        while open_names:
            current = next(reversed(open_names))
            missing = next((item for item in open_names[current] if item.value not in self.terminals), None)
            if missing is None:
                self.terminals[current] = self.evaluate_definition(current)
                del open_names[current]
                continue
            if missing.value in open_names:
                raise self.lines.error(
                    f"the terminal {missing.value} is made of itself: only rules may be", missing.position, current
                )
            self.check_mentioned(missing, current)
            open_names[missing.value] = self.mentioned(missing.value)

    def mentioned(self, name: str) -> Iterator[Item]:
        definition = self.document.definitions.get(name)
        return iter([item for item in definition.body if item.operation == "name"] if definition else [])

    def check_mentioned(self, item: Item, terminal: str | None) -> None:
        definition = self.document.definitions.get(item.value)
        if definition is not None and not definition.is_terminal:
            raise self.lines.error(f"a terminal cannot be made of the rule {item.value}", item.position, terminal)
        if item.value in self.document.declared:
            raise self.lines.error(_NOT_IN_TERMINALS["token"], item.position, terminal)
        if definition is None and item.value not in self.document.imported:
            raise self.undefined(item, terminal)

    def evaluate_definition(self, name: str) -> Terminal:
        definition = self.document.definitions.get(name)
        if definition is None:
            return common_terminal(self.document.imported[name])
        if definition.attributes:
            first = next(iter(definition.attributes.values()))
            raise self.lines.error("attributes are for rules, not for terminals", first.position, name)
        return self.evaluate(definition.body, name)

    def evaluate(self, body: Body, name: str | None) -> Terminal:
        """Return the terminal that a body describes."""
        stack: list[Terminal] = []
        for item in body:
            if item.operation in _COMBINERS:
                first = len(stack) - (1 if item.operation in ("not", "repeat") else item.value)
                combined = _COMBINERS[item.operation](stack[first:], item)
                stack[first:] = [combined]
                if _size(combined.expr) > MAX_SIZE:
                    self.fail(f"a terminal has more than {MAX_SIZE:,} parts", item, name)
            elif item.operation == "name":
                if item.value not in self.terminals:
                    self.check_mentioned(item, name)
                stack.append(self.terminals[item.value])
            else:
                stack.append(self.terminal_of(item, name))
        return stack[0]

    def terminal_of(self, item: Item, name: str | None) -> Terminal:
        """Return the terminal of a literal."""
        if item.operation in _NOT_IN_TERMINALS:
            self.fail(_NOT_IN_TERMINALS[item.operation], item, name)
        if item.operation in ("common", "substrings"):
            return common_terminal(item.value) if item.operation == "common" else self.read(item, name)
        known = self.literals.get((item.operation, item.value))
        if known is None:
            known = self.literals[item.operation, item.value] = self.read(item, name)
        return known

    def read(self, item: Item, name: str | None) -> Terminal:
        readers: dict[str, Callable[[], Terminal]] = {
            "string": lambda: string(item.value),
            "regexp": lambda: regexp(item.value),
            "range": lambda: character_range(item.value),
            "substrings": lambda: substrings(item.value),
        }
        try:
            return readers[item.operation]()
        except LiteralMistake as mistake:
            raise self.lines.error(mistake.reason, item.position + mistake.offset, name) from None

    def fail(self, reason: str, item: Item, name: str | None) -> NoReturn:
        raise self.lines.error(reason, item.position, name)


def _order(priority: int, terminal: Terminal) -> tuple[int, ...]:
    """Return the order of a terminal among those that match the same text: the greatest comes first."""
    return priority, int(terminal.is_string), max_width(_as_text(terminal.expr)), terminal.length


def _as_text(expr: Expr) -> Expr:
    """Return the expression as a text of its own: its assertions see the word and nothing around it."""
    return ex.whole(simplified(expr)) if ex.has_assertions(expr) else expr


def common_terminal(name: str) -> Terminal:
    """Return a terminal of Lark's library."""
    pattern, length = COMMON[name]
    return Terminal(Parser(pattern).parse(), length, lazy="*?" in pattern, ordered=partial(ordered, pattern))


# Combining terminals. Assertions see all of a word, but operands of & and ~ are texts of their own.


def _sequence(terminals: list[Terminal], item: Item) -> Terminal:
    if not terminals:
        return Terminal(ex.EPSILON, 0)
    return _joined(
        terminals,
        ex.concat(*[terminal.expr for terminal in terminals]),
        sum(terminal.joined_length for terminal in terminals),
        lambda: ex.concat(*[terminal.in_order for terminal in terminals]),
    )


def _either(terminals: list[Terminal], item: Item) -> Terminal:
    length = sum(terminal.joined_length for terminal in terminals) + len(terminals) - 1 + len("(?:)")
    expr = ex.alternation(*[terminal.expr for terminal in terminals])
    return _joined(terminals, expr, length, lambda: Choice(tuple([each.in_order for each in _tried(terminals)])))


def _tried(terminals: list[Terminal]) -> list[Terminal]:
    """Return alternatives in the order in which Lark puts them: those that can be longest first."""

    def order(terminal: Terminal) -> tuple[int, int, int]:
        low, high = widths(terminal.expr)
        return -high, -low, -terminal.length

    return sorted(terminals, key=order)


def _both(terminals: list[Terminal], item: Item) -> Terminal:
    expr = terminals[0].expr
    for terminal in terminals[1:]:
        expr = ex.intersection(expr, terminal.expr)
    return _joined(terminals, expr, sum(terminal.joined_length for terminal in terminals))


def _not(terminals: list[Terminal], item: Item) -> Terminal:
    return _joined(terminals, ex.complement(terminals[0].expr), terminals[0].joined_length)


def _repeat(terminals: list[Terminal], item: Item) -> Terminal:
    low, high, symbol = item.value
    (terminal,) = terminals
    bounds = symbol or (f"{{{low}}}" if low == high else f"{{{low},{high}}}")
    expr = ex.repeat(terminal.expr, low, high)
    joined = _joined(
        terminals,
        expr,
        terminal.joined_length + len("(?:)") + len(bounds),
        lambda: Loop(terminal.in_order, low, high, lazy=False),
    )
    return joined._replace(num_flags=terminal.num_flags)


def _joined(terminals: list[Terminal], expr: Expr, length: int, ordered: Callable[[], Expr] | None = None) -> Terminal:
    return Terminal(expr, length, lazy=any(terminal.lazy for terminal in terminals), ordered=ordered)


_COMBINERS: dict[str, Callable[[list[Terminal], Item], Terminal]] = {
    "sequence": _sequence,
    "either": _either,
    "both": _both,
    "not": _not,
    "repeat": _repeat,
}


def _size(expr: Expr) -> int:
    """Return the number of nodes that are copied when the expression becomes a part of another one."""
    if isinstance(expr, Literal):
        return len(expr.value)
    return len(expr.parts) if isinstance(expr, Concatenation | Alternation) else 1
