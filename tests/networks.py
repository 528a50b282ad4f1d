"""Networks by hand: each rule compiled by itself, calls and ends of words as labels; and the plainest recognizer."""

from __future__ import annotations

import numpy as np

from automata import Expr, alternation, compile_expr, concat, repeat
from automata import expressions as ex
from automata.pushdown.grammar import Grammar
from automata.pushdown.network import Network

# A stack from the bottom up, and a state.
Place = tuple[tuple[int, ...], int]
Places = frozenset[Place]

_CALL, _WORD = "\0call ", "\0word "


def laid(expr: Expr, grammar: Grammar) -> Expr:
    """A rule with labels in place of its calls and of the ends of its words."""
    if isinstance(expr, ex.Call):
        return word(expr.name, grammar) if expr.name in grammar.lexical else ex.Label(_CALL + expr.name)
    if isinstance(expr, ex.Concatenation):
        return concat(*[laid(part, grammar) for part in expr.parts])
    if isinstance(expr, ex.Alternation):
        return alternation(*[laid(part, grammar) for part in expr.parts])
    if isinstance(expr, ex.Repetition):
        return repeat(laid(expr.inner, grammar), expr.low, expr.high)
    return expr


def word(name: str, grammar: Grammar) -> Expr:
    return concat(grammar.lexical[name].expr, ex.Label(_WORD + name), repeat(ignored(grammar), 0))


def ignored(grammar: Grammar) -> Expr:
    return alternation(*[concat(grammar.lexical[name].expr, ex.Label(_WORD + name)) for name in grammar.ignored])


def network(grammar: Grammar) -> Network:
    """The network of a grammar as it stands: nothing is inlined, and nothing rewritten."""
    names = tuple(grammar.rules)
    words = tuple(sorted(grammar.lexical, key=lambda name: grammar.lexical[name].priority, reverse=True))
    exprs = {name: laid(expr, grammar) for name, expr in grammar.rules.items()}
    if grammar.ignored:
        exprs[grammar.start] = concat(repeat(ignored(grammar), 0), exprs[grammar.start])
    automata = [compile_expr(exprs[name]) for name in names]
    base = np.cumsum([0] + [a.num_states for a in automata])
    by_byte = np.concatenate(
        [np.where(a.by_byte() >= 0, a.by_byte() + b, -1) for a, b in zip(automata, base, strict=False)]
    )
    columns, byte_class = np.unique(by_byte, axis=1, return_inverse=True)
    labels = tuple(sorted({x for a in automata for x in a.labels if not x.startswith((_CALL, _WORD))}))
    by_label = np.full((base[-1], len(labels)), -1, np.int32)
    calls: list[list[tuple[int, int]]] = [[] for _ in range(base[-1])]
    ends: list[list[tuple[int, int]]] = [[] for _ in range(base[-1])]
    for a, b in zip(automata, base, strict=False):
        for state, number in zip(*np.nonzero(a.by_label >= 0), strict=True):
            label, target = a.labels[number], int(a.by_label[state, number] + b)
            if label.startswith(_CALL):
                calls[state + b].append((names.index(label[len(_CALL) :]), target))
            elif label.startswith(_WORD):
                ends[state + b].append((words.index(label[len(_WORD) :]), target))
            else:
                by_label[state + b, labels.index(label)] = target
    call_offsets, word_offsets = (np.cumsum([0, *map(len, each)]).astype(np.int32) for each in (calls, ends))
    called, ended = (np.array([x for pairs in each for x in pairs], np.int32).reshape(-1, 2) for each in (calls, ends))
    return Network(
        byte_class.reshape(-1).astype(np.uint8),
        np.ascontiguousarray(columns).astype(np.int32),
        np.concatenate([a.final for a in automata]),
        np.repeat(np.arange(len(names), dtype=np.int32), np.diff(base)),
        names,
        np.array([a.start + b for a, b in zip(automata, base, strict=False)], np.int32),
        names.index(grammar.start),
        call_offsets,
        called[:, 0],
        called[:, 1],
        word_offsets,
        ended[:, 0],
        ended[:, 1],
        words,
        by_label,
        labels,
        np.ones(len(names), np.bool_),
        np.zeros(len(names), np.int32),
    )


def language(grammar: Grammar, length: int) -> set[bytes]:
    """The texts of a grammar without words up to a length, from its rules alone: the least fixpoint."""
    found: dict[str, set[bytes]] = {name: set() for name in grammar.rules}
    while True:
        grown = {name: texts(expr, found, length) for name, expr in grammar.rules.items()}
        if grown == found:
            return found[grammar.start]
        found = grown


