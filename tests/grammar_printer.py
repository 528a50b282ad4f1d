"""A printer of grammars: GBNF or EBNF, in any of the many ways that the same rules can be written."""

from __future__ import annotations

from random import Random

from automata import expressions as ex
from automata.expressions import Expr
from automata.pushdown.grammar import Grammar
from constraints.grammars.dialects import EBNF, BnfDialect


def written(grammar: Grammar, dialect: BnfDialect, random: Random) -> str:
    """A grammar as text; what can be written in several ways is written in one of them."""
    return _Printer(dialect, random).grammar(grammar)


class _Printer:
    def __init__(self, dialect: BnfDialect, random: Random) -> None:
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
        """Whitespace; line ends only where they end no rule."""
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
