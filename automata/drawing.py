"""Automata as pictures: the start state bold, final states doubled, from left to right, as textbooks draw them.

    Drawing                 DOT text, and SVG where pygraphviz is installed
    draw_graph              any automaton, from its states and the label of each arc
    draw_fst                any OpenFst acceptor or transducer, with `input:output` on its arcs
    draw_byte_fst           an FST over bytes, with ranges of bytes on its arcs
    shown                   the HTML of an object for a notebook: its description and its picture
    shown_table             the HTML of a table of texts, in the colours of the notebook

A picture may show a part of an automaton, and highlight a path in it (`automata.view`). It has light and dark colours,
and a browser uses those that the reader prefers.

Without pygraphviz, a drawing is only DOT text, which any Graphviz can read. Graphviz may take minutes for a graph of
200 nodes and a tenth of a second for another of 1,000, cannot be interrupted, and ends the process when its stack
overflows. So all but small graphs are laid out by a separate process with a deadline.

Rejected: OpenFst's own `draw` (one arc for each byte, and symbols that break DOT); only a bound on nodes and edges
(one that keeps the slowest graphs below ten seconds refuses chains of 200 states); Graphviz's bounds on its iterations
(`nslimit`; then the curves of the edges take longer).
"""

from __future__ import annotations

import html
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import inf
from os import PathLike
from pathlib import Path
from types import ModuleType

import numpy as np

from automata import openfst
from automata.errors import LimitExceeded
from automata.openfst import Fst
from automata.texts import in_xml
from automata.view import Part

_ESCAPES = {"\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r", " ": "␣"}
_DOT_ESCAPES = {"\\": "\\\\", '"': '\\"', "&": "&amp;", "\n": "\\n"}
_PREAMBLE = (
    "rankdir=LR",
    'fontname="Helvetica"',  # of the title
    'node [shape=circle, fontname="Helvetica", fontsize=12, width=0.4, margin=0.03]',
    'edge [fontname="Courier", fontsize=11, arrowsize=0.7]',
)
# Blue from Okabe and Ito's palette, which colour-blind readers can tell from black; highlighted lines are also thicker.
_LIT = "#0072b2"
# The maximum number of rows of a table in a notebook.
_MAX_ROWS = 30
# The maximum number of lines of DOT, one for each node or edge, of a graph that is laid out; and of one that is laid
# out in this process. The slowest graphs, random ones, take half a second at the second bound.
MAX_LINES, _MAX_LINES_HERE = 20_000, 200
# The maximum time of a layout, in seconds.
MAX_SECONDS = 10.0
# Graphviz rejects a quoted string of more than 16,384 bytes as a syntax error; this limit is well below that.
_MAX_QUOTED = 8_000
_LAYOUT = """
import sys, pygraphviz
graph = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode())
sys.stdout.buffer.write(graph.draw(format="svg", prog="dot"))
"""
# The system libraries that pygraphviz's wheel for Linux needs and minimal containers lack.
_LIBRARIES = "on Debian and Ubuntu: apt-get install libglib2.0-0 libx11-6 libxext6 libxrender1"
_DARK = f"""<style>
@media (prefers-color-scheme: dark) {{
  .tokenfst-drawing > g > polygon {{ fill: #14171a; }}
  .tokenfst-drawing text {{ fill: #e9e7e3; }}
  .tokenfst-drawing [stroke="black"] {{ stroke: #e9e7e3; }}
  .tokenfst-drawing [fill="black"] {{ fill: #e9e7e3; }}
  .tokenfst-drawing [stroke="{_LIT}"] {{ stroke: #56b4e9; }}
  .tokenfst-drawing [fill="{_LIT}"] {{ fill: #56b4e9; }}
}}
</style>
"""


