"""Bars are as long as their numbers, tables show their cells, and stacks their boxes: read from the SVG."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from automata.charts import COLORS, Picture, bars, cells, columns

SVG = "{http://www.w3.org/2000/svg}"
NAMES = st.text("ab<&>\"' é", min_size=1, max_size=6)


def rectangles(picture: Picture, kinds: str = "c") -> list[dict[str, float]]:
    """Position and size of the rectangles whose class begins so, in order."""
    found = [rect.attrib for rect in ElementTree.fromstring(picture.svg()).iter(f"{SVG}rect")]
    return [
        {name: float(one[name]) for name in ("x", "y", "width", "height")}
        for one in found
        if one["class"].startswith(kinds)
    ]


def texts(picture: Picture) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(picture.svg()).iter(f"{SVG}text")]


@given(st.lists(st.tuples(NAMES, st.floats(0, 1e6)), min_size=1, max_size=6))
def test_bars_are_proportional(rows: list[tuple[str, float]]) -> None:
    picture = bars([(name, {"n": value}) for name, value in rows], title="all <of> them")
    lengths = [one["width"] for one in rectangles(picture)]
    assert len(lengths) == len(rows)
    most = max(value for _, value in rows)
    for (_, value), length in zip(rows, lengths, strict=True):
        # A bar has at least one pixel.
        assert length == pytest.approx(max(1, 340 * value / most) if most else 1, rel=1e-4)
    assert texts(picture)[0] == "all <of> them"
    assert [name for name, _ in rows] == texts(picture)[1::2]


@given(st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=5))
def test_equal_ratios_are_equal_lengths(values: list[float]) -> None:
    picture = bars([(str(place), {"n": value, "ten": 10 * value}) for place, value in enumerate(values)], log=True)
    found = [one["width"] for one in rectangles(picture)][2:]  # behind the legend
    differences = [more - less for less, more in zip(found[::2], found[1::2], strict=True)]
    assert differences == pytest.approx([differences[0]] * len(values), rel=1e-3, abs=1e-2)
    assert differences[0] > 0


@pytest.mark.parametrize(
    ("rows", "log"),
    [
        ([("a", {"n": -1.0})], False),
        ([("a", {"n": math.inf})], False),
        ([("a", {"n": math.nan})], False),
        ([("a", {"n": 0.0})], True),
        ([("a", {str(place): 1.0 for place in range(len(COLORS) + 1)})], False),
    ],
)
def test_what_cannot_be_a_bar_is_refused(rows: list[Any], log: bool) -> None:
    with pytest.raises(ValueError, match=r"bars are for|at most 4 series"):
        bars(rows, log=log)


def test_no_rows() -> None:
    assert rectangles(bars([])) == rectangles(bars([], log=True)) == []


@pytest.mark.parametrize("size", [3, 22])
@given(filled=arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=8)))
def test_a_table_shows_its_cells(filled: npt.NDArray[np.bool_], size: int) -> None:
    picture = cells(filled, size=size)
    (frame,) = rectangles(picture, "line")
    shown = np.zeros(filled.shape, np.bool_)
    for one in rectangles(picture):
        row, column = (round((one[axis] - frame[axis] - 0.5) // size) for axis in ("y", "x"))
        shown[row, column : column + math.ceil(one["width"] / size)] = True
    assert (shown == filled).all()


@given(st.lists(st.tuples(NAMES, st.lists(st.integers(0, 2), max_size=5)), min_size=1, max_size=6))
def test_stacks_stand_side_by_side(stacks: list[tuple[str, list[int]]]) -> None:
    picture = columns(stacks, {0: "bottom", 1: "one", 2: "two"})
    boxes = rectangles(picture)[3:]  # behind the legend
    assert len(boxes) == sum(len(stack) for _, stack in stacks)
    lefts = sorted({one["x"] for one in boxes})
    heights = [sum(one["x"] == left for one in boxes) for left in lefts]
    assert heights == [len(stack) for _, stack in stacks if stack]
    assert texts(picture)[3:] == [name for name, _ in stacks]


def test_a_picture_is_a_file_and_shows_itself_in_light_and_dark(tmp_path: Path) -> None:
    picture = bars([("a", {"n": 1.0})])
    assert picture.save(tmp_path / "a.svg").read_text("utf-8") == picture.svg() == picture._repr_svg_()
    # Rules hold for pictures alone: a notebook has them in one document with everything else.
    style = picture.svg().split("<style>")[1].split("</style>")[0]
    assert "prefers-color-scheme: dark" in style
    selectors = [part.rsplit("}", 1)[-1].strip() for part in style.replace("@media", "}@media").split("{")[:-1]]
    assert all(one.startswith((".tokenfst-chart", "@media")) for one in selectors)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"filled": [True]}, r"a table is \[R, C\], and not \[1\]"),
        ({"filled": [[True]], "rows": ["a", "b"]}, "a table of 1 by 1 cells has 2 names of rows and 0 of columns"),
        ({"filled": [[True]], "words": {(5, 5): "x"}}, r"there is no cell \(5, 5\) in a table of 1 by 1 cells"),
    ],
)
def test_what_cannot_be_a_table_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cells(**given)


def test_a_box_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="there are boxes of kind 2, which has no name"):
        columns([("a", [1, 2])], {1: "x"})
