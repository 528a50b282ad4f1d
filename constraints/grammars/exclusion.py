"""Exclusion, W3C's `A - B`: the calls in both are replaced by the expressions of the called rules.

The difference of A and B is supported for regular languages only. Without recursion, a rule is regular and can be
replaced by its expression; so each exclusion becomes one expression without calls. A call of a recursive rule is an
error, and so is an expression that becomes too large: if each rule calls the next one twice, the size doubles at each
level.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from automata.errors import LimitExceeded, TokenfstError
from automata.expressions import Call, Difference, Expr
from automata.limits import DEFAULT_LIMITS
from constraints.rewriting.replacing import replaced


class RecursiveExclusion(TokenfstError):
    """An exclusion in a rule calls a rule that calls itself."""

    def __init__(self, rule: str, recursive: str) -> None:
        super().__init__(
            f"A - B needs A and B without recursion, and {recursive!r} calls itself, directly or through other rules"
        )
        self.rule = rule


def without_calls_in_exclusions(rules: Mapping[str, Expr], having: Iterable[str]) -> dict[str, Expr]:
    """Return the rules with the calls in their exclusions replaced by the expressions of the called rules.

    Args:
        rules: the rules, including all that they call.
        having: the names of the rules that have exclusions.

    Raises:
        RecursiveExclusion: an exclusion calls a recursive rule.
        LimitExceeded: the rules that exclusions call are too large once their own calls are replaced.
    """
    closed: dict[str, Expr] = {}
    size = 0

    def called(node: Expr) -> Expr | None:
        return closed[node.name] if isinstance(node, Call) else None

    def excluded(node: Expr) -> Expr | None:
        return replaced(node, called) if isinstance(node, Difference) else None

    result = dict(rules)
    for rule in having:
        exclusions = [node for node in _nodes(rules[rule]) if isinstance(node, Difference)]
        for name in _innermost_first(rule, _calls(exclusions), rules, closed):
            size += sum(closed[node.name].size if isinstance(node, Call) else 1 for node in _nodes(rules[name]))
            if size > DEFAULT_LIMITS.arcs:
                raise LimitExceeded(
                    f"what is called in A - B in rule {rule!r}, written out, has more than "
                    f"{DEFAULT_LIMITS.arcs:,} parts (limit `arcs`)"
                )
            closed[name] = replaced(rules[name], called)
        result[rule] = replaced(rules[rule], excluded)
    return result


def _nodes(*roots: Expr) -> Iterator[Expr]:
    """Yield all nodes of expressions, shared ones once."""
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            stack += node.operands()


def _calls(roots: Iterable[Expr]) -> list[str]:
    """Return the names of the rules that expressions call."""
    return list(dict.fromkeys(node.name for node in _nodes(*roots) if isinstance(node, Call)))


def _innermost_first(
    rule: str, names: list[str], rules: Mapping[str, Expr], closed: Mapping[str, Expr]
) -> Iterator[str]:
    """Yield the named rules and all that they call, each after those that it calls; rules in `closed` are left out."""
    path: dict[str, Iterator[str]] = {"": iter(names)}
    while path:
        name = next(reversed(path))
        following = next((other for other in path[name] if other not in closed), None)
        if following is None:
            del path[name]
            if path:
                yield name
        elif following in path:
            raise RecursiveExclusion(rule, following)
        else:
            path[following] = iter(_calls([rules[following]]))
