"""What pictures show, read from their SVG."""

from __future__ import annotations

from xml.etree import ElementTree

from automata.drawing import Drawing
from tokenfst import Vocabulary

# What the paper's text says of its Figure 4: foo and f|oo are tokenizations, food is a token, and three tokens of
# more than one character begin with f.
FIGURE_4 = Vocabulary([b"f", b"o", b"d", b"oo", b"fo", b"foo", b"food"])


SVG = "{http://www.w3.org/2000/svg}"


def parts(drawing: Drawing) -> tuple[list[str], list[list[str]]]:
    """The names of the states, and the lines of every arc's label, as the SVG shows them."""
    groups = list(ElementTree.fromstring(drawing.svg()).iter(f"{SVG}g"))
    texts = {kind: [[t.text or "" for t in g.iter(f"{SVG}text")] for g in groups if g.get("class") == kind]
             for kind in ("node", "edge")}  # fmt: skip
    nodes = [names for names in texts["node"] if not any(name.startswith("bold: start") for name in names)]
    return [name for names in nodes for name in names], texts["edge"]


def legend(drawing: Drawing) -> list[str]:
    """The lines of the legend, as the SVG shows them."""
    groups = ElementTree.fromstring(drawing.svg()).iter(f"{SVG}g")
    nodes = [[text.text or "" for text in g.iter(f"{SVG}text")] for g in groups if g.get("class") == "node"]
    (lines,) = [names for names in nodes if any(name.startswith("bold: start") for name in names)]
    return lines


def doubled(drawing: Drawing) -> int:
    groups = ElementTree.fromstring(drawing.svg()).iter(f"{SVG}g")
    return sum(len(list(g.iter(f"{SVG}ellipse"))) == 2 for g in groups if g.get("class") == "node")
