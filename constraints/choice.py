"""One of some texts."""

from __future__ import annotations

from collections.abc import Iterable

from automata.errors import wrong_type
from automata.expressions import Expr, strings
from automata.fst_type import is_fst


def choice(texts: Iterable[str]) -> Expr:
    """Return the language of some texts, of which there may be millions; one that occurs twice counts once.

    Raises:
        TypeError: one text in place of several, or something that is no text.
        ValueError: there are none.
    """
    if is_fst(texts):
        raise wrong_type("several texts", texts)
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise TypeError(f"choice takes several texts, choice([...]), not {texts!r}")
    options = frozenset(texts)
    if not set(map(type, options)) <= {str}:
        wrong = next((option for option in options if not isinstance(option, str)), None)
        if wrong is not None:
            raise TypeError(f"a choice is one of some texts, and {wrong!r} is no text")
    if not options:
        raise ValueError("a choice needs at least one text")
    return strings(options)
