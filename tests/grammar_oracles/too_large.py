"""Grammars whose automata pass the limits: over a vocabulary of 131,072 tokens, or even over bytes.

What a closing bracket pops can differ in many ways, and a token of four of them multiplies: steps and the relations of
tokens list every sequence of symbols.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest

from automata.errors import LimitExceeded

TOO_LARGE = {"python_expression", "sql"}
TOO_LARGE_AS_BYTES = {"sql"}


def marked_too_large(names: Iterable[str], which: Collection[str] = TOO_LARGE) -> list[object]:
    """The names, as parameters; those that are too large are expected to fail, and not run: to find out takes the most
    time and memory that a compilation may take."""
    mark = pytest.mark.xfail(run=False, raises=LimitExceeded, reason="more than a compilation may take")
    return [pytest.param(name, marks=mark) if name in which else name for name in names]
