"""Networks by hand: each rule compiled by itself, calls and ends of words as labels; and the plainest recognizer."""

from __future__ import annotations

import numpy as np

from automata import Expr, alternation, compile_expr, concat, repeat
from automata import expressions as ex
from automata.pushdown.grammar import Grammar
from automata.pushdown.network import Network

Places = frozenset[tuple[tuple[int, ...], int]]

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

    What can be read comes first; only where nothing can, words end, of those that can end the first one.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        start = int(network.rule_start[network.start_rule])
        self.start = frozenset({((), start)})

    def closure(self, places: Places) -> Places:
        n, todo, seen = self.network, list(places), set[tuple[tuple[int, ...], int]]()
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
        n = self.network
        words = [
            (int(n.word[i]), stack, int(n.word_target[i]))
            for stack, at in places
            for i in range(n.word_offsets[at], n.word_offsets[at + 1])
        ]
        best = min((word for word, _, _ in words), default=None)
        return self.closure(frozenset((stack, target) for word, stack, target in words if word == best))

    def step(self, places: Places, byte: int) -> Places:
        n, column = self.network, int(self.network.byte_class[byte])
        for at in (self.closure(places), self.ended(self.closure(places))):
            reached = frozenset((stack, int(n.next[q, column])) for stack, q in at if n.next[q, column] >= 0)
            if reached:
                return reached
        return frozenset()

    def ends(self, places: Places) -> bool:
        closed = self.closure(places)
        return any(not stack and self.network.final[q] for at in (closed, self.ended(closed)) for stack, q in at)

    def run(self, text: bytes) -> Places:
        places: Places = self.start
        for byte in text:
            places = self.step(places, byte)
        return places

    def accepts(self, text: bytes) -> bool:
        return self.ends(self.run(text))
