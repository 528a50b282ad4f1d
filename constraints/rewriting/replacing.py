"""Expressions with some of their parts replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from automata.expressions import (
    Alternation,
    Concatenation,
    Difference,
    Expr,
    Intersection,
    Repetition,
    Transduction,
    Weighted,
    alternation,
    concat,
    difference,
    intersection,
    repeat,
    transduction,
    weighted,
)


def replaced(root: Expr, replacement: Callable[[Expr], Expr | None]) -> Expr:
    """Return an expression with each node replaced for which `replacement` returns another one, from the outside in.

    Nodes are replaced within concatenations, alternations, repetitions, intersections, differences, transductions and
    weighted parts.
    """
    done: dict[int, Expr] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        if id(node) in done:
            stack.pop()
            continue
        found = replacement(node)
        missing = [] if found is not None else [part for part in node.operands() if id(part) not in done]
        if missing:
            stack += missing
        else:
            done[id(stack.pop())] = found if found is not None else _rebuilt(node, done)
    return done[id(root)]


def _rebuilt(node: Expr, parts: Mapping[int, Expr]) -> Expr:
    """Return a node with other operands; `parts` maps the `id` of each operand to its replacement."""
    match node:
        case Concatenation():
            return concat(*[parts[id(part)] for part in node.parts])
        case Alternation():
            return alternation(*[parts[id(part)] for part in node.parts])
        case Repetition():
            return repeat(parts[id(node.inner)], node.low, node.high)
        case Difference():
            return difference(parts[id(node.left)], parts[id(node.right)])
        case Intersection():
            return intersection(parts[id(node.left)], parts[id(node.right)])
        case Transduction():
            return transduction(parts[id(node.inner)], node.transducer)
        case Weighted():
            return weighted(parts[id(node.inner)], node.cost, node.semiring)
    return node
