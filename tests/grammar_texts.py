"""What the tests of grammars' syntax share: two slow, plain oracles of what plain rules mean, and a printer.

texts       all texts up to a length, by joining sets until nothing new comes
derives     whether a text is one, by trying every split; for rules without left recursion
written     a grammar as text, in any of the ways that it can be written
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from automata import expr as ex
from automata.expr import Expr
from automata.pushdown.grammar import Grammar
from constraints.grammars.dialects import EBNF, Dialect

Texts = frozenset[str]


def texts(grammar: Grammar, alphabet: str, length: int) -> Texts:
    """The texts over some characters, up to a length."""
    known: dict[str, Texts] = dict.fromkeys(grammar.rules, frozenset())
    while True:
        found = {name: _denoted(body, known, alphabet, length) for name, body in grammar.rules.items()}
        if found == known:
            return known[grammar.start]
        known = found


def _denoted(expr: Expr, known: Mapping[str, Texts], alphabet: str, length: int) -> Texts:
    def of(part: Expr) -> Texts:
        return _denoted(part, known, alphabet, length)

    if isinstance(expr, ex.Literal):
        text = expr.value.decode()
        return frozenset([text] if len(text) <= length and set(text) <= set(alphabet) else [])
    if isinstance(expr, ex.CharSet):
        return frozenset(c for c in alphabet if any(low <= ord(c) <= high for low, high in expr.ranges))
    if isinstance(expr, ex.Call):
        return known[expr.name]
    if isinstance(expr, ex.Concatenation):
        result = frozenset([""])
        for part in expr.parts:
            result = _joined(result, of(part), length)
        return result
    if isinstance(expr, ex.Alternation):
        return frozenset().union(*map(of, expr.parts))
    if isinstance(expr, ex.Difference):
        return of(expr.left) - of(expr.right)
    assert isinstance(expr, ex.Repetition)
    inner, power = of(expr.inner), frozenset([""])
    for _ in range(expr.low):
        power = _joined(power, inner, length)
    result = power
    for _ in range(length if expr.high is None else expr.high - expr.low):
        power = _joined(power, inner, length)
        result |= power
    return result


def _joined(left: Texts, right: Texts, length: int) -> Texts:
    return frozenset(a + b for a in left for b in right if len(a + b) <= length)


def derives(grammar: Grammar, text: str) -> bool:
    """Whether a text is one of the grammar's, whose rules are not left-recursive."""
    return len(text) in _Derivation(grammar, text).ends(ex.call(grammar.start), 0)


class _Derivation:
    """Where parts of one text that match an expression can end, each asked once."""

    def __init__(self, grammar: Grammar, text: str) -> None:
        self.rules, self.text = grammar.rules, text
        self.known: dict[tuple[int, int], frozenset[int]] = {}

    def ends(self, expr: Expr, begin: int) -> frozenset[int]:
        key = id(expr), begin
        if key not in self.known:
            self.known[key] = self.found(expr, begin)
        return self.known[key]

    def found(self, expr: Expr, begin: int) -> frozenset[int]:
        if isinstance(expr, ex.Literal):
            text = expr.value.decode()
            return frozenset([begin + len(text)] if self.text.startswith(text, begin) else [])
        if isinstance(expr, ex.CharSet):
            code = ord(self.text[begin]) if begin < len(self.text) else -1
            return frozenset([begin + 1] if any(low <= code <= high for low, high in expr.ranges) else [])
        if isinstance(expr, ex.Call):
            return self.ends(self.rules[expr.name], begin)
        if isinstance(expr, ex.Alternation):
            return frozenset().union(*[self.ends(part, begin) for part in expr.parts])
        places = frozenset([begin])
        if isinstance(expr, ex.Concatenation):
            for part in expr.parts:
                places = self.after(part, places)
            return places
        assert isinstance(expr, ex.Repetition)
        for _ in range(expr.low):
            places = self.after(expr.inner, places)
        result, rounds = places, 0
        while places and (expr.high is None or rounds < expr.high - expr.low):
            places = self.after(expr.inner, places) - (result if expr.high is None else frozenset())
            result, rounds = result | places, rounds + 1
        return result

    def after(self, expr: Expr, places: frozenset[int]) -> frozenset[int]:
        return frozenset().union(*[self.ends(expr, place) for place in places])


def written(grammar: Grammar, dialect: Dialect, random: Random) -> str:
    """A grammar as text; what can be written in several ways is written in one of them."""
    return _Printer(dialect, random).grammar(grammar)


