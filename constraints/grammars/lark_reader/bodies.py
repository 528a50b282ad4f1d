"""The body after the colon of a definition: from symbols to a body in postfix order.

    BodyReader    the symbols, the current position, and the stack of open groups

Open groups are in a list instead of recursive calls, so nesting may be arbitrarily deep. From loosest to tightest
binding:

    body        alternative ("|" alternative)*
    alternative sequence ("&" sequence)* ("->" name)?
    sequence    item*
    item        "~"* atom ("?" | "*" | "+" | "~" n | "~" n ".." m | "{" bounds "}")?
    atom        "(" body ")" | "[" body "]" | value
    value       string | string ".." string | regexp | name | name "{" value ("," value)* "}" | token | %json | %regex

`&`, and `~` before an atom, are for terminals only.
"""

from __future__ import annotations

from dataclasses import dataclass

from automata.errors import GrammarError
from constraints.grammars.lark_reader.document import Body, Count, Item, Range
from constraints.grammars.lark_reader.scanner import LarkSymbol
from constraints.grammars.line_index import LineIndex

MAX_COUNT = 1_000_000_000

_COUNTS = {"?": Count(0, 1, "?"), "*": Count(0, None, "*"), "+": Count(1, None, "+")}
_CLOSING = {"(": ")", "[": "]", "": "the end of the line"}
_VALUES = {"string", "regexp", "rule", "terminal", "token", "directive"}


@dataclass(slots=True)
class _Group:
    """An open group, with the numbers of values that it has made so far.

    Attributes:
        bracket: "(" or "[", which opened it; "{" for arguments; or "" for the whole body.
        template: the template whose arguments these are.
        negations: how many `~` stand before the next atom.
    """

    bracket: str
    position: int
    template: str = ""
    alternatives: int = 0
    sequences: int = 0
    items: int = 0
    negations: int = 0


