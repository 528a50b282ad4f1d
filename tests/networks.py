"""Networks by hand: each rule compiled by itself, calls and ends of words as labels; and the plainest recognizer."""

from __future__ import annotations

from automata import Expr, alternation, char_set, compile_expr, concat, literal, parse, repeat
from automata import expr as ex
from automata.limits import Work
from automata.pushdown.grammar import Grammar
from automata.pushdown.network import Network
import numpy as np

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
    by_byte = np.concatenate([np.where(a.by_byte() >= 0, a.by_byte() + b, -1) for a, b in zip(automata, base)])
    columns, byte_class = np.unique(by_byte, axis=1, return_inverse=True)
    labels = tuple(sorted({x for a in automata for x in a.labels if not x.startswith((_CALL, _WORD))}))
    by_label = np.full((base[-1], len(labels)), -1, np.int32)
    calls: list[list[tuple[int, int]]] = [[] for _ in range(base[-1])]
    ends: list[list[tuple[int, int]]] = [[] for _ in range(base[-1])]
    for a, b in zip(automata, base):
        for state, number in zip(*np.nonzero(a.by_label >= 0)):
            label, target = a.labels[number], int(a.by_label[state, number] + b)
            if label.startswith(_CALL):
                calls[state + b].append((names.index(label[len(_CALL) :]), target))
            elif label.startswith(_WORD):
                ends[state + b].append((words.index(label[len(_WORD) :]), target))
            else:
                by_label[state + b, labels.index(label)] = target
    flat = [
        (
            np.cumsum([0] + [len(p) for p in pairs]).astype(np.int32),
            *np.array([x for p in pairs for x in p], np.int32).reshape(-1, 2).T,
        )
        for pairs in (calls, ends)
    ]
    return Network(
        byte_class.reshape(-1).astype(np.uint8),
        np.ascontiguousarray(columns).astype(np.int32),
        np.concatenate([a.final for a in automata]),
        np.repeat(np.arange(len(names), dtype=np.int32), np.diff(base)),
        names,
        np.array([a.start + b for a, b in zip(automata, base)], np.int32),
        names.index(grammar.start),
        *flat[0],
        *flat[1],
        words,
        by_label,
        labels,
    )
