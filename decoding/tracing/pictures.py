"""Pictures of traces: the candidates of one step, and the probability that the mask removed at each step.

percent           a probability in words
of_candidates     the candidates of a step, before and after the mask
of_removed        the probability that the mask removed before each token
"""

from __future__ import annotations

from collections.abc import Iterable

from automata.charts import Picture, bars


def percent(value: float) -> str:
    """Return a probability in percent: with one decimal from 1%, two significant digits below, `~0%` below 0.0001%."""
    if value == 0 or value >= 0.01:
        return f"{value:.1%}" if 0 < value < 1 else f"{value:.0%}"
    return f"{100 * value:.2g}%" if value >= 1e-6 else "~0%"


def of_candidates(candidates: Iterable[tuple[str, float, float]], title: str | None) -> Picture:
    """Return the candidates of a step as bars.

    Args:
        candidates: the name of each candidate, and its probabilities before and after the mask.
        title: a line above the picture.
    """
    rows = [(name, {"before the mask": before, "after": after}) for name, before, after in candidates]
    return bars(rows, title=title, write=percent)


def of_removed(steps: Iterable[tuple[str, float]], title: str | None) -> Picture:
    """Return the probability that the mask removed before each token, as bars.

    Args:
        steps: the name of each written token, and the probability removed before it.
        title: a line above the picture.
    """
    return bars([(name, {"removed": removed}) for name, removed in steps], title=title, write=percent)