@dataclass(frozen=True)
class Drawing:
    """A picture of an automaton.

    Attributes:
        dot: the picture in Graphviz's DOT language.
    """

    dot: str

    def svg(self) -> str:
        """Render the picture as SVG.

        Raises:
            ImportError: pygraphviz is not installed, or lacks a library of the system.
            LimitExceeded: the picture has more than `MAX_LINES` nodes and edges, or Graphviz takes more than
                `MAX_SECONDS` to lay it out.
        """
        pygraphviz = _pygraphviz()
        if self.dot.count("\n") > _MAX_LINES_HERE:
            rendered = _laid_out_apart(self.dot)
        else:
            rendered = pygraphviz.AGraph(string=self.dot).draw(format="svg", prog="dot")
        return rendered.decode().replace("<svg ", '<svg class="tokenfst-drawing" ', 1).replace("<g ", f"{_DARK}<g ", 1)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture, as SVG or, for a path that ends in `.dot`, as DOT, and return the path of the file.

        Without pygraphviz it is DOT in any case, with the suffix `.dot`.

        Raises:
            LimitExceeded: the picture is too large to be laid out, as for `svg`; it can still be saved as DOT.
            ValueError: the path ends in another suffix.
        """
        path = Path(path)
        if path.suffix not in ("", ".svg", ".dot"):
            raise ValueError(f"a picture is saved as .svg or .dot, not as {path.suffix}")
        rendered = path.suffix != ".dot" and _renders()
        written = path if rendered else path.with_suffix(".dot")
        written.write_text(self.svg() if rendered else self.dot, "utf-8")
        return written

    def _repr_svg_(self) -> str | None:
        """Return what a notebook shows; nothing without pygraphviz. Raises LimitExceeded as `svg`."""
        return self.svg() if _renders() else None

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows without pygraphviz."""
        return None if _renders() else f"<pre>{html.escape(self.dot)}</pre>"


