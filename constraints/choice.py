"""One of some texts."""

from __future__ import annotations

from collections.abc import Iterable

from automata.expressions import Expr, strings


def choice(texts: Iterable[str]) -> Expr:
    """Exactly one of the texts, of which there may be millions; one that occurs twice counts once.

    Raises:
        ValueError: there are none.
    """
    options = frozenset(texts)
    if not options:
        raise ValueError("a choice needs at least one text")
    return strings(options)