def texts(expr: Expr, rules: dict[str, set[bytes]], length: int) -> set[bytes]:
    """The texts of an expression up to a length, given some texts of the rules."""
    if isinstance(expr, ex.Literal):
        return {expr.value} if len(expr.value) <= length else set()
    if isinstance(expr, ex.CharSet):
        return {chr(code).encode() for low, high in expr.ranges for code in range(low, high + 1)}
    if isinstance(expr, ex.Call):
        return rules[expr.name]
    if isinstance(expr, ex.Alternation):
        return {text for part in expr.parts for text in texts(part, rules, length)}
    if isinstance(expr, ex.Concatenation):
        found = {b""}
        for part in expr.parts:
            found = joined(found, texts(part, rules, length), length)
        return found
    assert isinstance(expr, ex.Repetition)
    once, found, level = texts(expr.inner, rules, length), set[bytes](), {b""}
    for count in range(length + 1 if expr.high is None else expr.high + 1):
        if count >= expr.low or b"" in once:
            found |= level
        level = joined(level, once, length)
    return found


def joined(left: set[bytes], right: set[bytes], length: int) -> set[bytes]:
    return {a + b for a in left for b in right if len(a) + len(b) <= length}


class Plain:
    """All configurations of a network at once, each with its whole stack: the definition, and nothing shared.

    What can be read comes first; only where no character can, words end, of those that can end the first one.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        start = int(network.rule_start[network.start_rule])
        self.start: Places = frozenset({((), start)})

    def closure(self, places: Places) -> Places:
        n, todo, seen = self.network, list(places), set[Place]()
        while todo:
            place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            stack, at = place
            calls = range(n.call_offsets[at], n.call_offsets[at + 1])
            todo += [((*stack, int(n.call_return[c])), int(n.rule_start[n.call_rule[c]])) for c in calls]
            if n.final[at] and stack:
                todo.append((stack[:-1], stack[-1]))
        return frozenset(seen)

    def ended(self, places: Places) -> Places:
        return self.closure(self.ended_in(places))

    def ended_in(self, places: Places) -> Places:
        n = self.network
        words = [
            (int(n.word[i]), stack, int(n.word_target[i]))
            for stack, at in places
            for i in range(n.word_offsets[at], n.word_offsets[at + 1])
        ]
        best = min((word for word, _, _ in words), default=None)
        return frozenset((stack, target) for word, stack, target in words if word == best)

    def read(self, places: Places, character: bytes) -> Places:
        """Read a character of which no word and no rule has only a part."""
        n = self.network
        for byte in character:
            column = int(n.byte_class[byte])
            places = frozenset((stack, int(n.next[q, column])) for stack, q in places if n.next[q, column] >= 0)
        return places

    def step(self, places: Places, character: bytes) -> Places:
        closed = self.closure(places)
        return self.read(closed, character) or self.read(self.ended(closed), character)

    def ends(self, places: Places) -> bool:
        closed = self.closure(places)
        return any(not stack and self.network.final[q] for at in (closed, self.ended(closed)) for stack, q in at)

    def run(self, text: bytes) -> Places:
        places: Places = self.start
        for character in text.decode():
            places = self.step(places, character.encode())
        return places

    def accepts(self, text: bytes) -> bool:
        return self.ends(self.run(text))


class SideBySide(Plain):
    """The same for configurations each of which is resolved by itself, and again after each return."""

    def step(self, places: Places, character: bytes) -> Places:
        return frozenset(each for stack, at in places for each in self.alone(stack, ((), at), character))

    def ends(self, places: Places) -> bool:
        return any(self.ends_alone(stack, ((), at)) for stack, at in places)

    def alone(self, below: tuple[int, ...], place: Place, character: bytes) -> Places:
        """Read a character at a place whose own stack lies on another one."""
        closed = self.closure(frozenset({place}))
        found = frozenset((below + stack, at) for stack, at in self.read(closed, character))
        further = [self.alone(*returned, character) for returned in self.returned(below, closed)]
        if not found:
            further += [self.alone(below, each, character) for each in self.ended_in(closed)]
        return found.union(*further)

    def ends_alone(self, below: tuple[int, ...], place: Place) -> bool:
        closed = self.closure(frozenset({place}))
        if not below and any(not stack and self.network.final[at] for stack, at in closed):
            return True
        further = [*self.returned(below, closed), *((below, each) for each in self.ended_in(closed))]
        return any(self.ends_alone(*each) for each in further)

    def returned(self, below: tuple[int, ...], closed: Places) -> list[tuple[tuple[int, ...], Place]]:
        may_end = bool(below) and any(not stack and self.network.final[at] for stack, at in closed)
        return [(below[:-1], ((), below[-1]))] if may_end else []