def _laid_out_apart(dot: str) -> bytes:
    """Return the SVG of a graph in DOT, laid out by another process.

    Raises:
        LimitExceeded: it has too many nodes and edges, it takes too long, or Graphviz gives up.
    """
    edges = dot.count(" -> ")
    size = f"a picture of some {dot.count(chr(10)) - edges:,} nodes and {edges:,} edges"
    advice = "draw a part of it, by around and radius, or save it as .dot"
    if dot.count("\n") > MAX_LINES:
        raise LimitExceeded(f"{size} is too large for Graphviz, the limit is {MAX_LINES:,} of both: {advice}")
    command, paths = [sys.executable, "-c", _LAYOUT], os.pathsep.join(filter(None, sys.path))
    try:
        done = subprocess.run(
            command,
            input=dot.encode(),
            capture_output=True,
            timeout=MAX_SECONDS,
            env={**os.environ, "PYTHONPATH": paths},
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise LimitExceeded(f"{size} takes Graphviz more than {MAX_SECONDS:g} seconds to lay out: {advice}") from None
    except subprocess.CalledProcessError:
        raise LimitExceeded(f"{size} is too large for Graphviz: {advice}") from None
    return done.stdout


def shown(kind: str, sizes: str, drawing: Drawing | None = None) -> str:
    """Return what a notebook shows of an object, as HTML.

    Args:
        kind: what it is.
        sizes: a line that describes it.
        drawing: its picture.
    """
    picture = "" if drawing is None else f'<div style="overflow-x: auto">{_picture(drawing)}</div>'
    return f"<div><b>{html.escape(kind)}</b> {html.escape(sizes)}{picture}</div>"


def _picture(drawing: Drawing) -> str | None:
    try:
        return drawing._repr_svg_() or drawing._repr_html_()
    except LimitExceeded as error:
        return f"<p>{html.escape(str(error))}</p>"


def shown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table for a notebook, as HTML; of a long table, only the first rows.

    Args:
        head: the names of the columns.
        rows: the texts of each row, one for each column.
    """
    cell = 'style="text-align:left;vertical-align:top"'
    given = list(rows)
    made = ["".join(f"<th {cell}>{html.escape(name)}</th>" for name in head)]
    made += ["".join(f"<td {cell}>{html.escape(text)}</td>" for text in row) for row in given[:_MAX_ROWS]]
    if len(given) > _MAX_ROWS:
        made.append(f'<td {cell} colspan="{len(head)}">… {len(given) - _MAX_ROWS:,} more</td>')
    return f'<table style="color:inherit">{"".join(f"<tr>{row}</tr>" for row in made)}</table>'


def _pygraphviz() -> ModuleType:
    """Import pygraphviz.

    Raises:
        ImportError: it is not installed, or it lacks a library of the system.
    """
    try:
        return import_module("pygraphviz")
    except ModuleNotFoundError:
        raise ImportError("an SVG needs pygraphviz: pip install 'tokenfst[draw]'") from None
    except ImportError as error:
        raise ImportError(
            f"an SVG needs pygraphviz, which is installed but lacks a library of the system: {error}; {_LIBRARIES}"
        ) from error


def _renders() -> bool:
    """Return whether pictures can be rendered as SVG."""
    try:
        _pygraphviz()
    except ImportError:
        return False
    return True


def draw_fst(
    fst: Fst,
    input_label: Callable[[int], str],
    output_label: Callable[[int], str] | None = None,
    *,
    title: str | None = None,
    legend: str | None = None,
) -> Drawing:
    """Draw an OpenFst automaton; all arcs from one state to another are drawn as one, with a line for each. A cost is
    written after an arc, or after a state for ending there, as in `a:b/0.5`.

    Args:
        fst: an acceptor or a transducer.
        input_label: writes an input symbol.
        output_label: writes an output symbol; without it, for acceptors, input symbols alone are written.
        title: a line above the picture.
        legend: a note beside the picture that explains it.
    """

    def text(label: Callable[[int], str], symbol: int) -> str:
        return "ε" if symbol == openfst.EPSILON else label(symbol)

    arrays = openfst.read_arrays(fst)
    lines: dict[tuple[int, int], list[str]] = {}
    for (source, read, written, target), cost in _finite_arcs(arrays):
        label = text(input_label, read) + (f":{text(output_label, written)}" if output_label else "")
        lines.setdefault((source, target), []).append(label + cost_suffix(cost))
    return _drawn_fst(arrays, {pair: "\n".join(parts) for pair, parts in lines.items()}, title, legend)


def draw_byte_fst(fst: Fst, *, title: str | None = None) -> Drawing:
    """Draw an OpenFst automaton over bytes; each line of an arc has the ranges of bytes that it reads, and what it
    writes unless that is the byte read. Labels that are not bytes, such as pynini's generated symbols, are shown as
    `<983040>`; costs as by `draw_fst`.

    Args:
        fst: an acceptor or a transducer, whose labels are bytes, as those of `pynini` are.
        title: a line above the picture.
    """
    arrays = openfst.read_arrays(fst)
    lines: dict[tuple[int, int], dict[str, list[int]]] = {}
    for (source, read, written, target), cost in _finite_arcs(arrays):
        kind = ("" if read == written else f":{_symbol_label(written)}") + cost_suffix(cost)
        lines.setdefault((source, target), {}).setdefault(kind, []).append(read)
    labels = {
        pair: "\n".join(" ".join(_symbol_ranges(read)) + kind for kind, read in kinds.items())
        for pair, kinds in lines.items()
    }
    legend = {
        "a-c: one of these is read and written": True,
        "a-c:2: one of these is read, and 2 is written": any(":" in kind for kinds in lines.values() for kind in kinds),
        "ε: nothing": any("ε" in label for label in labels.values()),
        "a/0.5: at a cost": arrays.costs.any(),
        "2/0.5: a state and what it costs to end there": arrays.final[np.isfinite(arrays.final)].any(),
    }
    return _drawn_fst(arrays, labels, title, "\n".join(line for line, occurs in legend.items() if occurs))


def _finite_arcs(arrays: openfst.FstArrays) -> Iterator[tuple[list[int], float]]:
    """Yield source, input symbol, output symbol and target of each arc, and its cost, which is finite."""
    arcs = arrays.arcs - np.array([0, 1, 1, 0], np.int32)
    for arc, cost in zip(arcs.tolist(), arrays.costs.tolist(), strict=True):
        if cost != inf:
            yield arc, cost


def _drawn_fst(
    arrays: openfst.FstArrays, labels: Mapping[tuple[int, int], str], title: str | None, legend: str | None
) -> Drawing:
    ends = arrays.final.tolist()
    names = {state: f"{state}{cost_suffix(cost)}" for state, cost in enumerate(ends) if cost != inf}
    final = [cost != inf for cost in ends]
    return draw_graph(range(len(ends)), arrays.start, final, labels, title=title, names=names, legend=legend)


def _symbol_label(symbol: int) -> str:
    if symbol == openfst.EPSILON:
        return "ε"
    return byte_label(openfst.byte_of_symbol(symbol)) if symbol < 0x100 else f"<{symbol + 1}>"


def _symbol_ranges(symbols: list[int]) -> list[str]:
    """Return OpenFst's symbols as ranges of bytes, ascending; epsilon first, symbols that are not bytes last."""
    runs: list[list[int]] = []
    bytes_ = [symbol for symbol in symbols if openfst.EPSILON != symbol < 0x100]
    for byte in sorted(map(openfst.byte_of_symbol, bytes_)):
        if runs and byte == runs[-1][1] + 1:
            runs[-1][1] = byte
        else:
            runs.append([byte, byte])
    others = [_symbol_label(symbol) for symbol in sorted(symbols) if symbol >= 0x100]
    return ["ε"] * (openfst.EPSILON in symbols) + [range_label(low, high) for low, high in runs] + others


def draw_graph(
    states: Iterable[int],
    start: int,
    final: Sequence[bool],
    labels: Mapping[tuple[int, int], str],
    *,
    title: str | None = None,
    attributes: Mapping[int, str] | None = None,
    names: Mapping[int, str] | None = None,
    legend: str | None = None,
    part: Part | None = None,
) -> Drawing:
    """Draw any automaton, from its states and the label of each arc.

    Args:
        states: the states to draw.
        start: the one drawn in bold.
        final: whether each state is drawn doubled, by state.
        labels: the label of the arc from one state to another; it may have several lines.
        title: a line above the picture.
        attributes: further DOT attributes of single states.
        names: what to write in single states, in place of their numbers.
        legend: a note beside the picture that explains it; it may have several lines.
        part: how many states are left out next to those drawn, and what is highlighted; None if nothing is.
    """
    part, lines = part or Part(()), [*_PREAMBLE]
    legend = "\n".join([*([] if legend is None else [legend]), *_explained(part)]) or None
    if title is not None:
        lines.append(f"label={_quoted(title)}; labelloc=t")
    if legend is not None:
        # Once a node has a label, the default label of the others is empty, unless it has been declared first.
        lines.append('node [label="\\N"]')
        text = "".join(_quoted(line)[1:-1] + "\\l" for line in legend.split("\n"))
        # The margin leaves room for a viewer whose font is wider than the one that Graphviz measured.
        lines.append(f'legend [shape=note, fontsize=10, margin="0.3,0.1", label="{text}"]')
    for state in states:
        own = [f"peripheries={2 if final[state] else 1}"]
        if state == start:
            own.append("style=bold")
        if names and state in names:
            own.append(f"label={_quoted(names[state])}")
        if attributes and state in attributes:
            own.append(attributes[state])
        if state in part.lit:
            own.append(f'color="{_LIT}", penwidth=2.5')
        lines.append(f"{state} [{', '.join(own)}]")
    for (source, target), label in labels.items():
        lit = f', color="{_LIT}", fontcolor="{_LIT}", penwidth=2.5' if (source, target) in part.lit_arcs else ""
        lines.append(f"{source} -> {target} [label={_quoted(label)}{lit}]")
    lines += _left_out(part)
    return Drawing("digraph {\n" + "".join(f"  {line};\n" for line in lines) + "}\n")


def _explained(part: Part) -> list[str]:
    """Return the lines of the legend about what is left out and what is highlighted."""
    folded = [] if part.is_whole else ["… 3: three more states, which are not drawn"]
    return folded + (["blue, thick: the path"] if part.lit else [])


def _left_out(part: Part) -> list[str]:
    """Return the lines for the states that are not drawn, before and after those that are."""
    lines = []
    for side, counts in (("before", part.before), ("after", part.after)):
        for state, count in counts.items():
            lines.append(f'{side}{state} [shape=plaintext, peripheries=0, label="… {count:,}"]')
            ends = (f"{side}{state}", str(state)) if side == "before" else (str(state), f"{side}{state}")
            lines.append(f"{ends[0]} -> {ends[1]} [style=dashed]")
    return lines


def character_label(char: str) -> str:
    """Write a character for a picture; whitespace and nonprinting characters are escaped."""
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def byte_label(byte: int) -> str:
    """Write a byte for a picture; ASCII stands for itself."""
    return character_label(chr(byte)) if byte < 0x80 else f"\\x{byte:02x}"


def name_label(name: str) -> str:
    """Write the name of a label or a token for a picture, in angle brackets."""
    return f"<{''.join(map(character_label, name))}>"


def range_label(low: int, high: int) -> str:
    """Write a range of bytes, both ends included, for a picture."""
    return byte_label(low) if low == high else f"{byte_label(low)}-{byte_label(high)}"


def quoted_range_label(low: int, high: int) -> str:
    """Write a range of bytes in quotes, for a picture that also has other symbols."""
    first = f'"{byte_label(low)}"'
    return first if low == high else f'{first}-"{byte_label(high)}"'


def cost_suffix(cost: float) -> str:
    """Write a cost to three decimals, as in `/0.5`, to stand after a symbol or a state; "" if it rounds to 0."""
    rounded = round(cost, 3)
    return f"/{rounded:g}" if rounded else ""


def _quoted(text: str) -> str:
    """Return a quoted DOT string that shows as `text`, cut if it is too long for DOT. DOT has backslash escapes of its
    own, and character entities."""
    parts, room = list[str](), _MAX_QUOTED
    for char in in_xml(text):
        parts.append(_DOT_ESCAPES.get(char, char))
        room -= len(parts[-1].encode(errors="replace"))
        if room < 0:
            parts[-1] = "…"
            break
    return f'"{"".join(parts)}"'
