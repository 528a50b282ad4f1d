"""Automata as pictures: the start state bold, final states doubled, from left to right, as textbooks draw them.

    Drawing                 DOT text, and SVG where pygraphviz is installed
    draw_graph              any automaton, from its states and the label of each arc
    draw_fst                any OpenFst acceptor or transducer, `input:output` on its arcs

Without pygraphviz a drawing is its DOT text, which every Graphviz reads. Rejected: OpenFst's own `draw` (one arc
for each byte, and symbols that break DOT).
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from automata import openfst
from automata.openfst import Fst

_ESCAPES = {"\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r", " ": "␣"}
_PREAMBLE = (
    "rankdir=LR",
    'node [shape=circle, fontname="Helvetica", fontsize=12, width=0.4, margin=0.03]',
    'edge [fontname="Courier", fontsize=11, arrowsize=0.7]',
)


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
            ImportError: pygraphviz is not installed.
        """
        pygraphviz = _pygraphviz()
        if pygraphviz is None:
            raise ImportError("an SVG needs pygraphviz: pip install 'tokenfst[draw]'")
        rendered: bytes = pygraphviz.AGraph(string=self.dot).draw(format="svg", prog="dot")
        return rendered.decode()

    def save(self, path: str | Path) -> Path:
        """Write the picture, as SVG or, for a path that ends in `.dot`, as DOT, and return the path of the file.

        Without pygraphviz it is DOT in any case, with the suffix `.dot`.
        """
        path = Path(path)
        rendered = path.suffix != ".dot" and _pygraphviz() is not None
        written = path if rendered else path.with_suffix(".dot")
        written.write_text(self.svg() if rendered else self.dot, "utf-8")
        return written

    def _repr_svg_(self) -> str | None:
        """Return what a notebook shows; nothing without pygraphviz."""
        return self.svg() if _pygraphviz() is not None else None

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows without pygraphviz."""
        return f"<pre>{html.escape(self.dot)}</pre>" if _pygraphviz() is None else None


def _pygraphviz() -> ModuleType | None:
    try:
        return import_module("pygraphviz")
    except ImportError:
        return None


def draw_fst(
    fst: Fst,
    input_label: Callable[[int], str],
    output_label: Callable[[int], str] | None = None,
    *,
    title: str | None = None,
    legend: str | None = None,
) -> Drawing:
    """Draw an OpenFst automaton; arcs between the same two states are one arc with a line for each.

    Args:
        fst: an acceptor or a transducer.
        input_label: writes an input symbol.
        output_label: writes an output symbol; without it, for acceptors, input symbols alone are written.
        title: a line above the picture.
        legend: a note beside the picture that explains it.
    """

    def text(label: Callable[[int], str], symbol: int) -> str:
        return "ε" if symbol == openfst.EPSILON else label(symbol)

    start, final, arcs = openfst.to_arcs(fst)
    lines: dict[tuple[int, int], list[str]] = {}
    for source, read, written, target in arcs.T.tolist():
        label = text(input_label, read) + (f":{text(output_label, written)}" if output_label else "")
        lines.setdefault((source, target), []).append(label)
    labels = {pair: "\n".join(parts) for pair, parts in lines.items()}
    return draw_graph(range(len(final)), start, final.tolist(), labels, title=title, legend=legend)


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
) -> Drawing:
    """Draw any automaton, from its states and the label of each arc.

    Args:
        states: the states to draw.
        start: the one drawn in bold.
        final: whether each state is drawn doubled, by state.
        labels: the label of the arc from one state to another; line breaks in it are line breaks.
        title: a line above the picture.
        attributes: further DOT attributes of single states.
        names: what to write in single states, in place of their numbers.
        legend: a note beside the picture that explains it; its lines are lines.
    """
    lines = [*_PREAMBLE]
    if title is not None:
        lines.append(f"label={_quoted(title)}; labelloc=t")
    if legend is not None:
        # Once a node has a label, the default label of the others is empty, unless it is declared before.
        lines.append('node [label="\\N"]')
        text = _quoted(legend + "\n").replace("\\n", "\\l")
        lines.append(f"legend [shape=note, fontsize=10, margin=0.1, label={text}]")
    for state in states:
        own = [f"peripheries={2 if final[state] else 1}"]
        if state == start:
            own.append("style=bold")
        if names and state in names:
            own.append(f"label={_quoted(names[state])}")
        if attributes and state in attributes:
            own.append(attributes[state])
        lines.append(f"{state} [{', '.join(own)}]")
    lines.extend(f"{source} -> {target} [label={_quoted(label)}]" for (source, target), label in labels.items())
    return Drawing("digraph {\n" + "".join(f"  {line};\n" for line in lines) + "}\n")


def character_label(char: str) -> str:
    """Write a character for a picture: white space and what does not print are escaped."""
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def byte_label(byte: int) -> str:
    """Write a byte for a picture; ASCII stands for itself."""
    return character_label(chr(byte)) if byte < 0x80 else f"\\x{byte:02x}"


def range_label(low: int, high: int) -> str:
    """Write a range of bytes, both ends included, for a picture."""
    return byte_label(low) if low == high else f"{byte_label(low)}-{byte_label(high)}"


def quoted_range_label(low: int, high: int) -> str:
    """Write a range of bytes for a picture in which other symbols stand beside bytes: in quotes."""
    first = f'"{byte_label(low)}"'
    return first if low == high else f'{first}-"{byte_label(high)}"'


def cost_suffix(cost: float) -> str:
    """Write a cost behind what has it, `/0.5`, to three decimals; nothing where that is 0."""
    rounded = round(cost, 3)
    return f"/{rounded:g}" if rounded else ""


def _quoted(text: str) -> str:
    """Return a DOT string that shows as `text`: DOT has its own backslash escapes, and character entities."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;").replace("\n", "\\n")
    return f'"{escaped}"'
