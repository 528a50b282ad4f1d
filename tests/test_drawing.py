"""Pictures are valid SVG, show every label as it is, and the paper's figures come out as the paper draws them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pynini
import pytest
from drawing_cases import FIGURE_4, SVG, doubled, legend, parts

from automata import (
    Grammar,
    Label,
    LimitExceeded,
    alternation,
    call,
    char_set,
    compile_expr,
    compile_grammar,
    concat,
    openfst,
    parse,
)
from automata.charts import bars
from automata.drawing import Drawing, draw_byte_fst, draw_fst, shown
from automata.openfst import EPSILON
from tokenfst.reference import compose_by_definition

pytest.importorskip("pygraphviz")

ROOT = Path(__file__).resolve().parent.parent


def test_figure_1_odd_numbers_of_as() -> None:
    drawing = compile_expr(parse("a(aa)*")).draw()
    names, arcs = parts(drawing)
    assert len(names) == 2
    assert arcs == [["a"], ["a"]]
    assert doubled(drawing) == 1
    assert drawing.dot.count("style=bold") == 1


def test_figure_2_determinized() -> None:
    names, arcs = parts(compile_expr(parse("a+|ab")).draw())
    assert len(names) == 4
    assert Counter(map(tuple, arcs)) == {("a",): 3, ("b",): 1}


def test_figure_6_ranges_of_bytes_are_one_label() -> None:
    # Two classes of bytes, and both of them together in one place.
    s = call("s")
    rules = {"s": alternation(concat(char_set("ace"), s, "!"), concat(char_set("bd"), s, "?"), "0")}
    drawing = compile_grammar(Grammar({**rules, "t": concat(char_set("abcde"), s)}, "t")).draw()
    read = {line.split(" (")[0] for arc in parts(drawing)[1] for line in arc}
    assert {'"a"-"e"', '"a" "c" "e"', '"b" "d"'} <= read


def test_a_grammar_shows_the_names_of_its_rules_and_a_legend() -> None:
    rules = {
        "value": alternation("x", concat("(", call("list"), ")")),
        "list": alternation(concat(call("value"), ",", call("list"), ";"), '"'),
    }
    drawing = compile_grammar(Grammar(rules, "value")).draw(title="lists")
    names, arcs = parts(drawing)
    lines = [line for arc in arcs for line in arc]
    assert any(line.startswith(('"(" (list.', '"(" (value.')) for line in lines)
    assert {line.split(".")[0] for line in lines if line.startswith('"("')} <= {'"(" (list', '"(" (value', '"("'}
    assert '"""' in {line.split(" ")[0] for line in lines}  # a quote, in quotes
    assert {"value", "list"} & set(names)
    lines = legend(drawing)
    for said in ("bold: start", '"a": a byte that is read', "(x: pushes x", "x): pops x", "rule.n: the text"):
        assert said in " ".join(lines)
    assert "<" not in " ".join(lines)


def test_a_legend_explains_labels_where_there_are_some() -> None:
    s = call("s")
    drawing = compile_grammar(Grammar({"s": alternation(concat("a", s, Label("image")), "b")}, "s")).draw()
    _, arcs = parts(drawing)
    assert any("<image>" in line for arc in arcs for line in arc)
    assert "<name>: a token of this set" in legend(drawing)
    # What is drawn as the end of the text is explained where it is drawn.
    recursive = compile_grammar(
        Grammar({"s": alternation("x", concat("(", s, concat(",", s).star(), ")"))}, "s")
    ).draw()
    assert "⊣ s." in recursive.dot
    assert "⊣: the end of the text" in recursive.dot
    assert "⊣" not in compile_grammar(Grammar({"s": parse("a+")}, "s")).draw().dot


def test_expressions_and_byte_automata_have_draw() -> None:
    expr = parse("a(aa)*") + Label("image")
    assert expr.draw(title="odd").dot == compile_expr(expr).draw(title="odd").dot
    assert ["<image>"] in parts(expr.draw())[1]
    assert "legend" not in expr.draw().dot


# Labels


def test_ranges_of_bytes_are_one_label() -> None:
    _, arcs = parts(compile_expr(parse(r'[a-z0-9_"\\\n \x00]')).draw())
    assert arcs == [[r'\x00 \n ␣ " 0-9 \ _ a-z']]
    _, arcs = parts(compile_expr(parse("é")).draw())
    assert sorted(arcs) == [[r"\xa9"], [r"\xc3"]]


def test_acceptors_have_no_outputs() -> None:
    fst = compose_by_definition(compile_expr(parse("(foo)+d")), FIGURE_4)
    _, arcs = parts(draw_fst(fst, lambda token: FIGURE_4.tokens[token].decode()))
    assert {line for arc in arcs for line in arc} == {"f", "fo", "foo", "food", "o", "oo", "d"}


def test_epsilon_is_written_in_acceptors() -> None:
    import numpy as np

    from automata.openfst import to_transducer

    column = [np.array([value], np.int32) for value in (0, EPSILON, EPSILON, 1)]
    fst = to_transducer(0, np.array([False, True]), *column)
    assert parts(draw_fst(fst, chr))[1] == [["ε"]]
    assert parts(draw_fst(fst, chr, chr))[1] == [["ε:ε"]]


# Files, notebooks, and no pygraphviz


@pytest.fixture
def drawing() -> Drawing:
    return compile_expr(parse("[<>]")).draw(title="a & b")


