"""What pynini ships as constraints, and pynini's own judgement of each text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pynini

from automata import Expr


@dataclass(frozen=True)
class Case:
    """A constraint, and what pynini says of a text.

    Attributes:
        constraint: the language.
        paths: the paths of a text by OpenFst's composition; none where the text is wrong.
        prompt: what the model reads first.
        agrees: whether a function of the example, by its own search, finds the same.
        max_new_tokens: the budget of a text.
        least: how many different texts to expect of eight.
    """

    constraint: Expr
    paths: Callable[[str], Any]
    prompt: str = "Name: "
    agrees: Callable[[str], bool] = lambda text: True
    max_new_tokens: int = 24
    least: int = 3


def composed(*fsts: Any) -> Any:
    """Return the composition of several FSTs from left to right."""
    return reduce(pynini.compose, fsts)


def writes(*fsts: Any) -> Callable[[str], Any]:
    """Return the paths on which FSTs, one after the other, write a text."""
    return lambda text: composed(*fsts, pynini.escape(text))


def reads(*fsts: Any) -> Callable[[str], Any]:
    """Return the paths on which FSTs, one after the other, read a text."""
    return lambda text: composed(pynini.escape(text), *fsts)