class _Printer:
    def __init__(self, dialect: Dialect, random: Random) -> None:
        self.dialect, self.random = dialect, random
        self.comments = ["# a | (\n", "#\n"] + ["/* x ::= ( */"] * (dialect is EBNF)

    def grammar(self, grammar: Grammar) -> str:
        rules = []
        for number, (name, body) in enumerate(grammar.rules.items()):
            mark = self.random.choice(["", f"[{number}] "]) if self.dialect is EBNF else ""
            start = self.random.choice(["", " ", "\n  ", "# rule\n"])
            rules.append(mark + name + self.random.choice(["", " "]) + "::=" + start + self.choice(body, 0))
        return self.random.choice(["", "\n", "# first\n"]) + self.random.choice(["\n", "\n\n", " # c\r\n"]).join(rules)

    def space(self, depth: int, *, free: bool = False) -> str:
        """White space; line ends only where they end no rule."""
        if not (free or depth or self.dialect is EBNF):
            return " "
        return self.random.choice([" ", " ", "\n ", " ", " " + self.random.choice(self.comments)])

    def choice(self, expr: Expr, depth: int) -> str:
        parts = expr.parts if isinstance(expr, ex.Alternation) else (expr,)
        text = self.sequence(parts[0], depth)
        for part in parts[1:]:
            text += self.space(depth) + "|" + self.space(depth, free=True) + self.sequence(part, depth)
        return text

    def sequence(self, expr: Expr, depth: int) -> str:
        if isinstance(expr, ex.Difference):
            return self.item(expr.left, depth) + " -" + self.space(depth) + self.item(expr.right, depth)
        parts = expr.parts if isinstance(expr, ex.Concatenation) else (expr,)
        text = self.item(parts[0], depth)
        for part in parts[1:]:
            text += self.space(depth) + self.item(part, depth)
        return text

    def item(self, expr: Expr, depth: int) -> str:
        if isinstance(expr, ex.Call):
            return expr.name
        if isinstance(expr, ex.Literal):
            return self.string(expr.value.decode())
        if isinstance(expr, ex.CharSet):
            return self.set(expr)
        if isinstance(expr, ex.Repetition):
            return self.item(expr.inner, depth) + self.space(depth) + self.bounds(expr.low, expr.high)
        return "(" + self.space(depth + 1) + self.choice(expr, depth + 1) + self.space(depth + 1) + ")"

    def bounds(self, low: int, high: int | None) -> str:
        most = "" if high is None else str(high)
        forms = [f"{{{low},{most}}}", f"{{ {low} , {most} }}"]
        forms += [f"{{{low}}}"] * (low == high) + [f"{{,{most}}}"] * (low == 0 and high is not None)
        forms += {(0, None): ["*"] * 3, (1, None): ["+"] * 3, (0, 1): ["?"] * 3}.get((low, high), [])
        return self.random.choice(forms)

    def string(self, value: str) -> str:
        quote = self.random.choice(self.dialect.quotes)
        return quote + "".join(self.character(c, quote + "\\\n\r") for c in value) + quote

    def set(self, expr: ex.CharSet) -> str:
        ranges = list(expr.ranges)
        negated = self.random.random() < 0.3
        if negated:
            kept = ex.difference(ex.ANY_CHAR, expr)
            if isinstance(kept, ex.CharSet):
                ranges = list(kept.ranges)
            elif isinstance(kept, ex.Literal):
                ranges = [(ord(kept.value.decode()),) * 2]
            else:
                return "[^]" if self.dialect is EBNF else "."
        self.random.shuffle(ranges)
        members = []
        for low, high in ranges:
            first, last = (self.character(chr(code), "]\\^-#\n\r") for code in (low, high))
            members.append(first if low == high else f"{first}-{last}")
        return "[" + "^" * negated + "".join(members) + "]"

    def character(self, c: str, special: str) -> str:
        code = ord(c)
        forms = [f"\\u{code:04X}"] * (code < 0x10000) + [f"\\U{code:08x}"]
        forms += [f"\\x{code:02x}"] * (code < 0x100 and self.dialect is not EBNF)
        forms += [f"\\{letter}" for letter, meant in self.dialect.escapes.items() if meant == code]
        if c not in special and not 0xD800 <= code < 0xE000:
            forms += [c] * 4
        return self.random.choice(forms)