def test_a_drawing_is_saved(drawing: Drawing, tmp_path: Path) -> None:
    assert drawing.save(tmp_path / "a.svg") == tmp_path / "a.svg"
    assert "<svg" in (tmp_path / "a.svg").read_text("utf-8")
    assert drawing.save(str(tmp_path / "a.dot")) == tmp_path / "a.dot"
    assert (tmp_path / "a.dot").read_text("utf-8") == drawing.dot
    assert "<svg" in (drawing._repr_svg_() or "")
    assert drawing._repr_html_() is None
    with pytest.raises(ValueError, match=r"saved as .svg or .dot, not as .png"):
        drawing.save(tmp_path / "a.png")


def test_without_pygraphviz_a_drawing_is_its_text(
    drawing: Drawing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(ImportError, match=r"tokenfst\[draw\]"):
        drawing.svg()
    assert drawing.save(tmp_path / "a.svg") == tmp_path / "a.dot"
    assert (tmp_path / "a.dot").read_text("utf-8") == drawing.dot
    assert not (tmp_path / "a.svg").exists()
    assert drawing._repr_svg_() is None
    shown = drawing._repr_html_() or ""
    assert ElementTree.fromstring(shown).text == drawing.dot


def test_a_library_that_the_system_lacks_is_named(
    drawing: Drawing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pygraphviz.py").write_text("raise ImportError('libgobject-2.0.so.0: cannot open it')", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pygraphviz")
    with pytest.raises(ImportError, match=r"libgobject-2.0.so.0: cannot open it; .* apt-get install libglib2.0-0"):
        drawing.svg()
    assert drawing.save(tmp_path / "a.svg") == tmp_path / "a.dot"


def test_a_picture_that_is_too_large_is_refused(tmp_path: Path) -> None:
    large = compile_expr(parse("(ab){0,9999}")).draw()
    with pytest.raises(LimitExceeded, match=r"nodes and 19,998 edges is too large for Graphviz.*by around and radius"):
        large.svg()
    with pytest.raises(LimitExceeded):
        large.save(tmp_path / "a.svg")
    assert not (tmp_path / "a.svg").exists()
    assert large.save(tmp_path / "a.dot").read_text("utf-8") == large.dot


def test_a_layout_has_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    entangled = compile_expr(parse("[ab]*a[ab]{8}")).draw()
    monkeypatch.setattr("automata.drawing.MAX_SECONDS", 0.5)
    with pytest.raises(LimitExceeded, match=r"1,024 edges takes Graphviz more than 0\.5 seconds"):
        entangled.svg()
    assert "takes Graphviz more than" in shown("automaton", "", entangled)


def test_a_picture_is_the_same_by_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = compile_expr(parse("é[a-c]")).draw(title="é")
    here = drawing.svg()
    monkeypatch.setattr("automata.drawing._MAX_LINES_HERE", 0)
    assert drawing.svg() == here


@pytest.mark.parametrize("title", ["a\0b", "é&" * 20_000, "\\" * 20_000])
def test_titles_that_graphviz_refuses(title: str) -> None:
    texts = [
        t.text or ""
        for t in ElementTree.fromstring(compile_expr(parse("a")).draw(title=title).svg()).iter(f"{SVG}text")
    ]
    assert any(
        text == "a␀b" or (len(text) > 2000 and title.startswith(text[:-1]) and text[-1] == "…") for text in texts
    )


@pytest.mark.parametrize("char", ["\1", "\x1b", "\ufffe", "\uffff", "\ud800"])
def test_characters_that_xml_cannot_contain(char: str) -> None:
    shown = chr(0x2400 + ord(char)) if char < " " else "\ufffd"
    for drawn in (
        compile_expr(parse("a")).draw(title=f"a{char}b").svg(),
        bars([(f"a{char}b", {"": 1})], title=f"a{char}b").svg(),
    ):
        assert any(text.text == f"a{shown}b" for text in ElementTree.fromstring(drawn).iter(f"{SVG}text"))


def test_an_empty_automaton_is_an_empty_picture() -> None:
    from automata import EMPTY

    assert parts(compile_expr(EMPTY).draw()) == ([], [])


def test_states_have_their_numbers_in_the_first_picture_of_a_process() -> None:
    code = (
        "from automata import Grammar, compile_grammar, parse\n"
        "print(compile_grammar(Grammar({'s': parse('ab')}, 's')).draw().svg())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    texts = {element.text for element in ElementTree.fromstring(done.stdout.encode()).iter(f"{SVG}text")}
    assert {"0", "1", "2"} <= texts


# Transducers over bytes


def test_arcs_over_bytes_have_ranges() -> None:
    keys = pynini.union(*(pynini.cross(letter, "2") for letter in "abcx"), pynini.accep("d"), pynini.cross("z", ""))
    drawing = draw_byte_fst(keys.optimize(), title="keys")
    lines = Counter(line for arc in drawing_labels(drawing) for line in arc.split("\\n"))
    assert lines == {"a-c x:2": 1, "d": 1, "z:ε": 1}
    assert "one of these is read, and 2 is written" in drawing.dot


def test_the_byte_zero_and_epsilon_on_arcs() -> None:
    zero, letter = openfst.symbol_of_byte(0), openfst.symbol_of_byte(ord("a"))
    columns = np.array([[0, 1], [EPSILON, zero], [letter, EPSILON], [1, 2]], np.int32)
    fst = openfst.to_transducer(0, np.array([False, False, True]), *columns)
    assert drawing_labels(draw_byte_fst(fst)) == ["ε:a", "\\\\x00:ε"]


def drawing_labels(drawing: Drawing) -> list[str]:
    """The labels of the arcs, as DOT writes them."""
    return re.findall(r"-> \d+ \[label=\"(.*?)\"", drawing.dot)
