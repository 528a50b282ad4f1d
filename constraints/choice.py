"""One of some texts."""

from __future__ import annotations

from collections.abc import Iterable

from automata.expr import Expr, alternation, literal


def choice(texts: Iterable[str]) -> Expr:
    """Exactly one of the texts.

    Raises:
        ValueError: there are none.
    """
    options = [literal(text) for text in texts]
    if not options:
        raise ValueError("a choice needs at least one text")
    return alternation(*options)
