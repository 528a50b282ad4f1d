"""Terminals: from bodies to the lexical rules of a grammar.

    Terminals    the words of a document: what each name and each literal stands for, and which of them are used

A terminal is one language, made of literals and other terminals, so terminals are evaluated after those that they
mention. A literal in a rule is a terminal as well, named as it is written, unless a defined terminal is the same
literal. A terminal that matches the empty text may be missing where it is used.

Where several words match the same text, Lark's order decides: the greater priority; a string before a regular
expression; the pattern that can match the longer text; the longer pattern; the name that comes first. (Lark takes the
first in this order that matches at all. Here the longest match counts, and the order among equals.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn

from automata import expressions as ex
from automata.assertions import holds_assertion, matches_empty, simplified
from automata.errors import GrammarError
from automata.expressions import Alternation, Concatenation, Expr, Literal
from automata.expressions.extensions import token
from automata.pattern.parser import Parser
from automata.pushdown.grammar import LexicalRule, Place
from constraints.grammars.lark_reader.common import COMMON
from constraints.grammars.lark_reader.document import Body, Definition, Document, Item
from constraints.grammars.lark_reader.laziness import begins_with_another, finds_shortest, shortest
from constraints.grammars.lark_reader.literals import (
    LiteralMistake,
    Piece,
    character_range,
    regexp,
    string,
    substrings,
)
from constraints.grammars.lark_reader.widths import max_width
from constraints.grammars.places import Places

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
        found: where they are defined, or first used.
    """

    def __init__(self, document: Document, places: Places) -> None:
        self.document = document
        self.places = places
        self.lexical: dict[str, LexicalRule] = {}
        self.found: dict[str, Place] = {}
        self.pieces: dict[str, Piece] = {}
        self.names: dict[tuple[str, str, str], str] = {}  # of terminals that are one literal, by its key
        self.references: dict[str, Expr] = {}
        self.lazy_words: dict[Expr, Expr] = {}
        self.literals: dict[tuple[str, object], Piece] = {}
        for name, definition in document.definitions.items():
            if definition.is_terminal:
                self.evaluate_named(name)
        for name in self.document.imported:
            self.evaluate_named(name)
        for name, piece in self.pieces.items():
            if piece.key is not None:
                self.names[piece.key] = name

    # References

    def named(self, item: Item, rule: str | None) -> Expr:
        """What the name of a terminal that is defined stands for in a rule."""
        name = item.value
        if name in self.document.declared:
            return token(name)
        definition = self.document.definitions.get(name)
        priority = definition.priority if definition else 0
        position = definition.position if definition else item.position
        return self.reference(name, self.pieces[name], priority, position)

    def literal(self, item: Item, rule: str | None) -> Expr:
        """What a literal in a rule stands for."""
        piece = self.piece_of(item, rule)
        assert piece.key
        if piece.key in self.names:
            return self.named(Item("name", self.names[piece.key], item.position), rule)
        written = "..".join(item.value) if isinstance(item.value, tuple) else str(item.value)
        if item.operation == "substrings":
            written = f"%regex {piece.key[1]}" if len(piece.key[1]) < _LONG else f"%regex at {item.position}"
        self.names[piece.key] = written
        self.pieces[written] = piece
        return self.reference(written, piece, 0, item.position)

    def ignored(self, body: Body) -> str:
        """The name of the word that an %ignore is about."""
        item = body[0]
        if len(body) == 1 and item.operation in ("string", "regexp", "range"):
            self.literal(item, None)
            name = self.names[self.piece_of(item, None).key or ("", "", "")]
        elif len(body) == 1 and item.operation == "name" and item.value in self.pieces:
            name = item.value
            self.named(item, None)
        else:
            name = f"%ignore at {self.places.place(item.position).line}"
            self.reference(name, self.evaluate(body, None), 0, item.position)
        if name not in self.lexical:
            raise self.places.error("what is ignored has no text", item.position, None)
        return name

    def lazy(self, definition: Definition) -> Expr:
        """What a rule with the attribute lazy or suffix stands for: a word of its own that ends as soon as it can."""
        name, position = definition.name, definition.position
        piece = self.evaluate(definition.body, name)
        suffix = definition.attributes.get("suffix")
        if suffix is not None:
            last = self.evaluate([suffix], name)
            if ex.is_epsilon(last.expr):
                self.fail("a suffix has a text", suffix, name)
            piece = _joined([piece, last], ex.concat(piece.expr, last.expr), piece.length)
        words = _as_text(piece.expr)
        if matches_empty(words):
            return ex.EPSILON
        # Two that end in the same places are one, so that what follows tells them apart.
        if words not in self.lazy_words:
            self.lazy_words[words] = self.called(f"{name}[lazy]", LexicalRule(words, lazy=True), position)
        return self.lazy_words[words]

    def reference(self, name: str, piece: Piece, priority: int, position: int) -> Expr:
        """A call of a word; makes it a lexical rule of the grammar when it is used first."""
        if name not in self.references:
            words = self.words(name, piece, position)
            if ex.is_epsilon(words):
                self.references[name] = ex.EPSILON
            else:
                order = (priority, int(piece.is_string), max_width(words), piece.length)
                called = self.called(name, LexicalRule(words, order), position)
                self.references[name] = called.optional() if matches_empty(words) else called
        return self.references[name]

    def called(self, name: str, rule: LexicalRule, position: int) -> Expr:
        """A call of a word that becomes a lexical rule of the grammar."""
        self.lexical[name] = rule
        self.found[name] = self.places.place(position)
        return ex.call(name)

    def words(self, name: str, piece: Piece, position: int) -> Expr:
        """The words of a terminal: its expression as a text of its own, and with an end that is certain."""
        expr = _as_text(piece.expr)
        if piece.lazy and not piece.greedy and finds_shortest(piece.expr):
            return shortest(expr)
        if piece.lazy and begins_with_another(expr):
            raise self.places.error(
                f"where a word of {name} ends depends on the order in which its lazy quantifiers are tried: "
                'write what may not be in it, as in /"[^"]*"/',
                position,
                name,
            )
        return expr

    # Evaluation

    def undefined(self, item: Item, rule: str | None) -> GrammarError:
        hint = f": write `%import common.{item.value}`" if item.value in COMMON else ""
        return self.places.error(f"the terminal {item.value} is not defined{hint}", item.position, rule)

    def evaluate_named(self, name: str) -> None:
        """Evaluates a terminal, after those that it mentions."""
        open_names: dict[str, Iterator[Item]] = {name: self.mentioned(name)}
        while open_names:
            current = next(reversed(open_names))
            missing = next((item for item in open_names[current] if item.value not in self.pieces), None)
            if missing is None:
                self.pieces[current] = self.evaluate_definition(current)
                del open_names[current]
                continue
            if missing.value in open_names:
                raise self.places.error(
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
            raise self.places.error(f"a terminal cannot be made of the rule {item.value}", item.position, terminal)
        if item.value in self.document.declared:
            raise self.places.error(_NOT_IN_TERMINALS["token"], item.position, terminal)
        if definition is None and item.value not in self.document.imported:
            raise self.undefined(item, terminal)

    def evaluate_definition(self, name: str) -> Piece:
        definition = self.document.definitions.get(name)
        if definition is None:
            return common_piece(self.document.imported[name])
        if definition.attributes:
            first = next(iter(definition.attributes.values()))
            raise self.places.error("attributes are for rules, not for terminals", first.position, name)
        return self.evaluate(definition.body, name)

    def evaluate(self, body: Body, name: str | None) -> Piece:
        """The piece that a body describes."""
        stack: list[Piece] = []
        for item in body:
            if item.operation in _COMBINERS:
                first = len(stack) - (1 if item.operation in ("not", "repeat") else item.value)
                combined = _COMBINERS[item.operation](stack[first:], item)
                stack[first:] = [combined]
                if _size(combined.expr) > MAX_SIZE:
                    self.fail(f"a terminal has more than {MAX_SIZE:,} parts", item, name)
            elif item.operation == "name":
                if item.value not in self.pieces:
                    self.check_mentioned(item, name)
                stack.append(self.pieces[item.value])
            else:
                stack.append(self.piece_of(item, name))
        return stack[0]

    def piece_of(self, item: Item, name: str | None) -> Piece:
        """The piece that a literal is."""
        if item.operation in _NOT_IN_TERMINALS:
            self.fail(_NOT_IN_TERMINALS[item.operation], item, name)
        if item.operation in ("common", "substrings"):
            return common_piece(item.value) if item.operation == "common" else self.read(item, name)
        known = self.literals.get((item.operation, item.value))
        if known is None:
            known = self.literals[item.operation, item.value] = self.read(item, name)
        return known

    def read(self, item: Item, name: str | None) -> Piece:
        readers: dict[str, Callable[[], Piece]] = {
            "string": lambda: string(item.value),
            "regexp": lambda: regexp(item.value),
            "range": lambda: character_range(*item.value),
            "substrings": lambda: substrings(item.value),
        }
        try:
            return readers[item.operation]()
        except LiteralMistake as mistake:
            raise self.places.error(mistake.reason, item.position + mistake.offset, name) from None

    def fail(self, reason: str, item: Item, name: str | None) -> NoReturn:
        raise self.places.error(reason, item.position, name)


def _as_text(expr: Expr) -> Expr:
    """The same as a text of its own: its assertions see the word and nothing around it."""
    if holds_assertion(expr):
        expr = simplified(expr)
        if holds_assertion(expr):
            return ex.whole(expr)
    return expr


def common_piece(name: str) -> Piece:
    """A terminal of Lark's library."""
    pattern, length = COMMON[name]
    return Piece(Parser(pattern).parse(), length, lazy="*?" in pattern)


# Combining pieces. Assertions see all of a word, but operands of & and ~ are texts of their own.


def _sequence(pieces: list[Piece], item: Item) -> Piece:
    if not pieces:
        return Piece(ex.EPSILON, 0)
    return _joined(pieces, ex.concat(*[piece.expr for piece in pieces]), sum(piece.joined_length for piece in pieces))


def _either(pieces: list[Piece], item: Item) -> Piece:
    length = sum(piece.joined_length for piece in pieces) + len(pieces) - 1 + len("(?:)")
    return _joined(pieces, ex.alternation(*[piece.expr for piece in pieces]), length)


def _both(pieces: list[Piece], item: Item) -> Piece:
    expr = pieces[0].expr
    for piece in pieces[1:]:
        expr = ex.intersection(expr, piece.expr)
    return _joined(pieces, expr, sum(piece.joined_length for piece in pieces))


def _not(pieces: list[Piece], item: Item) -> Piece:
    return _joined(pieces, ex.complement(pieces[0].expr), pieces[0].joined_length)


def _repeat(pieces: list[Piece], item: Item) -> Piece:
    low, high = item.value
    (piece,) = pieces
    bounds = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get(item.value)
    if bounds is None:
        bounds = f"{{{low}}}" if low == high else f"{{{low},{high}}}"
    expr = ex.repeat(piece.expr, low, high)
    joined = _joined(pieces, expr, piece.joined_length + len("(?:)") + len(bounds))
    return joined._replace(num_flags=piece.num_flags, greedy=piece.greedy or low != high)


def _joined(pieces: list[Piece], expr: Expr, length: int) -> Piece:
    lazy, greedy = any(piece.lazy for piece in pieces), any(piece.greedy for piece in pieces)
    return Piece(expr, length, lazy=lazy, greedy=greedy)


_COMBINERS: dict[str, Callable[[list[Piece], Item], Piece]] = {
    "sequence": _sequence,
    "either": _either,
    "both": _both,
    "not": _not,
    "repeat": _repeat,
}


def _size(expr: Expr) -> int:
    """How many parts are copied when the expression becomes part of another one."""
    if isinstance(expr, Literal):
        return len(expr.value)
    return len(expr.parts) if isinstance(expr, Concatenation | Alternation) else 1
