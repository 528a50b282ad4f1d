"""in_notation: formulas in the notation of pictures, such as `all items (integer ∧ ≥ 0)`."""

from __future__ import annotations

import json
from fractions import Fraction

from constraints.json_schema.formulas import connectives, statements
from constraints.json_schema.formulas.connectives import Formula


def in_notation(formula: Formula) -> str:
    """Return a formula in this notation; parts of a conjunction that follow from others are left out."""
    match formula:
        case connectives.Always():
            return "any"
        case connectives.Never():
            return "none"
        case connectives.Not(part=part):
            return f"¬({in_notation(part)})"
        case connectives.And(parts=parts):
            integer = any(isinstance(part, statements.IsInteger) for part in parts)
            number = statements.OfKind(statements.Kind.NUMBER)
            return " ∧ ".join(in_notation(part) for part in parts if not (integer and part == number))
        case connectives.Or(parts=parts):
            return " ∨ ".join(f"({in_notation(part)})" for part in parts)
    return _statement(formula)


def _statement(formula: Formula) -> str:
    """Return a statement about numbers, strings or values of any kind."""
    match formula:
        case statements.OfKind(kind=kind):
            return kind.value
        case statements.BooleanIs(value=value):
            return "true" if value else "false"
        case statements.NumberIn(values=values):
            return " or ".join(map(_number, sorted(values)))
        case statements.StringIn(texts=texts):
            return " or ".join(json.dumps(text, ensure_ascii=False) for text in sorted(texts))
        case statements.Maximum(bound=bound, exclusive=exclusive):
            return f"{'<' if exclusive else '≤'} {_number(bound)}"
        case statements.Minimum(bound=bound, exclusive=exclusive):
            return f"{'>' if exclusive else '≥'} {_number(bound)}"
        case statements.MultipleOf(step=step):
            return f"a multiple of {_number(step)}"
        case statements.IsInteger():
            return "integer"
        case statements.Pattern(source=source):
            return f"/{source}/"
        case statements.Format(name=name):
            return name
        case statements.TextLength(low=low, high=high):
            return f"{_bounds(low, high)} characters"
    return _container(formula)


def _container(formula: Formula) -> str:
    """Return a statement about arrays or objects."""
    match formula:
        case statements.ItemsFrom(index=index, item=item):
            return f"all items{f' from {index} on' if index else ''} ({in_notation(item)})"
        case statements.ItemAt(index=index, item=item):
            return f"item {index} ({in_notation(item)})"
        case statements.Contains(item=item, low=low, high=high):
            return f"{_bounds(low, high)} items ({in_notation(item)})"
        case statements.ItemCount(low=low, high=high):
            return f"{_bounds(low, high)} items"
        case statements.UniqueItems():
            return "all items differ"
        case statements.Members(names=names, value=value):
            return f"members named {in_notation(names)} ({in_notation(value)})"
        case statements.MemberCount(low=low, high=high):
            return f"{_bounds(low, high)} members"
    return repr(formula)


def _number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):g}"


def _bounds(low: int, high: int | None) -> str:
    return f"at least {low}" if high is None else f"{low} to {high}"
