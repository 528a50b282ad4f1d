"""Random texts from grammars, and random changes to texts, for oracles to judge.

A sample follows the rules. Up to some depth and length all alternatives are equally likely; beyond, alternatives that
need the fewest further calls are taken and nothing is repeated, so that every sample ends. Between words stands an
ignored word or, at times, nothing, which may glue words together: samples of grammars with words need a judge too.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from candidates import Walks

from automata import compile_expr
from automata.expressions import Alternation, ByteSet, Call, CharSet, Concatenation, Expr, Literal, Repetition
from automata.pushdown.grammar import Grammar

DEPTH, LENGTH, REPEATS = 14, 60, 3
_NEVER = 10**9
_FAVOURITES = [(0x61, 0x7A), (0x20, 0x7E)]


class Sampler:
    """Samples of one grammar."""

    def __init__(self, grammar: Grammar, *, depth: int = DEPTH, length: int = LENGTH) -> None:
        self.grammar, self.depth, self.length = grammar, depth, length
        self.height = dict.fromkeys(grammar.rules, _NEVER)
        self.heights: dict[Expr, int] = {}
        for _ in grammar.rules:
            self.heights.clear()
            new = {name: min(1 + self._height(expr), _NEVER) for name, expr in grammar.rules.items()}
            if new == self.height:
                break
            self.height = new
        self.walks: dict[Expr, Walks] = {}

    def sample(self, random: Random) -> bytes:
        """A random text."""
        pieces: list[bytes] = []
        self._rule(self.grammar.start, self.depth, pieces, random)
        return b"".join(pieces)

    def _rule(self, name: str, depth: int, out: list[bytes], random: Random) -> None:
        self._expr(self.grammar.rules[name], depth - 1, out, random)

    def _expr(self, expr: Expr, depth: int, out: list[bytes], random: Random) -> None:
        short = depth <= 0 or sum(map(len, out)) > self.length
        match expr:
            case Literal(value):
                out.append(value)
            case CharSet(ranges):
                out.append(chr(_member(ranges, random)).encode())
            case ByteSet(ranges):
                out.append(bytes([_member(ranges, random)]))
            case Call(name) if name in self.grammar.lexical:
                self._word(name, out, random)
            case Call(name):
                self._rule(name, depth, out, random)
            case Concatenation(parts):
                for part in parts:
                    self._expr(part, depth, out, random)
            case Alternation(parts):
                self._expr(random.choice(self._lowest(parts) if short else parts), depth, out, random)
            case Repetition(inner, low, high):
                most = low if short else low + REPEATS
                most = most if high is None else min(most, high)
                for _ in range(random.randint(low, most)):
                    self._expr(inner, depth, out, random)
            case _:
                if expr not in self.walks:
                    self.walks[expr] = Walks(compile_expr(expr))
                out.append(self.walks[expr].random(random, 8))

    def _word(self, name: str, out: list[bytes], random: Random) -> None:
        word: list[bytes] = []
        while not any(word):
            word.clear()
            self._expr(self.grammar.lexical[name].expr, 4, word, random)
        out.append(b"".join(word))
        if self.grammar.ignored and random.random() < 0.8:
            # The first is mere space; others, comments as a rule, often hide what follows.
            name = self.grammar.ignored[0] if random.random() < 0.95 else random.choice(self.grammar.ignored)
            gap: list[bytes] = []
            self._expr(self.grammar.lexical[name].expr, 0, gap, random)
            out.append(b"".join(gap))

    def _lowest(self, parts: tuple[Expr, ...]) -> list[Expr]:
        least = min(map(self._height, parts))
        return [part for part in parts if self._height(part) == least]

    def _height(self, expr: Expr) -> int:
        """How many calls deep the shallowest text is."""
        if expr in self.heights:
            return self.heights[expr]
        match expr:
            case Call(name):
                height = self.height.get(name, 0)
            case Concatenation(parts):
                height = max(map(self._height, parts))
            case Alternation(parts):
                height = min(map(self._height, parts), default=_NEVER)
            case Repetition(inner, low, _):
                height = self._height(inner) if low else 0
            case _:
                height = 0
        self.heights[expr] = height
        return height


def _member(ranges: tuple[tuple[int, int], ...], random: Random) -> int:
    """A member of a set; mostly a letter or another common character, if there is one."""
    for low, high in _FAVOURITES:
        common = [(max(a, low), min(b, high)) for a, b in ranges if a <= high and b >= low]
        if common and random.random() < 0.7:
            return random.randint(*random.choice(common))
    return random.randint(*random.choice(ranges))


def changed(text: bytes, pool: list[bytes], random: Random) -> bytes:
    """A text with one to three random changes: something is left out, doubled, moved, or put in from the pool."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        start = random.randint(0, len(text))
        end = min(start + random.choice((0, 1, 1, 1, 2, 5)), len(text))
        match random.randrange(5):
            case 0:
                text = text[:start] + text[end:]
            case 1:
                text = text[:end] + text[start:]
            case 2:
                text = text[:start] + text[end : end + 2] + text[start:end] + text[end + 2 :]
            case _:
                text = text[:start] + random.choice(pool) + text[end if random.random() < 0.5 else start :]
    return text


def changes(texts: list[bytes], random: Random) -> Iterator[bytes]:
    """Changed texts, without end; what is put in comes from the texts themselves, or is a character that often
    fails."""
    pool = [bytes([byte]) for byte in b"()[]{}<>\"'\\,;:.+-*/=_ \n\taZ01\x00\x7f"] + [b"\xc3\xa9", b"\xff", b"\xe2\x82"]
    pool += [text[i : i + size] for text in texts for size in (1, 2, 4, 7) for i in range(0, len(text), 5)]
    while True:
        yield changed(random.choice(texts), pool, random)