class BodyReader:
    """The symbols of a text, read from the left.

    Attributes:
        rule: the rule or terminal that is being read, for errors.
        is_terminal: whether it is a terminal.
    """

    def __init__(self, symbols: list[LarkSymbol], lines: LineIndex) -> None:
        self.symbols = symbols
        self.lines = lines
        self.index = 0
        self.rule: str | None = None
        self.is_terminal = False
        self.body: Body = []
        self.groups: list[_Group] = []

    # Symbols

    @property
    def kind(self) -> str:
        """The kind of the next symbol."""
        return self.symbols[self.index].kind

    def next(self) -> LarkSymbol:
        self.index += 1
        return self.symbols[self.index - 1]

    def accept(self, kind: str) -> LarkSymbol | None:
        """Return the next symbol if it is of this kind."""
        return self.next() if self.kind == kind else None

    def expect(self, kind: str, expected: str) -> LarkSymbol:
        if self.kind != kind:
            raise self.unexpected(expected)
        return self.next()

    def error(self, reason: str, position: int) -> GrammarError:
        return self.lines.error(reason, position, self.rule)

    def unexpected(self, expected: str) -> GrammarError:
        symbol = self.symbols[self.index]
        found = {"line_end": "the end of the line", "end": "the end of the text"}.get(symbol.kind, symbol.text)
        return self.error(f"expected {expected}, found {found}", symbol.position)

    # Bodies

    def read_body(self) -> Body:
        """Return the body that begins here and ends at the end of its line."""
        self.body = []
        self.groups = [_Group("", self.symbols[self.index].position)]
        while self.groups:
            if self.groups[-1].bracket == "{":
                self.read_argument()
            else:
                self.read_next()
        return self.body

    def emit(self, operation: str, value: object, position: int) -> None:
        self.body.append(Item(operation, value, position))

    def read_next(self) -> None:
        """Read one symbol of a body, or one value."""
        group, kind = self.groups[-1], self.kind
        if kind in _VALUES:
            self.read_value()
        elif kind in ("(", "["):
            self.groups.append(_Group(kind, self.next().position))
        elif kind == "~":
            self.read_negation(group)
        elif group.negations:
            raise self.unexpected("what ~ is before")
        elif kind == "|":
            self.end_alternative(group, self.next().position)
        elif kind == "&":
            self.end_sequence(group, self.read_terminal_mark())
            group.sequences += 1
        elif kind == "->":
            self.read_alias()
        else:
            self.close_group(group)

    def read_terminal_mark(self) -> int:
        """Read & or ~; return its position."""
        mark = self.next()
        if not self.is_terminal:
            raise self.error(f"{mark.text} is for terminals: name them in capitals", mark.position)
        return mark.position

    def read_negation(self, group: _Group) -> None:
        self.read_terminal_mark()
        group.negations += 1

    def read_alias(self) -> None:
        """Read the name of an alternative, which does not change its texts."""
        arrow = self.next()
        if self.is_terminal:
            raise self.error("a terminal's alternatives have no names", arrow.position)
        self.expect("rule", "a name in small letters")
        if self.kind not in ("|", ")", "]", "line_end"):
            raise self.unexpected("| or the end of the alternative")

    def end_sequence(self, group: _Group, position: int) -> None:
        if group.items != 1:
            self.emit("sequence", group.items, position)
        group.items = 0

    def end_alternative(self, group: _Group, position: int) -> None:
        self.end_sequence(group, position)
        if group.sequences:
            self.emit("both", group.sequences + 1, position)
        group.sequences = 0
        group.alternatives += 1

    def close_group(self, group: _Group) -> None:
        """End the innermost group, which the next symbol must close."""
        closing = _CLOSING[group.bracket]
        if self.kind != ("line_end" if not group.bracket else closing):
            if group.bracket and self.kind in ("line_end", "end"):
                raise self.error(
                    f"{group.bracket} is not closed on its line: a rule continues on lines that begin with |",
                    group.position,
                )
            raise self.unexpected(f"a value, | or {closing}")
        position = self.next().position
        self.groups.pop()
        if group.bracket == "(" and not group.alternatives and self.continues(group):
            self.groups[-1].items += group.items
            return
        self.end_alternative(group, position)
        if group.alternatives > 1:
            self.emit("either", group.alternatives, group.position)
        if group.bracket == "[":
            self.emit("repeat", _COUNTS["?"], group.position)
        if self.groups:
            self.end_atom()

    def continues(self, group: _Group) -> bool:
        """Return whether the items of a group in parentheses can join the sequence around it.

        They can if the group is a sequence itself and no operator applies to it as a whole.
        """
        quantified = self.kind in _COUNTS or self.kind in ("~", "{")
        return not (group.sequences or quantified or self.groups[-1].negations)

    def end_atom(self) -> None:
        """End an item: apply the operators before the atom and after it."""
        group = self.groups[-1]
        group.items += 1
        for _ in range(group.negations):
            self.emit("not", None, self.symbols[self.index].position)
        group.negations = 0
        if group.bracket != "{":
            self.read_quantifier()

    # Quantifiers

    def is_at_quantifier(self) -> bool:
        is_count = self.kind == "~" and self.symbols[self.index + 1].kind == "number"
        return is_count or self.kind in _COUNTS or self.kind == "{"

    def read_quantifier(self) -> None:
        if not self.is_at_quantifier():
            return
        symbol = self.symbols[self.index]
        if symbol.kind in _COUNTS:
            self.next()
            self.emit("repeat", _COUNTS[symbol.kind], symbol.position)
        elif symbol.kind == "~":
            self.next()
            low = high = self.read_count()
            if self.accept(".."):
                high = self.read_count()
            self.repeat(low, high, symbol.position)
        else:
            self.read_bounds()
        if self.is_at_quantifier():
            raise self.error(
                "an item has one quantifier: put the item and its first one in parentheses",
                self.symbols[self.index].position,
            )

    def read_bounds(self) -> None:
        """Read {n}, {n,}, {,m} or {n,m}."""
        brace = self.next()
        low = self.read_count() if self.kind == "number" else 0
        high: int | None = low
        if self.accept(","):
            high = self.read_count() if self.kind == "number" else None
        elif self.symbols[self.index - 1] is brace:
            raise self.unexpected("a number or a comma")
        self.expect("}", "}")
        self.repeat(low, high, brace.position)

    def repeat(self, low: int, high: int | None, position: int) -> None:
        if high is not None and high < low:
            raise self.error(f"no number of repetitions lies between {low} and {high}", position)
        self.emit("repeat", Count(low, high), position)

    def read_count(self) -> int:
        number = self.expect("number", "a number")
        if not number.text.isdecimal() or len(number.text) > len(str(MAX_COUNT)) or int(number.text) > MAX_COUNT:
            raise self.error(f"a number of repetitions lies between 0 and {MAX_COUNT:,}", number.position)
        return int(number.text)

    # Values

    def read_value(self) -> None:
        """Read a value, or open the arguments of a template."""
        symbol = self.next()
        if symbol.kind in ("rule", "terminal") and self.opens_arguments():
            if self.is_terminal:
                raise self.error("a terminal cannot use a template", symbol.position)
            self.next()
            self.groups.append(_Group("{", symbol.position, template=symbol.text))
            return
        if symbol.kind == "string" and self.accept(".."):
            last = self.expect("string", "the string of one character that ends the range")
            self.emit("range", Range(symbol.text, last.text, last.position - symbol.position), symbol.position)
        elif symbol.kind == "directive":
            self.read_directive(symbol)
        else:
            operation = "argument" if self.groups[-1].bracket == "{" else "name"
            self.emit(operation if symbol.kind in ("rule", "terminal") else symbol.kind, symbol.text, symbol.position)
        self.end_atom()

    def opens_arguments(self) -> bool:
        """Return whether the next { opens arguments rather than bounds."""
        return self.kind == "{" and self.symbols[self.index + 1].kind not in ("number", ",", "}")

    def read_directive(self, symbol: LarkSymbol) -> None:
        if symbol.text not in ("%json", "%regex"):
            raise self.error(f"{symbol.text} cannot stand in a rule", symbol.position)
        self.emit("json" if symbol.text == "%json" else "substrings", symbol.value, symbol.position)

    def read_argument(self) -> None:
        """Read an argument of a template and the comma after it, or the end of the arguments."""
        group = self.groups[-1]
        if group.items and self.accept("}"):
            self.groups.pop()
            self.emit("template", (group.template, group.items), group.position)
            self.end_atom()
            return
        if group.items and not self.accept(","):
            raise self.unexpected(", or }")
        if self.kind not in _VALUES:
            raise self.unexpected("an argument: a name, a string, a regular expression or a template")
        self.read_value()
