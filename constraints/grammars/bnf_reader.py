"""Read the text of a grammar with rules `name ::= ...` into a Grammar.

    read_bnf    text and dialect -> Grammar

The symbols (`scanner`) are read once, from left to right, with a stack of open groups: an alternative is a list of
items, a group is a list of alternatives, and a quantifier applies to the last item. So nesting needs no recursion, and
time is linear in the length of the text. Groups may be nested up to MAX_DEPTH deep, because flattening a sequence
within a sequence copies its items once for each level.

Calls are checked at the end, because a rule may be called before it is defined.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from automata.errors import GrammarError
from automata.expressions import ANY_CHAR, Expr, alternation, call, concat, difference, repeat
from automata.expressions.extensions import token
from automata.pushdown.grammar import Grammar, Place
from constraints.grammars.characters import CharacterMistake, CharacterReader
from constraints.grammars.dialects import BnfDialect
from constraints.grammars.exclusion import RecursiveExclusion, without_calls_in_exclusions
from constraints.grammars.line_index import LineIndex
from constraints.grammars.scanner import MISTAKES, NOT_SUPPORTED, BnfSymbol, scan_bnf

MAX_DEPTH = 1_000
MAX_COUNT = 1_000_000_000

_COUNTS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_LINE_ENDS = "a rule continues on the next line only after ::=, after |, or within parentheses"
_ALONE = "A - B stands alone in its alternative: put parentheses around it, or around its parts"


READING, READ, UNSUPPORTED = range(3)


def read_bnf(text: str, dialect: BnfDialect, start: str = "root") -> Grammar:
    """Return the grammar that a text in a dialect defines.

    Args:
        text: the rules.
        dialect: `GBNF` or `EBNF`.
        start: the rule that whole texts match.

    Raises:
        GrammarError: the text is not a grammar of this dialect, or has a feature that cannot be honoured.
    """
    return RuleReader(text, dialect).read().grammar(start)


@dataclass(slots=True)
class _Group:
    """An open group or rule, as far as it has been read.

    Attributes:
        position: where it begins.
        alternatives: the complete alternatives.
        items: the items of the alternative being read.
        minus: where the minus of `A - B` stands, if there is one in this alternative.
    """

    position: int
    alternatives: list[Expr] = field(default_factory=list)
    items: list[Expr] = field(default_factory=list)
    minus: int | None = None


class RuleReader:
    """One text being read: `read`, then `grammar`.

    Attributes:
        progress: READING until the whole text has been read, then READ; UNSUPPORTED if the text uses a feature of this
            dialect that cannot be honoured.
    """

    def __init__(self, text: str, dialect: BnfDialect) -> None:
        self.text = text
        self.dialect = dialect
        self.lines = LineIndex(text)
        self.characters = CharacterReader(dialect)
        self.name = re.compile(dialect.name)
        self.space = re.compile(rf"[ \t\r\n]|{dialect.comment}")
        self.rules: dict[str, Expr] = {}
        self.defined: dict[str, Place] = {}
        self.called: dict[str, tuple[int, str]] = {}  # by name: the place of the first call, and its rule
        self.exclusions: dict[str, int] = {}  # by rule with an exclusion: the place of its first minus
        self.rule: str | None = None
        self.groups: list[_Group] = []
        self.previous = ""  # the kind of the previous symbol other than a line end
        self.is_line_start = True  # nothing has been read on this line, except the number of a production
        self.ended = False  # whether a line end has ended the rule
        self.progress = READING

    def read(self) -> RuleReader:
        """Read the rules; return the reader itself.

        Raises:
            GrammarError: the text has a mistake.
        """
        readers: dict[str, Callable[[BnfSymbol], None]] = {
            "head": self.read_head,
            "name": self.read_name,
            "string": self.read_characters,
            "set": self.read_characters,
            "character": self.read_characters,
            "any": self.read_any,
            "token": self.read_token,
            "bar": self.read_bar,
            "minus": self.read_minus,
            "open": self.read_open,
            "close": self.read_close,
            "quantifier": self.read_quantifier,
            "bounds": self.read_bounds,
        }
        for symbol in scan_bnf(self.text, self.dialect):
            kind = symbol.kind
            if kind == "production_number":
                continue
            if kind == "line_end":
                self.read_line_end()
                continue
            if kind in readers:
                if kind != "head" and (self.ended or not self.groups):
                    raise self.stray(symbol)
                readers[kind](symbol)
            elif kind == "end":
                self.end_rule(symbol)
            else:
                self.progress = UNSUPPORTED if kind in NOT_SUPPORTED else READING
                raise self.error((NOT_SUPPORTED | MISTAKES)[kind], symbol.position)
            self.previous, self.is_line_start = kind, False
        self.progress = READ
        return self

    def grammar(self, start: str) -> Grammar:
        """Return the grammar of the rules that were read.

        Raises:
            GrammarError: a rule is missing, or an exclusion is not regular.
        """
        for name, (position, rule) in self.called.items():
            if name not in self.rules:
                raise self.lines.error(f"no rule is named {name!r}", position, rule)
        if start not in self.rules:
            names = ", ".join(map(repr, list(self.rules)[:10])) + (", ..." if len(self.rules) > 10 else "")
            raise GrammarError(f"no rule is named {start!r}, where texts would begin; rules are {names or 'missing'}")
        rules = self.rules
        if self.exclusions:
            try:
                rules = without_calls_in_exclusions(rules, self.exclusions)
            except RecursiveExclusion as error:
                raise self.lines.error(str(error), self.exclusions[error.rule], error.rule) from None
        return Grammar(rules, start, places=self.defined)

    def error(self, reason: str, position: int) -> GrammarError:
        """Return the error for a position in the current rule."""
        return self.lines.error(reason, position, self.rule)

    # Rules

    def read_line_end(self) -> None:
        self.is_line_start = True
        if self.dialect.line_ends_rule and len(self.groups) == 1 and self.previous not in ("head", "bar"):
            self.ended = True

    def read_head(self, symbol: BnfSymbol) -> None:
        """End the previous rule, and begin one."""
        if not self.is_line_start:
            raise self.error("a rule begins on a line of its own", symbol.position)
        self.end_rule(symbol)
        found = self.name.match(symbol.text)
        assert found is not None
        name = found.group()
        self.rule = name
        if name in self.defined:
            line = self.defined[name].line
            raise self.error(f"the rule {name!r} was defined before, on line {line}", symbol.position)
        self.defined[name] = self.lines.place(symbol.position)
        self.groups = [_Group(symbol.position)]
        self.ended = False

    def end_rule(self, symbol: BnfSymbol) -> None:
        """End the current rule, if there is one, where another begins or the text ends."""
        if not self.groups or self.rule is None:
            return
        group = self.groups.pop()
        if self.groups:
            raise self.error("a parenthesis is opened and never closed", group.position)
        if self.previous == "head":
            raise self.error('the rule is empty; the empty text is written ""', group.position)
        if self.previous == "bar" and symbol.kind == "head":
            raise self.error('nothing stands after the last |; the empty text is written ""', symbol.position)
        self.rules[self.rule] = self.close_group(group)

    def stray(self, symbol: BnfSymbol) -> GrammarError:
        """Return the error for a symbol that stands in no rule."""
        return self.error(_LINE_ENDS if self.ended else "a grammar begins with a rule: name ::= ...", symbol.position)

    # Items

    def add(self, expr: Expr) -> None:
        self.groups[-1].items.append(expr)

    def read_name(self, symbol: BnfSymbol) -> None:
        assert self.rule is not None
        self.called.setdefault(symbol.text, (symbol.position, self.rule))
        self.add(call(symbol.text))

    def read_characters(self, symbol: BnfSymbol) -> None:
        """Add a string, a set or a character given by its number."""
        try:
            self.add(self.characters.read(symbol.kind, symbol.text))
        except CharacterMistake as mistake:
            raise self.error(mistake.reason, symbol.position + mistake.offset) from None

    def read_any(self, symbol: BnfSymbol) -> None:
        self.add(ANY_CHAR)

    def read_token(self, symbol: BnfSymbol) -> None:
        self.add(token(symbol.text))

    def read_quantifier(self, symbol: BnfSymbol) -> None:
        self.repeat(*_COUNTS[symbol.text], symbol.position)

    def read_bounds(self, symbol: BnfSymbol) -> None:
        before, comma, after = self.space.sub("", symbol.text)[1:-1].partition(",")
        low, high = self.count(before, symbol) or 0, self.count(after, symbol)
        if not comma:
            high = low
        if high is not None and high < low:
            raise self.error(f"the upper bound of {symbol.text} lies below the lower one", symbol.position)
        self.repeat(low, high, symbol.position)

    def count(self, digits: str, symbol: BnfSymbol) -> int | None:
        """Return a bound, or None if there is none; XGrammar writes -1 for that."""
        digits = digits.removeprefix("-1")
        if len(digits) > 12 or (digits and int(digits) > MAX_COUNT):
            raise self.error(f"no item can be repeated more than {MAX_COUNT:,} times", symbol.position)
        return int(digits) if digits else None

    def repeat(self, low: int, high: int | None, position: int) -> None:
        """Repeat the last item."""
        items = self.groups[-1].items
        if not items or self.previous == "minus":
            raise self.error("there is nothing before this that could be repeated", position)
        items[-1] = repeat(items[-1], low, high)

    # Groups

    def read_open(self, symbol: BnfSymbol) -> None:
        if len(self.groups) > MAX_DEPTH:
            raise self.error(f"parentheses are nested more than {MAX_DEPTH:,} deep", symbol.position)
        self.groups.append(_Group(symbol.position))

    def read_close(self, symbol: BnfSymbol) -> None:
        if len(self.groups) == 1:
            raise self.error("a parenthesis is closed that was never opened", symbol.position)
        self.add(self.close_group(self.groups.pop()))

    def read_bar(self, symbol: BnfSymbol) -> None:
        self.close_alternative(self.groups[-1])

    def read_minus(self, symbol: BnfSymbol) -> None:
        group = self.groups[-1]
        if len(group.items) != 1 or group.minus is not None:
            raise self.error(_ALONE, symbol.position)
        group.minus = symbol.position

    def close_alternative(self, group: _Group) -> None:
        expr = concat(*group.items)
        if group.minus is not None:
            if len(group.items) != 2:
                raise self.error(_ALONE, group.minus)
            assert self.rule is not None
            self.exclusions.setdefault(self.rule, group.minus)
            expr = difference(*group.items)
        group.alternatives.append(expr)
        group.items, group.minus = [], None

    def close_group(self, group: _Group) -> Expr:
        """Return the expression of a group that is complete."""
        self.close_alternative(group)
        return alternation(*group.alternatives)
