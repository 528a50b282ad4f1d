"""Pictures of traces: what one step chose from, and how much the mask removed at each step.

percent           a probability in words
of_candidates     the candidates of a step, before the mask and after it
of_removed        the probability that was removed before each token
"""

from __future__ import annotations

from collections.abc import Iterable

from automata.charts import Picture, bars


def percent(value: float) -> str:
    """Write a probability: in percent, with one digit where that is 1 or more, otherwise the order of magnitude."""
    if value == 0 or value >= 0.01:
        return f"{value:.1%}" if 0 < value < 1 else f"{value:.0%}"
    return f"{100 * value:.2g}%" if value >= 1e-6 else "~0%"


def of_candidates(candidates: Iterable[tuple[str, float, float]], title: str | None) -> Picture:
    """Return the candidates of a step as bars.

    Args:
        candidates: name, probability before the mask, and after it, of each.
        title: a line above the picture.
    """
    rows = [(name, {"before the mask": before, "after": after}) for name, before, after in candidates]
    return bars(rows, title=title, write=percent)


def of_removed(steps: Iterable[tuple[str, float]], title: str | None) -> Picture:
    """Return the probability that the mask removed before each token, as bars.

    Args:
        steps: the name of each token that was written, and what had been removed.
        title: a line above the picture.
    """
    return bars([(name, {"removed": removed}) for name, removed in steps], title=title, write=percent)
