"""Pictures other than automata: bar charts, tables of cells, and stacks side by side.

    Picture        an SVG, which a notebook shows and `save` writes
    bars           rows of numbers as bars, on a linear or a logarithmic scale
    cells          a table of filled or empty cells, with an optional word in each
    columns        stacks of named boxes, side by side

Pictures have light and dark colours, and a browser uses those that the reader prefers. The colours are from Okabe and
Ito's palette, which is suitable for colour-blind readers. The font has a fixed width, so no text has to be measured.

Rejected: Matplotlib, a large dependency for rectangles, with pictures that do not adapt to dark mode.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from automata.texts import in_xml

# In pixels: the width of a character, the height of a line, and the greatest length of a bar.
_CHARACTER, _LINE, _BAR = 7.25, 18, 340
_MARGIN = 8
# Blue, orange, green and purple; dark mode uses lighter shades of them.
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7")
_DARK_COLORS = ("#56b4e9", "#f0b429", "#3cc79c", "#dd9bc0")


def _style() -> str:
    light = "".join(f".tokenfst-chart .c{place} {{ fill: {color}; }} " for place, color in enumerate(COLORS))
    dark = "".join(f".tokenfst-chart .c{place} {{ fill: {color}; }} " for place, color in enumerate(_DARK_COLORS))
    return f"""<style>
.tokenfst-chart {{ font: 12px Courier, monospace; }}
.tokenfst-chart .paper {{ fill: white; }}
.tokenfst-chart .line {{ stroke: #c9c6c0; fill: none; }}
.tokenfst-chart .on {{ fill: white; }}
.tokenfst-chart text {{ fill: black; white-space: pre; }}
{light}
@media (prefers-color-scheme: dark) {{
  .tokenfst-chart .paper {{ fill: #14171a; }}
  .tokenfst-chart .line {{ stroke: #4a4f55; }}
  .tokenfst-chart text {{ fill: #e9e7e3; }}
  .tokenfst-chart .on {{ fill: #14171a; }}
  {dark}
}}
</style>"""


@dataclass(frozen=True)
class Picture:
    """A picture.

    Attributes:
        image: the picture as SVG.
    """

    image: str

    def svg(self) -> str:
        """Return the picture as SVG."""
        return self.image

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture as SVG, and return the path of the file."""
        path = Path(path)
        path.write_text(self.image, "utf-8")
        return path

    def __repr__(self) -> str:
        return f"<Picture, SVG of {len(self.image):,} characters>"

    def _repr_svg_(self) -> str:
        """Return what a notebook shows."""
        return self.image


def bars(
    rows: Iterable[tuple[str, Mapping[str, float]]],
    *,
    title: str | None = None,
    log: bool = False,
    write: Callable[[float], str] = "{:g}".format,
) -> Picture:
    """Draw rows of numbers as bars; the bars of a row, one for each series, are below each other.

    >>> bars([("d", {"before": 0.5, "after": 0}), ("foo", {"before": 0.5, "after": 1})]).svg().count("<rect")
    7

    Args:
        rows: the name of each row, and a number for each series, by name; at most four series.
        title: a line above the picture.
        log: whether a bar stands for the logarithm; it then begins at a power of ten below the least number.
        write: how to write a number after its bar.

    Raises:
        ValueError: there are more than four series, a number is negative or not finite, or, with `log`, not positive.
    """
    rows = list(rows)
    series = list(dict.fromkeys(name for _, numbers in rows for name in numbers))
    values = [value for _, numbers in rows for value in numbers.values()]
    if len(series) > len(COLORS):
        raise ValueError(f"a picture has at most {len(COLORS)} series, not {len(series)}")
    if not all(math.isfinite(value) and value >= 0 and (value > 0 or not log) for value in values):
        raise ValueError("bars are for positive numbers" if log else "bars are for numbers of 0 or more")
    length = _scale(values, log)
    left = _MARGIN + _CHARACTER * max((len(name) for name, _ in rows), default=0) + 8
    written = max((len(write(value)) for value in values), default=0)
    page = _Page(title, width=left + _BAR + _CHARACTER * written + 12)
    if len(series) > 1:
        page.legend(series)
    for name, numbers in rows:
        page.text(left - 8, page.bottom + 13, name, "end")
        height = _LINE if len(numbers) == 1 else 14
        for key, value in numbers.items():
            long = _BAR * length(value)
            page.rectangle(left, page.bottom + 2, max(long, 1), height - 4, f"c{series.index(key)}")
            page.text(left + max(long, 1) + 5, page.bottom + height - 4, write(value))
            page.bottom += height
        page.bottom += 0 if len(numbers) == 1 else 6
    return page.picture()


def _scale(values: Sequence[float], log: bool) -> Callable[[float], float]:
    """Return the function from a number to the length of its bar, from 0 to 1."""
    high = max(values, default=0) or 1
    if not log:
        return lambda value: value / high
    low = math.floor(math.log10(min(values, default=1)) - 0.1)  # so that the bar of the least number is visible
    return lambda value: (math.log10(value) - low) / (math.log10(high) - low)


def cells(
    filled: npt.NDArray[np.bool_],
    *,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    words: Mapping[tuple[int, int], str] | None = None,
    size: int = 22,
    title: str | None = None,
) -> Picture:
    """Draw a table in which some cells are filled.

    Args:
        filled: `[R, C]`, whether each cell is filled.
        rows, columns: the names of rows and columns; empty for no names. The name of a column must fit its cells.
        words: the text in single cells, by row and column.
        size: the width and height of a cell, in pixels.
        title: a line above the picture.

    Raises:
        ValueError: `filled` has other dimensions, or there are not as many names as rows or columns, or a word is in
            none of the cells.
    """
    filled = np.asarray(filled, np.bool_)
    if filled.ndim != 2:
        raise ValueError(f"a table is [R, C], and not {list(filled.shape)}")
    high, wide = filled.shape
    if len(rows) not in (0, high) or len(columns) not in (0, wide):
        raise ValueError(
            f"a table of {high} by {wide} cells has {len(rows)} names of rows and {len(columns)} of columns"
        )
    if wrong := [at for at in words or () if not (0 <= at[0] < high and 0 <= at[1] < wide)]:
        raise ValueError(f"there is no cell {wrong[0]} in a table of {high} by {wide} cells")
    left = _MARGIN + (_CHARACTER * max(map(len, rows)) + 8 if rows else 0)
    page = _Page(title, width=left + wide * size + _MARGIN)
    for column, name in enumerate(columns):
        page.text(left + (column + 0.5) * size, page.bottom + 13, name, "middle")
    top = page.bottom + (_LINE if columns else 0)
    for row, name in enumerate(rows):
        page.text(left - 8, top + (row + 0.5) * size + 4, name, "end")
    gap = 1 if size > 8 else 0
    for row in range(high):
        for first, last in _runs(filled[row]) if not gap else ((at, at + 1) for at in np.flatnonzero(filled[row])):
            page.rectangle(
                left + first * size + gap, top + row * size + gap, (last - first) * size - 2 * gap, size - 2 * gap, "c0"
            )
    for (row, column), word in (words or {}).items():
        page.text(left + (column + 0.5) * size, top + (row + 0.5) * size + 4, word, "middle", "on")
    page.rectangle(left - 0.5, top - 0.5, wide * size + 1, high * size + 1, "line")
    page.bottom = top + high * size
    return page.picture()


def _runs(row: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return where runs of filled cells begin and end."""
    edges = np.flatnonzero(np.diff(row.astype(np.int8), prepend=0, append=0))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def columns(
    stacks: Sequence[tuple[str, Sequence[int]]], kinds: Mapping[int, str], *, title: str | None = None
) -> Picture:
    """Draw stacks of boxes side by side, each from the bottom up.

    Args:
        stacks: the name of each stack, which stands below it, and its boxes, the lowest first.
        kinds: the name of each kind of box; the first four have colours of their own, the others share the last.
        title: a line above the picture.

    Raises:
        ValueError: a box is of none of the kinds.
    """
    if unknown := {box for _, boxes in stacks for box in boxes} - kinds.keys():
        raise ValueError(f"there are boxes of kind {min(unknown)}, which has no name")
    colors = {kind: f"c{min(place, len(COLORS) - 1)}" for place, kind in enumerate(kinds)}
    widths = [max(16, _CHARACTER * len(name) + 8) for name, _ in stacks]
    page = _Page(title, width=_MARGIN * 2 + sum(widths))
    page.legend([*kinds.values()][: len(COLORS)])
    bottom = page.bottom + 14 * max((len(boxes) for _, boxes in stacks), default=0)
    left: float = _MARGIN
    for (name, boxes), width in zip(stacks, widths, strict=True):
        for level, kind in enumerate(boxes):
            page.rectangle(left + 1, bottom - 14 * (level + 1), width - 2, 12, colors[kind])
        page.text(left + width / 2, bottom + 13, name, "middle")
        left += width
    page.bottom = bottom + _LINE
    return page.picture()


class _Page:
    """An SVG that is being drawn.

    Attributes:
        bottom: where the next line begins, in pixels.
    """

    def __init__(self, title: str | None, *, width: float) -> None:
        self.bottom: float = _MARGIN
        self._parts: list[str] = []
        self._width = max(width, 2 * _MARGIN + _CHARACTER * len(title or ""))
        if title is not None:
            self.text(_MARGIN, self.bottom + 12, title)
            self.bottom += _LINE + 6

    def text(self, x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> None:
        """Write a line of text with its baseline at `y`."""
        own = f' class="{kind}"' if kind else ""
        self._parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{own}>{escape(in_xml(text))}</text>')

    def rectangle(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        """Draw a rectangle."""
        self._parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{kind}"/>')

    def legend(self, names: Sequence[str]) -> None:
        """Write a line with the name of each colour."""
        x: float = _MARGIN
        for place, name in enumerate(names):
            self.rectangle(x, self.bottom + 2, 12, 12, f"c{place}")
            self.text(x + 17, self.bottom + 12, name)
            x += 17 + _CHARACTER * len(name) + 18
        self._width = max(self._width, x)
        self.bottom += _LINE + 6

    def picture(self) -> Picture:
        """Return the picture."""
        width, height = math.ceil(self._width), math.ceil(self.bottom + _MARGIN)
        paper = f'<rect width="{width}" height="{height}" class="paper"/>'
        head = f'class="tokenfst-chart" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        body = "\n".join([_style(), paper, *self._parts])
        return Picture(f'<svg xmlns="http://www.w3.org/2000/svg" {head}>\n{body}\n</svg>')
